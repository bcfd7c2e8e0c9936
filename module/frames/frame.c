// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of our own: they are allocated and freed, get a page and lose it; which page,
 * the engine says (host.c). Not here: faults (fault.c), the backing file (read.c,
 * writeback.c).
 *
 * Interface:
 * hipec_frame_allocate(), _free()  some more; one that has lost its page
 * hipec_frames_free()      all that hold nothing go
 * hipec_frame_shed()       one of them goes
 * hipec_frames_gave        who waits is woken when one goes
 * hipec_frame_bind(), _bind_in_event(), _unbind()  a frame gets a page, loses it
 * hipec_frame_unmap()      no page table maps a page's frame
 * hipec_frame_detach()     nobody can reach it any more
 */
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "frames.h"

#define HIPEC_GFP_FRAME (GFP_HIGHUSER | __GFP_NOWARN)

/* Frames held by all containers, pages. */
atomic_long_t hipec_nr_frames = ATOMIC_LONG_INIT(0);

/* Who waits for frames to go back to the system. */
DECLARE_WAIT_QUEUE_HEAD(hipec_frames_gave);

/*
 * 2^@order pages, charged to the container's cgroup. They are PG_active, and whoever
 * frees one resets that. Return: the first; NULL if the machine or the cgroup has not so
 * many.
 */
static struct page *charged_pages(struct hipec_container *c, gfp_t gfp,
				  unsigned int order)
{
	struct mem_cgroup *old;
	struct page *page;
	u32 i;

	/* A policy in reclaim gets neither reserves nor more than the limit. */
	if (current->flags & PF_MEMALLOC)
		return NULL;
	old = set_active_memcg(c->frames.cgroup);
	page = alloc_pages(gfp | __GFP_ACCOUNT, order);
	set_active_memcg(old);
	if (page)
		split_page(page, order);
	/*
	 * Where MGLRU is off, a page that is unmapped as referenced for the second
	 * time becomes active instead: not one that is active already.
	 */
	for (i = 0; page && i < 1u << order; i++)
		folio_set_active(page_folio(page + i));
	return page;
}

/* 2^@order frames more, the first of which is the next to be used. */
static bool allocate_frames(struct hipec_container *c, gfp_t gfp, unsigned int order)
{
	struct page *page = charged_pages(c, gfp, order);
	u32 i = 1u << order;

	while (page && i--)
		list_add(&page_folio(page + i)->lru, &c->frames.free);
	if (page)
		atomic_long_add(1u << order, &hipec_nr_frames);
	return page;
}

/* In blocks, each of which costs little more than one page, and without any reclaim. */
static u32 allocate_blocks(struct hipec_container *c, u32 nr)
{
	u32 left = nr;

	while (left && allocate_frames(c, HIPEC_GFP_FRAME & ~__GFP_RECLAIM, ilog2(left)))
		left -= 1u << ilog2(left);
	return nr - left;
}

/* The engine's host: frames more. Context: expects the container's lock; may sleep. */
u32 hipec_frame_allocate(struct hipec_core *core, u32 nr, enum hipec_effort effort)
{
	gfp_t gfp = effort == HIPEC_EFFORT_MOST ? __GFP_RETRY_MAYFAIL :
						  __GFP_NORETRY;
	struct hipec_container *c = hipec_of_core(core);
	u32 got = 0;

	lockdep_assert_held(&c->lock);
	if (effort == HIPEC_EFFORT_NONE)
		return allocate_blocks(c, nr);
	while (got < nr && allocate_frames(c, HIPEC_GFP_FRAME | gfp, 0))
		got++;
	if (got < nr)
		c->core.denied = SWAP_CLUSTER_MAX;	/* a full cgroup looks everywhere first */
	return got;
}

/* @nr frames have gone back to the system. */
static void note_freed_frames(u32 nr)
{
	atomic_long_sub(nr, &hipec_nr_frames);
	if (wq_has_sleeper(&hipec_frames_gave))
		wake_up_all(&hipec_frames_gave);
}

static void free_frame(struct folio *folio)
{
	folio_clear_active(folio);
	folio_put(folio);
	note_freed_frames(1);
}

static struct folio *take_first(struct hipec_container *c)
{
	struct folio *folio = list_first_entry(&c->frames.free, struct folio, lru);

	list_del(&folio->lru);
	return folio;
}

/**
 * hipec_frames_free() - give all free frames back to the system
 * @c: container
 *
 * Context: process context; @c is not shared, or its lock is held.
 */
void hipec_frames_free(struct hipec_container *c)
{
	struct page *page[HIPEC_MAX_CLUSTER];
	u32 nr;

	while (!list_empty(&c->frames.free)) {
		for (nr = 0; nr < HIPEC_MAX_CLUSTER && !list_empty(&c->frames.free); nr++) {
			hipec_core_shrink(&c->core);
			page[nr] = &take_first(c)->page;
			folio_clear_active(page_folio(page[nr]));
		}
		release_pages(page, nr);
		note_freed_frames(nr);
		cond_resched();
	}
}

/**
 * hipec_frame_shed() - give a free frame back to the system, if there is one
 * @c: container
 *
 * Context: expects c->lock.
 * Return: whether there was one.
 */
bool hipec_frame_shed(struct hipec_container *c)
{
	lockdep_assert_held(&c->lock);
	if (!hipec_core_shrink(&c->core))
		return false;
	free_frame(take_first(c));
	return true;
}

/*
 * The engine's host: a frame that has no page any more goes to the free list, or back to
 * the system. Context: expects the container's lock.
 */
void hipec_frame_free(struct hipec_core *core, u32 h, bool keep)
{
	struct hipec_container *c = hipec_of_core(core);
	struct folio *folio = c->frames.frame[h];

	c->frames.frame[h] = NULL;
	if (keep)
		list_add(&folio->lru, &c->frames.free);
	else
		free_frame(folio);
}

/* A free frame for page @idx of @r, which has entry @h. Return: @h. */
static u32 bind_frame(struct hipec_container *c, struct hipec_region *r, u32 idx, u32 h)
{
	struct folio *folio;

	lockdep_assert_held(&c->lock);
	if (!h)
		return 0;
	folio = take_first(c);
	c->core.vm.page[h].flags |= HIPEC_PAGE_READING;
	c->frames.frame[h] = folio;
	folio_clear_referenced(folio);
	folio->mapping = r->inode->i_mapping;
	folio->index = idx;
	return h;
}

/**
 * hipec_frame_bind() - give a free frame to a page that has none
 * @c:   container with a free frame
 * @r:   region of the page
 * @idx: page of the region
 *
 * The page is READING and not live: its frame holds nothing yet.
 *
 * Context: expects c->lock.
 * Return: handle.
 */
u32 hipec_frame_bind(struct hipec_container *c, struct hipec_region *r,
		     u32 idx)
{
	return bind_frame(c, r, idx, hipec_core_bind(&c->core, r->start + idx));
}

/**
 * hipec_frame_bind_in_event() - the same, while an event runs
 * @c:   container with a free frame
 * @r:   region of the page
 * @idx: page of the region
 *
 * Context: expects c->lock.
 * Return: handle; 0 if what the policy let go in this event has all entries.
 */
u32 hipec_frame_bind_in_event(struct hipec_container *c,
			      struct hipec_region *r, u32 idx)
{
	return bind_frame(c, r, idx,
			  hipec_core_bind_in_event(&c->core, r->start + idx));
}

/**
 * hipec_frame_unbind() - take a page's frame whatever its state is
 * @c: container
 * @h: page, not mapped and not under I/O
 *
 * For reads that failed and for regions that end; dirty data is dropped. A
 * frame that somebody has pinned is not reused: the container loses it.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_frame_unbind(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frames.frame[h];

	lockdep_assert_held(&c->lock);
	hipec_dirty_del(c, h);
	folio_lock(folio);
	if (folio_test_clear_dirty(folio))
		atomic_dec(&c->frames.nr_dirty);
	folio->mapping = NULL;
	folio_unlock(folio);
	if (hipec_core_resident(&c->core, h))
		hipec_event_removed(c, c->core.vm.page[h].pgno);
	hipec_core_unbind(&c->core, h, folio_ref_count(folio) != 1);
}

/**
 * hipec_frame_unmap() - no page table maps a page's frame
 * @folio: the frame
 *
 * Context: expects the container's lock and the folio's; may sleep.
 */
void hipec_frame_unmap(struct folio *folio)
{
	if (folio_mapped(folio))
		unmap_mapping_range(folio->mapping, folio_pos(folio), PAGE_SIZE, 0);
}

/**
 * hipec_frame_detach() - nobody reaches the frame of a clean page, if nobody pins it
 * @c: container
 * @h: page
 *
 * Context: expects c->lock and the folio lock, which it drops.
 * Return: whether it is ours alone now.
 */
bool hipec_frame_detach(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frames.frame[h];
	bool alone = folio_ref_freeze(folio, 1);

	if (alone) {
		folio->mapping = NULL;
		folio_ref_unfreeze(folio, 1);
	}
	folio_unlock(folio);
	if (alone)
		hipec_dirty_del(c, h);
	return alone;
}
