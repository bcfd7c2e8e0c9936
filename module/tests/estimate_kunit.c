// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/estimate.c: bounds of known sums by hand. That the true number is
 * between them, bench/cost/interval.py shows on traces.
 */
#include "kunit_machine.h"

#include "../core/contract.h"

/* A window in which class @k has @sampled and @standard, and others nothing. */
static struct hipec_window one_class(u32 k, u32 sampled, u32 standard, u32 shift)
{
	struct hipec_window w = {
		.faults = sampled << shift, .sampled = sampled, .standard = standard,
		.shift = shift,
	};

	w.class_sampled[k] = sampled;
	w.class_standard[k] = standard;
	return w;
}

static void expect_bounds(struct kunit *test, const struct hipec_estimate *e, u64 least,
			  u64 most)
{
	struct hipec_bounds b = hipec_estimate_bounds(e);

	KUNIT_EXPECT_EQ(test, b.least, least);
	KUNIT_EXPECT_EQ(test, b.most, most);
}

static void of_nothing_nothing_is_known(struct kunit *test)
{
	struct hipec_estimate e = { 0 };
	struct hipec_window w = { .faults = 512 };

	expect_bounds(test, &e, 0, 0);
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 0, 0);
	w = one_class(3, 512, 0, 0);
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 0, 0);
}

/* No chance where all pages are sampled: classes may differ as they like. */
static void all_pages_are_no_sample(struct kunit *test)
{
	struct hipec_estimate e = { 0 };
	struct hipec_window w = one_class(0, 100, 4000, 0);

	hipec_estimate_add(&e, &w);
	w = one_class(1, 900, 1000, 0);
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 5000 - 26, 5000 + 26);
}

/* Seen late: an eighth more; not seen: three times as many; both only upward. */
static void what_was_seen_late_may_be_more(struct kunit *test)
{
	struct hipec_estimate e = { 0 };
	struct hipec_window w = one_class(5, 1000, 2000, 0);

	w.late = 800;
	w.unseen = 10;
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 2000 - 11, 2000 + 11 + 100 + 30);
}

/*
 * All classes have as many of both but two, which have 16 more and less of the
 * default's: the squares of 16 x 2 twice, times 16 / 15, root 46.7 (46), by 2.13 is
 * 97. Where in all classes both are alike in proportion, there is no chance.
 */
static void classes_that_differ_are_chance(struct kunit *test)
{
	struct hipec_window w = { .faults = 3200, .sampled = 1600, .standard = 3200,
					 .shift = 1 };
	struct hipec_estimate e = { 0 };
	u32 k;

	for (k = 0; k < HIPEC_CLASSES; k++) {
		w.class_sampled[k] = 100;
		w.class_standard[k] = 200 + (k == 4 ? 16 : k == 9 ? -16 : 0);
	}
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 6400 - 33 - 97, 6400 + 33 + 97);

	memset(&e, 0, sizeof(e));
	for (k = 0; k < HIPEC_CLASSES; k++) {
		w.class_sampled[k] = 25 + 10 * k;
		w.class_standard[k] = 2 * w.class_sampled[k];
	}
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 6400 - 33, 6400 + 33);
}

/* A container's own faults are counted: the sample only says for how many each is. */
static void the_sample_is_scaled_to_what_is_counted(struct kunit *test)
{
	struct hipec_estimate e = { 0 };
	struct hipec_window w = one_class(5, 1000, 500, 0);

	w.faults = 4000;
	hipec_estimate_add(&e, &w);
	expect_bounds(test, &e, 2000 - 11, 2000 + 11);
}

/* Sums of a container that runs for years. */
static void large_sums_do_not_overflow(struct kunit *test)
{
	struct hipec_estimate e = { .faults = 1ull << 50, .partial = true };
	struct hipec_bounds b;
	u32 k;

	for (k = 0; k < HIPEC_CLASSES; k++) {
		e.sampled[k] = 1ull << 46;
		e.standard[k] = (1ull << 47) + ((u64)(k % 2) << 40) - (1ull << 39);
	}
	b = hipec_estimate_bounds(&e);
	KUNIT_EXPECT_GT(test, b.least, (1ull << 51) / 100 * 99);
	KUNIT_EXPECT_LT(test, b.least, 1ull << 51);
	KUNIT_EXPECT_GT(test, b.most, 1ull << 51);
	KUNIT_EXPECT_LT(test, b.most, (1ull << 51) / 100 * 101 + (1ull << 47));
}

static struct kunit_case estimate_cases[] = {
	KUNIT_CASE(of_nothing_nothing_is_known),
	KUNIT_CASE(all_pages_are_no_sample),
	KUNIT_CASE(what_was_seen_late_may_be_more),
	KUNIT_CASE(classes_that_differ_are_chance),
	KUNIT_CASE(the_sample_is_scaled_to_what_is_counted),
	KUNIT_CASE(large_sums_do_not_overflow),
	{}
};

static struct kunit_suite estimate_suite = {
	.name = "hipec_estimate",
	.test_cases = estimate_cases,
};

kunit_test_suites(&estimate_suite);
