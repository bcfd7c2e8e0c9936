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
 * hipec_vm_map_handles()  handles for that
 * hipec_vm_graft()      all that another one knows, under other handles
 * hipec_vm_graft_frames()  and the frames of the one before
 */
#include "bucket.h"
#include "queue.h"

/* Of a table that was filled from another's: the entries that are unused, in their order. */
static void link_unused(struct hipec_vm *vm)
{
	u32 h;

	vm->unused = vm->nr_unused = 0;
	for (h = vm->reached; h; h--)
		if (!(vm->page[h].flags & HIPEC_PAGE_USED))
			hipec_page_link_unused(vm, h);
}

/* A page that holds a frame, not live, under the handle that it has in @old. */
static void inherit_page(struct hipec_vm *vm, const struct hipec_vm *old, u32 h)
{
	u32 *bucket = hipec_bucket_of(vm, old->page[h].pgno);

	vm->page[h] = (struct hipec_page){
		.chain = *bucket,
		.pgno = old->page[h].pgno,
		.flags = old->page[h].flags & (HIPEC_PAGE_FRAME | HIPEC_PAGE_HOST),
	};
	*bucket = h;
}

/**
 * hipec_vm_inherit() - a machine without pages gets those of another
 * @vm:  just made, with memory for at least as many entries, on which Init may have run
 * @old: between two events; not changed
 *
 * Every page that holds a frame is in the table, under its handle, and not live:
 * hipec_page_activate() shows those that hipec_vm_next_live() names. What @old's
 * policy remembers without a frame stays behind.
 *
 * Context: any, serialised by the host. Time is linear in the table.
 */
void hipec_vm_inherit(struct hipec_vm *vm, const struct hipec_vm *old)
{
	u32 h;

	hipec_page_reach(vm, old->reached);
	for (h = 1; h <= old->reached; h++)
		if (old->page[h].flags & HIPEC_PAGE_FRAME)
			inherit_page(vm, old, h);
	link_unused(vm);
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
		if (q != HIPEC_QUEUE_EVICTED)
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

	for (h = 1; h <= old->reached; h++) {
		if (!(old->page[h].flags & HIPEC_PAGE_FRAME))
			continue;
		old->page[h].flags &= ~HIPEC_PAGE_HOST;
		old->page[h].flags |= vm->page[h].flags & HIPEC_PAGE_HOST;
	}
}

/**
 * hipec_vm_map_handles() - handles of a machine in one that takes the place of another
 * @from:   whose pages with frames are all live, and so in @old
 * @old:    the machine before
 * @nr:     entries of the new machine, no fewer than @old has
 * @handle: gets, by handle of @from, that in the new machine; 0 for unused entries
 *
 * What holds a frame keeps the handle that it has in @old, ghosts get entries that hold none
 * there.
 *
 * Context: any, serialised by the host. Time is linear in the tables.
 * Return: the last one of these handles; -ENOSPC if there are too few entries.
 */
int hipec_vm_map_handles(const struct hipec_vm *from, const struct hipec_vm *old, u32 nr,
			 u32 *handle)
{
	u32 h, next = 1, last = 0;

	handle[0] = 0;
	for (h = 1; h <= from->reached; h++) {
		const struct hipec_page *page = &from->page[h];

		handle[h] = 0;
		if (page->flags & HIPEC_PAGE_FRAME) {
			handle[h] = hipec_page_find(old, page->pgno);
		} else if (page->flags & HIPEC_PAGE_USED) {
			while (next <= old->reached &&
			       old->page[next].flags & HIPEC_PAGE_FRAME)
				next++;
			handle[h] = next++;
		}
		if (handle[h] > nr)
			return -ENOSPC;
		if (handle[h] > last)
			last = handle[h];
	}
	return last;
}

/* Where a page is known, in @vm and in the machine that it is copied from. */
static void graft_page(struct hipec_vm *vm, const struct hipec_vm *from, u32 h,
		       const u32 *handle)
{
	const struct hipec_page *old = &from->page[h];
	u32 *bucket = hipec_bucket_of(vm, old->pgno), to = handle[h];
	struct hipec_page *page = &vm->page[to];

	*page = *old;
	page->next = handle[old->next];
	page->prev = handle[old->prev];
	page->chain = *bucket;
	*bucket = to;
	if (vm->nr_fields)
		memcpy(&vm->field[(size_t)to * vm->nr_fields],
		       &from->field[(size_t)h * vm->nr_fields],
		       vm->nr_fields * sizeof(s64));
	if (vm->node)
		vm->node[to] = (struct hipec_node){
			.key = from->node[h].key,
			.child = { handle[from->node[h].child[0]],
				   handle[from->node[h].child[1]] },
			.parent = handle[from->node[h].parent],
		};
}

/* Operands: handles are translated, arrays are copied. */
static void graft_slots(struct hipec_vm *vm, const struct hipec_vm *from, const u32 *handle)
{
	const struct hipec_policy *p = vm->policy;
	u32 i, array = 0;

	for (i = 0; i < HIPEC_NR_SLOTS; i++)
		vm->slot[i] = from->slot[i];
	vm->slot[HIPEC_SLOT_PAGE_ENTRIES] = vm->nr_pages;
	for (i = 0; i < p->image->nr_operands; i++) {
		const struct hipec_image_operand *o = &p->operand[i];

		if (o->type == HIPEC_TYPE_PAGE)
			vm->slot[i] = handle[from->slot[i]];
		if (o->type == HIPEC_TYPE_INTS && !(o->flags & HIPEC_OPERAND_SHARED))
			memcpy(vm->array[array].element, from->array[array].element,
			       vm->array[array].nr * sizeof(s64));
		array += o->type == HIPEC_TYPE_INTS || o->type == HIPEC_TYPE_QUEUES;
	}
}

/**
 * hipec_vm_graft() - a machine gets all that another one knows, under other handles
 * @vm:     just made, of the same policy, with at least as many entries
 * @from:   the other one, between two events, with no page that is EVICTED; not changed
 * @handle: by handle of @from, the handle in @vm: of 0, and of entries that are unused,
 *          0; of others, numbers that differ
 *
 * Shared arrays are not copied. @vm counts its own commands and events.
 *
 * Context: any, serialised by the host. Time is linear in the tables.
 */
void hipec_vm_graft(struct hipec_vm *vm, const struct hipec_vm *from, const u32 *handle)
{
	u32 h, q;

	for (h = 1; h <= from->reached; h++)
		if (from->page[h].flags & HIPEC_PAGE_USED) {
			hipec_page_reach(vm, handle[h]);
			graft_page(vm, from, h, handle);
		}
	link_unused(vm);
	for (q = 0; q < vm->nr_queues; q++) {
		vm->queue[q] = from->queue[q];
		vm->queue[q].head = handle[from->queue[q].head];
		vm->queue[q].tail = handle[from->queue[q].tail];
		vm->queue[q].root = handle[from->queue[q].root];
	}
	graft_slots(vm, from, handle);
	vm->condition = from->condition;
	vm->nr_live = from->nr_live;
	vm->nr_ghosts = from->nr_ghosts;
	vm->random = from->random;
	vm->salt = from->salt;
}

/**
 * hipec_vm_graft_frames() - what the machine before knew of frames
 * @vm:  hipec_vm_graft() was called, with handles of @old for what holds a frame
 * @old: the machine before; each of @vm's live pages is live there. Not changed
 *
 * What the host has noted of them, and pages that are not live.
 *
 * Context: any, serialised by the host. Time is linear in the tables.
 */
void hipec_vm_graft_frames(struct hipec_vm *vm, const struct hipec_vm *old)
{
	u32 h;

	hipec_page_reach(vm, old->reached);
	for (h = 1; h <= old->reached; h++) {
		if (!(old->page[h].flags & HIPEC_PAGE_FRAME))
			continue;
		if (!(vm->page[h].flags & HIPEC_PAGE_USED))
			inherit_page(vm, old, h);
		vm->page[h].flags &= ~HIPEC_PAGE_HOST;
		vm->page[h].flags |= old->page[h].flags & HIPEC_PAGE_HOST;
	}
	link_unused(vm);
}
