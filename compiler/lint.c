// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rules allow and hardly anybody means: the warnings. Runs on a tree
 * without errors and changes nothing in it.
 *
 * Paths through an event are followed in source order; the state of loops and
 * labels, where ways meet, is kept in the tree, and the walk is repeated until
 * it does not change any more. Only then is anything said. Both sides of a
 * condition are always taken to be possible, but a loop on a constant that is
 * true is left by break alone. Events come behind those that they call. path.c
 * has what happens inside statements, tidy.c and misread.c what
 * needs no paths.
 *
 * Interface:
 * ampc_lint()  all warnings but those of check.c
 */
#include "lint.h"

#define MAX_WALKS 64	/* loops in loops and gotos backward; then be silent */

/* Where a loop or label stands, all ways so far lead here. */
static void meet(struct ampc_walk *l, struct ampc_stmt *s)
{
	l->has_changed |= ampc_path_join(&s->meet->path, &l->now);
	l->now = s->meet->path;
}

static void end_way(struct ampc_walk *l)
{
	l->now = (struct ampc_path){ 0 };
}

/* Statements */

static void stmts(struct ampc_walk *l, struct ampc_stmt *s);

static bool is_true(const struct ampc_expr *e)
{
	return !e || (e->is_const && e->value);
}

static bool is_false(const struct ampc_expr *e)
{
	return e && e->is_const && !e->value;
}

/* The event ends here. */
static void leave(struct ampc_walk *l, struct ampc_loc loc)
{
	ampc_path_join(&l->end, &l->now);
	if (!l->speaks || !l->now.is_live || !l->now.owes ||
	    l->ev->number != HIPEC_EVENT_REPLACE || !l->ev->does->gives)
		return;
	ampc_report(l->c, loc, VICTIM_PATH, l->ev->name);
	ampc_report(l->c, loc, VICTIM_HOW);
}

static void branch(struct ampc_walk *l, struct ampc_stmt *s)
{
	bool is_certain = l->is_certain;
	struct ampc_path then, other;

	ampc_path_branch(l, s->expr, &then, &other);
	l->is_certain = false;
	l->now = then;
	stmts(l, s->body);
	if (s->orelse) {
		then = l->now;
		l->now = other;
		stmts(l, s->orelse);
		other = then;
	}
	ampc_path_join(&l->now, &other);
	/* What is behind runs in any case, if both sides lead there. */
	l->is_certain = is_certain && !l->ways_out && !l->out;
}

/* The loop at @s has come to its end; @before counts the ways out till there. */
static void check_exit(struct ampc_walk *l, const struct ampc_stmt *s,
		       const struct ampc_path *out, u32 before)
{
	if (l->speaks && s->meet->path.is_live && is_true(s->expr) &&
	    !out->is_live && l->ways_out == before)
		ampc_report(l->c, s->loc, LOOP_NO_EXIT);
}

/*
 * The test of a loop: the ways that go round again are @l's, the others lead
 * out. How often a loop runs is not known; one that gives pages up was run
 * often enough when its test ends it.
 */
static void test_loop(struct ampc_walk *l, const struct ampc_stmt *s,
		      struct ampc_path *out)
{
	struct ampc_path yes, no;

	if (!s->expr)
		return;
	ampc_path_branch(l, s->expr, &yes, &no);
	l->now = yes;
	if (s->meet->gives)
		no.owes = false;
	if (!is_true(s->expr))
		ampc_path_join(out, &no);
}

static void loop(struct ampc_walk *l, struct ampc_stmt *s)
{
	struct ampc_path *outer_out = l->out, *outer_again = l->again;
	struct ampc_path out = { 0 }, again = { 0 };
	bool is_do = s->kind == AMPC_STMT_DO, is_certain = l->is_certain;
	u32 ways_out = l->ways_out;

	if (s->init)
		ampc_path_effect(l, s->init);
	meet(l, s);
	l->is_certain = false;
	l->out = &out;
	l->again = &again;
	if (!is_do)
		test_loop(l, s, &out);
	stmts(l, s->body);
	ampc_path_join(&l->now, &again);
	if (s->step)
		ampc_path_effect(l, s->step);
	if (is_do)
		test_loop(l, s, &out);
	if (!is_do || !is_false(s->expr))
		l->has_changed |= ampc_path_join(&s->meet->path, &l->now);
	check_exit(l, s, &out, ways_out);
	l->now = out;
	l->out = outer_out;
	l->again = outer_again;
	l->is_certain = is_certain && l->ways_out == ways_out;
}

static void jump(struct ampc_walk *l, struct ampc_stmt *s)
{
	if (s->kind == AMPC_STMT_BREAK)
		ampc_path_join(l->out, &l->now);
	else if (s->kind == AMPC_STMT_CONTINUE)
		ampc_path_join(l->again, &l->now);
	else if (s->kind == AMPC_STMT_GOTO)
		l->has_changed |= ampc_path_join(&s->target->meet->path,
						 &l->now);
	else
		leave(l, s->loc);
	l->ways_out += s->kind == AMPC_STMT_GOTO ||
		       s->kind == AMPC_STMT_RETURN;
	end_way(l);
}

/* Say once that a stretch is not reached; blocks and labels are looked into. */
static void check_reached(struct ampc_walk *l, const struct ampc_stmt *s)
{
	if (l->now.is_live)
		l->is_said = false;
	if (!l->speaks || l->now.is_live || l->is_said ||
	    s->kind == AMPC_STMT_EMPTY || s->kind == AMPC_STMT_DECL ||
	    s->kind == AMPC_STMT_SETTING || s->kind == AMPC_STMT_BLOCK ||
	    s->kind == AMPC_STMT_LABEL)
		return;
	ampc_report(l->c, s->loc, UNREACHABLE);
	l->is_said = true;
}

static void stmts(struct ampc_walk *l, struct ampc_stmt *s)
{
	for (; s; s = s->next) {
		check_reached(l, s);
		switch (s->kind) {
		case AMPC_STMT_EMPTY:
		case AMPC_STMT_DECL:
		case AMPC_STMT_SETTING:
			break;
		case AMPC_STMT_EXPR:
			ampc_path_effect(l, s->expr);
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
static void walk(struct ampc_walk *l)
{
	struct ampc_loc end = l->ev->body->loc;

	end.line = end.end_line;
	end.col = end.end_col - 1;
	l->now = (struct ampc_path){ .is_live = true, .owes = true };
	memset(&l->now.old, 0xff, sizeof(l->now.old));
	memset(&l->now.queued, 0xff, sizeof(l->now.queued));
	l->end = (struct ampc_path){ 0 };
	l->is_certain = true;
	l->is_said = false;
	l->ways_out = 0;
	l->has_changed = false;
	stmts(l, l->ev->body->body);
	leave(l, end);
}

/* @common has what is the same for all events. */
static void lint_event(const struct ampc_walk *common, struct ampc_event *ev)
{
	struct ampc_walk l = *common;
	struct ampc *c = l.c;
	u32 i;

	l.ev = ev;
	for (i = 0; i < MAX_WALKS; i++) {
		walk(&l);
		if (!l.has_changed)
			break;
	}
	ev->does->end = l.end;
	if (i == MAX_WALKS) {
		l.queues->moved_away = true;
		return;
	}
	l.speaks = true;
	walk(&l);
	if (ev->number == HIPEC_EVENT_REPLACE && !ev->does->gives) {
		ampc_report(c, ev->loc, VICTIM_NONE, ev->name);
		ampc_report(c, ev->loc, VICTIM_HOW);
	} else if (ev->number == HIPEC_EVENT_REPLACE && !ev->does->frees) {
		ampc_report(c, ev->loc, VICTIM_RELEASED, ev->name);
		ampc_report(c, ev->loc, VICTIM_HOW);
	}
}

static bool is_change(const struct ampc_expr *e)
{
	return e->kind == AMPC_ASSIGN || e->kind == AMPC_PRE || e->kind == AMPC_POST;
}

/* Keys that change, and pages that are put where their keys say. */
static void sum_keys(struct ampc_does *sum, const struct ampc_expr *e)
{
	const struct ampc_expr *queue = e->kind == AMPC_CALL && !e->event && e->a &&
					e->opcode == HIPEC_OP_ENQUEUE ? e->a->next : NULL;
	u32 i;

	sum->fills |= queue || (e->kind == AMPC_CALL && e->event && e->event->does->fills);
	if (is_change(e) && e->a->kind == AMPC_MEMBER && e->a->symbol)
		sum->changes[e->a->symbol->slot] = e;
	for (i = 0; e->kind == AMPC_CALL && e->event && i < HIPEC_NR_SLOTS; i++)
		if (!sum->changes[i])
			sum->changes[i] = e->event->does->changes[i];
}

/* What an expression does, wherever it stands. */
static void sum_expr(struct ampc_does *sum, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (!e)
		return;
	for (arg = e->a; arg; arg = arg->next)
		sum_expr(sum, arg);
	sum_expr(sum, e->b);
	sum_expr(sum, e->c);
	sum_keys(sum, e);
	if (e->kind == AMPC_ASSIGN && e->type == AMPC_PAGE &&
	    e->a->kind == AMPC_NAME)
		ampc_slots_put(&sum->set, e->a->symbol->slot, true);
	if (e->kind != AMPC_CALL)
		return;
	sum->gives |= e->event ? e->event->does->gives : ampc_gives_frame(e);
	sum->frees |= e->event ? e->event->does->frees :
		      e->opcode == HIPEC_OP_REQUEST ||
		      (e->opcode == HIPEC_OP_ENQUEUE && ampc_gives_frame(e));
	sum->keeps |= e->event ? e->event->does->keeps :
		      e->opcode == HIPEC_OP_ENQUEUE && !ampc_gives_frame(e);
	sum->takes |= e->event ? e->event->does->takes :
		      e->opcode == HIPEC_OP_DEQUEUE || e->opcode == HIPEC_OP_PEEK;
}

/* The same for statements; each gets a place where ways can meet. */
static void sum_stmts(struct ampc *c, struct ampc_does *sum,
		      struct ampc_stmt *s)
{
	bool gives = sum->gives;

	for (; s; s = s->next) {
		sum->gives = false;
		sum_expr(sum, s->init);
		sum_expr(sum, s->expr);
		sum_expr(sum, s->step);
		sum_stmts(c, sum, s->body);
		sum_stmts(c, sum, s->orelse);
		if (s->kind == AMPC_STMT_LABEL || s->kind == AMPC_STMT_WHILE ||
		    s->kind == AMPC_STMT_DO || s->kind == AMPC_STMT_FOR) {
			s->meet = ampc_alloc(c, sizeof(*s->meet));
			s->meet->gives = sum->gives;
		}
		gives |= sum->gives;
	}
	sum->gives = gives;
}

/* What each event does, with those that it calls, which come before it. */
static void sum_event(struct ampc *c, struct ampc_event *ev)
{
	const struct ampc_call *to;
	u32 i;

	sum_stmts(c, ev->does, ev->body->body);
	for (to = ev->calls; to; to = to->next)
		for (i = 0; i < ARRAY_SIZE(ev->does->set.bits); i++)
			ev->does->set.bits[i] |= to->callee->does->set.bits[i];
}

/* Replace wants pages of queues, and PageFault puts none there. */
static void check_kept(struct ampc *c)
{
	const struct ampc_event *fault = NULL, *replace = NULL, *ev;

	for (ev = c->events; ev; ev = ev->next) {
		if (ev->number == HIPEC_EVENT_PAGEFAULT)
			fault = ev;
		else if (ev->number == HIPEC_EVENT_REPLACE)
			replace = ev;
	}
	if (!fault || !replace || fault->does->keeps || !replace->does->takes)
		return;
	ampc_report(c, fault->loc, QUEUE_NONE, fault->name);
	ampc_report(c, fault->loc, QUEUE_NONE_THEN);
}

/*
 * A queue keeps its order when a key changes, until the page is put on it anew. An event
 * that puts a page on any queue may have taken it off that one.
 */
static void check_keys(struct ampc *c, const struct ampc_queues *queues)
{
	const struct ampc_symbol *queue;
	const struct ampc_event *ev;

	for (ev = c->events; ev; ev = ev->next)
		for (queue = c->symbols; queue; queue = queue->next) {
			if (ev->calls_to || !queue->key || ev->does->fills ||
			    !queues->is_filled[queue->slot] ||
			    !ev->does->changes[queue->key->slot])
				continue;
			ampc_report(c, ev->does->changes[queue->key->slot]->loc, KEY_CHANGES,
				    queue->key->name, queue->name);
			ampc_report(c, ev->does->changes[queue->key->slot]->loc, KEY_CHANGES_HOW,
				    queue->name);
		}
}

static void check_queues(struct ampc *c, const struct ampc_queues *q)
{
	const struct ampc_symbol *sym;

	for (sym = c->symbols; sym; sym = sym->next) {
		if (sym->kind != AMPC_OPERAND || !sym->loc.line ||
		    (sym->type != AMPC_QUEUE && sym->type != AMPC_QUEUES))
			continue;
		if (q->is_filled[sym->slot] && !q->is_known[sym->slot] &&
		    !q->moved_away && (!q->moved_to || q->moved_to == sym))
			ampc_report(c, sym->loc, QUEUE_KEEPS, sym->name);
	}
}

/* The next event whose callees come before it; the first for none. */
static struct ampc_event *next_event(const struct ampc *c,
				     const struct ampc_event *ev)
{
	u32 calls_to = ev ? ev->calls_to : HIPEC_MAX_CALL_DEPTH;
	struct ampc_event *next = ev ? ev->next : c->events;

	for (;; calls_to--, next = c->events) {
		for (; next; next = next->next)
			if (next->calls_to == calls_to)
				return next;
		if (!calls_to)
			return NULL;
	}
}

static void number_pages(const struct ampc *c, u8 *page_nr)
{
	const struct ampc_symbol *sym;
	u8 nr = 0;

	for (sym = c->symbols; sym; sym = sym->next)
		if (sym->kind == AMPC_OPERAND && sym->type == AMPC_PAGE)
			page_nr[sym->slot] = nr++;
}

/**
 * ampc_lint() - warn of what is hardly meant
 * @c: compilation without errors
 */
void ampc_lint(struct ampc *c)
{
	struct ampc_queues queues = { 0 };
	struct ampc_slots all = { 0 };
	u8 page_nr[HIPEC_NR_SLOTS] = { 0 };
	struct ampc_walk common = {
		.c = c, .all = &all, .queues = &queues, .page_nr = page_nr,
	};
	struct ampc_event *ev;
	u32 i;

	number_pages(c, page_nr);
	for (ev = c->events; ev; ev = ev->next)
		ev->does = ampc_alloc(c, sizeof(*ev->does));
	for (ev = next_event(c, NULL); ev; ev = next_event(c, ev)) {
		sum_event(c, ev);
		for (i = 0; i < ARRAY_SIZE(all.bits); i++)
			all.bits[i] |= ev->does->set.bits[i];
	}
	for (ev = next_event(c, NULL); ev; ev = next_event(c, ev))
		lint_event(&common, ev);
	check_queues(c, &queues);
	check_kept(c);
	check_keys(c, &queues);
	ampc_misread(c);
	ampc_tidy(c);
}
