// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misses: before folios are read, others are given up for them, and they get entries.
 *
 * Interface:
 * hipec_cache_read(), _read_folio()
 */
#include <linux/pagemap.h>

#include "cache.h"

/*
 * Before @nr pages are added: what happened up to now. What was refused is tried again
 * as fast as it comes: a pipe gives back what went into it. Return: as hipec_cache_keep_away().
 */
static bool begin(struct hipec_cfile *f, u32 nr)
{
	struct hipec_cache *cache = f->cache;
	bool let_go;

	hipec_touch_drain(cache);
	let_go = hipec_cache_keep_away(f);
	if (cache->refused.nr)
		hipec_refused_retry(cache, max(nr, 2u));
	/* The policy has no Access; others of the league do. */
	if (unlikely(cache->c->league) &&
	    !hipec_core_has_event(&cache->c->core, HIPEC_EVENT_ACCESS))
		hipec_core_harvest(&cache->c->core);
	if (cache->misfits > HIPEC_MAX_VICTIMS) {
		struct hipec_cfile *each;

		cache->misfits = 0;
		list_for_each_entry(each, &cache->files, link)
			hipec_cache_search(each);
	}
	return let_go;
}

/**
 * hipec_cache_read() - folios are about to be read
 * @f:   file, in use
 * @idx: first page; all are in the page cache, and locked
 * @nr:  pages
 * @context: of the program that reads; 0: not known
 *
 * Context: process context, may sleep; the caller holds locks of folios.
 */
void hipec_cache_read(struct hipec_cfile *f, pgoff_t idx, u32 nr, u64 context)
{
	struct address_space *mapping = f->inode->i_mapping;
	bool large = mapping_large_folio_support(mapping);
	struct hipec_cache *cache = f->cache;
	struct hipec_container *c = cache->c;
	long left = hipec_pressure_room();
	u32 order, h, end;
	bool let_go;

	mutex_lock(&c->lock);
	let_go = begin(f, nr);
	c->core.context = context;
	left = hipec_pressure_left(cache, left, nr);
	c->core.counters.read_pages += nr;
	c->core.counters.read_ios++;
	c->core.counters.faults++;
	for (end = nr; end && idx < f->nr; end -= min(end, 1u << order)) {
		order = large ? max(hipec_order_at(mapping, idx), 0) : 0;
		h = hipec_entry_find(cache, f->start + idx);
		if (h)
			hipec_entry_drop(cache, h);
		hipec_cache_bring(cache, f, f->start + idx, order, left);
		idx += 1u << order;
	}
	hipec_cache_settle_unlocked(cache);
	hipec_touch_missed(cache);
	c->core.context = 0;
	mutex_unlock(&c->lock);
	if (unlikely(let_go))
		hipec_evictable_again(mapping);
}

/**
 * hipec_cache_read_folio() - one folio is about to be read
 * @f:     file, in use
 * @folio: in the page cache, and locked
 * @context: of the program that reads; 0: not known
 *
 * Context: process context, may sleep.
 */
void hipec_cache_read_folio(struct hipec_cfile *f, struct folio *folio, u64 context)
{
	struct hipec_cache *cache = f->cache;
	struct hipec_container *c = cache->c;
	u32 order = folio_order(folio), pgno = f->start + folio->index;
	long left = hipec_pressure_room();
	bool let_go;

	mutex_lock(&c->lock);
	let_go = begin(f, 1u << order);
	c->core.context = context;
	left = hipec_pressure_left(cache, left, 1u << order);
	c->core.counters.read_pages += 1u << order;
	c->core.counters.read_ios++;
	c->core.counters.faults++;
	if (folio->index < f->nr && !hipec_entry_find(cache, pgno))
		hipec_cache_bring(cache, f, pgno, order, left);
	hipec_cache_settle_unlocked(cache);
	hipec_touch_missed(cache);
	c->core.context = 0;
	mutex_unlock(&c->lock);
	if (unlikely(let_go))
		hipec_evictable_again(f->inode->i_mapping);
}
