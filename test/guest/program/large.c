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
#define PAGES 450	/* of each task's file */
#define LIMIT 350	/* and of these in memory; three tasks want more than there is */

static void the_oldest_go(void)
{
	oldest_frames_go(POOL, 800);
}

struct worker {
	pthread_t thread;
	struct map m;
	bool in_place;
	unsigned int seed;
};

/* It has what make_file() wrote. */
static void read_page(int file, size_t at)
{
	unsigned char page[PAGE_BYTES];
	uint64_t word;

	CHECK(pread(file, page, PAGE_BYTES, at * PAGE_BYTES) == (ssize_t)PAGE_BYTES);
	memcpy(&word, page, sizeof(word));
	CHECK_EQ(word, page_word(at));
}

/* Pages in no order, for ever. */
static void *look_at_pages(void *arg)
{
	struct worker *w = arg;
	size_t at;

	for (;;) {
		at = rand_r(&w->seed) % PAGES;
		if (w->in_place)
			read_page(w->m.file, at);
		else
			touch_range(&w->m, at, at + 1);
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
		while (pool_frames(POOL) < POOL)
			nanosleep(&while_, NULL);
		CHECK_LE(pool_frames(POOL), POOL);
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

/* A file of so many pages that @c has and that is read from its start, each page by itself. */
static int take_and_read(int c, const char *path, size_t pages)
{
	int file;
	size_t i;

	make_file(path, pages * PAGE_BYTES);
	file = take_file(c, path, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < pages; i++)
		read_page(file, i);
	return file;
}

/*
 * Pages that a policy has named, the last that came, get other entries a second later, as its
 * table becomes shorter. They are the next to go, and no others are.
 */
static void named_pages_move(void)
{
	const size_t first = 600, second = 300, taken = 20;
	struct hipec_status s;
	int a, b, file, more;
	char path[64];
	size_t i;

	stay_here();
	a = open_cache_with("mru", first + second, HIPEC_LOAD_SHARE);
	b = open_cache_with("fifo", POOL, HIPEC_LOAD_SHARE);
	file = take_and_read(a, DIR_DATA "large-0", first);
	more = take_and_read(a, DIR_DATA "large-1", second);
	CHECK_EQ(get_status(a).frames, first + second);
	close(take_and_read(b, DIR_DATA "large-2", POOL - first - second));
	wait_named(a);
	close(file);
	CHECK(!unlink(DIR_DATA "large-0"));
	sleep(3);
	CHECK_EQ(get_status(a).frames, second);
	close(take_and_read(b, DIR_DATA "large-0", first));
	CHECK_EQ(pool_frames(POOL), POOL);
	CHECK_EQ(get_status(a).frames, second);
	make_file(DIR_DATA "large-3", taken * PAGE_BYTES);
	file = take_file(b, DIR_DATA "large-3", O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < taken; i++) {
		read_page(file, i);
		wait_named(a);
	}
	for (i = 0; i < second - taken; i++)
		read_page(more, i);
	s = get_status(a);
	CHECK_EQ(s.frames, second - taken);
	CHECK_EQ(s.counters.given, taken);
	CHECK_EQ(s.counters.read_pages, first + second);
	close(file);
	close(more);
	close(b);
	close(a);
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), DIR_DATA "large-%zu", i);
		CHECK(!unlink(path));
	}
}

static const struct test large_tests[] = {
	{ "large_pool_takes_the_oldest_pages", the_oldest_go },
	{ "large_pool_takes_named_pages_that_moved", named_pages_move },
	{ "large_pool_outlives_members_that_are_killed", members_are_killed },
	{ 0 }
};
SUITE(large_tests, BY_NAME);
