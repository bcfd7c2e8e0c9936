// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands on integers: Arith, Comp, Logic. Sums and products wrap around.
 */
#include "vm.h"

/* Both divisions; the two quotients that do not exist end the policy. */
static u32 divide(struct hipec_vm *vm, s64 *a, s64 b, bool remainder)
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

u32 hipec_op_arith(struct hipec_vm *vm, u32 w)
{
	s64 *a = &vm->slot[hipec_word_a(w)];
	s64 b = vm->slot[hipec_word_b(w)];

	switch (hipec_word_c(w)) {
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
		return divide(vm, a, b, false);
	case HIPEC_ARITH_MOD:
		return divide(vm, a, b, true);
	}
	return 0;
}

u32 hipec_op_comp(struct hipec_vm *vm, u32 w)
{
	s64 a = vm->slot[hipec_word_a(w)];
	s64 b = vm->slot[hipec_word_b(w)];

	switch (hipec_word_c(w)) {
	case HIPEC_COMP_GT:
		vm->condition = a > b;
		break;
	case HIPEC_COMP_LT:
		vm->condition = a < b;
		break;
	case HIPEC_COMP_GE:
		vm->condition = a >= b;
		break;
	case HIPEC_COMP_LE:
		vm->condition = a <= b;
		break;
	case HIPEC_COMP_EQ:
		vm->condition = a == b;
		break;
	case HIPEC_COMP_NE:
		vm->condition = a != b;
		break;
	}
	return 0;
}

u32 hipec_op_logic(struct hipec_vm *vm, u32 w)
{
	s64 *a = &vm->slot[hipec_word_a(w)];
	s64 b = vm->slot[hipec_word_b(w)];

	switch (hipec_word_c(w)) {
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
	vm->condition = *a;
	return 0;
}
