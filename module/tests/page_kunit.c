// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/page.c, machine.c and queue.h as their host uses them: the page
 * table, one property at a time. walk_kunit.c has all of them at once.
 */
#include "kunit_machine.h"
#include "../vm/bucket.h"

#define NR_QUEUES 3	/* of the policy; the last one is ordered */
#define QUEUE HIPEC_QUEUE_POLICY
#define ORDERED (HIPEC_QUEUE_POLICY + NR_QUEUES - 1)

static struct hipec_fakehost *machine_with(struct kunit *test, u32 nr_frames,
					   u32 ghosts)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u32 i;

	kit->ghosts = ghosts;
	for (i = 1; i < NR_QUEUES; i++)
		hipec_kit_queue(kit);
	hipec_kit_ordered(kit, hipec_kit_field(kit));
	return hipec_kit_machine(kit, nr_frames);
}

static struct hipec_fakehost *machine(struct kunit *test, u32 nr_frames)
{
	return machine_with(test, nr_frames, 0);
}

/* Entries are as many as were asked for, and all of them come back. */
static void table_holds_exactly_its_pages(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 3, 64, 100, 1000 };
	u32 i, pgno, turn;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct hipec_vm *vm = &machine(test, sizes[i])->vm;

		for (turn = 0; turn < 2; turn++) {
			for (pgno = 0; pgno < sizes[i]; pgno++)
				KUNIT_EXPECT_NE(test, hipec_page_add(vm, pgno), 0);
			KUNIT_EXPECT_EQ(test, hipec_page_add(vm, pgno), 0);
			KUNIT_EXPECT_EQ(test, hipec_page_find(vm, pgno), 0);
			HIPEC_KIT_EXPECT_WHOLE(test, vm);
			while (pgno--)
				hipec_page_del(vm, hipec_page_find(vm, pgno));
			HIPEC_KIT_EXPECT_WHOLE(test, vm);
		}
	}
}

/*
 * A table that the host gives memory for bit by bit is as good as a whole one: pages get
 * the same entries, none is lost where buckets are split, and what was given back is used
 * before what was never used.
 */
static void a_table_may_grow_with_its_pages(struct kunit *test)
{
	enum { NR = 1000, STEP = 37 };
	struct hipec_vm *whole = &machine(test, NR)->vm, *vm = &machine(test, NR)->vm;
	u32 pgno = 0, i, h;

	for (vm->nr_there = STEP; vm->nr_there <= NR; vm->nr_there += STEP) {
		while ((h = hipec_page_add(vm, pgno * 7919))) {
			KUNIT_ASSERT_EQ(test, h, hipec_page_add(whole, pgno * 7919));
			pgno++;
		}
		KUNIT_ASSERT_EQ(test, vm->reached, vm->nr_there);
		KUNIT_ASSERT_EQ(test, hipec_page_next_unused(vm), vm->nr_there + 1);
		for (i = 0; i < pgno; i++) {
			h = hipec_page_find(vm, i * 7919);
			KUNIT_ASSERT_EQ(test, h, hipec_page_find(whole, i * 7919));
			KUNIT_ASSERT_NE(test, h, 0);
		}
		for (i = 0; i < 2; i++) {
			hipec_page_del(vm, hipec_page_find(vm, --pgno * 7919));
			hipec_page_del(whole, hipec_page_find(whole, pgno * 7919));
		}
	}
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
}

/*
 * A table whose pages have left uses as many entries as there are pages, and then grows as if it
 * had never been larger. Queues, orders, fields and variables are those of the same pages.
 */
static void a_table_may_use_fewer_entries(struct kunit *test)
{
	enum { NR = 1000, KEPT = 7 };
	struct hipec_vm *vm = &machine(test, NR)->vm;
	u32 pgno, h, last, nr = 0;

	for (pgno = 0; pgno < NR; pgno++) {
		h = hipec_page_add(vm, pgno);
		hipec_page_activate(vm, h);
		vm->field[h] = pgno % 10;
		hipec_queue_move(vm, pgno % 2 ? ORDERED : QUEUE, h, HIPEC_END_TAIL);
	}
	for (pgno = 0; pgno < NR; pgno++)
		if (pgno % KEPT)
			hipec_page_del(vm, hipec_page_find(vm, pgno));
		else
			nr++;
	while (vm->nr_unused) {
		last = vm->reached;
		if (hipec_page_live(vm, last))
			hipec_compact_move(vm, last, vm->unused);
		hipec_compact_drop_last(vm);
		KUNIT_ASSERT_EQ(test, vm->reached, last - 1);
	}
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	KUNIT_EXPECT_EQ(test, vm->reached, nr);
	for (pgno = 0, h = vm->queue[QUEUE].head; pgno < NR; pgno += 2 * KEPT) {
		KUNIT_ASSERT_EQ(test, vm->page[h].pgno, pgno);
		KUNIT_EXPECT_EQ(test, vm->field[h], pgno % 10);
		h = vm->page[h].next;
	}
	KUNIT_EXPECT_EQ(test, h, 0);
	for (h = nr + 1; h <= NR; h++)
		KUNIT_ASSERT_EQ(test, vm->bucket[h] | vm->page[h].flags, 0);
	for (pgno = 0; pgno < NR; pgno++)
		if (pgno % KEPT)
			KUNIT_ASSERT_EQ(test, hipec_page_add(vm, pgno), ++nr);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
}

/* Pages that share a bucket are found and forgotten one by one, in any order. */
static void pages_of_one_bucket_do_not_hide_each_other(struct kunit *test)
{
	enum { NR = 8 };
	static const u8 orders[][NR] = {
		{ 0, 1, 2, 3, 4, 5, 6, 7 }, { 7, 6, 5, 4, 3, 2, 1, 0 },
		{ 3, 7, 0, 5, 1, 6, 2, 4 },
	};
	u32 i, j, k, h, pgno;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		struct hipec_vm *vm = &machine(test, NR)->vm;
		u32 same[NR], nr = 0, bucket = 0;

		/* The first pages that hash to one bucket, found by looking. */
		for (pgno = 1000; nr < NR; pgno++) {
			h = hipec_page_add(vm, pgno);
			for (k = 0; k <= vm->nr_pages; k++)
				if (vm->bucket[k] == h)
					break;
			KUNIT_ASSERT_TRUE(test, k <= vm->nr_pages);
			if (!nr)
				bucket = k;
			if (k == bucket)
				same[nr++] = pgno;
			else
				hipec_page_del(vm, h);
		}
		for (j = 0; j < NR; j++) {
			hipec_page_del(vm, hipec_page_find(vm, same[orders[i][j]]));
			for (k = 0; k < NR; k++) {
				bool gone = false;
				u32 l;

				for (l = 0; l <= j; l++)
					gone |= orders[i][l] == k;
				h = hipec_page_find(vm, same[k]);
				KUNIT_EXPECT_EQ(test, !h, gone);
			}
			HIPEC_KIT_EXPECT_WHOLE(test, vm);
		}
	}
}

/* Page numbers are 32 bits, all of which count. */
static void extreme_page_numbers_are_told_apart(struct kunit *test)
{
	static const u32 pgno[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe,
				    0xffffffff };
	struct hipec_vm *vm = &machine(test, ARRAY_SIZE(pgno))->vm;
	u32 h[ARRAY_SIZE(pgno)], i;

	for (i = 0; i < ARRAY_SIZE(pgno); i++)
		h[i] = hipec_page_add(vm, pgno[i]);
	for (i = 0; i < ARRAY_SIZE(pgno); i++)
		KUNIT_EXPECT_EQ(test, hipec_page_find(vm, pgno[i]), h[i]);
	KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 0x7ffffffe), 0);
}

/*
 * What was given up dirty is known until it is clean, but not to the policy; one
 * that has ghosts may name it until the event ends.
 */
static void pages_being_cleaned_keep_their_entry(struct kunit *test)
{
	u32 ghosts, h;

	for (ghosts = 0; ghosts <= 100; ghosts += 100) {
		struct hipec_fakehost *fake = machine_with(test, 3, ghosts);
		struct hipec_vm *vm = &fake->vm;

		hipec_kit_pages(fake, 3);
		h = hipec_page_find(vm, 0);
		hipec_page_deactivate(vm, h);
		KUNIT_EXPECT_EQ(test, hipec_page_find_named(vm, 0),
				ghosts ? h : 0);
		hipec_page_forget_evicted(vm);
		HIPEC_KIT_EXPECT_WHOLE(test, vm);
		KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 0), h);
		KUNIT_EXPECT_EQ(test, hipec_page_find_named(vm, 0), 0);
		KUNIT_EXPECT_EQ(test, vm->nr_live, 2);
		if (!ghosts)
			KUNIT_EXPECT_EQ(test, hipec_page_add(vm, 7), 0);
		hipec_page_del(vm, h);
		HIPEC_KIT_EXPECT_WHOLE(test, vm);
		KUNIT_EXPECT_EQ(test, hipec_page_find(vm, 0), 0);
		KUNIT_EXPECT_NE(test, hipec_page_add(vm, 7), 0);
	}
}

/* The host may show a page before the event that gave it up was cleaned up. */
static void a_page_may_come_back_at_once(struct kunit *test)
{
	struct hipec_fakehost *fake = machine_with(test, 2, 50);
	struct hipec_vm *vm = &fake->vm;
	u32 h;

	hipec_kit_pages(fake, 2);
	h = hipec_page_find(vm, 0);
	hipec_page_deactivate(vm, h);
	hipec_page_activate(vm, h);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	KUNIT_EXPECT_TRUE(test, hipec_page_live(vm, h));
	KUNIT_EXPECT_EQ(test, vm->queue[HIPEC_QUEUE_FALLBACK].tail, h);
	KUNIT_EXPECT_EQ(test, vm->nr_live, 2);
}

/* The one page of a queue may be moved to either end of the same queue. */
static void moving_the_only_page_changes_nothing(struct kunit *test)
{
	struct hipec_fakehost *fake = machine(test, 1);
	struct hipec_vm *vm = &fake->vm;
	u32 h, i;

	hipec_kit_pages(fake, 1);
	h = hipec_page_find(vm, 0);
	for (i = 0; i < 4; i++) {
		hipec_queue_move(vm, QUEUE, h,
				 i % 2 ? HIPEC_END_HEAD : HIPEC_END_TAIL);
		HIPEC_KIT_EXPECT_WHOLE(test, vm);
		KUNIT_EXPECT_EQ(test, vm->queue[QUEUE].head, h);
		KUNIT_EXPECT_EQ(test, vm->queue[QUEUE].count, 1);
	}
}

/* 1 to 4 are on the fallback queue, 5 and 6 on the ordered one; 7 and 8 are unused. */
static void six_pages(struct hipec_fakehost *fake)
{
	struct hipec_vm *vm = &fake->vm;
	u32 h;

	hipec_kit_pages(fake, 6);
	for (h = 5; h <= 6; h++) {
		vm->field[h] = h;
		hipec_queue_move(vm, ORDERED, h, HIPEC_END_TAIL);
	}
}

/*
 * A checker that sees nothing proves nothing: each kind of damage is seen, and
 * a machine that was mended is whole again.
 */
static void the_checker_sees_each_kind_of_damage(struct kunit *test)
{
	struct hipec_fakehost *fake = machine(test, 8);
	struct hipec_vm *vm = &fake->vm;
	u32 i;
	struct {
		u32 *place, wrong;
	} damage[] = {
		{ &vm->queue[HIPEC_QUEUE_FREE].head, 1 },
		{ &vm->queue[HIPEC_QUEUE_FALLBACK].head, 0 },
		{ &vm->queue[HIPEC_QUEUE_FALLBACK].tail, 1 },
		{ &vm->queue[HIPEC_QUEUE_FALLBACK].tail, 0 },
		{ &vm->queue[HIPEC_QUEUE_FALLBACK].count, 3 },
		{ &vm->queue[HIPEC_QUEUE_FALLBACK].count, 5 },
		{ &vm->queue[QUEUE].count, 1 },
		{ &vm->queue[HIPEC_QUEUE_POLICY].head, 1 },
		{ &vm->page[1].next, 1 },	/* a cycle of one */
		{ &vm->page[4].next, 1 },	/* and of all */
		{ &vm->page[2].next, 4 },	/* a page left out */
		{ &vm->page[2].next, 1000 },	/* out of the table */
		{ &vm->page[3].prev, 1 },
		{ &vm->page[1].pgno, 99 },	/* in the wrong bucket */
		{ &vm->page[2].pgno, 2 },	/* of another page */
		{ &vm->page[0].next, 1 },
		{ &vm->nr_live, 7 },
		{ &vm->nr_live, 5 },
		{ &vm->nr_ghosts, 1 },
		{ &vm->unused, 0 },		/* entries lost */
		{ &vm->unused, 1 },		/* one in use */
		{ &vm->nr_unused, 1 },
		{ &vm->reached, 7 },
		{ &vm->page[7].next, 8 },	/* a cycle of unused ones */
		{ &vm->page[7].prev, 7 },
	};

	six_pages(fake);
	hipec_fakehost_add(fake, 6, 0);
	hipec_fakehost_add(fake, 7, 0);
	hipec_page_del(vm, 7);
	hipec_page_del(vm, 8);
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	for (i = 0; i < ARRAY_SIZE(damage); i++) {
		u32 right = *damage[i].place;

		*damage[i].place = damage[i].wrong;
		KUNIT_EXPECT_TRUE_MSG(test, hipec_vm_broken(vm), "damage %u", i);
		*damage[i].place = right;
	}
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
}

static void the_checker_sees_wrong_orders_queues_and_flags(struct kunit *test)
{
	struct hipec_fakehost *fake = machine(test, 8);
	struct hipec_vm *vm = &fake->vm;
	u32 i;

	six_pages(fake);
	vm->node[5].key = 7;		/* not in order */
	KUNIT_EXPECT_NOT_NULL(test, hipec_vm_broken(vm));
	vm->node[5].key = 5;
	vm->page[1].queue = QUEUE;
	KUNIT_EXPECT_NOT_NULL(test, hipec_vm_broken(vm));
	vm->page[1].queue = HIPEC_QUEUE_FALLBACK;
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	for (i = 0; i < 4; i++) {
		vm->page[2].flags ^= HIPEC_PAGE_FRAME << i;
		KUNIT_EXPECT_TRUE_MSG(test, hipec_vm_broken(vm), "flag %u", i);
		vm->page[2].flags ^= HIPEC_PAGE_FRAME << i;
	}
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	vm->slot[HIPEC_SLOT_POLICY] = HIPEC_QUEUE_FALLBACK;
	KUNIT_EXPECT_NOT_NULL(test, hipec_vm_broken(vm));
}

/* A machine uses all the memory that it asks for, and nothing beside it. */
static void machine_stays_inside_its_memory(struct kunit *test)
{
	enum { GUARD = 64, FILL = 0x5a };
	struct hipec_kit *kit = hipec_kit_new(test);
	u32 nr, i, pgno, h;

	/* Something of all that takes memory. */
	hipec_kit_ordered(kit, hipec_kit_field(kit));
	hipec_kit_field(kit);
	hipec_kit_array(kit, HIPEC_TYPE_INTS, 3);
	hipec_kit_array(kit, HIPEC_TYPE_QUEUES, 3);
	kit->ghosts = 25;
	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	for (nr = 1; nr <= 33; nr += 8) {
		size_t size = hipec_fakehost_size(&kit->policy, nr);
		u8 *memory = kunit_kmalloc(test, size + GUARD, GFP_KERNEL);
		struct hipec_fakehost *fake =
			kunit_kmalloc(test, sizeof(*fake), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, memory);
		KUNIT_ASSERT_NOT_NULL(test, fake);
		memset(memory, FILL, size + GUARD);
		hipec_fakehost_init(fake, &kit->policy, memory, nr);
		for (pgno = 0; pgno < nr; pgno++) {
			h = hipec_fakehost_add(fake, pgno * 3, 0);
			fake->vm.field[2 * h + 1] = S64_MIN;
			hipec_queue_move(&fake->vm, QUEUE, h, HIPEC_END_HEAD);
		}
		fake->vm.array[0].element[2] = S64_MIN;
		HIPEC_KIT_EXPECT_WHOLE(test, &fake->vm);
		for (i = 0; i < GUARD; i++)
			KUNIT_EXPECT_EQ(test, memory[size + i], FILL);
	}
}

/* Links that are followed to find each of @page, of a table with that key that has them all. */
static u32 links(struct kunit *test, u64 key, const u32 *page, u32 nr)
{
	struct hipec_vm *vm = &machine(test, nr)->vm;
	u32 steps = 0, i, h;

	vm->key = key;
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_NE(test, hipec_page_add(vm, page[i]), 0);
	for (i = 0; i < nr; i++)
		for (h = *hipec_bucket_of(vm, page[i]); vm->page[h].pgno != page[i];
		     h = vm->page[h].chain)
			steps++;
	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	return steps;
}

#define SOME_KEY 0xd1342543de82ef95ull

/*
 * Pages that share a bucket under one key are found as soon as any under another: without the
 * key nobody can choose pages that make a container slow.
 */
static void the_key_parts_pages_that_met(struct kunit *test)
{
	enum { NR = 512 };
	struct hipec_vm *vm = &machine(test, NR)->vm;
	u32 *page = kunit_kmalloc(test, NR * sizeof(*page), GFP_KERNEL), nr = 0, i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	hipec_page_reach(vm, NR);
	for (i = 0; nr < NR; i++)
		if (hipec_bucket_of(vm, i) == vm->bucket)
			page[nr++] = i;
	KUNIT_EXPECT_EQ(test, links(test, vm->key, page, NR), NR * (NR - 1) / 2);
	KUNIT_EXPECT_LT(test, links(test, SOME_KEY, page, NR), 2 * NR);
	KUNIT_EXPECT_LT(test, links(test, 3 * SOME_KEY, page, NR), 2 * NR);
}

/* Nor are there pages that meet under every key, nor keys that suit no usual file. */
static void no_pages_meet_under_all_keys(struct kunit *test)
{
	enum { NR = 512, KEYS = 64 };
	static const u32 strides[] = { 1, 2, 3, 8, 512, 1 << 12, 1 << 20, 1 << 23 };
	u32 *page = kunit_kmalloc(test, NR * sizeof(*page), GFP_KERNEL), i, j, k, sum;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		for (j = 0; j < NR; j++)
			page[j] = 12345 + strides[i] * j;
		sum = 0;
		for (k = 0; k < KEYS; k++)
			sum += links(test, (SOME_KEY * (2 * k + 1)) | 1, page, NR);
		KUNIT_EXPECT_LT(test, sum, KEYS * NR);
	}
}

static struct kunit_case page_cases[] = {
	KUNIT_CASE(table_holds_exactly_its_pages),
	KUNIT_CASE(a_table_may_grow_with_its_pages),
	KUNIT_CASE(a_table_may_use_fewer_entries),
	KUNIT_CASE(pages_of_one_bucket_do_not_hide_each_other),
	KUNIT_CASE(extreme_page_numbers_are_told_apart),
	KUNIT_CASE(pages_being_cleaned_keep_their_entry),
	KUNIT_CASE(a_page_may_come_back_at_once),
	KUNIT_CASE(moving_the_only_page_changes_nothing),
	KUNIT_CASE(the_checker_sees_each_kind_of_damage),
	KUNIT_CASE(the_checker_sees_wrong_orders_queues_and_flags),
	KUNIT_CASE(machine_stays_inside_its_memory),
	KUNIT_CASE(the_key_parts_pages_that_met),
	KUNIT_CASE(no_pages_meet_under_all_keys),
	{ }
};

static struct kunit_suite page_suite = {
	.name = "hipec_page",
	.test_cases = page_cases,
};

kunit_test_suites(&page_suite);
