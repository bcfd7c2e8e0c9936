// SPDX-License-Identifier: GPL-2.0-only
/*
 * A league beside a policy of regions, whose hits are heard by faults and by referenced
 * bits; and of containers that share, whose teams have as many frames as they have.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_A DIR_DATA "league"
#define FILE_B DIR_DATA "league-beside"

/* Nothing stays on the disk, which others need. */
static void end_map(struct map *m, const char *path)
{
	close_map(m);
	unlink(path);
}

/* Return: pages that a loop over all of @m read. */
static uint64_t loop_once(struct map *m)
{
	uint64_t before = get_status(m->container).counters.pages_in;

	return touch_range(m, 0, m->pages).counters.pages_in - before;
}

/* Loops, until team @team runs. */
static void loop_until(struct map *m, uint32_t team)
{
	int most = 30;

	do {
		CHECK(most--);
		loop_once(m);
	} while (!runs_soon(m->container, team));
}

/*
 * All pages are in the sample. A loop over 1,000 pages in 800 frames: the default misses
 * all of them, so all are heard at once; mru misses 1,000 - 800 + 1 in each round.
 */
static void regions(void)
{
	const uint64_t less = 1000 - 800 + 1;
	struct hipec_standing s;
	struct map m;

	make_file(FILE_A, 1000 * PAGE_BYTES);
	open_map(&m, "fifo2", FILE_A, 800, 1, false);
	CHECK_EQ(join(m.container, "lru"), 1);
	CHECK_EQ(join(m.container, "mru"), 2);
	loop_until(&m, 2);
	loop_once(&m);
	CHECK_EQ(loop_once(&m), less);
	CHECK_EQ(loop_once(&m), less);
	s = standing_of(m.container, 0);
	CHECK_EQ(s.shift, 0);
	CHECK_EQ(s.switches, 1);
	CHECK_EQ(s.missed, get_status(m.container).counters.pages_in);
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	CHECK_EQ(get_status(m.container).frames, 800);
	end_map(&m, FILE_A);
}

/* Of these one page in two is in the sample, so mru rehearses or begins with Init. */
static void large_regions(void)
{
	struct map m;

	make_file(FILE_A, 3000 * PAGE_BYTES);
	open_map(&m, "fifo2", FILE_A, 2400, 8, false);
	CHECK_EQ(join(m.container, "mru"), 1);
	loop_until(&m, 1);
	CHECK_EQ(standing_of(m.container, 0).shift, 1);
	loop_once(&m);
	CHECK_LE(loop_once(&m), (3000 - 2400) * 5 / 4);
	end_map(&m, FILE_A);
}

/* The pages of a region that is written to are all there when policies have changed. */
static void written_regions(void)
{
	size_t page, round;
	struct map m;
	int fd;

	make_file(FILE_A, 600 * PAGE_BYTES);
	open_map(&m, "fifo2", FILE_A, 400, 1, true);
	CHECK_EQ(join(m.container, "mru"), 1);
	CHECK_EQ(join(m.container, "arc"), 2);
	for (round = 0; round < 6; round++)
		for (page = 0; page < 600; page++)
			*(uint64_t *)(m.base + page * PAGE_BYTES + 64) = round << 32 | page;
	CHECK(standing_of(m.container, 0).switches);
	CHECK_EQ(get_status(m.container).counters.write_errors, 0);
	close_map(&m);
	fd = open(FILE_A, O_RDONLY);
	for (page = 0; page < 600; page++) {
		uint64_t word;

		CHECK(pread(fd, &word, sizeof(word), page * PAGE_BYTES + 64) == sizeof(word));
		CHECK_EQ(word, (uint64_t)5 << 32 | page);
	}
	close(fd);
	unlink(FILE_A);
}

/*
 * Of the pool's 512 frames 16 are another's, which never loses them, so a loop over 500
 * pages has 496. A team with the 500 frames of the budget misses nothing, whatever its
 * policy. With those that the container has, fifo misses all and mru what does not fit.
 */
static void shared(void)
{
	struct map a, b;

	open_shared(&a, "fifo", FILE_A, 500, 500, false);
	open_shared(&b, "fifo", FILE_B, 16, 16, false);
	CHECK_EQ(touch_range(&b, 0, 16).frames, 16);
	CHECK_EQ(join(a.container, "mru"), 1);
	loop_until(&a, 1);
	CHECK_LE(500, (int64_t)standing_of(a.container, 1).misses);
	loop_once(&a);
	/* 5 do not fit; 12 were seen. */
	CHECK_LE(loop_once(&a), 16);
	CHECK_EQ(get_status(a.container).exit.kind, 0);
	end_map(&a, FILE_A);
	end_map(&b, FILE_B);
}

/* The same of files in place. */
static void shared_in_place(void)
{
	int c, file, round, i;
	uint64_t word;

	stay_here();
	make_file(FILE_A, 400 * PAGE_BYTES);
	c = open_cache_with("fifo", 300, HIPEC_LOAD_SHARE);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK_EQ(join(c, "mru"), 1);
	for (round = 0; round < 30 && !runs_soon(c, 1); round++)
		for (i = 0; i < 400; i++)
			CHECK(pread(file, &word, 8, i * PAGE_BYTES) == 8 && word == page_word(i));
	CHECK_EQ(standing_of(c, 0).runs, 1);
	CHECK_EQ(standing_of(c, 0).out, 0);
	CHECK_EQ(get_status(c).exit.kind, 0);
	close(file);
	close(c);
	unlink(FILE_A);
}

static const struct test league_tests[] = {
	{ "league_of_regions_finds_the_policy_of_a_loop", regions },
	{ "league_of_large_regions_plays_a_sample", large_regions },
	{ "policies_change_and_no_page_that_was_written_is_lost", written_regions },
	{ "league_of_a_share_has_the_frames_of_the_share", shared },
	{ "league_of_a_share_in_place_finds_the_policy_of_a_loop", shared_in_place },
	{ 0 }
};
SUITE(league_tests, 0);
