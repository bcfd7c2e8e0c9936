// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that come: the policy hears of a miss that was noted (miss.c). Others are given up for them,
 * and they get entries.
 *
 * Interface:
 * hipec_cache_missed()
 */
#include <linux/pagemap.h>

#include "cache.h"

/* Pages that get entries before others may run. */
#define PAGES_AT_ONCE 64

/*
 * Before @nr pages get entries. What was refused is tried again as fast as it comes: a pipe gives back
 * what went into it. Context: expects c->lock; the policy has heard of what was before.
 */
static void begin_arrival(struct hipec_cfile *f, u32 nr)
{
	struct hipec_cache *cache = f->cache;

	hipec_cache_keep_away(f);
	if (cache->refused.nr)
		hipec_refused_retry(cache, max(nr, 2u));
	/* The policy has no Access; others of the league do. */
	if (unlikely(cache->c->league) &&
	    !hipec_core_has_event(&cache->c->core, HIPEC_EVENT_ACCESS))
		hipec_core_harvest(&cache->c->core);
	cache->c->core.counters.read_pages += nr;
	cache->c->core.counters.read_ios++;
	cache->c->core.counters.faults++;
}

/*
 * A folio was read. An entry of its page is of a folio that has gone by itself, unless a part of this
 * one was read @again.
 */
static void add_folio(struct hipec_cfile *f, u32 pgno, u32 order, bool again, long left)
{
	struct hipec_cache *cache = f->cache;
	u32 h = again ? hipec_cache_entry(f, pgno) : hipec_cache_find_entry(cache, pgno);

	if (h && again)
		return;
	if (h)
		hipec_cache_drop_entry(cache, h);
	hipec_cache_bring(cache, f, pgno, order, left);
}

/**
 * hipec_cache_missed() - the policy hears of a miss that was noted
 * @cache: cache
 * @pgno:  first page, of a file that may have been let go
 * @nr:    pages
 * @again: they may have been there, and not up to date
 *
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 */
void hipec_cache_missed(struct hipec_cache *cache, u32 pgno, u32 nr, bool again)
{
	struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
	u32 idx = f ? pgno - f->start : 0, step, i;
	long left;

	if (!f || f->dead)
		return;
	begin_arrival(f, nr);
	left = hipec_budget_left(cache, hipec_budget_room(cache), nr);
	for (i = 0; nr && idx < f->nr; nr -= min(nr, step), idx += step, i++) {
		int order = hipec_cache_order_at(f, idx);

		/* Of what a task that is killed does not tell, a worker looks for the pages. */
		if (i && (!(i % PAGES_AT_ONCE) || unlikely(cache->c->slice)) && hipec_core_pause(&cache->c->core)) {
			hipec_cache_lose(f, 0);
			break;
		}
		step = order > 0 ? (1u << order) - (idx & ((1u << order) - 1)) : 1;
		/* It may have gone meanwhile. */
		if (order >= 0)
			add_folio(f, f->start + round_down(idx, 1u << order), order, again, left);
	}
	hipec_evict_victims_many(cache);
}
