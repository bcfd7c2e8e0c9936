// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/base/exit.c, and the engine's guards that lead to it: a policy
 * ends once, for one reason, with all its frames kept and somebody in charge.
 */
#include "../internal.h"

#include "kunit_world.h"

#define FRAMES 4
#define PAGES 8

/* A world with all frames full, locked; Replace gives up nothing. */
static struct hipec_world *world(struct kunit *test)
{
	return hipec_world_resident(test, FRAMES, PAGES, FRAMES);
}

/* As a fault would: a frame for @idx, then the page. */
static void fault(struct hipec_world *w, u32 idx)
{
	const struct hipec_demand d = {
		.pgno = idx, .want = 1, .whom = &w->c->core,
	};

	KUNIT_ASSERT_EQ(w->test, hipec_core_try_room(&w->c->core, &d), 1);
	hipec_world_bring_in(w, idx);
}

/* Replace, for page @idx. */
static void replace(struct hipec_world *w, u32 idx)
{
	const struct hipec_demand d = {
		.pgno = idx, .want = 1, .whom = &w->c->core,
	};

	hipec_core_replace(&w->c->core, &d);
}

/* The first reason is the one on record, and later ones are told so. */
static void the_first_reason_stands(struct kunit *test)
{
	struct hipec_world *w = world(test);
	const struct hipec_exit *e = &w->c->core.vm.exit;

	KUNIT_EXPECT_TRUE(test, hipec_core_end(&w->c->core, HIPEC_EXIT_NO_VICTIM));
	KUNIT_EXPECT_EQ(test, e->kind, HIPEC_EXIT_NO_VICTIM);
	KUNIT_EXPECT_EQ(test, e->command, 0);
	KUNIT_EXPECT_STREQ(test, e->message,
			   hipec_vm_exit_text(HIPEC_EXIT_NO_VICTIM));
	KUNIT_EXPECT_FALSE(test, hipec_core_end(&w->c->core, HIPEC_EXIT_BROKEN));
	KUNIT_EXPECT_FALSE(test, hipec_core_end(&w->c->core, HIPEC_EXIT_NO_VICTIM));
	KUNIT_EXPECT_EQ(test, e->kind, HIPEC_EXIT_NO_VICTIM);
	KUNIT_EXPECT_STREQ(test, e->message,
			   hipec_vm_exit_text(HIPEC_EXIT_NO_VICTIM));
	hipec_world_unlock(w);
}

/* All frames and pages stay, in the order that the policy had them. */
static void an_end_keeps_frames_and_pages(struct kunit *test)
{
	struct hipec_world *w = world(test);
	struct hipec_vm *vm = &w->c->core.vm;
	u32 h, idx;

	hipec_core_end(&w->c->core, HIPEC_EXIT_BROKEN);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_frames, FRAMES);
	KUNIT_EXPECT_EQ(test, vm->nr_live, FRAMES);
	KUNIT_EXPECT_EQ(test, vm->queue[HIPEC_QUEUE_FALLBACK].count, FRAMES);
	h = vm->queue[HIPEC_QUEUE_FALLBACK].head;
	for (idx = 0; idx < FRAMES; idx++, h = vm->page[h].next)
		KUNIT_EXPECT_EQ(test, vm->page[h].pgno, idx);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	hipec_world_unlock(w);
}

/* From then on no event runs, and faults are served first in, first out. */
static void after_the_end_the_built_in_replacement_serves(struct kunit *test)
{
	struct hipec_world *w = world(test);
	u64 events;
	u32 idx;

	hipec_core_end(&w->c->core, HIPEC_EXIT_BROKEN);
	events = w->c->core.vm.nr_events;
	for (idx = FRAMES; idx < PAGES; idx++) {
		fault(w, idx);
		KUNIT_EXPECT_EQ(test, hipec_page_find(&w->c->core.vm, idx - FRAMES),
				0);
		HIPEC_KIT_EXPECT_WHOLE(test, &w->c->core.vm);
	}
	KUNIT_EXPECT_EQ(test, w->c->core.vm.nr_events, events);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.helped, 0);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.nr_live, FRAMES);
	hipec_world_unlock(w);
}

static int note_wake(wait_queue_entry_t *entry, unsigned int mode, int flags,
		     void *key)
{
	(*(u32 *)entry->private)++;
	return 0;
}

/* Who polls the descriptor is woken, once. */
static void an_end_wakes_those_who_poll(struct kunit *test)
{
	struct hipec_world *w = world(test);
	wait_queue_entry_t entry;
	u32 woken = 0;

	init_waitqueue_func_entry(&entry, note_wake);
	entry.private = &woken;
	add_wait_queue(&w->c->ended, &entry);
	hipec_core_end(&w->c->core, HIPEC_EXIT_BROKEN);
	hipec_core_end(&w->c->core, HIPEC_EXIT_BROKEN);
	remove_wait_queue(&w->c->ended, &entry);
	KUNIT_EXPECT_EQ(test, woken, 1);
	hipec_world_unlock(w);
}

/* A command's mistake ends the policy, and the record has its place and words. */
static void a_command_s_mistake_is_on_record(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 5), zero = hipec_kit_const(kit, 0);
	const struct hipec_exit *e;
	struct hipec_world *w;

	kit->lines = true;
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, zero, HIPEC_ARITH_DIV);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	w = hipec_world_new(test, kit, 1, 2);
	hipec_world_lock(w);
	hipec_world_bring_in(w, 0);
	/* PageFault keeps pages nowhere: the first victim is a forgotten one. */
	fault(w, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.exit.kind, HIPEC_EXIT_NONE);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.forgotten, 1);
	replace(w, 0);
	e = &w->c->core.vm.exit;
	KUNIT_EXPECT_EQ(test, e->kind, HIPEC_EXIT_DIV_ZERO);
	KUNIT_EXPECT_EQ(test, e->event, HIPEC_EVENT_REPLACE);
	KUNIT_EXPECT_EQ(test, e->command, 2);
	KUNIT_EXPECT_EQ(test, e->line, 102);
	KUNIT_EXPECT_EQ(test, e->operand, 2);
	KUNIT_EXPECT_STREQ(test, e->message, "division by zero in event+2, "
			   "line 102: arith #2, #3, div");
	/* Its own end does not stop the fault that asked. */
	fault(w, 0);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_frames, 1);
	hipec_world_unlock(w);
}

/* A policy that gives up nothing is helped so many times, then revoked. */
static void a_policy_that_gives_nothing_is_revoked(struct kunit *test)
{
	struct hipec_world *w = world(test);
	u32 i;

	for (i = 0; i < 3000 && !w->c->core.vm.exit.kind; i++)
		fault(w, (FRAMES + i) % PAGES);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.exit.kind, HIPEC_EXIT_NO_VICTIM);
	KUNIT_EXPECT_EQ(test, i, 1024);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.helped, 1024);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.nr_live, FRAMES);
	fault(w, (FRAMES + i) % PAGES);
	hipec_world_unlock(w);
}

/*
 * A policy whose Replace goes on until it is stopped, or while its first operand
 * is 0; with enough fuel for years.
 */
static struct hipec_world *endless_world(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 stop = hipec_kit_int(kit, 0), zero = hipec_kit_const(kit, 0);
	struct hipec_world *w;

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_COMP, stop, zero, HIPEC_COMP_EQ);
	hipec_kit_jump(kit, HIPEC_COND_IF, 1);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	w = hipec_world_new(test, kit, 1, PAGES);
	w->c->core.vm.fuel = 1ull << 40;
	hipec_world_lock(w);
	hipec_world_bring_in(w, 0);
	return w;
}

/* Once late is forgiven, and when the event is in time the row begins anew. */
static void a_late_event_is_forgiven(struct kunit *test)
{
	struct hipec_world *w = endless_world(test);
	struct hipec_vm *vm = &w->c->core.vm;
	u32 i;

	for (i = 1; i <= 10; i++)
		replace(w, 1);
	KUNIT_EXPECT_EQ(test, vm->exit.kind, HIPEC_EXIT_NONE);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.late, 10);
	KUNIT_EXPECT_EQ(test, vm->late.kind, HIPEC_EXIT_OVERTIME);
	KUNIT_EXPECT_EQ(test, vm->late.event, HIPEC_EVENT_REPLACE);
	KUNIT_EXPECT_NOT_NULL(test, strstr(vm->late.message, "event+1"));
	vm->slot[HIPEC_SLOT_POLICY] = 1;
	replace(w, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.late, 10);
	vm->slot[HIPEC_SLOT_POLICY] = 0;
	for (i = 1; i <= 10; i++)
		replace(w, 1);
	KUNIT_EXPECT_EQ(test, vm->exit.kind, HIPEC_EXIT_NONE);
	/* Nor does a fault wait for it: a frame is taken elsewhere. */
	fault(w, 1);
	KUNIT_EXPECT_EQ(test, vm->nr_live, 1);
	hipec_world_unlock(w);
}

/* Late events, one after the other, end the policy. */
static void late_events_in_a_row_end_the_policy(struct kunit *test)
{
	struct hipec_world *w = endless_world(test);
	u32 i;

	for (i = 0; i < 100 && !w->c->core.vm.exit.kind; i++)
		replace(w, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.exit.kind, HIPEC_EXIT_LATE);
	KUNIT_EXPECT_EQ(test, i, 16);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.late, 16);
	fault(w, 1);
	hipec_world_unlock(w);
}

/* Without time, fuel: an event that spends it is the policy's last. */
static void an_event_without_fuel_is_the_last(struct kunit *test)
{
	struct hipec_world *w = endless_world(test);

	w->c->core.vm.fuel = 100;
	replace(w, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.exit.kind, HIPEC_EXIT_FUEL);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.late, 0);
	fault(w, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.nr_live, 1);
	hipec_world_unlock(w);
}

static struct kunit_case exit_cases[] = {
	KUNIT_CASE(the_first_reason_stands),
	KUNIT_CASE(an_end_keeps_frames_and_pages),
	KUNIT_CASE(after_the_end_the_built_in_replacement_serves),
	KUNIT_CASE(an_end_wakes_those_who_poll),
	KUNIT_CASE(a_command_s_mistake_is_on_record),
	KUNIT_CASE(a_policy_that_gives_nothing_is_revoked),
	KUNIT_CASE(a_late_event_is_forgiven),
	KUNIT_CASE(late_events_in_a_row_end_the_policy),
	KUNIT_CASE(an_event_without_fuel_is_the_last),
	{ }
};

static struct kunit_suite exit_suite = {
	.name = "hipec_exit",
	.suite_init = hipec_world_suite_init,
	.init = hipec_world_init,
	.exit = hipec_world_exit,
	.test_cases = exit_cases,
};

kunit_test_suites(&exit_suite);
