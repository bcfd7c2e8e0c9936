// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of a policy as a whole: its events and their numbers, statements,
 * labels, and who calls whom; declare.c has those of declarations. What this
 * accepts the verifier of the VM core accepts as well; compile.c makes sure.
 *
 * Interface:
 * ampc_check()  all rules
 */
#include "ampc.h"

/* A walk over the statements of one event. */
struct walk {
	struct ampc *c;
	struct ampc_event *ev;
	u32 loops;		/* around the statement */
	bool is_init;
	bool is_nested;		/* below the top level of the event */
	struct ampc_stmt **labels_end;
	u32 nr_labels;
};

static void host_number(struct ampc_event *ev)
{
	u32 i;

	for (i = 0; i < HIPEC_EVENT_USER; i++)
		if (hipec_vm_event_text(i) && !strcmp(hipec_vm_event_text(i), ev->name))
			ev->number = i;
}

/* Number the events; those of the policy's own in source order. */
static void number_events(struct ampc *c)
{
	const u32 max = HIPEC_NR_EVENTS - HIPEC_EVENT_USER;
	struct ampc_event *ev;
	u32 next = HIPEC_EVENT_USER;
	u8 opcode;

	for (ev = c->events; ev; ev = ev->next) {
		const struct ampc_event *first = ampc_event_find(c, ev->name);

		ev->number = HIPEC_NR_EVENTS;	/* none */
		host_number(ev);
		if (ev != first) {
			ampc_report(c, ev->loc, EVENT_TWICE, ev->name);
			ampc_report(c, first->loc, DECLARED_HERE, ev->name);
			continue;
		}
		if (ev->number < HIPEC_EVENT_USER)
			continue;
		if (ampc_builtin_find(ev->name, &opcode)) {
			ampc_report(c, ev->loc, EVENT_IS_COMMAND, ev->name);
			continue;
		}
		if (next < HIPEC_NR_EVENTS)
			ev->number = next;
		else if (next == HIPEC_NR_EVENTS)
			ampc_report(c, ev->loc, TOO_MANY_EVENTS, max);
		next++;
	}
}

static void require_events(struct ampc *c)
{
	static const struct {
		u32 number;
		bool need;
		const char *when;
	} host[] = {
#define X(name, code, text, need, when) { code, need, when },
		HIPEC_EVENTS(X)
#undef X
	};
	struct ampc_loc file = { 0 };
	u32 i;

	if (c->has_lost_event)
		return;
	for (i = 0; i < ARRAY_SIZE(host); i++) {
		const char *name = hipec_vm_event_text(host[i].number);

		if (!host[i].need || ampc_event_find(c, name))
			continue;
		ampc_report(c, file, EVENT_MISSING, name);
		ampc_report(c, file, EVENT_WHEN, host[i].when);
	}
}

/* Statements */

static struct ampc_stmt *find_label(const struct ampc_event *ev,
				    const char *name)
{
	return ampc_names_find(&ev->label_names, name);
}

static void add_label(struct walk *w, struct ampc_stmt *s)
{
	const struct ampc_stmt *first = find_label(w->ev, s->name);

	if (first) {
		ampc_report(w->c, s->loc, LABEL_TWICE, s->name, w->ev->name);
		ampc_report(w->c, first->loc, LABEL_HERE, s->name);
		return;
	}
	s->label = w->nr_labels++;
	*w->labels_end = s;
	w->labels_end = &s->next_label;
	ampc_names_add(w->c, &w->ev->label_names, s->name, s);
}

/* Labels may be used before they are set: collect them first. */
static void collect_labels(struct walk *w, struct ampc_stmt *s)
{
	for (; s; s = s->next) {
		if (s->kind == AMPC_STMT_LABEL)
			add_label(w, s);
		collect_labels(w, s->body);
		collect_labels(w, s->orelse);
	}
}

static void check_goto(struct walk *w, struct ampc_stmt *s)
{
	s->target = find_label(w->ev, s->name);
	if (s->target)
		return;
	ampc_report(w->c, s->loc, LABEL_UNKNOWN, s->name, w->ev->name);
	ampc_suggest_label(w->c, w->ev, s->name, s->loc);
}

static void check_stmts(struct walk *w, struct ampc_stmt *s);

static void check_inner(struct walk *w, struct ampc_stmt *s, u32 loops)
{
	struct walk inner = *w;

	inner.is_nested = true;
	inner.loops += loops;
	check_stmts(&inner, s);
}

static void check_stmt(struct walk *w, struct ampc_stmt *s)
{
	struct ampc *c = w->c;

	switch (s->kind) {
	case AMPC_STMT_EMPTY:
	case AMPC_STMT_RETURN:
		break;
	case AMPC_STMT_DECL:
	case AMPC_STMT_SETTING:
		if (!w->is_init || w->is_nested)
			ampc_declare_misplaced(c, w->ev, s, w->is_init);
		break;
	case AMPC_STMT_EXPR:
		ampc_check_effect(c, w->ev, s->expr);
		break;
	case AMPC_STMT_IF:
		ampc_check_condition(c, w->ev, s->expr);
		check_inner(w, s->body, 0);
		check_inner(w, s->orelse, 0);
		break;
	case AMPC_STMT_WHILE:
	case AMPC_STMT_DO:
	case AMPC_STMT_FOR:
		if (s->init)
			ampc_check_effect(c, w->ev, s->init);
		if (s->expr)
			ampc_check_condition(c, w->ev, s->expr);
		if (s->step)
			ampc_check_effect(c, w->ev, s->step);
		check_inner(w, s->body, 1);
		break;
	case AMPC_STMT_BLOCK:
	case AMPC_STMT_LABEL:
		check_inner(w, s->body, 0);
		break;
	case AMPC_STMT_BREAK:
	case AMPC_STMT_CONTINUE:
		if (!w->loops)
			ampc_report(c, s->loc, BREAK_OUTSIDE,
				    s->kind == AMPC_STMT_BREAK ? "break" :
				    "continue");
		break;
	case AMPC_STMT_GOTO:
		check_goto(w, s);
		break;
	}
}

static void check_stmts(struct walk *w, struct ampc_stmt *s)
{
	/* What more there is to say would not be printed. */
	for (; s && !w->c->has_more_errors; s = s->next)
		check_stmt(w, s);
}

static void check_event(struct ampc *c, struct ampc_event *ev)
{
	struct walk w = {
		.c = c,
		.ev = ev,
		.is_init = ev->number == HIPEC_EVENT_INIT,
		.labels_end = &ev->labels,
	};

	collect_labels(&w, ev->body->body);
	ev->nr_labels = w.nr_labels;
	check_stmts(&w, ev->body->body);
}

/* Calls */

static void report_cycle(struct ampc *c, const struct ampc_event *from,
			 const struct ampc_call *call)
{
	const struct ampc_event *ev = call->callee;

	if (ev == from) {
		ampc_report(c, call->loc, RECURSION, ev->name);
		return;
	}
	ampc_report(c, call->loc, RECURSION_VIA, ev->name, from->name);
	for (; ev != from; ev = ev->path->callee)
		ampc_report(c, ev->path->loc, CALLED_HERE, ev->name,
			    ev->path->callee->name);
}

/* Follow the calls of @ev; false if they lead back to an event on the path. */
static bool walk_calls(struct ampc *c, struct ampc_event *ev)
{
	bool ok = true;

	ev->visit = AMPC_ON_PATH;
	for (ev->path = ev->calls; ev->path; ev->path = ev->path->next) {
		struct ampc_event *callee = ev->path->callee;

		if (callee->visit == AMPC_ON_PATH) {
			report_cycle(c, ev, ev->path);
			ok = false;
		} else if (callee->visit == AMPC_NOT_VISITED &&
			   callee->number < HIPEC_NR_EVENTS) {
			/* So many calls deep at most: the others are too many. */
			ok &= walk_calls(c, callee);
		}
	}
	ev->visit = AMPC_VISITED;
	return ok;
}

/* The longest chain of calls that leads to each event, without cycles. */
static void measure_calls(struct ampc *c)
{
	struct ampc_event *ev;
	const struct ampc_call *call;
	bool again;

	do {
		again = false;
		for (ev = c->events; ev; ev = ev->next) {
			for (call = ev->calls; call; call = call->next) {
				if (call->callee->calls_to > ev->calls_to)
					continue;
				call->callee->calls_to = ev->calls_to + 1;
				again = true;
				if (ev->calls_to < HIPEC_MAX_CALL_DEPTH)
					continue;
				ampc_report(c, call->loc, CALL_DEPTH,
					    HIPEC_MAX_CALL_DEPTH);
				return;
			}
		}
	} while (again);
}

static void check_calls(struct ampc *c)
{
	struct ampc_event *ev;
	bool ok = true;

	for (ev = c->events; ev; ev = ev->next)
		if (ev->visit == AMPC_NOT_VISITED)
			ok &= walk_calls(c, ev);
	if (ok)
		measure_calls(c);
	for (ev = c->events; ev; ev = ev->next) {
		if (ev->number < HIPEC_EVENT_USER ||
		    ev->number == HIPEC_NR_EVENTS || ev->is_called ||
		    c->has_lost_event)
			continue;
		ampc_report(c, ev->loc, EVENT_UNUSED, ev->name);
		ampc_suggest_host_event(c, ev->name, ev->loc);
	}
}

/**
 * ampc_check() - apply the rules of the language
 * @c: compilation with a tree; gets symbols, the tree its meaning
 *
 * Errors are reported.
 */
void ampc_check(struct ampc *c)
{
	struct ampc_event *ev;

	ampc_symbols_init(c);
	number_events(c);
	ampc_declare_all(c);
	for (ev = c->events; ev; ev = ev->next)
		check_event(c, ev);
	check_calls(c);
	require_events(c);
}
