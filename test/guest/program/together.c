// SPDX-License-Identifier: GPL-2.0-only
/*
 * What CPUs do apart: pages of regions that are only read leave page tables one by one, and
 * other CPUs hear of several; read() of pages in place takes no lock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_T DIR_DATA "together"

#define PAGES 3072ul
#define FRAMES 1536
#define ROUNDS 4
#define FEW 64

static const size_t STRIDE = 2657;	/* pages, odd */

static void open_read(struct map *m, size_t pages, uint64_t frames)
{
	make_file(FILE_T, pages * PAGE_BYTES);
	open_map(m, "fifo", FILE_T, frames, 1, false);
	CHECK(!madvise(m->base, pages * PAGE_BYTES, MADV_RANDOM));
}

static void close_read(struct map *m)
{
	close_map(m);
	unlink(FILE_T);		/* others want the disk */
}

/* What other CPUs have asked of CPU 1: calls of a function, and flushes. */
static long asked(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	long of[2], sum = 0;
	char line[512], name[8];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " %7[A-Z]: %ld %ld", name, &of[0], &of[1]) == 3 &&
		    (!strcmp(name, "CAL") || !strcmp(name, "TLB")))
			sum += of[1];
	fclose(f);
	return sum;
}

static atomic_int state;	/* of the two threads of a test */

static void until(int is)
{
	while (atomic_load(&state) != is)
		sched_yield();
}

/* On another CPU: go round a few pages, each of which has its own word whenever it is there. */
static void *go_round(void *arg)
{
	size_t i;

	CHECK(go_to(1));
	atomic_store(&state, 1);
	for (i = 0; atomic_load(&state) == 1; i++)
		touch(arg, i % FEW);
	return NULL;
}

static void cpus_are_told_of_several(void)
{
	pthread_t id;
	struct map m;
	long before;
	size_t i;

	CHECK(go_to(0));
	open_read(&m, PAGES, FRAMES);
	atomic_store(&state, 0);
	CHECK(!pthread_create(&id, NULL, go_round, &m));
	until(1);
	before = asked();
	for (i = 0; i < ROUNDS * PAGES; i++)
		touch(&m, i * STRIDE % PAGES);
	/* One for each page, at least, if it heard of each; a kernel that is slow has others. */
	CHECK_LE(asked() - before, ROUNDS * PAGES / 4);
	atomic_store(&state, 2);
	CHECK(!pthread_join(id, NULL));
	CHECK_LE(ROUNDS * PAGES - FRAMES, (long long)get_status(m.container).counters.evictions);
	close_read(&m);
}

/* Have the translation of page 0; look at the address again when something else is there. */
static void *look_again(void *arg)
{
	const struct map *m = arg;

	CHECK(go_to(1));
	touch(m, 0);
	atomic_store(&state, 1);
	while (atomic_load(&state) != 2)
		;
	CHECK_EQ(get_word(m, 0), 12345);
	return NULL;
}

/* What is mapped where a page was that has just gone, is what all threads see there. */
static void address_is_used_anew(void)
{
	pthread_t id;
	struct map m;
	size_t i;

	CHECK(go_to(0));
	open_read(&m, PAGES, FRAMES);
	for (i = 0; i < FRAMES; i++)
		touch(&m, i);
	atomic_store(&state, 0);
	CHECK(!pthread_create(&id, NULL, look_again, &m));
	until(1);
	touch(&m, FRAMES);	/* in place of page 0 */
	CHECK(mmap(m.base, PAGE_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == m.base);
	*(volatile uint64_t *)m.base = 12345;
	atomic_store(&state, 2);
	CHECK(!pthread_join(id, NULL));
	close_read(&m);
}

/* The frames that a container has beside those of its budget go with it. */
static void spare_frames_go(void)
{
	struct map m;
	size_t i;

	open_read(&m, PAGES, FRAMES);
	CHECK_EQ(frames_held(), FRAMES);
	for (i = 0; i < 2 * PAGES; i++)
		touch(&m, i * STRIDE % PAGES);
	CHECK_EQ(get_status(m.container).resident, FRAMES);
	CHECK_LE(FRAMES + 1, (long long)frames_held());
	CHECK_LE(frames_held(), FRAMES + FRAMES / 64);
	close_read(&m);
	CHECK_EQ(frames_held(), 0);
}

static atomic_uint nr_rounds;

/* On another CPU: read a few pages of a file again and again. */
static void *read_round(void *arg)
{
	const struct map *m = arg;
	uint64_t word;
	size_t i;

	CHECK(go_to(1));
	for (i = 0; atomic_load(&state) != 2; i++) {
		CHECK(pread(m->file, &word, sizeof(word), i % FEW * PAGE_BYTES) == sizeof(word));
		CHECK_EQ(word, page_word(i % FEW));
		if (i % FEW == FEW - 1)
			atomic_fetch_add(&nr_rounds, 1);
	}
	return NULL;
}

/* Until it has read each of them once more. */
static void wait_for_round(void)
{
	unsigned int from = atomic_load(&nr_rounds);

	while (atomic_load(&nr_rounds) - from < 2)
		sched_yield();
}

/*
 * Their entries are looked up without the lock, in tables that grow from 1,023 rows to 1,536
 * meanwhile, and fifo2 hears that they are in use: they stay, and pages are read once.
 */
static void hits_count_while_tables_grow(void)
{
	uint64_t word;
	pthread_t id;
	struct map m;
	size_t i;

	CHECK(go_to(0));
	make_file(FILE_T, PAGES * PAGE_BYTES);
	m.container = open_cache("fifo2", FRAMES);
	m.file = take_file(m.container, FILE_T, O_RDONLY);
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_RANDOM));
	atomic_store(&state, 0);
	for (i = FEW; i < PAGES; i++) {
		/* Not before: fifo2 judges the very first pages right after it has reset their bits. */
		if (i == FRAMES / 2)
			CHECK(!pthread_create(&id, NULL, read_round, &m));
		if (i >= FRAMES / 2 && i % 128 == 0)
			wait_for_round();
		CHECK(pread(m.file, &word, sizeof(word), i * PAGE_BYTES) == sizeof(word));
	}
	atomic_store(&state, 2);
	CHECK(!pthread_join(id, NULL));
	CHECK_LE(get_status(m.container).counters.read_pages, PAGES + FEW / 4);
	CHECK_EQ(get_status(m.container).resident, FRAMES);
	close(m.file);
	close(m.container);
	unlink(FILE_T);
}

const struct test together_tests[] = {
	{ "cache_hits_are_heard_while_tables_grow", hits_count_while_tables_grow },
	{ "region_cpus_are_told_of_several_pages_at_once", cpus_are_told_of_several },
	{ "region_address_that_is_used_anew_is_new_to_all_threads", address_is_used_anew },
	{ "region_spare_frames_go_with_their_container", spare_frames_go },
	{ 0 }
};
