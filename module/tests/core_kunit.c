// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core, the engine, of one container: what a demand gets, what its host is
 * asked, and what follows for the policy.
 */
#include "../core/league.h"
#include "corehost.h"

/* The policy's page goes, and its frame serves the page that came. */
static void the_policy_names_the_page_that_goes(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);

	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES + 2);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 0) || hipec_owner_find(o, 1));
	KUNIT_EXPECT_TRUE(test, hipec_owner_find(o, 2) && hipec_owner_find(o, OWNER_FRAMES + 1));
	KUNIT_EXPECT_EQ(test, o->core.counters.evictions, 2);
	KUNIT_EXPECT_EQ(test, o->nr_freed, 2);
	KUNIT_EXPECT_EQ(test, o->core.counters.helped, 0);
	hipec_owner_expect_whole(test, o);
}

/* A page on no queue of the policy's goes before the policy is asked. */
static void an_orphan_goes_first(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	u64 events;
	u32 h;

	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	h = hipec_owner_find(o, 3);
	hipec_queue_move(&o->core.vm, HIPEC_QUEUE_FALLBACK, h, HIPEC_END_TAIL);
	events = o->core.vm.nr_events;
	KUNIT_EXPECT_GT(test, hipec_owner_bring(o, 50), 0);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 3));
	KUNIT_EXPECT_EQ(test, o->core.counters.forgotten, 1);
	/* Remove and PageFault. */
	KUNIT_EXPECT_EQ(test, o->core.vm.nr_events, events + 2);
}

/* A policy that gives nothing is helped, and revoked when it is so too often. */
static void a_policy_that_gives_nothing_is_helped(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, false);

	o->core.exact = true;
	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	/* A second chance for the oldest. */
	o->bits[hipec_owner_find(o, 0)] |= HIPEC_REF_POLICY;
	hipec_owner_bring_all(test, o, OWNER_FRAMES, 1);
	KUNIT_EXPECT_TRUE(test, hipec_owner_find(o, 0));
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 1));
	KUNIT_EXPECT_EQ(test, o->core.counters.helped, 1);
	hipec_owner_bring_all(test, o, 100, HIPEC_MAX_HELPED - 1);
	KUNIT_EXPECT_EQ(test, o->ended, HIPEC_EXIT_NO_VICTIM);
	/* From then on FIFO with a second chance is in charge. */
	hipec_owner_bring_all(test, o, 0, 20);
	KUNIT_EXPECT_EQ(test, o->core.counters.helped, HIPEC_MAX_HELPED);
	KUNIT_EXPECT_FALSE(test, hipec_core_end(&o->core, HIPEC_EXIT_BY_HAND));
	hipec_owner_expect_whole(test, o);
}

/* A dirty page is waited for, unless a clean one may go in its place. */
static void what_is_dirty_is_waited_for(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	struct hipec_demand d = hipec_owner_demand(o, 50);
	u32 h;

	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	h = hipec_owner_find(o, 0);
	o->bits[h] |= OWNER_DIRTY;
	KUNIT_EXPECT_EQ(test, hipec_owner_bring(o, 50), -EAGAIN);
	KUNIT_EXPECT_EQ(test, o->core.nr_pending, 1);
	hipec_owner_expect_whole(test, o);
	o->bits[hipec_owner_find(o, 1)] |= OWNER_DIRTY;
	d.wait = false;
	KUNIT_EXPECT_EQ(test, hipec_core_make_room(&o->core, &d), 1);
	KUNIT_EXPECT_TRUE(test, hipec_owner_find(o, 1));
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 2));
	/* It was written, or it was not. */
	hipec_core_cleaned(&o->core, h);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 0));
	h = hipec_owner_find(o, 1);
	KUNIT_EXPECT_TRUE(test, hipec_core_evict(&o->core, h, true,
						 HIPEC_EVICT_TAKEN));
	hipec_core_uncleaned(&o->core, h);
	KUNIT_EXPECT_TRUE(test, hipec_page_live(&o->core.vm, h));
	KUNIT_EXPECT_EQ(test, o->core.nr_pending, 0);
	hipec_owner_expect_whole(test, o);
}

/* Where no page can go the demand says why; at last even what could not be written. */
static void a_demand_that_cannot_be_met_says_why(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	u32 i;

	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	for (i = 0; i < OWNER_FRAMES; i++)
		o->bits[hipec_owner_find(o, i)] |= OWNER_PINNED;
	KUNIT_EXPECT_EQ(test, hipec_owner_bring(o, 50), -ENOMEM);
	KUNIT_EXPECT_EQ(test, o->core.counters.refused, 1);
	for (i = 0; i < OWNER_FRAMES; i++)
		o->bits[hipec_owner_find(o, i)] = OWNER_FAILED | OWNER_DIRTY;
	KUNIT_EXPECT_EQ(test, hipec_owner_bring(o, 50), -EAGAIN);
	o->core.lost_in_a_row = HIPEC_MAX_LOST + 1;
	KUNIT_EXPECT_EQ(test, hipec_owner_bring(o, 50), -EIO);
	KUNIT_EXPECT_EQ(test, hipec_owner_bring(o, 50), -EAGAIN);
	hipec_owner_expect_whole(test, o);
}

/* The page that an event is about stays, whatever the policy does. */
static void the_page_of_an_event_stays(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);

	hipec_owner_bring_all(test, o, 0, 2);
	o->core.pinned = hipec_owner_find(o, 1);
	KUNIT_EXPECT_FALSE(test, hipec_core_evict(&o->core, o->core.pinned, true,
						  HIPEC_EVICT_TAKEN));
}

/* What was read ahead for nothing goes before a fault fails. */
static void what_was_read_ahead_goes_before_a_fault_fails(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_new(test, &hipec_owner_ops, true, 1);

	hipec_core_start(&o->core);
	o->ahead = hipec_core_bind(&o->core, 7);
	KUNIT_EXPECT_EQ(test, o->core.nr_reading, 1);
	KUNIT_EXPECT_GT(test, hipec_owner_bring(o, 8), 0);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 7));
	hipec_owner_expect_whole(test, o);
}

/* Frames come, are lost, and go back, a surplus first. */
static void frames_come_and_go(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_new(test, &hipec_owner_ops, true, OWNER_FRAMES);
	struct hipec_core *core = &o->core;
	u32 h;

	hipec_core_start(core);
	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	core->nr_free++;
	core->nr_frames++;
	core->nr_surplus++;
	h = hipec_core_bind(core, 50);
	hipec_core_activate(core, h);
	hipec_core_unbind(core, hipec_owner_find(o, 0), false);
	hipec_core_remove(core, 0);
	KUNIT_EXPECT_EQ(test, core->nr_frames, OWNER_FRAMES);
	KUNIT_EXPECT_EQ(test, o->nr_returned, 1);
	hipec_core_unbind(core, h, true);
	KUNIT_EXPECT_EQ(test, core->nr_frames, OWNER_FRAMES - 1);
	KUNIT_EXPECT_FALSE(test, hipec_core_shrink(core));
	/* It grows back to what it was, and no further. */
	KUNIT_EXPECT_EQ(test, hipec_core_request(&core->vm, 9), 1);
	KUNIT_EXPECT_TRUE(test, hipec_core_shrink(core));
	core->nr_surplus = 1;
	KUNIT_EXPECT_EQ(test, hipec_core_request(&core->vm, 1), 1);
	KUNIT_EXPECT_EQ(test, core->nr_surplus, 0);
	hipec_owner_expect_whole(test, o);
}

/* A page that was given up and cannot go is nobody's until it is touched, or goes. */
static void what_cannot_go_is_put_aside(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	struct hipec_demand d = hipec_owner_demand(o, 50);
	struct hipec_core *core = &o->core;
	u32 h, other;

	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	h = hipec_owner_find(o, 0);
	other = hipec_owner_find(o, 1);
	o->bits[h] |= OWNER_DIRTY;
	o->bits[other] |= OWNER_DIRTY;
	KUNIT_EXPECT_TRUE(test, hipec_core_replace_one(core, &d));
	KUNIT_EXPECT_TRUE(test, hipec_core_replace_one(core, &d));
	KUNIT_EXPECT_EQ(test, core->nr_pending, 2);
	hipec_core_refuse(core);
	hipec_core_refuse(core);
	KUNIT_EXPECT_EQ(test, core->nr_pending, 0);
	KUNIT_EXPECT_EQ(test, core->nr_reading, 2);
	KUNIT_EXPECT_EQ(test, core->counters.evictions, 0);
	KUNIT_EXPECT_EQ(test, core->counters.refused, 2);
	KUNIT_EXPECT_TRUE(test, hipec_core_replace_one(core, &d));
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(o, 2));
	hipec_core_activate(core, h);
	hipec_core_fault(core, h, false);
	hipec_core_unbind(core, other, false);
	KUNIT_EXPECT_EQ(test, core->nr_reading, 0);
	KUNIT_EXPECT_EQ(test, core->nr_free, 2);
	KUNIT_EXPECT_EQ(test, core->vm.nr_live, OWNER_FRAMES - 2);
	hipec_owner_expect_whole(test, o);
}

static u32 look(struct hipec_core *core, u32 pgno[HIPEC_HARVEST])
{
	pgno[0] = core->vm.page[1].pgno;
	return 1;
}

/* A host that knows which pages were touched is asked for them. */
static void a_host_may_look_by_itself(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	struct hipec_core_ops ops = hipec_owner_ops;

	hipec_owner_bring_all(test, o, 0, 2);
	hipec_core_harvest(&o->core);
	KUNIT_EXPECT_EQ(test, o->nr_touched, 0);
	ops.look = look;
	o->core.ops = &ops;
	hipec_core_harvest(&o->core);
	KUNIT_EXPECT_EQ(test, o->nr_touched, 1);
	o->core.ops = &hipec_owner_ops;
}

/* Events know what they are about, and of others' accesses they know nothing. */
static void an_event_knows_its_access(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	s64 *slot = o->core.vm.slot;
	u32 h;

	hipec_owner_bring_all(test, o, 0, 2);
	h = hipec_owner_find(o, 1);
	o->core.context = 77;
	o->now = 5;
	hipec_core_access(&o->core, h, true);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_FAULTED_ADDRESS], 1 << 12);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_FAULT_KIND], 1);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_HINT], 101);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_CONTEXT], 77);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_TIME], 5);
	o->bits[h] |= HIPEC_REF_POLICY;
	hipec_core_harvest(&o->core);
	KUNIT_EXPECT_EQ(test, o->nr_touched, 1);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_CONTEXT], 0);
	KUNIT_EXPECT_EQ(test, o->core.context, 77);
	KUNIT_EXPECT_FALSE(test, o->core.unsettled);
	hipec_core_timer(&o->core);
	KUNIT_EXPECT_EQ(test, slot[HIPEC_SLOT_HINT], 0);
	hipec_core_end(&o->core, HIPEC_EXIT_BY_HAND);
	hipec_core_timer(&o->core);
	KUNIT_EXPECT_EQ(test, o->ended, HIPEC_EXIT_BY_HAND);
}

/* An event that is late once too often in a row ends the policy. */
static void a_policy_that_is_always_late_ends(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	u32 i;

	hipec_owner_bring_all(test, o, 0, 1);
	o->ret = -ETIMEDOUT;
	for (i = 1; i < HIPEC_MAX_LATE; i++)
		hipec_core_timer(&o->core);
	o->dying = true;	/* then it was not the policy's fault */
	hipec_core_timer(&o->core);
	o->dying = false;
	o->ret = 0;
	hipec_core_timer(&o->core);
	KUNIT_EXPECT_EQ(test, o->core.late_in_a_row, 0);
	o->ret = -ETIMEDOUT;
	for (i = 0; i < HIPEC_MAX_LATE; i++)
		hipec_core_timer(&o->core);
	KUNIT_EXPECT_EQ(test, o->ended, HIPEC_EXIT_LATE);
	KUNIT_EXPECT_EQ(test, o->core.counters.late, 2 * HIPEC_MAX_LATE);
}

/* Another policy gets the pages, or the one before goes on. */
static void another_policy_adopts_the_pages(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	/* It is large for the stack. */
	struct hipec_vm *old = kunit_kzalloc(test, sizeof(*old), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, old);
	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	*old = o->core.vm;
	hipec_owner_machine(test, o, hipec_owner_policy(test, true, &o->queue), OWNER_FRAMES);
	KUNIT_EXPECT_EQ(test, hipec_core_adopt(&o->core, old), 0);
	KUNIT_EXPECT_EQ(test, o->core.vm.nr_live, OWNER_FRAMES);
	KUNIT_EXPECT_EQ(test, o->nr_pauses, OWNER_FRAMES);
	hipec_owner_machine(test, o, hipec_owner_policy(test, true, &o->queue), OWNER_FRAMES);
	o->dying = true;
	KUNIT_EXPECT_EQ(test, hipec_core_adopt(&o->core, old), -EINTR);
}

/* The host hears of each window, and may have the policy revoked. */
static void a_window_may_end_the_policy(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);

	o->core.judge = kunit_kzalloc(test, hipec_judge_bytes(OWNER_FRAMES), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, o->core.judge);
	hipec_core_watch(&o->core, 1);
	hipec_owner_bring_all(test, o, 0, 600);
	KUNIT_EXPECT_EQ(test, o->nr_windows, 1);
	KUNIT_EXPECT_EQ(test, o->ended, 0);
	hipec_core_watch_again(&o->core);
	hipec_core_added(&o->core, 599, true);
	o->revoke = true;
	hipec_owner_bring_all(test, o, 0, 600);
	KUNIT_EXPECT_EQ(test, o->ended, HIPEC_EXIT_WORSE);
	KUNIT_EXPECT_EQ(test, o->core.counters.windows, 2);
}

/*
 * What runs misses twice what the league's default does, and windows say so, to a miss; then
 * as much. While the default runs nothing is judged.
 */
static void a_league_s_default_is_what_counts(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_started(test, true);
	const struct hipec_counters *n = &o->core.counters;
	struct hipec_league *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, l);
	hipec_core_watch_league(&o->core, l);
	for (i = 0; i < 5000; i++) {
		k = i % HIPEC_CLASSES;
		if (i == 2000) {
			l->runs = 1;
			hipec_core_watch_league(&o->core, l);
		}
		l->total[k]++;
		l->team[0].total[k] += i / HIPEC_CLASSES % 2 || i >= 2000 + 4 * 512;
		hipec_core_missed(&o->core, l);
		if (i == 2000 + 4 * 512 - 1) {
			KUNIT_EXPECT_EQ(test, o->verdict, HIPEC_VERDICT_REVOKE);
			KUNIT_EXPECT_EQ(test, n->bad_windows, 4);
			KUNIT_EXPECT_EQ(test, n->judged_faults, 4 * 512);
			KUNIT_EXPECT_EQ(test, n->default_faults, 4 * 256);
		}
	}
	KUNIT_EXPECT_EQ(test, o->nr_windows, 5);
	KUNIT_EXPECT_EQ(test, o->verdict, HIPEC_VERDICT_GOOD);
	KUNIT_EXPECT_EQ(test, n->default_faults, 4 * 256 + 512);
}

/* A host need not have what it does not need. */
static void a_host_may_leave_methods_out(struct kunit *test)
{
	struct hipec_owner *o = hipec_owner_new(test, &hipec_owner_few_ops, false, OWNER_FRAMES);

	o->core.exact = true;
	hipec_core_start(&o->core);
	o->core.hint = 9;
	hipec_owner_bring_all(test, o, 0, 3 * OWNER_FRAMES);
	hipec_core_access(&o->core, hipec_owner_find(o, 3 * OWNER_FRAMES - 1), false);
	KUNIT_EXPECT_EQ(test, o->core.vm.slot[HIPEC_SLOT_HINT], 9);
	KUNIT_EXPECT_EQ(test, hipec_core_request(&o->core.vm, 3), 0);
	KUNIT_EXPECT_TRUE(test, hipec_core_may_fetch(&o->core));
	hipec_core_end(&o->core, HIPEC_EXIT_BY_HAND);
	hipec_owner_bring_all(test, o, 0, OWNER_FRAMES);
	hipec_owner_expect_whole(test, o);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(the_policy_names_the_page_that_goes),
	KUNIT_CASE(an_orphan_goes_first),
	KUNIT_CASE(a_policy_that_gives_nothing_is_helped),
	KUNIT_CASE(what_is_dirty_is_waited_for),
	KUNIT_CASE(a_demand_that_cannot_be_met_says_why),
	KUNIT_CASE(the_page_of_an_event_stays),
	KUNIT_CASE(what_was_read_ahead_goes_before_a_fault_fails),
	KUNIT_CASE(frames_come_and_go),
	KUNIT_CASE(what_cannot_go_is_put_aside),
	KUNIT_CASE(a_host_may_look_by_itself),
	KUNIT_CASE(an_event_knows_its_access),
	KUNIT_CASE(a_policy_that_is_always_late_ends),
	KUNIT_CASE(another_policy_adopts_the_pages),
	KUNIT_CASE(a_window_may_end_the_policy),
	KUNIT_CASE(a_league_s_default_is_what_counts),
	KUNIT_CASE(a_host_may_leave_methods_out),
	{ }
};

static struct kunit_suite core_suite = {
	.name = "hipec_core",
	.test_cases = core_cases,
};

kunit_test_suites(&core_suite);

MODULE_DESCRIPTION("KUnit suites of hipec's engine");
MODULE_LICENSE("GPL");
