// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands beyond Table I: arrays, page fields, looking at queues, chance, sketches.
 */
#include "ops.h"
#include "tracer.h"

/* Element of an array by the integer in @index, operand @nr. NULL: outside. */
static s64 *element_at(struct hipec_vm *vm, u8 array, u8 index, u32 nr)
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
	s64 *e = element_at(vm, i.b, i.c, 3);

	if (!e)
		return HIPEC_EXIT_INDEX;
	/* The application may write a shared array at any time. */
	vm->slot[i.a] = unlikely(vm->tracer) ? hipec_tracer_read(vm, i.b, e) :
					     READ_ONCE(*e);
	return 0;
}

u32 hipec_op_store(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 *e = element_at(vm, i.a, i.b, 2);

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

static u32 answer_page(struct hipec_vm *vm, struct hipec_insn i, u32 h)
{
	vm->slot[i.a] = h;
	vm->condition = h;
	return 0;
}

u32 hipec_op_peek(struct hipec_vm *vm, struct hipec_insn i)
{
	const struct hipec_queue *q = &vm->queue[vm->slot[i.b]];

	return answer_page(vm, i, i.c == HIPEC_END_HEAD ? q->head : q->tail);
}

u32 hipec_op_next(struct hipec_vm *vm, struct hipec_insn i)
{
	u32 h, kind = hipec_page_operand(vm, i.b, 2, HIPEC_PAGE_NAMED, &h);
	const struct hipec_page *page = &vm->page[h];

	if (kind)
		return kind;
	if (page->queue < HIPEC_QUEUE_POLICY)
		return answer_page(vm, i, 0);
	return answer_page(vm, i, i.c == HIPEC_END_TAIL ? page->next : page->prev);
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

	return answer_page(vm, i, live ? n + 1 : 0);
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

/*
 * A sketch of how often each integer was used: an array whose element 0 says how many uses
 * of the period are over, and whose others hold 16 counters of four bits each. Counters come
 * in four rows, row r in bits 16 r and following of every element; an integer has one in each.
 *
 * Source: Einziger, Friedman, Manes, "TinyLFU: a highly efficient cache admission policy",
 *         ACM Transactions on Storage 13(4), 2017, section 3; all counters are halved there at
 *         once when the period is over, here a few with each use.
 */
#define SKETCH_ROWS 4
#define SKETCH_MAX 15
#define SKETCH_HALF 0x7777777777777777ull
#define SKETCH_MOST 64	/* elements halved by one command */

/* Elements of counters. Operand @nr. 0: the array has none. */
static u32 sketch_width(struct hipec_vm *vm, u8 array, u32 nr)
{
	u32 n = vm->array[vm->slot[array]].nr;

	if (unlikely(n < 2))
		vm->exit.operand = nr;
	return n - 1;
}

/* The next row's counter: its element; its place there goes to @shift. */
static __always_inline u64 *sketch_counter(s64 *element, u32 width, u32 row, u64 *hash,
					   u32 *shift)
{
	*hash = (*hash ^ *hash >> 31) * 0x9e3779b97f4a7c15ull;
	*shift = 4 * SKETCH_ROWS * row + (*hash >> 28 & 12);
	return (u64 *)&element[1 + ((*hash >> 32) * width >> 32)];
}

/* One use more of the @period: halve the elements whose turn it is. */
static void sketch_age(s64 *element, u32 width, s64 period)
{
	u64 *counters = (u64 *)element + 1;
	u64 uses = element[0], e, end;

	if (period <= width / SKETCH_MOST)
		period = width / SKETCH_MOST + 1;
	if (period > (u32)-1)
		period = (u32)-1;	/* no product overflows */
	if (uses >= (u64)period)
		uses = 0;
	end = (uses + 1) * width / (u64)period;
	for (e = uses * width / (u64)period; e < end; e++)
		counters[e] = counters[e] >> 1 & SKETCH_HALF;
	element[0] = uses + 1;
}

u32 hipec_op_sketchadd(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 *element = vm->array[vm->slot[i.a]].element;
	u32 width = sketch_width(vm, i.a, 1), row, shift;
	u64 hash = vm->slot[i.b], *counter;

	if (!width)
		return HIPEC_EXIT_INDEX;
	for (row = 0; row < SKETCH_ROWS; row++) {
		counter = sketch_counter(element, width, row, &hash, &shift);
		if ((*counter >> shift & SKETCH_MAX) < SKETCH_MAX)
			*counter += 1ull << shift;
	}
	sketch_age(element, width, vm->slot[i.c]);
	return 0;
}

u32 hipec_op_sketchget(struct hipec_vm *vm, struct hipec_insn i)
{
	s64 *element = vm->array[vm->slot[i.b]].element;
	u32 width = sketch_width(vm, i.b, 2), row, shift;
	u64 hash = vm->slot[i.c], *counter, count, least = SKETCH_MAX;

	if (!width)
		return HIPEC_EXIT_INDEX;
	for (row = 0; row < SKETCH_ROWS; row++) {
		counter = sketch_counter(element, width, row, &hash, &shift);
		count = *counter >> shift & SKETCH_MAX;
		least = count < least ? count : least;
	}
	vm->slot[i.a] = least;
	return 0;
}
