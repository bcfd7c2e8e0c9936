// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often a loop goes round at most. It is counted when
 *  - every round passes a test of a variable that may leave the loop, or of a
 *    copy that the round took of it before,
 *  - the test is against a constant, a parameter that no event writes, or any
 *    other integer that none writes,
 *  - the variable was set to such a value right before the loop,
 *  - one command in it changes the variable, by a constant, in every round.
 * One of the two values may be a parameter: then so is the number of rounds. Of
 * several such tests, any that holds without a parameter is taken, else the first.
 *
 * Interface:
 * cost_loop_rounds()  how often the loop that is marked goes round
 */
#include "cost.h"

/* What does not change: a number, or a parameter. */
struct value {
	u32 slot;		/* of the parameter, or 0 */
	s64 number;		/* as declared */
};

/* A loop that counts: stays while `variable code end`. */
struct counter {
	u8 code;
	struct value start, end;
	s64 step;
	s64 shift;		/* of the first value that is tested, from start */
};

/* Whether @w may change the variable @slot. */
static bool writes(const struct cost_graph *g, u32 w, u8 slot)
{
	if (hipec_word_op(w) == HIPEC_OP_CALL)
		return g->all->cost[hipec_word_a(w)].writes[slot];
	return cost_written(w) == slot;
}

static bool fixed_value(const struct cost_graph *g, u8 slot,
			struct value *value)
{
	const struct hipec_policy *p = g->all->p;
	const struct hipec_image_operand *o = &p->operand[slot];

	if (slot < HIPEC_SLOT_POLICY || slot >= p->image->nr_operands ||
	    o->type != HIPEC_TYPE_INT || g->all->writes[slot])
		return false;
	value->slot = o->flags & HIPEC_OPERAND_PARAM ? slot : 0;
	value->number = o->value;
	return true;
}

/* Whether there is no way round without command @at. */
static bool is_in_every_round(struct cost_graph *g, u32 head, u32 at)
{
	bool is_end = g->is_end[at];

	g->is_end[at] = false;
	g->loop[at] = 0;
	cost_measure(g, true);
	g->is_end[at] = is_end;
	g->loop[at] = g->nr_loops;
	return !g->longest[head].of[0];
}

/* Whether a round comes to @to behind @at; both are in every round. */
static bool is_before(const struct cost_graph *g, u32 at, u32 to)
{
	/* In the order, each is behind those it leads to. */
	return g->place[at] > g->place[to];
}

/* The command that changes @slot, once in every round; or COST_NONE. */
static u32 only_change(struct cost_graph *g, u32 head, u8 slot)
{
	u32 i, at, found = COST_NONE;

	for (i = 0; i < g->nr_members; i++) {
		at = g->member[i];
		if (!writes(g, g->word[at], slot))
			continue;
		if (found != COST_NONE || g->is_inner[at])
			return COST_NONE;
		found = at;
	}
	if (found == COST_NONE || !is_in_every_round(g, head, found))
		return COST_NONE;
	return found;
}

/* The one command outside the loop that leads to @at, or COST_NONE. */
static u32 only_before(const struct cost_graph *g, u32 at)
{
	u32 i, j, found = COST_NONE;

	if (at == 1)
		return COST_NONE;
	for (i = 0; i < g->nr_order; i++) {
		for (j = 0; j < 2; j++) {
			if (cost_way(g, g->order[i], j) != at ||
			    cost_is_inside(g, g->order[i]))
				continue;
			if (found != COST_NONE)
				return COST_NONE;
			found = g->order[i];
		}
	}
	return found;
}

static bool is_copy(u32 w)
{
	return hipec_word_op(w) == HIPEC_OP_ARITH &&
	       hipec_word_c(w) == HIPEC_ARITH_SET;
}

/* What @slot is set to on the only way to the loop. */
static bool start_value(const struct cost_graph *g, u32 head, u8 slot,
			struct value *value)
{
	u32 at = only_before(g, head);

	while (at != COST_NONE && !writes(g, g->word[at], slot))
		at = only_before(g, at);
	return at != COST_NONE && is_copy(g->word[at]) &&
	       fixed_value(g, hipec_word_b(g->word[at]), value);
}

/* What @w adds to the variable that it changes. */
static bool step_value(const struct cost_graph *g, u32 w, s64 *step)
{
	struct value value;

	if (hipec_word_op(w) != HIPEC_OP_ARITH)
		return false;
	*step = hipec_word_c(w) == HIPEC_ARITH_INC ? 1 : -1;
	switch (hipec_word_c(w)) {
	case HIPEC_ARITH_INC:
	case HIPEC_ARITH_DEC:
		return true;
	case HIPEC_ARITH_ADD:
	case HIPEC_ARITH_SUB:
		if (!fixed_value(g, hipec_word_b(w), &value) || value.slot)
			return false;
		*step = value.number;
		return hipec_word_c(w) == HIPEC_ARITH_ADD ||
		       !__builtin_sub_overflow(0, *step, step);
	default:
		return false;
	}
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

/* The same as what it is for any value of the parameter. */
static bool describe(const struct counter *k, struct cost_rounds *r)
{
	const bool is_up = k->step > 0;
	/* What is left at the first test, but for the parameter. */
	__int128 left = (__int128)(k->end.slot ? 0 : k->end.number) -
			(k->start.slot ? 0 : k->start.number) - k->shift;

	r->slot = k->start.slot ? k->start.slot : k->end.slot;
	if (!r->slot)
		return true;
	if (k->step == INT64_MIN)	/* whose opposite there is not */
		return false;
	switch (k->code) {
	case HIPEC_COMP_EQ:
		r->slot = 0;
		r->now = 1;	/* whatever the parameter */
		return true;
	case HIPEC_COMP_NE:
		r->is_exact = true;
		if (k->step != 1 && k->step != -1)
			return false;
		break;
	case HIPEC_COMP_LT:
	case HIPEC_COMP_LE:
		if (!is_up)
			return false;
		break;
	default:
		if (is_up || !k->step)
			return false;
	}
	left = is_up ? left : -left;
	left += k->code == HIPEC_COMP_LE || k->code == HIPEC_COMP_GE;
	r->is_minus = is_up == !!k->start.slot;
	r->step = is_up ? k->step : -k->step;
	r->offset = left;
	/* With room for rounding. */
	return r->step > 0 && left + r->step == (s64)(left + r->step) &&
	       left == (s64)left;
}

/* The variable of the test at @at, and when it is left; false if it is none. */
static bool read_test(const struct cost_graph *g, u32 at, struct counter *k,
		      u8 *slot)
{
	u32 test = g->word[at], jump;
	bool leaves;

	if (hipec_word_op(test) != HIPEC_OP_COMP || !cost_is_inside(g, at + 1))
		return false;
	jump = g->word[at + 1];
	if (!cost_is_jump(jump) || hipec_word_a(jump) == HIPEC_COND_ALWAYS)
		return false;
	leaves = !cost_is_inside(g, hipec_word_target(jump));
	if (leaves == !cost_is_inside(g, at + 2))
		return false;
	*slot = hipec_word_a(test);
	k->code = hipec_word_c(test);
	if (!fixed_value(g, hipec_word_b(test), &k->end)) {
		if (!fixed_value(g, *slot, &k->end))
			return false;
		*slot = hipec_word_b(test);
		k->code = swapped(k->code);
	}
	if (leaves == (hipec_word_a(jump) == HIPEC_COND_IF))
		k->code = opposite(k->code);
	return true;
}

/* How often the loop goes round because of the test at @test. */
static bool test_rounds(struct cost_graph *g, u32 head, u32 test,
			struct cost_rounds *r)
{
	struct counter k = { 0 };
	u32 change, look = test;
	s64 first;
	u8 slot;

	*r = (struct cost_rounds){ 0 };
	if (g->is_inner[test] || !read_test(g, test, &k, &slot) ||
	    !is_in_every_round(g, head, test))
		return false;
	change = only_change(g, head, slot);
	if (change == COST_NONE)
		return false;
	/* A copy, as `while (n--)` tests: it is what was looked at. */
	if (is_copy(g->word[change]) && is_before(g, change, test)) {
		look = change;
		slot = hipec_word_b(g->word[change]);
		change = only_change(g, head, slot);
	}
	if (change == COST_NONE || !step_value(g, g->word[change], &k.step) ||
	    !start_value(g, head, slot, &k.start) ||
	    (k.start.slot && k.end.slot))
		return false;
	if (is_before(g, change, look))
		k.shift = k.step;
	return !__builtin_add_overflow(k.start.number, k.shift, &first) &&
	       count_rounds(k.code, first, k.end.number, k.step, &r->now) &&
	       describe(&k, r);
}

/**
 * cost_loop_rounds() - how often a loop goes round at most
 * @g:      graph, the loop marked
 * @head:   its first command
 * @rounds: gets the number
 *
 * Return: whether that is known.
 */
bool cost_loop_rounds(struct cost_graph *g, u32 head,
		      struct cost_rounds *rounds)
{
	struct cost_rounds r;
	bool found = false;
	u32 i;

	for (i = g->nr_members; i--; ) {
		if (!test_rounds(g, head, g->member[i], &r))
			continue;
		if (!found || (rounds->slot && !r.slot) ||
		    (!rounds->slot && !r.slot && r.now < rounds->now))
			*rounds = r;
		found = true;
	}
	return found;
}
