// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of our own: the host of the engine (struct hipec_core_ops) and of the machine
 * (struct hipec_host_ops). They are allocated and freed, get a page and lose it; which
 * page, the engine says. Not here: faults (fault.c), the backing file (read.c,
 * writeback.c).
 *
 * Interface:
 * hipec_frame_ops, hipec_shared_frame_ops, hipec_kernel_host  the hosts
 * hipec_frames_free()      all that hold nothing go
 * hipec_frame_shed()       one of them goes
 * hipec_frame_bind(), _bind_in_event(), _unbind()  a frame gets a page, loses it
 * hipec_frame_detach()     nobody can reach a page's frame any more
 */
#include <linux/pagemap.h>

#include "../internal.h"
#include "volume.h"

#define HIPEC_GFP_FRAME (GFP_HIGHUSER | __GFP_NOWARN)

/* Frames held by all containers, pages. */
atomic_long_t hipec_nr_frames = ATOMIC_LONG_INIT(0);

/* 2^@order frames more, the first of which is the next to be used. */
static bool allocate(struct hipec_container *c, gfp_t gfp, unsigned int order)
{
	struct page *page = hipec_cgroup_alloc(c, gfp, order);
	u32 i = 1u << order;

	while (page && i--)
		list_add(&page_folio(page + i)->lru, &c->free);
	if (page)
		atomic_long_add(1u << order, &hipec_nr_frames);
	return page;
}

/* In blocks, each of which costs little more than one page, and without any reclaim. */
static u32 allocate_blocks(struct hipec_container *c, u32 nr)
{
	u32 left = nr;

	while (left && allocate(c, HIPEC_GFP_FRAME & ~__GFP_RECLAIM, ilog2(left)))
		left -= 1u << ilog2(left);
	return nr - left;
}

static u32 frame_allocate(struct hipec_core *core, u32 nr, enum hipec_effort effort)
{
	gfp_t gfp = effort == HIPEC_EFFORT_MOST ? __GFP_RETRY_MAYFAIL :
						  __GFP_NORETRY;
	struct hipec_container *c = hipec_of_core(core);
	u32 got = 0;

	lockdep_assert_held(&c->lock);
	if (effort == HIPEC_EFFORT_NONE)
		return allocate_blocks(c, nr);
	while (got < nr && allocate(c, HIPEC_GFP_FRAME | gfp, 0))
		got++;
	return got;
}

/* @nr frames have gone back to the system. */
static void freed(u32 nr)
{
	atomic_long_sub(nr, &hipec_nr_frames);
	hipec_cgroup_gave();
}

static void free_frame(struct folio *folio)
{
	folio_clear_active(folio);
	folio_put(folio);
	freed(1);
}

/* A free frame, of which there is one, is free no more. */
static struct folio *take_free(struct hipec_container *c)
{
	struct folio *folio = list_first_entry(&c->free, struct folio, lru);

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

	while (c->core.nr_free) {
		for (nr = 0; nr < HIPEC_MAX_CLUSTER &&
			     hipec_core_shrink(&c->core); nr++) {
			page[nr] = &take_free(c)->page;
			folio_clear_active(page_folio(page[nr]));
		}
		release_pages(page, nr);
		freed(nr);
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
	free_frame(take_free(c));
	return true;
}

/* A frame that has no page any more: to the free list, or back to the system. */
static void frame_free(struct hipec_core *core, u32 h, bool keep)
{
	struct hipec_container *c = hipec_of_core(core);
	struct folio *folio = c->frame[h];

	c->frame[h] = NULL;
	if (keep)
		list_add(&folio->lru, &c->free);
	else
		free_frame(folio);
}

/* A free frame for page @idx of @r, which has entry @h. Return: @h. */
static u32 bind(struct hipec_container *c, struct hipec_region *r, u32 idx, u32 h)
{
	struct folio *folio;

	lockdep_assert_held(&c->lock);
	if (!h)
		return 0;
	folio = take_free(c);
	c->core.vm.page[h].flags |= HIPEC_PAGE_READING;
	c->frame[h] = folio;
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
	return bind(c, r, idx, hipec_core_bind(&c->core, r->start + idx));
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
	return bind(c, r, idx,
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
	struct folio *folio = c->frame[h];

	lockdep_assert_held(&c->lock);
	hipec_flush_del(c, h);
	folio_lock(folio);
	if (folio_test_clear_dirty(folio))
		atomic_dec(&c->nr_dirty);
	folio->mapping = NULL;
	folio_unlock(folio);
	hipec_core_unbind(&c->core, h, folio_ref_count(folio) != 1);
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
	struct folio *folio = c->frame[h];
	bool alone = folio_ref_freeze(folio, 1);

	if (alone) {
		folio->mapping = NULL;
		folio_ref_unfreeze(folio, 1);
	}
	folio_unlock(folio);
	if (alone)
		hipec_flush_del(c, h);
	return alone;
}

/* A page that is given up and not clean: to the washer. */
static int to_laundry(struct hipec_container *c, u32 h)
{
	hipec_flush_del(c, h);
	c->core.vm.page[h].flags |= HIPEC_PAGE_LAUNDRY;
	list_add_tail(&c->frame[h]->lru, &c->laundry);
	hipec_wash_start(hipec_region_of(c->frame[h]));
	return -EINPROGRESS;
}

/*
 * Unmap a page everywhere. One that is pinned (a reference that is neither ours nor a
 * mapping's) stays as it is: its frame can change behind our back. So does one whose
 * write has failed, until it is written or there is nothing else to take.
 */
static int frame_evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	struct hipec_container *c = hipec_of_core(core);
	struct folio *folio = c->frame[h];

	lockdep_assert_held(&c->lock);
	if (why == HIPEC_EVICT_LAST)
		core->vm.page[h].flags &= ~HIPEC_PAGE_FAILED;
	if (core->vm.page[h].flags & HIPEC_PAGE_WRITING)
		return to_laundry(c, h);
	if (core->vm.page[h].flags & HIPEC_PAGE_FAILED ||
	    folio_ref_count(folio) != 2 + atomic_read(&folio->_mapcount) ||
	    !folio_trylock(folio))
		return -EBUSY;
	if (folio_mapped(folio))
		unmap_mapping_range(folio->mapping, folio_pos(folio),
				    PAGE_SIZE, 0);
	if (!folio_test_dirty(folio))
		return hipec_frame_detach(c, h) ? 0 : -EBUSY;
	folio_unlock(folio);
	return to_laundry(c, h);
}

static bool frame_is_clean(struct hipec_core *core, u32 h)
{
	return !folio_test_dirty(hipec_of_core(core)->frame[h]) &&
	       !(core->vm.page[h].flags & HIPEC_PAGE_WRITING);
}

#define FRAME_OPS				\
	HIPEC_CORE_OPS,				\
	.referenced = hipec_young_seen,		\
	.reset = hipec_young_forget,		\
	.is_clean = frame_is_clean,		\
	.evict = frame_evict,			\
	.free = frame_free,			\
	.allocate = frame_allocate,		\
	.drop_ahead = hipec_ahead_drop_all

/* Of a reservation: no policy runs in another's time. */
const struct hipec_core_ops hipec_frame_ops = { FRAME_OPS };

const struct hipec_core_ops hipec_shared_frame_ops = {
	FRAME_OPS,
	HIPEC_SHARED_OPS,
	.unlock = hipec_share_unlock_member,
};

static bool host_flush(struct hipec_vm *vm, u32 h)
{
	struct hipec_container *c = hipec_of_vm(vm);

	if (!folio_test_dirty(c->frame[h]))
		return false;
	hipec_flush_add(c, h);
	hipec_wash_start(hipec_region_of(c->frame[h]));
	return true;
}

static bool host_ref(struct hipec_vm *vm, u32 h)
{
	return hipec_young_seen(hipec_core_of(vm), h, HIPEC_REF_POLICY);
}

/*
 * Exact without looking at page tables: they map a clean page read-only, and
 * the first write goes through page_mkwrite, which marks the folio.
 */
static bool host_mod(struct hipec_vm *vm, u32 h)
{
	return folio_test_dirty(hipec_of_vm(vm)->frame[h]);
}

static void host_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	if (on)
		folio_set_referenced(hipec_of_vm(vm)->frame[h]);
	else
		hipec_young_forget(hipec_core_of(vm), h, HIPEC_REF_POLICY);
}

static bool host_set_mod(struct hipec_vm *vm, u32 h)
{
	struct folio *folio = hipec_of_vm(vm)->frame[h];

	if (!hipec_region_of(folio)->writable)
		return false;
	folio_mark_dirty(folio);
	return true;
}

/* A page is mapped by a fault near it only: no mm is at hand here. */
static bool host_map(struct hipec_vm *vm, u32 h)
{
	return folio_mapped(hipec_of_vm(vm)->frame[h]);
}

static bool host_unmap(struct hipec_vm *vm, u32 h)
{
	struct folio *folio = hipec_of_vm(vm)->frame[h];

	if (!folio_mapped(folio))
		return false;
	unmap_mapping_range(folio->mapping, folio_pos(folio), PAGE_SIZE, 0);
	return true;
}

const struct hipec_host_ops hipec_kernel_host = {
	.give_up = hipec_core_give_up,
	.flush = host_flush,
	.ref = host_ref,
	.mod = host_mod,
	.set_ref = host_set_ref,
	.set_mod = host_set_mod,
	.map = host_map,
	.unmap = host_unmap,
	.request = hipec_core_request,
	.prefetch = hipec_ahead_prefetch,
	.overtime = hipec_event_overtime,
};
