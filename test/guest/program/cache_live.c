// SPDX-License-Identifier: GPL-2.0-only
/*
 * A container in place that runs: it gets another policy, and says where pages stand.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-a"
#define FILE_B DIR_DATA "cache-b"
#define FILE_C DIR_DATA "cache-c"

static void read_page(int file, size_t page)
{
	unsigned char buffer[PAGE_BYTES];
	uint64_t word;

	CHECK(pread(file, buffer, PAGE_BYTES, page * PAGE_BYTES) ==
	      (ssize_t)PAGE_BYTES);
	memcpy(&word, buffer, sizeof(word));
	CHECK(word == page_word(page));
}

/* Reads pages @first up to @end. Return: what was missed up to now. */
static uint64_t read_range(int c, int file, size_t first, size_t end)
{
	for (; first < end; first++)
		read_page(file, first);
	return get_status(c).counters.read_pages;
}

/*
 * Another policy gets what is cached, in its order: nothing is read again, and from then
 * on it decides. One that ends at once leaves the one before.
 */
static void swap_keeps_the_pages(void)
{
	int c, file;

	stay_here();
	make_file(FILE_A, 512 * PAGE_BYTES);
	c = open_cache("fifo", 256);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(read_range(c, file, 0, 256), 256);
	CHECK_EQ(swap_id(c, 0, "mru", NULL, 0), 0);
	CHECK_EQ(get_status(c).resident, 256);
	CHECK_EQ(read_range(c, file, 0, 256), 256);
	CHECK_EQ(read_range(c, file, 300, 301), 257);	/* in 255's place */
	CHECK_EQ(read_range(c, file, 0, 255), 257);
	CHECK_EQ(read_range(c, file, 255, 256), 258);	/* in 300's */
	CHECK_EQ(swap_id(c, 0, "adopt-dies", NULL, 0), -ECANCELED);
	CHECK_EQ(read_range(c, file, 0, 256), 258);
	CHECK_EQ(read_range(c, file, 300, 301), 259);
	CHECK_EQ(read_range(c, file, 0, 255), 259);
	CHECK_EQ(swap_id(c, 0, NULL, NULL, 0), 0);
	CHECK_EQ(read_range(c, file, 0, 255), 259);
	CHECK_EQ(read_range(c, file, 300, 301), 259);
	CHECK_EQ(get_status(c).exit.kind, 0);
	close(file);
	close(c);
}

/* Where a page of a file that is taken stands; and of what nothing is known. */
static void where_a_page_stands(void)
{
	struct hipec_why w = { .flags = HIPEC_WHY_BY_FILE };
	int c, file;

	stay_here();
	make_file(FILE_A, 64 * PAGE_BYTES);
	make_file(FILE_B, 64 * PAGE_BYTES);
	c = open_cache("mru", 32);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(read_range(c, file, 0, 40), 40);
	w.fd = file;
	w.offset = 3 * PAGE_BYTES + 17;
	CHECK_EQ(hipec_why(c, 0, &w), 0);
	CHECK_EQ(w.state, HIPEC_WHY_RESIDENT | HIPEC_WHY_REFERENCED);
	CHECK_EQ(w.on, HIPEC_WHY_ON_POLICY);
	CHECK_EQ(w.place, 3);
	CHECK_EQ(w.nr, 32);
	CHECK(!strcmp(w.queue, "stack"));
	CHECK_EQ(w.file_offset, 3 * PAGE_BYTES);
	CHECK(strstr(w.file, "cache-a"));
	w.offset = 35 * PAGE_BYTES;
	CHECK_EQ(hipec_why(c, 0, &w), 0);
	CHECK_EQ(w.state, 0);
	w.offset = 64 * PAGE_BYTES;
	CHECK_EQ(hipec_why(c, 0, &w), 0);
	CHECK_EQ(w.state, HIPEC_WHY_BEHIND);
	w.flags = 0;
	w.offset = 3 * PAGE_BYTES;
	CHECK_EQ(hipec_why(c, 0, &w), 0);
	CHECK_EQ(w.state, HIPEC_WHY_RESIDENT | HIPEC_WHY_REFERENCED);
	w.offset = 1ull << 40;
	CHECK_EQ(hipec_why(c, 0, &w), -ENXIO);
	w.flags = HIPEC_WHY_BY_FILE;
	close(file);
	file = w.fd = open(FILE_B, O_RDONLY);
	w.offset = 0;
	CHECK_EQ(hipec_why(c, 0, &w), -ENXIO);
	close(file);
	close(c);
}

/* A sync(), and the end of the last region, go through all containers. */
static void beside_a_region(void)
{
	struct map m;
	int c, file;

	make_file(FILE_A, 64 * PAGE_BYTES);
	make_file(FILE_B, 64 * PAGE_BYTES);
	c = open_cache("fifo", 32);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK_LE(64, read_range(c, file, 0, 64));
	open_map(&m, "fifo", FILE_B, 32, 1, true);
	*(volatile uint64_t *)m.base = ~page_word(0);
	sync();
	close_map(&m);
	sync();
	CHECK_LE(64, read_range(c, file, 0, 64));
	close(file);
	close(c);
}

#define DEEP DIR_DATA "cache-deep"
#define DEEP_FILE "file"
#define DEEP_LEVELS 1000	/* so that it takes a while to write its path */
#define DEEP_ROUNDS 100
#define DEEP_SECONDS 100
#define USER 1000

/* What a thread asks about, and how often it was told. */
static int asked_container;
static volatile uint64_t asked_address;
static volatile unsigned long nr_told;

static void *ask_why(void *arg)
{
	struct hipec_why w;
	int ret;

	for (;;) {
		w = (struct hipec_why){ .offset = asked_address };
		ret = hipec_why(asked_container, 0, &w);
		if (ret && ret != -ENXIO)
			FAIL("why: %s", strerror(-ret));
		nr_told++;
	}
	return arg;
}

/* A file that is open nowhere and taken. Return: its address. */
static uint64_t take_closed(int c)
{
	struct hipec_take take;
	int fd = open(DEEP_FILE, O_RDWR | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0 && write(fd, "", 1) == 1);
	CHECK_EQ(hipec_take(c, 0, fd, &take), 0);
	close(fd);
	return take.address;
}

/* Never ends, or asks often about files that are unlinked meanwhile. */
static void why_and_unlink(void)
{
	unsigned long told;
	pthread_t thread;
	int i;

	CHECK(!setresgid(USER, USER, USER) && !setresuid(USER, USER, USER));
	CHECK(!chdir(DEEP));
	for (i = 0; i < DEEP_LEVELS; i++)
		CHECK(!mkdir("d", 0700) && !chdir("d"));
	asked_container = open_cache("fifo", 64);
	asked_address = take_closed(asked_container);
	CHECK(!pthread_create(&thread, NULL, ask_why, NULL));
	for (i = 0; i < DEEP_ROUNDS; i++) {
		told = nr_told;
		while (nr_told == told)
			sched_yield();
		CHECK(!unlink(DEEP_FILE));
		asked_address = take_closed(asked_container);
	}
	CHECK(!unlink(DEEP_FILE));
	exit(0);
}

/*
 * Of a file that is unlinked while its name is told, the last reference is put by whoever
 * tells it: that lets go of the file, which takes the locks of its container and of all.
 */
static void why_beside_unlink(void)
{
	struct timespec limit = { .tv_sec = rounds(1) ? DEEP_SECONDS : 3 * DEEP_SECONDS };
	sigset_t child;
	int status;
	pid_t pid;

	CHECK(!chmod("/data", 0755) && !chmod("/dev/hipec", 0666));
	CHECK(!mkdir(DEEP, 0700) && !chown(DEEP, USER, USER));
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	CHECK(!sigprocmask(SIG_BLOCK, &child, NULL));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		why_and_unlink();
	/* A deadlock lasts for ever, whatever kills its tasks. */
	if (sigtimedwait(&child, NULL, &limit) < 0)
		FAIL("a task that asks or unlinks does not end");
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!chmod("/dev/hipec", 0600));
	CHECK(!system("rm -r " DEEP));
}

#define LARGE_BYTES (1l << 41)	/* of a file that has a quarter of all page numbers */
#define VAST_BYTES (2 * LARGE_BYTES - (long)PAGE_BYTES)	/* of one that has half of them */

static int open_vast(const char *path, off_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, bytes));
	return fd;
}

/*
 * A file gets the numbers of one before, of which touches are still to be told: they are none of its,
 * and what is told next does not take what was freed for its own. (With slub_debug=P that looks as if it
 * had numbers from 0x6b6b6b6b up to 0xd6d6d6d5, and FILE_C's are among them: test_freed.py.)
 */
static void numbers_of_one_before(void)
{
	int c, large, before, file, last, i;
	struct hipec_take take;
	unsigned char byte;

	stay_here();
	c = open_cache("lru", 64);
	large = open_vast(DIR_DATA "cache-large", LARGE_BYTES);
	before = open_vast(FILE_A, VAST_BYTES);
	file = open_vast(FILE_B, VAST_BYTES);
	make_file(FILE_C, 32 * PAGE_BYTES);
	CHECK_EQ(hipec_take(c, 0, large, &take), 0);
	CHECK_EQ(hipec_take(c, 0, before, &take), 0);
	CHECK_EQ(take.address, 1ll << 42);
	last = open(FILE_C, O_RDONLY);
	CHECK(last >= 0 && !posix_fadvise(last, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(hipec_take(c, 0, last, &take), 0);
	CHECK_EQ(take.address, 3ll << 42);
	CHECK_EQ(hipec_take(c, 0, file, &take), -ENOSPC);
	CHECK_EQ(read_range(c, last, 0, 16), 16);
	CHECK(!posix_fadvise(before, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(pread(before, &byte, 1, 0), 1);
	usleep(600000);	/* no worker is about to tell of what comes now */
	for (i = 0; i < 3; i++)
		CHECK_EQ(pread(before, &byte, 1, 0), 1);
	CHECK_EQ(hipec_release(c, 0, before), 0);
	CHECK_EQ(hipec_take(c, 0, file, &take), 0);
	CHECK_EQ(take.address, 1ll << 42);
	CHECK_EQ(read_range(c, last, 0, 32), 16 + 1 + 16);
	CHECK_EQ(get_status(c).resident, 32);
	close(last);
	close(large);
	close(before);
	close(file);
	close(c);
	CHECK(!unlink(FILE_A) && !unlink(FILE_B) && !unlink(FILE_C) && !unlink(DIR_DATA "cache-large"));
}

#define THREADS 4
#define READS 4096

struct reader {
	pthread_t thread;
	int file[2];
	uint32_t seed;
};

static void *read_at_random(void *arg)
{
	struct reader *r = arg;
	int i;

	for (i = 0; i < READS; i++) {
		r->seed = r->seed * 1664525 + 1013904223;
		read_page(r->file[r->seed >> 31], (r->seed >> 8) % 1024);
	}
	return NULL;
}

/*
 * While one thread evicts, others miss and hit, in two files of one budget; and the policy
 * is swapped. A page that is read again while it goes may be taken for one that went by
 * itself: then it is no eviction.
 */
static void threads_miss_at_once(void)
{
	struct reader reader[THREADS] = { 0 };
	struct hipec_status s;
	int c, a, b, i;

	make_file(FILE_A, 1024 * PAGE_BYTES);
	make_file(FILE_B, 1024 * PAGE_BYTES);
	c = open_cache("lru", 512);
	a = take_file(c, FILE_A, O_RDONLY);
	b = take_file(c, FILE_B, O_RDONLY);
	CHECK(!posix_fadvise(a, 0, 0, POSIX_FADV_RANDOM));
	CHECK(!posix_fadvise(b, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < THREADS; i++) {
		reader[i] = (struct reader){ .file = { a, b }, .seed = i };
		CHECK(!pthread_create(&reader[i].thread, NULL, read_at_random, &reader[i]));
	}
	for (i = 0; i < 20; i++)
		CHECK_EQ(swap_id(c, 0, i % 2 ? "lru" : "fifo", NULL, 0), 0);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(reader[i].thread, NULL));
	s = get_status(c);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_LE(THREADS * READS / 2, s.counters.read_pages);
	CHECK_LE(s.resident, 512 + THREADS);
	CHECK_LE(s.counters.evictions + s.resident, s.counters.pages_in);
	CHECK_LE(s.counters.pages_in * 98 / 100, s.counters.evictions + s.resident);
	close(a);
	close(b);
	close(c);
}

/*
 * A load takes memory for the pages that are there, not for those that there may be, and
 * the tables grow with these: 32 bytes a page. All is its owner's, whoever reads; nothing is
 * lost, and another policy finds it.
 */
static void tables_grow(void)
{
	const long few = 64 * PAGE_BYTES, used = 8000, rows = used * 32;
	long before, loaded, filled;
	int c, file;

	stay_here();
	new_group("hipec-a", 64 << 20);
	make_file(FILE_A, 8192 * PAGE_BYTES);
	charged_to("hipec-a");
	before = charged_to("hipec-a");
	join_group("hipec-a");
	c = open_cache("fifo", 32768);	/* 1 MB, if all were there */
	join_group("");
	loaded = charged_to("hipec-a");
	CHECK_LE(loaded - before, few);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(read_range(c, file, 0, used), used);
	CHECK_EQ(read_range(c, file, 0, used), used);
	filled = charged_to("hipec-a");
	CHECK_LE(rows, filled - before);
	CHECK_LE(filled - before, rows + few);
	CHECK_EQ(swap_id(c, 0, "mru", NULL, 0), 0);
	CHECK_EQ(read_range(c, file, 0, used), used);
	CHECK_EQ(read_range(c, file, used, 8192), 8192);
	CHECK_EQ(read_range(c, file, 0, 8192), 8192);
	CHECK_EQ(get_status(c).resident, 8192);
	close(file);
	close(c);
	unlink(FILE_A);
	CHECK_LE(charged_to("hipec-a") - before, 8 * PAGE_BYTES);
}

/*
 * Pages of two files in turns, and those of @more, if it is one, ahead of a reader; one of the two
 * goes, and then tables get shorter, by 24 bytes for each of its pages or more. Return: the other.
 */
static int leave_half(int c, size_t pages, const char *more)
{
	int file, other, third;
	long most;
	size_t i, all;

	make_file(FILE_A, pages * PAGE_BYTES);
	make_file(FILE_B, pages * PAGE_BYTES);
	file = take_file(c, FILE_A, O_RDONLY);
	other = take_file(c, FILE_B, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK(!posix_fadvise(other, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < pages; i++) {
		read_page(file, i);
		read_page(other, i);
	}
	if (more) {
		third = take_file(c, more, O_RDONLY);
		CHECK(!posix_fadvise(third, 0, 0, POSIX_FADV_WILLNEED));
		close(third);
	}
	all = get_status(c).resident;
	most = charged_to("hipec-a") - 24l * pages;
	close(other);
	unlink(FILE_B);
	wait_resident(c, all - pages);
	for (i = 0; i < 20 && charged_to("hipec-a") > most; i++)
		usleep(500000);
	CHECK_LE(charged_to("hipec-a"), most);
	return file;
}

/*
 * Tables get shorter when each second entry is used no more. Pages that stay are found, and go in
 * their order when others come, for which the tables grow again.
 */
static void tables_shrink(void)
{
	const size_t pages = 3500, more = 200;
	int c, file, other;
	long before;

	stay_here();
	new_group("hipec-a", 64 << 20);
	charged_to("hipec-a");
	before = charged_to("hipec-a");
	join_group("hipec-a");
	c = open_cache("fifo", 2 * pages);
	join_group("");
	file = leave_half(c, pages, NULL);
	CHECK_EQ(read_range(c, file, 0, pages), 2 * pages);
	make_file(FILE_B, (pages + more) * PAGE_BYTES);
	other = take_file(c, FILE_B, O_RDONLY);
	CHECK(!posix_fadvise(other, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(read_range(c, other, 0, pages + more), 3 * pages + more);
	CHECK_EQ(get_status(c).resident, 2 * pages);
	CHECK_EQ(read_range(c, file, more, pages), 3 * pages + more);
	CHECK_EQ(read_range(c, file, 0, more), 3 * pages + 2 * more);
	close(other);
	close(file);
	close(c);
	unlink(FILE_A);
	unlink(FILE_B);
	CHECK_LE(charged_to("hipec-a") - before, 8 * PAGE_BYTES);
}

/*
 * The same of tables with more columns: fields, an order, ghosts; and of pages that nobody has
 * touched. Another policy finds all pages.
 */
static void tables_shrink_whatever_they_have(void)
{
	static const char *const policies[] = { "rrip", "arc", "lirs", "w-tinylfu" };
	const size_t pages = 2000, some = 64;
	int c, file, more;
	uint64_t missed;
	size_t i;

	stay_here();
	new_group("hipec-a", 64 << 20);
	make_file(FILE_C, some * PAGE_BYTES);
	for (i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		join_group("hipec-a");
		c = open_cache(policies[i], 2 * pages + 200);
		join_group("");
		file = leave_half(c, pages, FILE_C);
		CHECK_EQ(get_status(c).resident, pages + some);
		more = open(FILE_C, O_RDONLY);
		missed = get_status(c).counters.read_pages;
		CHECK_EQ(read_range(c, more, 0, some), missed);
		CHECK_EQ(read_range(c, file, 0, pages), missed);
		close(more);
		CHECK_EQ(swap_id(c, 0, "lru", NULL, 0), 0);
		CHECK_EQ(read_range(c, file, 0, pages), missed);
		make_file(FILE_B, 3 * pages * PAGE_BYTES);
		close(take_file(c, FILE_B, O_RDONLY));
		CHECK_EQ(get_status(c).exit.kind, 0);
		close(file);
		close(c);
		unlink(FILE_A);
		unlink(FILE_B);
	}
	unlink(FILE_C);
}

/*
 * Where its owner's cgroup has no memory for longer tables, a container keeps to those that
 * it has, and nobody is killed: 1,023 rows, with fifo as many pages. It asks again later.
 */
static void no_memory_for_tables(void)
{
	struct hipec_status s;
	int c, file;

	stay_here();
	new_group("hipec-a", 64 << 20);
	make_file(FILE_A, 8192 * PAGE_BYTES);
	join_group("hipec-a");
	c = open_cache("fifo", 32768);
	join_group("");
	set_group("hipec-a", "memory.max", charged_to("hipec-a") + 4 * PAGE_BYTES);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	/*
	 * Pages that found no entry are looked for a second later, and others go for them: a few in
	 * that time, or all where the host lets a guest lie. One may be read again before it is copied.
	 */
	CHECK_LE(read_range(c, file, 0, 8192), 8192 + 64);
	s = get_status(c);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_LE(512, s.resident);	/* more where the host is fast */
	CHECK_LE(s.resident, 1023);
	CHECK_LE(8192 - 1023, s.counters.evictions);
	CHECK_LE(read_range(c, file, 8192 - 1023, 8192), 8192 + 1023 + 64);
	CHECK_EQ(oom_kills("hipec-a"), 0);
	write_group("hipec-a", "memory.max", "max");
	usleep(200000);
	read_range(c, file, 0, 8192);
	CHECK_EQ(get_status(c).resident, 8192);
	close(file);
	close(c);
	unlink(FILE_A);
}

static const struct test cache_live_tests[] = {
	{ "cache_swap_keeps_what_is_cached", swap_keeps_the_pages },
	{ "cache_says_where_a_page_stands", where_a_page_stands },
	{ "cache_why_beside_unlink_ends", why_beside_unlink },
	{ "cache_touch_of_numbers_before_is_nobody_s", numbers_of_one_before },
	{ "cache_stands_beside_a_region_that_is_synced", beside_a_region },
	{ "cache_threads_miss_at_once", threads_miss_at_once },
	{ "cache_tables_grow_with_what_is_used", tables_grow },
	{ "cache_tables_shrink_with_what_is_used", tables_shrink },
	{ "cache_tables_shrink_whatever_they_have", tables_shrink_whatever_they_have },
	{ "cache_without_memory_for_tables_keeps_what_it_has", no_memory_for_tables },
	{ 0 }
};
SUITE(cache_live_tests, 0);
