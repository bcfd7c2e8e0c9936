// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of a cache that shares the pool (core/pool.h): a frame is a page that it may
 * have in the page cache, and nr_surplus what it has beyond that.
 *
 * Interface:
 * hipec_cache_grow()       frames for pages that come
 * hipec_cache_return()     those that it does not use are the pool's again
 */
#include "cache.h"

/**
 * hipec_cache_grow() - get frames of the pool, as long as there are any to be had
 * @cache: cache that shares
 * @d:     what they are for
 *
 * Or its own pages are the ones to go: victims then.
 *
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 */
void hipec_cache_grow(struct hipec_cache *cache, const struct hipec_demand *d)
{
	struct hipec_core *core = &cache->c->core;

	if (cache->held + d->want <= hipec_core_held(core))
		return;
	if (!hipec_member_space(core))
		hipec_pool_recover(core, d->pgno);
	while (cache->held + d->want > hipec_core_held(core))
		if (hipec_pool_grow(core, d, HIPEC_EFFORT_SOME) != 1)
			break;
}

/**
 * hipec_cache_return() - what a cache does not use is the pool's again
 * @cache: cache whose frames are accounted; nothing if it does not share
 *
 * Context: expects c->lock.
 */
void hipec_cache_return(struct hipec_cache *cache)
{
	struct hipec_core *core = &cache->c->core;

	while (core->pool && hipec_core_held(core) > core->min_frames &&
	       hipec_core_shrink(core))
		;
}
