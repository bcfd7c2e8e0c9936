// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rules of expressions, places and calls share: what is known to be wrong
 * with an operand that is checked, and the words for it.
 *
 * Interface:
 * ampc_check_int(), ampc_check_right_side()  operands
 * ampc_describe(), ampc_declared_here(), ampc_note_whole()  for messages
 */
#include "ampc.h"

/* "'a + b' is an integer", with the user's words. */
char *ampc_describe(struct ampc *c, const struct ampc_expr *e)
{
	char *text = ampc_source_quote(c, e->loc);

	text = *text ? ampc_printf(c, "'%s'", text) :
		       ampc_printf(c, "this");
	if (e->type == AMPC_VOID)
		return ampc_printf(c, "%s has no value", text);
	return ampc_printf(c, "%s is %s", text, ampc_type_text(e->type));
}

/* Note what an array or a field, which has no value, is written with. */
void ampc_note_whole(struct ampc *c, const struct ampc_expr *e)
{
	if (e->type == AMPC_INTS || e->type == AMPC_QUEUES)
		ampc_report(c, e->loc, ELEMENT, e->name);
	else if (e->type == AMPC_FIELD)
		ampc_report(c, e->loc, FIELD_OF, e->name);
}

/* Note where the variable was declared, if the user did it. */
void ampc_declared_here(struct ampc *c, const struct ampc_expr *e)
{
	const struct ampc_expr *of = e->kind == AMPC_INDEX ? e->a : e;

	if (of->symbol && of->symbol->loc.line)
		ampc_report(c, of->symbol->loc, DECLARED_HERE, of->name);
	ampc_note_whole(c, e);
}

/* Whether @e, an operand of @op, is an integer; reported if not. */
bool ampc_check_int(struct ampc *c, enum ampc_op op, const struct ampc_expr *e)
{
	if (e->type == AMPC_INT)
		return true;
	if (e->type != AMPC_UNKNOWN) {
		ampc_report(c, e->loc, WRONG_OPERAND, ampc_describe(c, e),
			    ampc_op_text(op));
		ampc_declared_here(c, e);
	}
	return false;
}

static bool is_division(enum ampc_op op)
{
	return ampc_op_code(op) == HIPEC_ARITH_DIV ||
	       ampc_op_code(op) == HIPEC_ARITH_MOD;
}

static bool is_shift(enum ampc_op op)
{
	return ampc_op_code(op) == HIPEC_ARITH_SHL ||
	       ampc_op_code(op) == HIPEC_ARITH_SHR;
}

/**
 * ampc_check_right_side() - check what is known to be wrong on the right
 * @c: compilation
 * @e: operation on integers, or an assignment that is one as well
 *
 * A divisor of zero ends the policy whenever it is reached; of the distance of
 * a shift the machine takes the low six bits, which C leaves open.
 *
 * Return: false, reported, if there is something.
 */
bool ampc_check_right_side(struct ampc *c, const struct ampc_expr *e)
{
	const struct ampc_expr *b = e->b;

	if (!b->is_const)
		return true;
	if (is_division(e->op) && !b->value) {
		ampc_report(c, b->loc, DIV_ZERO);
		return false;
	}
	if (is_shift(e->op) && (b->value < 0 || b->value > 63)) {
		ampc_report(c, b->loc, SHIFT_RANGE, (long long)b->value);
		return false;
	}
	return true;
}
