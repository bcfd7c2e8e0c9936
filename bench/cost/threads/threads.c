// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often threads get at random pages of a file, all at once, for a while.
 *
 *	hits     read() of 4 KB, of pages that are resident
 *	misses   the same of a file of which a part is in memory
 *	maps     touches of a map of such a file
 *	regions  the same of a region, or without a policy of a map
 *
 * First the file is read, in an order of no use to read-ahead. One line of name=value.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define STRIDE 2657ul	/* pages, odd: none is next to the one before */
#define MOST 64

static const char usage[] =
"usage: threads WHAT THREADS MS DISK FILE [POLICY FRAMES]\n"
"FILE has a power of two of pages. POLICY: a .hpo.\n";

static size_t pages;
static int file;
static volatile unsigned char *base;	/* NULL: by read() */
static atomic_bool begins, ends;

struct thread {
	pthread_t id;
	uint64_t seed, done;
};

static void touch(size_t page)
{
	unsigned char buffer[PAGE_BYTES];

	if (base)
		(void)base[page * PAGE_BYTES];
	else if (pread(file, buffer, PAGE_BYTES, page * PAGE_BYTES) != PAGE_BYTES)
		die("pread");
}

static void *work(void *arg)
{
	struct thread *t = arg;
	uint64_t x = t->seed;

	while (!atomic_load_explicit(&begins, memory_order_acquire))
		usleep(1000);
	while (!atomic_load_explicit(&ends, memory_order_relaxed)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		touch((x >> 20) & (pages - 1));
		t->done++;
	}
	return NULL;
}

/* Under a policy, where there is one. Return: a descriptor of its container, or -1. */
static int open_file(const char *what, const char *path, char *const *policy)
{
	bool region = !strcmp(what, "regions");
	int container = -1;
	struct stat st;

	if (policy && !region)
		container = take(policy[0], policy[1], path, 0);
	file = open(path, O_RDONLY);
	if (file < 0 || fstat(file, &st) || posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM))
		die(path);
	pages = st.st_size / PAGE_BYTES;
	if (policy && region)
		container = take_region(policy[0], policy[1], &file);
	if (strcmp(what, "maps") && !region)
		return container;
	base = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, file, 0);
	if (base == MAP_FAILED || madvise((void *)base, st.st_size, MADV_RANDOM))
		die("mmap");
	return container;
}

/* All threads, for @ms. Return: what they did in all. */
static uint64_t run(struct thread *t, unsigned int nr, unsigned int ms, uint64_t *elapsed)
{
	uint64_t begin, done = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		t[i].seed = 0x9e3779b97f4a7c15u * (i + 1);
		if (pthread_create(&t[i].id, NULL, work, &t[i]))
			die("pthread_create");
	}
	begin = now();
	atomic_store_explicit(&begins, true, memory_order_release);
	usleep(1000 * ms);
	atomic_store(&ends, true);
	for (i = 0; i < nr; i++) {
		pthread_join(t[i].id, NULL);
		done += t[i].done;
	}
	*elapsed = now() - begin;
	return done;
}

int main(int argc, char **argv)
{
	struct hipec_status a = { 0 }, b = { 0 };
	struct thread threads[MOST] = { 0 };
	uint64_t done, elapsed, disk;
	unsigned int nr = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	int container;
	size_t i;

	if ((argc != 6 && argc != 8) || !nr || nr > MOST) {
		fputs(usage, stderr);
		return 2;
	}
	container = open_file(argv[1], argv[5], argc == 8 ? argv + 6 : NULL);
	/* The page cache moves pages at their second touch. */
	for (i = 0; i < pages * (strcmp(argv[1], "hits") ? 1 : 3); i++)
		touch(i * STRIDE & (pages - 1));
	if (container >= 0)
		hipec_status(container, &a);
	disk = disk_pages(argv[4]);
	done = run(threads, nr, strtoul(argv[3], NULL, 0), &elapsed);
	disk = disk_pages(argv[4]) - disk;
	if (container >= 0)
		hipec_status(container, &b);
	printf("what=%s threads=%u done=%" PRIu64 " elapsed=%" PRIu64 " pages=%" PRIu64
	       " evictions=%llu exit=%u resident=%llu", argv[1], nr, done, elapsed, disk,
	       (unsigned long long)(b.counters.evictions - a.counters.evictions), b.exit.kind,
	       (unsigned long long)b.resident);
	return 0;
}
