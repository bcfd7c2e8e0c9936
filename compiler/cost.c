// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many commands an event can run at most, from the commands themselves, as
 * the module counts them: the longest way through each event, calls and
 * the return included. Or the loop that has no bound: whose rounds rounds.c
 * cannot count.
 *
 * A loop is all that leads to a jump backward from where that goes, and counts
 * when it is entered at its first command alone. Then a round costs the longest
 * way from the first command back to it, with all rounds of the loops inside it.
 * A loop that is also left from its middle is taken for one that was not, and
 * left then.
 *
 * Interface:
 * ampc_cost()  print the table of --explain-cost
 */
#include "cost.h"

/* Loops */

/* Find where loops start: each is where a jump backward goes. */
static void find_heads(struct cost_graph *g)
{
	u32 i, j, at, to;

	for (i = 0; i < g->nr_order; i++) {
		at = g->order[i];
		for (j = 0; j < 2; j++) {
			to = cost_way(g, at, j);
			if (to != COST_NONE && cost_is_backward(g, at, to))
				g->is_head[to] = true;
		}
	}
}

/* Mark the loop's first command, and those that lead back to it. */
static void mark_tails(struct cost_graph *g, u32 head)
{
	u32 i, j, at;

	g->nr_loops++;
	g->loop[head] = g->nr_loops;
	for (i = 0; i < g->nr_order; i++) {
		at = g->order[i];
		g->is_end[at] = false;
		for (j = 0; j < 2; j++) {
			if (cost_way(g, at, j) != head || !cost_is_backward(g, at, head))
				continue;
			g->is_end[at] = true;
			g->loop[at] = g->nr_loops;
		}
	}
}

/* Mark what leads to its tails; whether it is entered at @head alone. */
static bool mark_loop(struct cost_graph *g, u32 head)
{
	bool again;
	u32 i, j, at, to;

	do {
		again = false;
		for (i = 0; i < g->nr_order; i++) {
			at = g->order[i];
			for (j = 0; j < 2 && !cost_is_inside(g, at); j++) {
				to = cost_way(g, at, j);
				if (to == COST_NONE || to == head ||
				    !cost_is_inside(g, to))
					continue;
				g->loop[at] = g->nr_loops;
				again = true;
			}
		}
	} while (again);
	g->nr_members = 0;
	for (i = 0; i < g->nr_order; i++)
		if (cost_is_inside(g, g->order[i]))
			g->member[g->nr_members++] = g->order[i];
	/* Whatever is entered from outside is reached from command 1. */
	return head == 1 || !cost_is_inside(g, 1);
}

/* The line of the innermost loop statement around @line; 0 if there is none. */
static u32 statement_line(const struct ampc_stmt *s, u32 line)
{
	u32 found, inner;

	for (; s; s = s->next) {
		if (line < s->loc.line || line > s->loc.end_line)
			continue;
		inner = statement_line(s->body, line);
		if (!inner)
			inner = statement_line(s->orelse, line);
		found = s->kind == AMPC_STMT_WHILE || s->kind == AMPC_STMT_DO ||
			s->kind == AMPC_STMT_FOR ? s->loc.line : 0;
		if (inner || found)
			return inner ? inner : found;
	}
	return 0;
}

/* The line where the loop is written; without a tree, of its first command. */
static u32 loop_line(const struct cost_graph *g, u32 head)
{
	const struct ampc_event *ev;
	u32 i, line = g->line[head], found;

	for (i = 0; i < g->nr_order; i++)
		if (g->is_end[g->order[i]] && g->line[g->order[i]] < line)
			line = g->line[g->order[i]];
	for (ev = g->all->c->events; ev; ev = ev->next) {
		found = statement_line(ev->body, line);
		if (found)
			return found;
	}
	return line;
}

static void count_loop(struct cost_graph *g, u32 head)
{
	struct cost_rounds rounds;
	struct cost_bound all;
	u32 i, line;
	bool is_one;

	mark_tails(g, head);
	is_one = mark_loop(g, head);
	line = loop_line(g, head);
	if (is_one && cost_loop_rounds(g, head, &rounds)) {
		cost_measure(g, true);
		all = g->longest[head];
		is_one = cost_times(&g->all->terms, &all, &rounds);
	} else {
		is_one = false;
	}
	if (!is_one) {
		if (!g->cost->loop || line < g->cost->loop)
			g->cost->loop = line;
		return;
	}
	g->extra[head] = all;
	for (i = 0; i < g->nr_members; i++)
		g->is_inner[g->member[i]] = true;
}

/* Events */

static void count_event(struct cost_policy *all, u32 number);

/* What the events that this one calls cost, and write. */
static void count_calls(struct cost_graph *g)
{
	u32 i, slot;

	for (i = 1; i < g->nr; i++) {
		u32 w = g->word[i];
		const struct cost *to;

		if (cost_written(w) != COST_NONE)
			g->cost->writes[cost_written(w)] = true;
		if (hipec_word_op(w) != HIPEC_OP_CALL)
			continue;
		count_event(g->all, hipec_word_a(w));
		to = &g->all->cost[hipec_word_a(w)];
		for (slot = 0; slot < HIPEC_NR_SLOTS; slot++)
			g->cost->writes[slot] |= to->writes[slot];
		if (to->loop && !g->cost->via) {
			g->cost->via = to->via;
			g->cost->loop = to->loop;
		}
	}
}

static void count_event(struct cost_policy *all, u32 number)
{
	const struct hipec_policy *p = all->p;
	const struct hipec_image_event *ev = &p->event[p->index[number] - 1];
	const size_t size = ev->nr * sizeof(u32);
	struct ampc *c = all->c;
	struct cost_graph g = {
		.all = all, .cost = &all->cost[number],
		.word = p->words + ev->first, .line = p->lines + ev->first,
		.nr = ev->nr,
		.order = ampc_alloc(c, size), .place = ampc_alloc(c, size),
		.loop = ampc_alloc(c, size), .member = ampc_alloc(c, size),
		.extra = ampc_alloc(c, ev->nr * sizeof(*g.extra)),
		.longest = ampc_alloc(c, ev->nr * sizeof(*g.longest)),
		.is_head = ampc_alloc(c, ev->nr),
		.is_end = ampc_alloc(c, ev->nr), .is_inner = ampc_alloc(c, ev->nr),
	};
	u32 i;

	if (g.cost->is_done)
		return;
	g.cost->is_done = true;
	count_calls(&g);
	if (g.cost->loop)
		return;
	cost_order(&g, ampc_alloc(c, size), ampc_alloc(c, ev->nr));
	find_heads(&g);
	/* Loops inside others start behind them, so they come first. */
	for (i = 0; i < g.nr_order; i++)
		if (g.is_head[g.order[i]])
			count_loop(&g, g.order[i]);
	for (i = 0; i < g.nr_order; i++)
		g.is_end[g.order[i]] = cost_is_stop(g.word[g.order[i]]);
	cost_measure(&g, false);
	g.cost->commands = g.longest[1];
	if (g.cost->loop)
		g.cost->via = hipec_image_policy_name(p, ev->name);
}

static void find_writes(struct cost_policy *all)
{
	const struct hipec_policy *p = all->p;
	u32 i, n, slot;

	for (i = 0; i < p->image->nr_events; i++) {
		for (n = 1; n < p->event[i].nr; n++) {
			slot = cost_written(p->words[p->event[i].first + n]);
			if (slot != COST_NONE)
				all->writes[slot] = true;
		}
	}
}

/**
 * ampc_cost() - print how many commands each event runs at most
 * @c:   compilation
 * @p:   its image, parsed and verified
 * @out: where to
 */
void ampc_cost(struct ampc *c, const struct hipec_policy *p, FILE *out)
{
	struct cost_policy *all = ampc_alloc(c, sizeof(*all));
	u32 i;

	all->c = c;
	all->p = p;
	all->terms.nr = 1;
	find_writes(all);
	fprintf(out, "%-16s  commands at most\n", "event");
	for (i = 0; i < p->image->nr_events; i++) {
		const char *name = hipec_image_policy_name(p, p->event[i].name);
		const struct cost *cost = &all->cost[p->event[i].number];

		count_event(all, p->event[i].number);
		fprintf(out, "%-16s  ", name);
		if (!cost->loop)
			cost_print(&all->terms, p, &cost->commands, out);
		else if (strcmp(cost->via, name))
			fprintf(out, "no bound: the loop in line %u, in %s",
				cost->loop, cost->via);
		else
			fprintf(out, "no bound: the loop in line %u",
				cost->loop);
		fputc('\n', out);
	}
}
