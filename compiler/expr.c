// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of expressions: what names mean, types, and the value of what is
 * constant. The walk from an expression to its operands is here; place.c has the
 * rules of assignments, call.c those of calls, for operands that are checked. After
 * an error an expression is AMPC_UNKNOWN, which fits everywhere, so that one mistake
 * is reported once.
 *
 * Interface:
 * ampc_check_value()      an integer is wanted
 * ampc_check_condition()  a truth value is wanted
 * ampc_check_effect()     only what it does is wanted
 */
#include "ampc.h"

static void check(struct ampc *c, struct ampc_event *ev, struct ampc_expr *e);

static void set_const(struct ampc_expr *e, s64 value)
{
	e->is_const = true;
	e->value = value;
}

/* Report an unknown name once; later uses of it are silent. */
static void undeclared(struct ampc *c, struct ampc_expr *e)
{
	const struct ampc_event *ev = ampc_event_find(c, e->name);
	enum ampc_type type;
	u8 opcode;

	if (ampc_setting_usage(e->name)) {
		ampc_report(c, e->loc, NOT_A_VALUE, e->name, "a setting");
		ampc_report(c, e->loc, USAGE, ampc_setting_usage(e->name));
		return;
	}
	if (ev || ampc_builtin_find(e->name, &opcode)) {
		ampc_report(c, e->loc, NOT_A_VALUE, e->name,
			    ev ? "an event" : "a command");
		if (ev)
			ampc_report(c, e->loc, CALL_IT, e->name);
		else
			ampc_report(c, e->loc, USAGE,
				    ampc_builtin_usage(c, opcode));
		return;
	}
	if (ampc_type_find(e->name, &type)) {
		ampc_report(c, e->loc, NOT_A_VALUE, e->name, "a type");
		return;
	}
	if (ampc_selector_is(e->name)) {
		ampc_report(c, e->loc, SELECTOR_HERE, e->name);
		return;
	}
	if (!c->has_lost_decl) {
		ampc_report(c, e->loc, UNDECLARED, e->name);
		ampc_suggest_operand(c, e->name, e->loc);
	}
	e->symbol = ampc_symbol_add(c, e->name, e->loc);
	e->symbol->kind = AMPC_UNDECLARED_NAME;
	e->symbol->type = AMPC_UNKNOWN;
}

static void check_name(struct ampc *c, struct ampc_expr *e)
{
	const struct ampc_symbol *sym;

	e->type = AMPC_UNKNOWN;
	e->symbol = ampc_symbol_find(c, e->name);
	if (!e->symbol && ampc_none_is(e->name)) {
		e->is_none = true;
		e->type = AMPC_PAGE;
		return;
	}
	if (!e->symbol) {
		undeclared(c, e);
		return;
	}
	sym = e->symbol;
	e->type = sym->type;
	/* A param is const for the policy only: its value comes at load. */
	if (sym->flags == HIPEC_OPERAND_CONST && sym->type == AMPC_INT)
		set_const(e, sym->value);
}

/* Check @e, which has to be an integer operand of @op; false, reported. */
static bool check_int(struct ampc *c, struct ampc_event *ev, enum ampc_op op,
		      struct ampc_expr *e)
{
	check(c, ev, e);
	return ampc_check_int(c, op, e);
}

/* Value of a constant operation, false if it does not fit. */
static bool compute(u8 code, s64 a, s64 b, s64 *value)
{
	switch (code) {
	case HIPEC_ARITH_ADD:
		return !__builtin_add_overflow(a, b, value);
	case HIPEC_ARITH_SUB:
		return !__builtin_sub_overflow(a, b, value);
	case HIPEC_ARITH_MUL:
		return !__builtin_mul_overflow(a, b, value);
	case HIPEC_ARITH_DIV:
		if (a == S64_MIN && b == -1)
			return false;
		*value = a / b;
		return true;
	case HIPEC_ARITH_AND:
		*value = a & b;
		return true;
	case HIPEC_ARITH_OR:
		*value = a | b;
		return true;
	case HIPEC_ARITH_XOR:
		*value = a ^ b;
		return true;
	case HIPEC_ARITH_SHL:
		*value = (u64)a << b;
		return true;
	case HIPEC_ARITH_SHR:
		*value = a >> b;
		return true;
	default:
		/* The remainder of this one exists, its quotient does not. */
		*value = b == -1 ? 0 : a % b;
		return true;
	}
}

/* What a comparison of two known values gives; @code: HIPEC_COMP_*. */
bool ampc_compare(u8 code, s64 a, s64 b)
{
	switch (code) {
	case HIPEC_COMP_LT:
		return a < b;
	case HIPEC_COMP_GT:
		return a > b;
	case HIPEC_COMP_LE:
		return a <= b;
	case HIPEC_COMP_GE:
		return a >= b;
	case HIPEC_COMP_EQ:
		return a == b;
	default:
		return a != b;
	}
}

static bool is_leaf(const struct ampc_expr *e)
{
	return e->is_const || e->kind == AMPC_NAME;
}

/*
 * Where the order does not matter, what takes commands comes first: the rest
 * is done on its result, without a second temporary. C leaves the order of
 * evaluation open.
 */
static void order_operands(struct ampc_expr *e)
{
	struct ampc_expr *a = e->a;

	if (!ampc_op_commutes(e->op))
		return;
	if (is_leaf(a) && (a->is_const || !is_leaf(e->b))) {
		e->a = e->b;
		e->b = a;
	}
}

static void check_arith(struct ampc *c, struct ampc_event *ev,
			struct ampc_expr *e)
{
	bool a = check_int(c, ev, e->op, e->a);
	bool b = check_int(c, ev, e->op, e->b);
	s64 value;

	e->type = AMPC_UNKNOWN;
	if (!a || !b || !ampc_check_right_side(c, e))
		return;
	if (e->a->is_const && e->b->is_const) {
		if (!compute(ampc_op_code(e->op), e->a->value, e->b->value,
			     &value)) {
			ampc_report(c, e->loc, OVERFLOW);
			return;
		}
		set_const(e, value);
	}
	order_operands(e);
	e->type = AMPC_INT;
}

/* Whether @e is an integer or a page; reported if not. */
static bool is_plain(struct ampc *c, enum ampc_op op, const struct ampc_expr *e)
{
	if (e->type == AMPC_INT || e->type == AMPC_PAGE)
		return true;
	if (e->type != AMPC_UNKNOWN) {
		ampc_report(c, e->loc, WRONG_SIDE, ampc_describe(c, e),
			    ampc_op_text(op));
		ampc_declared_here(c, e);
	}
	return false;
}

/* The type of two sides of @op, integers both or pages both. */
static enum ampc_type check_sides(struct ampc *c, struct ampc_event *ev,
				  enum ampc_op op, struct ampc_expr *a,
				  struct ampc_expr *b)
{
	const struct ampc_expr *number = b;
	bool ok;

	check(c, ev, a);
	check(c, ev, b);
	ok = is_plain(c, op, a);
	ok &= is_plain(c, op, b);
	if (!ok)
		return AMPC_UNKNOWN;
	if (a->type == b->type)
		return a->type;
	if (a->type == AMPC_INT)
		number = a;
	ampc_report(c, number->loc, OTHER_SIDE, ampc_describe(c, number),
		    ampc_op_text(op));
	ampc_declared_here(c, number == a ? b : a);
	if (number->is_const && !number->value)
		ampc_report(c, number->loc, DID_YOU_MEAN, "NONE");
	return AMPC_UNKNOWN;
}

static void check_comp(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	enum ampc_type type = AMPC_UNKNOWN;
	bool a, b;

	if (e->op == AMPC_OP_EQ || e->op == AMPC_OP_NE) {
		type = check_sides(c, ev, e->op, e->a, e->b);
	} else {
		a = check_int(c, ev, e->op, e->a);
		b = check_int(c, ev, e->op, e->b);
		if (a && b)
			type = AMPC_INT;
	}
	e->type = type == AMPC_UNKNOWN ? AMPC_UNKNOWN : AMPC_INT;
	if (type == AMPC_INT && e->a->is_const && e->b->is_const)
		set_const(e, ampc_compare(ampc_op_code(e->op), e->a->value,
					  e->b->value));
}

static void check_neg(struct ampc *c, struct ampc_event *ev,
		      struct ampc_expr *e)
{
	s64 value;

	e->type = AMPC_UNKNOWN;
	if (!check_int(c, ev, e->op, e->a))
		return;
	if (e->a->is_const && e->kind == AMPC_BIT_NOT) {
		set_const(e, ~e->a->value);
	} else if (e->a->is_const) {
		if (!compute(HIPEC_ARITH_SUB, 0, e->a->value, &value)) {
			ampc_report(c, e->loc, OVERFLOW);
			return;
		}
		set_const(e, value);
	}
	e->type = AMPC_INT;
}

/* && || ! and the condition of ?: take what an if takes. */
static void check_logic(struct ampc *c, struct ampc_event *ev,
			struct ampc_expr *e)
{
	const struct ampc_expr *a = e->a, *b = e->b;
	bool skips;

	ampc_check_condition(c, ev, e->a);
	if (b)
		ampc_check_condition(c, ev, e->b);
	e->type = a->type == AMPC_UNKNOWN || (b && b->type == AMPC_UNKNOWN) ?
		  AMPC_UNKNOWN : AMPC_INT;
	if (!a->is_const || e->type == AMPC_UNKNOWN)
		return;
	if (e->kind == AMPC_NOT) {
		set_const(e, !a->value);
		return;
	}
	/* Like in C, a known left side may leave the right side out. */
	skips = !!a->value == (e->kind == AMPC_OR);
	if (skips)
		set_const(e, e->kind == AMPC_OR);
	else if (b->is_const)
		set_const(e, !!b->value);
}

static void check_cond(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	const struct ampc_expr *chosen;

	ampc_check_condition(c, ev, e->a);
	e->type = check_sides(c, ev, e->op, e->b, e->c);
	if (e->a->type == AMPC_UNKNOWN)
		e->type = AMPC_UNKNOWN;
	if (e->type == AMPC_UNKNOWN)
		return;
	chosen = e->a->value ? e->b : e->c;
	if (e->a->is_const && chosen->is_const)
		set_const(e, chosen->value);
}

/* A call of a command, whose arguments are values or words; or of an event. */
static void check_call(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	struct ampc_expr *arg;
	u32 nr = 0;

	if (!ampc_check_callee(c, ev, e))
		return;
	for (arg = e->a; arg; arg = arg->next, nr++)
		if (ampc_is_value_argument(e, nr))
			check(c, ev, arg);
	ampc_check_arguments(c, e);
}

/* Names, types and constants of @e, which stands in event @ev. */
static void check(struct ampc *c, struct ampc_event *ev, struct ampc_expr *e)
{
	switch (e->kind) {
	case AMPC_BAD:
		e->type = AMPC_UNKNOWN;
		break;
	case AMPC_NUMBER:
		e->type = AMPC_INT;
		e->is_const = true;
		break;
	case AMPC_NAME:
		check_name(c, e);
		break;
	case AMPC_CALL:
		check_call(c, ev, e);
		break;
	case AMPC_ARITH:
		check_arith(c, ev, e);
		break;
	case AMPC_COMP:
		check_comp(c, ev, e);
		break;
	case AMPC_AND:
	case AMPC_OR:
	case AMPC_NOT:
		check_logic(c, ev, e);
		break;
	case AMPC_NEG:
	case AMPC_BIT_NOT:
		check_neg(c, ev, e);
		break;
	case AMPC_COND:
		check_cond(c, ev, e);
		break;
	case AMPC_ASSIGN:
		check(c, ev, e->a);
		check(c, ev, e->b);
		ampc_check_assign(c, e);
		break;
	case AMPC_PRE:
	case AMPC_POST:
		check(c, ev, e->a);
		ampc_check_step(c, e);
		break;
	case AMPC_INDEX:
		check(c, ev, e->a);
		check(c, ev, e->b);
		ampc_check_index(c, e);
		break;
	case AMPC_MEMBER:
		check(c, ev, e->a);
		ampc_check_member(c, e);
		break;
	}
}

/**
 * ampc_check_value() - check an expression whose value is wanted
 * @c:  compilation
 * @ev: event that it stands in
 * @e:  expression
 */
void ampc_check_value(struct ampc *c, struct ampc_event *ev,
		      struct ampc_expr *e)
{
	check(c, ev, e);
}

/**
 * ampc_check_condition() - check an expression whose truth is wanted
 * @c:  compilation
 * @ev: event that it stands in
 * @e:  expression
 */
void ampc_check_condition(struct ampc *c, struct ampc_event *ev,
			  struct ampc_expr *e)
{
	check(c, ev, e);
	if (e->type == AMPC_UNKNOWN || e->type == AMPC_INT ||
	    e->type == AMPC_PAGE)
		return;
	ampc_report(c, e->loc, WRONG_CONDITION, ampc_describe(c, e));
	ampc_note_whole(c, e);
	e->type = AMPC_UNKNOWN;
}

/**
 * ampc_check_effect() - check an expression that is a statement
 * @c:  compilation
 * @ev: event that it stands in
 * @e:  expression
 */
void ampc_check_effect(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	check(c, ev, e);
	if (e->type == AMPC_UNKNOWN || e->kind == AMPC_CALL ||
	    e->kind == AMPC_ASSIGN || e->kind == AMPC_PRE ||
	    e->kind == AMPC_POST)
		return;
	ampc_report(c, e->loc, NO_EFFECT);
	if (e->kind == AMPC_COMP && e->op == AMPC_OP_EQ)
		ampc_report(c, e->loc, MEANT_ASSIGN);
}
