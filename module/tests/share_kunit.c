// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core, the engine, of containers that share a pool: which of them gives a frame
 * up, and which gets one.
 */
#include "sharehost.h"

/* A member that wants a frame of a full pool gets another's, by that one's policy. */
static void a_full_pool_gives_by_the_others_policy(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 10);
	struct hipec_owner *a = hipec_sharer_new(test, w, 8, 2), *b = hipec_sharer_new(test, w, 8, 2);

	hipec_owner_bring_all(test, a, 0, 8);
	hipec_owner_bring_all(test, b, 0, 4);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 6);
	KUNIT_EXPECT_EQ(test, b->core.nr_frames, 4);
	KUNIT_EXPECT_EQ(test, a->core.counters.given, 2);
	KUNIT_EXPECT_EQ(test, a->nr_returned, 2);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 0) || hipec_owner_find(a, 1));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), 10);
	hipec_owner_expect_whole(test, a);
	hipec_owner_expect_whole(test, b);
	/* Memory pressure takes what is above the minimum, of whoever is not busy. */
	w->pool.requester = NULL;
	KUNIT_EXPECT_TRUE(test, hipec_pool_reclaim(&w->pool));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), 9);
	KUNIT_EXPECT_EQ(test, hipec_pool_spare(&w->pool), 0);
}

/* A member that is busy is passed over: not now, and nobody waits here. */
static void a_busy_member_is_passed_over(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 8);
	struct hipec_owner *a = hipec_sharer_new(test, w, 8, 2), *b = hipec_sharer_new(test, w, 8, 1);
	struct hipec_demand d = hipec_owner_demand(b, 1);

	hipec_owner_bring_all(test, a, 0, 7);
	hipec_owner_bring_all(test, b, 0, 1);
	a->locked = true;
	b->bits[hipec_owner_find(b, 0)] |= OWNER_PINNED;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&b->core, &d, HIPEC_EFFORT_SOME),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, hipec_owner_bring(b, 1), -EAGAIN);
	a->locked = false;
	KUNIT_EXPECT_GT(test, hipec_owner_bring(b, 1), 0);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 6);
}

/*
 * Whoever faults in a full pool runs no command of others' policies: it takes what they have
 * named, in the order in which they did, or the manager's choice, of which they are told
 * later. Naming more is left to a task of theirs.
 */
static void no_policy_runs_in_anothers_time(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 20);
	struct hipec_owner *a = hipec_sharer_new(test, w, 20, 2), *b = hipec_sharer_new(test, w, 20, 2);
	u64 events;

	hipec_owner_bring_all(test, a, 0, 18);
	hipec_core_refill(&a->core);
	KUNIT_EXPECT_EQ(test, a->core.nr_chosen, hipec_core_most_chosen(&a->core));
	KUNIT_EXPECT_EQ(test, a->core.nr_chosen, 2);
	hipec_owner_expect_whole(test, a);
	events = a->core.vm.nr_events;
	hipec_owner_bring_all(test, b, 0, 8);
	KUNIT_EXPECT_EQ(test, a->core.vm.nr_events, events);
	KUNIT_EXPECT_EQ(test, a->core.counters.given, 6);
	KUNIT_EXPECT_GT(test, a->nr_refills, 0);
	KUNIT_EXPECT_EQ(test, a->core.nr_taken, 4);
	hipec_core_refill(&a->core);
	KUNIT_EXPECT_EQ(test, a->core.nr_taken, 0);
	KUNIT_EXPECT_GE(test, a->core.vm.nr_events, events + 4);
	hipec_owner_expect_whole(test, a);
	hipec_owner_expect_whole(test, b);
}

/* What was given up ahead and is touched lives again, and its policy has a PageFault. */
static void a_named_page_that_is_touched_lives_again(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 20);
	struct hipec_owner *a = hipec_sharer_new(test, w, 20, 2), *b = hipec_sharer_new(test, w, 20, 2);
	u32 h;

	hipec_owner_bring_all(test, a, 0, 18);
	hipec_core_refill(&a->core);
	h = a->core.chosen[0];
	KUNIT_EXPECT_FALSE(test, hipec_page_live(&a->core.vm, h));
	hipec_core_hit(&a->core, h, false);
	KUNIT_EXPECT_TRUE(test, hipec_page_live(&a->core.vm, h));
	KUNIT_EXPECT_EQ(test, a->core.nr_chosen, 1);
	hipec_owner_expect_whole(test, a);
	hipec_owner_bring_all(test, b, 0, 3);
	KUNIT_EXPECT_TRUE(test, hipec_page_live(&a->core.vm, h));
	hipec_owner_expect_whole(test, a);
}

/* Not at its limit, above its quota, nor while the host has just said no. */
static void a_member_gets_no_frame_beyond_what_it_may_have(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 40);
	struct hipec_owner *a = hipec_sharer_new(test, w, 8, 2);
	struct hipec_demand d = hipec_owner_demand(a, 0);

	KUNIT_EXPECT_EQ(test, hipec_member_space(&a->core), 6);
	a->allowance = 3;
	KUNIT_EXPECT_EQ(test, hipec_member_space(&a->core), 3);
	a->allowance = 0;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&a->core, &d, HIPEC_EFFORT_SOME), 0);
	a->allowance = 100;
	a->most = 0;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&a->core, &d, HIPEC_EFFORT_SOME), 0);
	a->nr_allocated = 0;
	a->most = 100;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&a->core, &d, HIPEC_EFFORT_SOME), 0);
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&a->core, &d, HIPEC_EFFORT_SOME), 0);
	KUNIT_EXPECT_EQ(test, a->nr_allocated, 0);
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&a->core, &d, HIPEC_EFFORT_SOME), 1);
	KUNIT_EXPECT_EQ(test, hipec_core_request(&a->core.vm, 100), 5);
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&a->core, &d, HIPEC_EFFORT_SOME), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), 8);
}

/* A page that was given up in place of one that nobody needs is made good for. */
static void bad_advice_is_reversed(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 4);
	struct hipec_owner *a = hipec_sharer_new(test, w, 4, 1);
	u32 h;

	hipec_owner_bring_all(test, a, 0, 4);
	/* FIFO2-MR would take page 0, the policy gives another one. */
	h = hipec_owner_find(a, 0);
	hipec_queue_move(&a->core.vm, a->core.vm.slot[a->queue], h, HIPEC_END_TAIL);
	hipec_core_refill(&a->core);
	w->pool.requester = NULL;
	KUNIT_EXPECT_TRUE(test, hipec_pool_reclaim(&w->pool));
	KUNIT_EXPECT_EQ(test, a->core.counters.moved, 1);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 1));
	a->most = 0;		/* so that there is no room */
	w->pool.max = 3;
	KUNIT_EXPECT_GT(test, hipec_owner_bring(a, 1), 0);
	KUNIT_EXPECT_EQ(test, a->core.counters.recovered, 1);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 0));
}

/*
 * A page that comes gets the entry of the one that went, at the end of the queue. Meanwhile
 * the manager finds no page there.
 */
static void an_entry_waits_for_the_next_page(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 12);
	struct hipec_owner *a = hipec_sharer_new(test, w, 6, 2), *b = hipec_sharer_new(test, w, 12, 2);
	u32 touched;

	hipec_owner_bring_all(test, a, 0, 6);
	touched = w->pool.mr.nr_touched;
	hipec_owner_bring_all(test, a, 6, 20);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_touched, touched);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 6);
	hipec_sharers_expect_entries(test, w);

	KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	KUNIT_EXPECT_NE(test, a->core.exchange.nr_vacant, 0);
	/* A second one has the manager told. */
	KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	hipec_sharers_expect_entries(test, w);

	hipec_owner_bring_all(test, b, 0, 12);
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_vacant, 0);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 2);
	KUNIT_EXPECT_EQ(test, b->core.nr_frames, 10);
	hipec_sharers_expect_entries(test, w);
	hipec_owner_expect_whole(test, a);
	hipec_owner_expect_whole(test, b);
}

/* The manager knows the pages of a member whose table has become shorter, and takes the oldest. */
static void the_manager_knows_pages_that_moved(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 12);
	struct hipec_owner *a = hipec_sharer_new(test, w, 12, 2), *b = hipec_sharer_new(test, w, 12, 2);
	u32 pgno;

	hipec_owner_bring_all(test, a, 0, 10);
	for (pgno = 0; pgno < 3; pgno++)
		KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	KUNIT_ASSERT_EQ(test, a->core.vm.nr_unused, 3);
	KUNIT_EXPECT_EQ(test, hipec_sharer_compact(a), 3);
	KUNIT_EXPECT_EQ(test, a->core.vm.reached, 7);
	hipec_sharers_expect_entries(test, w);
	hipec_owner_expect_whole(test, a);
	hipec_owner_bring_all(test, b, 0, 9);
	for (pgno = 0; pgno < 10; pgno++)
		KUNIT_EXPECT_EQ(test, !!hipec_owner_find(a, pgno), pgno >= 7);
	hipec_sharers_expect_entries(test, w);
	hipec_owner_expect_whole(test, a);
}

/* So is the page that the policy named, which has another entry since. */
static void a_named_page_that_moved_goes_first(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 12);
	struct hipec_owner *a = hipec_sharer_new(test, w, 12, 2), *b = hipec_sharer_new(test, w, 12, 2);
	struct hipec_vm *vm = &a->core.vm;
	u32 pgno;

	hipec_owner_bring_all(test, a, 0, 10);
	for (pgno = 0; pgno < 3; pgno++)
		KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	hipec_queue_move(vm, vm->slot[a->queue], hipec_owner_find(a, 9), HIPEC_END_HEAD);
	hipec_core_refill(&a->core);
	KUNIT_ASSERT_EQ(test, a->core.nr_chosen, 1);
	KUNIT_EXPECT_EQ(test, a->core.chosen[0], vm->reached);
	KUNIT_EXPECT_EQ(test, hipec_sharer_compact(a), 3);
	KUNIT_EXPECT_EQ(test, a->core.chosen[0], hipec_owner_find(a, 9));
	hipec_sharers_expect_entries(test, w);
	hipec_owner_expect_whole(test, a);
	hipec_owner_bring_all(test, b, 0, 6);
	for (pgno = 3; pgno < 10; pgno++)
		KUNIT_EXPECT_EQ(test, !!hipec_owner_find(a, pgno), pgno < 9);
	KUNIT_EXPECT_EQ(test, a->core.counters.moved, 1);
	hipec_sharers_expect_entries(test, w);
	hipec_owner_expect_whole(test, a);
}

/* Two thirds of the pages are inactive, and have their bits reset before there is need. */
static void bits_are_reset_while_pages_come(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 30);
	struct hipec_owner *a = hipec_sharer_new(test, w, 30, 2);
	u32 pgno, set = 0;

	/* HIPEC_AGE_EVERY pages and one more; the pool is more than half full then. */
	for (pgno = 0; pgno <= HIPEC_AGE_EVERY; pgno++) {
		hipec_owner_bring_all(test, a, pgno, 1);
		a->bits[hipec_owner_find(a, pgno)] |= HIPEC_REF_POOL;
	}
	for (pgno = 0; pgno <= HIPEC_AGE_EVERY; pgno++)
		set += !!(a->bits[hipec_owner_find(a, pgno)] & HIPEC_REF_POOL);
	KUNIT_EXPECT_EQ(test, w->pool.mr.inactive.count, HIPEC_AGE_EVERY * 2 / 3);
	KUNIT_EXPECT_EQ(test, set, HIPEC_AGE_EVERY + 1 - w->pool.mr.inactive.count);
}

/* Memory pressure has one page for each answer, also where it meets an entry without a page. */
static void what_has_left_is_no_answer_to_pressure(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 12);
	struct hipec_owner *a = hipec_sharer_new(test, w, 12, 2);
	long before;

	hipec_owner_bring_all(test, a, 0, 12);
	w->pool.requester = NULL;
	KUNIT_EXPECT_TRUE(test, hipec_pool_reclaim(&w->pool));
	KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	KUNIT_ASSERT_NE(test, a->core.exchange.nr_vacant, 0);
	before = atomic_long_read(&w->pool.nr);
	KUNIT_EXPECT_TRUE(test, hipec_pool_reclaim(&w->pool));
	KUNIT_EXPECT_TRUE(test, hipec_pool_reclaim(&w->pool));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), before - 2);
	hipec_sharers_expect_entries(test, w);
}

/* Of no more pages than it has room for is a policy to be told: others wait until it was. */
static void pages_wait_for_a_policy_that_has_not_heard(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 30);
	struct hipec_owner *a = hipec_sharer_new(test, w, 20, 2);
	struct hipec_core *core = &a->core;
	u32 refills;

	hipec_owner_bring_all(test, a, 0, 20);
	KUNIT_ASSERT_EQ(test, hipec_pool_most_taken(core), 20);
	KUNIT_EXPECT_TRUE(test, hipec_pool_give(core, false));
	KUNIT_EXPECT_EQ(test, core->nr_taken, 1);
	while (core->nr_taken < 20)
		core->taken[core->nr_taken++] = 1000;
	refills = a->nr_refills;
	KUNIT_EXPECT_FALSE(test, hipec_pool_give(core, false));
	KUNIT_EXPECT_EQ(test, core->nr_frames, 19);
	KUNIT_EXPECT_EQ(test, a->nr_refills, refills + 1);
	w->pool.requester = NULL;
	KUNIT_EXPECT_FALSE(test, hipec_pool_reclaim(&w->pool));
	hipec_core_refill(core);
	KUNIT_EXPECT_EQ(test, core->nr_taken, 0);
	KUNIT_EXPECT_TRUE(test, hipec_pool_give(core, false));
	KUNIT_EXPECT_EQ(test, core->nr_frames, 18);
	hipec_owner_expect_whole(test, a);
	core->nr_reserved = HIPEC_MAX_FRAMES;
	KUNIT_EXPECT_EQ(test, hipec_pool_most_taken(core), HIPEC_MAX_TAKEN);
	KUNIT_EXPECT_EQ(test, hipec_pool_decisions(core), HIPEC_MAX_DECISIONS);
}

/* The manager takes no more pages than it has entries for, until there are more. */
static void more_entries_are_those_before_and_others(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 30);
	struct hipec_owner *a;
	struct hipec_mr_frame *more = kunit_kzalloc(test, sizeof(w->frame), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, more);
	w->pool.mr.nr = 4;
	a = hipec_sharer_new(test, w, 20, 2);
	hipec_owner_bring_all(test, a, 0, 6);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 4);
	memcpy(more, w->frame, 5 * sizeof(*more));
	memset(w->frame, 0xff, sizeof(w->frame));
	hipec_fifo2mr_more(&w->pool.mr, more, OWNER_PAGES - 1);
	hipec_owner_bring_all(test, a, 6, 4);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 8);
	w->pool.requester = NULL;
	KUNIT_EXPECT_TRUE(test, hipec_pool_reclaim(&w->pool));
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 7);
	hipec_owner_expect_whole(test, a);
}

/* There is room for so many; and one that leaves takes nothing along. */
static void members_join_and_leave(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 30);
	struct hipec_owner *o[SHARERS], *one_more = hipec_owner_new(test, &hipec_owner_ops, true, 4);
	u32 i;

	for (i = 0; i < SHARERS; i++)
		o[i] = hipec_sharer_new(test, w, 4, 2);
	hipec_owner_bring_all(test, o[0], 0, 2);
	while (hipec_pool_give(&o[0]->core, false))
		;
	KUNIT_EXPECT_EQ(test, hipec_member_join(&w->pool, &one_more->core, 1),
			-ENOSPC);
	while (hipec_core_shrink(&o[0]->core))
		;
	o[0]->core.nr_surplus = 0;
	hipec_member_leave(&o[0]->core);
	hipec_member_leave(&o[0]->core);
	KUNIT_EXPECT_EQ(test, w->pool.nr_members, SHARERS - 1);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), 4);
	KUNIT_EXPECT_EQ(test, hipec_member_join(&w->pool, &one_more->core, 1), 0);
}

/* Frames in plenty come in blocks. */
static void frames_in_plenty_come_at_once(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 5000);
	struct hipec_owner *a = hipec_sharer_new(test, w, 4000, 2);
	struct hipec_demand d = hipec_owner_demand(a, 0);

	a->nr_allocated = 0;
	d.want = 10;
	KUNIT_EXPECT_EQ(test, hipec_core_try_room(&a->core, &d), 10);
	KUNIT_EXPECT_EQ(test, a->nr_allocated, 1);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(a_full_pool_gives_by_the_others_policy),
	KUNIT_CASE(a_busy_member_is_passed_over),
	KUNIT_CASE(no_policy_runs_in_anothers_time),
	KUNIT_CASE(a_named_page_that_is_touched_lives_again),
	KUNIT_CASE(a_member_gets_no_frame_beyond_what_it_may_have),
	KUNIT_CASE(bad_advice_is_reversed),
	KUNIT_CASE(an_entry_waits_for_the_next_page),
	KUNIT_CASE(the_manager_knows_pages_that_moved),
	KUNIT_CASE(a_named_page_that_moved_goes_first),
	KUNIT_CASE(bits_are_reset_while_pages_come),
	KUNIT_CASE(what_has_left_is_no_answer_to_pressure),
	KUNIT_CASE(pages_wait_for_a_policy_that_has_not_heard),
	KUNIT_CASE(more_entries_are_those_before_and_others),
	KUNIT_CASE(members_join_and_leave),
	KUNIT_CASE(frames_in_plenty_come_at_once),
	{ }
};

static struct kunit_suite share_suite = {
	.name = "hipec_share",
	.test_cases = share_cases,
};

kunit_test_suites(&share_suite);
