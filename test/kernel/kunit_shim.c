// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the portable KUnit suites in user space and prints KTAP as the kernel
 * does, so that one parser reads both.
 *
 *	kunit [SUITE...]        all, or these
 */
#include "kunit_shim.h"

#define MAX_SUITES 64

struct shim_memory {
	struct shim_memory *next;
	void *bytes;	/* on its own, so that ASan sees both its ends */
};

static struct kunit_suite *registered[MAX_SUITES];
static unsigned int nr_registered;

void shim_register(struct kunit_suite *const *suites)
{
	for (; *suites; suites++) {
		if (nr_registered == MAX_SUITES)
			abort();
		registered[nr_registered++] = *suites;
	}
}

void *shim_alloc(struct kunit *test, size_t size, bool zero)
{
	struct shim_memory *m = malloc(sizeof(*m));

	if (!m)
		abort();
	m->bytes = malloc(size);
	if (!m->bytes && size)
		abort();
	/* What nobody wrote must not look like zeroes that somebody did. */
	memset(m->bytes, zero ? 0 : 0xa5, size);
	m->next = test->memory;
	test->memory = m;
	return m->bytes;
}

void shim_fail(struct kunit *test, const char *file, int line,
	       const char *what)
{
	test->failed = true;
	printf("    # %s: EXPECTATION FAILED at %s:%d\n    %s\n", test->name,
	       file, line, what);
}

static void free_memory(struct kunit *test)
{
	while (test->memory) {
		struct shim_memory *m = test->memory;

		test->memory = m->next;
		free(m->bytes);
		free(m);
	}
}

/* Run one case; returns whether it failed. */
static bool run_case(const struct kunit_suite *suite,
		     const struct kunit_case *c, unsigned int number)
{
	struct kunit test = { .name = c->name };

	if (!setjmp(test.end)) {
		if (suite->init && suite->init(&test))
			test.failed = true;
		else
			c->run_case(&test);
	}
	if (suite->exit)
		suite->exit(&test);
	free_memory(&test);
	printf("    %sok %u %s\n", test.failed ? "not " : "", number, c->name);
	fflush(stdout);
	return test.failed;
}

static bool run_suite(const struct kunit_suite *suite, unsigned int number)
{
	const struct kunit_case *c;
	unsigned int nr = 0;
	bool failed = false;

	for (c = suite->test_cases; c->run_case; c++)
		nr++;
	printf("    KTAP version 1\n    # Subtest: %s\n    1..%u\n",
	       suite->name, nr);
	nr = 0;
	for (c = suite->test_cases; c->run_case; c++)
		failed |= run_case(suite, c, ++nr);
	printf("%sok %u %s\n", failed ? "not " : "", number, suite->name);
	return failed;
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	unsigned int i, nr = 0;
	bool failed = false;

	for (i = 0; i < nr_registered; i++)
		nr += wanted(registered[i]->name, argc, argv);
	printf("KTAP version 1\n1..%u\n", nr);
	nr = 0;
	for (i = 0; i < nr_registered; i++)
		if (wanted(registered[i]->name, argc, argv))
			failed |= run_suite(registered[i], ++nr);
	return failed || !nr;
}
