// SPDX-License-Identifier: GPL-2.0-only
/* Files in place that are mapped: victims leave page tables, and for good. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-unmap"

#define PAGES 4096ul
#define FRAMES 2048
#define WAITING 32	/* one in 64 of the frames: victims that are not evicted yet */
#define TOUCHES 20000
#define FEW 64

/* What the kernel's counters of pages may be wrong by: each CPU has some to itself. */
#define ROUGHLY 600

static const size_t STRIDE = 2657;	/* pages, odd */

static void open_random(struct map *m)
{
	*m = (struct map){ .pages = PAGES };
	make_file(FILE_A, PAGES * PAGE_BYTES);
	m->container = open_cache("fifo", FRAMES);
	m->file = take_file(m->container, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(m->file, 0, 0, POSIX_FADV_RANDOM));
	m->base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m->file, 0);
	CHECK(m->base != MAP_FAILED);
	CHECK(!madvise(m->base, PAGES * PAGE_BYTES, MADV_RANDOM));
}

static void close_random(struct map *m)
{
	CHECK(!munmap(m->base, PAGES * PAGE_BYTES));
	close(m->file);
	close(m->container);
	unlink(FILE_A);		/* others want the disk */
}

/* The number behind @name, or the @word-th one of a file that has nothing else. */
static long number_of(const char *path, const char *name, int word)
{
	FILE *f = fopen(path, "r");
	char is[64];
	long value = -1;

	CHECK(f);
	while (fscanf(f, "%63s", is) == 1)
		if (name ? !strcmp(is, name) : !word--) {
			CHECK(name ? fscanf(f, "%ld", &value) == 1 :
				     (value = atol(is), true));
			break;
		}
	fclose(f);
	CHECK(value >= 0);
	return value;
}

/* Pages of files that this process has mapped; those that anybody has. */
static long mapped_here(void)
{
	return number_of("/proc/self/statm", NULL, 2);
}

static long mapped_at_all(void)
{
	return number_of("/proc/vmstat", "nr_mapped", 0);
}

static void close_to(long is, long wanted)
{
	CHECK_LE(is, wanted + ROUGHLY);
	CHECK_LE(wanted - ROUGHLY, is);
}

/* Each page but those of the budget is evicted, and the kernel's counts of mapped ones follow. */
static void counts_follow(void)
{
	long here = mapped_here(), all = mapped_at_all();
	struct hipec_status s;
	struct map m;
	size_t i;

	stay_here();
	open_random(&m);
	for (i = 0; i < 4 * PAGES; i++)
		touch(&m, i * STRIDE % PAGES);
	s = get_status(m.container);
	CHECK_EQ(s.counters.read_pages, 4 * PAGES);
	CHECK_EQ(s.resident, FRAMES);
	CHECK_LE(4 * PAGES - FRAMES - WAITING, s.counters.evictions);
	CHECK_LE(s.counters.evictions, 4 * PAGES - FRAMES);
	CHECK_EQ(nr_in_memory(&m, 0, PAGES), 4 * PAGES - s.counters.evictions);
	close_to(mapped_here() - here, FRAMES);
	close_to(mapped_at_all() - all, FRAMES);
	close_random(&m);
	close_to(mapped_here(), here);
	close_to(mapped_at_all(), all);
}

static atomic_int nr_evict;	/* threads that have pages go */

/*
 * Thread 0 has pages go, in no order. The others, on CPUs of their own as far as there are
 * any, go round a few that are there. When such a page goes, its frame gets another one,
 * which a thread with the old translation would see.
 */
static void *touch_at_random(void *arg)
{
	const struct map *m = arg;
	uint64_t x = 0x9e3779b97f4a7c15u;
	size_t i;

	go_to(m->region);
	for (i = 0; m->region ? atomic_load(&nr_evict) : i < TOUCHES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		touch(m, m->region ? i % FEW : (x >> 20) % PAGES);
	}
	if (!m->region)
		atomic_fetch_sub(&nr_evict, 1);
	return NULL;
}

/* @nr threads with the map @m. */
static void touch_by_threads(const struct map *m, int nr)
{
	struct map each[2];
	pthread_t id[2];
	int i;

	atomic_fetch_add(&nr_evict, 1);
	for (i = 0; i < nr; i++) {
		each[i] = *m;
		each[i].region = i;
		CHECK(!pthread_create(&id[i], NULL, touch_at_random, &each[i]));
	}
	for (i = 0; i < nr; i++)
		CHECK(!pthread_join(id[i], NULL));
}

static void no_cpu_sees_what_has_gone(void)
{
	struct hipec_status s;
	struct map m;

	open_random(&m);
	touch_by_threads(&m, 2);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_LE(TOUCHES / 3, s.counters.read_pages);
	CHECK_LE(nr_in_memory(&m, 0, PAGES), FRAMES + 2 * WAITING);
	close_random(&m);
}

/* The same by two programs, each of which has the file mapped twice. */
static void no_process_sees_what_has_gone(void)
{
	long all = mapped_at_all();
	struct map m, twice;
	int i, status;

	open_random(&m);
	for (i = 0; i < 2; i++)
		if (!fork()) {
			twice = m;
			twice.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_PRIVATE,
					  m.file, 0);
			CHECK(twice.base != MAP_FAILED);
			touch_by_threads(i ? &m : &twice, 2);
			touch_by_threads(i ? &twice : &m, 1);
			exit(0);
		}
	for (i = 0; i < 2; i++)
		CHECK(wait(&status) > 0 && !status);
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	CHECK_LE(nr_in_memory(&m, 0, PAGES), FRAMES + 2 * WAITING);
	close_random(&m);
	close_to(mapped_at_all(), all);
}

/*
 * Maps are replaced, and forbidden to be read, while their pages go: after that a program
 * sees the old ones no more.
 */
static void maps_change(void)
{
	const size_t pages = 512;
	struct map m, other, at = { 0 };
	size_t i, k;
	pthread_t id;
	int tube[2];

	CHECK(!pipe(tube));
	open_random(&m);
	other = m;
	other.region = 0;
	atomic_fetch_add(&nr_evict, 1);
	CHECK(!pthread_create(&id, NULL, touch_at_random, &other));
	go_to(1);
	at.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(at.base != MAP_FAILED);
	for (i = 0; i < 200; i++) {
		for (k = 0; k < 16; k++)
			touch(&at, (i + 31 * k) % pages);
		if (i % 2) {
			CHECK(!mprotect(at.base, pages * PAGE_BYTES, PROT_NONE));
			for (k = 0; k < 16; k++)
				CHECK(write(tube[1], at.base + (i + 31 * k) % pages * PAGE_BYTES,
					    1) < 0 && errno == EFAULT);
		} else {
			CHECK(mmap(at.base, pages * PAGE_BYTES, PROT_READ, MAP_FIXED | MAP_PRIVATE |
				   MAP_ANONYMOUS, -1, 0) == at.base);
			for (k = 0; k < 16; k++)
				CHECK_EQ(get_word(&at, (i + 31 * k) % pages), 0);
		}
		CHECK(mmap(at.base, pages * PAGE_BYTES, PROT_READ, MAP_FIXED | MAP_SHARED,
			   m.file, 0) == at.base);
	}
	CHECK(!pthread_join(id, NULL));
	CHECK(!munmap(at.base, pages * PAGE_BYTES));
	CHECK(!close(tube[0]) && !close(tube[1]));
	close_random(&m);
}

/* CPU time of so many misses of a map in no order, ns. No page is of the first few. */
static uint64_t time_of_misses(const struct map *m, size_t nr)
{
	struct timespec from, to;
	static uint64_t x = 0x9e3779b97f4a7c15u;

	CHECK(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from));
	while (nr--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		touch(m, FEW + (x >> 20) % (PAGES - FEW));
	}
	CHECK(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to));
	return (to.tv_sec - from.tv_sec) * 1000000000ull + to.tv_nsec - from.tv_nsec;
}

/* A user who may only read a file maps a page of it again and again. */
static void maps_of_a_stranger(void)
{
	const size_t misses = 2000, maps = 30000;
	uint64_t alone, beside;
	struct map m;
	int tube[2];
	pid_t child;
	size_t i;
	char c;

	CHECK(!pipe(tube));
	open_random(&m);
	time_of_misses(&m, PAGES);
	alone = time_of_misses(&m, misses);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		CHECK(!setuid(1000));
		for (i = 0; i < maps; i++)
			CHECK(mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0) != MAP_FAILED);
		CHECK(write(tube[1], "x", 1) == 1);
		pause();
	}
	CHECK(read(tube[0], &c, 1) == 1);
	beside = time_of_misses(&m, misses);
	printf("%zu misses: %llu us, beside %zu maps %llu us\n", misses,
	       (unsigned long long)alone / 1000, maps, (unsigned long long)beside / 1000);
	CHECK_LE(beside, 2 * alone);
	kill(child, SIGKILL);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(!close(tube[0]) && !close(tube[1]));
	close_random(&m);
}

static const struct test cache_unmap_tests[] = {
	{ "cache_pages_that_go_are_mapped_no_more", counts_follow },
	{ "cache_pages_that_go_are_seen_by_no_cpu", no_cpu_sees_what_has_gone },
	{ "cache_pages_that_go_are_seen_by_no_process", no_process_sees_what_has_gone },
	{ "cache_pages_may_go_while_maps_change", maps_change },
	{ "cache_maps_of_a_stranger_slow_no_other_page_s_misses", maps_of_a_stranger },
	{ 0 }
};
SUITE(cache_unmap_tests, 0);
