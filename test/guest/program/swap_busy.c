// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies that come and go while threads fault, and where frames are shared.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include "guest.h"

#define FILE_B DIR_DATA "swap-busy"
#define PAGES 64
#define FRAMES 16
#define BACKOFF "/sys/module/hipec/parameters/backoff_ms"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

#define THREADS 4
#define ROUNDS 4000

static struct {
	struct map m;
	uint64_t wrote[THREADS][PAGES];
	volatile bool over;
} busy;

/* Counts in a word of its own on each page, and looks whether it is still there. */
static void *write_pages(void *arg)
{
	size_t me = (size_t)arg, page;
	uint32_t random = me + 1;

	while (!busy.over) {
		volatile uint64_t *word;

		random = random * 1664525 + 1013904223;
		page = random >> 16 & (PAGES - 1);
		word = (void *)(busy.m.base + page * PAGE_BYTES + 64 * (me + 1));
		if (*word != busy.wrote[me][page])
			FAIL("page %zu lost a write of thread %zu", page, me);
		*word = ++busy.wrote[me][page];
	}
	return NULL;
}

static void zero_words(const char *path)
{
	static char zeros[PAGE_BYTES];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), i;

	CHECK(fd >= 0);
	for (i = 0; i < PAGES; i++)
		CHECK_EQ(write(fd, zeros, sizeof(zeros)), sizeof(zeros));
	CHECK(!fsync(fd));
	close(fd);
}

static void check_words(void)
{
	uint64_t word;
	size_t t, i;

	for (t = 0; t < THREADS; t++)
		for (i = 0; i < PAGES; i++) {
			CHECK_EQ(pread(busy.m.file, &word, sizeof(word),
				       i * PAGE_BYTES + 64 * (t + 1)),
				 sizeof(word));
			CHECK_EQ(word, busy.wrote[t][i]);
		}
}

static void swap_in_turn(void)
{
	static const char *const policy[] = {
		"mru", "lru", "ghosts", "adopt-dies", NULL, "fifo2", "arc",
		"events", "init-dies", "highest-first", "shared", "2q",
		"adopt-endless", "hoard", "clock-pro", "div-zero", "spill",
	};
	size_t nr = sizeof(policy) / sizeof(*policy), i;
	struct hipec_status s;
	int done = 0, ret;

	for (i = 0; i < (size_t)rounds(20) * nr; i++) {
		ret = swap_id(busy.m.container, 0, policy[i % nr], NULL, 0);
		CHECK(!ret || ret == -ECANCELED);
		done += !ret;
		s = get_status(busy.m.container);
		CHECK_EQ(s.limit, FRAMES);
		CHECK_LE(s.resident, FRAMES);
		if (s.exit.kind == EXIT_BROKEN)
			FAIL("%s", s.exit.message);
	}
	CHECK(done >= rounds(20) * 13);
}

static void run_busy(void)
{
	pthread_t thread[THREADS];
	size_t i;

	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, write_pages,
				      (void *)i));
	swap_in_turn();
	busy.over = true;
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK(!fsync(busy.m.region));
	check_words();
	close_map(&busy.m);
}

/* Threads fault, read ahead and write while policies come and go. */
static void swap_while_faulting(void)
{
	zero_words(FILE_B);
	open_map(&busy.m, "fifo", FILE_B, FRAMES, 8, true);
	run_busy();
}

static void swap_while_sharing(void)
{
	zero_words(FILE_B);
	map_shared(&busy.m, "fifo", FILE_B, FRAMES, PAGES, true);
	run_busy();
}

/* Where a container shares, who was revoked waits; who swaps starts anew. */
static void shared_pool(void)
{
	struct hipec_status s;
	struct pollfd p = { .events = POLLIN };
	char log[512] = "";
	struct map m;
	int i;

	open_shared(&m, "newest-first", FILE_B, 64, 200, false);
	p.fd = m.container;
	touch_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 100, 132);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(poll(&p, 1, 0), 1);
	/* Only now: other tests have had it revoked before. */
	set_switch(BACKOFF, "600000");
	CHECK_EQ(swap_id(m.container, 0, "newest-first", log, sizeof(log)),
		 -EAGAIN);
	CHECK(strstr(log, "was revoked "));
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_WORSE);
	swap_to(m.container, "mru");
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.resident, 64);
	CHECK_EQ(poll(&p, 1, 0), 0);
	/* MRU on a sweep is far better than the default, from the first window on. */
	for (i = 0; i < 40; i++)
		s = touch_range(&m, 0, 100);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK(s.counters.windows > 5);
	CHECK_EQ(s.counters.bad_windows, 4);
	set_switch(BACKOFF, "0");
	close_map(&m);
}

/* A bad policy that comes by a swap is revoked like any other, after four windows. */
static void swapped_in_is_held_to_the_contract(void)
{
	struct hipec_status s, before;
	struct map m;
	int i;

	open_shared(&m, "fifo2", FILE_B, 64, 200, false);
	before = touch_range(&m, 0, 64);
	CHECK_EQ(before.counters.faults, 64);
	swap_to(m.container, "newest-first");
	touch_range(&m, 64, 128);	/* what was there goes, these stay */
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 128, 160);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.bad_windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * 512);
	/* The default has the first 64 pages too, and brings in 64 and 32 more. */
	CHECK_EQ(s.counters.default_faults, 64 + 32);
	swap_to(m.container, NULL);
	for (i = 0; i < 5; i++)
		s = touch_range(&m, 0, 160);
	CHECK_EQ(s.counters.windows, 4);
	close_map(&m);
}

static const struct test swap_busy_tests[] = {
	{ "swap_again_and_again_while_threads_fault", swap_while_faulting },
	{ "swap_again_and_again_while_sharing_the_pool", swap_while_sharing },
	{ "swap_revives_a_container_whose_policy_was_revoked", shared_pool },
	{ "swap_holds_the_new_policy_to_the_contract", swapped_in_is_held_to_the_contract },
	{ 0 }
};
SUITE(swap_busy_tests, 0);
