// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that are to be written back: a list, first come first written, so that each
 * write costs the same however long the page table is. And how to walk that table,
 * where there is no other way.
 *
 * A frame that holds a live page is on no list but this one, by folio->lru; when its
 * page is given up it moves to evict_pending, which goes first.
 *
 * Interface:
 * hipec_dirty_add(), _del()  a page is to be written, needs it no more
 * hipec_dirty_flush()        all dirty pages are
 * hipec_dirty_walk_pause()   others' turn, in a walk over the table
 */
#include <linux/sched.h>

#include "frames.h"
#include "writeback.h"

/* Entries that are looked at under the lock in one go. */
#define HIPEC_LONG_LOOP 4096

/* Have page @h, which holds a frame and is live, written. Context: expects c->lock. */
void hipec_dirty_add(struct hipec_container *c, u32 h)
{
	lockdep_assert_held(&c->lock);
	if (c->core.vm.page[h].flags & HIPEC_PAGE_FLUSH)
		return;
	c->core.vm.page[h].flags |= HIPEC_PAGE_FLUSH;
	list_add_tail(&c->frames.frame[h]->lru,
		      &hipec_region_of(c->frames.frame[h])->writeback->flush);
}

/* No more, if it was to be. Context: expects c->lock. */
void hipec_dirty_del(struct hipec_container *c, u32 h)
{
	lockdep_assert_held(&c->lock);
	if (!(c->core.vm.page[h].flags & HIPEC_PAGE_FLUSH))
		return;
	c->core.vm.page[h].flags &= ~HIPEC_PAGE_FLUSH;
	list_del(&c->frames.frame[h]->lru);
}

/**
 * hipec_dirty_walk_pause() - let others have a container now and then
 * @c: container
 * @h: entry that the caller's walk over the page table has come to
 *
 * Entries may change meanwhile, and the table may become longer, never shorter.
 *
 * Context: process context; expects c->lock, and drops it for each HIPEC_LONG_LOOP-th
 * entry.
 */
void hipec_dirty_walk_pause(struct hipec_container *c, u32 h)
{
	u64 context = c->core.context;	/* other faults have theirs meanwhile */

	if (h % HIPEC_LONG_LOOP)
		return;
	mutex_unlock(&c->lock);
	cond_resched();
	mutex_lock(&c->lock);
	c->core.context = context;
}

/* Have all dirty pages written. Context: as hipec_dirty_walk_pause(). */
void hipec_dirty_flush(struct hipec_container *c)
{
	u32 h;

	for (h = 1; h <= c->core.vm.nr_pages && atomic_read(&c->frames.nr_dirty); h++) {
		if (hipec_core_resident(&c->core, h) &&
		    folio_test_dirty(c->frames.frame[h]))
			hipec_dirty_add(c, h);
		hipec_dirty_walk_pause(c, h);
	}
}
