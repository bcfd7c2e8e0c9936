// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/league.c and candidate.c: which policy is to run, and what it takes over. The
 * container is a team itself, of the built-in replacement.
 */
#include "../core/league.h"
#include "../vm/bucket.h"
#include "kunit_machine.h"

struct world {
	struct hipec_league league;
	struct hipec_candidate container;
	struct hipec_policy builtin;
};

/* What came in last goes first. */
static const struct hipec_policy *newest_first(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit), queue = hipec_kit_queue(kit);

	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, queue, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_DEQUEUE, page, queue, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, HIPEC_SLOT_FREE_QUEUE, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_image(kit);
	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	return &kit->policy;
}

static void *zeros(struct kunit *test, size_t bytes)
{
	void *p = kunit_kzalloc(test, bytes, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/* The built-in replacement runs; beside it is a team of it, and one of @p. */
static struct world *world(struct kunit *test, const struct hipec_policy *p, u32 frames)
{
	struct world *w = zeros(test, sizeof(*w));

	hipec_fifo2_policy(&w->builtin);
	hipec_candidate_start(&w->container, NULL, &w->builtin,
			      zeros(test, hipec_candidate_bytes(&w->builtin, frames)), NULL,
			      frames, frames, 0);
	hipec_league_init(&w->league, frames, 1997);
	hipec_league_add(&w->league, &w->builtin,
			 zeros(test, hipec_league_bytes(&w->builtin, frames,
							HIPEC_LEAGUE_WHOLE)), NULL);
	hipec_league_add(&w->league, p, zeros(test, hipec_league_bytes(p, frames,
								       HIPEC_LEAGUE_WHOLE)),
			 NULL);
	return w;
}

/* Whether the container missed. */
static bool touch(struct world *w, u32 pgno)
{
	u32 live = w->container.core.vm.nr_live;
	bool missed = hipec_candidate_simulate(&w->container, pgno, false);

	if (missed) {
		hipec_sampling_added(&w->league.sample, pgno);
		/* Which page left does not matter to the count. */
		if (w->container.core.vm.nr_live == live)
			hipec_sampling_removed(&w->league.sample, pgno);
	}
	hipec_league_access(&w->league, pgno, false, missed);
	return missed;
}

/* Touch @pages over and over until another team is to run. Return: accesses. */
static u32 until_next(struct world *w, u32 pages, u32 most)
{
	u32 i;

	for (i = 0; i < most && w->league.next == w->league.runs; i++)
		touch(w, i % pages);
	return i;
}

/* In a loop over more pages than frames, what was touched last is to go. */
static void a_loop_is_newest_first_s_in_its_second_sweep(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	u32 n = until_next(w, 400, 4000);

	KUNIT_EXPECT_GT(test, n, 400);
	KUNIT_EXPECT_LE(test, n, 800);
	KUNIT_EXPECT_EQ(test, w->league.next, 1);
	KUNIT_EXPECT_FALSE(test, w->league.adopt);
	KUNIT_EXPECT_EQ(test, w->league.sample.shift, 0);
	KUNIT_EXPECT_EQ(test, w->league.team[0].misses, n);
	hipec_league_switched(&w->league);
	KUNIT_EXPECT_EQ(test, w->league.runs, 1);
	KUNIT_EXPECT_EQ(test, w->league.switches, 1);
}

/* The team then holds what the container holds, and can go on. */
static void a_team_takes_over_the_pages_that_are_there(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	struct hipec_candidate *t;
	u32 pgno, h, other;

	until_next(w, 400, 4000);
	t = hipec_league_source(&w->league);
	KUNIT_ASSERT_TRUE(test, t == &w->league.team[1]);
	KUNIT_EXPECT_GT(test, hipec_candidate_lacks(t, &w->container.core.vm), 0);
	KUNIT_EXPECT_EQ(test, hipec_candidate_take_over(t, &w->container.core), 0);
	KUNIT_EXPECT_EQ(test, hipec_candidate_lacks(t, &w->container.core.vm), 0);
	KUNIT_EXPECT_EQ(test, t->core.vm.nr_live, w->container.core.vm.nr_live);
	KUNIT_EXPECT_LE(test, t->core.vm.nr_live, t->core.nr_frames);
	for (pgno = 0; pgno < 400; pgno++) {
		h = hipec_page_find(&t->core.vm, pgno);
		other = hipec_page_find(&w->container.core.vm, pgno);
		KUNIT_EXPECT_EQ(test, !h, !other);
	}
	/* What the policy did not know goes first: it is on no queue of it. */
	KUNIT_EXPECT_GT(test, t->core.vm.queue[HIPEC_QUEUE_FALLBACK].count, 0);
	for (pgno = 1000; pgno < 1400; pgno++)
		KUNIT_EXPECT_TRUE(test, hipec_candidate_simulate(t, pgno, false));
	KUNIT_EXPECT_EQ(test, t->core.vm.queue[HIPEC_QUEUE_FALLBACK].count, 0);
	KUNIT_EXPECT_EQ(test, t->core.vm.exit.kind, 0);
}

/*
 * The container holds a page more than the team has entries, as where one is dirty that was
 * to go: the team does not take over, and is what it was.
 */
static void a_team_without_entries_does_not_take_over(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	struct hipec_candidate *t = &w->league.team[1];
	struct hipec_candidate *held = zeros(test, sizeof(*held));
	u32 pgno, lacks;

	for (pgno = 0; pgno < 200; pgno++)
		hipec_candidate_simulate(t, pgno, false);
	hipec_candidate_start(held, NULL, &w->builtin,
			      zeros(test, hipec_candidate_bytes(&w->builtin, 301)), NULL,
			      301, 301, 0);
	for (pgno = 100; pgno < 401; pgno++)
		hipec_candidate_simulate(held, pgno, false);
	lacks = hipec_candidate_lacks(held, &t->core.vm);
	KUNIT_EXPECT_EQ(test, hipec_candidate_take_over(t, &held->core), -ENOSPC);
	KUNIT_EXPECT_EQ(test, hipec_candidate_lacks(held, &t->core.vm), lacks);
	KUNIT_EXPECT_EQ(test, t->core.vm.nr_live, 200);
	KUNIT_EXPECT_EQ(test, t->core.vm.page[0].flags, 0);
	KUNIT_EXPECT_EQ(test, t->core.vm.exit.kind, 0);
	for (; pgno < 1000; pgno++)
		KUNIT_EXPECT_TRUE(test, hipec_candidate_simulate(t, pgno, false));
	KUNIT_EXPECT_EQ(test, t->core.vm.nr_live, 300);
}

/* A queue that says more pages than it has is not read for ever. */
static void the_built_in_choice_ends_with_its_queue(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	struct hipec_vm *vm = &w->container.core.vm;
	u32 pgno;

	for (pgno = 0; pgno < 300; pgno++)
		touch(w, pgno);
	vm->queue[HIPEC_QUEUE_FALLBACK].count += 1000;
	KUNIT_EXPECT_TRUE(test, hipec_candidate_simulate(&w->container, 1000, false));
	KUNIT_EXPECT_EQ(test, vm->nr_live, 300);
	KUNIT_EXPECT_EQ(test, vm->page[0].flags, 0);
}

/*
 * All pages were referenced, and a task that is not the owner's wants one: it looks at so many, and
 * takes the next. What it has passed over is reset, and goes to the end of its queue.
 */
static void others_look_at_a_few_pages(struct kunit *test)
{
	enum { FRAMES = 2000 };
	const struct hipec_policy *p = newest_first(test);
	struct hipec_candidate *t = zeros(test, sizeof(*t));
	u32 pgno, h, reset = 0, gone = 0;

	hipec_candidate_start(t, NULL, p, zeros(test, hipec_candidate_bytes(p, FRAMES)), NULL,
			      FRAMES, FRAMES, 0);
	for (pgno = 0; pgno < FRAMES; pgno++)
		hipec_candidate_simulate(t, pgno, false);
	KUNIT_EXPECT_TRUE(test, hipec_core_evict_soon(&t->core, true, &gone));
	KUNIT_EXPECT_EQ(test, gone, HIPEC_MAX_LOOKS);
	for (h = 1; h <= t->core.vm.reached; h++)
		reset += hipec_page_live(&t->core.vm, h) && !(t->bits[h] & HIPEC_REF_POLICY);
	KUNIT_EXPECT_EQ(test, reset, HIPEC_MAX_LOOKS);
	KUNIT_EXPECT_EQ(test, t->core.vm.nr_live, FRAMES - 1);
}

/* Pages that share a bucket in one team need not in another: both keys come of a salt. */
static void a_salt_makes_a_team_s_key(struct kunit *test)
{
	enum { FRAMES = 16 };
	const struct hipec_policy *p = newest_first(test);
	struct hipec_candidate *t = zeros(test, sizeof(*t));
	u64 key[2];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(key); i++) {
		hipec_candidate_start(t, NULL, p, zeros(test, hipec_candidate_bytes(p, FRAMES)),
				      NULL, FRAMES, FRAMES, 1 + i);
		key[i] = t->core.vm.key;
		KUNIT_EXPECT_EQ(test, key[i] & 1, 1);
		KUNIT_EXPECT_NE(test, key[i], HIPEC_BUCKET_KEY);
	}
	KUNIT_EXPECT_NE(test, key[0], key[1]);
}

/* First in, first out, and what has gone is remembered; beside @nr queues that it does not use. */
static const struct hipec_policy *remembers_all(struct kunit *test, u32 nr)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit), all, gone;

	kit->ghosts = HIPEC_MAX_GHOSTS;
	hipec_kit_array(kit, HIPEC_TYPE_QUEUES, nr);
	all = hipec_kit_queue(kit);
	gone = hipec_kit_queue(kit);
	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, all, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_DEQUEUE, page, all, HIPEC_END_HEAD);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, HIPEC_SLOT_FREE_QUEUE, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, gone, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_image(kit);
	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	return &kit->policy;
}

/* @ghosts, and pages behind them, on @queues queues of @each; no page was referenced. */
static struct hipec_candidate *remembering(struct kunit *test, u32 queues, u32 each, u32 ghosts)
{
	const struct hipec_policy *p = remembers_all(test, queues);
	struct hipec_candidate *t = zeros(test, sizeof(*t));
	u32 frames = queues * each - ghosts, pgno, h;

	hipec_candidate_start(t, NULL, p, zeros(test, hipec_candidate_bytes(p, frames)), NULL,
			      frames, frames, 0);
	for (pgno = 0; pgno < queues * each; pgno++)
		hipec_candidate_simulate(t, pgno, false);
	KUNIT_ASSERT_EQ(test, t->core.vm.nr_ghosts, ghosts);
	for (pgno = 0; pgno < queues * each; pgno++) {
		h = hipec_page_find_named(&t->core.vm, pgno);
		KUNIT_ASSERT_TRUE(test, h);
		t->bits[h] = 0;
		hipec_queue_move(&t->core.vm, HIPEC_QUEUE_POLICY + pgno / each, h, HIPEC_END_TAIL);
	}
	return t;
}

/* Whether a task that is not the owner's finds the page behind ghosts, as the owner's does. */
static bool finds_behind(struct kunit *test, u32 queues, u32 each, u32 ghosts)
{
	struct hipec_candidate *t = remembering(test, queues, each, ghosts);
	u32 gone = 0;
	bool found = hipec_core_evict_soon(&t->core, true, &gone);

	if (!found)
		KUNIT_EXPECT_TRUE(test, hipec_core_evict_any(&t->core, true, &gone));
	KUNIT_EXPECT_EQ(test, gone, ghosts);
	return found;
}

/* 512 entries of a queue, and 16,384 of all. */
static void others_pass_over_a_few_ghosts(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, finds_behind(test, 1, 600, 511));
	KUNIT_EXPECT_FALSE(test, finds_behind(test, 1, 600, 512));
	KUNIT_EXPECT_TRUE(test, finds_behind(test, 36, 512, 31 * 512));
	KUNIT_EXPECT_FALSE(test, finds_behind(test, 36, 512, 32 * 512));
}

/* Whoever has all hits stays; who cannot take over plays no more. */
static void who_has_nothing_to_gain_stays(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);

	KUNIT_EXPECT_EQ(test, until_next(w, 200, 4000), 4000);
	KUNIT_EXPECT_EQ(test, w->league.team[0].misses, 200);
	until_next(w, 400, 4000);
	hipec_league_failed(&w->league);
	KUNIT_EXPECT_EQ(test, w->league.next, 0);
	KUNIT_EXPECT_TRUE(test, w->league.team[1].out);
	KUNIT_EXPECT_EQ(test, until_next(w, 400, 4000), 4000);
}

/* PageFault is a jump to itself; as many ghosts as there may be would mean as much fuel. */
static const struct hipec_policy *endless(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);

	kit->ghosts = HIPEC_MAX_GHOSTS;
	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 1);
	hipec_kit_return_only(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_image(kit);
	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	return &kit->policy;
}

/* 64 commands for each of the frames, and the one that is too many: then never again. */
static void an_endless_rival_runs_once(struct kunit *test)
{
	struct world *w = world(test, endless(test), 300);
	struct hipec_candidate *t = &w->league.team[1];
	u32 i;

	touch(w, 0);
	KUNIT_EXPECT_EQ(test, t->core.vm.nr_commands, 4096 + 64 * 300 + 1);
	KUNIT_EXPECT_EQ(test, t->core.vm.exit.kind, HIPEC_EXIT_FUEL);
	KUNIT_EXPECT_TRUE(test, t->out);
	for (i = 0; i < 1000; i++)
		touch(w, i);
	KUNIT_EXPECT_EQ(test, t->core.vm.nr_commands, 4096 + 64 * 300 + 1);
	KUNIT_EXPECT_EQ(test, t->misses, 1);
	KUNIT_EXPECT_EQ(test, w->league.team[0].misses, 1000);
}

/* Counts the times that others may run; says so many times that the task goes on. */
static u32 nr_pauses, nr_to_go;

static bool count_pauses(struct hipec_core *core)
{
	(void)core;
	return ++nr_pauses > nr_to_go;
}

/* Others may run between teams and in long events; what a dying task reads is not played. */
static void a_task_that_has_to_end_plays_no_more(struct kunit *test)
{
	static const struct hipec_core_ops ops = { .pause = count_pauses };
	struct world *w = world(test, endless(test), 300);
	struct hipec_core *whose = zeros(test, sizeof(*whose));
	struct hipec_candidate *t = &w->league.team[1];

	whose->ops = &ops;
	w->league.whose = t->whose = whose;
	nr_pauses = 0;
	nr_to_go = 5;
	/* Before each team, and after each 1,024 commands, of which the fourth is its last. */
	touch(w, 0);
	KUNIT_EXPECT_EQ(test, nr_pauses, 6);
	KUNIT_EXPECT_LE(test, t->core.vm.nr_commands, 4 * (HIPEC_POLL + 1));
	KUNIT_EXPECT_EQ(test, t->core.vm.exit.kind, 0);
	KUNIT_EXPECT_FALSE(test, t->out);
	touch(w, 1);
	KUNIT_EXPECT_EQ(test, nr_pauses, 7);
	KUNIT_EXPECT_EQ(test, w->league.team[0].misses, 1);
}

/* A container that shares has 200 frames of its 400 now, and so have its teams. */
static void a_team_has_the_frames_that_are_there_now(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 400);
	u32 n;

	w->league.has = 200;
	hipec_candidate_resize(&w->container, 200);
	n = until_next(w, 300, 4000);
	KUNIT_EXPECT_GT(test, n, 300);
	KUNIT_EXPECT_LE(test, n, 600);
	KUNIT_EXPECT_EQ(test, w->league.next, 1);
	KUNIT_EXPECT_EQ(test, w->league.team[0].misses, n);
	KUNIT_EXPECT_EQ(test, w->league.team[1].core.vm.nr_live, 200);
	/* It has them back, and nothing is missed. */
	w->league.has = 400;
	hipec_league_failed(&w->league);
	until_next(w, 300, 600);
	n = w->league.team[0].misses;
	until_next(w, 300, 600);
	KUNIT_EXPECT_EQ(test, w->league.team[0].misses, n);
}

/* Of many frames a sample plays; without hits at stake a policy need not rehearse. */
static void a_sample_finds_a_loop(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 4096);
	u32 n;

	KUNIT_EXPECT_EQ(test, w->league.sample.shift, 2);
	n = until_next(w, 6000, 18000);
	KUNIT_EXPECT_GT(test, n, 6000);
	KUNIT_EXPECT_LE(test, n, 12000);
	KUNIT_EXPECT_TRUE(test, w->league.adopt);
	KUNIT_EXPECT_LT(test, w->league.played, n / 3);
	KUNIT_EXPECT_GT(test, w->league.played, n / 5);
}

/* Where hits are at stake it does, with all frames, until it has missed less. */
static void a_policy_rehearses_where_hits_are_at_stake(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 4096);
	struct hipec_league *l = &w->league;
	u32 i;

	for (i = 0; i < 9000; i++)
		touch(w, i % 6000);
	l->next = l->runs;
	l->wanted = 1;
	hipec_league_warm_up(l, zeros(test, hipec_league_warm_up_bytes(l)), NULL,
			     &w->container.core);
	KUNIT_EXPECT_EQ(test, l->rehearses, 1);
	KUNIT_EXPECT_EQ(test, hipec_candidate_lacks(&l->rehearsal, &w->container.core.vm), 0);
	for (l->next = l->runs; l->rehearses == 1 && (l->next == l->runs || l->adopt); i++) {
		l->next = l->runs;
		touch(w, i % 6000);
	}
	KUNIT_EXPECT_EQ(test, l->next, 1);
	KUNIT_EXPECT_TRUE(test, hipec_league_source(l) == &l->rehearsal);
	KUNIT_EXPECT_GT(test, l->spared, 0);
	hipec_league_switched(l);
	KUNIT_EXPECT_EQ(test, l->rehearses, HIPEC_LEAGUE_NONE);
}

/* The policy that runs plays with @quarters of the budget. Return: its number. */
static u32 scale(struct kunit *test, struct world *w, u32 quarters)
{
	struct hipec_league *l = &w->league;
	const struct hipec_policy *p = l->team[l->runs].core.vm.policy;
	u32 i = l->nr;

	hipec_league_rescale(l, i, quarters, p,
			     zeros(test, hipec_league_bytes(p, l->sample.frames, quarters)), NULL,
			     &w->container.core);
	return i;
}

static const u32 quarters[] = { 1, 2, 8, 16 };

/* Where all pages are in the sample, it misses what it would as a container of its own. */
static void another_budget_misses_what_it_would_alone(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	struct hipec_league *l = &w->league;
	struct hipec_candidate *alone = zeros(test, sizeof(*alone) * ARRAY_SIZE(quarters));
	u64 misses[ARRAY_SIZE(quarters)] = { 0 }, variance;
	u32 i, k, page, seed = 1;

	for (k = 0; k < ARRAY_SIZE(quarters); k++) {
		u32 frames = 300 * quarters[k] / HIPEC_LEAGUE_WHOLE;

		KUNIT_ASSERT_EQ(test, scale(test, w, quarters[k]), 2 + k);
		hipec_candidate_start(&alone[k], NULL, &w->builtin,
				      zeros(test, hipec_candidate_bytes(&w->builtin, frames)), NULL,
				      frames, frames, 0);
	}
	for (i = 0; i < 6000; i++) {
		seed = seed * 1664525 + 1013904223;
		page = (seed >> 8) % ((seed >> 16) % 1400 + 1);
		touch(w, page);
		l->next = l->runs;
		for (k = 0; k < ARRAY_SIZE(quarters); k++)
			misses[k] += hipec_candidate_simulate(&alone[k], page, false);
	}
	for (k = 0; k < ARRAY_SIZE(quarters); k++) {
		KUNIT_EXPECT_EQ(test, l->team[2 + k].misses, misses[k]);
		KUNIT_EXPECT_EQ(test, hipec_league_missed(l, 2 + k), l->team[0].misses);
		KUNIT_EXPECT_EQ(test, hipec_league_saves(l, 2 + k, &variance),
				(s64)(l->team[0].misses - misses[k]));
		KUNIT_EXPECT_EQ(test, variance, 0);
	}
	KUNIT_EXPECT_GT(test, misses[1], l->team[0].misses);
	KUNIT_EXPECT_LT(test, misses[3], l->team[0].misses);
}

/* However much less it misses, the policy that runs stays. */
static void another_budget_takes_over_from_nobody(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	u32 twice = scale(test, w, 8);
	u64 variance;

	w->league.team[1].out = true;
	KUNIT_EXPECT_EQ(test, until_next(w, 400, 4000), 4000);
	KUNIT_EXPECT_EQ(test, hipec_league_saves(&w->league, twice, &variance), 3600);
}

/* It is out when another policy runs, and then begins with what that holds. */
static void another_budget_follows_what_runs(struct kunit *test)
{
	struct world *w = world(test, newest_first(test), 300);
	struct hipec_league *l = &w->league;
	u32 twice = scale(test, w, 8), half = scale(test, w, 2), n;

	n = until_next(w, 400, 4000);
	KUNIT_EXPECT_EQ(test, l->next, 1);
	KUNIT_EXPECT_EQ(test, l->team[twice].misses, 400);
	KUNIT_EXPECT_EQ(test, l->team[half].misses, n);
	hipec_league_switched(l);
	KUNIT_EXPECT_TRUE(test, l->team[twice].out);
	for (; n % 400; n++)
		touch(w, n % 400);
	for (n = twice; n <= half; n++) {
		u32 of = l->team[n].quarters;
		const struct hipec_policy *p = l->team[l->runs].core.vm.policy;

		hipec_league_rescale(l, n, of, p,
				     zeros(test, hipec_league_bytes(p, l->sample.frames, of)), NULL,
				     &w->container.core);
	}
	KUNIT_EXPECT_EQ(test, l->nr, 4);
	KUNIT_EXPECT_EQ(test, hipec_candidate_lacks(&l->team[l->runs], &l->team[twice].core.vm), 0);
	/* 400 - 300 + 1 a round, nothing but what is missing, and 400 - 150 + 1. */
	KUNIT_EXPECT_EQ(test, hipec_league_missed(l, twice), 0);
	for (n = 0; n < 2000; n++)
		touch(w, n % 400);
	KUNIT_EXPECT_EQ(test, hipec_league_missed(l, twice), 5 * 101);
	KUNIT_EXPECT_EQ(test, l->team[twice].misses, 100);
	KUNIT_EXPECT_LE(test, 5 * 251, l->team[half].misses);
	KUNIT_EXPECT_LE(test, l->team[half].misses, 5 * 251 + 150);
}

static struct kunit_case league_cases[] = {
	KUNIT_CASE(a_loop_is_newest_first_s_in_its_second_sweep),
	KUNIT_CASE(a_team_takes_over_the_pages_that_are_there),
	KUNIT_CASE(a_team_without_entries_does_not_take_over),
	KUNIT_CASE(the_built_in_choice_ends_with_its_queue),
	KUNIT_CASE(others_look_at_a_few_pages),
	KUNIT_CASE(a_salt_makes_a_team_s_key),
	KUNIT_CASE(others_pass_over_a_few_ghosts),
	KUNIT_CASE(who_has_nothing_to_gain_stays),
	KUNIT_CASE(an_endless_rival_runs_once),
	KUNIT_CASE(a_task_that_has_to_end_plays_no_more),
	KUNIT_CASE(a_team_has_the_frames_that_are_there_now),
	KUNIT_CASE(a_sample_finds_a_loop),
	KUNIT_CASE(a_policy_rehearses_where_hits_are_at_stake),
	KUNIT_CASE(another_budget_misses_what_it_would_alone),
	KUNIT_CASE(another_budget_takes_over_from_nobody),
	KUNIT_CASE(another_budget_follows_what_runs),
	{ }
};

static struct kunit_suite league_suite = {
	.name = "hipec_league",
	.test_cases = league_cases,
};

kunit_test_suites(&league_suite);
