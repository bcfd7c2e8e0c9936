// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/fifo2.c: the built-in replacement takes the decisions of Figure 3,
 * run by the interpreter beside it, and goes on where that would end.
 */
#include "../vm/fifo2.h"
#include "kunit_machine.h"

static bool take(struct hipec_vm *vm, u32 h)
{
	return vm->host->evict(vm, h, true);
}

/* Figure 3, and the Remove of policies/fifo2.hp, as ampc compiles them. */
static struct hipec_kit *figure3(struct kunit *test)
{
	static const u32 page_fault[] = {
		0x1009f000, 0x01010006, 0x08090202, 0x01030005, 0,
	};
	static const u32 replace[] = {
		0x010a0307, 0x010a0501, 0x010a0b03, 0x010a0c04, 0x01080a07,
		0x02050802, 0x0602000e, 0x07090201, 0x01030006, 0x0c090201,
		0x08090402, 0x01050005, 0x06000006, 0x02010702, 0x0602001d,
		0x07090401, 0x01050006, 0x0d090000, 0x06020017, 0x08090202,
		0x01030005, 0x06000001, 0x0e090000, 0x0602001a, 0x0b090000,
		0x08090001, 0x01010005, 0x06000001, 0,
	};
	static const u32 remove[] = { 0x23030200, 0x23050400, 0 };
	static const struct {
		u32 number, nr;
		const u32 *words;
	} events[] = {
		{ HIPEC_EVENT_PAGEFAULT, ARRAY_SIZE(page_fault), page_fault },
		{ HIPEC_EVENT_REPLACE, ARRAY_SIZE(replace), replace },
		{ HIPEC_EVENT_REMOVE, ARRAY_SIZE(remove), remove },
	};
	struct hipec_kit *kit = hipec_kit_new(test);
	u32 i, j;

	hipec_kit_queue(kit);		/* 2 active_queue, 3 active_count */
	hipec_kit_int(kit, 0);
	hipec_kit_queue(kit);		/* 4 inactive_queue, 5 inactive_count */
	hipec_kit_int(kit, 0);
	hipec_kit_int(kit, 1);		/* 6, 7 free_target, 8 inactive_target */
	hipec_kit_int(kit, 1);
	hipec_kit_int(kit, 0);
	hipec_kit_page(kit);		/* 9 page, 0a temporary */
	hipec_kit_int(kit, 0);
	hipec_kit_const(kit, 2);
	hipec_kit_const(kit, 3);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		hipec_kit_event(kit, events[i].number);
		for (j = 0; j < events[i].nr; j++) {
			u32 word = events[i].words[j];

			hipec_kit_op(kit, word >> 24, word >> 16, word >> 8,
				     word);
		}
	}
	return kit;
}

/* A machine without a policy. */
static struct hipec_fakehost *builtin(struct kunit *test, u32 nr_frames)
{
	struct hipec_policy *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct hipec_fakehost *fake;
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, p);
	hipec_fifo2_policy(p);
	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	memory = kunit_kzalloc(test, hipec_fakehost_size(p, nr_frames),
			       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	hipec_fakehost_init(fake, p, memory, nr_frames);
	return fake;
}

/* The next page of a walk: round and round, anywhere, or rather low ones. */
static u32 next_page(u32 kind, u32 step, u32 pages, u32 *seed)
{
	u32 r = hipec_kit_random(seed, pages);

	if (kind == 0)
		return step % pages;
	return kind == 1 ? r : r * hipec_kit_random(seed, pages) / pages;
}

struct pair {
	struct hipec_fakehost *of[2];	/* Figure 3's, the built-in one's */
};

static void set_bits(struct pair *p, u32 pgno, u16 bits)
{
	u32 i;

	for (i = 0; i < 2; i++)
		p->of[i]->bits[hipec_page_find(&p->of[i]->vm, pgno)] |= bits;
}

/* Both give one page up, the same one. */
static void both_replace(struct kunit *test, struct pair *p)
{
	u32 i, pgno;

	for (i = 0; i < 2; i++) {
		p->of[i]->free = 0;
		p->of[i]->nr_given = 0;
	}
	KUNIT_ASSERT_EQ(test, hipec_fakehost_run(p->of[0],
						 HIPEC_EVENT_REPLACE), 0);
	KUNIT_ASSERT_TRUE(test, hipec_fifo2_replace(&p->of[1]->vm, take, &pgno));
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, p->of[i]->nr_given, 1);
		KUNIT_ASSERT_EQ(test, p->of[i]->given[0].pgno, pgno);
		hipec_fakehost_clean(p->of[i]);
	}
}

static void both_fault(struct kunit *test, struct pair *p, u32 pgno)
{
	u32 i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, hipec_fakehost_fault(p->of[i], pgno), 0);
	KUNIT_ASSERT_EQ(test, hipec_fakehost_run(p->of[0],
						 HIPEC_EVENT_PAGEFAULT), 0);
}

static void both_lose(struct kunit *test, struct pair *p, u32 pgno)
{
	u32 i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, hipec_fakehost_lose(p->of[i], pgno), 0);
	KUNIT_ASSERT_EQ(test, hipec_fakehost_run(p->of[0], HIPEC_EVENT_REMOVE),
			0);
}

static void walk(struct kunit *test, u32 kind, u32 frames, u32 seed)
{
	struct pair p = {
		{ hipec_kit_machine(figure3(test), frames),
		  builtin(test, frames) },
	};
	u32 pages = frames + 1 + hipec_kit_random(&seed, 2 * frames);
	u32 step, pgno;

	for (step = 0; step < 2000; step++) {
		pgno = next_page(kind, step, pages, &seed);
		if (!hipec_page_find(&p.of[0]->vm, pgno)) {
			if (p.of[0]->vm.nr_live == frames)
				both_replace(test, &p);
			both_fault(test, &p, pgno);
		}
		/* Not of a page that was read with another one. */
		if (hipec_kit_random(&seed, 4))
			set_bits(&p, pgno, HIPEC_FAKE_REF);
		if (!hipec_kit_random(&seed, 5))
			set_bits(&p, pgno, HIPEC_FAKE_MOD);
		if (!hipec_kit_random(&seed, 50))
			both_lose(test, &p, pgno);
	}
	HIPEC_KIT_EXPECT_WHOLE(test, &p.of[0]->vm);
	HIPEC_KIT_EXPECT_WHOLE(test, &p.of[1]->vm);
}

static void the_decisions_are_those_of_figure_3(struct kunit *test)
{
	static const u32 frames[] = { 2, 3, 4, 5, 33, 100 };
	u32 kind, i;

	for (kind = 0; kind < 3; kind++)
		for (i = 0; i < ARRAY_SIZE(frames); i++)
			walk(test, kind, frames[i], 1 + i);
}

static void no_policy_has_events(struct kunit *test)
{
	struct hipec_vm *vm = &builtin(test, 4)->vm;
	u32 event;

	for (event = 0; event < HIPEC_NR_EVENTS; event++)
		KUNIT_EXPECT_FALSE(test, hipec_vm_has_event(vm, event));
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_rules(vm));
	KUNIT_EXPECT_STREQ(test, hipec_image_policy_name(vm->policy,
							 vm->policy->operand[2].name),
			   "inactive_queue");
	KUNIT_EXPECT_EQ(test, vm->slot[2], vm->nr_queues - 1);
}

/* Figure 3 ends on a single page, which is never inactive. */
static void a_single_page_goes(struct kunit *test)
{
	struct hipec_fakehost *fake = builtin(test, 1);
	u32 pgno;

	KUNIT_EXPECT_FALSE(test, hipec_fifo2_replace(&fake->vm, take, &pgno));
	hipec_fakehost_add(fake, 7, HIPEC_FAKE_REF);
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_replace(&fake->vm, take, &pgno));
	KUNIT_EXPECT_EQ(test, pgno, 7);
	KUNIT_EXPECT_EQ(test, fake->vm.nr_live, 0);
}

/* Pages 0 to 7, all but page 5 pinned; then it as well. */
static void what_cannot_go_is_passed_over(struct kunit *test)
{
	struct hipec_fakehost *fake = builtin(test, 8);
	u32 pgno;

	for (pgno = 0; pgno < 8; pgno++)
		hipec_fakehost_add(fake, pgno,
				   pgno == 5 ? 0 : HIPEC_FAKE_PINNED);
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_replace(&fake->vm, take, &pgno));
	KUNIT_EXPECT_EQ(test, pgno, 5);
	KUNIT_EXPECT_FALSE(test, hipec_fifo2_replace(&fake->vm, take, &pgno));
	KUNIT_EXPECT_EQ(test, fake->vm.nr_live, 7);
	HIPEC_KIT_EXPECT_WHOLE(test, &fake->vm);
}

/* The bit is set again as soon as it was reset. */
static void keep_ref(struct hipec_vm *vm, u32 h, bool on)
{
	((struct hipec_fakehost *)vm)->bits[h] |= on ? 0 : HIPEC_FAKE_REF;
}

/* Pages that are touched as fast as they are looked at: one goes all the same. */
static void a_busy_page_goes_at_last(struct kunit *test)
{
	struct hipec_fakehost *fake = builtin(test, 8);
	struct hipec_host_ops ops = *fake->vm.host;
	u32 pgno;

	ops.set_ref = keep_ref;
	fake->vm.host = &ops;
	for (pgno = 0; pgno < 8; pgno++)
		hipec_fakehost_add(fake, pgno, HIPEC_FAKE_REF);
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_replace(&fake->vm, take, &pgno));
	KUNIT_EXPECT_EQ(test, fake->vm.nr_live, 7);
	HIPEC_KIT_EXPECT_WHOLE(test, &fake->vm);
}

/*
 * A policy has 0 1 on its first queue, 2 3 on the second, 4 5 on none, and ends:
 * the order is 4 5 0 1 2 3 then. Page 5, used since it became inactive, stays.
 */
static void it_takes_over_where_a_policy_ends(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	struct hipec_fakehost *fake;
	struct hipec_vm *vm;
	u32 pgno;

	hipec_kit_queue(kit);
	hipec_kit_queue(kit);
	fake = hipec_kit_machine(kit, 6);
	vm = &fake->vm;
	KUNIT_EXPECT_FALSE(test, hipec_fifo2_rules(vm));
	hipec_kit_pages(fake, 6);
	for (pgno = 0; pgno < 4; pgno++)
		hipec_queue_move(vm, HIPEC_QUEUE_POLICY + pgno / 2,
				 hipec_page_find(vm, pgno), HIPEC_END_TAIL);
	vm->exit.kind = HIPEC_EXIT_WORSE;
	hipec_vm_abandon(vm);
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_rules(vm));
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_replace(vm, take, &pgno));
	KUNIT_EXPECT_EQ(test, pgno, 4);
	fake->bits[hipec_page_find(vm, 5)] |= HIPEC_FAKE_REF;
	KUNIT_EXPECT_TRUE(test, hipec_fifo2_replace(vm, take, &pgno));
	KUNIT_EXPECT_EQ(test, pgno, 0);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
}

static struct kunit_case fifo2_cases[] = {
	KUNIT_CASE(the_decisions_are_those_of_figure_3),
	KUNIT_CASE(no_policy_has_events),
	KUNIT_CASE(a_single_page_goes),
	KUNIT_CASE(what_cannot_go_is_passed_over),
	KUNIT_CASE(a_busy_page_goes_at_last),
	KUNIT_CASE(it_takes_over_where_a_policy_ends),
	{ }
};

static struct kunit_suite fifo2_suite = {
	.name = "hipec_fifo2",
	.test_cases = fifo2_cases,
};

kunit_test_suites(&fifo2_suite);
