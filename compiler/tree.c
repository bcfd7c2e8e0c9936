// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of -E: what the source is taken to mean, after the rules were
 * applied. A line each for a declaration, statement or expression, its parts
 * indented below it; the sides of an operator stand in the order in which they
 * are computed.
 *
 * Interface:
 * ampc_tree()  print all that
 */
#include "ampc.h"

struct tree {
	FILE *out;
	u32 depth;
};

__attribute__((format(printf, 2, 3)))
static void node(const struct tree *t, const char *fmt, ...)
{
	va_list ap;

	fprintf(t->out, "%*s", 2 * (int)t->depth, "");
	va_start(ap, fmt);
	vfprintf(t->out, fmt, ap);
	va_end(ap);
}

static const char *type_text(enum ampc_type type)
{
	return type == AMPC_VOID ? "nothing" : hipec_vm_type_text(type);
}

/* Expressions */

static void expr(struct tree *t, const struct ampc_expr *e);

/* Type and value behind what an expression is; then its parts. */
static void rest(struct tree *t, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	fprintf(t->out, ": %s", type_text(e->type));
	if (e->is_const)
		fprintf(t->out, " = %lld", (long long)e->value);
	fputc('\n', t->out);
	t->depth++;
	for (arg = e->a; arg; arg = arg->next)
		expr(t, arg);
	if (e->b)
		expr(t, e->b);
	if (e->c)
		expr(t, e->c);
	t->depth--;
}

/* The command that a call becomes, with its name in assembler text. */
static void call(struct tree *t, const struct ampc_expr *e)
{
	const char *syntax = hipec_ops[e->opcode].syntax;

	if (e->event)
		node(t, "call %s, event %u", e->name, e->event->number);
	else
		node(t, "call %s, command %02X %.*s", e->name, e->opcode,
		     (int)strcspn(syntax, " "), syntax);
}

static void name(struct tree *t, const struct ampc_expr *e)
{
	node(t, "name %s", e->name);
	if (e->symbol)
		fprintf(t->out, ", slot %02X", e->symbol->slot);
	else if (e->is_none)
		fprintf(t->out, ", no page");
}

static void expr(struct tree *t, const struct ampc_expr *e)
{
	switch (e->kind) {
	case AMPC_NUMBER:
		node(t, "number");
		break;
	case AMPC_NAME:
		if (!e->symbol && !e->is_none) {
			node(t, "word %s = %lld\n", e->name,
			     (long long)e->value);
			return;
		}
		name(t, e);
		break;
	case AMPC_CALL:
		call(t, e);
		break;
	case AMPC_PRE:
	case AMPC_POST:
		node(t, "operator %s %s", ampc_op_text(e->op),
		     e->kind == AMPC_PRE ? "before" : "behind");
		break;
	case AMPC_MEMBER:
		node(t, "field %s, slot %02X", e->name, e->symbol->slot);
		break;
	default:
		node(t, "operator %s", ampc_op_text(e->op));
	}
	rest(t, e);
}

static void part(struct tree *t, const char *what, const struct ampc_expr *e)
{
	if (!e)
		return;
	node(t, "%s\n", what);
	t->depth++;
	expr(t, e);
	t->depth--;
}

/* Statements */

static void stmts(struct tree *t, const struct ampc_stmt *s);

static void body(struct tree *t, const char *what, const struct ampc_stmt *s)
{
	if (!s)
		return;
	node(t, "%s\n", what);
	t->depth++;
	stmts(t, s->kind == AMPC_STMT_BLOCK && !s->next ? s->body : s);
	t->depth--;
}

static void declare(struct tree *t, const struct ampc_decl *d)
{
	for (; d; d = d->next) {
		node(t, "declare %s, slot %02X, line %u\n", d->name,
		     d->symbol->slot, d->loc.line);
		t->depth++;
		part(t, "length", d->length);
		part(t, "value", d->init);
		part(t, "least", d->low);
		part(t, "greatest", d->high);
		t->depth--;
	}
}

/* A statement by its word; NULL for one that has none. */
static const char *word(const struct ampc_stmt *s)
{
	static const char * const words[] = {
		[AMPC_STMT_EMPTY] = "nothing",
		[AMPC_STMT_BLOCK] = "block",
		[AMPC_STMT_IF] = "if",
		[AMPC_STMT_WHILE] = "while",
		[AMPC_STMT_DO] = "do",
		[AMPC_STMT_FOR] = "for",
		[AMPC_STMT_BREAK] = "break",
		[AMPC_STMT_CONTINUE] = "continue",
		[AMPC_STMT_GOTO] = "goto",
		[AMPC_STMT_LABEL] = "label",
		[AMPC_STMT_RETURN] = "return",
	};

	return s->kind < ARRAY_SIZE(words) ? words[s->kind] : NULL;
}

/* The parts of what is controlled: tests where they are made. */
static void parts(struct tree *t, const struct ampc_stmt *s)
{
	part(t, "first", s->init);
	if (s->kind != AMPC_STMT_DO)
		part(t, "test", s->expr);
	body(t, s->kind == AMPC_STMT_IF ? "then" : "body", s->body);
	body(t, "else", s->orelse);
	part(t, "step", s->step);
	if (s->kind == AMPC_STMT_DO)
		part(t, "test", s->expr);
}

static void stmt(struct tree *t, const struct ampc_stmt *s)
{
	if (s->kind == AMPC_STMT_DECL) {
		declare(t, s->decl);
		return;
	}
	if (s->kind == AMPC_STMT_SETTING)
		node(t, "setting %s, line %u\n", s->name, s->loc.line);
	else if (s->kind == AMPC_STMT_EXPR)
		node(t, "expression, line %u\n", s->loc.line);
	else
		node(t, "%s%s%s, line %u\n", word(s), s->name ? " " : "",
		     s->name ? s->name : "", s->loc.line);
	t->depth++;
	if (s->kind == AMPC_STMT_EXPR || s->kind == AMPC_STMT_SETTING)
		expr(t, s->expr);
	else if (s->kind == AMPC_STMT_BLOCK || s->kind == AMPC_STMT_LABEL)
		stmts(t, s->body);
	else
		parts(t, s);
	t->depth--;
}

static void stmts(struct tree *t, const struct ampc_stmt *s)
{
	for (; s; s = s->next)
		stmt(t, s);
}

static void operand(const struct ampc_symbol *sym, FILE *out)
{
	fprintf(out, "  %02X  %s %s", sym->slot, hipec_vm_type_text(sym->type),
		sym->name);
	if (sym->type == AMPC_INTS || sym->type == AMPC_QUEUES)
		fprintf(out, "[%lld]", (long long)sym->value);
	else if (sym->type == AMPC_INT)
		fprintf(out, " = %lld", (long long)sym->value);
	if (sym->low || sym->high)
		fprintf(out, " in %lld..%lld", (long long)sym->low,
			(long long)sym->high);
	if (sym->key)
		fprintf(out, " by %s", sym->key->name);
	ampc_list_flags(sym->flags, out);
	fputc('\n', out);
}

/**
 * ampc_tree() - print the tree of a policy without errors
 * @c:   compilation
 * @out: where to
 */
void ampc_tree(const struct ampc *c, FILE *out)
{
	struct tree t = { .out = out, .depth = 1 };
	const struct ampc_symbol *sym;
	const struct ampc_event *ev;

	fprintf(out, "policy %s\n\noperands\n", c->policy);
	for (sym = c->symbols; sym; sym = sym->next)
		if (sym->kind == AMPC_OPERAND)
			operand(sym, out);
	for (ev = c->events; ev; ev = ev->next) {
		fprintf(out, "\nevent %u %s, line %u\n", ev->number, ev->name,
			ev->loc.line);
		stmts(&t, ev->body->body);
	}
}
