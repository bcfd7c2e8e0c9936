// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands beyond Table I: arrays, page fields, looking at queues, chance.
 */
#include "ops.h"
#include "tracer.h"

/* Element of an array by the integer in @index, operand @nr. NULL: outside. */
static s64 *element(struct hipec_vm *vm, u8 array, u8 index, u32 nr)
{
	const struct hipec_array *a = &vm->array[vm->slot[array]];
	s64 n = vm->slot[index];

	if (likely(n >= 0 && n < a->nr))
		return &a->element[n];
	vm->exit.operand = nr;
	return NULL;
}

u32 hipec_op_load(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 *e = element(vm, i.b, i.c, 3);

	if (!e)
		return HIPEC_EXIT_INDEX;
	/* The application may write a shared array at any time. */
	vm->slot[i.a] = unlikely(vm->tracer) ? hipec_tracer_read(vm, i.b, e) :
					     READ_ONCE(*e);
	return 0;
}

u32 hipec_op_store(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 *e = element(vm, i.a, i.b, 2);

	if (!e)
		return HIPEC_EXIT_INDEX;
	*e = vm->slot[i.c];
	return 0;
}

u32 hipec_op_select(struct hipec_vm *vm, struct hipec_insn i)
{
	const struct hipec_array *a = &vm->array[vm->slot[i.b]];
	s64 n = vm->slot[i.c];

	if (n < 0 || n >= a->nr) {
		vm->exit.operand = 3;
		return HIPEC_EXIT_INDEX;
	}
	vm->slot[i.a] = a->first + n;
	return 0;
}

u32 hipec_op_length(struct hipec_vm *vm, struct hipec_insn i)
{
	vm->slot[i.a] = vm->queue[vm->slot[i.b]].count;
	return 0;
}

static u32 answer(struct hipec_vm *vm, struct hipec_insn i, u32 h)
{
	vm->slot[i.a] = h;
	vm->condition = h;
	return 0;
}

u32 hipec_op_peek(struct hipec_vm *vm, struct hipec_insn i)
{
	const struct hipec_queue *q = &vm->queue[vm->slot[i.b]];

	return answer(vm, i, i.c == HIPEC_END_HEAD ? q->head : q->tail);
}

u32 hipec_op_next(struct hipec_vm *vm, struct hipec_insn i)
{
	u32 h, kind = hipec_page_operand(vm, i.b, 2, HIPEC_PAGE_NAMED, &h);
	const struct hipec_page *page = &vm->page[h];

	if (kind)
		return kind;
	if (page->queue < HIPEC_QUEUE_POLICY)
		return answer(vm, i, 0);
	return answer(vm, i, i.c == HIPEC_END_TAIL ? page->next : page->prev);
}

u32 hipec_op_get(struct hipec_vm *vm, struct hipec_insn i)
{
	u32 h, kind = hipec_page_operand(vm, i.b, 2, HIPEC_PAGE_NAMED, &h);

	if (!kind)
		vm->slot[i.a] = vm->field[(size_t)h * vm->nr_fields +
					  vm->slot[i.c]];
	return kind;
}

u32 hipec_op_put(struct hipec_vm *vm, struct hipec_insn i)
{
	u32 h, kind = hipec_page_operand(vm, i.a, 1, HIPEC_PAGE_NAMED, &h);

	if (!kind)
		vm->field[(size_t)h * vm->nr_fields + vm->slot[i.b]] =
			vm->slot[i.c];
	return kind;
}

u32 hipec_op_resident(struct hipec_vm *vm, struct hipec_insn i)
{
	/* Entry 0, which is no page, is never live. */
	vm->condition = hipec_page_live(vm, vm->slot[i.a]);
	return 0;
}

u32 hipec_op_copy(struct hipec_vm *vm, struct hipec_insn i)
{
	vm->slot[i.a] = vm->slot[i.b];
	return 0;
}

u32 hipec_op_same(struct hipec_vm *vm, struct hipec_insn i)
{
	vm->condition = vm->slot[i.a] == vm->slot[i.b];
	return 0;
}

u32 hipec_op_pageat(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 n = vm->slot[i.b];
	bool live = n >= 0 && n < vm->reached && hipec_page_live(vm, n + 1);

	return answer(vm, i, live ? n + 1 : 0);
}

u32 hipec_op_random(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 range = vm->slot[i.b];
	u64 x;

	if (range < 1) {
		vm->exit.operand = 2;
		return HIPEC_EXIT_INDEX;
	}
	/* SplitMix64; the bias of the remainder is below range / 2^64. */
	vm->random += 0x9e3779b97f4a7c15ull;
	x = vm->random;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	vm->slot[i.a] = x % (u64)range;
	return 0;
}
