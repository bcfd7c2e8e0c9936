// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many commands an event can run at most, from the commands themselves, as
 * the module counts them: the longest way through each event, calls and
 * the return included. Or the loop that has no bound: whose rounds are not
 * counted from one constant to another.
 *
 * A loop is all that leads to a jump backward from where that goes. It counts when
 *  - it is entered at its first command alone,
 *  - that is a test of a variable against a constant, which leaves the loop,
 *  - the variable was set to a constant right before it,
 *  - one command in it changes the variable, by a constant, in every round.
 * Then a round costs the longest way from the first command back to it, with
 * all rounds of the loops inside it. A loop that is also left from its middle is
 * taken for one that was not, and left then.
 *
 * Interface:
 * ampc_cost()  print the table of --explain-cost
 */
#include "ampc.h"

#define NONE 0xffffffffu

/* What an event costs. */
struct cost {
	bool is_done;
	u64 commands;		/* at most, unless there is a loop */
	u32 loop;		/* line of one without a bound, or 0 */
	const char *via;	/* the event that it is in */
	bool writes[HIPEC_NR_SLOTS];
};

/* One event as a graph; arrays have an entry for each word, word 0 unused. */
struct graph {
	struct ampc *c;
	const struct hipec_policy *p;
	struct cost *costs;	/* of all events, by number */
	struct cost *cost;	/* of this one */
	const u32 *word, *line;
	u32 nr;
	u32 *order;		/* commands, each behind those it leads to */
	u32 *place;		/* in the order, from 1; 0: not reached */
	u32 nr_order;
	u64 *extra;		/* all rounds but the last of the loop from here */
	u64 *longest;		/* way to an end; 0: there is none */
	bool *is_end;		/* of the ways that are measured */
	bool *is_inner;		/* part of a loop that was counted already */
	u32 *loop;		/* number of the last loop that it is part of */
	u32 nr_loops;
};

static bool is_jump(u32 w)
{
	return hipec_ops[hipec_word_op(w)].flags & HIPEC_OPF_JUMP;
}

static bool is_stop(u32 w)
{
	return hipec_ops[hipec_word_op(w)].flags & HIPEC_OPF_STOP;
}

/* Where command @at leads: way 0 is the next command, way 1 the jump. */
static u32 way(const struct graph *g, u32 at, u32 nr)
{
	u32 w = g->word[at];

	if (nr)
		return is_jump(w) ? hipec_word_target(w) : NONE;
	if (is_stop(w) || (is_jump(w) && hipec_word_a(w) == HIPEC_COND_ALWAYS))
		return NONE;
	return at + 1;
}

static bool is_backward(const struct graph *g, u32 at, u32 to)
{
	return g->place[to] >= g->place[at];
}

static bool is_inside(const struct graph *g, u32 at)
{
	return g->loop[at] == g->nr_loops;
}

static void add(u64 *sum, u64 n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* Put the commands that are reached in order, by a search from the first. */
static void put_in_order(struct graph *g, u32 *stack, u8 *ways)
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
		to = way(g, at, ways[at]++);
		if (to != NONE && !ways[to])
			stack[depth++] = to;
	}
}

/* Commands */

/* The slot that @w writes an integer to, or NONE. */
static u32 written(u32 w)
{
	const struct hipec_op *op = &hipec_ops[hipec_word_op(w)];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(op->kind); i++)
		if (op->kind[i] == HIPEC_KIND_INT_W)
			return (u8)(w >> (16 - 8 * i));
	return NONE;
}

/* Whether @w may change the variable @slot. */
static bool writes(const struct graph *g, u32 w, u8 slot)
{
	if (hipec_word_op(w) == HIPEC_OP_CALL)
		return g->costs[hipec_word_a(w)].writes[slot];
	return written(w) == slot;
}

static bool constant(const struct graph *g, u8 slot, s64 *value)
{
	const struct hipec_image_operand *o = &g->p->operand[slot];

	if (slot >= g->p->image->nr_operands || o->type != HIPEC_TYPE_INT ||
	    o->flags != HIPEC_OPERAND_CONST)
		return false;
	*value = o->value;
	return true;
}

static u64 weight(const struct graph *g, u32 at)
{
	u32 w = g->word[at];
	u64 sum = 1;

	add(&sum, g->extra[at]);
	if (hipec_word_op(w) == HIPEC_OP_CALL)
		add(&sum, g->costs[hipec_word_a(w)].commands);
	return sum;
}

/* Measure the longest ways to the ends, inside the loop only if there is one. */
static void measure(struct graph *g, bool inside)
{
	u32 i, j, at, to;
	u64 best;

	for (i = 0; i < g->nr_order; i++) {
		at = g->order[i];
		g->longest[at] = 0;
		if (inside && !is_inside(g, at))
			continue;
		best = 0;
		for (j = 0; j < 2; j++) {
			to = way(g, at, j);
			if (to == NONE || is_backward(g, at, to) ||
			    (inside && !is_inside(g, to)))
				continue;
			if (g->longest[to] > best)
				best = g->longest[to];
		}
		if (!best && !g->is_end[at])
			continue;
		add(&best, weight(g, at));
		g->longest[at] = best;
	}
}

/* Loops */

/* Find the loop that starts at @head; false if there is none. */
static bool mark_tails(struct graph *g, u32 head)
{
	u32 i, j, at;
	bool found = false;

	g->nr_loops++;
	g->loop[head] = g->nr_loops;
	for (i = 0; i < g->nr_order; i++) {
		at = g->order[i];
		g->is_end[at] = false;
		for (j = 0; j < 2; j++) {
			if (way(g, at, j) != head || !is_backward(g, at, head))
				continue;
			g->is_end[at] = true;
			g->loop[at] = g->nr_loops;
			found = true;
		}
	}
	return found;
}

/* Mark what leads to its tails; whether it is entered at @head alone. */
static bool mark_loop(struct graph *g, u32 head)
{
	bool again;
	u32 i, j, at, to;

	do {
		again = false;
		for (i = 0; i < g->nr_order; i++) {
			at = g->order[i];
			for (j = 0; j < 2 && !is_inside(g, at); j++) {
				to = way(g, at, j);
				if (to == NONE || to == head ||
				    !is_inside(g, to))
					continue;
				g->loop[at] = g->nr_loops;
				again = true;
			}
		}
	} while (again);
	/* Whatever is entered from outside is reached from command 1. */
	return head == 1 || !is_inside(g, 1);
}

/* The one command outside the loop that leads to @at, or NONE. */
static u32 only_before(const struct graph *g, u32 at)
{
	u32 i, j, found = NONE;

	if (at == 1)
		return NONE;
	for (i = 0; i < g->nr_order; i++) {
		for (j = 0; j < 2; j++) {
			if (way(g, g->order[i], j) != at ||
			    is_inside(g, g->order[i]))
				continue;
			if (found != NONE)
				return NONE;
			found = g->order[i];
		}
	}
	return found;
}

/* The constant that @slot is set to on the only way to the loop. */
static bool start_value(const struct graph *g, u32 head, u8 slot, s64 *value)
{
	u32 at = only_before(g, head);

	while (at != NONE && !writes(g, g->word[at], slot))
		at = only_before(g, at);
	return at != NONE && hipec_word_op(g->word[at]) == HIPEC_OP_ARITH &&
	       hipec_word_c(g->word[at]) == HIPEC_ARITH_SET &&
	       constant(g, hipec_word_b(g->word[at]), value);
}

/* What @w adds to the variable that it changes. */
static bool step_value(const struct graph *g, u32 w, s64 *value)
{
	if (hipec_word_op(w) != HIPEC_OP_ARITH)
		return false;
	*value = hipec_word_c(w) == HIPEC_ARITH_INC ? 1 : -1;
	switch (hipec_word_c(w)) {
	case HIPEC_ARITH_INC:
	case HIPEC_ARITH_DEC:
		return true;
	case HIPEC_ARITH_ADD:
		return constant(g, hipec_word_b(w), value);
	case HIPEC_ARITH_SUB:
		return constant(g, hipec_word_b(w), value) &&
		       !__builtin_sub_overflow(0, *value, value);
	default:
		return false;
	}
}

/* The command that changes @slot, once in every round; or NONE. */
static u32 only_change(struct graph *g, u32 head, u8 slot)
{
	u32 i, at, found = NONE;
	bool is_end;

	for (i = 0; i < g->nr_order; i++) {
		at = g->order[i];
		if (!is_inside(g, at) || !writes(g, g->word[at], slot))
			continue;
		if (found != NONE || g->is_inner[at])
			return NONE;
		found = at;
	}
	if (found == NONE)
		return NONE;
	/* Without it there must be no way round. */
	is_end = g->is_end[found];
	g->is_end[found] = false;
	g->loop[found] = 0;
	measure(g, true);
	g->is_end[found] = is_end;
	g->loop[found] = g->nr_loops;
	return g->longest[head] ? NONE : found;
}

static u8 opposite(u8 code)
{
	static const u8 codes[] = {
		[HIPEC_COMP_LT] = HIPEC_COMP_GE, [HIPEC_COMP_GE] = HIPEC_COMP_LT,
		[HIPEC_COMP_GT] = HIPEC_COMP_LE, [HIPEC_COMP_LE] = HIPEC_COMP_GT,
		[HIPEC_COMP_EQ] = HIPEC_COMP_NE, [HIPEC_COMP_NE] = HIPEC_COMP_EQ,
	};

	return codes[code];
}

static u8 swapped(u8 code)
{
	static const u8 codes[] = {
		[HIPEC_COMP_LT] = HIPEC_COMP_GT, [HIPEC_COMP_GE] = HIPEC_COMP_LE,
		[HIPEC_COMP_GT] = HIPEC_COMP_LT, [HIPEC_COMP_LE] = HIPEC_COMP_GE,
		[HIPEC_COMP_EQ] = HIPEC_COMP_EQ, [HIPEC_COMP_NE] = HIPEC_COMP_NE,
	};

	return codes[code];
}

/* How often `i code @end` holds for i = @i, i + @step and so on. */
static bool count_rounds(u8 code, s64 i, s64 end, s64 step, u64 *rounds)
{
	__int128 left = (__int128)end - i, by = step, n;

	if (code == HIPEC_COMP_EQ) {
		*rounds = !left;
		return step;
	}
	if (code == HIPEC_COMP_NE) {
		if (!left || !by || left % by || left / by < 0)
			*rounds = 0;
		else
			*rounds = left / by;
		return !left || *rounds;
	}
	if (code == HIPEC_COMP_GT || code == HIPEC_COMP_GE) {
		left = -left;
		by = -by;
	}
	left += code == HIPEC_COMP_LE || code == HIPEC_COMP_GE;
	n = left <= 0 ? 0 : by <= 0 ? -1 : (left + by - 1) / by;
	*rounds = n;
	/* Behind the last integer comes the first. */
	return n >= 0 && i + n * step == (s64)(i + n * step);
}

/* How often the marked loop goes round; false if that is not known. */
static bool loop_rounds(struct graph *g, u32 head, u64 *rounds)
{
	u32 test = g->word[head], jump = g->word[head + 1], change;
	u8 slot = hipec_word_a(test), code = hipec_word_c(test);
	s64 start, end, step;
	bool leaves;

	if (hipec_word_op(test) != HIPEC_OP_COMP || !is_jump(jump) ||
	    hipec_word_a(jump) == HIPEC_COND_ALWAYS || !is_inside(g, head + 1))
		return false;
	if (!constant(g, hipec_word_b(test), &end)) {
		if (!constant(g, slot, &end))
			return false;
		slot = hipec_word_b(test);
		code = swapped(code);
	}
	leaves = !is_inside(g, hipec_word_target(jump));
	if (leaves == !is_inside(g, head + 2))
		return false;
	if (leaves == (hipec_word_a(jump) == HIPEC_COND_IF))
		code = opposite(code);
	change = only_change(g, head, slot);
	return change != NONE && step_value(g, g->word[change], &step) &&
	       start_value(g, head, slot, &start) &&
	       count_rounds(code, start, end, step, rounds);
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
static u32 loop_line(const struct graph *g, u32 head)
{
	const struct ampc_event *ev;
	u32 i, line = g->line[head], found;

	for (i = 0; i < g->nr_order; i++)
		if (g->is_end[g->order[i]] && g->line[g->order[i]] < line)
			line = g->line[g->order[i]];
	for (ev = g->c->events; ev; ev = ev->next) {
		found = statement_line(ev->body, line);
		if (found)
			return found;
	}
	return line;
}

static void count_loop(struct graph *g, u32 head)
{
	bool is_one = mark_loop(g, head);
	u32 i, line = loop_line(g, head);
	u64 rounds, all;

	if (!is_one || !loop_rounds(g, head, &rounds)) {
		if (!g->cost->loop || line < g->cost->loop)
			g->cost->loop = line;
		return;
	}
	measure(g, true);
	if (__builtin_mul_overflow(g->longest[head], rounds, &all))
		all = UINT64_MAX;
	g->extra[head] = all;
	for (i = 0; i < g->nr_order; i++)
		if (is_inside(g, g->order[i]))
			g->is_inner[g->order[i]] = true;
}

/* Events */

static void count_event(struct ampc *c, const struct hipec_policy *p,
			struct cost *costs, u32 number);

/* What the events that this one calls cost, and write. */
static void count_calls(struct graph *g)
{
	u32 i, slot;

	for (i = 1; i < g->nr; i++) {
		u32 w = g->word[i];
		const struct cost *to;

		if (written(w) != NONE)
			g->cost->writes[written(w)] = true;
		if (hipec_word_op(w) != HIPEC_OP_CALL)
			continue;
		count_event(g->c, g->p, g->costs, hipec_word_a(w));
		to = &g->costs[hipec_word_a(w)];
		for (slot = 0; slot < HIPEC_NR_SLOTS; slot++)
			g->cost->writes[slot] |= to->writes[slot];
		if (to->loop && !g->cost->via) {
			g->cost->via = to->via;
			g->cost->loop = to->loop;
		}
	}
}

static void count_event(struct ampc *c, const struct hipec_policy *p,
			struct cost *costs, u32 number)
{
	const struct hipec_image_event *ev = &p->event[p->index[number] - 1];
	const size_t size = ev->nr * sizeof(u32);
	struct graph g = {
		.c = c, .p = p, .costs = costs, .cost = &costs[number],
		.word = p->words + ev->first, .line = p->lines + ev->first,
		.nr = ev->nr,
		.order = ampc_alloc(c, size), .place = ampc_alloc(c, size),
		.loop = ampc_alloc(c, size),
		.extra = ampc_alloc(c, 2 * size),
		.longest = ampc_alloc(c, 2 * size),
		.is_end = ampc_alloc(c, ev->nr), .is_inner = ampc_alloc(c, ev->nr),
	};
	u32 i;

	if (g.cost->is_done)
		return;
	g.cost->is_done = true;
	count_calls(&g);
	if (g.cost->loop)
		return;
	put_in_order(&g, ampc_alloc(c, size), ampc_alloc(c, ev->nr));
	/* Loops inside others start behind them, so they come first. */
	for (i = 0; i < g.nr_order; i++)
		if (mark_tails(&g, g.order[i]))
			count_loop(&g, g.order[i]);
	for (i = 0; i < g.nr_order; i++)
		g.is_end[g.order[i]] = is_stop(g.word[g.order[i]]);
	measure(&g, false);
	g.cost->commands = g.longest[1];
	if (g.cost->loop)
		g.cost->via = hipec_policy_name(p, ev->name);
}

/**
 * ampc_cost() - print how many commands each event runs at most
 * @c:   compilation
 * @p:   its image, parsed and verified
 * @out: where to
 */
void ampc_cost(struct ampc *c, const struct hipec_policy *p, FILE *out)
{
	struct cost *costs = ampc_alloc(c, HIPEC_NR_EVENTS * sizeof(*costs));
	u32 i;

	fprintf(out, "%-16s  commands at most\n", "event");
	for (i = 0; i < p->image->nr_events; i++) {
		const char *name = hipec_policy_name(p, p->event[i].name);
		const struct cost *cost = &costs[p->event[i].number];

		count_event(c, p, costs, p->event[i].number);
		if (!cost->loop)
			fprintf(out, "%-16s  %llu\n", name,
				(unsigned long long)cost->commands);
		else if (strcmp(cost->via, name))
			fprintf(out, "%-16s  no bound: the loop in line %u, in %s\n",
				name, cost->loop, cost->via);
		else
			fprintf(out, "%-16s  no bound: the loop in line %u\n",
				name, cost->loop);
	}
}
