// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios that were given up, and could not go.
 *
 * Interface:
 * hipec_refused_retry()     look at them again
 * hipec_refused_evictable() folios of a file that is let go
 */
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/swap.h>

#include "cache.h"

/**
 * hipec_refused_retry() - look again at folios that could not go
 * @cache: cache
 * @most:  entries to look at
 *
 * Those that can go now are victims; hipec_evict_victims() is owed.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_refused_retry(struct hipec_cache *cache, u32 most)
{
	struct hipec_vm *vm = &cache->c->core.vm;

	for (most = min(most, cache->refused.nr); most; most--) {
		u32 h = cache->refused.head, pgno = vm->page[h].pgno;
		struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
		enum hipec_stay stay = hipec_evict_stay_of(f, pgno - f->start);

		hipec_evict_list_del(cache, h);
		if (stay == HIPEC_STAY_DIRTY || stay == HIPEC_STAY_LOCKED)
			hipec_evict_list_add(cache, HIPEC_FOLIO_REFUSED, h);
		else
			hipec_evict_add_victim(cache, h, false);
	}
}

/**
 * hipec_refused_evictable() - the kernel may reclaim a file's folios again
 * @mapping: whose flag is clear; the inode is held
 *
 * Those that reclaim met while it was set are on a list that it does not look at.
 *
 * Context: process context, may sleep.
 */
void hipec_refused_evictable(struct address_space *mapping)
{
	struct folio_batch batch;
	pgoff_t next = 0;

	folio_batch_init(&batch);
	while (filemap_get_folios(mapping, &next, ULONG_MAX, &batch)) {
		check_move_unevictable_folios(&batch);
		folio_batch_release(&batch);
		cond_resched();
	}
}
