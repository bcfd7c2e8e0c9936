// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room for pages: free frames, by the policy's Replace or, where it does not do
 * its part, by the built-in replacement.
 *
 * Interface:
 * hipec_room_try()   without waiting
 * hipec_room_make()  for a fault, which can wait and come again
 */
#include "internal.h"

/* Writes of victims that may fail, one after the other, until a fault fails. */
#define HIPEC_MAX_LOST 16

/* So many Replace events in a row without a frame, and the policy is revoked. */
#define HIPEC_MAX_HELPED 1024

/* Ask the policy. Return: whether it gave a page up. */
static bool ask_policy(struct hipec_container *c, u32 pgno, bool write)
{
	u64 before = c->counters.evictions;

	/* All that there is is being read or cleaned: nothing to ask for. */
	if (!c->vm.nr_live)
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

/*
 * Have one page given up: one that the policy has forgotten, else by the policy
 * or, if it gives none, by the built-in choice. Return: false if no page can go.
 */
static bool replace(struct hipec_container *c, u32 pgno, bool write)
{
	u32 victim;

	if (!c->vm.exit.kind) {
		if (hipec_frame_evict_forgotten(c, &victim)) {
			c->counters.forgotten++;
			hipec_event_remove(c, victim);
			return true;
		}
		if (ask_policy(c, pgno, write))
			return true;
	}
	if (!hipec_frame_evict_any(c, &victim))
		return false;
	hipec_young_flush(c);
	hipec_event_remove(c, victim);
	return true;
}

/* Free what was read ahead for faults that did not come. */
static bool drop_ahead(struct hipec_container *c)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (hipec_ahead_drop(r))
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
 * Free ones first, then by Replace. Victims that were dirty count when the
 * washer has cleaned them.
 *
 * Context: process context; expects c->lock.
 * Return: free frames, at most @want.
 */
u32 hipec_room_try(struct hipec_container *c, u32 pgno, bool write,
			     u32 want)
{
	while (c->nr_free + c->nr_laundry < want)
		if (!replace(c, pgno, write))
			break;
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
 *         frames are being cleaned or filled: wait and ask again; -ENOMEM if
 *         every page is pinned; -EIO if victims cannot be written.
 */
int hipec_room_make(struct hipec_container *c, u32 pgno, bool write, u32 want,
		    bool wait)
{
	u32 got;

	while ((got = hipec_room_try(c, pgno, write, want)) < want) {
		if (got && (!wait || !c->nr_laundry))
			break;
		if (!c->nr_laundry && drop_ahead(c))
			continue;
		if (!c->nr_laundry && !c->nr_reading)
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
