// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/recover.c: by hand, and beside a plain array in the order of age.
 */
#include "../core/recover.h"
#include "kunit_machine.h"

#define PAGES 20	/* in random lives; few, so that they meet again */
#define NONE (~0u)

static struct hipec_recover *table(struct kunit *test, u32 nr, u32 nr_buckets)
{
	struct hipec_recover *r = kunit_kmalloc(test, sizeof(*r), GFP_KERNEL);
	void *memory = kunit_kmalloc(test, hipec_recover_size(nr, nr_buckets),
				     GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	hipec_recover_init(r, memory, nr, nr_buckets);
	return r;
}

/* The page that was kept for @gone, or NONE. */
static u32 kept_for(struct hipec_recover *r, u32 gone)
{
	u32 kept;

	return hipec_recover_find(r, gone, &kept) ? kept : NONE;
}

/* What a fault wants to know; page 0 is a page, and so is the last. */
static void a_page_that_went_is_found(struct kunit *test)
{
	struct hipec_recover *r = table(test, 3, 2);

	KUNIT_EXPECT_EQ(test, kept_for(r, 0), NONE);
	hipec_recover_add(r, 0, 7);
	hipec_recover_add(r, ~0u, 0);
	KUNIT_EXPECT_EQ(test, kept_for(r, 0), 7);
	KUNIT_EXPECT_EQ(test, kept_for(r, ~0u), 0);
	KUNIT_EXPECT_EQ(test, kept_for(r, 7), NONE);
	KUNIT_EXPECT_EQ(test, r->nr_used, 2);
}

/* It came back: that entry is void, others with the same kept page are not. */
static void a_page_that_came_back_is_forgotten(struct kunit *test)
{
	struct hipec_recover *r = table(test, 3, 1);

	hipec_recover_add(r, 1, 9);
	hipec_recover_add(r, 2, 9);
	hipec_recover_drop_evicted(r, 1);
	hipec_recover_drop_evicted(r, 9);
	KUNIT_EXPECT_EQ(test, kept_for(r, 1), NONE);
	KUNIT_EXPECT_EQ(test, kept_for(r, 2), 9);
	KUNIT_EXPECT_EQ(test, r->nr_used, 1);
}

/* The kept page was referenced or left: all its entries are void. */
static void a_kept_page_takes_all_its_entries_along(struct kunit *test)
{
	struct hipec_recover *r = table(test, 5, 1);

	hipec_recover_add(r, 1, 9);
	hipec_recover_add(r, 2, 8);
	hipec_recover_add(r, 3, 9);
	hipec_recover_add(r, 4, 9);
	hipec_recover_drop_kept(r, 1);		/* which went */
	KUNIT_EXPECT_EQ(test, r->nr_used, 4);
	hipec_recover_drop_kept(r, 9);
	KUNIT_EXPECT_EQ(test, kept_for(r, 1), NONE);
	KUNIT_EXPECT_EQ(test, kept_for(r, 2), 8);
	KUNIT_EXPECT_EQ(test, kept_for(r, 3), NONE);
	KUNIT_EXPECT_EQ(test, kept_for(r, 4), NONE);
	KUNIT_EXPECT_EQ(test, r->nr_used, 1);
}

/* Age is when an entry was made; what was dropped makes room for one. */
static void a_full_table_forgets_the_oldest(struct kunit *test)
{
	struct hipec_recover *r = table(test, 3, 4);

	hipec_recover_add(r, 1, 11);
	hipec_recover_add(r, 2, 12);
	hipec_recover_add(r, 3, 13);
	hipec_recover_drop_evicted(r, 2);
	hipec_recover_add(r, 4, 14);
	KUNIT_EXPECT_EQ(test, kept_for(r, 1), 11);
	hipec_recover_add(r, 5, 15);
	KUNIT_EXPECT_EQ(test, kept_for(r, 1), NONE);
	hipec_recover_add(r, 6, 16);
	KUNIT_EXPECT_EQ(test, kept_for(r, 3), NONE);
	KUNIT_EXPECT_EQ(test, kept_for(r, 4), 14);
	KUNIT_EXPECT_EQ(test, kept_for(r, 5), 15);
	KUNIT_EXPECT_EQ(test, kept_for(r, 6), 16);
	KUNIT_EXPECT_EQ(test, r->nr_used, 3);
}

/* Empty again, as on the first day; and a table may be of no use at all. */
static void clear_forgets_everything(struct kunit *test)
{
	struct hipec_recover *r = table(test, 4, 3);
	u32 i, turn;

	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 6; i++)
			hipec_recover_add(r, i, 100 + i);
		KUNIT_EXPECT_EQ(test, r->nr_used, 4);
		hipec_recover_clear(r);
		KUNIT_EXPECT_EQ(test, r->nr_used, 0);
		for (i = 0; i < 6; i++)
			KUNIT_EXPECT_EQ(test, kept_for(r, i), NONE);
		hipec_recover_drop_kept(r, 103);
	}
	r = table(test, 0, 1);
	hipec_recover_add(r, 1, 2);
	KUNIT_EXPECT_EQ(test, kept_for(r, 1), NONE);
}

/* With as many buckets as entries a look compares about one, hit or miss. */
static void a_look_is_short_in_a_table_of_its_own_size(struct kunit *test)
{
	enum { NR = 4000 };
	struct hipec_recover *r = table(test, NR, NR);
	u32 i;

	for (i = 0; i < NR; i++)
		hipec_recover_add(r, 3 * i, 3 * i + 1);
	r->compared = 0;
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_EQ(test, kept_for(r, 3 * i), 3 * i + 1);
	/* One for itself, a half for those before it in its bucket. */
	KUNIT_EXPECT_GE(test, r->compared, NR);
	KUNIT_EXPECT_LT(test, r->compared, 2 * NR);
	r->compared = 0;
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_EQ(test, kept_for(r, 3 * i + 2), NONE);
	KUNIT_EXPECT_LT(test, r->compared, 3 * NR / 2);
}

/* Entries compared to find each of @page, in a table with that salt. */
static u32 cost(struct kunit *test, u32 salt, const u32 *page, u32 nr)
{
	struct hipec_recover *r = table(test, nr, nr);
	u32 i;

	r->salt = salt;
	for (i = 0; i < nr; i++)
		hipec_recover_add(r, page[i], 0);
	r->compared = 0;
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, kept_for(r, page[i]), 0);
	return r->compared;
}

/* Who does not know the salt cannot choose pages that share a bucket. */
static void the_salt_parts_pages_that_met(struct kunit *test)
{
	enum { NR = 32 };
	struct hipec_recover *r = table(test, NR, NR);
	u32 page[NR], nr = 0, i;

	for (i = 0; nr < NR; i++) {
		hipec_recover_add(r, i, 0);
		if (r->bucket[HIPEC_RECOVER_EVICTED][0])
			page[nr++] = i;
		hipec_recover_clear(r);
	}
	/* The first compares 1, the last NR. */
	KUNIT_EXPECT_EQ(test, cost(test, 0, page, NR), NR * (NR + 1) / 2);
	KUNIT_EXPECT_LT(test, cost(test, 1997, page, NR), 3 * NR);
}

/* The model: entries in the order of their age. */
struct model {
	u32 gone[PAGES], kept[PAGES];
	u32 nr;
};

static void forget_at(struct model *m, u32 at)
{
	for (m->nr--; at < m->nr; at++) {
		m->gone[at] = m->gone[at + 1];
		m->kept[at] = m->kept[at + 1];
	}
}

static u32 model_find(const struct model *m, u32 gone)
{
	u32 i;

	for (i = 0; i < m->nr; i++)
		if (m->gone[i] == gone)
			return m->kept[i];
	return NONE;
}

static void model_drop(struct model *m, bool by_kept, u32 page)
{
	u32 i = 0;

	while (i < m->nr) {
		if ((by_kept ? m->kept[i] : m->gone[i]) == page)
			forget_at(m, i);
		else
			i++;
	}
}

static void live(struct kunit *test, u32 seed, u32 nr, u32 nr_buckets)
{
	struct hipec_recover *r = table(test, nr, nr_buckets);
	struct model m = { .nr = 0 };
	u32 i, page, kept;

	r->salt = seed;
	for (i = 0; i < 200; i++) {
		page = hipec_kit_random(&seed, PAGES);
		kept = hipec_kit_random(&seed, PAGES);
		switch (hipec_kit_random(&seed, 8)) {
		case 0:
			hipec_recover_drop_kept(r, kept);
			model_drop(&m, true, kept);
			break;
		case 1:
			hipec_recover_drop_evicted(r, page);
			model_drop(&m, false, page);
			break;
		case 2:
			if (hipec_kit_random(&seed, 20))
				break;
			hipec_recover_clear(r);
			m.nr = 0;
			break;
		default:	/* it comes back, and goes again */
			hipec_recover_drop_evicted(r, page);
			hipec_recover_add(r, page, kept);
			model_drop(&m, false, page);
			if (m.nr == nr)
				forget_at(&m, 0);
			m.gone[m.nr] = page;
			m.kept[m.nr++] = kept;
		}
		KUNIT_ASSERT_EQ(test, r->nr_used, m.nr);
		for (page = 0; page < PAGES; page++)
			KUNIT_ASSERT_EQ(test, kept_for(r, page),
					model_find(&m, page));
	}
}

static void random_lives_are_those_of_a_plain_array(struct kunit *test)
{
	u32 seed;

	for (seed = 1; seed <= 60; seed++)
		live(test, seed, 1 + seed % (PAGES - 1), 1 + seed % 7);
}

static struct kunit_case recover_cases[] = {
	KUNIT_CASE(a_page_that_went_is_found),
	KUNIT_CASE(a_page_that_came_back_is_forgotten),
	KUNIT_CASE(a_kept_page_takes_all_its_entries_along),
	KUNIT_CASE(a_full_table_forgets_the_oldest),
	KUNIT_CASE(clear_forgets_everything),
	KUNIT_CASE(a_look_is_short_in_a_table_of_its_own_size),
	KUNIT_CASE(the_salt_parts_pages_that_met),
	KUNIT_CASE(random_lives_are_those_of_a_plain_array),
	{ }
};

static struct kunit_suite recover_suite = {
	.name = "hipec_recover",
	.test_cases = recover_cases,
};

kunit_test_suites(&recover_suite);
