// SPDX-License-Identifier: GPL-2.0-only
/*
 * A league beside a policy in place: what its teams count is arithmetic, and the one that
 * is ahead takes over, with what it remembers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-league"

int join(int c, const char *policy)
{
	char log[256] = "";
	void *image = NULL;
	size_t size = 0;
	int team;

	if (policy)
		read_image(policy, &image, &size);
	team = hipec_join(c, 0, image, size, log, sizeof(log));
	free(image);
	return team;
}

struct hipec_standing standing_of(int c, uint32_t team)
{
	struct hipec_standing s;

	CHECK_EQ(hipec_standing(c, 0, team, &s), 0);
	return s;
}

static void read_page(int file, size_t page)
{
	uint64_t word;

	CHECK(pread(file, &word, sizeof(word), page * PAGE_BYTES) == sizeof(word));
	CHECK(word == page_word(page));
}

/* Whether team @team runs, or is about to: a worker puts it in charge, a while later. */
bool runs_soon(int c, uint32_t team)
{
	int i;

	for (i = 0; i < 50 && standing_of(c, 0).runs != team; i++)
		usleep(10000);
	return i < 50;
}

/* A loop over @pages. Return: pages that were read. */
static uint64_t loop_once(int c, int file, size_t pages)
{
	uint64_t before = get_status(c).counters.read_pages;
	size_t page;

	for (page = 0; page < pages; page++)
		read_page(file, page);
	return get_status(c).counters.read_pages - before;
}

/*
 * @rounds of them, and more if team @team does not run yet: it may have been sent back.
 * Return: pages that were read in one more, when it runs.
 */
static uint64_t loop(int c, int file, size_t pages, int rounds, uint32_t team)
{
	int most = rounds + 20;

	while (rounds-- > 1 || !runs_soon(c, team)) {
		CHECK(most--);
		loop_once(c, file, pages);
	}
	return loop_once(c, file, pages);
}

/* Nothing stays on the disk, which others need. */
static void close_league(int c, int file)
{
	close(file);
	close(c);
	unlink(FILE_A);
}

static int open_league_with(const char *policy, uint64_t frames, size_t pages, int *file,
			    uint32_t flags)
{
	int c;

	stay_here();
	make_file(FILE_A, pages * PAGE_BYTES);
	c = open_cache_with(policy, frames, flags);
	*file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(*file, 0, 0, POSIX_FADV_RANDOM));
	return c;
}

static int open_league(const char *policy, uint64_t frames, size_t pages, int *file)
{
	return open_league_with(policy, frames, pages, file, 0);
}

/* Reads on until the contract has closed a window. Return: misses of the default's team. */
static uint64_t next_window(int c, int file, size_t pages, size_t *page)
{
	uint64_t closed = get_status(c).counters.windows, before = 0;

	while (get_status(c).counters.windows == closed) {
		before = standing_of(c, 0).misses;
		read_page(file, (*page)++ % pages);
		/* The policy is told of it. */
		CHECK_LE(standing_of(c, 0).misses, before + 1);
	}
	return standing_of(c, 0).misses;
}

/*
 * Under the contract the default is the league's: its misses by the team are those that the
 * windows tell, to a miss, and no judge beside it says otherwise. After a swap by hand
 * there is one.
 */
static void contract_is_the_league_s(void)
{
	struct hipec_status s, later;
	uint64_t first, second, switches;
	size_t page = 0;
	int c, file, i;

	c = open_league_with(NULL, 800, 1000, &file, HIPEC_LOAD_CONTRACT);
	CHECK_EQ(join(c, "mru"), 1);
	/* It may be sent back once; then a window begins anew. */
	do {
		loop(c, file, 1000, 3, 1);
		switches = standing_of(c, 0).switches;
		first = next_window(c, file, 1000, &page);
		s = get_status(c);
		second = next_window(c, file, 1000, &page);
		later = get_status(c);
	} while (standing_of(c, 0).switches != switches);
	CHECK_EQ(later.counters.judged_faults - s.counters.judged_faults, 1600);
	CHECK_EQ(later.counters.default_faults - s.counters.default_faults, second - first);
	CHECK_LE(7 * 1000, second - first);
	CHECK_EQ(later.counters.bad_windows, 0);
	swap_to(c, "mru");
	for (i = 0; i < 16; i++)
		loop_once(c, file, 1000);
	s = get_status(c);
	CHECK_EQ(s.counters.windows, later.counters.windows + 2);
	CHECK_LE(later.counters.default_faults + 2 * 4000, s.counters.default_faults);
	CHECK_EQ(s.exit.kind, 0);
	close_league(c, file);
}

/*
 * All pages are in the sample. A loop over 1,000 pages in 800 frames: the default misses
 * them all, lru likewise, and mru 1,000 - 800 + 1 in each round but the first. It takes
 * over in the second, and from then on the container misses what its team does; which
 * has then the pages that the container had, some other 200.
 */
static void loop_is_mrus(void)
{
	const uint64_t less = 1000 - 800 + 1;
	struct hipec_standing s;
	int c, file;

	c = open_league(NULL, 800, 1000, &file);
	CHECK_EQ(join(c, "lru"), 1);
	CHECK_EQ(join(c, "mru"), 2);
	CHECK_EQ(loop(c, file, 1000, 4, 2), less);
	CHECK_EQ(loop(c, file, 1000, 4, 2), less);
	s = standing_of(c, 0);
	CHECK_EQ(s.nr, 3);
	CHECK_EQ(s.shift, 0);
	CHECK_EQ(s.switches, 1);
	CHECK_EQ(s.sampled, 8000);
	CHECK_EQ(s.misses, 8000);
	CHECK_EQ(s.variance, 0);
	CHECK_EQ(standing_of(c, 1).misses, 8000);
	CHECK(!strcmp(standing_of(c, 2).policy, "mru"));
	CHECK_LE(1000 + 7 * less, standing_of(c, 2).misses);
	CHECK_LE(standing_of(c, 2).misses, 1000 + 8 * less);
	/* The second round was the default's, or a part of it. */
	CHECK_EQ(s.missed, get_status(c).counters.read_pages);
	CHECK_EQ(s.saves, (int64_t)s.missed - 8000);
	CHECK_LE(1000 + 7 * less, s.missed);
	CHECK_LE(s.missed, 2000 + 7 * less);
	CHECK_EQ(get_status(c).exit.kind, 0);
	CHECK(!strcmp(get_status(c).policy, "mru"));
	close_league(c, file);
}

/* A take-over is traced, and so is a swap by hand. */
static void take_overs_are_traced(void)
{
	char text[4096], *line;
	unsigned int pages, league;
	int c, file;

	c = open_league(NULL, 800, 1000, &file);
	trace_event("swap", true);
	CHECK_EQ(join(c, "mru"), 1);
	loop(c, file, 1000, 3, 1);
	swap_to(c, "lru");
	trace_event("swap", false);
	swap_to(c, "fifo");
	trace_text(text, sizeof(text));
	line = strstr(text, "hipec_swap: ");
	/* A page may be on its way then. */
	CHECK(line && sscanf(line, "hipec_swap: container=%*u before=builtin policy=mru pages=%u league=%u",
			     &pages, &league) == 2);
	CHECK(pages == 799 || pages == 800);
	CHECK_EQ(league, 1);
	line = strstr(line + 1, "hipec_swap: ");
	CHECK(line && strstr(line, " before=mru policy=lru pages=800 league=0"));
	CHECK(!strstr(line + 1, "hipec_swap: "));
	close_league(c, file);
}

/*
 * The same with a sample of one page in two. In the beginning mru has the last pages of
 * the loop where its team has the first: it may be sent back once, and then it rehearses.
 */
static void large_loop_is_mrus(void)
{
	const size_t pages = 2500, frames = 2048;
	struct hipec_standing s;
	double share;
	int c, file;

	c = open_league(NULL, frames, pages, &file);
	CHECK_EQ(join(c, "mru"), 1);
	/* 453 if it has been in charge for a round. */
	loop(c, file, pages, 6, 1);
	CHECK_LE(loop(c, file, pages, 1, 1), pages / 2);
	s = standing_of(c, 1);
	CHECK_EQ(s.shift, 1);
	/* There are two, and it may have been sent back in that round. */
	CHECK_EQ(s.switches % 2, s.runs == 1);
	/* (2,500 + 6 x 453) of 17,500, 0.298; the sample is not exact. */
	share = (double)s.misses / s.sampled;
	CHECK(share > 0.2 && share < 0.4);
	CHECK(s.variance > 0);
	s = standing_of(c, 0);
	CHECK_EQ(s.misses, s.sampled);
	CHECK(s.saves < 0);
	close_league(c, file);
}

/* In @frames a loop over 1,000 pages misses so many in @rounds under mru. */
static uint64_t mrus_misses(uint64_t frames, int rounds)
{
	return 1000 + (frames < 1000 ? (rounds - 1) * (1000 - frames + 1) : 0);
}

/* The policy that runs plays with a quarter, a half, twice and four times the budget. */
static void curve_of_a_loop(void)
{
	static const uint32_t quarters[] = { 1, 2, 8, 16 };
	const int rounds = 4;
	struct hipec_standing s;
	int c, file, i;

	c = open_league("mru", 800, 1000, &file);
	for (i = 0; i < 4; i++)
		CHECK_EQ(hipec_join_budget(c, 0, quarters[i], NULL, 0), i + 1);
	for (i = 0; i < rounds; i++)
		loop_once(c, file, 1000);
	for (i = 0; i < 4; i++) {
		s = standing_of(c, i + 1);
		CHECK_EQ(s.nr, 5);
		CHECK_EQ(s.quarters, quarters[i]);
		CHECK_EQ(s.sampled, 1000 * rounds);
		CHECK_EQ(s.missed, mrus_misses(800, rounds));
		CHECK_EQ(s.misses, mrus_misses(200 * quarters[i], rounds));
		CHECK_EQ(s.saves, (int64_t)s.missed - (int64_t)s.misses);
		CHECK(!strcmp(s.policy, "mru"));
	}
	s = standing_of(c, 0);
	CHECK_EQ(s.quarters, 4);
	CHECK_EQ(s.switches, 0);
	CHECK_EQ(s.misses, mrus_misses(800, rounds));
	close_league(c, file);
}

/* When another policy takes over, that one plays so, from the pages that it has. */
static void curve_follows_the_league(void)
{
	struct hipec_standing before, s;
	int c, file, i;

	c = open_league(NULL, 800, 1000, &file);
	CHECK_EQ(hipec_join_budget(c, 0, 8, NULL, 0), 1);
	CHECK_EQ(join(c, "mru"), 2);
	loop_once(c, file, 1000);
	s = standing_of(c, 1);
	CHECK(!strcmp(s.policy, "builtin"));
	CHECK_EQ(s.misses, 1000);
	loop(c, file, 1000, 3, 2);
	for (i = 0; i < 50 && strcmp(standing_of(c, 1).policy, "mru"); i++)
		usleep(10000);
	loop_once(c, file, 1000);
	before = standing_of(c, 1);
	CHECK(!strcmp(before.policy, "mru"));
	CHECK_EQ(before.out, 0);
	/* It began with 800 of the pages, or one less, and has missed the others once. */
	CHECK_LE(before.misses, 201);
	loop_once(c, file, 1000);
	s = standing_of(c, 1);
	CHECK_EQ(s.misses, before.misses);
	CHECK_EQ(s.missed - before.missed, 201);
	CHECK_EQ(s.sampled - before.sampled, 1000);
	close_league(c, file);
}

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint64_t)seed * n >> 32;
}

/* A working set of half the frames, which moves on by a page at every fourth access. */
static void read_drifting(int file, size_t pages, size_t frames, int nr)
{
	static size_t moved;

	for (; nr--; moved++)
		read_page(file, (moved / 4 + below(frames / 2)) % pages);
}

/*
 * The program changes: what loops begins to read a working set that moves, of which mru
 * keeps what is old. It is not in charge any more after some of that; after more loops,
 * longer than the frames, it is again.
 */
static void phases_are_followed(void)
{
	const size_t pages = 3000, frames = 2048;
	struct hipec_standing s;
	int c, file, i;

	c = open_league(NULL, frames, pages, &file);
	CHECK_EQ(join(c, "mru"), 1);
	CHECK_EQ(join(c, "arc"), 2);
	loop(c, file, pages, 5, 1);
	for (i = 0; i < 60 && standing_of(c, 0).runs == 1; i++) {
		read_drifting(file, pages, frames, 2000);
		usleep(20000);
	}
	s = standing_of(c, 0);
	CHECK(s.runs != 1);
	CHECK_LE(2, s.switches);
	CHECK_EQ(s.out, 0);
	CHECK_EQ(get_status(c).exit.kind, 0);
	CHECK_LE(get_status(c).resident, frames);
	loop(c, file, pages, 1, 1);
	close_league(c, file);
}

#define GROUP "league"

/* A loop over 4,000 pages under a budget of 3,500. */
static void loop_in_a_group(void)
{
	struct hipec_standing s;
	int c, file, i;

	c = open_league(NULL, 3500, 4000, &file);
	CHECK_EQ(join(c, "mru"), 1);
	for (i = 0; i < 30 && !runs_soon(c, 1); i++)
		loop_once(c, file, 4000);
	loop_once(c, file, 4000);
	loop_once(c, file, 4000);
	s = standing_of(c, 0);
	CHECK_EQ(s.shift, 1);
	CHECK_EQ(s.runs, 1);
	CHECK_EQ(s.switches, 1);
	/* The limit is felt: all that does not fit in 3,500 would be 501. */
	CHECK_LE(1000, loop_once(c, file, 4000));
	close_league(c, file);
}

/*
 * Teams have as many frames as their cgroup's limit leaves the container, some 2,700: with
 * those of the budget they would have pages that it lacks, and what took over by Adopt
 * would not be what its team is.
 */
static void teams_feel_a_limit(void)
{
	new_group(GROUP, 12 << 20);
	CHECK_EQ(in_group(GROUP, loop_in_a_group), 0);
}

/* By a map the policies hear of faults, and of bits that are found; the loop is mru's. */
static void loop_of_a_map_is_mrus(void)
{
	const size_t pages = 1200, frames = 1000;
	uint64_t before = 0;
	struct map m;
	int i;

	m.container = open_league(NULL, frames, pages, &m.file);
	m.pages = pages;
	m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	CHECK(!madvise(m.base, pages * PAGE_BYTES, MADV_RANDOM));
	CHECK_EQ(join(m.container, "mru"), 1);
	for (i = 0; i < 8 || (i < 30 && !runs_soon(m.container, 1)); i++)
		touch_range(&m, 0, pages);
	CHECK_EQ(standing_of(m.container, 0).runs, 1);
	before = get_status(m.container).counters.read_pages;
	touch_range(&m, 0, pages);
	/* 201 if each touch were heard at once. */
	CHECK_LE(get_status(m.container).counters.read_pages - before, pages / 2);
	CHECK(!munmap(m.base, pages * PAGE_BYTES));
	close_league(m.container, m.file);
}

/* What is refused, and what ends a league. */
static void refusals(void)
{
	struct hipec_standing s;
	struct hipec_join a = { .size = sizeof(a), .flags = 1 };
	int c, file, i;

	c = hipec_open();
	CHECK_EQ(join(c, "mru"), -ENODATA);
	close(c);
	c = load_policy("fifo", 64, 1);
	CHECK_EQ(hipec_standing(c, 0, 0, &s), -ENODATA);
	close(c);
	c = open_league("fifo", 512, 600, &file);
	CHECK(ioctl(c, HIPEC_IOC_JOIN, &a) < 0);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(hipec_join(c, 0, "no image", 8, NULL, 0), -EINVAL);
	CHECK_EQ(hipec_join(c, 99999, NULL, 0, NULL, 0), -ESRCH);
	CHECK_EQ(join(c, "init-dies"), -ECANCELED);
	CHECK_EQ(hipec_join_budget(c, 0, 4, NULL, 0), -EINVAL);
	CHECK_EQ(hipec_join_budget(c, 0, HIPEC_MAX_QUARTERS + 1, NULL, 0), -EINVAL);
	a.flags = 0;
	a.quarters = 8;
	a.image = (uintptr_t)&a;
	a.image_size = sizeof(a);
	CHECK(ioctl(c, HIPEC_IOC_JOIN, &a) < 0);
	CHECK_EQ(errno, EINVAL);
	for (i = 1; i < HIPEC_MAX_TEAMS; i++)
		CHECK_EQ(join(c, i % 2 ? "lru" : NULL), i);
	CHECK_EQ(join(c, "mru"), -ENOSPC);
	CHECK_EQ(hipec_join_budget(c, 0, 8, NULL, 0), -ENOSPC);
	CHECK_EQ(hipec_standing(c, 0, HIPEC_MAX_TEAMS, &s), -ENOENT);
	for (i = 0; i < 3; i++)
		loop_once(c, file, 600);
	CHECK(!strcmp(standing_of(c, 0).policy, "fifo"));
	/* The user knows better: the league is no more. */
	CHECK_EQ(swap_id(c, 0, "arc", NULL, 0), 0);
	CHECK_EQ(hipec_standing(c, 0, 0, &s), -ENODATA);
	CHECK_EQ(join(c, "mru"), -EALREADY);
	loop_once(c, file, 600);
	close_league(c, file);
	/* With another budget its Init may end it, and leaves neither a team nor memory. */
	c = open_league("wants-frames", 512, 600, &file);
	CHECK_EQ(hipec_join_budget(c, 0, 1, NULL, 0), -ECANCELED);
	CHECK_EQ(hipec_join_budget(c, 0, 1, NULL, 0), -ECANCELED);
	CHECK_EQ(hipec_join_budget(c, 0, 2, NULL, 0), 1);
	CHECK_EQ(standing_of(c, 0).nr, 2);
	close_league(c, file);
	/* And where the policy is revoked by hand. */
	c = open_league("fifo", 512, 600, &file);
	CHECK_EQ(join(c, "mru"), 1);
	CHECK_EQ(hipec_revoke(c, 0), 0);
	loop_once(c, file, 600);
	CHECK_EQ(hipec_standing(c, 0, 0, &s), -ENODATA);
	CHECK_EQ(join(c, "mru"), -EALREADY);
	close_league(c, file);
}

#define THREADS 4

struct reader {
	pthread_t thread;
	int file;
	uint32_t seed;
	volatile bool *stop;
};

/* Loops, then some pages more often than others, and again. */
static void *read_in_phases(void *arg)
{
	struct reader *r = arg;
	uint32_t i, page;

	for (i = 0; !*r->stop; i++) {
		r->seed = r->seed * 1664525 + 1013904223;
		page = i % 16384 < 8192 ? i % 2048 : (r->seed >> 8) % ((r->seed >> 4) % 2048 + 1);
		read_page(r->file, page);
	}
	return NULL;
}

/* Threads read while policies take over; the league ends and another begins. */
static void threads_read_meanwhile(void)
{
	struct reader reader[THREADS];
	volatile bool stop = false;
	uint64_t switches = 0;
	int c, file, i, ret, turn;

	for (turn = 0; turn < 3; turn++) {
		make_file(FILE_A, 2048 * PAGE_BYTES);
		c = open_cache(NULL, 1024);
		file = take_file(c, FILE_A, O_RDONLY);
		CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
		stop = false;
		for (i = 0; i < THREADS; i++) {
			reader[i] = (struct reader){ .file = file, .seed = i, .stop = &stop };
			CHECK(!pthread_create(&reader[i].thread, NULL, read_in_phases,
					      &reader[i]));
		}
		CHECK_EQ(join(c, "mru"), 1);
		CHECK_EQ(join(c, "arc"), 2);
		CHECK_EQ(join(c, "lirs"), 3);
		CHECK_EQ(hipec_join_budget(c, 0, 1, NULL, 0), 4);
		CHECK_EQ(hipec_join_budget(c, 0, 16, NULL, 0), 5);
		/* A debug kernel on a busy machine takes its time. */
		for (i = 0; i < (switches ? 100 : 600) &&
		     (i < 20 || !standing_of(c, 0).switches); i++)
			usleep(200000);
		switches += standing_of(c, 0).switches;
		/* -EBUSY while one takes over. */
		for (ret = -EBUSY, i = 0; turn == 1 && ret == -EBUSY && i < 100; i++) {
			usleep(i ? 100000 : 0);
			ret = swap_id(c, 0, "lru", NULL, 0);
		}
		CHECK_EQ(turn == 1 ? ret : 0, 0);
		if (turn == 2)
			CHECK_EQ(hipec_release(c, 0, -1), 0);
		stop = true;
		for (i = 0; i < THREADS; i++)
			CHECK(!pthread_join(reader[i].thread, NULL));
		CHECK_EQ(get_status(c).exit.kind, 0);
		CHECK_LE(get_status(c).resident, 1024 + THREADS);
		close_league(c, file);
	}
	CHECK(switches > 0);
}

static const struct test cache_league_tests[] = {
	{ "league_gives_a_loop_to_mru", loop_is_mrus },
	{ "league_gives_a_large_loop_to_mru_by_a_sample", large_loop_is_mrus },
	{ "league_gives_the_loop_of_a_map_to_mru", loop_of_a_map_is_mrus },
	{ "curve_of_a_loop_is_arithmetic", curve_of_a_loop },
	{ "curve_follows_the_league", curve_follows_the_league },
	{ "league_s_take_overs_are_traced", take_overs_are_traced },
	{ "league_follows_phases", phases_are_followed },
	{ "league_refuses_and_ends", refusals },
	{ "league_changes_while_threads_read", threads_read_meanwhile },
	{ "league_in_a_cgroup_plays_with_what_its_limit_leaves", teams_feel_a_limit },
	{ "cache_league_s_default_is_what_the_contract_counts", contract_is_the_league_s },
	{ 0 }
};
SUITE(cache_league_tests, 0);
