/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues of pages, linked through the page table by handle.
 *
 * Invariants: count is the number of pages whose `queue` is this one; head is
 * 0 exactly when tail is 0 exactly when count is 0; following next from head
 * visits each page once and ends at tail.
 */
#ifndef HIPEC_VM_QUEUE_H
#define HIPEC_VM_QUEUE_H

#include "vm.h"

/* Link @h, which is on no queue, at @end of queue @q. */
static inline void hipec_queue_add(struct hipec_vm *vm, u32 q, u32 h,
				   enum hipec_end end)
{
	struct hipec_queue *queue = &vm->queue[q];
	struct hipec_page *page = &vm->page[h];

	page->queue = q;
	if (end == HIPEC_END_TAIL) {
		page->prev = queue->tail;
		page->next = 0;
		if (queue->tail)
			vm->page[queue->tail].next = h;
		else
			queue->head = h;
		queue->tail = h;
	} else {
		page->next = queue->head;
		page->prev = 0;
		if (queue->head)
			vm->page[queue->head].prev = h;
		else
			queue->tail = h;
		queue->head = h;
	}
	queue->count++;
}

/* Unlink @h from the queue that it is on. */
static inline void hipec_queue_del(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *page = &vm->page[h];
	struct hipec_queue *queue = &vm->queue[page->queue];

	if (page->prev)
		vm->page[page->prev].next = page->next;
	else
		queue->head = page->next;
	if (page->next)
		vm->page[page->next].prev = page->prev;
	else
		queue->tail = page->prev;
	queue->count--;
}

/* Move @h from the queue that it is on to @end of @q. */
static inline void hipec_queue_move(struct hipec_vm *vm, u32 q, u32 h,
				    enum hipec_end end)
{
	hipec_queue_del(vm, h);
	hipec_queue_add(vm, q, h, end);
}

#endif /* HIPEC_VM_QUEUE_H */
