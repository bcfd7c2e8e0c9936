// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sketches of module/vm/ops_more.c: what a count may be, and that nothing beside the array is
 * touched, whatever is in it.
 */
#include "kunit_machine.h"

#define NEVER S64_MAX	/* a period in which nothing is halved */

struct sketch {
	struct hipec_fakehost *fake;
	u8 key, period, count, array;
};

/* A sketch of @nr elements; 8 elements of another array follow. */
static struct sketch sketch_new(struct kunit *test, u32 nr)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	struct sketch s = {
		.key = hipec_kit_int(kit, 0), .period = hipec_kit_int(kit, NEVER),
		.count = hipec_kit_int(kit, 0), .array = hipec_kit_array(kit, HIPEC_TYPE_INTS, nr),
	};

	hipec_kit_array(kit, HIPEC_TYPE_INTS, 8);
	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_SKETCHADD, s.array, s.key, s.period);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_SKETCHGET, s.count, s.array, s.key);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	s.fake = hipec_kit_machine(kit, 1);
	return s;
}

static s64 *element(const struct sketch *s)
{
	return s->fake->vm.array[s->fake->vm.slot[s->array]].element;
}

static int use(const struct sketch *s, s64 key)
{
	s->fake->vm.slot[s->key] = key;
	return hipec_fakehost_run(s->fake, HIPEC_EVENT_PAGEFAULT);
}

static s64 count(const struct sketch *s, s64 key)
{
	s->fake->vm.slot[s->key] = key;
	return hipec_fakehost_run(s->fake, HIPEC_EVENT_REPLACE) ? -1 : s->fake->vm.slot[s->count];
}

static s64 key_of(u32 i)
{
	return ((s64)i * 0x12345) << 12;
}

static u32 at_most_15(u32 n)
{
	return n < 15 ? n : 15;
}

/* 100 integers, the i-th used i times: no count is too small, and hardly any too large. */
static void no_use_is_forgotten_in_the_period(struct kunit *test)
{
	struct sketch s = sketch_new(test, 1025);
	u32 i, n, more = 0;

	for (i = 1; i <= 100; i++)
		for (n = 0; n < i; n++)
			KUNIT_ASSERT_EQ(test, use(&s, key_of(i)), 0);
	for (i = 1; i <= 100; i++) {
		s64 got = count(&s, key_of(i));

		KUNIT_EXPECT_GE(test, got, at_most_15(i));
		more += got > at_most_15(i);
	}
	KUNIT_EXPECT_LE(test, more, 2);
	for (i = 101, more = 0; i <= 200; i++)
		more += count(&s, key_of(i)) > 0;
	KUNIT_EXPECT_LE(test, more, 2);
}

/* Of a period all is halved: 15 uses are 7, 3, 1 and none when as many periods are over. */
static void counts_are_halved_once_in_a_period(struct kunit *test)
{
	struct sketch s = sketch_new(test, 1025);
	u32 i, period;

	for (i = 0; i < 15; i++)
		use(&s, key_of(1));
	element(&s)[0] = 0;
	s.fake->vm.slot[s.period] = 100;
	for (period = 1; period <= 4; period++) {
		for (i = 0; i < 100; i++)
			use(&s, key_of(2));
		KUNIT_EXPECT_EQ(test, count(&s, key_of(1)), 15 >> period);
		KUNIT_EXPECT_EQ(test, element(&s)[0], 100);
	}
}

/* A period may be too short, or another one, and the policy may write what it likes. */
static void what_is_in_the_array_does_no_harm(struct kunit *test)
{
	static const s64 periods[] = { S64_MIN, -1, 0, 1, 7, 1ll << 32, S64_MAX };
	static const s64 uses[] = { S64_MIN, -1, 0, 6, (1ll << 32) - 2, 1ll << 32, S64_MAX };
	struct sketch s = sketch_new(test, 101);
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		for (k = 0; k < ARRAY_SIZE(uses); k++) {
			for (n = 0; n < 101; n++)
				element(&s)[n] = n % 3 ? -1 : S64_MIN;
			element(&s)[0] = uses[k];
			s.fake->vm.slot[s.period] = periods[i];
			for (n = 0; n < 300; n++)
				KUNIT_ASSERT_EQ(test, use(&s, key_of(n)), 0);
			KUNIT_EXPECT_LE(test, count(&s, key_of(1)), 15);
			KUNIT_EXPECT_GE(test, count(&s, key_of(1)), 0);
		}
	}
	for (n = 0; n < 8; n++)
		KUNIT_EXPECT_EQ(test, element(&s)[101 + n], 0);
	HIPEC_KIT_EXPECT_WHOLE(test, &s.fake->vm);
}

static struct kunit_case sketch_cases[] = {
	KUNIT_CASE(no_use_is_forgotten_in_the_period),
	KUNIT_CASE(counts_are_halved_once_in_a_period),
	KUNIT_CASE(what_is_in_the_array_does_no_harm),
	{}
};

static struct kunit_suite sketch_suite = {
	.name = "hipec_sketch",
	.test_cases = sketch_cases,
};

kunit_test_suites(&sketch_suite);
