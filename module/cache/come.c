// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that come: others are given up for them, and they get entries.
 *
 * Interface:
 * hipec_cache_come_begin(), _come()  by a miss
 * hipec_cache_missed()               by one that was noted, a while ago
 */
#include <linux/pagemap.h>

#include "cache.h"

/*
 * Before @nr pages are added. What was refused is tried again as fast as it comes: a pipe gives back
 * what went into it. Context: expects c->lock; the policy has heard of what was before.
 */
void hipec_cache_come_begin(struct hipec_cfile *f, u32 nr)
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

/* Folios that are read get entries. Context: expects c->lock; hipec_cache_settle() is owed. */
void hipec_cache_come(struct hipec_cfile *f, pgoff_t idx, u32 nr, long left)
{
	struct hipec_cache *cache = f->cache;
	u32 order, h, end;

	for (end = nr; end && idx < f->nr; end -= min(end, 1u << order)) {
		order = f->large ? max(hipec_order_at(f, idx), 0) : 0;
		h = hipec_entry_find(cache, f->start + idx);
		if (h)
			hipec_entry_drop(cache, h);
		hipec_cache_bring(cache, f, f->start + idx, order, left);
		idx += 1u << order;
	}
}

/**
 * hipec_cache_missed() - the policy hears of a miss that was noted
 * @cache: cache
 * @pgno:  first page, of a file that may have been let go
 * @nr:    pages
 *
 * Whose cgroup they are charged to is not known any more: the budget alone counts.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_cache_missed(struct hipec_cache *cache, u32 pgno, u32 nr)
{
	struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
	u32 idx = f ? pgno - f->start : 0, step;

	if (!f || f->dead)
		return;
	hipec_cache_come_begin(f, nr);
	for (; nr && idx < f->nr; nr -= min(nr, step), idx += step) {
		int order = hipec_order_at(f, idx);

		/* It may have gone, or been touched, and heard of, on another CPU. */
		step = order > 0 ? (1u << order) - (idx & ((1u << order) - 1)) : 1;
		if (order >= 0 && !hipec_cache_entry(f, f->start + idx))
			hipec_cache_bring(cache, f, f->start + round_down(idx, 1u << order), order,
					  LONG_MAX);
	}
	hipec_cache_settle(cache);
}
