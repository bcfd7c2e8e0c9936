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
 * Elements of arrays and fields of pages have no slot of their own: a value for
 * them is computed in a temporary, and one command puts it where it belongs. What
 * finds the place is computed once.
 *
 * Interface:
 * ampc_emit_effect(), ampc_emit_branch()
 */
#include "ampc.h"

static const struct ampc_arg none = { .kind = AMPC_ARG_BYTE };
static const struct ampc_arg no_page = { .kind = AMPC_ARG_NONE };

static struct ampc_arg value_of(struct ampc_emit *g, const struct ampc_expr *e);
static void into(struct ampc_emit *g, struct ampc_arg dest,
		 const struct ampc_expr *e);

static struct ampc_arg constant(s64 value)
{
	return (struct ampc_arg){ .kind = AMPC_ARG_CONST, .value = value };
}

/* @to = @from, integers or pages. */
static void copy(struct ampc_emit *g, enum ampc_type type, struct ampc_arg to,
		 struct ampc_arg from)
{
	if (type == AMPC_PAGE)
		ampc_emit_insn(g, HIPEC_OP_COPY, to, from, none);
	else
		ampc_emit_arith(g, to, from, HIPEC_ARITH_SET);
}

static bool is_leaf(const struct ampc_expr *e)
{
	return e->is_const || e->kind == AMPC_NAME;
}

/* The slot of a variable, or the constant. */
static struct ampc_arg leaf(const struct ampc_expr *e)
{
	if (e->is_none)
		return no_page;
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
		ampc_emit_arith(g, dest, none, HIPEC_ARITH_INC);
	else if (is_one && selector == HIPEC_ARITH_SUB)
		ampc_emit_arith(g, dest, none, HIPEC_ARITH_DEC);
	else
		ampc_emit_arith(g, dest, value_of(g, b), selector);
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
			byte[i] = ampc_kind_type(kind) ? value_of(g, arg) :
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

	ampc_emit_arith(g, dest, constant(0), HIPEC_ARITH_SET);
	ampc_emit_branch(g, e, false, end);
	ampc_emit_arith(g, dest, none, HIPEC_ARITH_INC);
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
	return (e->kind == AMPC_CALL && !is_test(e)) ||
	       e->kind == AMPC_INDEX || e->kind == AMPC_MEMBER;
}

/* An element or field, which a command of its own brings. */
static void fetch(struct ampc_emit *g, struct ampc_arg dest,
		  const struct ampc_expr *e)
{
	struct ampc_temps temps = g->temps;
	struct ampc_arg at;

	at = value_of(g, e->kind == AMPC_INDEX ? e->b : e->a);
	g->line = e->loc.line;
	if (e->kind == AMPC_MEMBER)
		ampc_emit_insn(g, HIPEC_OP_GET, dest, at,
			       ampc_byte(e->symbol->slot));
	else
		ampc_emit_insn(g, e->type == AMPC_QUEUE ? HIPEC_OP_SELECT :
			       HIPEC_OP_LOAD, dest, leaf(e->a), at);
	g->temps = temps;
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
		e->kind == AMPC_BIT_NOT ||
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
		ampc_emit_arith(g, dest, constant(-1), HIPEC_ARITH_MUL);
	else if (e->kind == AMPC_BIT_NOT)
		ampc_emit_arith(g, dest, constant(-1), HIPEC_ARITH_XOR);
	else
		ampc_emit_insn(g, HIPEC_OP_LOGIC, dest, none,
			       ampc_byte(HIPEC_LOGIC_NOT));
}

/* Whether @e changes an element or field. */
static bool is_store(const struct ampc_expr *e)
{
	return (e->kind == AMPC_ASSIGN || e->kind == AMPC_PRE ||
		e->kind == AMPC_POST) && e->a->kind != AMPC_NAME;
}

/* An element or field that is assigned to. */
struct place {
	bool is_field;
	struct ampc_arg of;	/* slot of the array, or the page */
	struct ampc_arg at;	/* the index, or slot of the field */
};

static struct place find_place(struct ampc_emit *g, const struct ampc_expr *e)
{
	if (e->kind == AMPC_MEMBER)
		return (struct place){
			.is_field = true,
			.of = value_of(g, e->a),
			.at = ampc_byte(e->symbol->slot),
		};
	return (struct place){
		.of = ampc_byte(e->a->symbol->slot),
		.at = value_of(g, e->b),
	};
}

static void get(struct ampc_emit *g, const struct place *p, struct ampc_arg to)
{
	ampc_emit_insn(g, p->is_field ? HIPEC_OP_GET : HIPEC_OP_LOAD, to, p->of,
		       p->at);
}

static void put(struct ampc_emit *g, const struct place *p,
		struct ampc_arg value)
{
	ampc_emit_insn(g, p->is_field ? HIPEC_OP_PUT : HIPEC_OP_STORE, p->of,
		       p->at, value);
}

/*
 * Make the commands of an assignment, ++ or -- of an element or field; if
 * @wants_old, with the value from before. Return: where the value is, perhaps in a
 * temporary that the caller gives back.
 */
static struct ampc_arg store(struct ampc_emit *g, const struct ampc_expr *e,
			     bool wants_old)
{
	struct place p = find_place(g, e->a);
	struct ampc_arg value, old;

	if (e->op == AMPC_OP_SET) {
		value = value_of(g, e->b);
		g->line = e->loc.line;
		put(g, &p, value);
		return value;
	}
	value = ampc_emit_temporary(g, AMPC_INT);
	g->line = e->loc.line;
	get(g, &p, value);
	old = value;
	if (wants_old) {
		old = ampc_emit_temporary(g, AMPC_INT);
		ampc_emit_arith(g, old, value, HIPEC_ARITH_SET);
	}
	if (e->kind == AMPC_ASSIGN)
		step(g, value, ampc_op_code(e->op), e->b);
	else
		ampc_emit_arith(g, value, none, ampc_op_code(e->op));
	g->line = e->loc.line;
	put(g, &p, value);
	return old;
}

/* Compute @e in the place @dest, which it does not mention. */
static void into(struct ampc_emit *g, struct ampc_arg dest,
		 const struct ampc_expr *e)
{
	struct ampc_temps temps = g->temps;

	g->line = e->loc.line;
	if (is_leaf(e)) {
		copy(g, e->type, dest, leaf(e));
		return;
	}
	switch (e->kind) {
	case AMPC_INDEX:
	case AMPC_MEMBER:
		fetch(g, dest, e);
		break;
	case AMPC_ARITH:
	case AMPC_NEG:
	case AMPC_BIT_NOT:
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
		copy(g, e->type, dest, value_of(g, e));
		g->temps = temps;
		break;
	case AMPC_POST:
		if (is_store(e)) {
			ampc_emit_arith(g, dest, value_of(g, e),
					HIPEC_ARITH_SET);
			g->temps = temps;
			break;
		}
		ampc_emit_arith(g, dest, leaf(e->a), HIPEC_ARITH_SET);
		ampc_emit_effect(g, e);
		break;
	default:
		truth_into(g, dest, e);
	}
}

/* Where the value of @e is; perhaps in a temporary that the caller gives back. */
static struct ampc_arg value_of(struct ampc_emit *g, const struct ampc_expr *e)
{
	struct ampc_arg dest;

	if (is_leaf(e))
		return leaf(e);
	if (is_store(e))
		return store(g, e, e->kind == AMPC_POST);
	if (e->kind == AMPC_ASSIGN || e->kind == AMPC_PRE) {
		ampc_emit_effect(g, e);
		return leaf(e->a);
	}
	dest = ampc_emit_temporary(g, e->type);
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
	return e->kind == AMPC_ARITH && ampc_op_commutes(e->op);
}

/* Whether @e takes one step at most beyond bringing its first operand. */
static bool is_simple(const struct ampc_expr *e)
{
	switch (e->kind) {
	case AMPC_ARITH:
		return is_leaf(e->a) && is_leaf(e->b);
	case AMPC_NEG:
	case AMPC_BIT_NOT:
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
		copy(g, e->type, dest, value_of(g, from));
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
	if (is_store(e)) {
		store(g, e, false);
		g->temps = temps;
		return;
	}
	switch (e->kind) {
	case AMPC_ASSIGN:
		assign(g, e);
		break;
	case AMPC_PRE:
	case AMPC_POST:
		ampc_emit_arith(g, leaf(e->a), none, ampc_op_code(e->op));
		break;
	default:
		call(g, e->event || is_test(e) ? none :
		     ampc_emit_temporary(g, e->type), e);
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
	if (e->kind == AMPC_ASSIGN && e->type == AMPC_PAGE)
		e = e->b;
	return e->kind == AMPC_CALL &&
	       hipec_ops[e->opcode].flags & HIPEC_OPF_TEST;
}

/* A comparison of pages, or of one with none. */
static void branch_same(struct ampc_emit *g, const struct ampc_expr *e,
			bool sense, u32 label)
{
	bool is_comp = e->kind == AMPC_COMP;
	bool is_same = is_comp && e->op == AMPC_OP_EQ;
	struct ampc_arg a, b;

	/* What has just set the condition need not be compared with none. */
	if (is_comp && e->b->is_none && sets_condition(e->a)) {
		ampc_emit_branch(g, e->a, sense != is_same, label);
		return;
	}
	a = value_of(g, is_comp ? e->a : e);
	b = is_comp ? value_of(g, e->b) : no_page;
	g->line = e->loc.line;
	ampc_emit_insn(g, HIPEC_OP_SAME, a, b, none);
	jump_on(g, sense == is_same, label);
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
	} else if (e->type == AMPC_PAGE ||
		   (e->kind == AMPC_COMP && e->a->type == AMPC_PAGE)) {
		branch_same(g, e, sense, label);
	} else {
		bool is_comp = e->kind == AMPC_COMP;
		struct ampc_arg a = value_of(g, is_comp ? e->a : e);
		struct ampc_arg b = is_comp ? value_of(g, e->b) : constant(0);

		g->line = e->loc.line;
		ampc_emit_insn(g, HIPEC_OP_COMP, a, b,
			       ampc_byte(is_comp ? ampc_op_code(e->op) :
					 HIPEC_COMP_NE));
		jump_on(g, sense, label);
	}
	g->temps = temps;
}
