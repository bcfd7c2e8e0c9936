// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of revocation in place (HIPEC_LOAD_CONTRACT), by arithmetic: one thread
 * that reads pages in no order to the kernel (POSIX_FADV_RANDOM), as contract.c does
 * with regions.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-contract"
#define WINDOW 512	/* faults of one in which a small container is judged */
#define REVOCATION "/sys/module/hipec/parameters/revocation"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

/* A file of @pages that is taken, and a policy that is judged. */
static void open_judged(struct map *m, const char *policy, uint64_t frames, size_t pages)
{
	stay_here();
	make_file(FILE_A, pages * PAGE_BYTES);
	m->container = open_cache_with(policy, frames, HIPEC_LOAD_CONTRACT);
	m->file = take_file(m->container, FILE_A, O_RDONLY);
	m->pages = pages;
	m->base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m->file, 0);
	CHECK(m->base != MAP_FAILED);
	CHECK(!posix_fadvise(m->file, 0, 0, POSIX_FADV_RANDOM));
	CHECK(!madvise(m->base, pages * PAGE_BYTES, MADV_RANDOM));
}

static void close_judged(struct map *m)
{
	CHECK(!munmap(m->base, m->pages * PAGE_BYTES));
	close(m->file);
	close(m->container);
}

/* By read(). */
static struct hipec_status read_range(const struct map *m, size_t first, size_t end)
{
	unsigned char buffer[PAGE_BYTES];
	uint64_t word;

	for (; first < end; first++) {
		CHECK(pread(m->file, buffer, PAGE_BYTES, first * PAGE_BYTES) ==
		      (ssize_t)PAGE_BYTES);
		memcpy(&word, buffer, sizeof(word));
		CHECK_EQ(word, page_word(first));
	}
	return get_status(m->container);
}

/* Of pages [@first, @end), those that are in memory. */
static size_t in_memory(const struct map *m, size_t first, size_t end)
{
	unsigned char there[4096];
	size_t n = 0;

	CHECK(!mincore(m->base, m->pages * PAGE_BYTES, there));
	for (; first < end; first++)
		n += there[first] & 1;
	return n;
}

/*
 * mru where it is wrong: 63 pages that are never used again stay for ever, and 32 that
 * are used in turn share what is left. The default brings in each of 96 once. After
 * four windows it is in charge, with all pages that there are, and each of the 32 comes
 * in once more, but the last, which is there.
 */
static void ill_advised_policy_is_revoked(void)
{
	struct hipec_status s = { 0 };
	struct map m;
	int i;

	open_judged(&m, "mru", 64, 200);
	s = read_range(&m, 0, 64);
	for (i = 0; i < 62; i++)
		s = read_range(&m, 100, 132);
	CHECK_EQ(s.counters.read_pages, 64 + 62 * 32);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.bad_windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * WINDOW);
	CHECK_EQ(s.counters.default_faults, 64 + 32);
	CHECK_EQ(s.resident, 64);
	CHECK_EQ(in_memory(&m, 0, 63), 63);
	CHECK_EQ(in_memory(&m, 131, 132), 1);
	CHECK(strstr(s.exit.message, "far fewer faults"));
	for (i = 0; i < 38; i++)
		s = read_range(&m, 100, 132);
	CHECK_LE(s.counters.read_pages, 4 * WINDOW + 32);
	CHECK_EQ(s.counters.windows, 4);
	close_judged(&m);
}

/* The policy is put back, and judged anew: by what comes, not by what was. */
static void revoked_policy_comes_back(void)
{
	struct hipec_status s = { 0 };
	uint64_t before;
	struct map m;
	int i;

	open_judged(&m, "mru", 64, 200);
	read_range(&m, 0, 64);
	for (i = 0; i < 70; i++)
		s = read_range(&m, 100, 132);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(swap_id(m.container, 0, "mru", NULL, 0), 0);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.resident, 64);
	before = s.counters.read_pages;
	s = read_range(&m, 100, 132);
	CHECK_EQ(s.counters.read_pages, before);
	/* In their place others go round; of these the default keeps all. */
	for (i = 0; i < 80; i++)
		s = read_range(&m, 140, 172);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 8);
	CHECK_EQ(s.counters.bad_windows, 8);
	CHECK_LE(s.counters.read_pages, before + 4 * WINDOW + 32);
	/* The built-in replacement is judged by nobody, and its successor is. */
	CHECK_EQ(swap_id(m.container, 0, NULL, NULL, 0), 0);
	for (i = 0; i < 20; i++)
		s = read_range(&m, 0, 100);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.windows, 8);
	CHECK_EQ(swap_id(m.container, 0, "fifo", NULL, 0), 0);
	for (i = 0; i < 20; i++)
		s = read_range(&m, 0, 100);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.windows, 8 + 20 * 100 / WINDOW);
	close_judged(&m);
}

/* Nobody asked for it, or it is switched off. */
static void ill_advised_policy_may_stay(void)
{
	struct hipec_status s = { 0 };
	struct map m;
	int i;

	open_judged(&m, "mru", 64, 200);
	set_switch(REVOCATION, "N");
	read_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = read_range(&m, 100, 132);
	set_switch(REVOCATION, "Y");
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.read_pages, 64 + 100 * 32);
	CHECK_EQ(s.counters.windows, (64 + 100 * 32) / WINDOW);
	CHECK_EQ(s.counters.bad_windows, s.counters.windows);
	close_judged(&m);

	m.container = open_cache("mru", 64);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_RANDOM));
	read_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = read_range(&m, 100, 132);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.windows, 0);
	close(m.file);
	close(m.container);
}

/*
 * mru on a sweep: (P-1) x (N-F+1) faults beside the first N; the default has all P x N,
 * as its judge learns of hits that the policy does not want to know of.
 */
static void good_policy_is_not_revoked(void)
{
	struct hipec_status s = { 0 };
	struct map m;
	int pass;

	open_judged(&m, "mru", 64, 100);
	for (pass = 0; pass < 80; pass++)
		s = read_range(&m, 0, 100);
	CHECK_EQ(s.counters.read_pages, 100 + 79 * 37);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.windows, (100 + 79 * 37) / WINDOW);
	CHECK_EQ(s.counters.bad_windows, 0);
	CHECK(s.counters.default_faults > 2 * s.counters.judged_faults);
	close_judged(&m);
}

/*
 * Of 1,024 frames one page of two or more is sampled. 512 pages go round in the place of
 * one; a window is 2,048 faults.
 */
static void sample_is_enough_to_revoke(void)
{
	struct hipec_status s = { 0 };
	struct map m;
	int i;

	open_judged(&m, "mru", 1024, 1712);
	read_range(&m, 0, 1024);
	for (i = 0; i < 16; i++)
		s = read_range(&m, 1200, 1712);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * 2048);
	CHECK_LE(s.counters.default_faults, 2 * (1024 + 512));
	CHECK_LE(s.counters.read_pages, 4 * 2048 + 512);
	CHECK_EQ(s.resident, 1024);
	close_judged(&m);
}

/*
 * A map, with neighbours mapped by each fault: a sweep that mru serves, and one page in
 * sixteen of as many as there are frames, by which it goes wrong.
 */
static void maps_are_judged_as_well(void)
{
	struct hipec_status s = { 0 };
	struct map m;
	size_t page;
	int i;

	open_judged(&m, "mru", 256, 400);
	for (i = 0; i < 16; i++)
		for (page = 0; page < m.pages; page++)
			touch(&m, page);
	s = get_status(m.container);
	CHECK_LE(s.counters.read_pages, 400 + 15 * (145 + 16));
	CHECK_EQ(s.exit.kind, 0);
	CHECK(s.counters.windows >= 4);
	CHECK_EQ(s.counters.bad_windows, 0);
	close_judged(&m);

	open_judged(&m, "mru", 64, 2048);
	for (page = 0; page < 64; page++)
		touch(&m, page);
	for (i = 0; i < 100; i++)
		for (page = 0; page < 32; page++)
			touch(&m, 100 + 16 * page);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_LE(s.counters.read_pages, 4 * WINDOW + 33);
	CHECK_EQ(s.resident, 64);
	close_judged(&m);
}

/*
 * 40 pages are locked, and fifo gives them up each time that it comes to them. They stay
 * and are found again: no faults of fifo's, which has as many as the default then. With
 * them it would have more than twice as many.
 */
static void pages_that_stay_are_no_faults(void)
{
	struct hipec_status s = { 0 };
	struct map m;
	int i;

	open_judged(&m, "fifo", 64, 200);
	CHECK(!mlock(m.base, 40 * PAGE_BYTES));
	for (i = 0; i < 128; i++) {
		read_range(&m, 0, 40);
		s = read_range(&m, 40 + i % 2 * 30, 70 + i % 2 * 30);
	}
	CHECK(s.counters.refused >= 128);
	CHECK_EQ(s.exit.kind, 0);
	CHECK(s.counters.windows >= 6);
	CHECK_EQ(s.counters.bad_windows, 0);
	CHECK_LE(s.counters.judged_faults, s.counters.read_pages);
	CHECK_LE(s.counters.pages_in, s.counters.read_pages);
	close_judged(&m);
}

static const struct test cache_contract_tests[] = {
	{ "cache_policy_that_is_ill_advised_is_revoked", ill_advised_policy_is_revoked },
	{ "cache_policy_that_was_revoked_comes_back_by_a_swap", revoked_policy_comes_back },
	{ "cache_policy_that_is_ill_advised_may_stay", ill_advised_policy_may_stay },
	{ "cache_policy_that_is_good_is_not_revoked", good_policy_is_not_revoked },
	{ "cache_policy_is_revoked_by_a_sample", sample_is_enough_to_revoke },
	{ "cache_policy_is_judged_by_maps", maps_are_judged_as_well },
	{ "cache_policy_is_not_judged_by_what_stays", pages_that_stay_are_no_faults },
	{ 0 }
};
SUITE(cache_contract_tests, 0);
