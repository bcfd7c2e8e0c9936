// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/fifo2mr.c and awst.c through many random lives, beside the plain
 * model of poolmodel.c: the same calls in the same order, the same pages in the
 * same order, after each step. Hosts are as bad as they come: containers name
 * the victim, another page, several, all, nothing; they are busy, their pages
 * are pinned, and pages come and go while the manager waits.
 */
#include "poolmodel.h"

#define LIVES 150
#define STEPS 80

/* A page comes in, if need be by another's going. */
static void fault(struct hipec_poolhost *h, u32 owner, u32 page)
{
	u32 tries = 3;

	if (h->page[owner][page].in) {
		h->page[owner][page].referenced = true;
		return;
	}
	while ((h->manager->is_full(h, owner) ||
		!hipec_poolhost_add(h, owner, page)) && tries--)
		h->manager->reclaim(h, owner);
}

/* One step of a life. @h's seed decides, so both hosts do the same. */
static bool step(struct hipec_poolhost *h)
{
	u32 what = hipec_kit_random(&h->seed, 24);
	u32 owner = hipec_kit_random(&h->seed, HIPEC_POOL_OWNERS);
	u32 page = hipec_kit_random(&h->seed, HIPEC_POOL_PAGES);
	u32 min = hipec_kit_random(&h->seed, 5);

	switch (what) {
	case 0:
		return h->manager->reclaim(h, HIPEC_MR_NOBODY);
	case 1:
		return h->manager->reclaim(h, owner);
	case 2:
		hipec_poolhost_del(h, owner, page);
		return false;
	case 3:
		h->busy[owner] = !h->busy[owner];
		return false;
	case 4:
		h->page[owner][page].pinned = !h->page[owner][page].pinned;
		return false;
	case 5:
		h->manager->set_limits(h, owner, min,
				       min + 1 + hipec_kit_random(&h->seed, 5));
		return false;
	default:
		fault(h, owner, page);
		return h->page[owner][page].in;
	}
}

static void live(struct kunit *test, u32 seed, enum hipec_mr_policy policy)
{
	struct hipec_poolhost *h, *m;
	u32 nr, i;

	nr = 1 + hipec_kit_random(&seed, HIPEC_POOL_ALL);
	h = hipec_poolhost_new(test, nr, policy);
	m = hipec_poolmodel_new(test, nr, policy);
	h->seed = seed;
	m->seed = seed;
	for (i = 0; i < STEPS; i++) {
		bool did = step(h);
		const char *broken;

		KUNIT_ASSERT_EQ_MSG(test, did, step(m), "life %u step %u", seed, i);
		KUNIT_ASSERT_STREQ_MSG(test, hipec_poolhost_log(h),
				       hipec_poolhost_log(m), "life %u step %u",
				       seed, i);
		KUNIT_ASSERT_STREQ_MSG(test, hipec_poolhost_order(h),
				       hipec_poolhost_order(m),
				       "life %u step %u", seed, i);
		KUNIT_ASSERT_EQ(test, h->moved, m->moved);
		KUNIT_ASSERT_EQ(test, h->passed, m->passed);
		broken = hipec_poolhost_broken(h);
		if (broken)
			KUNIT_FAIL(test, "life %u step %u: %s", seed, i, broken);
	}
}

static void fifo2_does_what_figure_4_does(struct kunit *test)
{
	u32 i;

	for (i = 1; i <= LIVES; i++)
		live(test, 1997 * i, HIPEC_MR_FIFO2);
}

static void awst_does_what_plain_arrays_do(struct kunit *test)
{
	u32 i;

	for (i = 1; i <= LIVES; i++)
		live(test, 1993 * i, HIPEC_MR_AWST);
}

static struct kunit_case walk_cases[] = {
	KUNIT_CASE(fifo2_does_what_figure_4_does),
	KUNIT_CASE(awst_does_what_plain_arrays_do),
	{ }
};

static struct kunit_suite walk_suite = {
	.name = "hipec_mrwalk",
	.test_cases = walk_cases,
};

kunit_test_suites(&walk_suite);
