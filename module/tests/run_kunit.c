// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/run.c: events, calls, jumps, fuel, and the record of an end. What
 * each command does is in test/vm/cases; here is what a text file cannot build.
 */
#include "kunit_machine.h"

/* Slot @n becomes 10 * @n + @digit, if @ten holds 10 and @digit its digit. */
static void note(struct hipec_kit *kit, u8 n, u8 ten, u8 digit)
{
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, ten, HIPEC_ARITH_MUL);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, digit, HIPEC_ARITH_ADD);
}

/* As deep as calls may nest, each event goes on behind its own call. */
static void calls_return_in_the_order_they_were_made(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0), ten = hipec_kit_const(kit, 10), digit, i;
	struct hipec_fakehost *fake;
	s64 want = 0;

	for (i = 0; i <= HIPEC_MAX_CALL_DEPTH; i++) {
		digit = hipec_kit_const(kit, i);
		hipec_kit_event(kit, i ? HIPEC_EVENT_USER + i :
					 HIPEC_EVENT_REPLACE);
		note(kit, n, ten, digit);
		if (i < HIPEC_MAX_CALL_DEPTH) {
			hipec_kit_op(kit, HIPEC_OP_CALL,
				     HIPEC_EVENT_USER + i + 1, 0, 0);
			note(kit, n, ten, digit);
		}
		hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	}
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	for (i = 0; i <= HIPEC_MAX_CALL_DEPTH; i++)
		want = want * 10 + i;
	while (i-- > 1)
		want = want * 10 + i - 1;
	KUNIT_EXPECT_EQ(test, fake->vm.slot[n], want);
}

/* A condition left by one event is not seen by the next. */
static void condition_does_not_outlive_its_event(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0);
	struct hipec_fakehost *fake;

	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_COMP, n, n, HIPEC_COMP_EQ);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_jump(kit, HIPEC_COND_IFNOT, 3);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_PAGEFAULT), 0);
	KUNIT_EXPECT_TRUE(test, fake->vm.condition);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, fake->vm.slot[n], 0);
}

/* A loop of any length ends, and the record says which event was at fault. */
static void endless_loops_run_out_of_fuel(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 2, 7, 100 };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct hipec_kit *kit = hipec_kit_new(test);
		u8 n = hipec_kit_int(kit, 0);
		struct hipec_fakehost *fake;

		hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
		for (j = 0; j < lengths[i]; j++)
			hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
		hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 1);
		fake = hipec_kit_machine(kit, 1);
		KUNIT_EXPECT_EQ(test,
				hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
				-ECANCELED);
		KUNIT_EXPECT_EQ(test, fake->vm.exit.kind, HIPEC_EXIT_FUEL);
		KUNIT_EXPECT_EQ(test, fake->vm.exit.event, HIPEC_EVENT_REPLACE);
		/* It may end at the loop's end only, not in its middle. */
		KUNIT_EXPECT_LE(test, (u64)fake->vm.slot[n],
				fake->vm.fuel + lengths[i]);
		HIPEC_KIT_EXPECT_WHOLE(test, &fake->vm);
	}
}

/* Calls cost fuel: a tree of them that would take years ends. */
static void trees_of_calls_run_out_of_fuel(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	struct hipec_fakehost *fake;
	u32 i, j;

	for (i = 0; i < HIPEC_MAX_CALL_DEPTH; i++) {
		hipec_kit_event(kit, i ? HIPEC_EVENT_USER + i :
					 HIPEC_EVENT_REPLACE);
		for (j = 0; j < 64; j++)
			hipec_kit_op(kit, HIPEC_OP_CALL,
				     HIPEC_EVENT_USER + i + 1, 0, 0);
		hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	}
	hipec_kit_return_only(kit, HIPEC_EVENT_USER + i);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
			-ECANCELED);
	KUNIT_EXPECT_EQ(test, fake->vm.exit.kind, HIPEC_EXIT_FUEL);
}

/* Fuel is for one event: what earlier ones burnt does not count. */
static void fuel_is_full_when_an_event_starts(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0), limit = hipec_kit_int(kit, 0);
	struct hipec_fakehost *fake;
	u32 i;

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, limit, HIPEC_ARITH_SET);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_DEC);
	hipec_kit_op(kit, HIPEC_OP_COMP, n, HIPEC_SLOT_FREE_COUNT, HIPEC_COMP_NE);
	hipec_kit_jump(kit, HIPEC_COND_IF, 2);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	fake->vm.slot[limit] = fake->vm.fuel / 4;	/* times 3 commands */
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test,
				hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
				0);
}

/* A guard that ends an event before a Return says where, like any other end. */
static void an_end_before_a_return_has_a_place(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	struct hipec_fakehost *fake;
	struct hipec_text out;
	char text[HIPEC_MESSAGE_MAX];

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_CALL, 40, 0, 0);
	hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 1);
	hipec_kit_return_only(kit, 40);
	fake = hipec_kit_machine(kit, 1);
	/* A turn is three commands; the last of these is the Call's. */
	fake->vm.fuel = 3 * 100;
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
			-ECANCELED);
	KUNIT_EXPECT_EQ(test, fake->vm.exit.event, 40);
	KUNIT_EXPECT_EQ(test, fake->vm.exit.word, 0);
	hipec_text_init(&out, text, sizeof(text));
	hipec_vm_explain_exit(&kit->policy, &fake->vm.exit, &out);
	KUNIT_EXPECT_STREQ(test, text, "an event ran more commands than it may "
				       "in event+1: return");
}

/*
 * An event without a jump or a call, but of commands that may take long, is asked for its time
 * as a loop is. Its fuel is not looked at, so that it ends nowhere else.
 */
static void straight_lines_look_at_the_time(struct kunit *test)
{
	enum { NR = 60000 };
	struct hipec_kit *kit = hipec_kit_new_long(test, NR + 16);
	u8 page = hipec_kit_page(kit);
	struct hipec_fakehost *fake;
	u32 i;

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	for (i = 0; i < NR; i++)
		hipec_kit_op(kit, HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	fake->vm.fuel = 10;
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	KUNIT_EXPECT_GE(test, fake->nr_looks, NR / HIPEC_POLL);
	KUNIT_EXPECT_EQ(test, fake->vm.nr_commands, NR + 1);
	/* It is given up, and the next one is not. */
	fake->vm.fuel = HIPEC_MAX_FUEL;
	fake->nr_looks = 0;
	fake->late = 3;
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fake->vm.late.kind, HIPEC_EXIT_OVERTIME);
	KUNIT_EXPECT_EQ(test, fake->vm.late.command, 3 * HIPEC_POLL + 1);
	fake->late = 0;
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
}

/* An event that is late is given up; its policy goes on and may be late again. */
static void a_late_event_is_given_up_alone(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0);
	struct hipec_fakehost *fake;
	struct hipec_vm *vm;
	u32 i;

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 1);
	fake = hipec_kit_machine(kit, 1);
	vm = &fake->vm;
	for (i = 1; i <= 3; i++) {
		fake->late = i;		/* the host says so when asked again */
		vm->slot[n] = 0;
		KUNIT_EXPECT_EQ(test,
				hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
				-ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, fake->nr_looks, i);
		KUNIT_EXPECT_GE(test, vm->slot[n] * 2, i * HIPEC_POLL);
		KUNIT_EXPECT_LE(test, vm->slot[n] * 2, i * (HIPEC_POLL + 8));
		KUNIT_EXPECT_EQ(test, vm->exit.kind, HIPEC_EXIT_NONE);
		KUNIT_EXPECT_EQ(test, vm->late.kind, HIPEC_EXIT_OVERTIME);
		KUNIT_EXPECT_EQ(test, vm->late.event, HIPEC_EVENT_REPLACE);
		KUNIT_EXPECT_EQ(test, vm->nr_late, i);
		HIPEC_KIT_EXPECT_WHOLE(test, vm);
	}
	fake->late = 0;
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
			-ECANCELED);
	KUNIT_EXPECT_EQ(test, vm->exit.kind, HIPEC_EXIT_FUEL);
}

/*
 * What was run is what is counted, to the command, through calls and jumps: the
 * loop counts ways and not commands.
 */
static void commands_are_counted_exactly(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0), ten = hipec_kit_const(kit, 10);
	struct hipec_fakehost *fake;

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_CALL, 40, 0, 0);
	hipec_kit_op(kit, HIPEC_OP_COMP, n, ten, HIPEC_COMP_LT);
	hipec_kit_jump(kit, HIPEC_COND_IF, 1);
	hipec_kit_jump(kit, HIPEC_COND_IF, 1);
	hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 7);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, 40);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, fake->vm.slot[n], 10);
	/* Ten turns of call, inc, return, comp, jump; then two jumps, return. */
	KUNIT_EXPECT_EQ(test, fake->vm.nr_commands, 10 * 5 + 3);
	KUNIT_EXPECT_EQ(test, fake->vm.nr_events, 1);
}

/* A container with more pages may look at each of them as often, up to a bound. */
static void fuel_grows_with_the_pages(struct kunit *test)
{
	struct hipec_fakehost *small, *large;

	small = hipec_kit_machine(hipec_kit_new(test), 1);
	large = hipec_kit_machine(hipec_kit_new(test), 1025);
	KUNIT_EXPECT_GE(test, large->vm.fuel - small->vm.fuel, 1024 * 16);
	KUNIT_EXPECT_EQ(test, large->vm.fuel, hipec_vm_fuel(large->vm.nr_pages));
	KUNIT_EXPECT_LT(test, hipec_vm_fuel(HIPEC_MAX_FUEL / 64 - 65), HIPEC_MAX_FUEL);
	KUNIT_EXPECT_EQ(test, hipec_vm_fuel(HIPEC_MAX_FUEL / 64), HIPEC_MAX_FUEL);
	KUNIT_EXPECT_EQ(test, hipec_vm_fuel(HIPEC_MAX_ENTRIES), HIPEC_MAX_FUEL);
}

/* 4 TiB of frames, or as many entries as handles may name. */
static void four_tebibytes_of_frames_fit(struct kunit *test)
{
	struct hipec_image image = { 0 };
	struct hipec_policy p = { .image = &image };

	KUNIT_EXPECT_TRUE(test, hipec_vm_fits(&p, 1ull << 30));
	KUNIT_EXPECT_FALSE(test, hipec_vm_fits(&p, (1ull << 30) + 1));
	KUNIT_EXPECT_FALSE(test, hipec_vm_fits(&p, ~0ull));
	image.ghosts = 100;
	KUNIT_EXPECT_TRUE(test, hipec_vm_fits(&p, (1ull << 30) - 1));
	KUNIT_EXPECT_FALSE(test, hipec_vm_fits(&p, 1ull << 30));
	image.ghosts = HIPEC_MAX_GHOSTS;
	KUNIT_EXPECT_TRUE(test, hipec_vm_fits(&p, HIPEC_MAX_ENTRIES / 11));
	KUNIT_EXPECT_FALSE(test, hipec_vm_fits(&p, HIPEC_MAX_ENTRIES / 11 + 1));
	KUNIT_EXPECT_EQ(test, hipec_vm_nr_pages(&p, HIPEC_MAX_ENTRIES / 11),
			HIPEC_MAX_ENTRIES / 11 * 11);
}

/* The record of an end names the callee, not the event that the host ran. */
static void exit_record_names_the_command_that_did_it(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 7);
	const struct hipec_exit *exit;
	struct hipec_fakehost *fake;
	u32 command, word;

	kit->lines = true;
	hipec_kit_return_only(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_CALL, 40, 0, 0);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, 40);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	word = kit->nr_words;
	command = hipec_kit_op(kit, HIPEC_OP_ARITH, n, HIPEC_SLOT_FREE_COUNT,
			       HIPEC_ARITH_DIV);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
			-ECANCELED);
	exit = &fake->vm.exit;
	KUNIT_EXPECT_EQ(test, exit->kind, HIPEC_EXIT_DIV_ZERO);
	KUNIT_EXPECT_EQ(test, exit->event, 40);
	KUNIT_EXPECT_EQ(test, exit->command, command);
	KUNIT_EXPECT_EQ(test, exit->operand, 2);
	KUNIT_EXPECT_EQ(test, exit->word, kit->words[word]);
	KUNIT_EXPECT_EQ(test, exit->line, 100 + word);
	KUNIT_EXPECT_EQ(test, fake->vm.slot[n], 8);
}

/* Without a line table the line is 0, not what lies behind the words. */
static void exit_record_has_no_line_without_a_line_table(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit);
	struct hipec_fakehost *fake;

	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_REF, page, 0, 0);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE),
			-ECANCELED);
	KUNIT_EXPECT_EQ(test, fake->vm.exit.kind, HIPEC_EXIT_NO_PAGE);
	KUNIT_EXPECT_EQ(test, fake->vm.exit.line, 0);
}

/* A jump's target has 16 bits, none of which is a sign. */
static void jumps_reach_the_ends_of_the_longest_event(struct kunit *test)
{
	const u32 last = HIPEC_MAX_WORDS - 1 - 2 - 2; /* 2 other events */
	struct hipec_kit *kit = hipec_kit_new_long(test, HIPEC_MAX_WORDS);
	u8 n = hipec_kit_int(kit, 0);
	struct hipec_fakehost *fake;

	hipec_kit_return_only(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_return_only(kit, HIPEC_EVENT_INIT);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_jump(kit, HIPEC_COND_ALWAYS, last - 1);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	while (kit->nr_words < HIPEC_MAX_WORDS - 2)
		hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_DEC);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	KUNIT_EXPECT_EQ(test, hipec_kit_jump(kit, HIPEC_COND_ALWAYS, 2), last);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, fake->vm.slot[n], 2);
}

/* Any number that an image may declare is an event that runs. */
static void every_event_number_runs(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_int(kit, 0), digit[HIPEC_NR_EVENTS];
	struct hipec_fakehost *fake;
	u32 i;

	for (i = HIPEC_EVENT_USER; i < HIPEC_NR_EVENTS; i++) {
		digit[i] = hipec_kit_const(kit, i);
		hipec_kit_event(kit, i);
		hipec_kit_op(kit, HIPEC_OP_ARITH, n, digit[i], HIPEC_ARITH_SET);
		hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	}
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_FALSE(test, hipec_vm_has_event(&fake->vm, HIPEC_EVENT_INIT));
	for (i = HIPEC_EVENT_USER; i < HIPEC_NR_EVENTS; i++) {
		KUNIT_EXPECT_TRUE(test, hipec_vm_has_event(&fake->vm, i));
		KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, i), 0);
		KUNIT_EXPECT_EQ(test, fake->vm.slot[n], i);
	}
}

/* The last slot a policy may declare and the first of the system's differ. */
static void all_240_slots_are_there(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	struct hipec_fakehost *fake;
	u8 last = 0;

	while (kit->nr_operands < HIPEC_SLOT_SYSTEM)
		last = hipec_kit_int(kit, kit->nr_operands);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_ARITH, last, HIPEC_SLOT_SYSTEM,
		     HIPEC_ARITH_SET);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	KUNIT_EXPECT_EQ(test, fake->vm.slot[last], HIPEC_SLOT_SYSTEM - 1);
	fake->vm.slot[HIPEC_SLOT_SYSTEM] = S64_MIN;
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, fake->vm.slot[last], S64_MIN);
}

/* What a policy leaves when it ends is whole, and no page is lost. */
static void a_policy_that_ended_leaves_its_pages_in_order(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit), q = hipec_kit_queue(kit);
	struct hipec_fakehost *fake;
	struct hipec_vm *vm;
	u32 i, h;

	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, q, HIPEC_END_HEAD);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 8);
	vm = &fake->vm;
	hipec_kit_pages(fake, 8);
	for (i = 0; i < 6; i++) {
		vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)i << 12;
		KUNIT_EXPECT_EQ(test,
				hipec_fakehost_run(fake, HIPEC_EVENT_PAGEFAULT),
				0);
	}
	vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] = 8ll << 12;	/* no such page */
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_PAGEFAULT),
			-ECANCELED);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	hipec_vm_abandon(vm);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	/* 6 and 7 were on the fallback queue; then q from its head. */
	h = vm->queue[HIPEC_QUEUE_FALLBACK].head;
	for (i = 0; i < 8; i++, h = vm->page[h].next)
		KUNIT_EXPECT_EQ(test, vm->page[h].pgno, i < 2 ? 6 + i : 7 - i);
	KUNIT_EXPECT_EQ(test, h, 0);
}

/*
 * The application sets what the policy declares as param, within its range, and
 * nothing else; the policy may leave the range.
 */
static void only_params_are_set_and_in_their_ranges(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 n = hipec_kit_slot(kit, HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 5);
	u8 fixed = hipec_kit_slot(kit, HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM |
				  HIPEC_OPERAND_CONST, 7);
	u8 any = hipec_kit_slot(kit, HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM |
				HIPEC_OPERAND_COUNTER, 0);
	u8 plain = hipec_kit_int(kit, 3), q = hipec_kit_queue(kit);
	struct hipec_fakehost *fake;
	struct hipec_vm *vm;

	kit->operand[n].low = 1;
	kit->operand[n].high = 9;
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_ARITH, n, 0, HIPEC_ARITH_INC);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	fake = hipec_kit_machine(kit, 1);
	vm = &fake->vm;
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, n, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, n, 10), -ERANGE);
	KUNIT_EXPECT_EQ(test, vm->slot[n], 5);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, n, 1), 0);
	KUNIT_EXPECT_EQ(test, vm->slot[n], 1);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, n, 9), 0);
	KUNIT_EXPECT_EQ(test, hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, vm->slot[n], 10);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, fixed, 7), -EACCES);
	KUNIT_EXPECT_EQ(test, vm->slot[fixed], 7);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, any, S64_MIN), 0);
	KUNIT_EXPECT_EQ(test, vm->slot[any], S64_MIN);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, plain, 3), -EPERM);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, q, 0), -EPERM);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, HIPEC_SLOT_FREE_COUNT, 1),
			-EPERM);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, kit->nr_operands, 1),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, HIPEC_SLOT_TIME, 1),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, hipec_vm_set_param(vm, ~0u, 1), -ENOENT);
}

static struct kunit_case run_cases[] = {
	KUNIT_CASE(calls_return_in_the_order_they_were_made),
	KUNIT_CASE(condition_does_not_outlive_its_event),
	KUNIT_CASE(endless_loops_run_out_of_fuel),
	KUNIT_CASE(trees_of_calls_run_out_of_fuel),
	KUNIT_CASE(fuel_is_full_when_an_event_starts),
	KUNIT_CASE(an_end_before_a_return_has_a_place),
	KUNIT_CASE(straight_lines_look_at_the_time),
	KUNIT_CASE(a_late_event_is_given_up_alone),
	KUNIT_CASE(commands_are_counted_exactly),
	KUNIT_CASE(fuel_grows_with_the_pages),
	KUNIT_CASE(four_tebibytes_of_frames_fit),
	KUNIT_CASE(exit_record_names_the_command_that_did_it),
	KUNIT_CASE(exit_record_has_no_line_without_a_line_table),
	KUNIT_CASE(jumps_reach_the_ends_of_the_longest_event),
	KUNIT_CASE(every_event_number_runs),
	KUNIT_CASE(all_240_slots_are_there),
	KUNIT_CASE(a_policy_that_ended_leaves_its_pages_in_order),
	KUNIT_CASE(only_params_are_set_and_in_their_ranges),
	{ }
};

static struct kunit_suite run_suite = {
	.name = "hipec_run",
	.test_cases = run_cases,
};

kunit_test_suites(&run_suite);

MODULE_DESCRIPTION("hipec's KUnit suites");
MODULE_LICENSE("GPL");
