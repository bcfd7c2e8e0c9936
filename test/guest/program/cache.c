// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place: their pages are the page cache's, and a policy decides which of them
 * go. What is read is counted exactly, so the counts are arithmetic, or a model's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-a"
#define FILE_B DIR_DATA "cache-b"

/*
 * A container of this kind with a budget, and HIPEC_LOAD_* more. @policy: NULL: the
 * built-in one.
 */
int open_cache_with(const char *policy, uint64_t frames, uint32_t flags)
{
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE | flags, .frames = frames,
	};
	int fd = hipec_open(), ret;
	void *image = NULL;
	size_t size = 0;

	CHECK(fd >= 0);
	if (policy)
		read_image(policy, &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	ret = hipec_load_args(fd, &load);
	if (ret)
		FAIL("load: %s", strerror(-ret));
	free(image);
	return fd;
}

int open_cache(const char *policy, uint64_t frames)
{
	return open_cache_with(policy, frames, 0);
}

/* The file is taken; opened after that. */
int take_file(int container, const char *path, int flags)
{
	int file = open(path, O_PATH), ret;
	struct hipec_take take;

	CHECK(file >= 0);
	ret = hipec_take(container, 0, file, &take);
	if (ret)
		FAIL("take %s: %s, refused %u", path, strerror(-ret),
		     take.refused);
	close(file);
	file = open(path, flags);
	CHECK(file >= 0);
	return file;
}

void sweep_read(int file, size_t pages)
{
	static unsigned char buffer[16 * PAGE_BYTES];
	size_t page, i;

	for (page = 0; page < pages; page += 16) {
		CHECK(pread(file, buffer, sizeof(buffer), page * PAGE_BYTES) ==
		      sizeof(buffer));
		for (i = 0; i < 16; i++) {
			uint64_t word;

			memcpy(&word, buffer + i * PAGE_BYTES, sizeof(word));
			if (word != page_word(page + i))
				FAIL("page %zu has wrong data", page + i);
		}
	}
}

static void show(const struct hipec_status *s)
{
#define HIPEC_X(name, help) \
	if (s->counters.name) \
		printf("# " #name " %llu\n", (unsigned long long)s->counters.name);
	HIPEC_COUNTERS(HIPEC_X)
#undef HIPEC_X
}

/* Sweeps in which the page that comes next was touched longest ago. */
#define PAGES 2048
#define FRAMES 1792
#define PASSES 8
#define LEAST (PAGES + (PASSES - 1) * (PAGES - FRAMES))

/* A window of read-ahead, and the one behind it. */
#define WINDOWS 64

static void sweep_reading(const char *policy, size_t most)
{
	struct hipec_status s;
	int c, file;
	size_t i;

	stay_here();
	make_file(FILE_A, PAGES * PAGE_BYTES);
	c = open_cache(policy, FRAMES);
	file = take_file(c, FILE_A, O_RDONLY);
	for (i = 0; i < PASSES; i++)
		sweep_read(file, PAGES);
	s = get_status(c);
	show(&s);
	CHECK_LE(LEAST, s.counters.read_pages);
	CHECK_LE(s.counters.read_pages, most);
	CHECK_EQ(s.counters.evictions, s.counters.read_pages - s.resident);
	CHECK_EQ(s.resident, FRAMES);
	CHECK_EQ(s.counters.hits + s.counters.pages_in, PASSES * PAGES);
	CHECK_EQ(s.in_place, 1);
	CHECK_EQ(s.regions, 1);
	close(file);
	close(c);
}

/* By order of touches it keeps what it can; by order of faults a window less. */
static void sweep_by_read(void)
{
	sweep_reading("mru-touched", LEAST);
	sweep_reading("mru", LEAST + (PASSES - 1) * WINDOWS);
}

/*
 * Sweeps through four times the budget by read()s of @bytes. The kernel would have as much read
 * as a read() wants before it copies a page of it: more than a policy may have ahead of its
 * use, and where that goes first, it is read again, and again.
 */
static void sweep_at_once(const char *policy, size_t bytes, uint64_t least, uint64_t most)
{
	enum { few = PAGES / 4, times = 3 };
	char *buffer = malloc(bytes);
	struct hipec_status s;
	int c, file, pass;
	size_t at;

	CHECK(buffer);
	make_file(FILE_A, PAGES * PAGE_BYTES);
	c = open_cache(policy, few);
	file = take_file(c, FILE_A, O_RDONLY);
	for (pass = 0; pass < times; pass++)
		for (at = 0; at < PAGES * PAGE_BYTES; at += bytes) {
			CHECK_EQ(pread(file, buffer, bytes, at), bytes);
			CHECK(!memcmp(buffer + bytes - PAGE_BYTES,
				      &(uint64_t){ page_word((at + bytes) / PAGE_BYTES - 1) },
				      sizeof(uint64_t)));
		}
	s = get_status(c);
	show(&s);
	CHECK_LE(least, s.counters.read_pages);
	CHECK_LE(s.counters.read_pages, most);
	CHECK_EQ(s.counters.hits + s.counters.pages_in, times * PAGES);
	CHECK_EQ(s.resident, few);
	close(file);
	close(c);
	free(buffer);
}

static void sweep_by_large_reads(void)
{
	const uint64_t all = PAGES, kept = PAGES / 4;
	size_t bytes;

	stay_here();
	for (bytes = 64 << 10; bytes <= PAGES * PAGE_BYTES; bytes *= 2) {
		printf("# %zu bytes\n", bytes);
		sweep_at_once("lru", bytes, 3 * all, 3 * all);
		sweep_at_once("mru-touched", bytes, 3 * all - 2 * kept, 3 * all - 2 * kept + 2 * WINDOWS);
	}
}

/* LIRS divides its frames: what is read ahead is in neither part. */
static void sweep_in_two_parts(void)
{
	sweep_reading("lirs", LEAST + (PASSES - 1) * 2 * WINDOWS);
}

/* A page that is read in four pieces, one after the other, was touched once. */
static void sweep_in_pieces(void)
{
	char piece[PAGE_BYTES / 4];
	struct hipec_status s;
	int c, file, pass;

	stay_here();
	make_file(FILE_A, PAGES * PAGE_BYTES);
	c = open_cache("lirs", FRAMES);
	file = take_file(c, FILE_A, O_RDONLY);
	for (pass = 0; pass < PASSES; pass++) {
		CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
		while (read(file, piece, sizeof(piece)) > 0)
			;
	}
	s = get_status(c);
	show(&s);
	CHECK_EQ(s.counters.hits + s.counters.pages_in, PASSES * PAGES);
	CHECK_LE(s.counters.read_pages, LEAST + (PASSES - 1) * 2 * WINDOWS);
	close(file);
	close(c);
}

static void sweep_mapped(const char *policy, size_t most)
{
	struct hipec_status s;
	struct map m;
	size_t i, p;

	stay_here();
	make_file(FILE_A, PAGES * PAGE_BYTES);
	m.container = open_cache(policy, FRAMES);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	for (i = 0; i < PASSES; i++)
		for (p = 0; p < PAGES; p++)
			touch(&m, p);
	s = get_status(m.container);
	show(&s);
	CHECK_LE(LEAST, s.counters.read_pages);
	CHECK_LE(s.counters.read_pages, most);
	CHECK_EQ(s.resident, FRAMES);
	CHECK(!munmap(m.base, PAGES * PAGE_BYTES));
	close(m.file);
	close(m.container);
}

static void sweep_by_map(void)
{
	sweep_mapped("mru", LEAST + (PASSES - 1) * 2 * WINDOWS);
}

/* Whether this test runs on that CPU. */
bool go_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

/* On one CPU: a page in another's batch is refused, and goes a little later. */
void stay_here(void)
{
	CHECK(go_to(0));
}

/* Page @page was used: it is the youngest. Return: whether it was there. */
static bool lru_use(uint32_t *list, size_t *nr, size_t frames, uint32_t page)
{
	size_t i;

	for (i = 0; i < *nr && list[i] != page; i++)
		;
	if (i < *nr) {
		memmove(list + i, list + i + 1, (--*nr - i) * sizeof(*list));
		list[(*nr)++] = page;
		return true;
	}
	if (*nr == frames)
		memmove(list, list + 1, --*nr * sizeof(*list));
	list[(*nr)++] = page;
	return false;
}

/*
 * One thread, advised that it reads at random: the policy is told of each read. What it has given up,
 * and is not evicted yet, it misses without a read of the disk.
 */
static void random_reads(void)
{
	const size_t pages = 1024, frames = 700, reads = 8192;
	uint32_t list[700], seed = 1;
	size_t nr = 0, misses = 0, i;
	struct hipec_status s;
	int c, file;

	stay_here();
	make_file(FILE_A, pages * PAGE_BYTES);
	c = open_cache("lru", frames);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < reads; i++) {
		unsigned char buffer[PAGE_BYTES];
		uint32_t page;
		uint64_t word;

		seed = seed * 1664525 + 1013904223;
		page = (seed >> 8) % pages;
		CHECK(pread(file, buffer, PAGE_BYTES, page * PAGE_BYTES) ==
		      (ssize_t)PAGE_BYTES);
		memcpy(&word, buffer, sizeof(word));
		CHECK(word == page_word(page));
		misses += !lru_use(list, &nr, frames, page);
	}
	s = get_status(c);
	CHECK_EQ(s.counters.pages_in, misses);
	CHECK_LE(s.counters.read_pages, misses);
	CHECK_LE(misses - misses / 32, s.counters.read_pages);
	CHECK_EQ(s.counters.evictions, misses - frames);
	CHECK_EQ(s.resident, frames);
	close(file);
	close(c);
}

/* The policies of hipec run --policy auto, in their order (userlib/sim/auto.h). */
static void join_all(int c)
{
	static const char *const name[] = {
		"mru", "arc", "2q", "s3-fifo", "w-tinylfu", "lirs", "lru",
	};
	void *image;
	size_t size, i;

	for (i = 0; i < sizeof(name) / sizeof(*name); i++) {
		read_image(name[i], &image, &size);
		CHECK_EQ(hipec_join(c, 0, image, size, NULL, 0), (int)i + 1);
		free(image);
	}
}

/*
 * Page of read @i of @reads, where a skewed reader would take page @low: of a join, which
 * has the inner relation's page after each of the outer one, and of what follows one; of a
 * skewed reader; of one who sweeps now and then.
 */
static long page_of(const char *pattern, long i, long reads, long low, long pages)
{
	if (!strcmp(pattern, "auto-join") ||
	    (!strcmp(pattern, "auto-changing") && i < reads / 2))
		return i % 2 ? 0 : 1 + i / 2 % (pages - 1);
	if (!strcmp(pattern, "auto-skewed") || !strcmp(pattern, "auto-changing"))
		return low;
	return i / 512 % 4 == 3 ? i % pages : low;
}

/*
 * For the host, which knows these reads and simulates them. Prints the policy's name, what
 * was missed, and what was helped; and, if @judged, what the contract's judge says. The
 * policy `auto` is the built-in one and the league that hipec run makes; `auto-join` and
 * others likewise, see page_of().
 */
int cache_reads(const char *policy, long pages, long frames, long reads, bool judged)
{
	unsigned char buffer[PAGE_BYTES];
	bool league = !strncmp(policy, "auto", 4);
	struct hipec_status s;
	uint32_t seed = 1;
	int c, file;
	long i;

	stay_here();
	if (access(FILE_A, R_OK))
		make_file(FILE_A, pages * PAGE_BYTES);
	drop_pages(FILE_A);
	c = open_cache_with(league ? NULL : policy, frames, judged ? HIPEC_LOAD_CONTRACT : 0);
	if (league)
		join_all(c);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(get_status(c).resident, 0);
	for (i = 0; i < reads; i++) {
		uint32_t a, b;
		long page;

		a = (seed = seed * 1664525 + 1013904223) >> 8;
		b = (seed = seed * 1664525 + 1013904223) >> 8;
		page = page_of(policy, i, reads, (long)(a % pages) * (b % pages) / pages, pages);
		CHECK(pread(file, buffer, PAGE_BYTES, page * PAGE_BYTES) ==
		      (ssize_t)PAGE_BYTES);
	}
	s = get_status(c);
	printf("%s %llu %llu %llu %u %llu %llu %llu %llu\n", policy,
	       (unsigned long long)s.counters.pages_in,
	       (unsigned long long)s.counters.helped,
	       (unsigned long long)s.counters.refused, s.exit.kind,
	       (unsigned long long)s.counters.late,
	       (unsigned long long)s.counters.windows,
	       (unsigned long long)s.counters.judged_faults,
	       (unsigned long long)s.counters.default_faults);
	close(file);
	close(c);
	return 0;
}

static void check_refused(int container, const char *path, int want, uint32_t why)
{
	int file = open(path, O_PATH), ret;
	struct hipec_take take;

	CHECK(file >= 0);
	ret = hipec_take(container, 0, file, &take);
	if (ret != want || take.refused != why)
		FAIL("%s: %d, refused %u; want %d, %u", path, ret, take.refused,
		     want, why);
	close(file);
}

static void what_cannot_be_taken(void)
{
	int a = open_cache("mru", 64), b = open_cache("mru", 64), own, file;
	struct hipec_take take;

	make_file(FILE_A, 16 * PAGE_BYTES);
	make_file("/tmp/cache-tmpfs", PAGE_BYTES);
	check_refused(a, "/tmp/cache-tmpfs", -EOPNOTSUPP, HIPEC_REFUSED_TMPFS);
	check_refused(a, "/tmp", -EOPNOTSUPP, HIPEC_REFUSED_TMPFS);
	check_refused(a, "/dev/null", -EOPNOTSUPP, HIPEC_REFUSED_KIND);
	check_refused(a, "/proc/self/status", -EOPNOTSUPP,
		      HIPEC_REFUSED_FILE_SYSTEM);
	CHECK_EQ(hipec_take(a, 0, -1, &take), -EBADF);
	file = take_file(a, FILE_A, O_RDONLY);
	CHECK_EQ(hipec_take(b, 0, file, &take), -EBUSY);
	CHECK_EQ(take.other, get_status(a).id);
	CHECK_EQ(hipec_take(a, 0, file, &take), -EBUSY);
	CHECK_EQ(hipec_release(b, 0, file), -ENOENT);
	CHECK_EQ(hipec_release(a, 0, file), 0);
	CHECK_EQ(hipec_release(a, 0, file), -ENOENT);
	CHECK_EQ(hipec_take(b, 0, file, &take), 0);
	close(b);
	CHECK_EQ(hipec_take(a, 0, file, &take), 0);
	CHECK_EQ(hipec_attach(a, file, 0, 0, false, NULL), -EINVAL);
	close(a);

	/* Of a container with frames of its own. */
	own = load_policy("mru", 64, 1);
	CHECK_EQ(hipec_take(own, 0, file, &take), -EINVAL);
	CHECK_EQ(hipec_release(own, 0, -1), -EINVAL);
	close(own);
	close(file);
}

/* Files that are open, mapped or removed outlive their container, and it them. */
static void ends_in_any_order(void)
{
	struct hipec_status s;
	struct map m;
	int c, file;
	size_t i;

	make_file(FILE_A, 512 * PAGE_BYTES);
	c = open_cache("fifo2", 128);
	file = take_file(c, FILE_A, O_RDONLY);
	m.base = mmap(NULL, 512 * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
	CHECK(m.base != MAP_FAILED);
	sweep_read(file, 512);
	close(c);
	/* The file has our tables still. */
	for (i = 0; i < 512; i++)
		touch(&m, i);
	sweep_read(file, 512);

	c = open_cache("fifo2", 128);
	close(take_file(c, FILE_A, O_RDONLY));
	s = get_status(c);
	CHECK_LE(s.resident, 128 + 16);	/* some may be mapped still */
	for (i = 0; i < 512; i++)
		touch(&m, i);
	CHECK(!unlink(FILE_A));
	CHECK_EQ(get_status(c).regions, 1);
	CHECK(!munmap(m.base, 512 * PAGE_BYTES));
	close(file);
	/* The last reference is dropped a while later. */
	for (i = 0; i < 1000000 && get_status(c).regions; i++)
		;
	CHECK_EQ(get_status(c).regions, 0);
	wait_resident(c, 0);
	close(c);
}

/* Pages of a map that are in memory, from page @first on. */
size_t nr_in_memory(const struct map *m, size_t first, size_t nr)
{
	static unsigned char in[4096];
	size_t i, found = 0;

	CHECK(nr <= sizeof(in));
	CHECK(!mincore(m->base + first * PAGE_BYTES, nr * PAGE_BYTES, in));
	for (i = 0; i < nr; i++)
		found += in[i] & 1;
	return found;
}

/*
 * A file that is in memory, in part mapped and locked, has sixteen times the budget: its
 * end stays, and what is locked; and all else has gone before it got an entry.
 */
static void trimmed_when_taken(void)
{
	const size_t pages = 4096, frames = 256, locked = 8;
	struct hipec_status s;
	struct map m;
	size_t i;

	stay_here();
	make_file(FILE_A, pages * PAGE_BYTES);
	m.file = open(FILE_A, O_RDONLY);
	CHECK(m.file >= 0);
	m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	sweep_read(m.file, pages);
	for (i = 0; i < pages / 2; i++)
		touch(&m, i);
	CHECK(!mlock(m.base + 100 * PAGE_BYTES, locked * PAGE_BYTES));
	CHECK_EQ(nr_in_memory(&m, 0, pages), pages);
	m.container = open_cache("lru", frames);
	close(take_file(m.container, FILE_A, O_RDONLY));
	s = get_status(m.container);
	show(&s);
	CHECK_EQ(nr_in_memory(&m, 100, locked), locked);
	CHECK_EQ(nr_in_memory(&m, 0, pages), s.resident);
	/* A batch of the LRU is another CPU's, or this one's. */
	CHECK_LE(s.resident, frames + 32);
	CHECK_LE(frames / 2, nr_in_memory(&m, pages - frames, frames));
	CHECK_LE(s.counters.evictions, frames);
	for (i = 0; i < pages; i++)
		touch(&m, i);
	CHECK_EQ(nr_in_memory(&m, 100, locked), locked);
	CHECK(!munmap(m.base, pages * PAGE_BYTES));
	close(m.file);
	close(m.container);
}

/* By the memory that the user may lock, and by a part of the machine's. */
static void budgets_are_bounded(void)
{
	struct hipec_load load = { .flags = HIPEC_LOAD_IN_PLACE };
	long pages = sysconf(_SC_PHYS_PAGES);
	int a = hipec_open(), b = hipec_open();

	CHECK(a >= 0 && b >= 0);
	load.frames = pages / 5 * 2;
	CHECK_EQ(hipec_load_args(a, &load), 0);
	load.frames = pages / 5;
	CHECK_EQ(hipec_load_args(b, &load), -ENOSPC);
	close(a);
	CHECK_EQ(hipec_load_args(b, &load), 0);
	close(b);

	b = hipec_open();
	load.frames = 16;
	load.flags = HIPEC_LOAD_KEEP;
	CHECK_EQ(hipec_load_args(b, &load), -EINVAL);
	load.flags = HIPEC_LOAD_CONTRACT;
	CHECK_EQ(hipec_load_args(b, &load), -EINVAL);
	close(b);
}

/* 2^32, and a file gets twice as many as it has pages, to grow. */
static void page_numbers_are_bounded(void)
{
	const off_t half = (4l << 40) - PAGE_BYTES;
	int c = open_cache("fifo", 64), fd;

	make_file(FILE_A, PAGE_BYTES);
	make_file(FILE_B, PAGE_BYTES);
	CHECK(!truncate(FILE_A, half) && !truncate(FILE_B, half));
	close(take_file(c, FILE_A, O_RDONLY));
	fd = open(FILE_B, O_RDONLY);
	CHECK_EQ(hipec_take(c, 0, fd, NULL), -ENOSPC);
	CHECK(!truncate(FILE_B, 1l << 40));
	CHECK_EQ(hipec_take(c, 0, fd, NULL), 0);
	CHECK_EQ(hipec_release(c, 0, fd), 0);
	CHECK(!truncate(FILE_B, half));
	CHECK(!unlink(FILE_A));
	CHECK_EQ(hipec_take(c, 0, fd, NULL), 0);
	close(fd);
	close(c);
	CHECK(!unlink(FILE_B));
}

static const struct test cache_tests[] = {
	{ "cache_sweeps_by_read_miss_no_more_than_they_must", sweep_by_read },
	{ "cache_large_reads_miss_no_more_than_small_ones", sweep_by_large_reads },
	{ "cache_sweeps_by_map_miss_hardly_more", sweep_by_map },
	{ "cache_leaves_each_part_of_a_policy_its_pages", sweep_in_two_parts },
	{ "cache_hears_a_page_read_in_pieces_once", sweep_in_pieces },
	{ "cache_random_reads_are_those_of_lru", random_reads },
	{ "cache_refuses_by_name", what_cannot_be_taken },
	{ "cache_ends_in_any_order", ends_in_any_order },
	{ "cache_trims_what_it_takes", trimmed_when_taken },
	{ "cache_budgets_are_bounded", budgets_are_bounded },
	{ "cache_has_page_numbers_for_16_tebibytes", page_numbers_are_bounded },
	{ 0 }
};
SUITE(cache_tests, 0);
