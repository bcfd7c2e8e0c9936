// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/backoff.c: waits double up to a bound, one image and one user do not
 * wait for another, and memory is bounded.
 */
#include "../core/backoff.h"
#include "kunit_machine.h"

#define FIRST 1000	/* ms */
#define LATE 66		/* an exit kind */

static struct hipec_backoff *table(struct kunit *test)
{
	struct hipec_backoff *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	return r;
}

static u64 wait(const struct hipec_backoff *r, u32 user, u64 image, u64 now)
{
	const struct hipec_backoff_entry *e = hipec_backoff_find(r, user, image);

	return e ? hipec_backoff_wait(e, FIRST, now) : 0;
}

/* To the millisecond, from the last revocation on. */
static void waits_double_up_to_a_bound(struct kunit *test)
{
	struct hipec_backoff *r = table(test);
	u64 now = 5, want = FIRST;
	u32 i;

	for (i = 1; i <= 14; i++) {
		hipec_backoff_note(r, 1, 77, LATE, FIRST, now);
		KUNIT_EXPECT_EQ(test, hipec_backoff_find(r, 1, 77)->times, i);
		KUNIT_EXPECT_EQ(test, hipec_backoff_find(r, 1, 77)->kind, LATE);
		KUNIT_EXPECT_EQ(test, wait(r, 1, 77, now), want);
		KUNIT_EXPECT_EQ(test, wait(r, 1, 77, now + want - 1), 1);
		KUNIT_EXPECT_EQ(test, wait(r, 1, 77, now + want), 0);
		KUNIT_EXPECT_EQ(test, wait(r, 1, 77, now + 99 * want), 0);
		now += want;
		want = i <= HIPEC_BACKOFF_DOUBLINGS ? 2 * want : want;
	}
	KUNIT_EXPECT_EQ(test, want, FIRST << HIPEC_BACKOFF_DOUBLINGS);
	KUNIT_EXPECT_EQ(test, hipec_backoff_wait(hipec_backoff_find(r, 1, 77),
						 0, now), 0);
}

static void nobody_waits_for_another(struct kunit *test)
{
	struct hipec_backoff *r = table(test);

	KUNIT_EXPECT_NULL(test, hipec_backoff_find(r, 0, 0));
	hipec_backoff_note(r, 1, 77, LATE, FIRST, 0);
	KUNIT_EXPECT_EQ(test, wait(r, 1, 77, 0), FIRST);
	KUNIT_EXPECT_EQ(test, wait(r, 2, 77, 0), 0);
	KUNIT_EXPECT_EQ(test, wait(r, 1, 78, 0), 0);
	KUNIT_EXPECT_EQ(test, wait(r, 1, 77 | 1ull << 32, 0), 0);
}

/* Good for the longest wait behind its own: the next time is the first again. */
static void long_ago_is_forgotten(struct kunit *test)
{
	u64 longest = (u64)FIRST << HIPEC_BACKOFF_DOUBLINGS;
	struct hipec_backoff *r = table(test);

	hipec_backoff_note(r, 1, 77, LATE, FIRST, 0);
	hipec_backoff_note(r, 1, 77, LATE, FIRST, FIRST + longest);
	KUNIT_EXPECT_EQ(test, hipec_backoff_find(r, 1, 77)->times, 2);
	hipec_backoff_note(r, 1, 77, LATE, FIRST,
			   FIRST + longest + 2 * FIRST + longest + 1);
	KUNIT_EXPECT_EQ(test, hipec_backoff_find(r, 1, 77)->times, 1);
	/* Without a wait there is no such time. */
	hipec_backoff_note(r, 1, 77, LATE, 0, 99 * longest);
	KUNIT_EXPECT_EQ(test, hipec_backoff_find(r, 1, 77)->times, 2);
}

/* One too many: who was revoked longest ago is forgotten, nobody else. */
static void the_oldest_makes_room(struct kunit *test)
{
	struct hipec_backoff *r = table(test);
	u64 i;

	for (i = 0; i < HIPEC_BACKOFF_IMAGES; i++)
		hipec_backoff_note(r, 1, i, LATE, FIRST, i);
	hipec_backoff_note(r, 1, 0, LATE, FIRST, i);
	hipec_backoff_note(r, 1, 1000, LATE, FIRST, i + 1);
	for (i = 0; i < HIPEC_BACKOFF_IMAGES; i++)
		KUNIT_EXPECT_EQ(test, !hipec_backoff_find(r, 1, i), i == 1);
	KUNIT_ASSERT_NOT_NULL(test, hipec_backoff_find(r, 1, 0));
	KUNIT_EXPECT_EQ(test, hipec_backoff_find(r, 1, 0)->times, 2);
	KUNIT_EXPECT_NOT_NULL(test, hipec_backoff_find(r, 1, 1000));
}

static struct kunit_case backoff_cases[] = {
	KUNIT_CASE(waits_double_up_to_a_bound),
	KUNIT_CASE(nobody_waits_for_another),
	KUNIT_CASE(long_ago_is_forgotten),
	KUNIT_CASE(the_oldest_makes_room),
	{ }
};

static struct kunit_suite backoff_suite = {
	.name = "hipec_backoff",
	.test_cases = backoff_cases,
};

kunit_test_suites(&backoff_suite);
