// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verifier once more, from its theorem: what a parsed policy has to be so
 * that it is safe to run. And the memory of a machine, from vm.h's words.
 */
#include "harness.h"

#define MAX_PIECES (HIPEC_NR_SLOTS + 8)

static u8 type_of(const struct hipec_policy *p, u8 slot)
{
	if (slot < p->image->nr_operands)
		return p->operand[slot].type;
	if (slot >= HIPEC_SLOT_SYSTEM &&
	    hipec_system_slots[slot - HIPEC_SLOT_SYSTEM].name)
		return HIPEC_TYPE_INT;
	return 0;
}

/* A slot of a type that the kind takes, and what the kind wants beside. */
static bool slot_sound(const struct hipec_policy *p, u8 kind, u8 slot)
{
	const u8 fixed = HIPEC_OPERAND_CONST | HIPEC_OPERAND_SHARED;
	u8 type = type_of(p, slot);

	if (!type || !(hipec_vm_kind_types(kind) & 1u << type))
		return false;
	if (hipec_vm_kind_flags(kind) & HIPEC_KINDF_LINKS &&
	    slot == HIPEC_SLOT_FREE_QUEUE)
		return false;
	if (hipec_vm_kind_flags(kind) & HIPEC_KINDF_WRITE)
		return slot < p->image->nr_operands &&
		       !(p->operand[slot].flags & fixed);
	return true;
}

/* Row of event @number; NULL if there is none. */
static const struct hipec_image_event *row_of(const struct hipec_policy *p,
					      u32 number)
{
	u32 i;

	for (i = 0; i < p->image->nr_events; i++)
		if (p->event[i].number == number)
			return &p->event[i];
	return NULL;
}

static bool operand_sound(const struct hipec_policy *p,
			  const struct hipec_image_event *e, u32 w, u32 i)
{
	const u8 *kind = hipec_ops[hipec_word_op(w)].kind;
	u8 v = w >> (16 - 8 * i);

	switch (kind[i]) {
	case HIPEC_KIND_NONE:
		return v == 0;
	case HIPEC_KIND_EVENT:
		return row_of(p, v);
	case HIPEC_KIND_TARGET:
		return (w & 0xffff) >= 1 && (w & 0xffff) <= e->nr - 1;
	case HIPEC_KIND_TARGET_LO:
		return true;
	case HIPEC_KIND_INT_OPT:
		if (hipec_vm_selector_unary(kind[2], w & 0xff))
			return v == 0;
	}
	return hipec_vm_kind_types(kind[i]) ? slot_sound(p, kind[i], v) :
					   !!hipec_vm_selector(kind[i], v);
}

static bool event_sound(const struct hipec_policy *p,
			const struct hipec_image_event *e)
{
	u32 i, n, w = 0;

	for (n = 1; n < e->nr; n++) {
		w = p->words[e->first + n];
		if (!hipec_ops[hipec_word_op(w)].word)
			return false;
		for (i = 0; i < 3; i++)
			if (!operand_sound(p, e, w, i))
				return false;
	}
	/* The last one: Return, or Jump whatever the condition is. */
	return hipec_word_op(w) == HIPEC_OP_RETURN ||
	       (hipec_word_op(w) == HIPEC_OP_JUMP &&
		hipec_word_a(w) == HIPEC_COND_ALWAYS);
}

/* How deep calls nest below each event: with a cycle, deeper at every turn. */
static bool calls_sound(const struct hipec_policy *p)
{
	u32 below[HIPEC_NR_EVENTS] = { 0 }, turn, e, n, w, callee;

	for (turn = 0; turn <= HIPEC_MAX_CALL_DEPTH; turn++)
		for (e = 0; e < p->image->nr_events; e++)
			for (n = 1; n < p->event[e].nr; n++) {
				w = p->words[p->event[e].first + n];
				if (hipec_word_op(w) != HIPEC_OP_CALL)
					continue;
				callee = row_of(p, hipec_word_a(w)) - p->event;
				if (below[e] < below[callee] + 1)
					below[e] = below[callee] + 1;
				if (below[e] > HIPEC_MAX_CALL_DEPTH)
					return false;
			}
	return true;
}

/* Whether some command that takes an integer there names system slot @slot. */
static bool names_slot(const struct hipec_policy *p, u8 slot)
{
	u32 e, n, i, w;

	for (e = 0; e < p->image->nr_events; e++)
		for (n = 1; n < p->event[e].nr; n++) {
			w = p->words[p->event[e].first + n];
			for (i = 0; i < 3; i++) {
				u8 kind = hipec_ops[hipec_word_op(w)].kind[i];

				if (hipec_vm_kind_types(kind) &&
				    (w << (8 + 8 * i)) >> 24 == slot)
					return true;
			}
		}
	return false;
}

/* What the policy uses of the host, its header says. */
static bool needs_sound(const struct hipec_policy *p)
{
	u32 needs = p->image->needs, i;

	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].flags & HIPEC_OPERAND_SHARED &&
		    !(needs & HIPEC_NEED_SHARED))
			return false;
	return (needs & HIPEC_NEED_CONTEXT || !names_slot(p, HIPEC_SLOT_CONTEXT)) &&
	       (needs & HIPEC_NEED_HINT || !names_slot(p, HIPEC_SLOT_HINT)) &&
	       (needs & HIPEC_NEED_ACCESS || !row_of(p, HIPEC_EVENT_ACCESS)) &&
	       (needs & HIPEC_NEED_TIME || !(names_slot(p, HIPEC_SLOT_TIME) ||
					     row_of(p, HIPEC_EVENT_TIMER)));
}

/* Whether a policy that has been parsed is safe to run. */
bool fuzz_sound(const struct hipec_policy *p)
{
	u32 e;

	for (e = 0; e < p->image->nr_events; e++)
		if (!event_sound(p, &p->event[e]))
			return false;
	return calls_sound(p) && needs_sound(p);
}

/* Part of a machine's memory. */
struct piece {
	const void *at;
	size_t size;
};

static u32 add_piece(struct piece *piece, u32 nr, const void *at, size_t n,
		     size_t each)
{
	piece[nr] = (struct piece){ at, n * each };
	return nr + (n > 0);
}

/* All that a machine writes to lies in its memory, and nothing twice. */
static void check_pieces(const struct hipec_vm *vm, const void *memory,
			 size_t size)
{
	const struct hipec_policy *p = vm->policy;
	const u32 n = vm->nr_pages + 1;
	struct piece piece[MAX_PIECES];
	u32 nr = 0, i, j;

	nr = add_piece(piece, nr, vm->field, (size_t)n * vm->nr_fields, sizeof(*vm->field));
	nr = add_piece(piece, nr, vm->node, p->ordered ? n : 0, sizeof(*vm->node));
	nr = add_piece(piece, nr, vm->array, p->nr_arrays, sizeof(*vm->array));
	nr = add_piece(piece, nr, vm->page, n, sizeof(*vm->page));
	nr = add_piece(piece, nr, vm->queue, vm->nr_queues, sizeof(*vm->queue));
	nr = add_piece(piece, nr, vm->bucket, n, sizeof(*vm->bucket));
	nr = add_piece(piece, nr, vm->code, p->image->nr_words, sizeof(*vm->code));
	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_INTS &&
		    !(p->operand[i].flags & HIPEC_OPERAND_SHARED))
			nr = add_piece(piece, nr, vm->array[vm->slot[i]].element,
				       p->operand[i].value, sizeof(s64));
	for (i = 0; i < nr; i++) {
		fuzz_check(piece[i].at >= memory && piece[i].at + piece[i].size <=
			   memory + size, "a machine is in its memory");
		for (j = 0; j < i; j++)
			fuzz_check(piece[i].at + piece[i].size <= piece[j].at ||
				   piece[j].at + piece[j].size <= piece[i].at,
				   "no two parts of a machine overlap");
	}
}

/* Where the application finds its arrays: in slot order, each in whole pages. */
static void check_shared(const struct hipec_vm *vm, const void *shared)
{
	const struct hipec_policy *p = vm->policy;
	size_t at = 0;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++) {
		if (!(p->operand[i].flags & HIPEC_OPERAND_SHARED))
			continue;
		fuzz_check((const void *)vm->array[vm->slot[i]].element ==
			   shared + at,
			   "a shared array is behind the one before it");
		at = (at + p->operand[i].value * sizeof(s64) + 4095) & ~4095ul;
	}
	fuzz_check(at == p->shared_size, "shared arrays fill their memory");
}

/* A machine as hipec_vm_init() made it, in @size bytes at @memory. */
void fuzz_check_layout(const struct hipec_vm *vm, const void *memory,
		       size_t size, const void *shared)
{
	check_pieces(vm, memory, size);
	check_shared(vm, shared);
}
