// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands on queues and pages. What touches a frame goes through the host.
 */
#include "bucket.h"
#include "ops.h"

#define HIPEC_PAGE_SHIFT 12	/* bytes of a page, as a power of two */

/* The condition is the host's answer about the page in operand a. */
static u32 ask_host(struct hipec_vm *vm, struct hipec_insn i,
		    bool (*ask)(struct hipec_vm *vm, u32 h))
{
	u32 h, kind = hipec_page_operand(vm, i.a, 1, HIPEC_PAGE_LIVE, &h);

	if (!kind)
		vm->condition = ask(vm, h);
	return kind;
}

/*
 * A ghost is taken off its queue: forgotten when the event ends, unless it is
 * put on a queue again. Its room is free at once, for another ghost.
 */
static void dismiss_ghost(struct hipec_vm *vm, u32 h)
{
	hipec_queue_move(vm, HIPEC_QUEUE_EVICTED, h, HIPEC_END_TAIL);
	vm->page[h].flags &= ~HIPEC_PAGE_GHOST;
	vm->page[h].flags |= HIPEC_PAGE_EVICTED;
	vm->nr_ghosts--;
}

/* A policy in C knows what queue a slot stands for, and calls this with its number. */
static __always_inline u32 dequeue_page(struct hipec_vm *vm, struct hipec_insn i, u32 q)
{
	u32 h = i.c == HIPEC_END_HEAD ? vm->queue[q].head : vm->queue[q].tail;

	vm->slot[i.a] = h;
	vm->condition = h;
	if (!h)
		return 0;
	if (likely(hipec_page_live(vm, h)))
		hipec_queue_move(vm, HIPEC_QUEUE_FALLBACK, h, HIPEC_END_TAIL);
	else
		dismiss_ghost(vm, h);
	return 0;
}

u32 hipec_op_dequeue(struct hipec_vm *vm, struct hipec_insn i)
{
	return dequeue_page(vm, i, vm->slot[i.b]);
}

static u32 evict_page(struct hipec_vm *vm, struct hipec_insn i, bool keep)
{
	u32 h, kind = hipec_page_operand(vm, i.a, 1, HIPEC_PAGE_NAMED, &h);

	if (kind)
		return kind;
	if (unlikely(!hipec_page_live(vm, h))) {
		/* It has no frame to give: the policy wants to forget it. */
		if (vm->page[h].flags & HIPEC_PAGE_GHOST)
			dismiss_ghost(vm, h);
		vm->condition = true;
		return 0;
	}
	vm->condition = vm->host->evict(vm, h, keep);
	vm->queue[HIPEC_QUEUE_FREE].count += vm->condition && keep;
	return 0;
}

/* Whether the policy may keep @h, which has no frame, on a queue. */
static bool make_ghost(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *page = &vm->page[h];

	if (page->flags & HIPEC_PAGE_GHOST)
		return true;
	if (vm->nr_ghosts == vm->max_ghosts)
		return false;
	page->flags &= ~HIPEC_PAGE_EVICTED;
	page->flags |= HIPEC_PAGE_GHOST;
	vm->nr_ghosts++;
	return true;
}

/* As dequeue_page(). */
static __always_inline u32 enqueue_page(struct hipec_vm *vm, struct hipec_insn i, u32 q)
{
	u32 h, kind;

	if (q == HIPEC_QUEUE_FREE)
		return evict_page(vm, i, true);
	kind = hipec_page_operand(vm, i.a, 1, HIPEC_PAGE_NAMED, &h);
	if (kind)
		return kind;
	vm->condition = hipec_page_live(vm, h) || make_ghost(vm, h);
	if (vm->condition)
		hipec_queue_move(vm, q, h, i.c);
	return 0;
}

u32 hipec_op_enqueue(struct hipec_vm *vm, struct hipec_insn i)
{
	return enqueue_page(vm, i, vm->slot[i.b]);
}

u32 hipec_op_release(struct hipec_vm *vm, struct hipec_insn i)
{
	return evict_page(vm, i, false);
}

u32 hipec_op_request(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 want = vm->slot[i.a];
	u64 got = want > 0 ? vm->host->request(vm, want) : 0;

	vm->slot[i.b] = got;
	vm->queue[HIPEC_QUEUE_FREE].count += got;
	vm->condition = want <= 0 || got == (u64)want;
	return 0;
}

/*
 * What holds a frame is passed over. The first page that the host does not take
 * is the end: it has no frame for the others either.
 */
static u32 prefetch_pages(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	u32 started = 0, run, got;

	for (; nr; pgno += run, nr -= run) {
		run = 0;
		if (hipec_page_find(vm, pgno)) {
			run = 1;
			continue;
		}
		while (run < nr && !hipec_page_find(vm, pgno + run))
			run++;
		got = vm->host->prefetch(vm, pgno, run);
		started += got;
		if (got < run)
			break;
	}
	return started;
}

u32 hipec_op_prefetch(struct hipec_vm *vm, struct hipec_insn i)
{
	u64 pgno = (u64)vm->slot[i.a] >> HIPEC_PAGE_SHIFT;
	s64 want = vm->slot[i.b];
	u32 *free = &vm->queue[HIPEC_QUEUE_FREE].count;
	u32 got = 0;

	if (want > HIPEC_MAX_PREFETCH)
		want = HIPEC_MAX_PREFETCH;
	if (want > 0 && pgno + want <= (u32)-1)
		got = prefetch_pages(vm, pgno, want);
	*free -= got < *free ? got : *free;
	vm->slot[i.c] = got;
	vm->condition = got;
	return 0;
}

u32 hipec_op_flush(struct hipec_vm *vm, struct hipec_insn i)
{
	return ask_host(vm, i, vm->host->flush);
}

u32 hipec_op_set(struct hipec_vm *vm, struct hipec_insn i)
{
	u32 h, kind = hipec_page_operand(vm, i.a, 1, HIPEC_PAGE_LIVE, &h);
	bool on = i.c == HIPEC_ACTION_SET;

	if (kind)
		return kind;
	vm->condition = true;
	if (i.b == HIPEC_BIT_REFERENCE)
		vm->host->set_ref(vm, h, on);
	else if (on)
		vm->condition = vm->host->set_mod(vm, h);
	else
		vm->condition = !vm->host->mod(vm, h);
	return 0;
}

u32 hipec_op_ref(struct hipec_vm *vm, struct hipec_insn i)
{
	return ask_host(vm, i, vm->host->ref);
}

u32 hipec_op_mod(struct hipec_vm *vm, struct hipec_insn i)
{
	return ask_host(vm, i, vm->host->mod);
}

u32 hipec_op_findva(struct hipec_vm *vm, struct hipec_insn i)
{
	u32 h, kind = hipec_page_operand(vm, i.b, 2, HIPEC_PAGE_NAMED, &h);

	if (!kind)
		vm->slot[i.a] =
			(s64)vm->page[h].pgno << HIPEC_PAGE_SHIFT;
	return kind;
}

u32 hipec_op_findpa(struct hipec_vm *vm, struct hipec_insn i)
{
	u64 pgno = (u64)vm->slot[i.b] >> HIPEC_PAGE_SHIFT;
	u32 h = hipec_bucket_found(vm, pgno);

	if (unlikely(!h) && pgno <= (u32)-1)
		h = hipec_page_find_named(vm, pgno);
	vm->slot[i.a] = h;
	vm->condition = h;
	return 0;
}

u32 hipec_op_map(struct hipec_vm *vm, struct hipec_insn i)
{
	return ask_host(vm, i, vm->host->map);
}

u32 hipec_op_unmap(struct hipec_vm *vm, struct hipec_insn i)
{
	return ask_host(vm, i, vm->host->unmap);
}
