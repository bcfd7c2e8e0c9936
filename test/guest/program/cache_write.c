// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place that are written to, truncated, or whose cgroup is too small: nothing
 * is lost, and nobody is killed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-a"
#define FILE_B DIR_DATA "cache-b"
#define GROUP "cache"

static void read_word(int file, size_t page, uint64_t want)
{
	uint64_t word;

	CHECK(pread(file, &word, sizeof(word), page * PAGE_BYTES) == sizeof(word));
	if (word != want)
		FAIL("page %zu has wrong data", page);
}

/* What is read in between pushes out, and what was written is there. */
static void writes_are_read_back(void)
{
	const size_t pages = 1024, frames = 128;
	struct hipec_status s;
	int c, file;
	size_t i, n;

	make_file(FILE_A, pages * PAGE_BYTES);
	c = open_cache("lru", frames);
	file = take_file(c, FILE_A, O_RDWR);
	for (n = 1; n <= 3; n++) {
		for (i = 0; i < pages; i++) {
			uint64_t word = page_word(i) + n;

			CHECK(pwrite(file, &word, sizeof(word), i * PAGE_BYTES) ==
			      sizeof(word));
			read_word(file, i * 7 % pages,
				  page_word(i * 7 % pages) +
				  (i * 7 % pages <= i ? n : n - 1));
		}
		CHECK(!fsync(file));
	}
	for (i = 0; i < pages; i++)
		read_word(file, i, page_word(i) + 3);
	s = get_status(c);
	/* A folio in another CPU's batch of the LRU stays a while: one window at most. */
	CHECK_LE(s.resident, frames + frames / 4);
	CHECK(s.counters.evictions > 3 * (pages - frames));
	CHECK_EQ(s.exit.kind, 0);
	close(file);
	close(c);
}

/* The same by a map. */
static void map_writes_are_read_back(void)
{
	const size_t pages = 512, frames = 64;
	struct map m;
	size_t i, n;

	make_file(FILE_A, pages * PAGE_BYTES);
	m.container = open_cache("fifo2", frames);
	m.file = take_file(m.container, FILE_A, O_RDWR);
	m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	for (n = 1; n <= 3; n++)
		for (i = 0; i < pages; i++) {
			uint64_t *word = (uint64_t *)(m.base + i * PAGE_BYTES);

			CHECK(*word == page_word(i) + n - 1);
			*word = page_word(i) + n;
		}
	CHECK(!msync(m.base, pages * PAGE_BYTES, MS_SYNC));
	for (i = 0; i < pages; i++)
		CHECK(get_word(&m, i) == page_word(i) + 3);
	CHECK(!munmap(m.base, pages * PAGE_BYTES));
	close(m.file);
	close(m.container);
}

/* What a file loses its policy loses, sooner or later; what comes again is new. */
static void truncation(void)
{
	const size_t pages = 256, frames = 200;
	struct hipec_status s;
	uint64_t word;
	int c, file;
	size_t i;

	make_file(FILE_A, pages * PAGE_BYTES);
	c = open_cache("lru", frames);
	file = take_file(c, FILE_A, O_RDWR);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < 100; i++)
		read_word(file, i, page_word(i));
	CHECK(!ftruncate(file, 50 * PAGE_BYTES));
	CHECK(!ftruncate(file, pages * PAGE_BYTES));
	for (i = 50; i < 100; i++)
		read_word(file, i, 0);
	s = get_status(c);
	CHECK_EQ(s.counters.read_pages, 150);
	CHECK_EQ(s.resident, 100);
	/* Direct I/O and advice drop pages as well. */
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
	for (i = 0; i < 50; i++)
		read_word(file, i, page_word(i));
	word = 7;
	CHECK(pwrite(file, &word, sizeof(word), 60 * PAGE_BYTES) == sizeof(word));
	read_word(file, 60, 7);
	CHECK_LE(get_status(c).resident, frames);
	close(file);
	close(c);
}

static void read_all(void)
{
	int file = open(FILE_A, O_RDONLY);
	size_t i, n;

	CHECK(file >= 0);
	for (n = 0; n < 2; n++)
		for (i = 0; i < 3072; i++)
			read_word(file, i, page_word(i));
}

/* A budget of 12 MB, and a cgroup of 6. */
static void limit_below_the_budget(void)
{
	int c;

	make_file(FILE_A, 3072 * PAGE_BYTES);
	new_group(GROUP, 6 << 20);
	c = open_cache("lru", 3072);
	close(take_file(c, FILE_A, O_RDONLY));
	CHECK_EQ(in_group(GROUP, read_all), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	CHECK_EQ(get_status(c).exit.kind, 0);
	CHECK(get_status(c).counters.evictions > 1000);
	close(c);
}

static void read_and_grow(void)
{
	const size_t bytes = 10ul << 20;
	unsigned char *hog;
	size_t i;

	read_all();
	hog = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(hog != MAP_FAILED);
	for (i = 0; i < bytes; i += PAGE_BYTES)
		hog[i] = 1;
}

/* Folios fill the cgroup, and then a program wants most of it for itself. */
static void others_in_the_cgroup(void)
{
	int c;

	make_file(FILE_A, 3072 * PAGE_BYTES);
	new_group(GROUP, 16 << 20);
	c = open_cache("lru", 4096);
	close(take_file(c, FILE_A, O_RDONLY));
	CHECK_EQ(in_group(GROUP, read_and_grow), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	CHECK(get_status(c).counters.evictions > 500);
	close(c);
}

static void write_much(void)
{
	static unsigned char buffer[64 * PAGE_BYTES];
	int file = open(FILE_A, O_RDWR);
	size_t i, n;

	CHECK(file >= 0);
	for (n = 0; n < 2; n++) {
		for (i = 0; i < 3072; i += 64) {
			memset(buffer, i + n, sizeof(buffer));
			CHECK(pwrite(file, buffer, sizeof(buffer),
				     i * PAGE_BYTES) == sizeof(buffer));
		}
	}
}

/* Dirty pages are the kernel's to clean and to reclaim. */
static void writers_in_a_cgroup(void)
{
	unsigned char byte;
	size_t i;
	int c, file;

	make_file(FILE_A, 3072 * PAGE_BYTES);
	new_group(GROUP, 6 << 20);
	c = open_cache("lru", 2048);
	close(take_file(c, FILE_A, O_RDONLY));
	CHECK_EQ(in_group(GROUP, write_much), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	file = open(FILE_A, O_RDONLY);
	for (i = 0; i < 3072; i++) {
		CHECK(pread(file, &byte, 1, i * PAGE_BYTES) == 1);
		CHECK_EQ(byte, (unsigned char)(i / 64 * 64 + 1));
	}
	close(file);
	close(c);
}

/* Reads, and checks, until it is killed. */
static pid_t reader(const char *path, size_t pages, bool map)
{
	pid_t pid = fork();
	uint32_t seed = 1;
	struct map m;

	CHECK(pid >= 0);
	if (pid)
		return pid;
	for (;;) {
		size_t i;

		m.file = open(path, O_RDONLY);
		CHECK(m.file >= 0);
		m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED,
			      m.file, 0);
		CHECK(m.base != MAP_FAILED);
		for (i = 0; i < pages; i++) {
			size_t page;

			seed = seed * 1664525 + 1013904223;
			page = (seed >> 8) % pages;
			if (map)
				touch(&m, page);
			else
				read_word(m.file, page, page_word(page));
		}
		munmap(m.base, pages * PAGE_BYTES);
		close(m.file);
	}
}

static bool ended(pid_t pid)
{
	int status;

	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status);	/* of itself: a check has failed */
}

/* Files are taken and let go while programs read them. */
static void taken_and_let_go_under_load(void)
{
	const size_t pages = 512;
	const char *const policy[] = { "lru", "mru", "fifo2", NULL };
	uint64_t evictions = 0, before = 0;
	pid_t pid[3];
	int i, c;

	make_file(FILE_A, pages * PAGE_BYTES);
	make_file(FILE_B, pages * PAGE_BYTES);
	pid[0] = reader(FILE_A, pages, false);
	pid[1] = reader(FILE_B, pages, true);
	pid[2] = reader(FILE_A, pages, true);
	for (i = 0; i < rounds(40); i++) {
		struct hipec_status s;

		c = open_cache(policy[i % 4], 128 + i);
		close(take_file(c, FILE_A, O_RDONLY));
		close(take_file(c, FILE_B, O_RDONLY));
		do {
			s = get_status(c);
		} while (s.counters.read_pages < 500);
		CHECK_EQ(s.exit.kind, 0);
		evictions += s.counters.evictions;
		before += s.counters.open_before;
		if (i % 3 == 0)
			CHECK_EQ(hipec_release(c, 0, -1), 0);
		close(c);
	}
	CHECK(evictions > 0 && before > 0);
	for (i = 0; i < 3; i++)
		CHECK(!ended(pid[i]));
}

/* Pages of the loop below, its frames, and pages of the file beside it. */
#define LOOP 2400
#define FRAMES 2000
#define BESIDE 4000

static uint64_t loop_once(int c, int file)
{
	uint64_t before = get_status(c).counters.read_pages;
	size_t i;

	for (i = 0; i < LOOP; i++)
		read_word(file, i, page_word(i));
	return get_status(c).counters.read_pages - before;
}

static void loop_beside_others(void)
{
	int c = open_cache("mru", FRAMES), file = take_file(c, FILE_A, O_RDONLY);
	int other = open(FILE_B, O_RDWR);
	uint64_t word = 1;
	size_t i;

	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	loop_once(c, file);
	CHECK_EQ(loop_once(c, file), LOOP - FRAMES + 1);
	for (i = 0; i < BESIDE; i++)
		read_word(other, i, page_word(i));
	CHECK_LE(loop_once(c, file), LOOP - FRAMES + FRAMES / 3);
	for (i = 0; i < BESIDE; i++)
		CHECK(pwrite(other, &word, sizeof(word), i * PAGE_BYTES) == sizeof(word));
	loop_once(c, file);
	CHECK_LE(loop_once(c, file), LOOP - FRAMES + FRAMES / 3);
	close(other);
	close(file);
	close(c);
}

/*
 * A budget of 8 MB in a cgroup of 12, where a file that is not taken fills the rest, read
 * and written: the kernel reclaims from that, before a miss gives up pages of the budget. Reclaim
 * asks for some of it all the same, and no policy runs there: each of these is missed once more.
 */
static void others_files_in_the_cgroup(void)
{
	stay_here();
	make_file(FILE_A, LOOP * PAGE_BYTES);
	make_file(FILE_B, BESIDE * PAGE_BYTES);
	new_group(GROUP, 12 << 20);
	CHECK_EQ(in_group(GROUP, loop_beside_others), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	unlink(FILE_B);
}

static void loop_over_own(void)
{
	int c = open_cache("mru", FRAMES), file = take_file(c, FILE_A, O_RDWR);
	uint64_t word = page_word(0);
	size_t i;

	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK(pwrite(file, &word, sizeof(word), 0) == sizeof(word));
	for (i = 0; i < 3; i++)
		loop_once(c, file);
	CHECK_LE(loop_once(c, file), LOOP - FRAMES / 2);
	close(file);
	close(c);
}

/*
 * A budget of 8 MB in a cgroup of 7. The file is open to be written, so its pages are on the
 * kernel's lists: they are not left by others, and the policy chooses which of them go.
 */
static void own_pages_in_the_cgroup(void)
{
	stay_here();
	make_file(FILE_A, LOOP * PAGE_BYTES);
	new_group(GROUP, 7 << 20);
	CHECK_EQ(in_group(GROUP, loop_over_own), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
}

static void map_in_little_memory(void)
{
	const size_t own = 6400 << 10;
	int c = open_cache("divides", FRAMES), file = take_file(c, FILE_A, O_RDONLY);
	unsigned char *map = mmap(NULL, LOOP * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
	unsigned char *memory = mmap(NULL, own, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct hipec_status s;
	size_t i;

	CHECK(map != MAP_FAILED && memory != MAP_FAILED);
	for (i = 0; i < LOOP; i++)
		CHECK(((volatile unsigned char *)map)[i * 997 % LOOP * PAGE_BYTES + 7] ==
		      (unsigned char)(page_word(i * 997 % LOOP) >> 56));
	s = get_status(c);
	CHECK_LE(s.resident, FRAMES / 8);
	CHECK_EQ(s.exit.kind, 0);
	CHECK(!munmap(memory, own));
	CHECK(!munmap(map, LOOP * PAGE_BYTES));
	close(file);
	close(c);
}

/*
 * Windows around faults fill what a cgroup of 8 MB has left beside 6.4 MB. The policy is told of
 * one page, at least: many would end that divide by what they have.
 */
static void budget_of_one_page(void)
{
	stay_here();
	make_file(FILE_A, LOOP * PAGE_BYTES);
	new_group(GROUP, 8 << 20);
	CHECK_EQ(in_group(GROUP, map_in_little_memory), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
}

/* Holes that end within pages: the file system reads and zeroes these, and they have entries. */
static void ends_of_holes_have_entries(void)
{
	int c = open_cache("fifo", LOOP), file;
	long i;

	make_file(FILE_A, LOOP * PAGE_BYTES);
	file = take_file(c, FILE_A, O_RDWR);
	CHECK(!fsync(file) && !posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
	for (i = 0; i < 100; i++)
		CHECK(!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 4 * i * PAGE_BYTES + 100, 2 * PAGE_BYTES));
	wait_resident(c, 200);
	close(file);
	close(c);
	unlink(FILE_A);
}

static const struct test cache_write_tests[] = {
	{ "cache_ends_of_holes_have_entries", ends_of_holes_have_entries },
	{ "cache_writes_are_read_back", writes_are_read_back },
	{ "cache_map_writes_are_read_back", map_writes_are_read_back },
	{ "cache_forgets_what_its_file_lost", truncation },
	{ "cache_limit_below_the_budget_kills_nobody", limit_below_the_budget },
	{ "cache_gives_to_others_in_the_cgroup", others_in_the_cgroup },
	{ "cache_keeps_its_budget_beside_files_of_others", others_files_in_the_cgroup },
	{ "cache_chooses_from_its_own_pages_in_a_cgroup", own_pages_in_the_cgroup },
	{ "cache_policies_have_one_page_at_least", budget_of_one_page },
	{ "cache_writers_in_a_cgroup_are_not_killed", writers_in_a_cgroup },
	{ "cache_is_taken_and_let_go_under_load", taken_and_let_go_under_load },
	{ 0 }
};
SUITE(cache_write_tests, 0);
