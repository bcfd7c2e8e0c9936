// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/fifo2mr.c, one rule of Figure 4 at a time, worked out by hand;
 * poolhost.h has the notation. mrwalk_kunit.c has all of them at once.
 */
#include "poolhost.h"

#define NR 12	/* entries */

static struct hipec_poolhost *host(struct kunit *test)
{
	return hipec_poolhost_new(test, NR, HIPEC_MR_FIFO2);
}

/* @pages as in a script come in, in this order. */
static void bring_in(struct kunit *test, struct hipec_poolhost *h,
		     const char *pages)
{
	for (; *pages; pages++)
		if (*pages >= 'a' && *pages++)
			KUNIT_EXPECT_TRUE(test, hipec_poolhost_add(h,
					  pages[-1] - 'a', pages[0] - '0'));
}

/* Six pages of one owner have come in, and the first of them went. */
static struct hipec_poolhost *running(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);

	bring_in(test, h, "a0 a1 a2 a3 a4 a5");
	KUNIT_EXPECT_TRUE(test, hipec_fifo2mr_reclaim(&h->mr, HIPEC_MR_NOBODY));
	hipec_poolhost_log(h);
	return h;
}

/* hipec_poolhost_expect(), for nobody. */
static void expect(struct kunit *test, struct hipec_poolhost *h, bool gone,
		   const char *log, const char *order)
{
	hipec_poolhost_expect(test, h, HIPEC_MR_NOBODY, gone, log, order);
}

/* Who comes in is active; two thirds become inactive, their bits reset. */
static void the_oldest_become_inactive_and_the_first_goes(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);

	bring_in(test, h, "a0 a1 b0 a2 a3 b1");
	KUNIT_EXPECT_STREQ(test, hipec_poolhost_order(h), "a0 a1 b0 a2 a3 b1 |");
	/* Of 6 pages 4, which are enough for the 5 that are left. */
	expect(test, h, true, "-a0 -a1 -b0 -a2 ?a0 !a0 xa0", "a3 b1 | a1 b0 a2");
	/* Of 4 pages 2 are there; of 3, 2; of 2, 1. */
	expect(test, h, true, "?a1 !a1 xa1", "a3 b1 | b0 a2");
	expect(test, h, true, "?b0 !b0 xb0 -a3", "b1 | a2 a3");
	KUNIT_EXPECT_EQ(test, h->mr.active.count, 1);
	KUNIT_EXPECT_EQ(test, h->mr.inactive.count, 2);
	expect(test, h, true, "?a2 !a2 xa2", "b1 | a3");
	/* The last page is inactive though two thirds of 1 are none. */
	expect(test, h, true, "?a3 !a3 xa3 -b1", "| b1");
	expect(test, h, true, "?b1 !b1 xb1", "|");
	expect(test, h, false, "", "|");
}

/* A referenced page is active again; its bit is reset when its turn comes. */
static void a_referenced_page_has_a_second_chance(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);

	KUNIT_EXPECT_STREQ(test, hipec_poolhost_order(h), "a4 a5 | a1 a2 a3");
	h->page[0][1].referenced = true;
	h->page[0][3].referenced = true;
	expect(test, h, true, "?a1 ?a2 !a2 xa2 -a4", "a5 a1 | a3 a4");
	KUNIT_EXPECT_EQ(test, h->mr.passed, 1);
	KUNIT_EXPECT_EQ(test, h->mr.moved, 0);
	expect(test, h, true, "?a3 ?a4 !a4 xa4 -a5 -a1", "a3 | a5 a1");
	KUNIT_EXPECT_TRUE(test, h->page[0][3].referenced);
	KUNIT_EXPECT_FALSE(test, h->page[0][1].referenced);
}

/* These @pages, in this order. */
static void expect_pages(struct kunit *test, const struct hipec_mr_page *pages, u32 nr,
			 const char *expected)
{
	char bytes[64];
	struct hipec_text out;
	u32 i;

	hipec_text_init(&out, bytes, sizeof(bytes));
	for (i = 0; i < nr; i++)
		hipec_pool_name(&out, pages[i].owner, pages[i].page);
	bytes[out.len ? out.len - 1 : 0] = 0;
	KUNIT_EXPECT_STREQ(test, bytes, expected);
}

/* Bits are to be reset before there is need: who is used meanwhile has its chance. */
static void pages_age_before_there_is_need(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);
	struct hipec_mr_page pages[NR];

	bring_in(test, h, "a0 a1 b0 a2 a3 b1");
	KUNIT_EXPECT_EQ(test, hipec_fifo2mr_age(&h->mr, pages, NR), 4);
	expect_pages(test, pages, 4, "a0 a1 b0 a2");
	KUNIT_EXPECT_STREQ(test, hipec_poolhost_order(h), "a3 b1 | a0 a1 b0 a2");
	KUNIT_EXPECT_EQ(test, hipec_fifo2mr_age(&h->mr, pages, NR), 0);
	h->page[0][0].referenced = true;
	expect(test, h, true, "?a0 ?a1 !a1 xa1 -a3", "b1 a0 | b0 a2 a3");
}

/* With a limit of 2: resets and looks come in twos, in the same order. */
static void a_limit_divides_the_work(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);

	h->mr.most = 2;
	bring_in(test, h, "a0 a1 b0 a2 a3 b1");
	expect(test, h, true, "-a0 -a1 ?a0 !a0 xa0 -b0 -a2", "a3 b1 | a1 b0 a2");
	h->page[0][1].referenced = true;
	h->page[1][0].referenced = true;
	expect(test, h, false, "?a1 ?b0 -a3 -b1", "a1 b0 | a2 a3 b1");
	KUNIT_EXPECT_EQ(test, h->mr.passed, 2);
	expect(test, h, true, "?a2 !a2 xa2", "a1 b0 | a3 b1");
}

/* If all were referenced, the first that is reset goes. */
static void references_everywhere_stop_nobody(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);
	u32 i;

	for (i = 1; i < 6; i++)
		h->page[0][i].referenced = true;
	expect(test, h, true, "?a1 ?a2 ?a3 -a4 -a5 -a1 ?a4 !a4 xa4",
	       "a2 a3 | a5 a1");
	KUNIT_EXPECT_EQ(test, h->mr.passed, 3);
}

/* The victim gets the place of the page that went, on either queue. */
static void the_victim_moves_into_the_place_of_the_named_page(struct kunit *test)
{
	static const struct {
		const char *named, *log, *order;
	} t[] = {
		{ "a4", "?a1 !a1 a1<a4", "a1 a5 | a2 a3" },
		{ "a5", "?a1 !a1 a1<a5", "a4 a1 | a2 a3" },
		{ "a2", "?a1 !a1 a1<a2", "a4 a5 | a1 a3" },	/* its neighbour */
		{ "a3", "?a1 !a1 a1<a3", "a4 a5 | a2 a1" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct hipec_poolhost *h = running(test);

		hipec_poolhost_script(h, t[i].named);
		expect(test, h, true, t[i].log, t[i].order);
		KUNIT_EXPECT_EQ(test, h->mr.moved, 1);
		KUNIT_EXPECT_EQ(test, h->mr.passed, 0);
	}
}

/* Without the movement the same owner would be asked again; so it is not. */
static void the_next_victim_is_another_owners(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);

	bring_in(test, h, "a0 b0 a1 b1 a2 b2");
	hipec_poolhost_script(h, "a2;b2");
	expect(test, h, true, "-a0 -b0 -a1 -b1 ?a0 !a0 a0<a2", "a0 b2 | b0 a1 b1");
	expect(test, h, true, "?b0 !b0 b0<b2", "a0 b0 | a1 b1");
}

/* If the container names the victim, nobody moves. */
static void naming_the_victim_moves_nothing(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);

	hipec_poolhost_script(h, "a1");
	expect(test, h, true, "?a1 !a1", "a4 a5 | a2 a3");
	KUNIT_EXPECT_EQ(test, h->mr.moved, 0);
}

/* The first page answers; what follows leaves, whichever it is. */
static void more_pages_are_gifts(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);

	hipec_poolhost_script(h, "a5 a3");
	expect(test, h, true, "?a1 !a1 a1<a5 -a4", "a1 | a2 a4");
	h = running(test);
	hipec_poolhost_script(h, "a5 a1 a3");		/* the victim, too */
	expect(test, h, true, "?a1 !a1 a1<a5", "a4 | a2");
	h = running(test);
	hipec_poolhost_script(h, "a1 a5");
	expect(test, h, true, "?a1 !a1", "a4 | a2 a3");
	h = running(test);
	hipec_poolhost_script(h, "a1 a2 a3 a4 a5");
	expect(test, h, true, "?a1 !a1", "|");
}

/* Pages that come in meanwhile, in the victim's entry even, are not the victim. */
static void pages_come_in_while_a_container_is_asked(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);

	hipec_poolhost_script(h, "a1 +a6 a6");
	expect(test, h, true, "?a1 !a1", "a4 a5 | a2 a3");
	h = running(test);
	hipec_poolhost_script(h, "+a6 a6");
	expect(test, h, true, "?a1 !a1 a1<a6 -a4", "a5 a1 | a2 a3 a4");
	h = running(test);
	hipec_poolhost_script(h, "a5 +a6");
	expect(test, h, true, "?a1 !a1 a1<a5 -a4", "a1 a6 | a2 a3 a4");
}

/* What another owner loses meanwhile is no answer. */
static void only_the_victims_owner_answers(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);

	bring_in(test, h, "a0 b0 a1 b1");
	hipec_poolhost_script(h, "b1");
	expect(test, h, true, "-a0 -b0 ?a0 !a0 xa0", "a1 | b0");
}

/* A page that cannot be taken is active again, and the next one is tried. */
static void a_pinned_page_is_passed_over(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);

	h->page[0][1].pinned = true;
	expect(test, h, true, "?a1 !a1 xa1 ?a2 !a2 xa2 -a4", "a5 a1 | a3 a4");
	KUNIT_EXPECT_EQ(test, h->mr.passed, 1);
}

/* An owner that is busy is let be. */
static void a_busy_owner_is_passed_over(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);

	bring_in(test, h, "b0 b1 a0 b2");
	h->busy[1] = true;
	expect(test, h, true, "-b0 -b1 ?b0 ?b1 -a0 -b2 ?a0 !a0 xa0 -b0",
	       "b1 | b2 b0");
}

/* If nothing can go, each page has been looked at twice, and that is all. */
static void a_manager_whose_pages_cannot_go_gives_up(struct kunit *test)
{
	struct hipec_poolhost *h = host(test);
	u32 i;

	bring_in(test, h, "a0 a1 a2");
	for (i = 0; i < 3; i++)
		h->page[0][i].pinned = true;
	expect(test, h, false,
	       "-a0 -a1 ?a0 !a0 xa0 ?a1 !a1 xa1 "
	       "-a2 -a0 ?a2 !a2 xa2 ?a0 !a0 xa0 "
	       "-a1 -a2 ?a1 !a1 xa1 ?a2 !a2 xa2 -a0 -a1", "a2 | a0 a1");
	KUNIT_EXPECT_EQ(test, h->mr.passed, 6);
	h->page[0][2].pinned = false;
	expect(test, h, true,
	       "?a0 !a0 xa0 ?a1 !a1 xa1 -a2 -a0 ?a2 !a2 xa2", "a1 | a0");
}

/* A container that is asked cannot have others asked. */
static void reclaim_in_reclaim_is_refused(struct kunit *test)
{
	struct hipec_poolhost *h = running(test);

	hipec_poolhost_script(h, "*");
	expect(test, h, true, "?a1 !a1 *0 xa1", "a4 a5 | a2 a3");
}

/* Entries are as many as were asked for, and each of them comes back. */
static void all_entries_are_used_and_come_back(struct kunit *test)
{
	struct hipec_poolhost *h = hipec_poolhost_new(test, 8, HIPEC_MR_FIFO2);
	u32 turn, i;

	for (turn = 0; turn < 2; turn++) {
		bring_in(test, h, "a0 a1 a2 a3 b4 b5 b6 b7");
		KUNIT_EXPECT_FALSE(test, hipec_poolhost_add(h, 2, 0));
		KUNIT_EXPECT_TRUE(test, !hipec_poolhost_broken(h));
		for (i = 0; i < 8; i++)
			hipec_poolhost_del(h, i > 3, i);
		KUNIT_EXPECT_TRUE(test, !hipec_poolhost_broken(h));
		KUNIT_EXPECT_EQ(test, h->mr.nr_frames, 0);
	}
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(the_oldest_become_inactive_and_the_first_goes),
	KUNIT_CASE(a_referenced_page_has_a_second_chance),
	KUNIT_CASE(pages_age_before_there_is_need),
	KUNIT_CASE(a_limit_divides_the_work),
	KUNIT_CASE(references_everywhere_stop_nobody),
	KUNIT_CASE(the_victim_moves_into_the_place_of_the_named_page),
	KUNIT_CASE(the_next_victim_is_another_owners),
	KUNIT_CASE(naming_the_victim_moves_nothing),
	KUNIT_CASE(more_pages_are_gifts),
	KUNIT_CASE(pages_come_in_while_a_container_is_asked),
	KUNIT_CASE(only_the_victims_owner_answers),
	KUNIT_CASE(a_pinned_page_is_passed_over),
	KUNIT_CASE(a_busy_owner_is_passed_over),
	KUNIT_CASE(a_manager_whose_pages_cannot_go_gives_up),
	KUNIT_CASE(reclaim_in_reclaim_is_refused),
	KUNIT_CASE(all_entries_are_used_and_come_back),
	{ }
};

static struct kunit_suite mr_suite = {
	.name = "hipec_mr",
	.test_cases = mr_cases,
};

kunit_test_suites(&mr_suite);
