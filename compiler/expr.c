// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of expressions: what names and calls mean, types, and the value of
 * what is constant. After an error an expression is AMPC_UNKNOWN, which fits
 * everywhere, so that one mistake is reported once.
 *
 * Interface:
 * ampc_check_value()      an integer is wanted
 * ampc_check_condition()  a truth value is wanted
 * ampc_check_effect()     only what it does is wanted
 * ampc_describe(), ampc_declared_here()  for messages, call.c's as well
 */
#include "ampc.h"

static void check(struct ampc *c, struct ampc_event *ev, struct ampc_expr *e);

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

/* Note where the variable was declared, if the user did it. */
void ampc_declared_here(struct ampc *c, const struct ampc_expr *e)
{
	if (e->kind == AMPC_NAME && e->symbol && e->symbol->loc.line)
		ampc_report(c, e->symbol->loc, DECLARED_HERE, e->name);
}

static void set_const(struct ampc_expr *e, s64 value)
{
	e->is_const = true;
	e->value = value;
}

/* Report an unknown name once; later uses of it are silent. */
static void undeclared(struct ampc *c, struct ampc_expr *e)
{
	const struct ampc_event *ev = ampc_event_find(c, e->name);
	u8 opcode;

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
	if (ampc_type_is(e->name)) {
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

/* An integer operand of @op. */
static bool check_int(struct ampc *c, struct ampc_event *ev, enum ampc_op op,
		      struct ampc_expr *e)
{
	check(c, ev, e);
	if (e->type == AMPC_INT)
		return true;
	if (e->type != AMPC_UNKNOWN) {
		ampc_report(c, e->loc, WRONG_OPERAND, ampc_describe(c, e),
			    ampc_op_text(op));
		ampc_declared_here(c, e);
	}
	return false;
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
	default:
		/* The remainder of this one exists, its quotient does not. */
		*value = b == -1 ? 0 : a % b;
		return true;
	}
}

static bool compare(u8 code, s64 a, s64 b)
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

static bool is_division(enum ampc_op op)
{
	return ampc_op_code(op) == HIPEC_ARITH_DIV ||
	       ampc_op_code(op) == HIPEC_ARITH_MOD;
}

/* A divisor that is known to be zero ends the policy whenever it is reached. */
static bool divides_by_zero(struct ampc *c, const struct ampc_expr *e)
{
	if (!is_division(e->op) || !e->b->is_const || e->b->value)
		return false;
	ampc_report(c, e->b->loc, DIV_ZERO);
	return true;
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

	if (e->op != AMPC_OP_ADD && e->op != AMPC_OP_MUL)
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
	if (!a || !b || divides_by_zero(c, e))
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

static void check_comp(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	bool a = check_int(c, ev, e->op, e->a);
	bool b = check_int(c, ev, e->op, e->b);

	e->type = a && b ? AMPC_INT : AMPC_UNKNOWN;
	if (a && b && e->a->is_const && e->b->is_const)
		set_const(e, compare(ampc_op_code(e->op), e->a->value,
				     e->b->value));
}

static void check_neg(struct ampc *c, struct ampc_event *ev,
		      struct ampc_expr *e)
{
	s64 value;

	e->type = AMPC_UNKNOWN;
	if (!check_int(c, ev, e->op, e->a))
		return;
	if (e->a->is_const) {
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
	bool b, third;

	ampc_check_condition(c, ev, e->a);
	b = check_int(c, ev, e->op, e->b);
	third = check_int(c, ev, e->op, e->c);
	e->type = AMPC_UNKNOWN;
	if (e->a->type == AMPC_UNKNOWN || !b || !third)
		return;
	e->type = AMPC_INT;
	chosen = e->a->value ? e->b : e->c;
	if (e->a->is_const && chosen->is_const)
		set_const(e, chosen->value);
}

/* Whether @e, the operand that @op changes, is a variable that may change. */
static bool check_target(struct ampc *c, struct ampc_event *ev,
			 enum ampc_op op, struct ampc_expr *e)
{
	const struct ampc_symbol *sym;

	if (e->kind != AMPC_NAME) {
		check(c, ev, e);
		if (e->type != AMPC_UNKNOWN)
			ampc_report(c, e->loc, NOT_ASSIGNABLE,
				    ampc_op_text(op));
		return false;
	}
	check(c, ev, e);
	e->is_const = false;
	sym = e->symbol;
	if (e->type == AMPC_UNKNOWN)
		return false;
	if (sym->kind == AMPC_SYSTEM)
		ampc_report(c, e->loc, READ_ONLY, e->name, "set by the system");
	else if (sym->flags & HIPEC_OPERAND_CONST)
		ampc_report(c, e->loc, READ_ONLY, e->name, "const");
	else if (sym->type == AMPC_QUEUE)
		ampc_report(c, e->loc, READ_ONLY, e->name, "a queue");
	else
		return true;
	ampc_declared_here(c, e);
	return false;
}

/* How a page gets its value: the first command that gives one. */
static const char *page_usage(struct ampc *c)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hipec_ops); i++)
		if (ampc_builtin_is(i) && ampc_builtin_type(i) == AMPC_PAGE)
			return ampc_builtin_usage(c, i);
	return "";
}

/* Whether the value @e can be assigned to the variable @to. */
static bool check_assigned(struct ampc *c, const struct ampc_expr *to,
			   const struct ampc_expr *e)
{
	if (e->type == AMPC_UNKNOWN)
		return false;
	if (e->type != to->type) {
		ampc_report(c, e->loc, WRONG_VALUE, ampc_describe(c, e), to->name,
			    ampc_type_text(to->type));
		ampc_declared_here(c, to);
		return false;
	}
	if (e->type == AMPC_PAGE && e->kind != AMPC_CALL) {
		ampc_report(c, e->loc, PAGE_COPY);
		ampc_report(c, e->loc, USAGE, page_usage(c));
		return false;
	}
	return true;
}

static void check_assign(struct ampc *c, struct ampc_event *ev,
			 struct ampc_expr *e)
{
	bool ok = check_target(c, ev, e->op, e->a);

	e->type = AMPC_UNKNOWN;
	if (e->op == AMPC_OP_SET) {
		check(c, ev, e->b);
		if (ok && check_assigned(c, e->a, e->b))
			e->type = e->a->type;
		return;
	}
	if (ok && e->a->type != AMPC_INT) {
		ampc_report(c, e->a->loc, WRONG_OPERAND, ampc_describe(c, e->a),
			    ampc_op_text(e->op));
		ampc_declared_here(c, e->a);
		ok = false;
	}
	if (check_int(c, ev, e->op, e->b) && ok && !divides_by_zero(c, e))
		e->type = AMPC_INT;
}

static void check_step(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	e->type = AMPC_UNKNOWN;
	if (!check_target(c, ev, e->op, e->a))
		return;
	if (e->a->type != AMPC_INT) {
		ampc_report(c, e->a->loc, WRONG_OPERAND, ampc_describe(c, e->a),
			    ampc_op_text(e->op));
		ampc_declared_here(c, e->a);
		return;
	}
	e->type = AMPC_INT;
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
		ampc_check_call(c, ev, e);
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
		check_neg(c, ev, e);
		break;
	case AMPC_COND:
		check_cond(c, ev, e);
		break;
	case AMPC_ASSIGN:
		check_assign(c, ev, e);
		break;
	case AMPC_PRE:
	case AMPC_POST:
		check_step(c, ev, e);
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

/* The call that sets the condition when @e is a page. */
static const struct ampc_expr *page_test(const struct ampc_expr *e)
{
	if (e->kind == AMPC_ASSIGN)
		e = e->b;
	return e->kind == AMPC_CALL &&
	       hipec_ops[e->opcode].flags & HIPEC_OPF_TEST ? e : NULL;
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
	    (e->type == AMPC_PAGE && page_test(e)))
		return;
	ampc_report(c, e->loc, WRONG_CONDITION, ampc_describe(c, e));
	if (e->type == AMPC_PAGE)
		ampc_report(c, e->loc, PAGE_CONDITION, page_usage(c));
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
