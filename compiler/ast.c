// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree. The parser's actions call these and do nothing else; no rule of the
 * language is here but the bound on depth, which keeps every later recursion off
 * the stack's end.
 *
 * Interface:
 * ampc_expr_*(), ampc_stmt_*(), ampc_decl_new(), ampc_event_add()
 * ampc_op_text(), ampc_op_code(), ampc_op_commutes()
 */
#include "ampc.h"

static const struct {
	const char *text;
	enum ampc_expr_kind kind;
	u8 code;
} operators[] = {
#define X(name, text_, class, code_) \
	[AMPC_OP_##name] = { .text = text_, .kind = AMPC_##class, .code = code_ },
	AMPC_OPERATORS(X)
#undef X
};

/* Spelling of an operator. */
const char *ampc_op_text(enum ampc_op op)
{
	return operators[op].text;
}

/* Selector of the command that computes an operator. */
u8 ampc_op_code(enum ampc_op op)
{
	return operators[op].code;
}

/* Whether the operands of @op may change places. */
bool ampc_op_commutes(enum ampc_op op)
{
	switch (op) {
	case AMPC_OP_ADD:
	case AMPC_OP_MUL:
	case AMPC_OP_BIT_AND:
	case AMPC_OP_BIT_OR:
	case AMPC_OP_BIT_XOR:
		return true;
	default:
		return false;
	}
}

/* An expression without operands, yet. */
struct ampc_expr *ampc_expr_new(struct ampc *c, enum ampc_expr_kind kind,
				struct ampc_loc loc)
{
	struct ampc_expr *e = ampc_alloc(c, sizeof(*e));

	e->kind = kind;
	e->loc = loc;
	e->depth = 1;
	return e;
}

/* A number. */
struct ampc_expr *ampc_expr_number(struct ampc *c, struct ampc_loc loc,
				   s64 value)
{
	struct ampc_expr *e = ampc_expr_new(c, AMPC_NUMBER, loc);

	e->value = value;
	return e;
}

static u32 deepest(const struct ampc_expr *e, u32 depth)
{
	return e && e->depth > depth ? e->depth : depth;
}

/* Enter the depth of @e's operands; too deep a tree becomes AMPC_BAD. */
static struct ampc_expr *limit_depth(struct ampc *c, struct ampc_expr *e)
{
	struct ampc_expr *arg;
	u32 depth = 0;

	for (arg = e->a; arg; arg = arg->next)
		depth = deepest(arg, depth);
	depth = deepest(e->b, depth);
	depth = deepest(e->c, depth);
	e->depth = depth + 1;
	if (e->depth <= AMPC_MAX_DEPTH)
		return e;
	ampc_report(c, e->loc, TOO_DEEP, AMPC_MAX_DEPTH);
	return ampc_expr_new(c, AMPC_BAD, e->loc);
}

/**
 * ampc_expr_op() - operator and its operands
 * @c:     compilation
 * @op:    operator
 * @loc:   of the whole expression
 * @a:     first operand
 * @b:     second operand, or NULL
 * @third: third operand, or NULL
 *
 * Return: the expression.
 */
struct ampc_expr *ampc_expr_op(struct ampc *c, enum ampc_op op,
			       struct ampc_loc loc, struct ampc_expr *a,
			       struct ampc_expr *b, struct ampc_expr *third)
{
	struct ampc_expr *e = ampc_expr_new(c, operators[op].kind, loc);

	e->op = op;
	e->a = a;
	e->b = b;
	e->c = third;
	return limit_depth(c, e);
}

/* Field @name of @page. */
struct ampc_expr *ampc_expr_member(struct ampc *c, struct ampc_expr *page,
				   const char *name, struct ampc_loc name_loc,
				   struct ampc_loc loc)
{
	struct ampc_expr *e = ampc_expr_op(c, AMPC_OP_MEMBER, loc, page, NULL,
					   NULL);

	e->name = name;
	e->name_loc = name_loc;
	return e;
}

/**
 * ampc_expr_call() - call of a command or event
 * @c:        compilation
 * @name:     what is called
 * @name_loc: place of the name
 * @loc:      of the whole call
 * @args:     first argument, linked by next; or NULL
 *
 * Return: the expression.
 */
struct ampc_expr *ampc_expr_call(struct ampc *c, const char *name,
				 struct ampc_loc name_loc, struct ampc_loc loc,
				 struct ampc_expr *args)
{
	struct ampc_expr *e = ampc_expr_new(c, AMPC_CALL, loc);

	e->name = name;
	e->name_loc = name_loc;
	e->a = args;
	return limit_depth(c, e);
}

/**
 * ampc_stmt_new() - statement
 * @c:      compilation
 * @kind:   which
 * @loc:    of the whole statement
 * @body:   statement inside it, or first of a block's; or NULL
 * @orelse: other statement inside it, or NULL
 *
 * Return: the statement; its other fields are the caller's to fill.
 */
struct ampc_stmt *ampc_stmt_new(struct ampc *c, enum ampc_stmt_kind kind,
				struct ampc_loc loc, struct ampc_stmt *body,
				struct ampc_stmt *orelse)
{
	struct ampc_stmt *s = ampc_alloc(c, sizeof(*s)), *in;

	s->kind = kind;
	s->loc = loc;
	s->body = body;
	s->orelse = orelse;
	for (in = body; in; in = in->next)
		if (in->depth > s->depth)
			s->depth = in->depth;
	if (orelse && orelse->depth > s->depth)
		s->depth = orelse->depth;
	if (++s->depth > AMPC_MAX_DEPTH) {
		ampc_report(c, loc, TOO_DEEP, AMPC_MAX_DEPTH);
		s->kind = AMPC_STMT_EMPTY;
		s->body = NULL;
		s->orelse = NULL;
		s->depth = 1;
	}
	return s;
}

/* A statement behind a label. */
struct ampc_stmt *ampc_stmt_label(struct ampc *c, struct ampc_loc loc,
				  const char *name, struct ampc_stmt *body)
{
	struct ampc_stmt *s = ampc_stmt_new(c, AMPC_STMT_LABEL, loc, body,
					    NULL);

	s->name = name;
	return s;
}

/* A setting; @name as the user wrote it. */
struct ampc_stmt *ampc_stmt_setting(struct ampc *c, struct ampc_loc loc,
				    enum ampc_setting setting, const char *name,
				    struct ampc_expr *value)
{
	struct ampc_stmt *s = ampc_stmt_new(c, AMPC_STMT_SETTING, loc, NULL,
					    NULL);

	s->setting = setting;
	s->name = name;
	s->expr = value;
	return s;
}

/* A variable of a declaration; its type comes with ampc_stmt_decl(). */
struct ampc_decl *ampc_decl_new(struct ampc *c, struct ampc_loc loc,
				const char *name, struct ampc_expr *length,
				struct ampc_expr *init)
{
	struct ampc_decl *d = ampc_alloc(c, sizeof(*d));

	d->loc = loc;
	d->name = name;
	d->length = length;
	d->init = init;
	return d;
}

/* A variable has a range. */
struct ampc_decl *ampc_decl_range(struct ampc_decl *d, struct ampc_expr *low,
				  struct ampc_expr *high)
{
	d->low = low;
	d->high = high;
	return d;
}

/* A declaration: all variables from @first on get its flags and its type. */
struct ampc_stmt *ampc_stmt_decl(struct ampc *c, struct ampc_loc loc,
				 u8 flags, enum ampc_type type,
				 struct ampc_decl *first)
{
	struct ampc_stmt *s = ampc_stmt_new(c, AMPC_STMT_DECL, loc, NULL, NULL);
	struct ampc_decl *d;

	for (d = first; d; d = d->next) {
		d->type = type;
		d->flags = flags;
	}
	s->decl = first;
	return s;
}

/**
 * ampc_event_add() - definition of an event
 * @c:    compilation
 * @name: its name
 * @loc:  place of the name
 * @body: its block
 */
void ampc_event_add(struct ampc *c, const char *name, struct ampc_loc loc,
		    struct ampc_stmt *body)
{
	struct ampc_event *ev = ampc_alloc(c, sizeof(*ev));

	ev->name = name;
	ev->loc = loc;
	ev->body = body;
	*c->events_end = ev;
	c->events_end = &ev->next;
	ampc_names_add(c, &c->event_names, name, ev);
}
