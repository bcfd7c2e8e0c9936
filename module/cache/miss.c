// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misses: before folios are read, others are given up for them, and they get entries. If that
 * cannot be at once, the policy hears of it later (touch.c), or the file is the kernel's meanwhile.
 *
 * Interface:
 * hipec_cache_read(), _read_folio()  folios are about to be read
 */
#include <linux/pagemap.h>

#include "cache.h"

/* Whether a file was not let go before the caller had the lock; if it was, it is dropped. */
static bool is_there(struct hipec_cfile *f)
{
	if (likely(!f->dead))
		return true;
	mutex_unlock(&f->cache->c->lock);
	return false;
}

/*
 * The container's lock, for a miss of @nr pages from @idx on. Who cannot have it at once notes the
 * miss and goes on: he has pages locked that others may want. Where too much is owed, the file is
 * the kernel's until a worker has caught up. Return: whether the caller has the lock.
 */
static bool enter(struct hipec_cfile *f, pgoff_t idx, u32 nr, u64 context)
{
	struct hipec_cache *cache = f->cache;

	/* Others may want the pages, which are locked: they wait for few events at most. */
	if (likely(!hipec_touch_owes_much(cache) && hipec_touch_try_lock(cache)))
		return is_there(f);
	if (idx + nr <= f->nr &&
	    hipec_touch_owe(cache, f->start + idx, nr, HIPEC_BY_MISS, context)) {
		hipec_touch_missed(cache);
		hipec_touch_later(cache);
	} else {
		hipec_cache_lose(f, 0);
	}
	return false;
}

/* The miss is over. */
static void leave(struct hipec_cache *cache)
{
	if (hipec_cache_settle_unlocked(cache)) {
		cache->c->core.context = 0;
		mutex_unlock(&cache->c->lock);
	}
	hipec_touch_missed(cache);
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
	struct hipec_cache *cache = f->cache;
	long left = hipec_pressure_room();

	if (!enter(f, idx, nr, context))
		return;
	hipec_touch_drain(cache);
	hipec_cache_come_begin(f, nr);
	cache->c->core.context = context;
	hipec_cache_come(f, idx, nr, hipec_pressure_left(cache, left, nr));
	leave(cache);
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
	u32 order = folio_order(folio), pgno = f->start + folio->index;
	struct hipec_cache *cache = f->cache;
	long left = hipec_pressure_room();

	if (!enter(f, folio->index, 1u << order, context))
		return;
	hipec_touch_drain(cache);
	hipec_cache_come_begin(f, 1u << order);
	cache->c->core.context = context;
	left = hipec_pressure_left(cache, left, 1u << order);
	if (folio->index < f->nr && !hipec_entry_find(cache, pgno))
		hipec_cache_bring(cache, f, pgno, order, left);
	leave(cache);
}
