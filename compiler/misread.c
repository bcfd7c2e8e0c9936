// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings of expressions that C, and so this language, reads otherwise than a
 * reader does. Parentheses say that one knows: the tree has none, but the place
 * of an expression begins with its own.
 *
 * Interface:
 * ampc_misread()  all of them
 */
#include "ampc.h"

static bool starts_with(const struct ampc_expr *e, const struct ampc_expr *part)
{
	return e->loc.line == part->loc.line && e->loc.col == part->loc.col;
}

/* Whether a binary operation has no parentheses of its own. */
static bool is_bare(const struct ampc_expr *e)
{
	/* check.c may have changed the sides. */
	return starts_with(e, e->a) || starts_with(e, e->b);
}

static bool is_bit(enum ampc_op op)
{
	return op == AMPC_OP_BIT_AND || op == AMPC_OP_BIT_OR ||
	       op == AMPC_OP_BIT_XOR;
}

static bool is_shift(enum ampc_op op)
{
	return op == AMPC_OP_SHL || op == AMPC_OP_SHR;
}

static bool is_truth(const struct ampc_expr *e)
{
	return e->kind == AMPC_NOT || e->kind == AMPC_COMP ||
	       e->kind == AMPC_AND || e->kind == AMPC_OR;
}

/* Whether @e, a side of @of, looks as if it came after it; @other: the other. */
static bool is_trap(const struct ampc_expr *of, const struct ampc_expr *e,
		    const struct ampc_expr *other)
{
	bool is_comp = of->kind == AMPC_COMP;

	if (e->kind == AMPC_COMP)
		return (is_comp || is_bit(of->op)) && is_bare(e);
	if (is_shift(of->op))
		return (e->op == AMPC_OP_ADD || e->op == AMPC_OP_SUB) &&
		       e->kind == AMPC_ARITH && is_bare(e);
	/* `!a == b`, but not `!a == !b`, and not `a == !b`. */
	return e->kind == AMPC_NOT && (is_comp || is_bit(of->op)) &&
	       starts_with(of, e) && !is_truth(other);
}

/* The user's words, or the operator when they are not on one line. */
static const char *words(struct ampc *c, const struct ampc_expr *e)
{
	const char *text = ampc_source_quote(c, e->loc);

	return *text ? text : ampc_op_text(e->op);
}

/* Whether @e has no parentheses, which stand before its first character. */
static bool is_bare_not(const struct ampc *c, const struct ampc_expr *e)
{
	size_t len;

	return ampc_source_line(c, e->loc.line, &len)[e->loc.col - 1] == '!';
}

static bool is_relation(enum ampc_op op)
{
	return op == AMPC_OP_LT || op == AMPC_OP_GT || op == AMPC_OP_LE ||
	       op == AMPC_OP_GE;
}

static bool is_left(const struct ampc_expr *a, const struct ampc_expr *b)
{
	return a->loc.line != b->loc.line ? a->loc.line < b->loc.line :
					    a->loc.col < b->loc.col;
}

/* The user's words from the start of @from to the end of @to. */
static const char *span(struct ampc *c, const struct ampc_expr *from,
			const struct ampc_expr *to)
{
	return ampc_source_quote(c, ampc_loc_span(from->loc, to->loc));
}

/*
 * What a reader takes @of for: its sides, of which @e is one, the other way round.
 * Of `n & 1 == 1` that is `(n & 1) == 1`; of `a < b < c` it is `a < b && b < c`.
 */
static const char *as_it_looks(struct ampc *c, const struct ampc_expr *of,
			       const struct ampc_expr *e,
			       const struct ampc_expr *other)
{
	const struct ampc_expr *left, *right;
	struct ampc_loc rest;

	if (e->kind == AMPC_NOT)
		return ampc_printf(c, "!(%s)", span(c, e->a, other));
	left = is_left(e->a, e->b) ? e->a : e->b;
	right = left == e->a ? e->b : e->a;
	if (is_left(e, other)) {
		if (is_relation(of->op) && is_relation(e->op))
			return ampc_printf(c, "%s && %s", span(c, left, right),
					   span(c, right, other));
		rest = ampc_loc_span(left->loc, right->loc);
		rest.end_line = right->loc.line;
		rest.end_col = right->loc.col;
		return ampc_printf(c, "%s(%s)", ampc_source_quote(c, rest),
				   span(c, right, other));
	}
	rest = ampc_loc_span(left->loc, right->loc);
	rest.line = left->loc.end_line;
	rest.col = left->loc.end_col;
	return ampc_printf(c, "(%s)%s", span(c, other, left),
			   ampc_source_quote(c, rest));
}

static void check_side(struct ampc *c, const struct ampc_expr *of,
		       const struct ampc_expr *e, const struct ampc_expr *other)
{
	const char *text;

	if (!is_trap(of, e, other) ||
	    (e->kind == AMPC_NOT && !is_bare_not(c, e)))
		return;
	text = ampc_source_quote(c, e->loc);
	ampc_report(c, e->loc, PRECEDENCE, words(c, e), ampc_op_text(of->op));
	if (*text)
		ampc_report(c, e->loc, PARENTHESES, as_it_looks(c, of, e, other),
			    text);
}

static void check_shift(struct ampc *c, const struct ampc_expr *e)
{
	if (e->op != AMPC_OP_SHL || !e->is_const ||
	    e->value >> e->b->value == e->a->value)
		return;
	ampc_report(c, e->loc, SHIFT_OVERFLOW, words(c, e),
		    (long long)e->value);
}

static void check_expr(struct ampc *c, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (!e)
		return;
	if (e->kind == AMPC_ARITH || e->kind == AMPC_COMP) {
		check_side(c, e, e->a, e->b);
		check_side(c, e, e->b, e->a);
	}
	if (e->kind == AMPC_ARITH)
		check_shift(c, e);
	for (arg = e->a; arg; arg = arg->next)
		check_expr(c, arg);
	check_expr(c, e->b);
	check_expr(c, e->c);
}

/* What a command gives may well be kept and tested at once. */
static void check_test(struct ampc *c, const struct ampc_expr *e)
{
	if (!e || e->kind != AMPC_ASSIGN || e->op != AMPC_OP_SET ||
	    e->b->kind == AMPC_CALL || !starts_with(e, e->a))
		return;
	ampc_report(c, e->loc, TEST_ASSIGNS);
	ampc_report(c, e->loc, DID_YOU_MEAN, "==");
}

static void check_stmts(struct ampc *c, const struct ampc_stmt *s)
{
	const struct ampc_decl *d;

	for (; s; s = s->next) {
		check_expr(c, s->init);
		check_expr(c, s->expr);
		check_expr(c, s->step);
		for (d = s->decl; d; d = d->next) {
			check_expr(c, d->init);
			check_expr(c, d->length);
			check_expr(c, d->low);
			check_expr(c, d->high);
		}
		if (s->kind != AMPC_STMT_EXPR)
			check_test(c, s->expr);
		check_stmts(c, s->body);
		check_stmts(c, s->orelse);
	}
}

/**
 * ampc_misread() - warn of what is read otherwise than it looks
 * @c: compilation without errors
 */
void ampc_misread(struct ampc *c)
{
	const struct ampc_event *ev;

	for (ev = c->events; ev; ev = ev->next)
		check_stmts(c, ev->body->body);
}
