// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room for pages: free frames, of the pool that unprivileged containers share, by
 * the policy's Replace or, where it does not do its part, by the built-in
 * replacement.
 *
 * Interface:
 * hipec_room_ask(), _ask_for_other()  Replace, with what belongs to it
 * hipec_room_try()   without waiting
 * hipec_room_make()  for a fault, which can wait and come again
 */
#include <linux/ktime.h>

#include "internal.h"

/* Frames, of which sixteen faults at a time take what they want. */
#define HIPEC_AMPLE (16 * HIPEC_MAX_CLUSTER)

/* Ask the policy. Return: whether it gave a page up. */
static bool ask_policy(struct hipec_container *c, u32 pgno, bool write)
{
	u64 before = c->counters.evictions;

	/* All that it knows of is being read or cleaned, or cannot go. */
	if (c->vm.nr_live == c->vm.queue[HIPEC_QUEUE_FALLBACK].count)
		return false;
	hipec_event_harvest(c);
	hipec_event_replace(c, pgno, write);
	if (c->counters.evictions != before) {
		c->helped_in_a_row = 0;
		return true;
	}
	if (c->vm.exit.kind)
		return false;
	c->counters.helped++;
	if (++c->helped_in_a_row == HIPEC_MAX_HELPED)
		hipec_exit(c, HIPEC_EXIT_NO_VICTIM);
	return false;
}

/* A page that the policy has forgotten, else what it gives up. */
static bool ask(struct hipec_container *c, u32 pgno, bool write)
{
	u32 victim;

	if (!hipec_frame_evict_forgotten(c, &victim))
		return ask_policy(c, pgno, write);
	c->counters.forgotten++;
	hipec_event_remove(c, victim);
	return true;
}

/*
 * The same while others wait. Who was late is not asked for some pages, after each
 * further time for more, and who is in time then, for half as many.
 */
static bool ask_in_time(struct hipec_container *c, u32 pgno, bool write)
{
	bool gone;

	if (c->passes) {
		c->passes--;
		return false;
	}
	c->passed = false;
	c->asked_since = ktime_get_ns();
	gone = ask(c, pgno, write);
	c->asked_since = 0;
	if (!c->passed)
		c->pass_next /= 2;
	return gone;
}

/**
 * hipec_room_ask() - have the policy give a page up, for its own container
 * @c:     container with a policy
 * @pgno:  page that the frame is for
 * @write: it is to be written to
 *
 * Context: process context; expects c->lock; may sleep.
 * Return: whether it did.
 */
bool hipec_room_ask(struct hipec_container *c, u32 pgno, bool write)
{
	bool gone;

	c->keep_next = true;
	gone = hipec_pool_held() ? ask_in_time(c, pgno, write) :
				   ask(c, pgno, write);
	c->keep_next = false;
	return gone;
}

/**
 * hipec_room_ask_for_other() - have the policy give a page up, and the container
 * its frame
 * @c: container with a policy
 *
 * Context: process context; expects c->lock and the pool's; may sleep.
 */
void hipec_room_ask_for_other(struct hipec_container *c)
{
	c->to_pool = true;
	ask_in_time(c, HIPEC_NO_PGNO, false);
	c->to_pool = false;
}

/*
 * Have one page given up, by the policy or, if it gives none, by the built-in
 * choice. Return: false if no page can go.
 */
static bool replace(struct hipec_container *c, u32 pgno, bool write)
{
	u32 victim;

	if (!hipec_fifo2_rules(&c->vm) && hipec_room_ask(c, pgno, write))
		return true;
	if (!hipec_frame_evict_any(c, &victim))
		return false;
	hipec_young_flush(c);
	hipec_event_remove(c, victim);
	return true;
}

/* One frame more, of the pool if @c shares, else of its own pages. */
static bool one_more(struct hipec_container *c, u32 pgno, bool write)
{
	int ret = 0;

	if (c->member)
		ret = hipec_pool_grow(c, pgno, write, __GFP_NORETRY);
	c->starved = ret == -EAGAIN;
	return ret == 1 || replace(c, pgno, write);
}

/*
 * Whether frames can be had in blocks, with a look at what there is and no
 * lock: others look at the same time.
 */
static bool is_ample(struct hipec_container *c)
{
	return c->member && !c->denied && hipec_pool_space(c) >= HIPEC_AMPLE;
}

/* Free what was read ahead for faults that did not come. */
static bool drop_ahead(struct hipec_container *c)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (hipec_ahead_drop(r, false))
			return true;
	return false;
}

/**
 * hipec_room_try() - get free frames without waiting
 * @c:     container
 * @pgno:  page that they are for
 * @write: it is to be written to
 * @want:  frames, 1 or more
 *
 * Free ones first, then the pool's, then by Replace. Victims that were dirty count when the
 * washer has cleaned them.
 *
 * Context: process context; expects c->lock.
 * Return: free frames, at most @want.
 */
u32 hipec_room_try(struct hipec_container *c, u32 pgno, bool write,
			     u32 want)
{
	u32 has = c->nr_free + c->nr_laundry;

	if (want > has + 1 && is_ample(c))
		hipec_frames_add(c, want - has);
	c->making_room = true;
	while (c->nr_free + c->nr_laundry < want)
		if (!one_more(c, pgno, write))
			break;
	c->making_room = false;
	return min(c->nr_free, want);
}

/* Take a page that is clean. Return: whether there was one. */
static bool take_clean(struct hipec_container *c)
{
	u32 victim;

	if (!hipec_frame_evict_clean(c, &victim))
		return false;
	hipec_event_remove(c, victim);
	return true;
}

/**
 * hipec_room_make() - get free frames for a fault
 * @c:     container
 * @pgno:  page that faulted
 * @write: the access was a write
 * @want:  frames, 1 or more
 * @wait:  the fault can wait for the washer; else one frame is enough, and clean
 *         pages go that the policy did not choose
 *
 * Context: process context; expects c->lock.
 * Return: free frames, @want or, if no more pages can go, fewer; -EAGAIN if
 *         frames are being cleaned or filled, or leave another container: wait and
 *         ask again; -ENOMEM if
 *         every page is pinned; -EIO if victims cannot be written.
 */
int hipec_room_make(struct hipec_container *c, u32 pgno, bool write, u32 want,
		    bool wait)
{
	u32 got;

	if (c->nr_free < want)
		hipec_ahead_drop_stale(c);
	if (c->member && !c->nr_free && !hipec_pool_space(c))
		hipec_pool_recover(c, pgno);
	while ((got = hipec_room_try(c, pgno, write, want)) < want) {
		if (got && (!wait || !c->nr_laundry))
			break;
		if (!c->nr_laundry && drop_ahead(c))
			continue;
		if (!c->nr_laundry && !c->nr_reading && !c->starved)
			return -ENOMEM;
		if (c->lost_in_a_row > HIPEC_MAX_LOST) {
			c->lost_in_a_row = 0;
			return -EIO;
		}
		if (wait || !take_clean(c))
			return -EAGAIN;
	}
	return got;
}
