// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of a container: reserved at load, bound to a page and taken from it,
 * and the host side of the machine (struct hipec_host_ops). Not here: faults
 * (fault.c), the backing file (read.c, writeback.c), which page goes (the policy).
 *
 * Interface:
 * hipec_frames_free()      all that hold nothing go
 * hipec_frame_add(), hipec_frames_add(), hipec_frame_shed()  they come, and go
 * hipec_frame_bind(), _bind_in_event(), _unbind()  a frame gets a page, loses it
 * hipec_frame_evict()      the page gives its frame up, or cannot
 * hipec_frame_evict_forgotten()  a page that the policy keeps on no queue
 * hipec_frame_evict_any()  the built-in choice: FIFO with a second chance
 * hipec_frame_evict_clean()  one that is free at once
 */
#include <linux/pagemap.h>

#include "../internal.h"
#include "volume.h"

#define HIPEC_GFP_FRAME (GFP_HIGHUSER | __GFP_NOWARN)

/* Frames held by all containers, pages. */
atomic_long_t hipec_nr_frames = ATOMIC_LONG_INIT(0);

/* 2^@order frames more, the first of which is the next to be used. */
static bool grow(struct hipec_container *c, gfp_t gfp, unsigned int order)
{
	struct page *page = hipec_cgroup_alloc(c, gfp, order);
	u32 nr = 1u << order, i = nr;

	if (!page)
		return false;
	while (i--)
		list_add(&page_folio(page + i)->lru, &c->free);
	c->nr_free += nr;
	c->nr_frames += nr;
	atomic_long_add(nr, &hipec_nr_frames);
	hipec_pool_account(c);
	return true;
}

/**
 * hipec_frame_add() - allocate one frame more
 * @c:   container
 * @gfp: flags beside what every frame has
 *
 * Context: expects c->lock; may sleep.
 * Return: whether there was memory, also in the memory cgroup.
 */
bool hipec_frame_add(struct hipec_container *c, gfp_t gfp)
{
	lockdep_assert_held(&c->lock);
	return grow(c, HIPEC_GFP_FRAME | gfp, 0);
}

/**
 * hipec_frames_add() - allocate frames that are to be had without any effort
 * @c:  container
 * @nr: frames
 *
 * In blocks, each of which costs little more than one page: nothing is
 * reclaimed or moved for them, so there may be fewer.
 *
 * Context: expects c->lock; does not sleep.
 */
void hipec_frames_add(struct hipec_container *c, u32 nr)
{
	unsigned int order;

	lockdep_assert_held(&c->lock);
	for (; nr; nr -= 1u << order) {
		order = ilog2(nr);
		if (!grow(c, HIPEC_GFP_FRAME & ~__GFP_RECLAIM, order))
			return;
	}
}

/* @nr frames have gone back to the system. */
static void dropped(struct hipec_container *c, u32 nr)
{
	c->nr_frames -= nr;
	atomic_long_sub(nr, &hipec_nr_frames);
	hipec_pool_account(c);
	hipec_cgroup_gave();
}

static void drop(struct hipec_container *c, struct folio *folio)
{
	folio_clear_active(folio);
	folio_put(folio);
	dropped(c, 1);
}

/* A free frame, of which there is one, is free no more. */
static struct folio *take_free(struct hipec_container *c)
{
	struct folio *folio = list_first_entry(&c->free, struct folio, lru);

	list_del(&folio->lru);
	c->nr_free--;
	return folio;
}

/* A frame that holds no page any more: to the free list, or back to the system. */
static void recycle(struct hipec_container *c, struct folio *folio)
{
	if (c->nr_surplus) {
		c->nr_surplus--;
		drop(c, folio);
		return;
	}
	list_add(&folio->lru, &c->free);
	c->nr_free++;
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

	while (c->nr_free) {
		for (nr = 0; c->nr_free && nr < HIPEC_MAX_CLUSTER; nr++) {
			page[nr] = &take_free(c)->page;
			folio_clear_active(page_folio(page[nr]));
		}
		release_pages(page, nr);
		dropped(c, nr);
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
	if (!c->nr_free)
		return false;
	drop(c, take_free(c));
	return true;
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
	hipec_page_forget_gone(&c->vm);
	return hipec_frame_bind_in_event(c, r, idx);
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
	struct folio *folio;
	u32 h;

	lockdep_assert_held(&c->lock);
	h = hipec_page_add_in_event(&c->vm, r->start + idx);
	if (!h)
		return 0;
	folio = take_free(c);
	c->nr_reading++;
	c->vm.page[h].flags |= HIPEC_PAGE_READING;
	c->frame[h] = folio;
	folio_clear_referenced(folio);
	folio->mapping = r->inode->i_mapping;
	folio->index = idx;
	return h;
}

/* The frame of @h, whose mapping is gone, is ours alone: forget the page. */
static void forget(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frame[h];

	c->frame[h] = NULL;
	hipec_page_del(&c->vm, h);
	recycle(c, folio);
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
	hipec_pool_left(c, h);
	hipec_flush_del(c, h);
	folio_lock(folio);
	if (folio_test_clear_dirty(folio))
		atomic_dec(&c->nr_dirty);
	folio->mapping = NULL;
	folio_unlock(folio);
	if (folio_ref_count(folio) == 1) {
		forget(c, h);
		return;
	}
	c->frame[h] = NULL;
	hipec_page_del(&c->vm, h);
	/* One that was to leave need not any more. */
	c->nr_surplus -= !!c->nr_surplus;
	drop(c, folio);
}

/**
 * hipec_frame_release() - free the frame of a clean page, if nobody pins it
 * @c: container
 * @h: page
 *
 * Context: expects c->lock and the folio lock, which it drops.
 * Return: whether the page is gone.
 */
bool hipec_frame_release(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frame[h];
	bool free = folio_ref_freeze(folio, 1);

	if (free) {
		folio->mapping = NULL;
		folio_ref_unfreeze(folio, 1);
	}
	folio_unlock(folio);
	if (free) {
		hipec_pool_left(c, h);
		hipec_flush_del(c, h);
		forget(c, h);
	}
	return free;
}

/* A live page that is given up and not clean: to the washer. */
static void to_laundry(struct hipec_container *c, u32 h)
{
	hipec_pool_left(c, h);
	hipec_flush_del(c, h);
	hipec_page_hide(&c->vm, h);
	c->vm.page[h].flags |= HIPEC_PAGE_LAUNDRY;
	list_add_tail(&c->frame[h]->lru, &c->laundry);
	c->nr_laundry++;
	hipec_wash_start(hipec_region_of(c->frame[h]));
}

/* As hipec_frame_evict(), whatever becomes of the frame. */
static bool evict(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frame[h];

	lockdep_assert_held(&c->lock);
	if (c->vm.page[h].flags & HIPEC_PAGE_WRITING) {
		to_laundry(c, h);
		return true;
	}
	if (c->vm.page[h].flags & HIPEC_PAGE_FAILED)
		return false;
	if (folio_ref_count(folio) != 2 + atomic_read(&folio->_mapcount))
		return false;
	if (!folio_trylock(folio))
		return false;
	if (folio_mapped(folio))
		unmap_mapping_range(folio->mapping, folio_pos(folio),
				    PAGE_SIZE, 0);
	if (!folio_test_dirty(folio))
		return hipec_frame_release(c, h);
	folio_unlock(folio);
	to_laundry(c, h);
	return true;
}

/**
 * hipec_frame_evict() - a live page gives its frame up
 * @c:    container
 * @h:    live page
 * @keep: the frame stays with the container; else it goes back to the system
 *
 * Unmaps the page everywhere. A clean frame is free at once; a dirty one, or
 * one that is being written, when the washer has cleaned it. A page that is
 * pinned (a reference that is neither ours nor a mapping's) stays as it is:
 * its frame can change behind our back. So does one whose write has failed,
 * until it is written or there is nothing else to take.
 *
 * Context: expects c->lock; may sleep.
 * Return: whether the page is no longer live.
 */
bool hipec_frame_evict(struct hipec_container *c, u32 h, bool keep)
{
	bool gone;

	/* Before: a clean frame is recycled at once. */
	c->nr_surplus += !keep;
	gone = evict(c, h);
	c->counters.evictions += gone;
	c->counters.given += gone && !keep;
	if (!gone)
		c->nr_surplus -= !keep;
	hipec_pool_account(c);
	return gone;
}

enum round {
	CLEAN_ONLY,	/* take the first that needs no washing */
	SECOND_CHANCE,	/* pass over what was referenced, and reset it */
	FIRST_COME,	/* take the first that can go */
	LAST_RESORT,	/* even if its last write failed */
};

/* Evict a page of queue @q. What is passed over goes to the tail, if it may. */
static bool evict_from(struct hipec_container *c, u32 q, enum round round,
		       u32 *pgno)
{
	u32 n = c->vm.queue[q].count;
	u32 h, next;

	for (h = c->vm.queue[q].head; n--; h = next) {
		next = c->vm.page[h].next;
		if (!hipec_page_live(&c->vm, h))
			continue;
		*pgno = c->vm.page[h].pgno;
		if (round == CLEAN_ONLY &&
		    (folio_test_dirty(c->frame[h]) ||
		     c->vm.page[h].flags & HIPEC_PAGE_WRITING))
			continue;
		if (round == LAST_RESORT)
			c->vm.page[h].flags &= ~HIPEC_PAGE_FAILED;
		if (round == SECOND_CHANCE &&
		    hipec_young_seen(c, h, HIPEC_PAGE_REF_POLICY))
			hipec_young_forget(c, h, HIPEC_PAGE_REF_POLICY);
		else if (hipec_frame_evict(c, h, !c->to_pool))
			return true;
		if (!c->vm.queue[q].key)
			hipec_page_pass(&c->vm, h);
	}
	return false;
}

/**
 * hipec_frame_evict_forgotten() - take a page that is on no queue of the policy
 * @c:    container
 * @pgno: the page that was given up
 *
 * A policy forgets a page, or goes on as if a page had gone that was refused:
 * its frame would never be given up again.
 *
 * Context: expects c->lock; may sleep.
 * Return: whether a page was given up.
 */
bool hipec_frame_evict_forgotten(struct hipec_container *c, u32 *pgno)
{
	return evict_from(c, HIPEC_QUEUE_FALLBACK, FIRST_COME, pgno);
}

/*
 * First what is on no queue of the policy, then its queues in slot order; or the
 * built-in replacement's, whose active queue is the fallback one: that is last.
 */
static bool evict_in_round(struct hipec_container *c, enum round round,
			   u32 *pgno)
{
	bool builtin = hipec_fifo2_rules(&c->vm);
	u32 q;

	if (!builtin && evict_from(c, HIPEC_QUEUE_FALLBACK, round, pgno))
		return true;
	for (q = HIPEC_QUEUE_POLICY; q < c->vm.nr_queues; q++)
		if (evict_from(c, q, round, pgno))
			return true;
	return builtin && evict_from(c, HIPEC_QUEUE_FALLBACK, round, pgno);
}

static bool take(struct hipec_vm *vm, u32 h)
{
	return hipec_frame_evict(hipec_of_vm(vm), h, true);
}

/**
 * hipec_frame_evict_any() - the built-in replacement
 * @c:    container
 * @pgno: the page that was given up
 *
 * For containers without a policy, or whose policy has ended, and for a policy
 * that gives no frame: there it goes queue by queue, and leaves them as they are.
 * Pages that were referenced get a second chance.
 *
 * Context: expects c->lock; may sleep; hipec_young_flush() is owed to it.
 * Return: whether a page was given up; false if none can go.
 */
bool hipec_frame_evict_any(struct hipec_container *c, u32 *pgno)
{
	enum round round = SECOND_CHANCE;

	if (hipec_fifo2_rules(&c->vm)) {
		if (hipec_fifo2_replace(&c->vm, take, pgno))
			return true;
		round = LAST_RESORT;
	}
	for (; round <= LAST_RESORT; round++)
		if (evict_in_round(c, round, pgno))
			return true;
	return false;
}

/**
 * hipec_frame_evict_clean() - have a frame free at once, whoever else would go
 * @c:    container
 * @pgno: the page that was given up
 *
 * For a fault that must not wait for the washer.
 *
 * Context: expects c->lock; may sleep.
 * Return: whether a page was given up.
 */
bool hipec_frame_evict_clean(struct hipec_container *c, u32 *pgno)
{
	return evict_in_round(c, CLEAN_ONLY, pgno);
}

/*
 * In a container that shares, the first page given up in a Replace of its own
 * answers it; others, and those of other events, are gifts to the pool. The last
 * frames stay, or no fault could ever be served.
 */
static bool host_give_up(struct hipec_vm *vm, u32 h, bool keep)
{
	struct hipec_container *c = hipec_of_vm(vm);
	bool gone;

	if (c->member)
		keep = c->keep_next;
	gone = (keep || c->nr_frames - c->nr_surplus >
		(c->member ? HIPEC_POOL_MIN : 1)) &&
	       hipec_frame_evict(c, h, keep);
	if (gone)
		c->keep_next = false;
	else
		c->counters.refused++;
	return gone;
}

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
	struct hipec_container *c = hipec_of_vm(vm);

	return hipec_young_seen(c, h, HIPEC_PAGE_REF_POLICY);
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
	struct hipec_container *c = hipec_of_vm(vm);

	if (on)
		folio_set_referenced(c->frame[h]);
	else
		hipec_young_forget(c, h, HIPEC_PAGE_REF_POLICY);
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

/*
 * A reservation grows back to what it was at the load, never beyond: the page
 * table is that long; one that shares gets what nobody would have to give up.
 * Allocates without reclaim, since c->lock is held.
 */
static u64 host_request(struct hipec_vm *vm, u64 nr)
{
	struct hipec_container *c = hipec_of_vm(vm);
	u64 got = min_t(u64, nr, c->nr_surplus);

	c->nr_surplus -= got;
	hipec_pool_account(c);
	while (got < nr &&
	       (c->member ? hipec_pool_space(c) : c->nr_frames < c->nr_reserved) &&
	       grow(c, HIPEC_GFP_FRAME | __GFP_NORETRY, 0))
		/* One command, which is to take no longer than others. */
		if (++got % HIPEC_MAX_CLUSTER == 0 && hipec_event_overtime(vm))
			break;
	return got;
}

const struct hipec_host_ops hipec_kernel_host = {
	.give_up = host_give_up,
	.flush = host_flush,
	.ref = host_ref,
	.mod = host_mod,
	.set_ref = host_set_ref,
	.set_mod = host_set_mod,
	.map = host_map,
	.unmap = host_unmap,
	.request = host_request,
	.prefetch = hipec_ahead_prefetch,
	.overtime = hipec_event_overtime,
};
