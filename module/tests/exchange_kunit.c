// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/exchange.c: members of a large pool tell its manager of several pages together,
 * and look at several without its lock.
 */
#include "sharehost.h"

#define LIVES 120
#define STEPS 400
#define TOGETHER 4

/* Two members, the first with @a_frames. */
static struct hipec_sharers *large(struct kunit *test, u32 max, u32 a_frames,
				   struct hipec_owner **a, struct hipec_owner **b)
{
	struct hipec_sharers *w = hipec_sharers_new(test, max);

	w->pool.mr.most = HIPEC_MAX_LOOKS;
	*a = hipec_sharer_new(test, w, a_frames, 2);
	*b = hipec_sharer_new(test, w, 30, 2);
	w->pool.together = TOGETHER;
	return w;
}

/* Of pages that take others' entries the manager is told when there are enough. */
static void pages_that_came_are_told_together(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 8, &a, &b);
	u32 pgno, tail;

	hipec_owner_bring_all(test, a, 0, 8);
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_added, 0);
	tail = w->pool.mr.active.tail;
	/* At its limit it replaces its own. */
	for (pgno = 8; pgno < 8 + TOGETHER; pgno++) {
		KUNIT_EXPECT_EQ(test, a->core.exchange.nr_added, pgno - 8);
		KUNIT_EXPECT_EQ(test, w->pool.mr.active.tail, tail);
		hipec_owner_bring_all(test, a, pgno, 1);
		hipec_sharers_expect_entries(test, w);
	}
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_added, 0);
	KUNIT_EXPECT_EQ(test, w->frame[w->pool.mr.active.tail].page,
			hipec_owner_find(a, 7 + TOGETHER));
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 8);
	/* So of pages that left: the fifth has all that are vacant kept, and is deleted itself. */
	for (pgno = 0; pgno < TOGETHER + 1; pgno++)
		KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_vacant, TOGETHER);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 7);
	hipec_sharers_expect_entries(test, w);
	hipec_exchange_forget(&a->core);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, 3);
	hipec_sharers_expect_entries(test, w);
}

/*
 * The pool is full of one's pages 0 to 37 in order: the other gets them in that order, four
 * looked up at a time, and is the only one whose page count grows.
 */
static void a_full_pool_gives_what_was_isolated(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 38, &a, &b);
	u32 pgno;

	hipec_owner_bring_all(test, a, 0, 38);
	hipec_owner_bring_all(test, b, 0, 2);
	KUNIT_ASSERT_EQ(test, atomic_long_read(&w->pool.nr), 40);
	for (pgno = 2; pgno < 8; pgno++) {
		hipec_owner_bring_all(test, b, pgno, 1);
		hipec_sharers_expect_entries(test, w);
		KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, pgno - 2));
		KUNIT_EXPECT_TRUE(test, hipec_owner_find(a, pgno - 1));
		KUNIT_EXPECT_EQ(test, b->core.exchange.nr_isolated - b->core.exchange.at,
				(TOGETHER * 2 - 1 - (pgno - 2)) % TOGETHER);
	}
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 32);
	KUNIT_EXPECT_EQ(test, b->core.nr_frames, 8);
	KUNIT_EXPECT_EQ(test, a->core.counters.given, 6);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), 40);
	hipec_owner_expect_whole(test, a);
	hipec_owner_expect_whole(test, b);
}

/* What was referenced since is active again; a busy member's page, too; the last few stay. */
static void what_was_isolated_may_be_passed_over(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 20, 18, &a, &b);
	struct hipec_demand d = hipec_owner_demand(b, 7);
	u32 pgno;

	hipec_owner_bring_all(test, a, 0, 18);
	hipec_owner_bring_all(test, b, 0, 3);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 0));
	/* Its policy has named it, and takes it back. */
	hipec_core_hit(&a->core, hipec_owner_find(a, 1), false);
	a->bits[hipec_owner_find(a, 1)] |= HIPEC_REF_POOL;
	hipec_owner_bring_all(test, b, 3, 1);
	KUNIT_EXPECT_TRUE(test, hipec_owner_find(a, 1));
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 2));
	KUNIT_EXPECT_EQ(test, b->core.exchange.nr_passed, 1);
	hipec_sharers_expect_entries(test, w);

	a->locked = true;
	for (pgno = 0; pgno < 4; pgno++)
		b->bits[hipec_owner_find(b, pgno)] |= OWNER_PINNED;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&b->core, &d, HIPEC_EFFORT_SOME), -EAGAIN);
	hipec_sharers_expect_entries(test, w);
	a->locked = false;
	for (pgno = 0; pgno < 4; pgno++)
		b->bits[hipec_owner_find(b, pgno)] &= ~OWNER_PINNED;
	for (pgno = 10; pgno < 50; pgno++) {
		hipec_owner_bring_all(test, b, pgno, 1);
		hipec_sharers_expect_entries(test, w);
	}
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 2);
	KUNIT_EXPECT_EQ(test, b->core.nr_frames, 18);
	/* Now it replaces its own. */
	hipec_owner_bring_all(test, b, 50, 3);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 2);
	hipec_sharers_expect_entries(test, w);
}

/* All pages of one, and its frames, go; it shares no longer. */
static void end_member(struct hipec_owner *o)
{
	u32 pgno;

	for (pgno = 0; pgno < 60; pgno++)
		if (hipec_owner_find(o, pgno))
			hipec_core_unbind(&o->core, hipec_owner_find(o, pgno), false);
	while (hipec_core_shrink(&o->core))
		;
	hipec_member_leave(&o->core);
}

/* A member that is busy at one miss has pages for the next; at two, they are passed over. */
static void who_is_busy_is_asked_once_more(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 20, 18, &a, &b);
	const struct hipec_exchange *x = &b->core.exchange;
	struct hipec_demand d = hipec_owner_demand(b, 8);
	u32 f, i;

	hipec_owner_bring_all(test, a, 0, 18);
	hipec_owner_bring_all(test, b, 0, 3);
	a->locked = true;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&b->core, &d, HIPEC_EFFORT_SOME), -EAGAIN);
	KUNIT_EXPECT_EQ(test, x->nr_busy, TOGETHER - 1);
	KUNIT_EXPECT_EQ(test, x->nr_passed, 0);
	hipec_sharers_expect_entries(test, w);
	a->locked = false;
	for (i = 1; i < TOGETHER; i++) {
		hipec_owner_bring_all(test, b, 2 + i, 1);
		KUNIT_EXPECT_EQ(test, a->core.nr_frames, 17 - i);
		KUNIT_EXPECT_EQ(test, x->nr_busy, TOGETHER - 1 - i);
	}
	a->locked = true;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&b->core, &d, HIPEC_EFFORT_SOME), -EAGAIN);
	KUNIT_EXPECT_GT(test, x->nr_busy, 0);
	f = x->busy[0].f;
	KUNIT_EXPECT_EQ(test, hipec_pool_grow(&b->core, &d, HIPEC_EFFORT_SOME), -EAGAIN);
	KUNIT_EXPECT_GT(test, x->nr_busy, 0);
	KUNIT_EXPECT_TRUE(test, w->frame[f].place == HIPEC_MR_ACTIVE);
	hipec_sharers_expect_entries(test, w);
	end_member(b);
	hipec_sharers_expect_entries(test, w);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, a->core.vm.nr_live + a->core.nr_chosen);
}

/* A page that was isolated, and left by itself: its entry is another page's, or nobody's. */
static void what_was_isolated_may_have_left(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 38, &a, &b);
	u32 pgno, h;

	hipec_owner_bring_all(test, a, 0, 38);
	hipec_owner_bring_all(test, b, 0, 3);
	/* Its policy gives 1 to 7; 1 to 3 are isolated, and room for four is vacant. */
	for (pgno = 1; pgno < 8; pgno++)
		KUNIT_EXPECT_TRUE(test, hipec_pool_give(&a->core, false));
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 7));
	hipec_sharers_expect_entries(test, w);
	hipec_owner_bring_all(test, a, 40, 6);
	hipec_sharers_expect_entries(test, w);
	h = hipec_owner_find(a, 40);
	hipec_owner_bring_all(test, b, 3, 6);
	hipec_sharers_expect_entries(test, w);
	KUNIT_EXPECT_EQ(test, hipec_owner_find(a, 40), h);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames - b->core.exchange.nr_vacant -
			a->core.exchange.nr_vacant, 40);

	/* Of one that ends nothing is left but what others have isolated, until they look. */
	KUNIT_ASSERT_TRUE(test, b->core.exchange.at < b->core.exchange.nr_isolated);
	end_member(a);
	hipec_sharers_expect_entries(test, w);
	hipec_owner_bring_all(test, b, 9, 21);
	hipec_owner_bring_all(test, b, 50, 5);
	hipec_sharers_expect_entries(test, w);
	hipec_exchange_return(&b->core);
	hipec_sharers_expect_entries(test, w);
	KUNIT_EXPECT_EQ(test, w->pool.mr.nr_frames, b->core.vm.nr_live + b->core.nr_chosen);
	hipec_owner_expect_whole(test, b);
}

/* A table may be shorter than when its pages were isolated: nobody looks behind its end. */
static void pages_are_looked_up_within_the_table(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 38, &a, &b);
	u32 there = a->core.vm.nr_there;

	hipec_owner_bring_all(test, a, 0, 38);
	hipec_owner_bring_all(test, b, 0, 3);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 37);
	/* Of the three that are isolated, two are behind the end. */
	a->core.vm.nr_there = hipec_owner_find(a, 1);
	hipec_owner_bring_all(test, b, 3, 1);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 36);
	hipec_owner_bring_all(test, b, 4, 1);
	KUNIT_EXPECT_TRUE(test, hipec_owner_find(a, 2));
	KUNIT_EXPECT_TRUE(test, hipec_owner_find(a, 3));
	a->core.vm.nr_there = there;
	hipec_sharers_expect_entries(test, w);
}

/* The policy has another page go: the one that the manager had chosen has its place. */
static void a_page_takes_the_place_of_another(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 30, &a, &b);
	u32 kept, gone, place;

	hipec_owner_bring_all(test, a, 0, 30);
	hipec_owner_bring_all(test, b, 0, 10);
	kept = hipec_owner_find(a, 0);
	gone = hipec_owner_find(a, 29);
	place = a->core.in_pool[gone];
	hipec_queue_move(&a->core.vm, a->core.vm.slot[a->queue], gone, HIPEC_END_HEAD);
	hipec_core_refill(&a->core);
	KUNIT_ASSERT_EQ(test, a->core.chosen[0], gone);
	hipec_owner_bring_all(test, b, 10, 1);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 29));
	KUNIT_EXPECT_EQ(test, hipec_owner_find(a, 0), kept);
	KUNIT_EXPECT_EQ(test, a->core.counters.moved, 1);
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_added, 1);
	hipec_sharers_expect_entries(test, w);
	hipec_exchange_tell(&a->core);
	KUNIT_EXPECT_EQ(test, a->core.in_pool[kept], place);
	KUNIT_EXPECT_EQ(test, w->frame[place].page, kept);
	hipec_sharers_expect_entries(test, w);
	/* It comes back, and the other one pays. */
	a->most = 0;
	w->pool.max = 39;
	KUNIT_EXPECT_GT(test, hipec_owner_bring(a, 29), 0);
	KUNIT_EXPECT_EQ(test, a->core.counters.recovered, 1);
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(a, 0));
	hipec_sharers_expect_entries(test, w);
}

/* Memory pressure has one page for each answer, also where that came just now. */
static void pressure_knows_of_all_that_came(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 30, &a, &b);
	struct hipec_vm *vm = &b->core.vm;
	u32 i;

	hipec_owner_bring_all(test, b, 0, 10);
	hipec_owner_bring_all(test, a, 0, 30);
	/* The first pages of the other one, which is at its limit then, are the last to go. */
	for (i = 0; i < 30; i++)
		a->bits[hipec_owner_find(a, i)] |= HIPEC_REF_POOL | OWNER_PINNED;
	a->bits[hipec_owner_find(a, 3)] = 0;
	hipec_owner_bring_all(test, b, 10, 1);
	KUNIT_ASSERT_EQ(test, b->core.exchange.nr_added, 1);
	KUNIT_ASSERT_EQ(test, b->core.exchange.added[0].use, HIPEC_ENTRY_ISOLATED);
	hipec_queue_move(vm, vm->slot[b->queue], hipec_owner_find(b, 10), HIPEC_END_HEAD);
	hipec_core_unchoose_all(&b->core);
	hipec_core_refill(&b->core);
	for (i = 0; i < 40; i++) {
		long before = atomic_long_read(&w->pool.nr);

		w->pool.requester = NULL;
		if (hipec_pool_reclaim(&w->pool))
			KUNIT_EXPECT_EQ(test, atomic_long_read(&w->pool.nr), before - 1);
		hipec_sharers_expect_entries(test, w);
	}
	KUNIT_EXPECT_FALSE(test, hipec_owner_find(b, 10));
	/* Of its own it has isolated some. */
	KUNIT_EXPECT_TRUE(test, b->core.nr_frames < 2 + TOGETHER);
}

/* A member that does nothing tells nobody that a page has another's place: who finds it does. */
static void the_pages_of_the_idle_are_found(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 30, 20, &a, &b);
	u32 last;

	hipec_owner_bring_all(test, a, 0, 20);
	hipec_owner_bring_all(test, b, 0, 10);
	last = hipec_owner_find(a, 19);
	hipec_queue_move(&a->core.vm, a->core.vm.slot[a->queue], last, HIPEC_END_HEAD);
	hipec_core_refill(&a->core);
	hipec_owner_bring_all(test, b, 10, 1);
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_added, 1);
	hipec_owner_bring_all(test, b, 11, 60);
	KUNIT_EXPECT_EQ(test, a->core.exchange.nr_added, 0);
	KUNIT_EXPECT_EQ(test, a->core.nr_frames, 2);
	KUNIT_EXPECT_EQ(test, b->core.nr_frames, 28);
	hipec_sharers_expect_entries(test, w);
}

/* So many join that each page is told at once: what a member had isolated is put back. */
static void a_crowded_pool_has_nothing_isolated(struct kunit *test)
{
	struct hipec_owner *a, *b;
	struct hipec_sharers *w = large(test, 40, 38, &a, &b);

	hipec_owner_bring_all(test, a, 0, 38);
	hipec_owner_bring_all(test, b, 0, 3);
	KUNIT_ASSERT_TRUE(test, b->core.exchange.at < b->core.exchange.nr_isolated);
	w->pool.together = 1;
	hipec_owner_bring_all(test, b, 3, 1);
	KUNIT_EXPECT_EQ(test, b->core.exchange.at, b->core.exchange.nr_isolated);
	KUNIT_EXPECT_EQ(test, b->core.exchange.nr_passed, 0);
	hipec_sharers_expect_entries(test, w);
}

/* In a small pool, and of many members, each page is told at once. */
static void together_is_a_part_of_the_pool(struct kunit *test)
{
	struct hipec_sharers *w = hipec_sharers_new(test, 40);

	KUNIT_EXPECT_EQ(test, w->pool.together, 0);
	hipec_sharer_new(test, w, 8, 2);
	KUNIT_EXPECT_EQ(test, w->pool.together, 1);
	w->pool.most_together = HIPEC_TOGETHER;
	w->pool.max = 6 * HIPEC_TOGETHER_PART;
	hipec_sharer_new(test, w, 8, 2);
	KUNIT_EXPECT_EQ(test, w->pool.together, 3);
	hipec_sharer_new(test, w, 8, 2);
	KUNIT_EXPECT_EQ(test, w->pool.together, 2);
	w->pool.max *= 100;
	hipec_exchange_together(&w->pool);
	KUNIT_EXPECT_EQ(test, w->pool.together, HIPEC_TOGETHER);
	w->pool.mr.policy = HIPEC_MR_AWST;
	hipec_exchange_together(&w->pool);
	KUNIT_EXPECT_EQ(test, w->pool.together, 1);
}

/* What was given up and had to be written is clean. */
static void clean_all(struct hipec_owner *o)
{
	u32 h;

	for (h = 1; h <= o->core.vm.nr_pages && o->core.nr_pending; h++)
		if (o->bits[h] & OWNER_DIRTY && o->core.vm.page[h].flags & HIPEC_PAGE_USED &&
		    !hipec_core_resident(&o->core, h))
			hipec_core_cleaned(&o->core, h);
}

/*
 * One step of a life, of members of which @o has its lock. Return: pages that have another entry
 * in its table.
 */
static u32 step(struct hipec_sharers *w, struct hipec_owner *o, u32 *seed)
{
	struct hipec_vm *vm = &o->core.vm;
	u32 pgno = hipec_kit_random(seed, 45), h = hipec_owner_find(o, pgno);
	u32 what = hipec_kit_random(seed, 32);

	switch (what) {
	case 0:
		w->pool.requester = NULL;
		hipec_pool_reclaim(&w->pool);
		break;
	case 1:
		hipec_pool_give(&o->core, false);
		break;
	case 2:
		hipec_core_refill(&o->core);
		break;
	case 3:
		clean_all(o);
		break;
	case 4:
		w->pool.together = 1 + hipec_kit_random(seed, HIPEC_TOGETHER);
		break;
	case 5:
		return hipec_sharer_compact(o);
	case 6:
		if (h && hipec_page_live(vm, h))
			hipec_core_unbind(&o->core, h, false);
		break;
	default:
		if (!h)
			hipec_owner_bring(o, pgno);
		else if (!hipec_core_resident(&o->core, h))
			break;
		else if (what < 10)
			o->bits[h] ^= OWNER_PINNED;
		else if (what < 14)
			o->bits[h] |= OWNER_DIRTY;
		else if (what < 20 && hipec_page_live(vm, h))
			hipec_queue_move(vm, vm->slot[o->queue], h, HIPEC_END_HEAD);
		else
			o->bits[h] |= HIPEC_REF_POOL;
	}
	return 0;
}

/* Whatever members do, and however many pages they tell of together, no entry is lost. */
static void entries_are_right_whatever_happens(struct kunit *test)
{
	u32 life, i, m, seed, given = 0, moved = 0, recovered = 0, renamed = 0;

	for (life = 1; life <= LIVES; life++) {
		struct hipec_sharers *w = hipec_sharers_new(test, 12 + life % 25);
		struct hipec_owner *o[SHARERS];

		seed = 2029 * life;
		w->pool.mr.most = life % 3 ? HIPEC_MAX_LOOKS : 3;
		for (i = 0; i < SHARERS; i++)
			o[i] = hipec_sharer_new(test, w, 8 + 6 * i, 2);
		for (i = 0; i < STEPS; i++) {
			m = hipec_kit_random(&seed, SHARERS);
			o[(m + 1) % SHARERS]->locked = !hipec_kit_random(&seed, 8);
			o[m]->locked = false;
			renamed += step(w, o[m], &seed);
			hipec_sharers_expect_entries(test, w);
			hipec_owner_expect_whole(test, o[m]);
			KUNIT_ASSERT_TRUE(test, atomic_long_read(&w->pool.nr) <= w->pool.max);
		}
		for (i = 0; i < SHARERS; i++) {
			given += o[i]->core.counters.given;
			moved += o[i]->core.counters.moved;
			recovered += o[i]->core.counters.recovered;
		}
	}
	KUNIT_EXPECT_GT(test, given, 1000);
	KUNIT_EXPECT_GT(test, moved, 100);
	KUNIT_EXPECT_GT(test, recovered, 10);
	KUNIT_EXPECT_GT(test, renamed, 100);
}

static struct kunit_case exchange_cases[] = {
	KUNIT_CASE(pages_that_came_are_told_together),
	KUNIT_CASE(a_full_pool_gives_what_was_isolated),
	KUNIT_CASE(what_was_isolated_may_be_passed_over),
	KUNIT_CASE(who_is_busy_is_asked_once_more),
	KUNIT_CASE(what_was_isolated_may_have_left),
	KUNIT_CASE(pages_are_looked_up_within_the_table),
	KUNIT_CASE(a_page_takes_the_place_of_another),
	KUNIT_CASE(pressure_knows_of_all_that_came),
	KUNIT_CASE(the_pages_of_the_idle_are_found),
	KUNIT_CASE(a_crowded_pool_has_nothing_isolated),
	KUNIT_CASE(together_is_a_part_of_the_pool),
	KUNIT_CASE(entries_are_right_whatever_happens),
	{ }
};

static struct kunit_suite exchange_suite = {
	.name = "hipec_exchange",
	.test_cases = exchange_cases,
};

kunit_test_suites(&exchange_suite);
