// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containers that share the pool, of 512 frames here (run.sh): who gets frames
 * and who gives them up, by arithmetic. All reads are of one page.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "pool-a"
#define FILE_B DIR_DATA "pool-b"
#define POOL 512
#define FIRST 16	/* frames of a container that nobody takes */
#define WINDOW 512	/* faults of one in which a policy is judged */

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};
#define QUOTA "/sys/module/hipec/parameters/quota_mb"

static int load_shared(const char *name, uint64_t frames, char *log,
		       size_t log_size)
{
	struct hipec_load load = {
		.flags = HIPEC_LOAD_SHARE, .frames = frames, .cluster = 1,
		.log = (uintptr_t)log, .log_size = log_size,
	};
	int fd = hipec_open(), ret;
	size_t size;
	void *image;

	CHECK(fd >= 0);
	read_image(name, &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	ret = hipec_load_args(fd, &load);
	free(image);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static void open_shared(struct map *m, const char *policy, const char *path,
			uint64_t frames, size_t pages, bool writable)
{
	make_file(path, pages * PAGE_BYTES);
	m->pages = pages;
	m->file = open(path, writable ? O_RDWR : O_RDONLY);
	CHECK(m->file >= 0);
	m->container = load_shared(policy, frames, NULL, 0);
	if (m->container < 0)
		FAIL("load %s: %s", policy, strerror(-m->container));
	m->region = hipec_attach(m->container, m->file, 0, 0, writable, NULL);
	CHECK(m->region >= 0);
	m->base = mmap(NULL, pages * PAGE_BYTES,
		       PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
		       m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

static struct hipec_status touch_all(struct map *m, size_t first, size_t end)
{
	for (; first < end; first++)
		touch(m, first);
	return get_status(m->container);
}

static uint64_t pool_frames(void)
{
	struct hipec_query q = { 0 };
	int fd = hipec_open();

	CHECK(fd >= 0 && !hipec_query(fd, &q));
	close(fd);
	CHECK_EQ(q.pool_max, POOL);
	return q.pool_frames;
}

/* With nobody beside it a limit is as good as a reservation. */
static void alone(void)
{
	struct hipec_status s;
	struct map m;
	int pass;

	open_shared(&m, "mru", FILE_A, 64, 100, false);
	s = get_status(m.container);
	CHECK_EQ(s.frames, FIRST);
	CHECK_EQ(s.limit, 64);
	CHECK_EQ(s.shares, 1);
	for (pass = 0; pass < 4; pass++)
		s = touch_all(&m, 0, 100);
	CHECK_EQ(s.counters.faults, 100 + 3 * (100 - 64 + 1));
	CHECK_EQ(s.frames, 64);
	CHECK_EQ(s.counters.given, 0);
	CHECK_EQ(s.counters.moved, 0);
	CHECK_EQ(pool_frames(), 64);
	close_map(&m);
	CHECK_EQ(pool_frames(), 0);
}

/*
 * A has 400 frames, B gets the other 112 and then 288 of A's, which were not
 * touched since the manager reset their bits. FIFO gives what the manager has
 * chosen: the oldest.
 */
static void the_oldest_go(void)
{
	struct hipec_status sa, sb;
	struct map a, b;

	open_shared(&a, "fifo", FILE_A, 400, 400, false);
	open_shared(&b, "fifo", FILE_B, 400, 400, false);
	touch_all(&a, 0, 400);
	sb = touch_all(&b, 0, POOL - 400);
	CHECK_EQ(sb.frames, POOL - 400);
	sa = get_status(a.container);
	CHECK_EQ(sa.frames, 400);
	sb = touch_all(&b, POOL - 400, 400);
	sa = get_status(a.container);
	CHECK_EQ(sb.frames, 400);
	CHECK_EQ(sb.counters.given, 0);
	CHECK_EQ(sa.frames, POOL - 400);
	CHECK_EQ(sa.counters.given, 288);
	CHECK_EQ(sa.counters.moved, 0);
	CHECK_EQ(sa.counters.helped, 0);
	CHECK_EQ(sa.counters.faults, 400);
	/* These are here still. */
	CHECK_EQ(touch_all(&a, 288, 400).counters.faults, 400);
	CHECK_EQ(pool_frames(), POOL);
	close_map(&a);
	CHECK_EQ(pool_frames(), 400);
	close_map(&b);
}

/*
 * As above, but A's policy gives up what came last: page 399 for the manager's
 * page 0, and so on until both have come to the middle. From there on the
 * manager's choice is the policy's.
 */
static void the_policy_names_others(void)
{
	struct hipec_status s;
	struct map a, b;

	open_shared(&a, "mru", FILE_A, 400, 400, false);
	open_shared(&b, "fifo", FILE_B, 400, 400, false);
	touch_all(&a, 0, 400);
	touch_all(&b, 0, 400);
	s = get_status(a.container);
	CHECK_EQ(s.counters.given, 288);
	CHECK_EQ(s.counters.moved, 200);
	CHECK_EQ(s.counters.recovered, 0);
	CHECK_EQ(touch_all(&a, 0, 112).counters.faults, 400);
	close_map(&a);
	close_map(&b);
}

/*
 * That was ill-advised if A then wants the last pages: each takes back the frame
 * of the page that had stayed for it, as long as there is one: 399 - k for page
 * k, k below 112.
 */
static void bad_advice_is_reversed(void)
{
	struct hipec_status s;
	struct map a, b;
	size_t page;

	open_shared(&a, "mru", FILE_A, 400, 400, false);
	open_shared(&b, "fifo", FILE_B, 400, 400, false);
	touch_all(&a, 0, 400);
	touch_all(&b, 0, 400);
	for (page = 399; page >= 288; page--)
		touch(&a, page);
	s = get_status(a.container);
	CHECK_EQ(s.counters.faults, 400 + 112);
	CHECK_EQ(s.counters.recovered, 112);
	CHECK_EQ(s.frames, POOL - 400);
	CHECK_EQ(get_status(b.container).frames, 400);
	/* All of the kept ones have gone for it. */
	CHECK_EQ(touch_all(&a, 288, 400).counters.faults, 400 + 112);
	close_map(&a);
	close_map(&b);
}

/* What stayed was used meanwhile: the advice was good. */
static void good_advice_stands(void)
{
	struct hipec_status s;
	struct map a, b;

	open_shared(&a, "mru", FILE_A, 400, 400, false);
	open_shared(&b, "fifo", FILE_B, 400, 400, false);
	touch_all(&a, 0, 400);
	touch_all(&b, 0, 400);
	touch_all(&a, 0, 112);
	touch(&a, 399);
	s = get_status(a.container);
	CHECK_EQ(s.counters.faults, 400 + 1);
	CHECK_EQ(s.counters.recovered, 0);
	close_map(&a);
	close_map(&b);
}

/* A hoards: the manager takes its own choice, down to the last frames. */
static void hoarder_loses_all_but_the_first(void)
{
	struct hipec_status sa, sb;
	struct map a, b;

	open_shared(&a, "hoard", FILE_A, POOL, POOL, false);
	sa = touch_all(&a, 0, POOL);
	CHECK_EQ(sa.frames, POOL);
	open_shared(&b, "fifo", FILE_B, POOL, 600, false);
	sb = touch_all(&b, 0, 600);
	sa = get_status(a.container);
	CHECK_EQ(sa.frames, FIRST);
	CHECK_EQ(sb.frames, POOL - FIRST);
	CHECK_EQ(sa.counters.given, POOL - FIRST);
	CHECK_EQ(sb.counters.faults, 600);
	close_map(&a);
	close_map(&b);
}

/*
 * Dirty pages leave through the washer; their data is in the file then. While
 * many are on their way B replaces pages of its own, so A may lose less.
 */
static void dirty_pages_are_written_first(void)
{
	struct hipec_status sa;
	struct map a, b;
	uint64_t word;
	size_t i;

	open_shared(&a, "fifo", FILE_A, 400, 400, true);
	open_shared(&b, "fifo", FILE_B, 400, 400, false);
	for (i = 0; i < 400; i++)
		*(volatile uint64_t *)(a.base + i * PAGE_BYTES) = ~page_word(i);
	touch_all(&b, 0, 400);
	sa = get_status(a.container);
	CHECK(sa.counters.given > 0);
	CHECK_LE(sa.counters.given, 288);
	for (i = 0; i < 400; i++)
		CHECK_EQ(get_word(&a, i), ~page_word(i));
	CHECK(!fsync(a.region));
	for (i = 0; i < 400; i++) {
		CHECK(pread(a.file, &word, 8, i * PAGE_BYTES) == 8);
		CHECK_EQ(word, ~page_word(i));
	}
	close_map(&a);
	close_map(&b);
}

static void set_quota(const char *mb)
{
	int fd = open(QUOTA, O_WRONLY);

	CHECK(fd >= 0 && write(fd, mb, strlen(mb)) == (ssize_t)strlen(mb));
	close(fd);
}

/* One MB, 256 frames: no container may want more, and together they have that. */
static void quota_of_a_user(void)
{
	struct hipec_status sa, sb;
	char log[256] = "";
	struct map a, b;

	set_quota("1");
	CHECK_EQ(load_shared("fifo", 257, log, sizeof(log)), -EDQUOT);
	CHECK(!strcmp(log, "257 frames are above the quota of user 0, which is 256 "
		      "(module parameters quota_mb and pool_mb)"));
	open_shared(&a, "fifo", FILE_A, 256, 200, false);
	touch_all(&a, 0, 200);
	open_shared(&b, "fifo", FILE_B, 256, 100, false);
	sb = touch_all(&b, 0, 100);
	sa = get_status(a.container);
	CHECK_EQ(sa.frames, 200);
	CHECK_EQ(sa.counters.given, 0);
	CHECK_EQ(sb.frames, 56);
	CHECK_EQ(sb.counters.faults, 100);
	close_map(&a);
	close_map(&b);
	set_quota("0");
}

/*
 * 64 pages that are never used again stay for ever, and 32 that are used in turn
 * share what is left: a fault each time, where the default has 96 in all. After
 * four windows FIFO with a second chance is in charge, and each of the 32 faults
 * once more.
 */
static void ill_advised_policy_is_revoked(void)
{
	struct hipec_status s;
	struct map m;
	int i;

	open_shared(&m, "newest-first", FILE_A, 64, 200, false);
	touch_all(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = touch_all(&m, 100, 132);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.bad_windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * WINDOW);
	CHECK_EQ(s.counters.default_faults, 64 + 32);
	CHECK_EQ(s.frames, 64);
	CHECK_LE(s.counters.faults, 4 * WINDOW + 32 + 1);
	close_map(&m);
}

/* MRU on a sweep: (P-1) x (N-F+1) faults beside the first N, the default P x N. */
static void good_policy_is_not_revoked(void)
{
	struct hipec_status s;
	struct map m;
	int pass;

	open_shared(&m, "mru", FILE_A, 64, 100, false);
	for (pass = 0; pass < 80; pass++)
		s = touch_all(&m, 0, 100);
	CHECK_EQ(s.counters.faults, 100 + 79 * 37);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.windows, (100 + 79 * 37) / WINDOW);
	CHECK_EQ(s.counters.bad_windows, 0);
	CHECK(s.counters.default_faults > 2 * s.counters.judged_faults);
	close_map(&m);
}

/*
 * B uses its 200 pages again and again while A sweeps over more than the pool has.
 * When the manager first resets bits it takes what it has just reset, B's as well;
 * from then on B loses nothing, whatever A's policy fails to do: a second chance is as
 * long as two thirds of the pool, and B comes round every 100 faults of A.
 */
static void neighbours_do_not_pay(void)
{
	static const char *const policy[] = {
		"fifo", "hoard", "same-page", "spill",
		"endless-replace", "no-page",
	};
	struct hipec_status s;
	uint64_t before = 0;
	struct map a, b;
	size_t i, round;

	for (i = 0; i < sizeof(policy) / sizeof(*policy); i++) {
		open_shared(&a, policy[i], FILE_A, POOL, 600, false);
		open_shared(&b, "fifo2", FILE_B, 200, 200, false);
		for (round = 0; round < 18; round++) {
			s = touch_all(&b, 0, 200);
			if (round == 6)
				before = s.counters.faults;
			touch_all(&a, round % 6 * 100, round % 6 * 100 + 100);
		}
		s = touch_all(&b, 0, 200);
		if (s.counters.faults != before)
			FAIL("%s costs its neighbour %llu faults", policy[i],
			     (unsigned long long)(s.counters.faults - before));
		CHECK_EQ(s.exit.kind, 0);
		CHECK_EQ(s.frames, 200);
		close_map(&a);
		close_map(&b);
	}
}

/* What `echo 2 >/proc/sys/vm/drop_caches` asks all shrinkers for is all there is. */
static void memory_pressure(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	struct hipec_status s;
	struct map a, b;

	open_shared(&a, "mru", FILE_A, 300, 300, false);
	open_map(&b, "mru", FILE_A, 100, 1, false);
	touch_all(&a, 0, 300);
	touch_all(&b, 0, 100);
	CHECK(fd >= 0 && write(fd, "2", 1) == 1);
	close(fd);
	s = get_status(a.container);
	CHECK_EQ(s.frames, FIRST);
	CHECK_EQ(s.counters.given, 300 - FIRST);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(pool_frames(), FIRST);
	CHECK_EQ(get_status(b.container).frames, 100);
	CHECK_EQ(touch_all(&a, 0, 300).frames, 300);
	CHECK_EQ(touch_all(&b, 0, 100).counters.faults, 100);
	close_map(&a);
	close_map(&b);
}

/* A task dies with a full pool: the next one has all of it. */
static void death_gives_all_back(void)
{
	struct map m;
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		open_shared(&m, "fifo", FILE_A, POOL, POOL, false);
		touch_all(&m, 0, POOL);
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	open_shared(&m, "fifo", FILE_A, POOL, POOL, false);
	CHECK_EQ(touch_all(&m, 0, POOL).frames, POOL);
	CHECK_EQ(pool_frames(), POOL);
	close_map(&m);
}

/* Six tasks, each with a file of its own and more pages than a third of the pool. */
static void crowd(void)
{
	static const char *const policy[] = { "fifo", "fifo2", "mru" };
	char path[64];
	int nr, status, i;
	struct map m;
	pid_t pid;

	for (nr = 0; nr < 6; nr++) {
		pid = fork();
		CHECK(pid >= 0);
		if (pid)
			continue;
		snprintf(path, sizeof(path), DIR_DATA "pool-%d", nr);
		open_shared(&m, policy[nr % 3], path, 200, 220, nr & 1);
		for (i = 0; i < rounds(20); i++) {
			if (nr & 1)
				(*(volatile uint64_t *)(m.base + i * PAGE_BYTES + 8))++;
			touch_all(&m, 0, 220);
		}
		for (i = 0; i < rounds(20); i++)
			if (nr & 1)
				CHECK_EQ(*(volatile uint8_t *)(m.base + i * PAGE_BYTES + 8),
					 i + 1);
		close_map(&m);
		unlink(path);
		_exit(0);
	}
	for (nr = 0; nr < 6; nr++)
		CHECK(wait(&status) > 0 && status == 0);
	CHECK_EQ(pool_frames(), 0);
}

const struct test pool_tests[] = {
	{ "a_shared_container_alone_is_like_a_reserved_one", alone },
	{ "pool_takes_the_oldest_pages", the_oldest_go },
	{ "pool_lets_the_policy_name_other_pages", the_policy_names_others },
	{ "pool_reverses_bad_advice", bad_advice_is_reversed },
	{ "pool_lets_good_advice_stand", good_advice_stands },
	{ "pool_takes_all_but_the_first_frames_of_a_hoarder",
	  hoarder_loses_all_but_the_first },
	{ "pool_writes_dirty_pages_before_it_takes_them", dirty_pages_are_written_first },
	{ "pool_keeps_to_the_quota_of_a_user", quota_of_a_user },
	{ "pool_policy_that_is_ill_advised_is_revoked", ill_advised_policy_is_revoked },
	{ "pool_policy_that_is_good_is_not_revoked", good_policy_is_not_revoked },
	{ "pool_lets_no_neighbour_pay_for_a_bad_policy", neighbours_do_not_pay },
	{ "pool_gives_frames_back_under_memory_pressure", memory_pressure },
	{ "pool_has_all_back_when_a_task_dies", death_gives_all_back },
	{ "pool_serves_six_tasks_that_want_more", crowd },
	{ 0 }
};
