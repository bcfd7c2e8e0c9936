// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statements -> commands of one event. The tree is checked: nothing here can
 * fail. Code is made in one pass, straight; flow.c takes out the jumps that
 * turn out to lead nowhere.
 *
 * Interface:
 * ampc_emit()  all commands of all events
 */
#include "ampc.h"

static void emit_stmts(struct ampc_emit *g, const struct ampc_stmt *s);

static void emit_if(struct ampc_emit *g, const struct ampc_stmt *s)
{
	u32 orelse = ampc_emit_label(g), end;

	ampc_emit_branch(g, s->expr, false, orelse);
	emit_stmts(g, s->body);
	if (s->orelse) {
		end = ampc_emit_label(g);
		ampc_emit_jump(g, HIPEC_COND_ALWAYS, end);
		ampc_emit_here(g, orelse);
		emit_stmts(g, s->orelse);
		ampc_emit_here(g, end);
	} else {
		ampc_emit_here(g, orelse);
	}
}

/* while and for: the test is at the top, as in Figure 3. */
static void emit_loop(struct ampc_emit *g, const struct ampc_stmt *s)
{
	struct ampc_emit outer = *g;
	u32 top = ampc_emit_label(g);

	g->break_label = ampc_emit_label(g);
	g->continue_label = s->step ? ampc_emit_label(g) : top;
	if (s->init)
		ampc_emit_effect(g, s->init);
	ampc_emit_here(g, top);
	if (s->expr)
		ampc_emit_branch(g, s->expr, false, g->break_label);
	emit_stmts(g, s->body);
	if (s->step) {
		ampc_emit_here(g, g->continue_label);
		ampc_emit_effect(g, s->step);
	}
	g->line = s->loc.line;
	ampc_emit_jump(g, HIPEC_COND_ALWAYS, top);
	ampc_emit_here(g, g->break_label);
	g->break_label = outer.break_label;
	g->continue_label = outer.continue_label;
}

static void emit_do(struct ampc_emit *g, const struct ampc_stmt *s)
{
	struct ampc_emit outer = *g;
	u32 top = ampc_emit_label(g);

	g->break_label = ampc_emit_label(g);
	g->continue_label = ampc_emit_label(g);
	ampc_emit_here(g, top);
	emit_stmts(g, s->body);
	ampc_emit_here(g, g->continue_label);
	ampc_emit_branch(g, s->expr, true, top);
	ampc_emit_here(g, g->break_label);
	g->break_label = outer.break_label;
	g->continue_label = outer.continue_label;
}

static void emit_return(struct ampc_emit *g)
{
	ampc_emit_insn(g, HIPEC_OP_RETURN, ampc_byte(0), ampc_byte(0),
		       ampc_byte(0));
}

static void emit_stmt(struct ampc_emit *g, const struct ampc_stmt *s)
{
	g->line = s->loc.line;
	switch (s->kind) {
	case AMPC_STMT_EMPTY:
	case AMPC_STMT_DECL:
	case AMPC_STMT_SETTING:
		break;
	case AMPC_STMT_EXPR:
		ampc_emit_effect(g, s->expr);
		break;
	case AMPC_STMT_BLOCK:
		emit_stmts(g, s->body);
		break;
	case AMPC_STMT_IF:
		emit_if(g, s);
		break;
	case AMPC_STMT_WHILE:
	case AMPC_STMT_FOR:
		emit_loop(g, s);
		break;
	case AMPC_STMT_DO:
		emit_do(g, s);
		break;
	case AMPC_STMT_BREAK:
		ampc_emit_jump(g, HIPEC_COND_ALWAYS, g->break_label);
		break;
	case AMPC_STMT_CONTINUE:
		ampc_emit_jump(g, HIPEC_COND_ALWAYS, g->continue_label);
		break;
	case AMPC_STMT_GOTO:
		ampc_emit_jump(g, HIPEC_COND_ALWAYS, s->target->label);
		break;
	case AMPC_STMT_LABEL:
		ampc_emit_here(g, s->label);
		emit_stmts(g, s->body);
		break;
	case AMPC_STMT_RETURN:
		emit_return(g);
		break;
	}
}

static void emit_stmts(struct ampc_emit *g, const struct ampc_stmt *s)
{
	for (; s; s = s->next)
		emit_stmt(g, s);
}

static void emit_event(struct ampc *c, struct ampc_event *ev)
{
	struct ampc_emit g = { .c = c, .code = &ev->code };
	u32 i;

	/* The user's labels have the first numbers, given by check.c. */
	for (i = 0; i < ev->nr_labels; i++)
		ampc_emit_label(&g);
	emit_stmts(&g, ev->body->body);
	g.line = ev->body->loc.end_line;
	emit_return(&g);
	ampc_flow(c, &ev->code);
	/* An Init of declarations alone has nothing to run. */
	if (ev->number == HIPEC_EVENT_INIT && ev->code.nr == 1 &&
	    !ev->is_called)
		ev->code.nr = 0;
}

/**
 * ampc_emit() - make the commands of all events
 * @c: compilation without errors
 */
void ampc_emit(struct ampc *c)
{
	struct ampc_event *ev;

	for (ev = c->events; ev; ev = ev->next)
		emit_event(c, ev);
}
