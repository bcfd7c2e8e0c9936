/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands that the interpreter's loop holds inline. It calls those that have
 * a selector with a constant one, so that one case of each switch is left. Sums,
 * products and shifts to the left wrap around; Shr keeps the sign.
 */
#ifndef HIPEC_VM_OPS_LOOP_H
#define HIPEC_VM_OPS_LOOP_H

#include "vm.h"

/* Both divisions; the two quotients that do not exist end the policy. */
static inline u32 hipec_divide(struct hipec_vm *vm, s64 *a, s64 b,
			       bool remainder)
{
	vm->exit.operand = 2;
	if (!b)
		return HIPEC_EXIT_DIV_ZERO;
	if (*a == S64_MIN && b == -1)
		return HIPEC_EXIT_OVERFLOW;
	vm->exit.operand = 0;
	*a = remainder ? *a % b : *a / b;
	return 0;
}

static __always_inline u32 hipec_arith(struct hipec_vm *vm,
				       const struct hipec_insn *i, u8 selector)
{
	s64 *a = &vm->slot[i->a];
	s64 b = vm->slot[i->b];

	switch (selector) {
	case HIPEC_ARITH_ADD:
		*a = (u64)*a + (u64)b;
		break;
	case HIPEC_ARITH_SUB:
		*a = (u64)*a - (u64)b;
		break;
	case HIPEC_ARITH_MUL:
		*a = (u64)*a * (u64)b;
		break;
	case HIPEC_ARITH_INC:
		*a = (u64)*a + 1;
		break;
	case HIPEC_ARITH_DEC:
		*a = (u64)*a - 1;
		break;
	case HIPEC_ARITH_SET:
		*a = b;
		break;
	case HIPEC_ARITH_DIV:
		return hipec_divide(vm, a, b, false);
	case HIPEC_ARITH_MOD:
		return hipec_divide(vm, a, b, true);
	case HIPEC_ARITH_AND:
		*a &= b;
		break;
	case HIPEC_ARITH_OR:
		*a |= b;
		break;
	case HIPEC_ARITH_XOR:
		*a ^= b;
		break;
	case HIPEC_ARITH_SHL:
		*a = (u64)*a << (b & 63);
		break;
	case HIPEC_ARITH_SHR:
		*a >>= b & 63;
		break;
	}
	return 0;
}

static __always_inline bool hipec_comp(const struct hipec_vm *vm,
				       const struct hipec_insn *i, u8 selector)
{
	s64 a = vm->slot[i->a];
	s64 b = vm->slot[i->b];

	switch (selector) {
	case HIPEC_COMP_GT:
		return a > b;
	case HIPEC_COMP_LT:
		return a < b;
	case HIPEC_COMP_GE:
		return a >= b;
	case HIPEC_COMP_LE:
		return a <= b;
	case HIPEC_COMP_EQ:
		return a == b;
	}
	return a != b;
}

static __always_inline bool hipec_logic(struct hipec_vm *vm,
					const struct hipec_insn *i, u8 selector)
{
	s64 *a = &vm->slot[i->a];
	s64 b = vm->slot[i->b];

	switch (selector) {
	case HIPEC_LOGIC_AND:
		*a = *a && b;
		break;
	case HIPEC_LOGIC_OR:
		*a = *a || b;
		break;
	case HIPEC_LOGIC_XOR:
		*a = !*a != !b;
		break;
	case HIPEC_LOGIC_NOT:
		*a = !*a;
		break;
	}
	return *a;
}

static __always_inline bool hipec_emptyq(const struct hipec_vm *vm,
					 const struct hipec_insn *i)
{
	return !vm->queue[vm->slot[i->a]].count;
}

static __always_inline bool hipec_inq(const struct hipec_vm *vm,
				      const struct hipec_insn *i)
{
	const struct hipec_page *page = &vm->page[vm->slot[i->a]];

	/* What is on no queue says _free_queue, which links no page. */
	return page->flags & HIPEC_PAGE_NAMED &&
	       page->queue == vm->slot[i->b];
}

#endif /* HIPEC_VM_OPS_LOOP_H */
