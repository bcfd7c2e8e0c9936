// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rules allow and hardly anybody means: the warnings. Runs on a tree
 * without errors and changes nothing in it.
 *
 * Paths through an event are followed in source order; the state of loops and
 * labels, where ways meet, is kept in the tree, and the walk is repeated until
 * it does not change any more. Only then is anything said. Both sides of a
 * condition are always taken to be possible, but a loop on a constant that is
 * true is left by break alone. tidy.c has what needs no paths.
 *
 * Interface:
 * ampc_lint()  all warnings but those of check.c
 */
#include "ampc.h"

#define MAX_WALKS 64	/* loops in loops and gotos backward; then be silent */

/* The walk of one event. */
struct lint {
	struct ampc *c;
	struct ampc_event *ev;
	struct ampc_path now;
	struct ampc_path *out, *again;	/* break and continue lead there */
	bool has_changed;		/* walk again */
	bool speaks;			/* the walk that reports */
	bool is_certain;		/* whenever the event runs, this runs */
	bool is_said;			/* of this unreachable stretch */
	u32 ways_out;			/* returns and gotos so far */
	struct ampc_path *all;		/* what all events do */
	struct ampc_path said;		/* pages that were reported */
};

static bool is_set(const struct ampc_path *p, u32 slot)
{
	return p->set[slot / 64] >> slot % 64 & 1;
}

static void set_page(struct ampc_path *p, u32 slot)
{
	p->set[slot / 64] |= 1ull << slot % 64;
}

/* Add the ways of @from to those of @to; whether that is news. */
static bool join(struct ampc_path *to, const struct ampc_path *from)
{
	struct ampc_path old = *to;
	u32 i;

	if (!from->is_live)
		return false;
	to->is_live = true;
	to->gave |= from->gave;
	for (i = 0; i < ARRAY_SIZE(to->set); i++)
		to->set[i] |= from->set[i];
	return memcmp(&old, to, sizeof(old));
}

/* Where a loop or label stands, all ways so far lead here. */
static void meet(struct lint *l, struct ampc_stmt *s)
{
	l->has_changed |= join(s->path, &l->now);
	l->now = *s->path;
}

static void end_way(struct lint *l)
{
	l->now = (struct ampc_path){ 0 };
}

/* Expressions */

static bool is_name_of(const struct ampc_expr *e, u32 slot)
{
	return e && e->kind == AMPC_NAME && e->symbol &&
	       e->symbol->slot == slot;
}

/* Whether a call asks the host to take a frame back. */
static bool gives_frame(const struct ampc_expr *e)
{
	if (e->opcode == HIPEC_OP_RELEASE)
		return true;
	return e->opcode == HIPEC_OP_ENQUEUE && e->a &&
	       is_name_of(e->a->next, HIPEC_SLOT_FREE_QUEUE);
}

/* Whether a command has an answer for "no page". */
static bool takes_no_page(u8 opcode)
{
	return opcode == HIPEC_OP_INQ || opcode == HIPEC_OP_RESIDENT ||
	       opcode == HIPEC_OP_SAME || opcode == HIPEC_OP_COPY;
}

/* A page is handed to a command. */
static void use_page(struct lint *l, const struct ampc_expr *call,
		     const struct ampc_expr *e)
{
	const struct ampc_event *ev;
	const struct ampc_symbol *sym = e->symbol;

	if (!l->speaks || !l->now.is_live || is_set(&l->said, sym->slot) ||
	    sym->flags & HIPEC_OPERAND_CONST)
		return;
	if (!is_set(l->all, sym->slot)) {
		ampc_report(l->c, e->loc, PAGE_UNSET, e->name);
		if (sym->loc.line)
			ampc_report(l->c, sym->loc, DECLARED_HERE, e->name);
		set_page(&l->said, sym->slot);
		return;
	}
	if (!l->is_certain || is_set(&l->now, sym->slot) ||
	    takes_no_page(call->opcode))
		return;
	for (ev = l->c->events; ev; ev = ev->next)
		if (ev != l->ev && is_set(&ev->does, sym->slot))
			return;
	ampc_report(l->c, e->loc, PAGE_FIRST, e->name);
	set_page(&l->said, sym->slot);
}

static void expr(struct lint *l, const struct ampc_expr *e);

static void call(struct lint *l, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	for (arg = e->a; arg; arg = arg->next) {
		if (arg->kind == AMPC_NAME && arg->symbol &&
		    arg->type == AMPC_PAGE && !e->event)
			use_page(l, e, arg);
		expr(l, arg);
	}
	if (e->event)
		join(&l->now, &e->event->does);
	else
		l->now.gave |= gives_frame(e);
}

/* All ways through an expression at once: what may be done is what counts. */
static void expr(struct lint *l, const struct ampc_expr *e)
{
	if (!e || !l->now.is_live)
		return;
	if (e->kind == AMPC_CALL) {
		call(l, e);
		return;
	}
	expr(l, e->a);
	expr(l, e->b);
	expr(l, e->c);
	if (e->kind == AMPC_ASSIGN && e->type == AMPC_PAGE &&
	    e->a->kind == AMPC_NAME)
		set_page(&l->now, e->a->symbol->slot);
}

/* Statements */

static void stmts(struct lint *l, struct ampc_stmt *s);

static bool is_true(const struct ampc_expr *e)
{
	return !e || (e->is_const && e->value);
}

static bool is_false(const struct ampc_expr *e)
{
	return e && e->is_const && !e->value;
}

/* The event ends here. */
static void leave(struct lint *l, struct ampc_loc loc)
{
	if (!l->speaks || !l->now.is_live || l->now.gave ||
	    l->ev->number != HIPEC_EVENT_REPLACE || !l->ev->does.gave)
		return;
	ampc_report(l->c, loc, VICTIM_PATH, l->ev->name);
	ampc_report(l->c, loc, VICTIM_HOW);
}

static void branch(struct lint *l, struct ampc_stmt *s)
{
	bool is_certain = l->is_certain;
	struct ampc_path other;

	expr(l, s->expr);
	other = l->now;
	l->is_certain = false;
	stmts(l, s->body);
	if (s->orelse) {
		struct ampc_path then = l->now;

		l->now = other;
		stmts(l, s->orelse);
		other = then;
	}
	join(&l->now, &other);
	/* What is behind runs in any case, if both sides lead there. */
	l->is_certain = is_certain && !l->ways_out && !l->out;
}

/* The loop at @s has come to its end; @before counts the ways out till there. */
static void check_exit(struct lint *l, const struct ampc_stmt *s,
		       const struct ampc_path *out, u32 before)
{
	if (l->speaks && s->path->is_live && is_true(s->expr) &&
	    !out->is_live && l->ways_out == before)
		ampc_report(l->c, s->loc, LOOP_NO_EXIT);
}

static void loop(struct lint *l, struct ampc_stmt *s)
{
	struct lint outer = *l;
	struct ampc_path out = { 0 }, again = { 0 };
	bool is_do = s->kind == AMPC_STMT_DO;

	expr(l, s->init);
	meet(l, s);
	l->is_certain = false;
	l->out = &out;
	l->again = &again;
	if (!is_do) {
		expr(l, s->expr);
		if (!is_true(s->expr))
			join(&out, &l->now);
	}
	stmts(l, s->body);
	join(&l->now, &again);
	expr(l, s->step);
	if (is_do) {
		expr(l, s->expr);
		if (!is_true(s->expr))
			join(&out, &l->now);
	}
	if (!is_do || !is_false(s->expr))
		l->has_changed |= join(s->path, &l->now);
	check_exit(l, s, &out, outer.ways_out);
	l->now = out;
	l->out = outer.out;
	l->again = outer.again;
	l->is_certain = outer.is_certain && l->ways_out == outer.ways_out;
}

static void jump(struct lint *l, struct ampc_stmt *s)
{
	if (s->kind == AMPC_STMT_BREAK)
		join(l->out, &l->now);
	else if (s->kind == AMPC_STMT_CONTINUE)
		join(l->again, &l->now);
	else if (s->kind == AMPC_STMT_GOTO)
		l->has_changed |= join(s->target->path, &l->now);
	else
		leave(l, s->loc);
	l->ways_out += s->kind == AMPC_STMT_GOTO ||
		       s->kind == AMPC_STMT_RETURN;
	end_way(l);
}

/* Say once that a stretch is not reached; blocks and labels are looked into. */
static void check_reached(struct lint *l, const struct ampc_stmt *s)
{
	if (l->now.is_live)
		l->is_said = false;
	if (!l->speaks || l->now.is_live || l->is_said ||
	    s->kind == AMPC_STMT_EMPTY || s->kind == AMPC_STMT_DECL ||
	    s->kind == AMPC_STMT_SETTING || s->kind == AMPC_STMT_BLOCK || s->kind == AMPC_STMT_LABEL)
		return;
	ampc_report(l->c, s->loc, UNREACHABLE);
	l->is_said = true;
}

static void stmts(struct lint *l, struct ampc_stmt *s)
{
	for (; s; s = s->next) {
		check_reached(l, s);
		switch (s->kind) {
		case AMPC_STMT_EMPTY:
		case AMPC_STMT_DECL:
		case AMPC_STMT_SETTING:
			break;
		case AMPC_STMT_EXPR:
			expr(l, s->expr);
			break;
		case AMPC_STMT_LABEL:
			meet(l, s);
			l->is_certain = false;
			stmts(l, s->body);
			break;
		case AMPC_STMT_BLOCK:
			stmts(l, s->body);
			break;
		case AMPC_STMT_IF:
			branch(l, s);
			break;
		case AMPC_STMT_WHILE:
		case AMPC_STMT_DO:
		case AMPC_STMT_FOR:
			loop(l, s);
			break;
		case AMPC_STMT_BREAK:
		case AMPC_STMT_CONTINUE:
		case AMPC_STMT_GOTO:
		case AMPC_STMT_RETURN:
			jump(l, s);
			break;
		}
	}
}

/* From the first statement to the end. */
static void walk(struct lint *l)
{
	struct ampc_loc end = l->ev->body->loc;

	end.line = end.end_line;
	end.col = end.end_col - 1;
	l->now = (struct ampc_path){ .is_live = true };
	l->is_certain = true;
	l->is_said = false;
	l->ways_out = 0;
	l->has_changed = false;
	stmts(l, l->ev->body->body);
	leave(l, end);
}

/* Places to keep the state of loops and labels. */
static void make_paths(struct ampc *c, struct ampc_stmt *s)
{
	for (; s; s = s->next) {
		s->path = ampc_alloc(c, sizeof(*s->path));
		make_paths(c, s->body);
		make_paths(c, s->orelse);
	}
}

static void lint_event(struct ampc *c, struct ampc_event *ev,
		       struct ampc_path *all)
{
	struct lint l = { .c = c, .ev = ev, .all = all };
	u32 i;

	make_paths(c, ev->body->body);
	for (i = 0; i < MAX_WALKS; i++) {
		walk(&l);
		if (!l.has_changed)
			break;
	}
	if (i == MAX_WALKS)
		return;
	l.speaks = true;
	walk(&l);
	if (ev->number != HIPEC_EVENT_REPLACE || ev->does.gave)
		return;
	ampc_report(c, ev->loc, VICTIM_NONE, ev->name);
	ampc_report(c, ev->loc, VICTIM_HOW);
}

/* What an expression does, wherever it stands. */
static void sum_expr(struct ampc_path *sum, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (!e)
		return;
	for (arg = e->a; arg; arg = arg->next)
		sum_expr(sum, arg);
	sum_expr(sum, e->b);
	sum_expr(sum, e->c);
	if (e->kind == AMPC_ASSIGN && e->type == AMPC_PAGE &&
	    e->a->kind == AMPC_NAME)
		set_page(sum, e->a->symbol->slot);
	else if (e->kind == AMPC_CALL && !e->event)
		sum->gave |= gives_frame(e);
}

static void sum_stmts(struct ampc_path *sum, const struct ampc_stmt *s)
{
	for (; s; s = s->next) {
		sum_expr(sum, s->init);
		sum_expr(sum, s->expr);
		sum_expr(sum, s->step);
		sum_stmts(sum, s->body);
		sum_stmts(sum, s->orelse);
	}
}

/* What each event does, with those that it calls. */
static void sum_events(struct ampc *c)
{
	struct ampc_event *ev;
	const struct ampc_call *to;
	bool again;

	for (ev = c->events; ev; ev = ev->next) {
		ev->does.is_live = true;
		sum_stmts(&ev->does, ev->body->body);
	}
	do {
		again = false;
		for (ev = c->events; ev; ev = ev->next)
			for (to = ev->calls; to; to = to->next)
				again |= join(&ev->does, &to->callee->does);
	} while (again);
}

/**
 * ampc_lint() - warn of what is hardly meant
 * @c: compilation without errors
 */
void ampc_lint(struct ampc *c)
{
	struct ampc_path all = { 0 };
	struct ampc_event *ev;

	sum_events(c);
	for (ev = c->events; ev; ev = ev->next)
		join(&all, &ev->does);
	for (ev = c->events; ev; ev = ev->next)
		lint_event(c, ev, &all);
	ampc_tidy(c);
}
