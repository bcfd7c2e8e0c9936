// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/adopt.c: a machine takes the place of another, and its pages, one
 * property at a time.
 */
#include "kunit_machine.h"

#define FRAMES 8
#define Q HIPEC_QUEUE_POLICY

/* A machine without pages, of a policy with two queues, @ghosts percent. */
static struct hipec_fakehost *machine(struct kunit *test, u32 ghosts)
{
	struct hipec_kit *kit = hipec_kit_new(test);

	kit->ghosts = ghosts;
	hipec_kit_queue(kit);
	hipec_kit_queue(kit);
	return hipec_kit_machine(kit, FRAMES);
}

/* @old's place for the same policy, in a table of @nr entries. */
static struct hipec_vm *heir(struct kunit *test, const struct hipec_vm *old, u32 nr)
{
	const struct hipec_policy *p = old->policy;
	struct hipec_vm *vm = kunit_kzalloc(test, sizeof(*vm), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, hipec_vm_table_size(p, nr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vm);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	hipec_vm_init_table(vm, p, old->host, memory, NULL, FRAMES, nr);
	return vm;
}

/* A live page on queue @q. */
static u32 live(struct hipec_vm *vm, u32 pgno, u32 q)
{
	u32 h = hipec_page_add(vm, pgno);

	hipec_page_activate(vm, h);
	if (q != HIPEC_QUEUE_FALLBACK)
		hipec_queue_move(vm, q, h, HIPEC_END_TAIL);
	return h;
}

/* One live page after the other, in its order. Return: their number. */
static u32 show_all(struct hipec_vm *vm, const struct hipec_vm *old)
{
	u32 h = 0, nr = 0;

	while ((h = hipec_vm_next_live(old, h))) {
		hipec_page_activate(vm, h);
		nr++;
	}
	return nr;
}

static void adopt_test_pages_come_in_the_order_of_abandon(struct kunit *test)
{
	static const u32 order[] = { 10, 11, 12, 13, 14, 15 };
	struct hipec_vm *old = &machine(test, 0)->vm, *vm;
	u32 i, h = 0;

	/* The last queue is the built-in replacement's. */
	live(old, 15, old->nr_queues - 1);
	live(old, 13, Q + 1);
	live(old, 14, Q + 1);
	live(old, 12, Q);
	live(old, 10, HIPEC_QUEUE_FALLBACK);
	live(old, 11, HIPEC_QUEUE_FALLBACK);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		h = hipec_vm_next_live(old, h);
		KUNIT_ASSERT_NE(test, h, 0);
		KUNIT_EXPECT_EQ(test, old->page[h].pgno, order[i]);
	}
	KUNIT_EXPECT_EQ(test, hipec_vm_next_live(old, h), 0);
	vm = heir(test, old, old->nr_pages);
	hipec_vm_inherit(vm, old);
	KUNIT_EXPECT_EQ(test, vm->nr_live, 0);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	KUNIT_EXPECT_EQ(test, show_all(vm, old), ARRAY_SIZE(order));
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	HIPEC_KIT_EXPECT_WHOLE(test, old);
	hipec_vm_abandon(old);
	for (i = 0, h = vm->queue[HIPEC_QUEUE_FALLBACK].head; h;
	     h = vm->page[h].next, i++)
		KUNIT_EXPECT_EQ(test, vm->page[h].pgno, order[i]);
	KUNIT_EXPECT_EQ(test, i, ARRAY_SIZE(order));
}

/* Read, given up and being cleaned: what holds a frame keeps its handle. */
static void adopt_test_frames_keep_their_handles(struct kunit *test)
{
	struct hipec_vm *old = &machine(test, 100)->vm, *vm;
	u32 gone = live(old, 1, Q), kept = live(old, 2, Q);
	u32 read = hipec_page_add(old, 3), leaving = live(old, 4, Q);

	old->page[kept].flags |= 0x4000;
	old->page[read].flags |= 0x0100;
	hipec_page_deactivate(old, leaving);
	hipec_page_forget_evicted(old);
	hipec_page_del(old, gone);
	hipec_page_forget_evicted(old);
	vm = heir(test, old, old->nr_pages + 5);
	hipec_vm_inherit(vm, old);
	KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 1), 0);
	KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 2), kept);
	KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 3), read);
	KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 4), leaving);
	KUNIT_EXPECT_EQ(test, vm->page[kept].flags, HIPEC_PAGE_FRAME | 0x4000);
	KUNIT_EXPECT_EQ(test, vm->page[read].flags, HIPEC_PAGE_FRAME | 0x0100);
	KUNIT_EXPECT_EQ(test, show_all(vm, old), 1);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	/* All the other entries are there for others. */
	for (gone = 100; hipec_page_add(vm, gone); gone++)
		;
	KUNIT_EXPECT_EQ(test, gone, 100 + old->nr_pages + 5 - 3);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
}

/* A ghost stays behind; one that is being read again is a page like others. */
static void adopt_test_ghosts_stay_behind(struct kunit *test)
{
	struct hipec_vm *old = &machine(test, 100)->vm, *vm;
	u32 ghost = live(old, 1, Q), again = live(old, 2, Q), h;
	u32 pair[] = { ghost, again }, i;

	for (i = 0; i < 2; i++) {
		hipec_page_del(old, pair[i]);
		/* As EnQueue does: the policy remembers it. */
		hipec_queue_move(old, Q, pair[i], HIPEC_END_TAIL);
		old->page[pair[i]].flags &= ~HIPEC_PAGE_EVICTED;
		old->page[pair[i]].flags |= HIPEC_PAGE_GHOST;
		old->nr_ghosts++;
	}
	KUNIT_ASSERT_EQ(test, hipec_page_add(old, 2), again);
	HIPEC_KIT_EXPECT_WHOLE(test, old);
	vm = heir(test, old, old->nr_pages);
	hipec_vm_inherit(vm, old);
	KUNIT_EXPECT_EQ(test, show_all(vm, old), 0);
	KUNIT_EXPECT_EQ(test, hipec_page_find_named(vm, 1), 0);
	KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 2), again);
	KUNIT_EXPECT_EQ(test, vm->nr_ghosts, 0);
	h = again;
	hipec_page_activate(vm, h);
	KUNIT_EXPECT_EQ(test, vm->page[h].queue, HIPEC_QUEUE_FALLBACK);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
}

/* What the host noted meanwhile is there when the old machine goes on. */
static void adopt_test_handing_back_keeps_what_was_noted(struct kunit *test)
{
	struct hipec_vm *old = &machine(test, 0)->vm, *vm;
	u32 a = live(old, 1, Q), b = live(old, 2, Q + 1);

	old->page[a].flags |= 0x1000;
	vm = heir(test, old, old->nr_pages);
	hipec_vm_inherit(vm, old);
	show_all(vm, old);
	vm->page[a].flags &= ~0x1000;
	vm->page[a].flags |= 0x2000;
	vm->page[b].flags |= 0x6000;
	hipec_vm_restore(old, vm);
	KUNIT_EXPECT_EQ(test, old->page[a].flags,
			HIPEC_PAGE_FRAME | HIPEC_PAGE_LIVE | 0x2000);
	KUNIT_EXPECT_EQ(test, old->page[b].flags,
			HIPEC_PAGE_FRAME | HIPEC_PAGE_LIVE | 0x6000);
	KUNIT_EXPECT_EQ(test, old->page[a].queue, Q);
	KUNIT_EXPECT_EQ(test, old->page[b].queue, Q + 1);
	HIPEC_KIT_EXPECT_WHOLE(test, old);
}

/* A machine with more entries than its policy has use for has no more ghosts. */
static void adopt_test_longer_table_makes_no_ghosts(struct kunit *test)
{
	struct hipec_vm *old = &machine(test, 50)->vm;
	struct hipec_vm *vm = heir(test, old, 100);

	KUNIT_EXPECT_EQ(test, vm->max_ghosts, FRAMES / 2);
	KUNIT_EXPECT_EQ(test, vm->nr_pages, 100);
	KUNIT_EXPECT_EQ(test, vm->slot[HIPEC_SLOT_PAGE_ENTRIES], 100);
}

static struct kunit_case adopt_cases[] = {
	KUNIT_CASE(adopt_test_pages_come_in_the_order_of_abandon),
	KUNIT_CASE(adopt_test_frames_keep_their_handles),
	KUNIT_CASE(adopt_test_ghosts_stay_behind),
	KUNIT_CASE(adopt_test_handing_back_keeps_what_was_noted),
	KUNIT_CASE(adopt_test_longer_table_makes_no_ghosts),
	{ }
};

static struct kunit_suite adopt_suite = {
	.name = "hipec_adopt",
	.test_cases = adopt_cases,
};
kunit_test_suites(&adopt_suite);
