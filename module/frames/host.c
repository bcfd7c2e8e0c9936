// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of our own as a host (struct hipec_host): what the engine asks of it (struct
 * hipec_core_ops), what commands ask (struct hipec_host_ops), and the rest.
 *
 * Interface:
 * hipec_frame_host, and of that hipec_shared_frame_ops, hipec_frame_machine
 */
#include <linux/pagemap.h>

#include "frames.h"
#include "writeback.h"

/* A page that is given up and not clean: to writeback. */
static int to_pending(struct hipec_container *c, u32 h)
{
	hipec_dirty_del(c, h);
	c->core.vm.page[h].flags |= HIPEC_PAGE_EVICT_PENDING;
	list_add_tail(&c->frames.frame[h]->lru,
		      &hipec_region_of(c->frames.frame[h])->writeback->evict_pending);
	hipec_writeback_start(hipec_region_of(c->frames.frame[h]));
	return -EINPROGRESS;
}

/*
 * Unmap a page everywhere. One that is pinned (a reference that is neither ours nor a
 * mapping's) stays as it is: its frame can change behind our back. So does one whose
 * write has failed, until it is written or there is nothing else to take.
 */
static int try_evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	struct hipec_container *c = hipec_of_core(core);
	struct folio *folio = c->frames.frame[h];

	lockdep_assert_held(&c->lock);
	if (why == HIPEC_EVICT_LAST)
		core->vm.page[h].flags &= ~HIPEC_PAGE_FAILED;
	if (core->vm.page[h].flags & HIPEC_PAGE_WRITING)
		return to_pending(c, h);
	if (core->vm.page[h].flags & HIPEC_PAGE_FAILED ||
	    folio_ref_count(folio) != 2 + atomic_read(&folio->_mapcount) ||
	    !folio_trylock(folio))
		return -EBUSY;
	hipec_frame_unmap(folio);
	if (!folio_test_dirty(folio))
		return hipec_frame_detach(c, h) ? 0 : -EBUSY;
	folio_unlock(folio);
	return to_pending(c, h);
}

static int frame_evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	int ret = try_evict(core, h, why);

	if (!ret || ret == -EINPROGRESS)
		hipec_event_removed(hipec_of_core(core), core->vm.page[h].pgno);
	return ret;
}

/*
 * Given up ahead: unmapped, so that a touch is a fault, and written where it has to be. What
 * is being written goes to writeback at once, as in frame_evict().
 */
static bool frame_name(struct hipec_core *core, u32 h)
{
	struct hipec_container *c = hipec_of_core(core);
	struct folio *folio = c->frames.frame[h];

	lockdep_assert_held(&c->lock);
	if (core->vm.page[h].flags & (HIPEC_PAGE_WRITING | HIPEC_PAGE_FAILED) ||
	    folio_ref_count(folio) != 2 + atomic_read(&folio->_mapcount) ||
	    !folio_trylock(folio))
		return false;
	hipec_frame_unmap(folio);
	if (folio_test_dirty(folio)) {
		hipec_dirty_add(c, h);
		hipec_writeback_start(hipec_region_of(folio));
	}
	folio_unlock(folio);
	return true;
}

static bool frame_is_clean(struct hipec_core *core, u32 h)
{
	return !folio_test_dirty(hipec_of_core(core)->frames.frame[h]) &&
	       !(core->vm.page[h].flags & HIPEC_PAGE_WRITING);
}

#define FRAME_OPS				\
	HIPEC_CORE_OPS,				\
	.hint = hipec_hint_of,			\
	.referenced = hipec_referenced_seen,		\
	.reset = hipec_referenced_forget,		\
	.look = hipec_referenced_probe,		\
	.is_clean = frame_is_clean,		\
	.evict = frame_evict,			\
	.free = hipec_frame_free,			\
	.allocate = hipec_frame_allocate,		\
	.drop_ahead = hipec_readahead_drop_all

/* Of a reservation: no policy runs in another's time. */
static const struct hipec_core_ops frame_ops = { FRAME_OPS };

const struct hipec_core_ops hipec_shared_frame_ops = {
	FRAME_OPS,
	HIPEC_SHARED_OPS,
	.name = frame_name,
	.unlock = hipec_share_unlock_member,
};

static bool frame_flush_page(struct hipec_vm *vm, u32 h)
{
	struct hipec_container *c = hipec_of_vm(vm);

	if (!folio_test_dirty(c->frames.frame[h]))
		return false;
	hipec_dirty_add(c, h);
	hipec_writeback_start(hipec_region_of(c->frames.frame[h]));
	return true;
}

static bool frame_get_ref(struct hipec_vm *vm, u32 h)
{
	return hipec_referenced_seen(hipec_core_of(vm), h, HIPEC_REF_POLICY);
}

/*
 * Exact without looking at page tables: they map a clean page read-only, and
 * the first write goes through page_mkwrite, which marks the folio.
 */
static bool frame_get_mod(struct hipec_vm *vm, u32 h)
{
	return folio_test_dirty(hipec_of_vm(vm)->frames.frame[h]);
}

static void frame_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	if (on)
		folio_set_referenced(hipec_of_vm(vm)->frames.frame[h]);
	else
		hipec_referenced_forget(hipec_core_of(vm), h, HIPEC_REF_POLICY);
}

static bool frame_set_mod(struct hipec_vm *vm, u32 h)
{
	struct folio *folio = hipec_of_vm(vm)->frames.frame[h];

	if (!hipec_region_of(folio)->writable)
		return false;
	folio_mark_dirty(folio);
	return true;
}

/* A page is mapped by a fault near it only: no mm is at hand here. */
static bool frame_map_page(struct hipec_vm *vm, u32 h)
{
	return folio_mapped(hipec_of_vm(vm)->frames.frame[h]);
}

static bool frame_unmap_page(struct hipec_vm *vm, u32 h)
{
	struct folio *folio = hipec_of_vm(vm)->frames.frame[h];

	if (!folio_mapped(folio))
		return false;
	hipec_frame_unmap(folio);
	return true;
}

const struct hipec_host_ops hipec_frame_machine = {
	.evict = hipec_core_evict_page,
	.flush = frame_flush_page,
	.ref = frame_get_ref,
	.mod = frame_get_mod,
	.set_ref = frame_set_ref,
	.set_mod = frame_set_mod,
	.map = frame_map_page,
	.unmap = frame_unmap_page,
	.request = hipec_core_request,
	.prefetch = hipec_readahead_prefetch,
	.overtime = hipec_event_overtime,
};

static u32 count_resident_frames(const struct hipec_container *c)
{
	return c->core.vm.nr_live + c->core.nr_chosen;
}

static void tell_regions(struct hipec_container *c)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		hipec_record_region(c, r->start, r->nr, r->backing);
}

static void place_frames(struct hipec_container *c, void *own)
{
	c->frames.frame = own;
}

const struct hipec_host hipec_frame_host = {
	.ref_shift = HIPEC_PAGE_REF_SHIFT,
	.row = sizeof(struct folio *),
	.machine = &hipec_frame_machine,
	.engine = &frame_ops,
	.shared = &hipec_shared_frame_ops,
	.entries = hipec_vm_nr_pages,
	.load = hipec_frames_load,
	.place = place_frames,
	.drop = hipec_frames_free,
	.resident = count_resident_frames,
	.tell = tell_regions,
};
