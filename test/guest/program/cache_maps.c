// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place that are mapped: a policy hears of their pages' referenced bits what it
 * hears of read() at once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_A DIR_DATA "maps-a"

/*
 * Accesses of which HOT in 16 are to an eighth of the file, which fits in the budget, a
 * quarter of it. FIFO misses of those, too, what it has evicted; who hears of hits does not.
 */
#define HOT 10

struct mix {
	size_t pages, accesses;
	uint64_t seed;
};

static size_t next(struct mix *m)
{
	bool hot;

	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	hot = (m->seed >> 60) < HOT;
	return (m->seed >> 32) % (hot ? m->pages / 8 : m->pages);
}

/* Pages that a policy reads, of a map or by read(). */
static size_t missed(const char *policy, struct mix mix, bool by_map)
{
	struct map m = { .pages = mix.pages };
	struct hipec_status s;
	uint64_t word;
	size_t i;

	m.file = open(FILE_A, O_RDONLY);
	CHECK(m.file >= 0 && !posix_fadvise(m.file, 0, 0, POSIX_FADV_DONTNEED));
	close(m.file);
	m.container = open_cache(policy, mix.pages / 4);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_RANDOM));
	m.base = mmap(NULL, mix.pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	CHECK(!madvise(m.base, mix.pages * PAGE_BYTES, MADV_RANDOM));
	for (i = 0; i < mix.accesses; i++) {
		size_t page = next(&mix);

		if (by_map)
			touch(&m, page);
		else
			CHECK(pread(m.file, &word, sizeof(word), page * PAGE_BYTES) ==
			      sizeof(word) && word == page_word(page));
	}
	s = get_status(m.container);
	CHECK(!munmap(m.base, mix.pages * PAGE_BYTES));
	close(m.file);
	close(m.container);
	printf("# %s, %zu pages, by %s: %llu read\n", policy, mix.pages,
	       by_map ? "map" : "read()", (unsigned long long)s.counters.read_pages);
	return s.counters.read_pages;
}

static void hear(const char *policy, struct mix mix)
{
	size_t fifo = missed("fifo", mix, true), by_read = missed(policy, mix, false),
	       by_map = missed(policy, mix, true);

	CHECK_LE(by_read, by_map + by_read / 50);
	CHECK_LE(by_map, by_read + by_read / 20);
	CHECK_LE(by_map, fifo - fifo / 8);
}

/* CPUs are told of reset bits after each event. */
static void small_budgets_hear(void)
{
	const struct mix mix = { .pages = 1024, .accesses = 8192, .seed = 1 };

	stay_here();
	make_file(FILE_A, mix.pages * PAGE_BYTES);
	hear("lru", mix);
	hear("arc", mix);
	hear("sieve", mix);
}

/* They are once in four events, and a round takes many looks. */
static void large_budgets_hear(void)
{
	const struct mix mix = { .pages = 4096, .accesses = 16384, .seed = 1 };

	stay_here();
	make_file(FILE_A, mix.pages * PAGE_BYTES);
	hear("lru", mix);
	unlink(FILE_A);	/* others want the disk */
}

/* One instruction, of two pages. */
uint64_t load_across(const unsigned char *end_of_page)
{
	uint64_t word;

	__asm__ volatile("movq (%1), %0" : "=r" (word) : "r" (end_of_page - 4) : "memory");
	return word;
}

/* A policy gives up the page that came last, for the other one that the load needs. */
static void load_all_across(const char *policy, uint32_t flags, size_t pages)
{
	struct map m = { .pages = pages };
	struct hipec_status s;
	size_t i;

	m.file = open(FILE_A, O_RDONLY);
	CHECK(m.file >= 0 && !posix_fadvise(m.file, 0, 0, POSIX_FADV_DONTNEED));
	close(m.file);
	m.container = open_cache_with(policy, 64, flags);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	CHECK(!madvise(m.base, pages * PAGE_BYTES, MADV_RANDOM));
	for (i = 1; i < pages; i += 2)
		CHECK(load_across(m.base + i * PAGE_BYTES) >> 32 == (uint32_t)page_word(i));
	s = get_status(m.container);
	CHECK_EQ(s.counters.read_pages, pages);
	CHECK_LE(s.resident, 64);
	CHECK(!munmap(m.base, pages * PAGE_BYTES));
	close(m.file);
	close(m.container);
}

static void loads_across_pages_end(void)
{
	const size_t pages = 512;

	stay_here();
	make_file(FILE_A, pages * PAGE_BYTES);
	load_all_across("mru", 0, pages);
	load_all_across("mru", HIPEC_LOAD_SHARE, pages);
	load_all_across("mru-touched", 0, pages);
	load_all_across("mru-touch", 0, pages);
}

/* Touches at random of a map. Return: pages that are read. */
static uint64_t touch_anywhere(struct map *m, size_t touches)
{
	struct hipec_counters before = get_status(m->container).counters, after;
	struct mix mix = { .pages = m->pages, .seed = touches };

	while (touches--)
		touch(m, next(&mix));
	after = get_status(m->container).counters;
	return after.read_pages - before.read_pages;
}

/* Requests to the disk, for one sweep of a map. */
static uint64_t sweep(struct map *m)
{
	struct hipec_counters before = get_status(m->container).counters, after;

	touch_range(m, 0, m->pages);
	after = get_status(m->container).counters;
	return after.read_ios - before.read_ios;
}

/*
 * The kernel reads 32 pages around each fault, if no advice says otherwise. Where that is
 * in vain, it reads one, and four at one fault in 16, which is 1.19 a fault; and where it is
 * of use again, 32.
 */
static void windows_follow_what_is_touched(void)
{
	const size_t pages = 4096, frames = 1024;
	unsigned char in_memory[4096];
	struct map m = { .pages = pages };
	size_t i = 0, resident = 0;

	stay_here();
	make_file(FILE_A, pages * PAGE_BYTES);
	m.container = open_cache("fifo", frames);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	touch_anywhere(&m, 2000);
	CHECK_LE(touch_anywhere(&m, 1000), 1250);
	sweep(&m);
	CHECK_LE(sweep(&m), pages / 16);
	touch_anywhere(&m, 2000);
	CHECK_LE(touch_anywhere(&m, 1000), 1250);
	/* And the kernel's own again where it is let go, though the map stays. */
	close(m.container);
	CHECK(!madvise(m.base, pages * PAGE_BYTES, MADV_DONTNEED));
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_DONTNEED));
	touch(&m, pages / 2);
	CHECK(!mincore(m.base, pages * PAGE_BYTES, in_memory));
	while (i < pages)
		resident += in_memory[i++] & 1;
	CHECK_EQ(resident, 32);
	CHECK(!munmap(m.base, pages * PAGE_BYTES));
	close(m.file);
	unlink(FILE_A);
}

/*
 * On XFS a write makes a folio of 16 pages, which is dropped by itself, and one of its pages
 * comes back alone, by a fault. A policy that gives up what was touched last gives up both
 * entries for what is read next: both have the page of the last fault, which stays until the
 * miss behind. Elsewhere folios have one page, and nothing is special.
 */
static void two_victims_of_one_page(void)
{
	enum { all = 256, few = 64, large = 16 };
	static unsigned char buffer[large * PAGE_BYTES];
	struct map m = { .pages = all };
	uint64_t word;
	size_t round, i;

	stay_here();
	make_file(FILE_A, all * PAGE_BYTES);
	m.container = open_cache("mru-touched", few);
	m.file = take_file(m.container, FILE_A, O_RDWR);
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_RANDOM));
	m.base = mmap(NULL, all * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	CHECK(!madvise(m.base, all * PAGE_BYTES, MADV_RANDOM));
	for (i = 128; i < 168; i++)
		CHECK(pread(m.file, &word, sizeof(word), i * PAGE_BYTES) == sizeof(word));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < large; i++)
			memcpy(buffer + i * PAGE_BYTES, &(uint64_t){ page_word(i) }, sizeof(word));
		CHECK_EQ(pwrite(m.file, buffer, sizeof(buffer), 0), sizeof(buffer));
		CHECK(!fsync(m.file));
		CHECK(!posix_fadvise(m.file, 0, sizeof(buffer), POSIX_FADV_DONTNEED));
		touch(&m, 3);
		CHECK_EQ(pread(m.file, buffer, sizeof(buffer), (200 + large * round) * PAGE_BYTES),
			 sizeof(buffer));
		for (i = 0; i < large; i++)
			CHECK(pread(m.file, &word, sizeof(word), i * PAGE_BYTES) == sizeof(word) &&
			      word == page_word(i));
		CHECK_LE(get_status(m.container).resident, few);
	}
	close(m.container);
	CHECK(!munmap(m.base, all * PAGE_BYTES));
	close(m.file);
	unlink(FILE_A);
}

/*
 * The same two entries, which wait to be evicted, and the page is read once more: by the smaller
 * one's way out the larger one is found. It is a victim as well, and counted as held no more.
 */
static void victim_behind_a_victim(void)
{
	enum { all = 512, few = 256, large = 16, others = 230 };
	static unsigned char buffer[large * PAGE_BYTES];
	uint64_t word;
	int container, file;
	size_t i;

	stay_here();
	make_file(FILE_A, all * PAGE_BYTES);
	container = open_cache("mru-touched", few);
	file = take_file(container, FILE_A, O_RDWR);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < others; i++)
		CHECK(pread(file, &word, sizeof(word), (128 + i) * PAGE_BYTES) == sizeof(word));
	for (i = 0; i < large; i++)
		memcpy(buffer + i * PAGE_BYTES, &(uint64_t){ page_word(i) }, sizeof(word));
	CHECK_EQ(pwrite(file, buffer, sizeof(buffer), 0), sizeof(buffer));
	CHECK(!fsync(file));
	CHECK(!posix_fadvise(file, 0, sizeof(buffer), POSIX_FADV_DONTNEED));
	CHECK(pread(file, &word, sizeof(word), 3 * PAGE_BYTES) == sizeof(word));
	CHECK_EQ(pread(file, buffer, sizeof(buffer), 400 * PAGE_BYTES), sizeof(buffer));
	CHECK(pread(file, &word, sizeof(word), 3 * PAGE_BYTES) == sizeof(word));
	CHECK_EQ(word, page_word(3));
	CHECK_LE(get_status(container).resident, few);
	CHECK_EQ(hipec_release(container, 0, -1), 0);
	CHECK_EQ(get_status(container).resident, 0);
	close(container);
	close(file);
	unlink(FILE_A);
}

/* On each file system. */
static const struct test cache_folio_tests[] = {
	{ "cache_victim_behind_a_victim_is_no_page", victim_behind_a_victim },
	{ "cache_victims_of_one_page_are_all_evicted", two_victims_of_one_page },
	{ 0 }
};
SUITE(cache_folio_tests, ON_EACH_FS);

static const struct test cache_maps_tests[] = {
	{ "cache_loads_across_pages_end_whatever_the_policy", loads_across_pages_end },
	{ "cache_hears_of_maps_what_it_hears_of_reads", small_budgets_hear },
	{ "cache_of_many_pages_hears_of_maps_as_well", large_budgets_hear },
	{ "cache_windows_follow_what_is_touched", windows_follow_what_is_touched },
	{ 0 }
};
SUITE(cache_maps_tests, 0);
