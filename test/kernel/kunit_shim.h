/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of <kunit/test.h> as the portable suites in module/tests use, for
 * user space: a failed expectation is noted, a failed assertion ends the case,
 * memory lives until the case ends, the outcome is KTAP on stdout. The names
 * are the kernel's; test/kernel/kunit_shim.c runs what is registered.
 */
#ifndef HIPEC_TEST_KUNIT_SHIM_H
#define HIPEC_TEST_KUNIT_SHIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GFP_KERNEL 0

struct kunit {
	const char *name;	/* of the case */
	void *priv;
	bool failed;
	jmp_buf end;
	struct shim_memory *memory;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn) { .run_case = fn, .name = #fn }

void *shim_alloc(struct kunit *test, size_t size, bool zero);
void shim_register(struct kunit_suite *const *suites);
void shim_fail(struct kunit *test, const char *file, int line,
	       const char *what);

#define kunit_kmalloc(test, size, gfp) shim_alloc(test, size, false)
#define kunit_kzalloc(test, size, gfp) shim_alloc(test, size, true)

/* Diagnostics, indented as the kernel does. */
#define kunit_info(test, fmt, ...) \
	printf("    # %s: " fmt "\n", (test)->name, ##__VA_ARGS__)

/*
 * Each check is a statement: @ok decides, @found prints what was found and the
 * rest is the caller's own message, if any. @stop ends the case.
 */
#define SHIM_CHECK(test, ok, stop, what, found, ...) do {		\
	struct kunit *t_ = (test);					\
									\
	if (ok)								\
		break;							\
	shim_fail(t_, __FILE__, __LINE__, what);			\
	found;								\
	SHIM_MESSAGE(__VA_ARGS__);					\
	if (stop)							\
		longjmp(t_->end, 1);					\
} while (0)

#define SHIM_MESSAGE(...) \
	__VA_OPT__((printf("    "), printf(__VA_ARGS__), printf("\n")))

#define SHIM_COMPARE(test, a, op, b, stop, ...) do {			\
	long long a_ = (long long)(a), b_ = (long long)(b);		\
									\
	SHIM_CHECK(test, a_ op b_, stop,				\
		   "Expected " #a " " #op " " #b,			\
		   printf("        %lld, %lld\n", a_, b_), ##__VA_ARGS__); \
} while (0)

#define SHIM_TRUTH(test, is, want, stop, ...) \
	SHIM_CHECK(test, !(is) == !(want), stop, \
		   "Expected " #is " to be " #want, (void)0, ##__VA_ARGS__)

#define SHIM_TEXT(test, a, b, stop, ...) do {				\
	const char *a_ = (a), *b_ = (b);				\
									\
	SHIM_CHECK(test, a_ && b_ && !strcmp(a_, b_), stop,		\
		   "Expected " #a " == " #b,				\
		   printf("        '%s', '%s'\n", a_ ? a_ : "(null)",	\
			  b_ ? b_ : "(null)"), ##__VA_ARGS__);		\
} while (0)

#define KUNIT_FAIL(test, ...) \
	SHIM_CHECK(test, false, false, "Failed", (void)0, ##__VA_ARGS__)

#define KUNIT_EXPECT_TRUE(t, x) SHIM_TRUTH(t, x, true, false)
#define KUNIT_EXPECT_TRUE_MSG(t, x, ...) \
	SHIM_TRUTH(t, x, true, false, __VA_ARGS__)
#define KUNIT_ASSERT_TRUE(t, x) SHIM_TRUTH(t, x, true, true)
#define KUNIT_ASSERT_TRUE_MSG(t, x, ...) \
	SHIM_TRUTH(t, x, true, true, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE(t, x) SHIM_TRUTH(t, x, false, false)
#define KUNIT_EXPECT_NULL(t, x) SHIM_TRUTH(t, x, false, false)
#define KUNIT_EXPECT_NOT_NULL(t, x) SHIM_TRUTH(t, x, true, false)
#define KUNIT_ASSERT_NOT_NULL(t, x) SHIM_TRUTH(t, x, true, true)

#define KUNIT_EXPECT_EQ(t, a, b) SHIM_COMPARE(t, a, ==, b, false)
#define KUNIT_EXPECT_EQ_MSG(t, a, b, ...) \
	SHIM_COMPARE(t, a, ==, b, false, __VA_ARGS__)
#define KUNIT_ASSERT_EQ(t, a, b) SHIM_COMPARE(t, a, ==, b, true)
#define KUNIT_ASSERT_EQ_MSG(t, a, b, ...) \
	SHIM_COMPARE(t, a, ==, b, true, __VA_ARGS__)
#define KUNIT_EXPECT_NE(t, a, b) SHIM_COMPARE(t, a, !=, b, false)
#define KUNIT_ASSERT_NE(t, a, b) SHIM_COMPARE(t, a, !=, b, true)
#define KUNIT_EXPECT_LE(t, a, b) SHIM_COMPARE(t, a, <=, b, false)
#define KUNIT_EXPECT_LT(t, a, b) SHIM_COMPARE(t, a, <, b, false)
#define KUNIT_EXPECT_GE(t, a, b) SHIM_COMPARE(t, a, >=, b, false)
#define KUNIT_EXPECT_GT(t, a, b) SHIM_COMPARE(t, a, >, b, false)
#define KUNIT_EXPECT_STREQ(t, a, b) SHIM_TEXT(t, a, b, false)
#define KUNIT_ASSERT_STREQ_MSG(t, a, b, ...) \
	SHIM_TEXT(t, a, b, true, __VA_ARGS__)

/* Suites of all files make one program. */
#define kunit_test_suites(...)						\
	__attribute__((constructor)) static void shim_suites(void)	\
	{								\
		static struct kunit_suite *const suites[] = {		\
			__VA_ARGS__, NULL				\
		};							\
									\
		shim_register(suites);					\
	}								\
	struct kunit_suite

#define MODULE_DESCRIPTION(text) struct kunit_suite
#define MODULE_LICENSE(text) struct kunit_suite

#endif /* HIPEC_TEST_KUNIT_SHIM_H */
