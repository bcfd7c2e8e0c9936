// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leagues of a user without rights, whose rivals are there to hurt: what the league's
 * worker does beside the end of its container, and with pages that cannot go; and what a
 * rival may cost those who read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "rivals"
#define USER 1000

/* Calls @fn in a child of a user without rights. Return: its status. */
static int as_user(void (*fn)(long arg), long arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		CHECK(!setresgid(USER, USER, USER) && !setresuid(USER, USER, USER));
		fn(arg);
		exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

/* A file of the user's, who may open the device. */
static void make_users_file(size_t pages)
{
	make_file(FILE_A, pages * PAGE_BYTES);
	CHECK(!chown(FILE_A, USER, USER));
	CHECK(!chmod("/dev/hipec", 0666));
}

/* A Timer of another container has run twice: what was armed before has run as well. */
static void wait_for_timers(void)
{
	int c = load_policy("newest-ticks", 16, 1);

	while (operand_of(c, "ticks").value < 2)
		usleep(1000);
	close(c);
}

/* Frames, and pages of the file: of each window, 64 accesses, the rival misses fewer. */
#define FRAMES 64
#define PAGES 80
#define WINDOW 64
#define WINDOWS 20

/* All is closed and unmapped by the end of the process, at the end of window @nr. */
static void map_until(long nr)
{
	struct map m = { .container = load_policy("fifo2", FRAMES, 1), .pages = PAGES };
	long i;

	m.file = open(FILE_A, O_RDONLY);
	CHECK(m.file >= 0);
	m.region = hipec_attach(m.container, m.file, 0, 0, false, NULL);
	CHECK(m.region >= 0);
	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m.region, 0);
	CHECK(m.base != MAP_FAILED);
	CHECK_EQ(join(m.container, "newest-ticks"), 1);
	for (i = 0; i < nr * WINDOW; i++)
		touch(&m, i % PAGES);
}

/* The same of a file in place. */
static void read_until(long nr)
{
	int c = open_cache("fifo2", FRAMES), file = take_file(c, FILE_A, O_RDONLY);
	uint64_t word;
	long i;

	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(join(c, "newest-ticks"), 1);
	for (i = 0; i < nr * WINDOW; i++)
		CHECK(pread(file, &word, 8, i % PAGES * PAGE_BYTES) == 8);
}

/*
 * A container ends in each of the first windows of its league, at whose end a rival may
 * take over that has a Timer. None is armed in memory that is free: the kernel would run
 * it there.
 */
static void closed_in_each_window(void)
{
	long nr;
	int try;

	make_users_file(PAGES);
	for (nr = 1; nr <= WINDOWS; nr++) {
		for (try = 0; try < 4; try++) {
			CHECK_EQ(as_user(map_until, nr), 0);
			CHECK_EQ(as_user(read_until, nr), 0);
		}
		wait_for_timers();
	}
	unlink(FILE_A);
}

/*
 * Page @page, then those of the budget, which are locked: a window, and an access more. What the policy
 * gives up for the page cannot go, and is back when it is read.
 */
static void read_locked(int c, int file, int page)
{
	uint64_t word;
	int i;

	CHECK(pread(file, &word, 8, page * PAGE_BYTES) == 8);
	get_status(c);	/* it has tried */
	for (i = 0; i < FRAMES; i++)
		CHECK(pread(file, &word, 8, i * PAGE_BYTES) == 8);
}

/*
 * The budget's pages are locked in memory, and there is one more: more than a team has
 * entries. The rival is ahead, and takes over when they can go.
 */
static void rival_of_locked_pages(long arg)
{
	int c = open_cache("fifo2", FRAMES), file = take_file(c, FILE_A, O_RDONLY), round;
	unsigned char *base = mmap(NULL, FRAMES * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);

	(void)arg;
	CHECK(base != MAP_FAILED && !posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	sweep_read(file, FRAMES);
	CHECK(!mlock(base, FRAMES * PAGE_BYTES));
	CHECK_EQ(join(c, "mru"), 1);
	for (round = 0; round < 10; round++) {
		read_locked(c, file, FRAMES + round % 2);
		/* Time for the worker, which is to do nothing. */
		runs_soon(c, round < 2 ? 0 : 1);
	}
	CHECK_LE(standing_of(c, 1).misses + 4 * FRAMES, standing_of(c, 0).misses);
	CHECK_EQ(standing_of(c, 0).switches, 0);
	CHECK_EQ(standing_of(c, 1).out, 0);
	CHECK_LE(FRAMES + 1, get_status(c).resident);
	CHECK(!munmap(base, FRAMES * PAGE_BYTES));
	for (round = 0; round < 30 && !runs_soon(c, 1); round++)
		sweep_read(file, PAGES);
	CHECK_EQ(standing_of(c, 0).runs, 1);
	CHECK_EQ(get_status(c).exit.kind, 0);
	CHECK_LE(get_status(c).resident, FRAMES);
}

static void locked_pages(void)
{
	make_users_file(PAGES);
	CHECK_EQ(as_user(rival_of_locked_pages, 0), 0);
	unlink(FILE_A);
}

/* Each has spent its fuel in the first access, and plays no more. */
static void endless_rivals(long arg)
{
	int c = open_cache("fifo2", FRAMES), file = take_file(c, FILE_A, O_RDONLY), i;
	uint64_t word;

	(void)arg;
	for (i = 1; i < HIPEC_MAX_TEAMS; i++)
		CHECK_EQ(join(c, "endless-rival"), i);
	CHECK(pread(file, &word, 8, 0) == 8);
	for (i = 1; i < HIPEC_MAX_TEAMS; i++)
		CHECK_EQ(standing_of(c, i).out, 1);
	CHECK_EQ(standing_of(c, 0).out, 0);
	sweep_read(file, PAGES);
	for (i = 1; i < HIPEC_MAX_TEAMS; i++)
		CHECK_LE(standing_of(c, i).misses, 1);
	CHECK_LE(PAGES, standing_of(c, 0).misses);
	CHECK_EQ(get_status(c).exit.kind, 0);
}

static void endless_in_all_places(void)
{
	make_users_file(PAGES);
	CHECK_EQ(as_user(endless_rivals, 0), 0);
	unlink(FILE_A);
}

#define MANY 1800
#define READERS 18

/* A reader of pages from @first on is killed when it has read some, and dies. */
static void kill_reader(int c, int file, long first)
{
	uint64_t before = get_status(c).counters.pages_in, word;
	pid_t pid = fork();
	int status;
	long i;

	for (i = first; !pid && i < MANY; i++)
		CHECK(pread(file, &word, 8, i * PAGE_BYTES) == 8);
	CHECK(pid > 0);
	while (get_status(c).counters.pages_in < before + 2)
		usleep(1000);
	/* It has the lock again, for as long as rivals play. */
	usleep(10000);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
}

/* Misses of the rivals; @sampled gets the accesses. */
static uint64_t all_missed(int c, uint64_t *sampled)
{
	uint64_t missed = 0;
	int i;

	*sampled = standing_of(c, 0).sampled;
	for (i = 1; i < HIPEC_MAX_TEAMS; i++) {
		missed += standing_of(c, i).misses;
		CHECK_EQ(standing_of(c, i).out, 0);
	}
	return missed;
}

/*
 * Readers are killed: of one at least the access that it is in is not played to its end. All
 * rivals miss each page that is read, and so would have missed each access.
 */
static void slow_in_all_places(void)
{
	uint64_t missed, sampled;
	int c, file, i;

	make_file(FILE_A, MANY * PAGE_BYTES);
	c = open_cache("fifo2", MANY);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 1; i < HIPEC_MAX_TEAMS; i++)
		CHECK_EQ(join(c, "slow-rival"), i);
	for (i = 0; i < READERS; i++) {
		kill_reader(c, file, i * (MANY / READERS));
		missed = all_missed(c, &sampled);
		if (missed < (HIPEC_MAX_TEAMS - 1) * sampled)
			break;
	}
	CHECK_LE(missed, (HIPEC_MAX_TEAMS - 1) * sampled - 1);
	close(file);
	close(c);
	unlink(FILE_A);
}

static const struct test rival_tests[] = {
	{ "league_s_containers_end_in_each_window_and_no_timer_is_left", closed_in_each_window },
	{ "league_s_rival_waits_while_more_pages_are_held_than_it_has_entries", locked_pages },
	{ "endless_rivals_in_all_places_are_out_after_one_page", endless_in_all_places },
	{ "reader_beside_slow_rivals_in_all_places_can_be_killed", slow_in_all_places },
	{ 0 }
};
SUITE(rival_tests, 0);
