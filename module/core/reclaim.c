// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room for pages: free frames, of the pool that containers share, by the policy's
 * Replace or, where it does not do its part, by the built-in replacement.
 *
 * Interface:
 * hipec_core_replace_one()  one page gives its frame up
 * hipec_core_try_room()   without waiting
 * hipec_core_make_room()  for a fault, which can wait and come again
 */
#include "pool.h"

/* Frames, of which sixteen faults at a time take what they want. */
#define HIPEC_AMPLE (16 * HIPEC_MAX_CLUSTER)

/* As hipec_core_replace_one(). */
static __always_inline bool replace_one_page(struct hipec_core *core,
					     const struct hipec_demand *d)
{
	u32 victim;

	if (!hipec_fifo2_rules(&core->vm) && hipec_core_ask(core, d))
		return true;
	if (core->nr_chosen && hipec_core_take_chosen(core, true))
		return true;
	if (!hipec_core_evict_any(core, true, &victim))
		return false;
	hipec_core_remove(core, victim);
	return true;
}

/**
 * hipec_core_replace_one() - have one page given up
 * @core: container
 * @d:    what its frame is for
 *
 * By the policy or, if it gives none, of those that it has named, or by the built-in choice.
 *
 * Context: expects the lock; may sleep.
 * Return: false if no page can go.
 */
bool hipec_core_replace_one(struct hipec_core *core, const struct hipec_demand *d)
{
	return replace_one_page(core, d);
}

/* One frame more, of the pool if @core shares, else of its own pages. */
static bool one_more(struct hipec_core *core, const struct hipec_demand *d)
{
	int ret = 0;

	if (core->pool)
		ret = hipec_pool_grow(core, d, HIPEC_EFFORT_SOME);
	core->pool_empty = ret == -EAGAIN;
	return ret == 1 || replace_one_page(core, d);
}

/*
 * Whether frames can be had in blocks, with a look at what there is and no
 * lock: others look at the same time.
 */
static bool is_ample(struct hipec_core *core)
{
	return core->pool && !core->denied &&
	       hipec_member_space(core) >= HIPEC_AMPLE;
}

static bool drop_batch_ahead(struct hipec_core *core, bool stale)
{
	return core->nr_reading && core->ops->drop_ahead &&
	       core->ops->drop_ahead(core, stale);
}

/* As hipec_core_try_room(). */
static __always_inline u32 try_room(struct hipec_core *core,
				    const struct hipec_demand *d)
{
	u32 has = core->nr_free + core->nr_pending;

	if (d->want > has + 1 && is_ample(core))
		hipec_core_grow(core, d->want - has, HIPEC_EFFORT_NONE);
	hipec_core_catch_up(core);
	core->making_room = true;
	while (core->nr_free + core->nr_pending < d->want)
		if (!one_more(core, d))
			break;
	core->making_room = false;
	return core->nr_free < d->want ? core->nr_free : d->want;
}

/**
 * hipec_core_try_room() - get free frames without waiting
 * @core: container
 * @d:    what they are for
 *
 * Free ones first, then the pool's, then by Replace. Victims that were dirty count
 * when they have been written.
 *
 * Context: expects the lock; may sleep.
 * Return: free frames, at most @d->want.
 */
u32 hipec_core_try_room(struct hipec_core *core, const struct hipec_demand *d)
{
	return try_room(core, d);
}

/* Evict a page that is clean. Return: whether there was one. */
static bool take_clean(struct hipec_core *core)
{
	u32 victim;

	if (!hipec_core_evict_clean(core, &victim))
		return false;
	hipec_core_remove(core, victim);
	return true;
}

/**
 * hipec_core_make_room() - get free frames for a fault
 * @core: container
 * @d:    what they are for
 *
 * Context: expects the lock; may sleep.
 * Return: free frames, @d->want or, if no more pages can go, fewer; -EAGAIN if
 *         frames are being written or filled, or leave another container: wait and
 *         ask again; -ENOMEM if every page is pinned; -EIO if victims cannot be
 *         written.
 */
int hipec_core_make_room(struct hipec_core *core, const struct hipec_demand *d)
{
	u32 got;

	if (core->nr_free < d->want)
		drop_batch_ahead(core, true);
	if (core->pool && !core->nr_free && !hipec_member_space(core))
		hipec_pool_recover(core, d->pgno);
	while ((got = try_room(core, d)) < d->want) {
		if (got && (!d->wait || !core->nr_pending))
			break;
		if (!core->nr_pending && drop_batch_ahead(core, false))
			continue;
		if (!core->nr_pending && !core->nr_reading && !core->pool_empty)
			return -ENOMEM;
		if (core->lost_in_a_row > HIPEC_MAX_LOST) {
			core->lost_in_a_row = 0;
			return -EIO;
		}
		if (d->wait || !take_clean(core))
			return -EAGAIN;
	}
	return got;
}
