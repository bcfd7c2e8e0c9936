// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine takes the place of another, whose pages go on holding their frames:
 * another policy for the same container. Handles stay what they are, so a host
 * that has one while a page is read or written need not know.
 *
 * Interface:
 * hipec_vm_inherit()    the pages, none of them live yet
 * hipec_vm_next_live()  which of them were, in their order
 * hipec_vm_restore()  the other one goes on after all
 */
#include "bucket.h"
#include "queue.h"

/**
 * hipec_vm_inherit() - a machine without pages gets those of another
 * @vm:  just made, with at least as many entries, on which Init may have run
 * @old: between two events; not changed
 *
 * Every page that holds a frame is in the table, under its handle, and not live:
 * hipec_page_show() shows those that hipec_vm_next_live() names. What @old's
 * policy remembers without a frame stays behind.
 *
 * Context: any, serialised by the host. Time is linear in the table.
 */
void hipec_vm_inherit(struct hipec_vm *vm, const struct hipec_vm *old)
{
	u32 last = 0, h;

	for (h = 1; h <= vm->nr_pages; h++) {
		struct hipec_page *page = &vm->page[h];
		u16 flags = h <= old->nr_pages ? old->page[h].flags : 0;
		u32 *bucket;

		if (!(flags & HIPEC_PAGE_FRAME)) {
			if (last)
				hipec_page_link_unused(vm, last, h);
			else
				vm->unused = h;
			last = h;
			continue;
		}
		bucket = hipec_bucket_of(vm, old->page[h].pgno);
		*page = (struct hipec_page){
			.chain = *bucket,
			.pgno = old->page[h].pgno,
			.flags = flags & (HIPEC_PAGE_FRAME | HIPEC_PAGE_HOST),
		};
		*bucket = h;
	}
	if (last)
		hipec_page_link_unused(vm, last, 0);
	else
		vm->unused = 0;
}

/* The first live page of @h and those behind it on its queue; 0: none. */
static u32 live_from(const struct hipec_vm *vm, u32 h)
{
	while (h && !hipec_page_live(vm, h))
		h = vm->page[h].next;
	return h;
}

/**
 * hipec_vm_next_live() - the live pages of a machine, one after the other
 * @vm: machine between two events
 * @h:  the last one; 0: begin
 *
 * In the order of hipec_vm_abandon(): the fallback queue, and the others in slot
 * order, each from its head.
 *
 * Context: any, serialised by the host.
 * Return: handle; 0 behind the last one.
 */
u32 hipec_vm_next_live(const struct hipec_vm *vm, u32 h)
{
	u32 q = h ? vm->page[h].queue : HIPEC_QUEUE_FALLBACK;

	h = live_from(vm, h ? vm->page[h].next : vm->queue[q].head);
	while (!h && ++q < vm->nr_queues)
		if (q != HIPEC_QUEUE_GONE)
			h = live_from(vm, vm->queue[q].head);
	return h;
}

/**
 * hipec_vm_restore() - a machine goes on that another was to take the place of
 * @old: as it was when @vm inherited from it
 * @vm:  with the same frames
 *
 * What the host has noted in the flags of pages meanwhile is not lost.
 *
 * Context: any, serialised by the host. Time is linear in the table.
 */
void hipec_vm_restore(struct hipec_vm *old, const struct hipec_vm *vm)
{
	u32 h;

	for (h = 1; h <= old->nr_pages; h++) {
		if (!(old->page[h].flags & HIPEC_PAGE_FRAME))
			continue;
		old->page[h].flags &= ~HIPEC_PAGE_HOST;
		old->page[h].flags |= vm->page[h].flags & HIPEC_PAGE_HOST;
	}
}
