// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios that were given up, and could not go.
 *
 * Interface:
 * hipec_refused_retry()    look at them again
 * hipec_refused_clean()    work: write them
 * hipec_evictable_again()  folios of a file that is let go
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
 * Those that can go now are victims; hipec_victims_evict() is owed.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_refused_retry(struct hipec_cache *cache, u32 most)
{
	struct hipec_vm *vm = &cache->c->core.vm;

	for (most = min(most, cache->refused.nr); most; most--) {
		u32 h = cache->refused.head, pgno = vm->page[h].pgno;
		struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
		enum hipec_stay stay = hipec_stay_of(f, pgno - f->start);

		hipec_folios_del(cache, h);
		if (stay == HIPEC_STAY_DIRTY || stay == HIPEC_STAY_LOCKED)
			hipec_folios_add(cache, HIPEC_FOLIO_REFUSED, h);
		else
			hipec_victim_add(cache, h, false);
	}
}

/*
 * The inode of the first file from slot @slot on that has dirty folios, held; @slot is moved behind
 * that file. Return: NULL: there is none.
 */
static struct inode *next_dirty(struct hipec_cache *cache, unsigned long *slot)
{
	struct inode *inode = NULL;
	struct hipec_cfile *f;
	int idx;

	while (!inode && (f = hipec_file_marked(cache, slot, XA_PRESENT))) {
		idx = srcu_read_lock(&hipec_inodes);
		*slot = hipec_slot_behind(f);
		if (hipec_mapping_of(f) &&
		    mapping_tagged(f->inode->i_mapping, PAGECACHE_TAG_DIRTY))
			inode = hipec_inode_hold(f);
		srcu_read_unlock(&hipec_inodes, idx);
		hipec_file_put(f);
		cond_resched();
	}
	return inode;
}

/* Work: begin to write what is dirty. A disk that does not answer has this wait, and nobody else. */
void hipec_refused_clean(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, clean);
	unsigned long slot = 0;
	struct inode *inode;

	while ((inode = next_dirty(cache, &slot))) {
		filemap_flush(inode->i_mapping);
		hipec_inode_put(inode);
	}
}

/**
 * hipec_evictable_again() - the kernel may reclaim a file's folios again
 * @mapping: whose flag is clear; the inode is held
 *
 * Those that reclaim met while it was set are on a list that it does not look at.
 *
 * Context: process context, may sleep.
 */
void hipec_evictable_again(struct address_space *mapping)
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
