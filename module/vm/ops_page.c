// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands on queues and pages. What touches a frame goes through the host.
 */
#include "queue.h"

#define HIPEC_PAGE_SHIFT 12	/* bytes of a page, as a power of two */

/*
 * The live page in operand @nr (1 to 3) of @w, or why there is none. A page
 * operand outlives its page, so its handle may be stale, or name a page that
 * came later: that is the policy's mistake, and harmless.
 */
static u32 live_page(struct hipec_vm *vm, u32 w, u32 nr, u32 *h)
{
	*h = vm->slot[(w >> (24 - 8 * nr)) & 0xff];
	if (likely(*h && hipec_page_live(vm, *h)))
		return 0;
	vm->exit.operand = nr;
	return *h ? HIPEC_EXIT_STALE_PAGE : HIPEC_EXIT_NO_PAGE;
}

/* The condition is the host's answer about the page in operand a. */
static u32 ask_host(struct hipec_vm *vm, u32 w,
		    bool (*ask)(struct hipec_vm *vm, u32 h))
{
	u32 h, kind = live_page(vm, w, 1, &h);

	if (!kind)
		vm->condition = ask(vm, h);
	return kind;
}

u32 hipec_op_emptyq(struct hipec_vm *vm, u32 w)
{
	vm->condition = !vm->queue[vm->slot[hipec_word_a(w)]].count;
	return 0;
}

u32 hipec_op_inq(struct hipec_vm *vm, u32 w)
{
	u32 h = vm->slot[hipec_word_a(w)];

	vm->condition = h && hipec_page_live(vm, h) &&
			vm->page[h].queue == vm->slot[hipec_word_b(w)];
	return 0;
}

u32 hipec_op_dequeue(struct hipec_vm *vm, u32 w)
{
	struct hipec_queue *q = &vm->queue[vm->slot[hipec_word_b(w)]];
	u32 h = hipec_word_c(w) == HIPEC_END_HEAD ? q->head : q->tail;

	vm->slot[hipec_word_a(w)] = h;
	vm->condition = h;
	if (h)
		hipec_queue_move(vm, HIPEC_QUEUE_FALLBACK, h, HIPEC_END_TAIL);
	return 0;
}

static u32 give_up(struct hipec_vm *vm, u32 w, bool keep)
{
	u32 h, kind = live_page(vm, w, 1, &h);

	if (kind)
		return kind;
	vm->condition = vm->host->give_up(vm, h, keep);
	vm->queue[HIPEC_QUEUE_FREE].count += vm->condition && keep;
	return 0;
}

u32 hipec_op_enqueue(struct hipec_vm *vm, u32 w)
{
	u32 q = vm->slot[hipec_word_b(w)];
	u32 h, kind;

	if (q == HIPEC_QUEUE_FREE)
		return give_up(vm, w, true);
	kind = live_page(vm, w, 1, &h);
	if (kind)
		return kind;
	hipec_queue_move(vm, q, h, hipec_word_c(w));
	vm->condition = true;
	return 0;
}

u32 hipec_op_release(struct hipec_vm *vm, u32 w)
{
	return give_up(vm, w, false);
}

u32 hipec_op_request(struct hipec_vm *vm, u32 w)
{
	s64 want = vm->slot[hipec_word_a(w)];
	u64 got = want > 0 ? vm->host->request(vm, want) : 0;

	vm->slot[hipec_word_b(w)] = got;
	vm->queue[HIPEC_QUEUE_FREE].count += got;
	vm->condition = want <= 0 || got == (u64)want;
	return 0;
}

u32 hipec_op_flush(struct hipec_vm *vm, u32 w)
{
	return ask_host(vm, w, vm->host->flush);
}

u32 hipec_op_set(struct hipec_vm *vm, u32 w)
{
	u32 h, kind = live_page(vm, w, 1, &h);
	bool on = hipec_word_c(w) == HIPEC_ACTION_SET;

	if (kind)
		return kind;
	vm->condition = true;
	if (hipec_word_b(w) == HIPEC_BIT_REFERENCE)
		vm->host->set_ref(vm, h, on);
	else if (on)
		vm->condition = vm->host->set_mod(vm, h);
	else
		vm->condition = !vm->host->mod(vm, h);
	return 0;
}

u32 hipec_op_ref(struct hipec_vm *vm, u32 w)
{
	return ask_host(vm, w, vm->host->ref);
}

u32 hipec_op_mod(struct hipec_vm *vm, u32 w)
{
	return ask_host(vm, w, vm->host->mod);
}

u32 hipec_op_findva(struct hipec_vm *vm, u32 w)
{
	u32 h, kind = live_page(vm, w, 2, &h);

	if (!kind)
		vm->slot[hipec_word_a(w)] =
			(s64)vm->page[h].pgno << HIPEC_PAGE_SHIFT;
	return kind;
}

u32 hipec_op_findpa(struct hipec_vm *vm, u32 w)
{
	u64 pgno = (u64)vm->slot[hipec_word_b(w)] >> HIPEC_PAGE_SHIFT;
	u32 h = pgno <= (u32)-1 ? hipec_page_find(vm, pgno) : 0;

	if (h && !hipec_page_live(vm, h))
		h = 0;
	vm->slot[hipec_word_a(w)] = h;
	vm->condition = h;
	return 0;
}

u32 hipec_op_map(struct hipec_vm *vm, u32 w)
{
	return ask_host(vm, w, vm->host->map);
}

u32 hipec_op_unmap(struct hipec_vm *vm, u32 w)
{
	return ask_host(vm, w, vm->host->unmap);
}
