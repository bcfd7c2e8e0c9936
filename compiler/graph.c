// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event as a graph: where its commands lead, and the longest ways through them.
 *
 * Interface:
 * cost_way(), cost_is_stop(), cost_is_backward()  where a command leads
 * cost_written()  what it writes
 * cost_order()    commands, each behind those it leads to
 * cost_measure()  the longest ways to the ends
 */
#include "cost.h"

bool cost_is_stop(u32 w)
{
	return hipec_ops[hipec_word_op(w)].flags & HIPEC_OPF_STOP;
}

/* Where command @at leads: way 0 is the next command, way 1 the jump. */
u32 cost_way(const struct cost_graph *g, u32 at, u32 nr)
{
	u32 w = g->word[at];

	if (nr)
		return cost_is_jump(w) ? hipec_word_target(w) : COST_NONE;
	if (cost_is_stop(w) ||
	    (cost_is_jump(w) && hipec_word_a(w) == HIPEC_COND_ALWAYS))
		return COST_NONE;
	return at + 1;
}

bool cost_is_backward(const struct cost_graph *g, u32 at, u32 to)
{
	return g->place[to] >= g->place[at];
}

/* Put the commands that are reached in order, by a search from the first. */
void cost_order(struct cost_graph *g, u32 *stack, u8 *ways)
{
	u32 depth = 0, at, to;

	stack[depth++] = 1;
	while (depth) {
		at = stack[depth - 1];
		if (ways[at] == 2) {
			g->order[g->nr_order++] = at;
			g->place[at] = g->nr_order;
			depth--;
			continue;
		}
		to = cost_way(g, at, ways[at]++);
		if (to != COST_NONE && !ways[to])
			stack[depth++] = to;
	}
}

/* The slot that @w writes an integer to, or COST_NONE. */
u32 cost_written(u32 w)
{
	const struct hipec_op *op = &hipec_ops[hipec_word_op(w)];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(op->kind); i++)
		if (op->kind[i] == HIPEC_KIND_INT_W)
			return (u8)(w >> (16 - 8 * i));
	return COST_NONE;
}

static void add_weight(const struct cost_graph *g, u32 at,
		       struct cost_bound *sum)
{
	struct cost_terms *t = &g->all->terms;
	u32 w = g->word[at];

	cost_add_one(sum);
	cost_add(t, sum, &g->extra[at]);
	if (hipec_word_op(w) == HIPEC_OP_CALL)
		cost_add(t, sum, &g->all->cost[hipec_word_a(w)].commands);
}

/* Measure the longest ways to the ends, inside the loop only if there is one. */
void cost_measure(struct cost_graph *g, bool inside)
{
	const u32 *order = inside ? g->member : g->order;
	u32 i, j, at, to, nr = inside ? g->nr_members : g->nr_order;
	struct cost_bound *best;

	for (i = 0; i < nr; i++) {
		at = order[i];
		best = &g->longest[at];
		memset(best, 0, sizeof(*best));
		if (inside && !cost_is_inside(g, at))
			continue;
		for (j = 0; j < 2; j++) {
			to = cost_way(g, at, j);
			if (to == COST_NONE || cost_is_backward(g, at, to) ||
			    (inside && !cost_is_inside(g, to)))
				continue;
			cost_longer(&g->all->terms, best, &g->longest[to]);
		}
		if (best->of[0] || g->is_end[at])
			add_weight(g, at, best);
	}
}
