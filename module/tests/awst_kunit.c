// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/awst.c, one rule at a time, worked out by hand; poolhost.h has the
 * notation. mrwalk_kunit.c has all of them at once.
 */
#include "poolhost.h"

#define NR 12	/* entries */

/* A host where @pages came in, as in a script. */
static struct hipec_poolhost *host(struct kunit *test, const char *pages)
{
	struct hipec_poolhost *h = hipec_poolhost_new(test, NR, HIPEC_MR_AWST);

	for (; *pages; pages++)
		if (*pages >= 'a' && *pages++)
			KUNIT_EXPECT_TRUE(test, hipec_poolhost_add(h,
					  pages[-1] - 'a', pages[0] - '0'));
	return h;
}

/* Without limits it is first in, first out, referenced or not. */
static void the_oldest_page_of_all_goes(struct kunit *test)
{
	struct hipec_poolhost *h = host(test, "b0 a0 c0 a1 b1");

	h->page[1][0].referenced = true;
	hipec_poolhost_expect(test, h, 0, true, "!b0 xb0", "a0 c0 a1 b1");
	hipec_poolhost_expect(test, h, HIPEC_MR_NOBODY, true, "!a0 xa0",
			      "c0 a1 b1");
	hipec_poolhost_expect(test, h, 2, true, "!c0 xc0", "a1 b1");
	hipec_poolhost_expect(test, h, 2, true, "!a1 xa1", "b1");
	hipec_poolhost_expect(test, h, 2, true, "!b1 xb1", "");
	hipec_poolhost_expect(test, h, 2, false, "", "");
}

/* Who has no more than its min loses nothing to others. */
static void min_is_guaranteed(struct kunit *test)
{
	struct hipec_poolhost *h = host(test, "a0 a1 b0 b1 a2");

	hipec_fifo2mr_set_limits(&h->mr, 0, 2, 9);
	hipec_fifo2mr_set_limits(&h->mr, 1, 1, 9);
	hipec_poolhost_expect(test, h, 2, true, "!a0 xa0", "a1 b0 b1 a2");
	hipec_poolhost_expect(test, h, 2, true, "!b0 xb0", "a1 b1 a2");
	hipec_poolhost_expect(test, h, 2, false, "", "a1 b1 a2");
	hipec_poolhost_add(h, 1, 5);
	hipec_poolhost_expect(test, h, 2, true, "!b1 xb1", "a1 a2 b5");
}

/* Who has its max replaces its own oldest, whatever is older. */
static void max_is_replaced_from_its_own(struct kunit *test)
{
	struct hipec_poolhost *h = host(test, "a0 b0 b1 a1");

	hipec_fifo2mr_set_limits(&h->mr, 1, 1, 2);
	KUNIT_EXPECT_TRUE(test, hipec_fifo2mr_is_full(&h->mr, 1));
	KUNIT_EXPECT_FALSE(test, hipec_fifo2mr_is_full(&h->mr, 0));
	KUNIT_EXPECT_FALSE(test, hipec_fifo2mr_is_full(&h->mr, HIPEC_MR_NOBODY));
	hipec_poolhost_expect(test, h, 1, true, "!b0 xb0", "a0 b1 a1");
	KUNIT_EXPECT_FALSE(test, hipec_fifo2mr_is_full(&h->mr, 1));
	hipec_poolhost_expect(test, h, 1, true, "!a0 xa0", "b1 a1");
	/* A max that is the min: replaced all the same. */
	hipec_fifo2mr_set_limits(&h->mr, 1, 1, 1);
	hipec_poolhost_expect(test, h, 1, true, "!b1 xb1", "a1");
	/* And nobody is full under FIFO2-MR. */
	h = hipec_poolhost_new(test, NR, HIPEC_MR_FIFO2);
	hipec_fifo2mr_set_limits(&h->mr, 1, 0, 0);
	KUNIT_EXPECT_FALSE(test, hipec_fifo2mr_is_full(&h->mr, 1));
}

/* The victim is as old from then on as the page that went. */
static void the_victim_takes_the_named_pages_age(struct kunit *test)
{
	struct hipec_poolhost *h = host(test, "a0 b0 a1 b1");

	hipec_poolhost_script(h, "a1");
	hipec_poolhost_expect(test, h, 2, true, "!a0 a0<a1", "b0 a0 b1");
	KUNIT_EXPECT_EQ(test, h->mr.moved, 1);
	hipec_poolhost_expect(test, h, 2, true, "!b0 xb0", "a0 b1");
	hipec_poolhost_expect(test, h, 2, true, "!a0 xa0", "b1");
}

/* What cannot go is the youngest, and each page is tried once. */
static void a_pinned_page_is_passed_over(struct kunit *test)
{
	struct hipec_poolhost *h = host(test, "a0 b0 a1");

	h->page[0][0].pinned = true;
	hipec_poolhost_expect(test, h, 2, true, "!a0 xa0 !b0 xb0", "a1 a0");
	KUNIT_EXPECT_EQ(test, h->mr.passed, 1);
	h = host(test, "b0 a0 a1");
	h->page[0][0].pinned = true;
	h->page[0][1].pinned = true;
	hipec_fifo2mr_set_limits(&h->mr, 0, 0, 2);
	hipec_poolhost_expect(test, h, 0, false, "!a0 xa0 !a1 xa1", "b0 a0 a1");
	h->busy[1] = true;
	hipec_poolhost_expect(test, h, 2, false, "!b0 xb0 !a0 xa0 !a1 xa1",
			      "b0 a0 a1");
}

/* A host whose callers must not wait: the next reclaim goes on where this ended. */
static void looks_are_bounded(struct kunit *test)
{
	struct hipec_poolhost *h = host(test, "a0 b0 a1 b1");

	h->mr.most = 2;
	h->page[0][0].pinned = true;
	h->page[1][0].pinned = true;
	hipec_poolhost_expect(test, h, 2, false, "!a0 xa0 !b0 xb0", "a1 b1 a0 b0");
	hipec_poolhost_expect(test, h, 2, true, "!a1 xa1", "b1 a0 b0");
}

static struct kunit_case awst_cases[] = {
	KUNIT_CASE(the_oldest_page_of_all_goes),
	KUNIT_CASE(min_is_guaranteed),
	KUNIT_CASE(max_is_replaced_from_its_own),
	KUNIT_CASE(the_victim_takes_the_named_pages_age),
	KUNIT_CASE(a_pinned_page_is_passed_over),
	KUNIT_CASE(looks_are_bounded),
	{ }
};

static struct kunit_suite awst_suite = {
	.name = "hipec_awst",
	.test_cases = awst_cases,
};

kunit_test_suites(&awst_suite);
