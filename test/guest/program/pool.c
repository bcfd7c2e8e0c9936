// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containers that share the pool, of 512 frames here (run.sh): who gets frames
 * and who gives them up, by arithmetic. All reads are of one page.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "pool-a"
#define FILE_B DIR_DATA "pool-b"
#define POOL 512
#define FIRST 16	/* frames of a container that nobody takes */

#define QUOTA "/sys/module/hipec/parameters/quota_mb"
#define RECOVERY "/sys/module/hipec/parameters/recovery"

static int load_shared_log(const char *name, uint64_t frames, uint32_t cluster,
			   char *log, size_t log_size)
{
	struct hipec_load load = {
		.flags = HIPEC_LOAD_SHARE, .frames = frames, .cluster = cluster,
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

int load_shared(const char *name, uint64_t frames, char *log, size_t log_size)
{
	return load_shared_log(name, frames, 1, log, log_size);
}

void map_shared(struct map *m, const char *policy, const char *path,
		uint64_t frames, size_t pages, bool writable)
{
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

void open_shared(struct map *m, const char *policy, const char *path,
		 uint64_t frames, size_t pages, bool writable)
{
	make_file(path, pages * PAGE_BYTES);
	map_shared(m, policy, path, frames, pages, writable);
}

struct hipec_status touch_range(struct map *m, size_t first, size_t end)
{
	for (; first < end; first++)
		touch(m, first);
	return get_status(m->container);
}

/* Until a policy has named what others may take next, and knows what they took. */
void wait_named(int container)
{
	char path[64], line[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/hipec/%llu/named",
		 (unsigned long long)get_status(container).id);
	do {
		f = fopen(path, "r");
		CHECK(f && fgets(line, sizeof(line), f));
		fclose(f);
	} while (!strstr(line, "idle"));
}

/* As touch_range(), by a task that is no faster than the policy of @other. */
struct hipec_status touch_beside(struct map *m, size_t first, size_t end,
				 const struct map *other)
{
	for (; first < end; first++) {
		touch(m, first);
		wait_named(other->container);
	}
	return get_status(m->container);
}

/* Frames that the pool has given out, of @max. */
uint64_t pool_frames(uint64_t max)
{
	struct hipec_query q = { 0 };
	int fd = hipec_open();

	CHECK(fd >= 0 && !hipec_query(fd, &q));
	close(fd);
	CHECK_EQ(q.pool_max, max);
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
		s = touch_range(&m, 0, 100);
	CHECK_EQ(s.counters.faults, 100 + 3 * (100 - 64 + 1));
	CHECK_EQ(s.frames, 64);
	CHECK_EQ(s.counters.given, 0);
	CHECK_EQ(s.counters.moved, 0);
	CHECK_EQ(pool_frames(POOL), 64);
	close_map(&m);
	CHECK_EQ(pool_frames(POOL), 0);
}

/*
 * Of a pool of @pool frames A has @pages, B gets the others and then A's oldest, which were not
 * touched since the manager reset their bits. FIFO gives what the manager has chosen.
 */
void oldest_frames_go(uint64_t pool, size_t pages)
{
	size_t given = 2 * pages - pool;
	struct hipec_status sa, sb;
	struct map a, b;

	open_shared(&a, "fifo", FILE_A, pages, pages, false);
	open_shared(&b, "fifo", FILE_B, pages, pages, false);
	touch_range(&a, 0, pages);
	sb = touch_beside(&b, 0, pool - pages, &a);
	CHECK_EQ(sb.frames, pool - pages);
	CHECK_EQ(get_status(a.container).frames, pages);
	sb = touch_beside(&b, pool - pages, pages, &a);
	sa = get_status(a.container);
	CHECK_EQ(sb.frames, pages);
	CHECK_EQ(sb.counters.given, 0);
	CHECK_EQ(sa.frames, pool - pages);
	CHECK_EQ(sa.counters.given, given);
	CHECK_EQ(sa.counters.moved, 0);
	CHECK_EQ(sa.counters.helped, 0);
	CHECK_EQ(sa.counters.faults, pages);
	/* These are here still. */
	CHECK_EQ(touch_range(&a, given, pages).counters.faults, pages);
	CHECK_EQ(pool_frames(pool), pool);
	close_map(&a);
	/* Nor is any of B's lost as A ends. */
	CHECK_EQ(touch_range(&b, 0, pages).counters.faults, pages);
	CHECK_EQ(pool_frames(pool), pages);
	close_map(&b);
	CHECK(!unlink(FILE_A));
	CHECK(!unlink(FILE_B));
}

static void the_oldest_go(void)
{
	oldest_frames_go(POOL, 400);
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
	touch_range(&a, 0, 400);
	touch_beside(&b, 0, 400, &a);
	s = get_status(a.container);
	CHECK_EQ(s.counters.given, 288);
	CHECK_EQ(s.counters.moved, 200);
	CHECK_EQ(s.counters.recovered, 0);
	CHECK_EQ(touch_range(&a, 0, 112).counters.faults, 400);
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
	touch_range(&a, 0, 400);
	touch_beside(&b, 0, 400, &a);
	for (page = 399; page >= 288; page--)
		touch(&a, page);
	s = get_status(a.container);
	CHECK_EQ(s.counters.faults, 400 + 112);
	CHECK_EQ(s.counters.recovered, 112);
	CHECK_EQ(s.frames, POOL - 400);
	CHECK_EQ(get_status(b.container).frames, 400);
	/* All of the kept ones have gone for it. */
	CHECK_EQ(touch_range(&a, 288, 400).counters.faults, 400 + 112);
	close_map(&a);
	close_map(&b);
}

void set_switch(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, value, strlen(value)), strlen(value));
	close(fd);
}

/* As above, without recovery: pages that are wanted no more stay for good. */
static void bad_advice_stands_without_recovery(void)
{
	struct hipec_status s;
	struct map a, b;
	size_t page;

	set_switch(RECOVERY, "N");
	open_shared(&a, "mru", FILE_A, 400, 400, false);
	open_shared(&b, "fifo", FILE_B, 400, 400, false);
	touch_range(&a, 0, 400);
	touch_beside(&b, 0, 400, &a);
	for (page = 399; page >= 288; page--)
		touch(&a, page);
	s = get_status(a.container);
	set_switch(RECOVERY, "Y");
	CHECK_EQ(s.counters.recovered, 0);
	CHECK_EQ(s.counters.faults, 400 + 112);
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
	touch_range(&a, 0, 400);
	touch_beside(&b, 0, 400, &a);
	touch_range(&a, 0, 112);
	touch(&a, 399);
	s = get_status(a.container);
	CHECK_EQ(s.counters.faults, 400 + 1);
	CHECK_EQ(s.counters.recovered, 0);
	close_map(&a);
	close_map(&b);
}

/*
 * A hoards: the manager takes its own choice, down to the last frames. A page is passed over whose
 * container's lock is held, as A's worker holds it when it looks for pages to name: it goes in
 * the next round.
 */
static void hoarder_loses_all_but_the_first(void)
{
	struct hipec_status sa, sb;
	unsigned int rounds = 0;
	struct map a, b;

	open_shared(&a, "hoard", FILE_A, POOL, POOL, false);
	sa = touch_range(&a, 0, POOL);
	CHECK_EQ(sa.frames, POOL);
	open_shared(&b, "fifo", FILE_B, POOL, 600, false);
	do {
		sb = touch_range(&b, 0, 600);
		sa = get_status(a.container);
		rounds++;
	} while (sa.frames > FIRST && rounds < 5);
	CHECK_EQ(sa.frames, FIRST);
	CHECK_EQ(sb.frames, POOL - FIRST);
	CHECK_EQ(sa.counters.given, POOL - FIRST);
	CHECK_EQ(sb.counters.faults, 600 * rounds);
	close_map(&a);
	close_map(&b);
}

/*
 * Dirty pages leave through writeback; their data is in the file then. While
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
	touch_range(&b, 0, 400);
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
	touch_range(&a, 0, 200);
	open_shared(&b, "fifo", FILE_B, 256, 100, false);
	sb = touch_range(&b, 0, 100);
	sa = get_status(a.container);
	CHECK_EQ(sa.frames, 200);
	CHECK_EQ(sa.counters.given, 0);
	CHECK_EQ(sb.frames, 56);
	CHECK_EQ(sb.counters.faults, 100);
	close_map(&a);
	close_map(&b);
	set_quota("0");
}

/* What `echo 2 >/proc/sys/vm/drop_caches` asks all shrinkers for is all there is. */
static void memory_pressure(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	struct hipec_status s;
	struct map a, b;

	open_shared(&a, "mru", FILE_A, 300, 300, false);
	open_map(&b, "mru", FILE_A, 100, 1, false);
	touch_range(&a, 0, 300);
	touch_range(&b, 0, 100);
	CHECK(fd >= 0 && write(fd, "2", 1) == 1);
	close(fd);
	s = get_status(a.container);
	CHECK_EQ(s.frames, FIRST);
	CHECK_EQ(s.counters.given, 300 - FIRST);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(pool_frames(POOL), FIRST);
	CHECK_EQ(get_status(b.container).frames, 100);
	CHECK_EQ(touch_range(&a, 0, 300).frames, 300);
	CHECK_EQ(touch_range(&b, 0, 100).counters.faults, 100);
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
		touch_range(&m, 0, POOL);
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	open_shared(&m, "fifo", FILE_A, POOL, POOL, false);
	CHECK_EQ(touch_range(&m, 0, POOL).frames, POOL);
	CHECK_EQ(pool_frames(POOL), POOL);
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
		for (i = 0; i < rounds(10); i++) {
			if (nr & 1)
				(*(volatile uint64_t *)(m.base + i * PAGE_BYTES + 8))++;
			touch_range(&m, 0, 220);
		}
		for (i = 0; i < rounds(10); i++)
			if (nr & 1)
				CHECK_EQ(*(volatile uint8_t *)(m.base + i * PAGE_BYTES + 8),
					 i + 1);
		close_map(&m);
		unlink(path);
		_exit(0);
	}
	for (nr = 0; nr < 6; nr++)
		CHECK(wait(&status) > 0 && status == 0);
	CHECK_EQ(pool_frames(POOL), 0);
}

/*
 * Dirty pages that a policy releases hold their frames until they are written,
 * which is never while the file system is frozen. So the 24 frames of the limit
 * are all in use, and there is none for the 8 pages behind a sequence: the
 * kernel's own fault on them gives up. (It got one, and the page table, of 24
 * entries, was full.) The other pages come alone, from the last to the first.
 */
static void what_leaves_counts(void)
{
	struct hipec_status s;
	uint64_t word = 5;
	struct map m;
	size_t page, i;
	ssize_t got;
	int memory, ret;

	make_file(FILE_A, 64 * PAGE_BYTES);
	m.pages = 64;
	m.file = open(FILE_A, O_RDWR);
	m.container = load_shared_log("breathe", 24, 8, NULL, 0);
	CHECK(m.file >= 0 && m.container >= 0);
	m.region = hipec_attach(m.container, m.file, 0, 0, true, NULL);
	m.base = mmap(NULL, 64 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      m.region, 0);
	memory = memfd_create("word", 0);
	CHECK(m.region >= 0 && m.base != MAP_FAILED);
	CHECK_EQ(pwrite(memory, &word, sizeof(word), 0), sizeof(word));
	CHECK(!ioctl(m.file, FIFREEZE, 0));
	for (i = 0; i < 24; i++) {
		page = i < 19 ? 18 - i : 32 + i - 19;
		m.base[page * PAGE_BYTES + 8] = page;
	}
	s = get_status(m.container);
	got = s.resident == 24 ? pread(memory, m.base + 37 * PAGE_BYTES,
				       sizeof(word), 0) : 0;
	s = get_status(m.container);
	ret = ioctl(m.file, FITHAW, 0);
	CHECK(!ret);
	CHECK_EQ(got, -1);
	CHECK_LE(s.frames, 24);
	CHECK_EQ(pread(memory, m.base + 37 * PAGE_BYTES, sizeof(word), 0),
		 sizeof(word));
	for (i = 0; i < 24; i++) {
		page = i < 19 ? 18 - i : 32 + i - 19;
		CHECK_EQ(m.base[page * PAGE_BYTES + 8], page);
	}
	close(memory);
	close_map(&m);
}

static const struct test pool_tests[] = {
	{ "a_shared_container_alone_is_like_a_reserved_one", alone },
	{ "pool_takes_the_oldest_pages", the_oldest_go },
	{ "pool_lets_the_policy_name_other_pages", the_policy_names_others },
	{ "pool_reverses_bad_advice", bad_advice_is_reversed },
	{ "pool_lets_bad_advice_stand_without_recovery",
	  bad_advice_stands_without_recovery },
	{ "pool_lets_good_advice_stand", good_advice_stands },
	{ "pool_takes_all_but_the_first_frames_of_a_hoarder",
	  hoarder_loses_all_but_the_first },
	{ "pool_writes_dirty_pages_before_it_takes_them", dirty_pages_are_written_first },
	{ "pool_keeps_to_the_quota_of_a_user", quota_of_a_user },
	{ "pool_gives_frames_back_under_memory_pressure", memory_pressure },
	{ "pool_counts_what_leaves_against_the_limit", what_leaves_counts },
	{ "pool_has_all_back_when_a_task_dies", death_gives_all_back },
	{ "pool_serves_six_tasks_that_want_more", crowd },
	{ 0 }
};
SUITE(pool_tests, 0);
