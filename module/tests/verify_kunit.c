// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/verify.c: what it lets pass is judged again here, byte by byte and
 * graph by graph, by code that works in another way.
 */
#include "kunit_machine.h"

/* One operand of each type that a policy may declare. */
struct slots {
	u8 number, constant, queue, page, field, ints, shared, queues, ref,
	   fixed_page;
};

/* The event that holds the command under test, and one that it may call. */
#define EVENT HIPEC_EVENT_REPLACE
#define CALLEE HIPEC_EVENT_USER

static struct hipec_kit *kit_with_slots(struct kunit *test, struct slots *s)
{
	struct hipec_kit *kit = hipec_kit_new(test);

	s->number = hipec_kit_int(kit, 1);
	s->constant = hipec_kit_const(kit, 1);
	s->queue = hipec_kit_queue(kit);
	s->page = hipec_kit_page(kit);
	s->field = hipec_kit_field(kit);
	s->ints = hipec_kit_array(kit, HIPEC_TYPE_INTS, 3);
	s->shared = hipec_kit_slot(kit, HIPEC_TYPE_INTS, HIPEC_OPERAND_SHARED,
				   3);
	s->queues = hipec_kit_array(kit, HIPEC_TYPE_QUEUES, 3);
	s->ref = hipec_kit_slot(kit, HIPEC_TYPE_QUEUE_REF, 0, s->queues);
	s->fixed_page = hipec_kit_slot(kit, HIPEC_TYPE_PAGE,
				       HIPEC_OPERAND_CONST, 0);
	return kit;
}

/*
 * Whether byte @v may stand where the table says @kind, by the table's prose
 * and what kit_with_slots() declares, in a command whose event has 3 words.
 * 2: this test does not know the kind.
 */
static int may_stand(const struct slots *s, u8 kind, u8 v)
{
	bool is_free = v == HIPEC_SLOT_FREE_QUEUE;
	bool is_system = v >= HIPEC_SLOT_SYSTEM &&
			 v < HIPEC_SLOT_SYSTEM + 8;	/* as many as there are */
	bool is_int = v == HIPEC_SLOT_FREE_COUNT || v == s->number;
	bool is_links = v == s->queue || v == s->ref;

	switch (kind) {
	case HIPEC_KIND_NONE:
		return !v;
	case HIPEC_KIND_INT:
	case HIPEC_KIND_INT_OPT:	/* good_byte() gives a binary selector */
		return is_int || v == s->constant || is_system;
	case HIPEC_KIND_INT_W:
		return is_int;
	case HIPEC_KIND_PAGE:
		return v == s->page || v == s->fixed_page;
	case HIPEC_KIND_PAGE_W:
		return v == s->page;
	case HIPEC_KIND_QUEUE:
		return is_free || is_links;
	case HIPEC_KIND_QUEUE_OUT:
		return is_links;
	case HIPEC_KIND_QUEUE_REF:
		return v == s->ref;
	case HIPEC_KIND_INTS:
		return v == s->ints || v == s->shared;
	case HIPEC_KIND_INTS_W:
	case HIPEC_KIND_SKETCH:
		return v == s->ints;
	case HIPEC_KIND_QUEUES:
		return v == s->queues;
	case HIPEC_KIND_FIELD:
		return v == s->field;
	case HIPEC_KIND_END:
	case HIPEC_KIND_BIT:
	case HIPEC_KIND_ACTION:
		return v == 1 || v == 2;
	case HIPEC_KIND_COMP:
		return v >= 1 && v <= 6;
	case HIPEC_KIND_COND:
		return v <= 2;
	case HIPEC_KIND_TARGET_LO:
		return v == 1 || v == 2;
	case HIPEC_KIND_TARGET:		/* the high byte */
		return !v;
	case HIPEC_KIND_EVENT:
		return v == CALLEE || v == HIPEC_EVENT_PAGEFAULT;
	}
	return 2;
}

/* A byte that does for @kind; of selectors the first, which takes two sides. */
static u8 good_byte(const struct slots *s, u8 kind)
{
	u32 v;

	for (v = 0; v < 256; v++)
		if (may_stand(s, kind, v) == 2 ? !!hipec_vm_selector(kind, v) :
						 may_stand(s, kind, v))
			return v;
	return 0;
}

/* Verify one command, behind which the event returns. */
static int check_word(struct kunit *test, const u8 byte[4], u32 *kind,
		      u32 *operand)
{
	struct slots s;
	struct hipec_kit *kit = kit_with_slots(test, &s);
	int ret;

	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, byte[0], byte[1], byte[2], byte[3]);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_return_only(kit, CALLEE);
	ret = hipec_kit_check(kit);
	*kind = kit->error.kind;
	*operand = kit->error.operand;
	if (ret) {
		KUNIT_EXPECT_EQ(test, kit->error.event, EVENT);
		KUNIT_EXPECT_EQ(test, kit->error.command, 1);
	}
	return ret;
}

/* Bytes at which some kind says yes and the next no. */
static const u8 borders[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 63, 64, 128, 0xef,
	0xf0, 0xf7, 0xf8, 0xff,
};

/* Every operand of every command takes what its kind says, and no more. */
static void each_operand_takes_its_kind_only(struct kunit *test)
{
	u32 op, i, j, known = 0;
	struct slots s;

	kit_with_slots(test, &s);
	for (op = 0; op < 256; op++) {
		const struct hipec_op *row = &hipec_ops[op];

		for (i = 0; row->word && i < 3; i++) {
			for (j = 0; j < ARRAY_SIZE(borders); j++) {
				u8 byte[4] = {
					op, good_byte(&s, row->kind[0]),
					good_byte(&s, row->kind[1]),
					good_byte(&s, row->kind[2]),
				};
				int want = may_stand(&s, row->kind[i],
						     borders[j]);
				u32 kind, operand;
				bool ok;

				byte[i + 1] = borders[j];
				if (want == 2)	/* Arith's and Logic's */
					continue;
				known++;
				ok = !check_word(test, byte, &kind, &operand);
				KUNIT_EXPECT_EQ_MSG(test, ok, want,
						    "%s operand %u is %u",
						    row->word, i + 1,
						    borders[j]);
			}
		}
	}
	KUNIT_EXPECT_GT(test, known, 20 * 3 * ARRAY_SIZE(borders) / 2);
}

/* Operators that are no row of the table are named with their place. */
static void unknown_operators_are_refused(struct kunit *test)
{
	u32 op, kind, operand;

	for (op = 0; op < 256; op++) {
		u8 byte[4] = { op };

		if (hipec_ops[op].word)
			continue;
		KUNIT_EXPECT_EQ(test, check_word(test, byte, &kind, &operand),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, kind, HIPEC_VERIFY_OPCODE);
		KUNIT_EXPECT_EQ(test, operand, 0);
	}
}

/* Only what stops, or jumps always, may be the last command of an event. */
static void no_event_falls_off_its_end(struct kunit *test)
{
	u32 op;

	for (op = 0; op < 256; op++) {
		const struct hipec_op *row = &hipec_ops[op];
		struct slots s;
		struct hipec_kit *kit;
		int want;

		if (!row->word)
			continue;
		kit = kit_with_slots(test, &s);
		hipec_kit_event(kit, EVENT);
		hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
		hipec_kit_op(kit, op, good_byte(&s, row->kind[0]),
			     good_byte(&s, row->kind[1]),
			     good_byte(&s, row->kind[2]));
		hipec_kit_return_only(kit, CALLEE);
		/* good_byte() makes a Jump one that jumps always. */
		want = op == HIPEC_OP_RETURN || op == HIPEC_OP_JUMP ? 0 :
								      -EINVAL;
		KUNIT_EXPECT_EQ_MSG(test, hipec_kit_check(kit), want, "%s",
				    row->word);
		if (!want)
			continue;
		KUNIT_EXPECT_EQ(test, kit->error.kind, HIPEC_VERIFY_FALL);
		KUNIT_EXPECT_EQ(test, kit->error.command, 2);
	}
}

/* The magic word, the first command, the last, one beyond: of any length. */
static void jumps_stay_inside_their_event(struct kunit *test)
{
	static const u32 lengths[] = { 2, 3, 255, 256, 257, 900 };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		u32 nr = lengths[i];	/* words, the magic included */
		const u32 target[] = { 0, 1, nr - 1, nr, nr + 1, 0xffff };

		for (j = 0; j < ARRAY_SIZE(target); j++) {
			struct hipec_kit *kit = hipec_kit_new(test);
			bool want = target[j] >= 1 && target[j] < nr;
			u32 k;

			hipec_kit_event(kit, EVENT);
			for (k = 2; k < nr; k++)
				hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
			hipec_kit_jump(kit, HIPEC_COND_ALWAYS, target[j]);
			KUNIT_EXPECT_EQ_MSG(test, !hipec_kit_check(kit), want,
					    "%u words, target %u", nr,
					    target[j]);
			if (want)
				continue;
			KUNIT_EXPECT_EQ(test, kit->error.kind,
					HIPEC_VERIFY_TARGET);
			KUNIT_EXPECT_EQ(test, kit->error.got, target[j]);
		}
	}
}

/* A graph of calls between events; bit j of edge[i]: i calls j. */
#define NR_NODES 14

struct graph {
	u32 edge[NR_NODES];
	u8 event[NR_NODES];	/* number of each */
};

/*
 * The longest path of calls from @i, by walking all of them; a path that is
 * longer than there are nodes goes round in a circle.
 */
static u32 longest_from(const struct graph *g, u32 i, u32 deep)
{
	u32 j, most = 0;

	if (deep > NR_NODES)
		return deep;
	for (j = 0; j < NR_NODES; j++)
		if (g->edge[i] >> j & 1) {
			u32 n = 1 + longest_from(g, j, deep + 1);

			if (n > NR_NODES)
				return n;
			most = n > most ? n : most;
		}
	return most;
}

static struct hipec_kit *kit_of_graph(struct kunit *test, const struct graph *g)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u32 i, j;

	for (i = 0; i < NR_NODES; i++) {
		hipec_kit_event(kit, g->event[i]);
		for (j = 0; j < NR_NODES; j++)
			if (g->edge[i] >> j & 1)
				hipec_kit_op(kit, HIPEC_OP_CALL, g->event[j],
					     0, 0);
		hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	}
	return kit;
}

/* Event numbers in random order; PageFault and Replace are among them. */
static void shuffle_events(struct graph *g, u32 *seed)
{
	u32 i;

	for (i = 0; i < NR_NODES; i++)
		g->event[i] = i < 2 ? HIPEC_EVENT_PAGEFAULT + i :
				      HIPEC_EVENT_USER + 3 * i;
	for (i = NR_NODES - 1; i; i--) {
		u32 j = hipec_kit_random(seed, i + 1);
		u8 swap = g->event[i];

		g->event[i] = g->event[j];
		g->event[j] = swap;
	}
}

/* Cycles and depths are those that walking all paths finds. */
static void random_call_graphs_are_judged_as_a_walk_judges_them(struct kunit *test)
{
	u32 seed = 20261, round, i, j, verdict[3] = { 0 };

	for (round = 0; round < 150; round++) {
		u32 some = 1 + hipec_kit_random(&seed, 6), longest = 0, kind;
		bool cycles = hipec_kit_random(&seed, 4) == 0;
		struct graph g = { 0 };
		struct hipec_kit *kit;

		shuffle_events(&g, &seed);
		for (i = 0; i < NR_NODES; i++)
			for (j = cycles ? 0 : i + 1; j < NR_NODES; j++)
				if (!hipec_kit_random(&seed, some))
					g.edge[i] |= 1u << j;
		for (i = 0; i < NR_NODES; i++) {
			u32 n = longest_from(&g, i, 0);

			longest = n > longest ? n : longest;
		}
		kit = kit_of_graph(test, &g);
		kind = hipec_kit_check(kit) ? kit->error.kind : HIPEC_VERIFY_OK;
		if (longest > NR_NODES)
			KUNIT_EXPECT_EQ(test, kind, HIPEC_VERIFY_CALL_CYCLE);
		else if (longest > HIPEC_MAX_CALL_DEPTH)
			KUNIT_EXPECT_EQ(test, kind, HIPEC_VERIFY_CALL_DEPTH);
		else
			KUNIT_EXPECT_EQ(test, kind, HIPEC_VERIFY_OK);
		verdict[longest > NR_NODES ? 0 : longest > HIPEC_MAX_CALL_DEPTH ?
			1 : 2]++;
	}
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_GT(test, verdict[i], 10);
}

/* The refusal names a command that is a Call, and a part of the cycle. */
static void a_cycle_is_reported_at_one_of_its_calls(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0);
	u32 call;

	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, HIPEC_OP_CALL, 20, 0, 0);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, 20);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	call = hipec_kit_op(kit, HIPEC_OP_CALL, 20, 0, 0);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), -EINVAL);
	KUNIT_EXPECT_EQ(test, kit->error.kind, HIPEC_VERIFY_CALL_CYCLE);
	KUNIT_EXPECT_EQ(test, kit->error.event, 20);
	KUNIT_EXPECT_EQ(test, kit->error.command, call);
	KUNIT_EXPECT_EQ(test, kit->error.operand, 1);
	KUNIT_EXPECT_EQ(test, kit->error.got, 20);
}

/* Refuse @kit's policy and explain it into every size of buffer. */
static void expect_explained(struct hipec_kit *kit, const char *word)
{
	struct kunit *test = kit->test;
	static char text[256], part[256];
	struct hipec_text out;
	u32 size, i;

	KUNIT_EXPECT_EQ_MSG(test, hipec_kit_check(kit), -EINVAL, "%s", word);
	hipec_text_init(&out, text, sizeof(text));
	hipec_verify_explain(&kit->policy, &kit->error, &out);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(text, word), "'%s' in '%s'", word,
			      text);
	for (size = 0; size <= out.len + 1; size++) {
		struct hipec_text cut;

		memset(part, 'x', sizeof(part));
		hipec_text_init(&cut, part, size);
		hipec_verify_explain(&kit->policy, &kit->error, &cut);
		for (i = 0; i + 1 < size; i++)
			KUNIT_EXPECT_EQ(test, part[i], text[i]);
		if (size)
			KUNIT_EXPECT_EQ(test, part[size - 1], 0);
		KUNIT_EXPECT_EQ(test, part[size], 'x');
	}
}

/* A sentence for each kind of refusal, cut to fit, that ends with a zero. */
static void each_refusal_is_explained(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	struct slots s;

	hipec_kit_image(kit)->flags = 1;
	expect_explained(kit, "header");

	kit = hipec_kit_new(test);
	hipec_kit_slot(kit, 99, 0, 0);
	expect_explained(kit, "(number 2)");

	kit = kit_with_slots(test, &s);
	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, 0xee, 0, 0, 0);
	expect_explained(kit, "event+1: there is no such command: 238");

	kit = kit_with_slots(test, &s);
	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, HIPEC_OP_EMPTYQ, s.page, 0, 0);
	expect_explained(kit, "EmptyQ operand a: slot 5 is page '#5', want a queue");

	kit = kit_with_slots(test, &s);
	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, HIPEC_OP_REF, 200, 0, 0);
	expect_explained(kit, "slot 200 does not exist, want a page");

	kit = kit_with_slots(test, &s);
	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, HIPEC_OP_CALL, 63, 0, 0);
	expect_explained(kit, "event 63 does not exist");

	kit = kit_with_slots(test, &s);
	hipec_kit_event(kit, EVENT);
	hipec_kit_op(kit, HIPEC_OP_DEQUEUE, s.page, s.queue, 3);
	expect_explained(kit, "got 3, want HEAD or TAIL");

	kit = kit_with_slots(test, &s);
	hipec_kit_event(kit, EVENT);
	hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 700);
	expect_explained(kit, "the jump leaves its event: 700");
}

static struct kunit_case verify_cases[] = {
	KUNIT_CASE(each_operand_takes_its_kind_only),
	KUNIT_CASE(unknown_operators_are_refused),
	KUNIT_CASE(no_event_falls_off_its_end),
	KUNIT_CASE(jumps_stay_inside_their_event),
	KUNIT_CASE(random_call_graphs_are_judged_as_a_walk_judges_them),
	KUNIT_CASE(a_cycle_is_reported_at_one_of_its_calls),
	KUNIT_CASE(each_refusal_is_explained),
	{ }
};

static struct kunit_suite verify_suite = {
	.name = "hipec_verify",
	.test_cases = verify_cases,
};

kunit_test_suites(&verify_suite);
