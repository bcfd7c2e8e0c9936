// SPDX-License-Identifier: GPL-2.0-only
/*
 * The invariants of a machine. Written against queue.h's and vm.h's prose, not
 * against their code: nothing of it is called but hipec_page_find().
 */
#include "invariants.h"

static const char *broken_queue(const struct hipec_vm *vm, u32 q)
{
	const struct hipec_queue *queue = &vm->queue[q];
	u32 h, prev = 0, n = 0;

	if (!queue->head != !queue->tail || !queue->head != !queue->count)
		return "head, tail and count of a queue disagree about empty";
	for (h = queue->head; h; prev = h, h = vm->page[h].next) {
		if (h > vm->nr_pages || n++ == queue->count)
			return "a queue is longer than its count";
		if (vm->page[h].queue != q ||
		    !(vm->page[h].flags & HIPEC_PAGE_USED) ||
		    hipec_page_live(vm, h) != (q != HIPEC_QUEUE_HOST))
			return "a queue links a page that is not on it";
		if (vm->page[h].prev != prev)
			return "a page's prev is not the page before it";
	}
	if (n != queue->count || prev != queue->tail)
		return "following next does not end at the tail";
	return NULL;
}

static const char *broken_pages(const struct hipec_vm *vm)
{
	u32 h, live = 0, used = 0, unused = 0;

	for (h = 1; h <= vm->nr_pages; h++) {
		u16 flags = vm->page[h].flags;

		live += !!(flags & HIPEC_PAGE_LIVE);
		used += !!(flags & HIPEC_PAGE_USED);
		if (flags & HIPEC_PAGE_LIVE && !(flags & HIPEC_PAGE_USED))
			return "an unused entry is live";
		if (flags & HIPEC_PAGE_USED &&
		    hipec_page_find(vm, vm->page[h].pgno) != h)
			return "a page is not found by its number";
	}
	for (h = vm->unused; h; h = vm->page[h].next)
		if (h > vm->nr_pages || unused++ == vm->nr_pages)
			return "the unused entries form a cycle";
	if (vm->page[0].flags || vm->page[0].next || vm->page[0].prev)
		return "entry 0, which is no page, was written to";
	if (live != vm->nr_live || used + unused != vm->nr_pages)
		return "live, used or unused entries were counted wrong";
	return NULL;
}

static const char *broken_slots(const struct hipec_vm *vm)
{
	const struct hipec_image_operand *o = vm->policy->operand;
	u32 i, q = HIPEC_QUEUE_POLICY;

	for (i = 0; i < vm->policy->image->nr_operands; i++, o++) {
		if (o->type == HIPEC_TYPE_PAGE &&
		    (vm->slot[i] < 0 || vm->slot[i] > vm->nr_pages))
			return "a page slot holds no handle";
		if (o->type == HIPEC_TYPE_QUEUE &&
		    vm->slot[i] != (i ? q++ : HIPEC_QUEUE_FREE))
			return "a queue slot was written to";
		if (o->flags & HIPEC_OPERAND_CONST && i >= HIPEC_SLOT_POLICY &&
		    vm->slot[i] != o->value)
			return "a constant was written to";
	}
	return NULL;
}

/**
 * hipec_vm_broken() - check a machine
 * @vm: machine, not in the middle of a command
 *
 * A queue's links are followed at most count times, so a broken queue cannot
 * make it loop; a hash chain that is a cycle would.
 *
 * Context: any, serialised by the host. Time is that of one hash look-up a page.
 * Return: the first invariant that does not hold, in words; NULL if all do.
 */
const char *hipec_vm_broken(const struct hipec_vm *vm)
{
	const char *text;
	u32 q, on_queues = 0;

	if (vm->queue[HIPEC_QUEUE_FREE].head || vm->queue[HIPEC_QUEUE_FREE].tail)
		return "_free_queue links a page";
	for (q = HIPEC_QUEUE_FALLBACK; q < vm->nr_queues; q++) {
		text = broken_queue(vm, q);
		if (text)
			return text;
		if (q != HIPEC_QUEUE_HOST)
			on_queues += vm->queue[q].count;
	}
	if (on_queues != vm->nr_live)
		return "a live page is on no queue";
	text = broken_pages(vm);
	return text ? text : broken_slots(vm);
}
