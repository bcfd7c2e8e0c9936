// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expressions -> commands. Three questions are asked of an expression: what it
 * does (effect), where its value is (value, or into a given place), and where
 * to go when it is true (branch). A truth value becomes a number only where a
 * number is wanted.
 *
 * A computation of several steps is made in a temporary and then assigned, as
 * Figure 3 does, whose listing gives the temporary a number; but it is made in
 * place where the variable is what it starts from, and so is a single step.
 *
 * Interface:
 * ampc_emit_effect(), ampc_emit_branch()
 */
#include "ampc.h"

static struct ampc_arg value(struct ampc_emit *g, const struct ampc_expr *e);
static void into(struct ampc_emit *g, struct ampc_arg dest,
		 const struct ampc_expr *e);

static const struct ampc_arg none = { .kind = AMPC_ARG_BYTE };

static struct ampc_arg constant(s64 value)
{
	return (struct ampc_arg){ .kind = AMPC_ARG_CONST, .value = value };
}

/*
 * Temporaries are taken like from a stack: whoever takes one gives it back by
 * restoring the counts when its value is used up.
 */
static struct ampc_arg temporary(struct ampc_emit *g, enum ampc_type type)
{
	if (type == AMPC_PAGE)
		return (struct ampc_arg){
			.kind = AMPC_ARG_PAGE_TEMP,
			.value = g->temps.pages++,
		};
	return (struct ampc_arg){
		.kind = AMPC_ARG_TEMP,
		.value = g->temps.ints++,
	};
}

static void arith(struct ampc_emit *g, struct ampc_arg a, struct ampc_arg b,
		  enum hipec_arith selector)
{
	ampc_emit_insn(g, HIPEC_OP_ARITH, a, b, ampc_byte(selector));
}

static bool is_leaf(const struct ampc_expr *e)
{
	return e->is_const || e->kind == AMPC_NAME;
}

/* The slot of a variable, or the constant. */
static struct ampc_arg leaf(const struct ampc_expr *e)
{
	/* A const that the user declared has a slot already. */
	if (e->kind == AMPC_NAME)
		return ampc_byte(e->symbol->slot);
	return constant(e->value);
}

static bool mentions(const struct ampc_expr *e, const struct ampc_symbol *sym)
{
	const struct ampc_expr *arg;

	if (!e || e->is_const)
		return false;
	if (e->kind == AMPC_NAME)
		return e->symbol == sym;
	for (arg = e->a; arg; arg = arg->next)
		if (mentions(arg, sym))
			return true;
	return mentions(e->b, sym) || mentions(e->c, sym);
}

/* @dest op= @b */
static void step(struct ampc_emit *g, struct ampc_arg dest,
		 enum hipec_arith selector, const struct ampc_expr *b)
{
	struct ampc_temps temps = g->temps;
	bool is_one = b->is_const && b->value == 1;

	if (is_one && selector == HIPEC_ARITH_ADD)
		arith(g, dest, none, HIPEC_ARITH_INC);
	else if (is_one && selector == HIPEC_ARITH_SUB)
		arith(g, dest, none, HIPEC_ARITH_DEC);
	else
		arith(g, dest, value(g, b), selector);
	g->temps = temps;
}

/* A command that the source calls, or an event; @dest gets the result. */
static void call(struct ampc_emit *g, struct ampc_arg dest,
		 const struct ampc_expr *e)
{
	struct ampc_temps temps = g->temps;
	struct ampc_arg byte[3] = { none, none, none };
	const struct ampc_expr *arg = e->a;
	int i, result;

	if (e->event) {
		ampc_emit_insn(g, HIPEC_OP_CALL, ampc_byte(e->event->number),
			       none, none);
		return;
	}
	result = ampc_builtin_result(e->opcode);
	for (i = 0; i < 3; i++) {
		u8 kind = hipec_ops[e->opcode].kind[i];

		if (i == result) {
			byte[i] = dest;
		} else if (kind != HIPEC_KIND_NONE) {
			byte[i] = ampc_kind_type(kind) ? value(g, arg) :
							 ampc_byte(arg->value);
			arg = arg->next;
		}
	}
	g->line = e->loc.line;
	ampc_emit_insn(g, e->opcode, byte[0], byte[1], byte[2]);
	g->temps = temps;
}

/* A truth value as a number: 0 in advance, 1 on top of it if it is true. */
static void truth_into(struct ampc_emit *g, struct ampc_arg dest,
		       const struct ampc_expr *e)
{
	u32 end = ampc_emit_label(g);

	arith(g, dest, constant(0), HIPEC_ARITH_SET);
	ampc_emit_branch(g, e, false, end);
	arith(g, dest, none, HIPEC_ARITH_INC);
	ampc_emit_here(g, end);
}

static void choice_into(struct ampc_emit *g, struct ampc_arg dest,
			const struct ampc_expr *e)
{
	u32 third = ampc_emit_label(g), end = ampc_emit_label(g);

	ampc_emit_branch(g, e->a, false, third);
	into(g, dest, e->b);
	ampc_emit_jump(g, HIPEC_COND_ALWAYS, end);
	ampc_emit_here(g, third);
	into(g, dest, e->c);
	ampc_emit_here(g, end);
}

/* Whether the condition, and nothing else, is the value of a call. */
static bool is_test(const struct ampc_expr *e)
{
	return e->kind == AMPC_CALL && !e->event &&
	       ampc_builtin_result(e->opcode) < 0;
}

/* Whether @e is a command that writes its result once it has its arguments. */
static bool has_result(const struct ampc_expr *e)
{
	return e->kind == AMPC_CALL && !is_test(e);
}

/* Whether @e is a number already, so that `not` can work on it. */
static bool is_number(const struct ampc_expr *e)
{
	switch (e->kind) {
	case AMPC_COMP:
	case AMPC_AND:
	case AMPC_OR:
	case AMPC_NOT:
		return false;
	case AMPC_CALL:
		return !is_test(e) &&
		       !(hipec_ops[e->opcode].flags & HIPEC_OPF_TEST);
	default:
		return e->type == AMPC_INT;
	}
}

/* Whether @e is made by working on its first operand in place. */
static bool is_chain(const struct ampc_expr *e)
{
	return !e->is_const &&
	       (e->kind == AMPC_ARITH || e->kind == AMPC_NEG ||
		(e->kind == AMPC_NOT && is_number(e->a)));
}

/* The last step of such an @e, whose first operand is in @dest. */
static void link(struct ampc_emit *g, struct ampc_arg dest,
		 const struct ampc_expr *e)
{
	g->line = e->loc.line;
	if (e->kind == AMPC_ARITH)
		step(g, dest, ampc_op_code(e->op), e->b);
	else if (e->kind == AMPC_NEG)
		arith(g, dest, constant(-1), HIPEC_ARITH_MUL);
	else
		ampc_emit_insn(g, HIPEC_OP_LOGIC, dest, none,
			       ampc_byte(HIPEC_LOGIC_NOT));
}

/* Compute @e in @dest, which @e does not mention. */
static void into(struct ampc_emit *g, struct ampc_arg dest,
		 const struct ampc_expr *e)
{
	g->line = e->loc.line;
	if (is_leaf(e)) {
		arith(g, dest, leaf(e), HIPEC_ARITH_SET);
		return;
	}
	switch (e->kind) {
	case AMPC_ARITH:
	case AMPC_NEG:
	case AMPC_NOT:
		if (!is_chain(e)) {
			truth_into(g, dest, e);
			break;
		}
		into(g, dest, e->a);
		link(g, dest, e);
		break;
	case AMPC_COND:
		choice_into(g, dest, e);
		break;
	case AMPC_CALL:
		if (is_test(e))
			truth_into(g, dest, e);
		else
			call(g, dest, e);
		break;
	case AMPC_ASSIGN:
	case AMPC_PRE:
		ampc_emit_effect(g, e);
		arith(g, dest, leaf(e->a), HIPEC_ARITH_SET);
		break;
	case AMPC_POST:
		arith(g, dest, leaf(e->a), HIPEC_ARITH_SET);
		ampc_emit_effect(g, e);
		break;
	default:
		truth_into(g, dest, e);
	}
}

/* Where the value of @e is; perhaps in a temporary that the caller gives back. */
static struct ampc_arg value(struct ampc_emit *g, const struct ampc_expr *e)
{
	struct ampc_arg dest;

	if (is_leaf(e))
		return leaf(e);
	if (e->kind == AMPC_ASSIGN || e->kind == AMPC_PRE) {
		ampc_emit_effect(g, e);
		return leaf(e->a);
	}
	dest = temporary(g, e->type);
	into(g, dest, e);
	return dest;
}

/* Whether @e is a chain that starts from @sym and uses it once. */
static bool starts_from(const struct ampc_expr *e,
			const struct ampc_symbol *sym)
{
	for (; is_chain(e); e = e->a)
		if (mentions(e->b, sym))
			return false;
	return !e->is_const && e->kind == AMPC_NAME && e->symbol == sym;
}

static void in_place(struct ampc_emit *g, struct ampc_arg dest,
		     const struct ampc_expr *e)
{
	if (!is_chain(e))
		return;
	in_place(g, dest, e->a);
	link(g, dest, e);
}

static bool is_commutative(const struct ampc_expr *e)
{
	return e->kind == AMPC_ARITH &&
	       (e->op == AMPC_OP_ADD || e->op == AMPC_OP_MUL);
}

/* Whether @e takes one step at most beyond bringing its first operand. */
static bool is_simple(const struct ampc_expr *e)
{
	switch (e->kind) {
	case AMPC_ARITH:
		return is_leaf(e->a) && is_leaf(e->b);
	case AMPC_NEG:
		return is_leaf(e->a);
	default:
		return true;
	}
}

static void assign(struct ampc_emit *g, const struct ampc_expr *e)
{
	const struct ampc_expr *from = e->b;
	const struct ampc_symbol *sym = e->a->symbol;
	struct ampc_arg dest = leaf(e->a);

	if (e->op != AMPC_OP_SET) {
		step(g, dest, ampc_op_code(e->op), from);
	} else if (starts_from(from, sym)) {
		in_place(g, dest, from);
	} else if (is_commutative(from) && from->b->kind == AMPC_NAME &&
		   from->b->symbol == sym && !mentions(from->a, sym)) {
		step(g, dest, ampc_op_code(from->op), from->a);
	} else if (is_leaf(from) || has_result(from) ||
		   (is_simple(from) && !mentions(from, sym))) {
		into(g, dest, from);
	} else {
		arith(g, dest, value(g, from), HIPEC_ARITH_SET);
	}
}

/**
 * ampc_emit_effect() - make the commands of an expression without its value
 * @g: emission
 * @e: assignment, ++, -- or call
 */
void ampc_emit_effect(struct ampc_emit *g, const struct ampc_expr *e)
{
	struct ampc_temps temps = g->temps;

	g->line = e->loc.line;
	switch (e->kind) {
	case AMPC_ASSIGN:
		assign(g, e);
		break;
	case AMPC_PRE:
	case AMPC_POST:
		arith(g, leaf(e->a), none, ampc_op_code(e->op));
		break;
	default:
		call(g, e->event || is_test(e) ? none :
		     temporary(g, e->type), e);
	}
	g->temps = temps;
}

static void jump_on(struct ampc_emit *g, bool sense, u32 label)
{
	ampc_emit_jump(g, sense ? HIPEC_COND_IF : HIPEC_COND_IFNOT, label);
}

/* && and ||: the left side alone decides when it is @decides. */
static void branch_logic(struct ampc_emit *g, const struct ampc_expr *e,
			 bool sense, u32 label)
{
	bool decides = e->kind == AMPC_OR;
	u32 past;

	if (sense == decides) {
		ampc_emit_branch(g, e->a, sense, label);
		ampc_emit_branch(g, e->b, sense, label);
		return;
	}
	past = ampc_emit_label(g);
	ampc_emit_branch(g, e->a, decides, past);
	ampc_emit_branch(g, e->b, sense, label);
	ampc_emit_here(g, past);
}

static void branch_choice(struct ampc_emit *g, const struct ampc_expr *e,
			  bool sense, u32 label)
{
	u32 third = ampc_emit_label(g), end = ampc_emit_label(g);

	ampc_emit_branch(g, e->a, false, third);
	ampc_emit_branch(g, e->b, sense, label);
	ampc_emit_jump(g, HIPEC_COND_ALWAYS, end);
	ampc_emit_here(g, third);
	ampc_emit_branch(g, e->c, sense, label);
	ampc_emit_here(g, end);
}

/* Whether @e leaves its truth in the condition when it is done for effect. */
static bool sets_condition(const struct ampc_expr *e)
{
	if (e->kind == AMPC_ASSIGN)
		return e->type == AMPC_PAGE;
	return e->kind == AMPC_CALL &&
	       hipec_ops[e->opcode].flags & HIPEC_OPF_TEST;
}

/**
 * ampc_emit_branch() - go to a label if an expression has a truth value
 * @g:     emission
 * @e:     expression
 * @sense: the truth value
 * @label: where to; the code goes on behind otherwise
 */
void ampc_emit_branch(struct ampc_emit *g, const struct ampc_expr *e,
		      bool sense, u32 label)
{
	struct ampc_temps temps = g->temps;

	g->line = e->loc.line;
	if (e->is_const) {
		if (!!e->value == sense)
			ampc_emit_jump(g, HIPEC_COND_ALWAYS, label);
	} else if (e->kind == AMPC_NOT) {
		ampc_emit_branch(g, e->a, !sense, label);
	} else if (e->kind == AMPC_AND || e->kind == AMPC_OR) {
		branch_logic(g, e, sense, label);
	} else if (e->kind == AMPC_COND) {
		branch_choice(g, e, sense, label);
	} else if (sets_condition(e)) {
		ampc_emit_effect(g, e);
		jump_on(g, sense, label);
	} else {
		bool is_comp = e->kind == AMPC_COMP;
		struct ampc_arg a = value(g, is_comp ? e->a : e);
		struct ampc_arg b = is_comp ? value(g, e->b) : constant(0);

		g->line = e->loc.line;
		ampc_emit_insn(g, HIPEC_OP_COMP, a, b,
			       ampc_byte(is_comp ? ampc_op_code(e->op) :
					 HIPEC_COMP_NE));
		jump_on(g, sense, label);
	}
	g->temps = temps;
}
