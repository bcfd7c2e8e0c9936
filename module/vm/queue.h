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
void hipec_order_move(struct hipec_vm *vm, u32 q, u32 h, enum hipec_end end);

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

/* As hipec_queue_add(), where @q has no order. */
static __always_inline void hipec_queue_put(struct hipec_vm *vm, u32 q, u32 h,
					    enum hipec_end end)
{
	struct hipec_queue *queue = &vm->queue[q];

	if (end == HIPEC_END_TAIL)
		hipec_queue_link(queue, vm->page, q, h, queue->tail, 0);
	else
		hipec_queue_link(queue, vm->page, q, h, 0, queue->head);
}

/* Put @h, which is on no queue, at @end of queue @q, or where its key says. */
static __always_inline void hipec_queue_add(struct hipec_vm *vm, u32 q, u32 h,
				   enum hipec_end end)
{
	struct hipec_queue *queue = &vm->queue[q];
	u32 prev;

	if (likely(!queue->key)) {
		hipec_queue_put(vm, q, h, end);
		return;
	}
	prev = hipec_order_add(vm, q, h, end);
	hipec_queue_link(queue, vm->page, q, h, prev,
			 prev ? vm->page[prev].next : queue->head);
}

/* Unlink @h, whose queue has no order and is named by @h still. */
static __always_inline void hipec_queue_unlink(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *pages = vm->page, *page = &pages[h];
	struct hipec_queue *queue = &vm->queue[page->queue];
	u32 prev = page->prev, next = page->next;

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

/* Unlink @h from the queue that it is on. */
static __always_inline void hipec_queue_del(struct hipec_vm *vm, u32 h)
{
	if (unlikely(vm->queue[vm->page[h].queue].key))
		hipec_order_del(vm, h);
	hipec_queue_unlink(vm, h);
	vm->page[h].queue = HIPEC_QUEUE_FREE;
}

/*
 * Move @h from the queue that it is on to @end of @q. What an order takes is elsewhere, so
 * that a caller saves no registers for it.
 */
static __always_inline void hipec_queue_move(struct hipec_vm *vm, u32 q, u32 h,
				    enum hipec_end end)
{
	if (unlikely(vm->queue[vm->page[h].queue].key | vm->queue[q].key)) {
		hipec_order_move(vm, q, h, end);
		return;
	}
	hipec_queue_unlink(vm, h);
	hipec_queue_put(vm, q, h, end);
}

#endif /* HIPEC_VM_QUEUE_H */
