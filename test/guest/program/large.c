// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pool of 1,024 frames (run.sh): so large that its members isolate several of the manager's
 * next victims, and look at them without the pool's lock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

#define POOL 1024
#define TASKS 4
#define THREADS 2
#define PAGES 450	/* of each task's file */
#define LIMIT 350	/* and of these in memory; three tasks want more than there is */

static uint64_t pool_frames(void)
{
	struct hipec_query q = { 0 };
	int fd = hipec_open();

	CHECK(fd >= 0 && !hipec_query(fd, &q));
	close(fd);
	CHECK_EQ(q.pool_max, POOL);
	return q.pool_frames;
}

/* A has 800 frames, B gets the other 224 and then the 576 of A's that are the oldest. */
static void the_oldest_go(void)
{
	struct hipec_status sa, sb;
	struct map a, b;

	open_shared(&a, "fifo", DIR_DATA "large-a", 800, 800, false);
	open_shared(&b, "fifo", DIR_DATA "large-b", 800, 800, false);
	touch_range(&a, 0, 800);
	sb = touch_beside(&b, 0, POOL - 800, &a);
	CHECK_EQ(sb.frames, POOL - 800);
	CHECK_EQ(get_status(a.container).frames, 800);
	sb = touch_beside(&b, POOL - 800, 800, &a);
	sa = get_status(a.container);
	CHECK_EQ(sb.frames, 800);
	CHECK_EQ(sb.counters.given, 0);
	CHECK_EQ(sa.frames, POOL - 800);
	CHECK_EQ(sa.counters.given, 576);
	CHECK_EQ(sa.counters.faults, 800);
	/* These are here still. */
	CHECK_EQ(touch_range(&a, 576, 800).counters.faults, 800);
	CHECK_EQ(pool_frames(), POOL);
	close_map(&a);
	/* What B had isolated of A's is nothing to B's next pages. */
	CHECK_EQ(touch_range(&b, 0, 800).counters.faults, 800);
	CHECK_EQ(pool_frames(), 800);
	close_map(&b);
	unlink(DIR_DATA "large-a");
	unlink(DIR_DATA "large-b");
}

struct worker {
	pthread_t thread;
	struct map m;
	bool in_place;
	unsigned int seed;
};

/* Pages in no order, for ever: each has what make_file() wrote. */
static void *look_at_pages(void *arg)
{
	struct worker *w = arg;
	unsigned char page[PAGE_BYTES];
	uint64_t word;
	size_t at;

	for (;;) {
		at = rand_r(&w->seed) % PAGES;
		if (!w->in_place) {
			touch_range(&w->m, at, at + 1);
			continue;
		}
		CHECK(pread(w->m.file, page, PAGE_BYTES, at * PAGE_BYTES) == (ssize_t)PAGE_BYTES);
		memcpy(&word, page, sizeof(word));
		CHECK_EQ(word, page_word(at));
	}
	return NULL;
}

/* Task @nr: every other one has its file in place. */
static void work(int nr, unsigned int seed)
{
	static const char *const policy[] = { "fifo", "lru", "mru", "fifo2" };
	struct worker w = { .in_place = nr & 1 }, other;
	char path[64];

	snprintf(path, sizeof(path), DIR_DATA "large-%d", nr);
	if (w.in_place) {
		w.m.container = open_cache_with(policy[nr], LIMIT, HIPEC_LOAD_SHARE);
		w.m.file = take_file(w.m.container, path, O_RDONLY);
		CHECK(!posix_fadvise(w.m.file, 0, 0, POSIX_FADV_RANDOM));
	} else {
		map_shared(&w.m, policy[nr], path, LIMIT, PAGES, false);
	}
	w.seed = seed;
	other = w;
	other.seed = seed + 100;
	CHECK(!pthread_create(&other.thread, NULL, look_at_pages, &other));
	look_at_pages(&w);
}

static pid_t start(int nr, unsigned int seed)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		work(nr, seed);
		_exit(1);
	}
	return pid;
}

static void stop(pid_t pid)
{
	int status;

	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid);
	/* It has found no page of another. */
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Members end while others look at their pages: nobody sees another's, and all frames are back. */
static void members_are_killed(void)
{
	const struct timespec while_ = { .tv_nsec = 20000000 };
	pid_t pid[TASKS];
	char path[64];
	int i, nr;

	for (nr = 0; nr < TASKS; nr++) {
		snprintf(path, sizeof(path), DIR_DATA "large-%d", nr);
		make_file(path, PAGES * PAGE_BYTES);
		pid[nr] = start(nr, nr);
	}
	for (i = 0; i < rounds(24); i++) {
		while (pool_frames() < POOL)
			nanosleep(&while_, NULL);
		CHECK_LE(pool_frames(), POOL);
		nr = i % TASKS;
		stop(pid[nr]);
		pid[nr] = start(nr, TASKS + i);
	}
	for (nr = 0; nr < TASKS; nr++) {
		stop(pid[nr]);
		snprintf(path, sizeof(path), DIR_DATA "large-%d", nr);
		CHECK(!unlink(path));
	}
}

const struct test large_tests[] = {
	{ "large_pool_takes_the_oldest_pages", the_oldest_go },
	{ "large_pool_outlives_members_that_are_killed", members_are_killed },
	{ 0 }
};
