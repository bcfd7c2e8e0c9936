// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containers in place that share the pool, of 512 frames here (run.sh): as pool.c has it
 * of regions, by read() of pages in no order to the kernel. Counts are arithmetic.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_A DIR_DATA "share-a"
#define FILE_B DIR_DATA "share-b"
#define FILE_C DIR_DATA "share-c"
#define POOL 512
#define FIRST 16	/* frames of a container that nobody takes */
#define WINDOW 512	/* faults of one in which a small container is judged */

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

static void open_place(struct map *m, const char *policy, const char *path,
		       uint64_t frames, size_t pages)
{
	stay_here();
	make_file(path, pages * PAGE_BYTES);
	m->pages = pages;
	m->container = open_cache_with(policy, frames, HIPEC_LOAD_SHARE);
	m->file = take_file(m->container, path, O_RDWR);
	CHECK(!posix_fadvise(m->file, 0, 0, POSIX_FADV_RANDOM));
}

static void close_place(struct map *m)
{
	close(m->file);
	close(m->container);
}

static struct hipec_status read_range(const struct map *m, size_t first, size_t end)
{
	unsigned char buffer[PAGE_BYTES];
	uint64_t word;

	for (; first < end; first++) {
		CHECK(pread(m->file, buffer, PAGE_BYTES, first * PAGE_BYTES) ==
		      (ssize_t)PAGE_BYTES);
		memcpy(&word, buffer, sizeof(word));
		CHECK_EQ(word, page_word(first));
	}
	return get_status(m->container);
}

/* The same, by a task that is no faster than the policy of @other. */
static struct hipec_status read_beside(const struct map *m, size_t first, size_t end,
				       const struct map *other)
{
	for (; first < end; first++) {
		read_range(m, first, first + 1);
		wait_named(other->container);
	}
	return get_status(m->container);
}

/* With nobody beside it a limit is as good as a budget of its own. */
static void alone(void)
{
	struct hipec_status s;
	struct map m;
	int pass;

	open_place(&m, "mru", FILE_A, 64, 100);
	s = get_status(m.container);
	CHECK_EQ(s.frames, FIRST);
	CHECK_EQ(s.limit, 64);
	CHECK_EQ(s.shares, 1);
	CHECK_EQ(s.in_place, 1);
	for (pass = 0; pass < 4; pass++)
		s = read_range(&m, 0, 100);
	CHECK_EQ(s.counters.read_pages, 100 + 3 * (100 - 64 + 1));
	CHECK_EQ(s.frames, 64);
	CHECK_EQ(s.resident, 64);
	CHECK_EQ(s.counters.given, 0);
	CHECK_EQ(s.counters.moved, 0);
	CHECK_EQ(pool_frames(POOL), 64);
	close_place(&m);
	CHECK_EQ(pool_frames(POOL), 0);
}

/*
 * A has 400 frames, B gets the other 112 and then 288 of A's, which were not touched
 * since the manager reset their bits. FIFO gives what the manager has chosen.
 */
static void the_oldest_go(void)
{
	struct hipec_status sa, sb;
	struct map a, b;

	open_place(&a, "fifo", FILE_A, 400, 400);
	open_place(&b, "fifo", FILE_B, 400, 400);
	read_range(&a, 0, 400);
	sb = read_beside(&b, 0, POOL - 400, &a);
	CHECK_EQ(sb.frames, POOL - 400);
	CHECK_EQ(get_status(a.container).frames, 400);
	sb = read_beside(&b, POOL - 400, 400, &a);
	sa = get_status(a.container);
	CHECK_EQ(sb.frames, 400);
	CHECK_EQ(sb.counters.given, 0);
	CHECK_EQ(sa.frames, POOL - 400);
	CHECK_EQ(sa.resident, POOL - 400);
	CHECK_EQ(sa.counters.given, 288);
	CHECK_EQ(sa.counters.moved, 0);
	/* These are here still. */
	CHECK_EQ(read_range(&a, 288, 400).counters.read_pages, 400);
	CHECK_EQ(pool_frames(POOL), POOL);
	close_place(&a);
	CHECK_EQ(pool_frames(POOL), 400);
	close_place(&b);
}

/*
 * A's policy gives up what came last: page 399 for the manager's page 0, and so on until
 * both have come to the middle. If A then wants the last pages, that was ill-advised:
 * each takes the frame of the page that had stayed for it.
 */
static void bad_advice_is_reversed(void)
{
	struct hipec_status s;
	struct map a, b;
	size_t page;

	open_place(&a, "mru", FILE_A, 400, 400);
	open_place(&b, "fifo", FILE_B, 400, 400);
	read_range(&a, 0, 400);
	read_beside(&b, 0, 400, &a);
	s = get_status(a.container);
	CHECK_EQ(s.counters.given, 288);
	CHECK_EQ(s.counters.moved, 200);
	CHECK_EQ(s.counters.recovered, 0);
	for (page = 400; page-- > 288;)
		s = read_range(&a, page, page + 1);
	CHECK_EQ(s.counters.read_pages, 400 + 112);
	CHECK_EQ(s.counters.recovered, 112);
	CHECK_EQ(s.frames, POOL - 400);
	CHECK_EQ(get_status(b.container).frames, 400);
	CHECK_EQ(read_range(&a, 288, 400).counters.read_pages, 400 + 112);
	close_place(&a);
	close_place(&b);
}

/* A's policy gives nothing: the manager takes its own choice, down to the last frames. */
static void hoarder_loses_all_but_the_first(void)
{
	struct hipec_status sa, sb;
	struct map a, b;

	open_place(&a, "hoard", FILE_A, POOL, POOL);
	sa = read_range(&a, 0, POOL);
	CHECK_EQ(sa.frames, POOL);
	open_place(&b, "fifo", FILE_B, POOL, 600);
	sb = read_range(&b, 0, 600);
	sa = get_status(a.container);
	CHECK_EQ(sa.frames, FIRST);
	CHECK_EQ(sa.resident, FIRST);
	CHECK_EQ(sb.frames, POOL - FIRST);
	CHECK_EQ(sb.counters.read_pages, 600);
	close_place(&a);
	close_place(&b);
}

/* A region and a file in place: the pool makes no difference. */
static void beside_regions(void)
{
	struct hipec_status sa, sb;
	struct map a, b;

	open_shared(&a, "fifo", FILE_A, 400, 400, false);
	open_place(&b, "fifo", FILE_B, 400, 400);
	touch_range(&a, 0, 400);
	sb = read_beside(&b, 0, 400, &a);
	sa = get_status(a.container);
	CHECK_EQ(sb.frames, 400);
	CHECK_EQ(sa.frames, POOL - 400);
	CHECK_EQ(sa.counters.given, 288);
	touch_range(&a, 0, 400);
	sa = get_status(a.container);
	sb = get_status(b.container);
	CHECK_EQ(sa.frames + sb.frames, POOL);
	CHECK(sb.counters.given > 0);
	CHECK_EQ(sb.resident, sb.frames);
	close_map(&a);
	close_place(&b);
	CHECK_EQ(pool_frames(POOL), 0);
}

/* Dirty pages stay until they are written, and what was written is not lost. */
static void dirty_pages_are_not_lost(void)
{
	struct hipec_status sb;
	struct map a, b;
	uint64_t word;
	size_t i;

	open_place(&a, "fifo", FILE_A, 400, 400);
	open_place(&b, "fifo", FILE_B, 400, 400);
	for (i = 0; i < 400; i++) {
		word = ~page_word(i);
		CHECK(pwrite(a.file, &word, 8, i * PAGE_BYTES) == 8);
	}
	read_range(&b, 0, 400);
	CHECK(!fsync(a.file));
	sb = read_range(&b, 0, 400);
	CHECK_LE(sb.frames, 400);
	CHECK_LE(pool_frames(POOL), POOL);
	for (i = 0; i < 400; i++) {
		CHECK(pread(a.file, &word, 8, i * PAGE_BYTES) == 8);
		CHECK_EQ(word, ~page_word(i));
	}
	close_place(&a);
	close_place(&b);
	CHECK_EQ(pool_frames(POOL), 0);
}

/* One MB, 256 frames: nobody may want more, and together they have that. */
static void quota_of_a_user(void)
{
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE | HIPEC_LOAD_SHARE, .frames = 257,
	};
	struct hipec_status sa, sb;
	int fd = hipec_open();
	struct map a, b;

	CHECK(fd >= 0);
	set_switch("/sys/module/hipec/parameters/quota_mb", "1");
	CHECK_EQ(hipec_load_args(fd, &load), -EDQUOT);
	close(fd);
	open_place(&a, "fifo", FILE_A, 256, 200);
	read_range(&a, 0, 200);
	open_place(&b, "fifo", FILE_B, 256, 100);
	sb = read_range(&b, 0, 100);
	sa = get_status(a.container);
	CHECK_EQ(sa.frames, 200);
	CHECK_EQ(sa.counters.given, 0);
	CHECK_EQ(sb.frames, 56);
	CHECK_EQ(sb.counters.read_pages, 100);
	set_switch("/sys/module/hipec/parameters/quota_mb", "0");
	close_place(&a);
	close_place(&b);
}

/* As in cache_contract.c, which asks for it: who shares is judged anyway. */
static void ill_advised_policy_is_revoked(void)
{
	struct hipec_status s;
	struct map m;
	int i;

	open_place(&m, "newest-first", FILE_A, 64, 200);
	read_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = read_range(&m, 100, 132);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * WINDOW);
	CHECK_EQ(s.counters.default_faults, 64 + 32);
	CHECK_EQ(s.frames, 64);
	CHECK_LE(s.counters.read_pages, 4 * WINDOW + 32 + 1);
	close_place(&m);
}

/* B uses its 200 pages again and again while A sweeps over more than the pool has. */
static void neighbours_do_not_pay(void)
{
	static const char *const policy[] = { "fifo", "hoard", "same-page", "endless-replace" };
	struct hipec_status s;
	uint64_t before = 0;
	struct map a, b;
	size_t i, round;

	for (i = 0; i < sizeof(policy) / sizeof(*policy); i++) {
		open_place(&a, policy[i], FILE_A, POOL, 600);
		open_place(&b, "fifo2", FILE_B, 200, 200);
		for (round = 0; round < 18; round++) {
			s = read_range(&b, 0, 200);
			if (round == 6)
				before = s.counters.read_pages;
			read_range(&a, round % 6 * 100, round % 6 * 100 + 100);
		}
		s = read_range(&b, 0, 200);
		if (s.counters.read_pages != before)
			FAIL("%s costs its neighbour %llu faults", policy[i],
			     (unsigned long long)(s.counters.read_pages - before));
		CHECK_EQ(s.exit.kind, 0);
		CHECK_EQ(s.frames, 200);
		close_place(&a);
		close_place(&b);
	}
}

/* Files that are let go leave their frames to others. */
static void what_is_let_go_goes_back(void)
{
	struct map m;

	open_place(&m, "fifo", FILE_A, 400, 400);
	read_range(&m, 0, 400);
	CHECK_EQ(pool_frames(POOL), 400);
	CHECK_EQ(hipec_release(m.container, 0, m.file), 0);
	CHECK_EQ(pool_frames(POOL), FIRST);
	close_place(&m);
}

#define THREADS 6
#define READS 2048

struct reader {
	pthread_t thread;
	const struct map *m;
	uint32_t seed;
};

static void *read_in_no_order(void *arg)
{
	struct reader *r = arg;
	size_t page;
	int i;

	for (i = 0; i < READS; i++) {
		r->seed = r->seed * 1664525 + 1013904223;
		page = (r->seed >> 8) % r->m->pages;
		read_range(r->m, page, page + 1);
	}
	return NULL;
}

/* To a policy a page that is touched before it is evicted has gone, and comes in without a read. */
static uint64_t came_in(const struct hipec_status *s)
{
	return s->counters.pages_in + s->counters.ahead_dropped;
}

/*
 * While a thread evicts, others miss, and the pool takes pages of their container. No page is
 * taken for another one, and no frame is counted that is not there.
 */
static void threads_miss_at_once(void)
{
	struct reader reader[THREADS];
	struct hipec_status sa, sb, sc;
	struct map a, b, c;
	const struct map *all[] = { &a, &b, &c };
	int i;

	open_place(&a, "lru", FILE_A, 400, 1024);
	open_place(&b, "fifo", FILE_B, 400, 1024);
	open_place(&c, "lru", FILE_C, FIRST, 20);
	for (i = 0; i < THREADS; i++) {
		reader[i] = (struct reader){ .m = all[i % 3], .seed = i };
		CHECK(!pthread_create(&reader[i].thread, NULL, read_in_no_order, &reader[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(reader[i].thread, NULL));
	sa = get_status(a.container);
	sb = get_status(b.container);
	sc = get_status(c.container);
	CHECK_EQ(sa.exit.kind, 0);
	CHECK_EQ(sb.exit.kind, 0);
	CHECK_EQ(sc.exit.kind, 0);
	/* Of two times 4,096 reads at most 400 of 1,024 pages are there. */
	CHECK_LE(4096 / 2, sa.counters.read_pages);
	CHECK_LE(4096 / 2, sb.counters.read_pages);
	CHECK_LE(sa.counters.evictions + sa.resident, came_in(&sa));
	CHECK_LE(sb.counters.evictions + sb.resident, came_in(&sb));
	CHECK_LE(1, sa.counters.given + sb.counters.given);
	CHECK_LE(sc.counters.evictions + sc.resident, came_in(&sc));
	CHECK_LE(sa.resident + sb.resident + sc.resident, POOL + THREADS);
	CHECK_LE(sc.resident, FIRST + THREADS);
	CHECK_LE(pool_frames(POOL), POOL);
	close_place(&a);
	close_place(&b);
	close_place(&c);
	CHECK_EQ(pool_frames(POOL), 0);
}

static void open_and_read_ahead(struct map *m, const char *path)
{
	make_file(path, m->pages * PAGE_BYTES);
	m->container = open_cache_with("fifo", m->pages, HIPEC_LOAD_SHARE);
	m->file = take_file(m->container, path, O_RDONLY);
	CHECK(!posix_fadvise(m->file, 0, 0, POSIX_FADV_WILLNEED));
}

/*
 * What is read ahead fills the pool of 512 frames. Nobody touches it, so no policy knows it; a
 * container that comes has its first frames.
 */
static void untouched_pages_make_room(void)
{
	struct map a = { .pages = 500 }, b = { .pages = 500 };
	int c;

	stay_here();
	open_and_read_ahead(&a, FILE_A);
	CHECK_LE(300, get_status(a.container).frames);
	open_and_read_ahead(&b, FILE_B);
	c = open_cache_with("fifo", 64, HIPEC_LOAD_SHARE);
	CHECK_LE(16, get_status(c).frames);
	close(c);
	close_place(&b);
	close_place(&a);
}

static const struct test cache_share_tests[] = {
	{ "cache_shares_and_untouched_pages_make_room", untouched_pages_make_room },
	{ "cache_shares_and_threads_miss_at_once", threads_miss_at_once },
	{ "cache_shares_as_if_alone", alone },
	{ "cache_shares_and_the_oldest_go", the_oldest_go },
	{ "cache_shares_and_bad_advice_is_reversed", bad_advice_is_reversed },
	{ "cache_shares_and_a_hoarder_loses_all_but_the_first",
	  hoarder_loses_all_but_the_first },
	{ "cache_shares_with_regions", beside_regions },
	{ "cache_shares_and_loses_no_write", dirty_pages_are_not_lost },
	{ "cache_shares_within_a_quota", quota_of_a_user },
	{ "cache_shares_and_is_judged", ill_advised_policy_is_revoked },
	{ "cache_shares_and_lets_no_neighbour_pay", neighbours_do_not_pay },
	{ "cache_shares_what_it_holds", what_is_let_go_goes_back },
	{ 0 }
};
SUITE(cache_share_tests, 0);
