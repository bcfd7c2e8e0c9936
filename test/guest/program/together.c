// SPDX-License-Identifier: GPL-2.0-only
/*
 * What CPUs do apart: what is mapped anew is seen by all; read() of pages in place takes no lock.
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
#define FEW 64

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

static atomic_int state;	/* of the two threads of a test */

static void until(int is)
{
	while (atomic_load(&state) != is)
		sched_yield();
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

static const struct test together_tests[] = {
	{ "cache_hits_are_heard_while_tables_grow", hits_count_while_tables_grow },
	{ "region_address_that_is_used_anew_is_new_to_all_threads", address_is_used_anew },
	{ 0 }
};
SUITE(together_tests, 0);
