// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read at once and ahead: each read by arithmetic. A read that no fault
 * waits for is waited for before it is counted.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_R DIR_DATA "ahead"

static struct hipec_counters counters(const struct map *m)
{
	return get_status(m->container).counters;
}

/* Wait until @pages were read; then it were exactly these, in @ios reads. */
static void check_reads(const struct map *m, uint64_t pages, uint64_t ios)
{
	int i;

	for (i = 0; i < 1000000 && counters(m).read_pages < pages; i++)
		;
	CHECK_EQ(counters(m).read_pages, pages);
	CHECK_EQ(counters(m).read_ios, ios);
}

/*
 * 128 pages in their order: 4 pages, 8, and then the next 16 and 32 before they
 * are asked for; the last read is what is left.
 */
static void window_doubles(void)
{
	static const struct {
		size_t touch;
		uint64_t read;	/* by then */
	} at[] = {
		{ 0, 4 }, { 4, 4 + 8 + 16 }, { 12, 28 + 32 }, { 28, 60 + 32 },
		{ 60, 92 + 32 }, { 92, 124 + 4 }, { 124, 128 },
	};
	static const uint64_t ios[] = { 1, 3, 4, 5, 6, 7, 7 };
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_R, 128 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 160, 32, false);
	for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
		touch(&m, at[i].touch);
		check_reads(&m, at[i].read, ios[i]);
	}
	for (i = 0; i < 128; i++)
		touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.resident, 128);
	CHECK_EQ(s.counters.pages_in, 128);
	CHECK_EQ(s.counters.faults, 7);
	CHECK_EQ(s.counters.soft_faults, 0);
	CHECK_EQ(s.counters.ahead_faults, 5);
	CHECK_EQ(s.counters.ahead_pages, 116);
	CHECK_EQ(s.counters.ahead_dropped, 0);
	close_map(&m);
}

/*
 * What is read ahead holds frames, but the policy is told only when it is
 * touched.
 */
static void waits_for_a_touch(void)
{
	struct map m;
	struct hipec_status s;
	size_t i;

	make_file(FILE_R, 64 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 64, 8, false);
	touch(&m, 0);
	touch(&m, 4);
	check_reads(&m, 20, 3);
	s = get_status(m.container);
	CHECK_EQ(s.counters.pages_in, 12);
	CHECK_EQ(s.resident, 12);
	CHECK_EQ(s.free_frames, 64 - 20);
	touch(&m, 15);			/* was read ahead; the next 8 are now */
	check_reads(&m, 28, 4);
	CHECK_EQ(counters(&m).pages_in, 20);
	touch(&m, 50);			/* elsewhere: one page, nothing ahead */
	s = get_status(m.container);
	CHECK_EQ(s.counters.pages_in, 21);
	CHECK_EQ(s.counters.read_pages, 29);
	CHECK_EQ(s.free_frames, 64 - 29);
	for (i = 0; i < 64; i++)
		touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.resident, 64);
	CHECK_EQ(s.counters.read_pages, 64);
	CHECK_EQ(s.counters.evictions, 0);
	close_map(&m);
	/* A region that ends while it reads ahead. */
	for (i = 0; i < 20; i++) {
		open_map(&m, "mru", FILE_R, 32, 8, false);
		touch(&m, 0);
		touch(&m, 4);
		close_map(&m);
	}
}

/* In any order without two neighbours, a read is of one page. */
static void no_sequence(void)
{
	struct map m;
	size_t i;

	make_file(FILE_R, 128 * PAGE_BYTES);
	/* 37 k = 1 (mod 127) for no k up to the four that are remembered. */
	open_map(&m, "fifo", FILE_R, 128, 32, false);
	for (i = 0; i < 127; i++)
		touch(&m, 1 + i * 37 % 127);
	check_reads(&m, 127, 127);
	close_map(&m);
	open_map(&m, "fifo", FILE_R, 128, 32, false);
	for (i = 128; i--;)
		touch(&m, i);
	check_reads(&m, 128, 128);
	close_map(&m);
	/* And where the application says that it jumps about. */
	open_map(&m, "fifo", FILE_R, 128, 32, false);
	CHECK(!madvise(m.base, 128 * PAGE_BYTES, MADV_RANDOM));
	for (i = 0; i < 128; i++)
		touch(&m, i);
	check_reads(&m, 128, 128);
	CHECK_EQ(counters(&m).ahead_pages, 0);
	close_map(&m);
}

/*
 * Two neighbours, as of a record on two pages, cost the 3 pages behind them; a
 * third batch is needed before any page is read ahead.
 */
static void two_are_hardly_a_sequence(void)
{
	struct map m;
	size_t i;

	make_file(FILE_R, 512 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 512, 32, false);
	for (i = 0; i < 10; i++) {
		touch(&m, 10 + i * 50);
		touch(&m, 11 + i * 50);
		check_reads(&m, (i + 1) * 5, (i + 1) * 2);
	}
	CHECK_EQ(counters(&m).ahead_pages, 0);
	/* A miss behind these four goes on, with 8; and now 16 ahead. */
	touch(&m, 465);
	check_reads(&m, 50 + 8 + 16, 22);
	close_map(&m);
}

/*
 * 0 to 63 and 64 to 127 turn and turn about: 4 8 16 16 16 4, and 1 4 8 16 16 16 3
 * as if each were alone. Five sequences are one more than are remembered: of
 * these each touch begins anew.
 */
static void sequences_side_by_side(void)
{
	struct map m;
	size_t i, k;

	make_file(FILE_R, 128 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 128, 16, false);
	for (i = 0; i < 64; i++) {
		touch(&m, i);
		touch(&m, 64 + i);
	}
	check_reads(&m, 128, 6 + 7);
	CHECK_EQ(counters(&m).ahead_dropped, 0);
	close_map(&m);
	make_file(FILE_R, 256 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 128, 16, false);
	for (i = 0; i < 20; i++)
		for (k = 0; k < 5; k++)
			touch(&m, 1 + k * 40 + i);
	check_reads(&m, 100, 100);
	close_map(&m);
}

/*
 * A sequence breaks with 16 pages read ahead, of 40 frames. Twelve other touches
 * find free frames, by the fourth the sequence is forgotten; the thirteenth gets
 * those of the 16, not of a page that the policy keeps.
 */
static void broken_sequence(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_R, 512 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 40, 16, false);
	touch(&m, 0);
	touch(&m, 4);
	check_reads(&m, 28, 3);
	for (i = 0; i < 12; i++)
		touch(&m, 100 + 10 * i);
	s = get_status(m.container);
	CHECK_EQ(s.free_frames, 0);
	CHECK_EQ(s.counters.ahead_dropped, 0);
	touch(&m, 300);
	s = get_status(m.container);
	CHECK_EQ(s.free_frames, 15);
	CHECK_EQ(s.resident, 25);
	CHECK_EQ(s.counters.evictions, 0);
	CHECK_EQ(s.counters.ahead_dropped, 16);
	check_reads(&m, 28 + 13, 3 + 13);
	/* What was dropped is read like any page, alone. */
	touch(&m, 12);
	check_reads(&m, 42, 17);
	close_map(&m);
}

/*
 * The same beside a sequence that goes on: 1, 4 and 8 pages from 100 on, then 16
 * each time, by Replace. When 20 batches, half as many as there are frames, were
 * used since then, the 16 pages go: before the 18th batch of 16. The first
 * sequence begins anew where they were, with 4.
 */
static void sequence_left_behind(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_R, 512 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 40, 16, false);
	touch(&m, 0);
	touch(&m, 4);
	touch(&m, 100);
	touch(&m, 101);
	touch(&m, 105);
	for (i = 0; i < 17; i++)
		touch(&m, 113 + 16 * i);
	check_reads(&m, 28 + 13 + 17 * 16, 3 + 3 + 17);
	s = get_status(m.container);
	CHECK_EQ(s.counters.ahead_dropped, 0);
	CHECK_EQ(s.resident, 24);
	CHECK_EQ(s.counters.evictions, 12 + 13 + 17 * 16 - 24);
	touch(&m, 113 + 16 * 17);
	s = get_status(m.container);
	CHECK_EQ(s.counters.ahead_dropped, 16);
	CHECK_EQ(s.resident, 40);
	CHECK_EQ(s.counters.evictions, 12 + 13 + 17 * 16 - 24);
	check_reads(&m, 28 + 13 + 18 * 16, 3 + 3 + 18);
	touch(&m, 12);
	check_reads(&m, 28 + 13 + 18 * 16 + 4, 3 + 3 + 19);
	close_map(&m);
}

#define THREADS 8

static void *touch_all(void *arg)
{
	const struct map *m = arg;
	size_t i;

	for (i = 0; i < m->pages; i++)
		if (get_word(m, i) != page_word(i))
			return (void *)1;
	return NULL;
}

/* Threads in one sequence, which all come to what is on its way: one read each. */
static void one_read_for_many(void)
{
	pthread_t thread[THREADS];
	struct map m;
	void *wrong;
	size_t i;

	make_file(FILE_R, 256 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_R, 256, 16, false);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, touch_all, &m));
	for (i = 0; i < THREADS; i++) {
		CHECK(!pthread_join(thread[i], &wrong));
		CHECK(!wrong);
	}
	/* 4, 8, 15 times 16, and 4 that are left. */
	check_reads(&m, 256, 2 + 15 + 1);
	CHECK_EQ(counters(&m).pages_in, 256);
	CHECK_EQ(counters(&m).ahead_dropped, 0);
	close_map(&m);
}

#define STRIDE 9

/*
 * stride.hp asks for the next 3 pages of a stride at each fault that none of these
 * serves. Of 32 touches 8 wait for a read; the file ends behind the last.
 */
static void prefetch_a_stride(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_R, (31 * STRIDE + 1) * PAGE_BYTES);
	open_map(&m, "stride", FILE_R, 64, 1, false);
	for (i = 0; i < 32; i++)
		touch(&m, i * STRIDE);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 32);
	CHECK_EQ(s.counters.ahead_faults, 24);
	CHECK_EQ(s.counters.ahead_pages, 24);
	CHECK_EQ(s.counters.ahead_dropped, 0);
	CHECK_EQ(s.counters.pages_in, 32);
	CHECK_EQ(s.counters.read_pages, 32);
	CHECK_EQ(s.counters.read_ios, 32);
	CHECK_EQ(s.resident, 32);
	CHECK_EQ(value_of(&m, "begun"), 24);
	for (i = 0; i < 32; i++)
		touch(&m, i * STRIDE);
	CHECK_EQ(counters(&m).soft_faults, 0);
	CHECK_EQ(counters(&m).faults, 32);
	close_map(&m);
	/* With no frame to spare nothing is begun, and nothing is evicted for it. */
	open_map(&m, "stride", FILE_R, 1, 1, false);
	for (i = 0; i < 32; i++)
		touch(&m, i * STRIDE);
	s = get_status(m.container);
	CHECK_EQ(s.counters.ahead_pages, 0);
	CHECK_EQ(s.counters.read_pages, 32);
	CHECK_EQ(s.counters.evictions, 31);
	close_map(&m);
}

/* Wait until what was asked for is read; then it were 32 pages, and the stale. */
static struct hipec_status fetched(const struct map *m)
{
	struct hipec_status s = get_status(m->container);
	int i;

	for (i = 0; i < 1000000 && s.counters.ahead_pages !=
	     s.counters.ahead_dropped + 32; i++)
		s = get_status(m->container);
	CHECK_EQ(s.counters.ahead_pages, s.counters.ahead_dropped + 32);
	return s;
}

/*
 * prefetch-all.hp asks for everything at every event: for what is resident, for
 * addresses of no region, for all there is, in loops. From page 1024 on, which
 * nobody touches, 32 pages are read, and each time that 64 batches were used
 * since, others.
 */
static void prefetch_is_bounded(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_R, 2048 * PAGE_BYTES);
	open_map(&m, "prefetch-all", FILE_R, 400, 1, false);
	for (i = 0; i < 300; i++)
		touch(&m, i * 3);
	s = fetched(&m);
	CHECK_EQ(s.counters.faults, 300);
	CHECK_EQ(s.counters.pages_in, 300);
	CHECK_EQ(s.resident, 300);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(value_of(&m, "in_replace"), 0);
	CHECK_EQ(s.free_frames, 400 - 300 - 32);
	CHECK_LE(s.counters.ahead_pages, 32 * (1 + 300 / 65));
	/* Full: what nobody wants goes first, and Replace begins nothing. */
	for (i = 0; i < 300; i++)
		touch(&m, 1 + i * 3);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 600);
	CHECK_EQ(s.exit.kind, 0);
	CHECK(s.counters.evictions > 0);
	CHECK_EQ(value_of(&m, "in_replace"), 0);
	CHECK_EQ(s.counters.ahead_faults, 0);
	CHECK_LE(s.counters.ahead_pages, 32 * (1 + 600 / 65));
	close_map(&m);
}

/* Attach a second region, touch @touches pages of the first one, and detach. */
static void detach_rounds(const struct map *m, int nr, size_t touches)
{
	int round, region, file = open(FILE_R, O_RDONLY);
	uint64_t address;
	size_t i;

	CHECK(file >= 0);
	for (round = 0; round < nr; round++) {
		region = hipec_attach(m->container, file, 0, 0, false, &address);
		CHECK(region >= 0);
		CHECK_EQ(address, 2048 * PAGE_BYTES);
		for (i = 0; i < touches; i++)
			touch(m, (1 + round * 131 + i * 7) % 2000);
		CHECK(!close(region));
	}
	close(file);
}

/* Pages of a second region are on their way, by a timer as well, when it goes. */
static void prefetch_in_regions_that_go(void)
{
	struct hipec_status s;
	int n = rounds(100);
	struct map m;

	make_file(FILE_R, 2048 * PAGE_BYTES);
	open_map(&m, "prefetch-second", FILE_R, 64, 8, false);
	detach_rounds(&m, n, 1);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, n);
	CHECK_EQ(value_of(&m, "begun"), 32 * n);
	CHECK_EQ(s.counters.ahead_pages, 32 * n);
	CHECK_EQ(s.counters.ahead_dropped, 32 * n);
	CHECK_EQ(s.counters.read_ios, 5 * n);
	CHECK_EQ(s.resident + s.free_frames, 64);
	close_map(&m);
	open_map(&m, "prefetch-all", FILE_R, 64, 8, false);
	detach_rounds(&m, n, 20);
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	CHECK_EQ(value_of(&m, "in_replace"), 0);
	close_map(&m);
}

static const struct test ahead_tests[] = {
	{ "reads_of_a_sequence_double", window_doubles },
	{ "read_ahead_waits_for_a_touch", waits_for_a_touch },
	{ "reads_without_a_sequence_are_of_one_page", no_sequence },
	{ "two_pages_are_hardly_a_sequence", two_are_hardly_a_sequence },
	{ "four_sequences_do_not_disturb_each_other", sequences_side_by_side },
	{ "read_ahead_goes_before_pages_that_the_policy_keeps", broken_sequence },
	{ "read_ahead_that_nobody_uses_goes", sequence_left_behind },
	{ "threads_in_one_sequence_cause_one_read_each", one_read_for_many },
	{ "prefetch_of_a_stride_saves_its_waits", prefetch_a_stride },
	{ "prefetch_is_bounded", prefetch_is_bounded },
	{ "prefetch_outlives_no_region", prefetch_in_regions_that_go },
	{ 0 }
};
SUITE(ahead_tests, 0);
