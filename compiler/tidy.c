// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings that a look at the tree gives, without the paths that lint.c
 * follows: names that are not used, comparisons that need no test, loops that
 * change nothing, events that are empty.
 *
 * Interface:
 * ampc_tidy()  all of them
 */
#include "ampc.h"

/* Variables that are mentioned, and those that are given a value, by slot. */
struct names {
	bool is_used[HIPEC_NR_SLOTS];
	bool is_set[HIPEC_NR_SLOTS];
	bool has_event;		/* is called: it may change anything */
	bool has_way_out;	/* break, goto, return */
};

static bool is_int(const struct ampc_expr *e)
{
	return e->kind == AMPC_NAME && e->type == AMPC_INT;
}

static bool is_change(const struct ampc_expr *e)
{
	return e->kind == AMPC_ASSIGN || e->kind == AMPC_PRE ||
	       e->kind == AMPC_POST;
}

static void names_of_expr(struct names *n, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (!e)
		return;
	if ((e->kind == AMPC_NAME || e->kind == AMPC_MEMBER) && e->symbol)
		n->is_used[e->symbol->slot] = true;
	if (is_change(e) && e->a->kind == AMPC_NAME && e->a->symbol)
		n->is_set[e->a->symbol->slot] = true;
	n->has_event |= e->kind == AMPC_CALL && e->event;
	for (arg = e->a; arg; arg = arg->next)
		names_of_expr(n, arg);
	names_of_expr(n, e->b);
	names_of_expr(n, e->c);
}

static void names_of_stmts(struct names *n, const struct ampc_stmt *s)
{
	const struct ampc_decl *d;

	for (; s; s = s->next) {
		n->has_way_out |= s->kind == AMPC_STMT_BREAK ||
				  s->kind == AMPC_STMT_GOTO ||
				  s->kind == AMPC_STMT_RETURN;
		names_of_expr(n, s->init);
		names_of_expr(n, s->expr);
		names_of_expr(n, s->step);
		for (d = s->decl; d; d = d->next) {
			names_of_expr(n, d->init);
			names_of_expr(n, d->length);
			names_of_expr(n, d->low);
			names_of_expr(n, d->high);
		}
		names_of_stmts(n, s->body);
		names_of_stmts(n, s->orelse);
	}
}

static void check_variables(struct ampc *c)
{
	const struct ampc_symbol *sym;
	const struct ampc_event *ev;
	struct names n = { 0 };

	for (ev = c->events; ev; ev = ev->next)
		names_of_stmts(&n, ev->body);
	for (sym = c->symbols; sym; sym = sym->next)
		if (sym->key && n.is_used[sym->slot])
			n.is_used[sym->key->slot] = true;
	for (sym = c->symbols; sym; sym = sym->next)
		if (sym->kind == AMPC_OPERAND && sym->loc.line &&
		    !n.is_used[sym->slot])
			ampc_report(c, sym->loc, VARIABLE_UNUSED, sym->name);
}

/* Whether @e reads only variables that the system leaves alone. */
static bool is_quiet(const struct ampc_expr *e)
{
	switch (e->kind) {
	case AMPC_NUMBER:
		return true;
	case AMPC_NAME:
		return is_int(e) && e->symbol->kind == AMPC_OPERAND &&
		       e->symbol->slot >= HIPEC_SLOT_POLICY;
	case AMPC_COMP:
	case AMPC_ARITH:
	case AMPC_AND:
	case AMPC_OR:
		return is_quiet(e->a) && is_quiet(e->b);
	case AMPC_NOT:
	case AMPC_NEG:
		return is_quiet(e->a);
	default:
		return false;
	}
}

/* A loop whose test comes out the same every time, and that nothing leaves. */
static void check_loop(struct ampc *c, const struct ampc_stmt *s)
{
	struct names tested = { 0 }, inside = { 0 };
	u32 i;

	if (!s->expr || s->expr->is_const || !is_quiet(s->expr))
		return;
	names_of_expr(&tested, s->expr);
	names_of_expr(&inside, s->step);
	names_of_stmts(&inside, s->body);
	if (inside.has_way_out || inside.has_event)
		return;
	for (i = 0; i < HIPEC_NR_SLOTS; i++)
		if (tested.is_used[i] && inside.is_set[i])
			return;
	ampc_report(c, s->loc, LOOP_SAME);
}

/* Whether @e is written without a name, so that it cannot be meant otherwise. */
static bool is_literal(const struct ampc_expr *e)
{
	return e->kind == AMPC_NUMBER ||
	       (e->kind == AMPC_NEG && is_literal(e->a)) ||
	       (e->kind == AMPC_ARITH && is_literal(e->a) && is_literal(e->b));
}

/* Whether @e counts something. */
static bool is_count(const struct ampc_expr *e)
{
	if (e->kind == AMPC_NAME && e->symbol)
		return e->symbol->kind == AMPC_SYSTEM &&
		       e->symbol->slot != HIPEC_SLOT_HINT &&
		       e->symbol->slot != HIPEC_SLOT_CONTEXT;
	return e->kind == AMPC_CALL && !e->event &&
	       (e->opcode == HIPEC_OP_LENGTH || e->opcode == HIPEC_OP_RANDOM);
}

/* `a op b` for an @a that is 0 or more: 1 true, 0 false, -1 it depends. */
static int compare_count(u8 code, s64 b)
{
	switch (code) {
	case HIPEC_COMP_LT:
		return b <= 0 ? 0 : -1;
	case HIPEC_COMP_GE:
		return b <= 0 ? 1 : -1;
	case HIPEC_COMP_GT:
		return b < 0 ? 1 : -1;
	case HIPEC_COMP_LE:
		return b < 0 ? 0 : -1;
	case HIPEC_COMP_EQ:
		return b < 0 ? 0 : -1;
	default:
		return b < 0 ? 1 : -1;
	}
}

/* What a comparison of two equal sides is. */
static int compare_same(u8 code)
{
	return code == HIPEC_COMP_GE || code == HIPEC_COMP_LE ||
	       code == HIPEC_COMP_EQ;
}

static u8 swapped(u8 code)
{
	switch (code) {
	case HIPEC_COMP_LT:
		return HIPEC_COMP_GT;
	case HIPEC_COMP_GT:
		return HIPEC_COMP_LT;
	case HIPEC_COMP_LE:
		return HIPEC_COMP_GE;
	case HIPEC_COMP_GE:
		return HIPEC_COMP_LE;
	default:
		return code;
	}
}

static void check_comparison(struct ampc *c, const struct ampc_expr *e)
{
	u8 code = ampc_op_code(e->op);
	int always = -1;

	if (is_literal(e->a) && is_literal(e->b) && e->is_const)
		always = e->value;
	else if (is_int(e->a) && is_int(e->b) && e->a->symbol == e->b->symbol)
		always = compare_same(code);
	else if (is_count(e->a) && e->b->is_const)
		always = compare_count(code, e->b->value);
	else if (is_count(e->b) && e->a->is_const)
		always = compare_count(swapped(code), e->a->value);
	if (always >= 0)
		ampc_report(c, e->loc, COMPARE_ALWAYS,
			    always ? "true" : "false");
}

static void check_expr(struct ampc *c, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (!e)
		return;
	if (e->kind == AMPC_COMP)
		check_comparison(c, e);
	for (arg = e->a; arg; arg = arg->next)
		check_expr(c, arg);
	check_expr(c, e->b);
	check_expr(c, e->c);
}

static void check_stmts(struct ampc *c, const struct ampc_stmt *s)
{
	for (; s; s = s->next) {
		check_expr(c, s->init);
		check_expr(c, s->expr);
		check_expr(c, s->step);
		if (s->kind == AMPC_STMT_WHILE || s->kind == AMPC_STMT_DO ||
		    s->kind == AMPC_STMT_FOR)
			check_loop(c, s);
		check_stmts(c, s->body);
		check_stmts(c, s->orelse);
	}
}

static bool is_empty(const struct ampc_stmt *s)
{
	for (; s; s = s->next)
		if (s->kind != AMPC_STMT_EMPTY && s->kind != AMPC_STMT_RETURN &&
		    ((s->kind != AMPC_STMT_BLOCK &&
		      s->kind != AMPC_STMT_LABEL) || !is_empty(s->body)))
			return false;
	return true;
}

/* PageFault may leave its page to the kernel; Replace is lint.c's. */
static bool may_be_empty(const struct ampc_event *ev)
{
	return ev->number == HIPEC_EVENT_INIT ||
	       ev->number == HIPEC_EVENT_PAGEFAULT ||
	       ev->number == HIPEC_EVENT_REPLACE ||
	       (ev->number >= HIPEC_EVENT_USER && !ev->is_called);
}

/**
 * ampc_tidy() - warn of what needs no paths
 * @c: compilation without errors
 */
void ampc_tidy(struct ampc *c)
{
	const struct ampc_event *ev;

	check_variables(c);
	for (ev = c->events; ev; ev = ev->next) {
		check_stmts(c, ev->body->body);
		if (!may_be_empty(ev) && is_empty(ev->body->body))
			ampc_report(c, ev->loc, EVENT_EMPTY, ev->name);
	}
}
