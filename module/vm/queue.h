/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues of pages, linked through the page table by handle.
 *
 * Invariants: count is the number of pages whose `queue` is this one; head is
 * 0 exactly when tail is 0 exactly when count is 0; following next from head
 * visits each page once and ends at tail. An ordered queue is a list as well,
 * in the order of its keys; order.c finds places in it.
 */
#ifndef HIPEC_VM_QUEUE_H
#define HIPEC_VM_QUEUE_H

#include "vm.h"

/* order.c */
u32 hipec_order_add(struct hipec_vm *vm, u32 q, u32 h, enum hipec_end end);
void hipec_order_del(struct hipec_vm *vm, u32 h);

/*
 * Link @h, which is on no queue, between @prev and @next of queue @q, 0 for none.
 * Pointers that a store might change as far as the compiler knows (the kernel
 * is built with -fno-strict-aliasing) are loaded once, here and below.
 */
static __always_inline void hipec_queue_link(struct hipec_queue *queue,
					     struct hipec_page *pages, u32 q,
					     u32 h, u32 prev, u32 next)
{
	struct hipec_page *page = &pages[h];

	page->prev = prev;
	page->next = next;
	page->queue = q;
	if (prev)
		pages[prev].next = h;
	else
		queue->head = h;
	if (next)
		pages[next].prev = h;
	else
		queue->tail = h;
	queue->count++;
}

/* Put @h, which is on no queue, at @end of queue @q, or where its key says. */
static __always_inline void hipec_queue_add(struct hipec_vm *vm, u32 q, u32 h,
				   enum hipec_end end)
{
	struct hipec_queue *queue = &vm->queue[q];
	struct hipec_page *pages = vm->page;
	u32 prev;

	if (unlikely(queue->key)) {
		prev = hipec_order_add(vm, q, h, end);
		hipec_queue_link(queue, pages, q, h, prev,
				 prev ? pages[prev].next : queue->head);
	} else if (end == HIPEC_END_TAIL) {
		hipec_queue_link(queue, pages, q, h, queue->tail, 0);
	} else {
		hipec_queue_link(queue, pages, q, h, 0, queue->head);
	}
}

/* Unlink @h from the queue that it is on. */
static __always_inline void hipec_queue_del(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *pages = vm->page, *page = &pages[h];
	struct hipec_queue *queue = &vm->queue[page->queue];
	u32 prev = page->prev, next = page->next;

	if (unlikely(queue->key))
		hipec_order_del(vm, h);
	page->queue = HIPEC_QUEUE_FREE;
	if (prev)
		pages[prev].next = next;
	else
		queue->head = next;
	if (next)
		pages[next].prev = prev;
	else
		queue->tail = prev;
	queue->count--;
}

/* Move @h from the queue that it is on to @end of @q. */
static __always_inline void hipec_queue_move(struct hipec_vm *vm, u32 q, u32 h,
				    enum hipec_end end)
{
	hipec_queue_del(vm, h);
	hipec_queue_add(vm, q, h, end);
}

#endif /* HIPEC_VM_QUEUE_H */
