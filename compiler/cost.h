/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What cost.c, rounds.c, graph.c and bound.c share: how many commands an event runs at
 * most, as a sum of terms. The first term is 1; the others are products of how
 * often loops go round whose rounds depend on a parameter of the policy.
 *
 *   cost.c    loops, events and the table
 *   rounds.c  how often a loop goes round
 *   graph.c   events as graphs, the longest ways through them
 *   bound.c   sums of terms, and their text
 *
 * Names: @g the graph of an event, @head the first command of a loop.
 */
#ifndef AMPC_COST_H
#define AMPC_COST_H

#include "ampc.h"

#define COST_NONE 0xffffffffu
#define COST_MAX_TERMS 32	/* of a policy */
#define COST_MAX_FACTORS 4	/* of a term: loops inside one another */

struct cost_bound {
	u64 of[COST_MAX_TERMS];	/* factor of each term; the first is 0: no way */
};

/* (@offset + or - the parameter) / @step, rounded up, and not below 0. */
struct cost_rounds {
	u32 slot;		/* of the parameter; 0: always @now times */
	bool is_minus;
	bool is_exact;		/* below 0 there is no bound */
	s64 offset, step;
	u64 now;		/* with the parameter as it is declared */
};

struct cost_terms {
	struct cost_rounds rounds[COST_MAX_TERMS];
	u32 nr_rounds;
	struct {
		u8 rounds[COST_MAX_FACTORS];	/* numbers from 1, in order */
	} term[COST_MAX_TERMS];
	u32 nr;			/* the first included */
};

/* What an event costs. */
struct cost {
	bool is_done;
	struct cost_bound commands;	/* at most, unless there is a loop */
	u32 loop;		/* line of one without a bound, or 0 */
	const char *via;	/* the event that it is in */
	bool writes[HIPEC_NR_SLOTS];
};

/* What is known of all events. */
struct cost_policy {
	struct ampc *c;
	const struct hipec_policy *p;
	struct cost cost[HIPEC_NR_EVENTS];	/* by number */
	bool writes[HIPEC_NR_SLOTS];		/* some event does */
	struct cost_terms terms;
};

/* One event as a graph; arrays have an entry for each word, word 0 unused. */
struct cost_graph {
	struct cost_policy *all;
	struct cost *cost;	/* of this event */
	const u32 *word, *line;
	u32 nr;
	u32 *order;		/* commands, each behind those it leads to */
	u32 *place;		/* in the order, from 1; 0: not reached */
	u32 nr_order;
	u32 *member;		/* the same, of the last loop only */
	u32 nr_members;
	struct cost_bound *extra;	/* all rounds but the last of the loop from here */
	struct cost_bound *longest;	/* way to an end */
	bool *is_head;		/* a jump backward goes there */
	bool *is_end;		/* of the ways that are measured */
	bool *is_inner;		/* part of a loop that was counted already */
	u32 *loop;		/* number of the last loop that it is part of */
	u32 nr_loops;
};

static inline bool cost_is_jump(u32 w)
{
	return hipec_ops[hipec_word_op(w)].flags & HIPEC_OPF_JUMP;
}

static inline bool cost_is_inside(const struct cost_graph *g, u32 at)
{
	return g->loop[at] == g->nr_loops;
}

/* graph.c */
bool cost_is_stop(u32 w);
u32 cost_way(const struct cost_graph *g, u32 at, u32 nr);
bool cost_is_backward(const struct cost_graph *g, u32 at, u32 to);
void cost_order(struct cost_graph *g, u32 *stack, u8 *ways);
u32 cost_written(u32 w);
void cost_measure(struct cost_graph *g, bool inside);

/* rounds.c */
bool cost_loop_rounds(struct cost_graph *g, u32 head,
		      struct cost_rounds *rounds);

/* bound.c */
void cost_add(struct cost_terms *t, struct cost_bound *sum,
	      const struct cost_bound *b);
void cost_add_one(struct cost_bound *sum);
void cost_longer(struct cost_terms *t, struct cost_bound *best,
		 const struct cost_bound *b);
bool cost_times(struct cost_terms *t, struct cost_bound *b,
		const struct cost_rounds *rounds);
void cost_print(const struct cost_terms *t, const struct hipec_policy *p,
		const struct cost_bound *b, FILE *out);

#endif /* AMPC_COST_H */
