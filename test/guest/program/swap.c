// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another policy for a container in use: what was cached stays, what fails changes
 * nothing. By arithmetic: all reads are of one page but where it says so.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../../../module/include/uapi/hipec_ops.h"
#include "guest.h"

#define FILE_S DIR_DATA "swap"
#define PAGES 64
#define FRAMES 16
#define OLDEST (PAGES - FRAMES)	/* page that is left of a sweep */

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

int swap_id(int fd, uint64_t id, const char *policy, char *log, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), DIR_POLICIES "%s.hpo", policy ?: "");
	return hipec_swap_file(fd, id, policy ? path : NULL, log, size);
}

void swap_to(int container, const char *policy)
{
	char log[512] = "";
	int ret = swap_id(container, 0, policy, log, sizeof(log));

	if (ret)
		FAIL("swap to %s: %s", policy ?: "none", log);
}

/* Of FRAMES frames, which hold the last pages of a sweep, in their order. */
static void open_swept(struct map *m, const char *policy)
{
	make_file(FILE_S, PAGES * PAGE_BYTES);
	open_map(m, policy, FILE_S, FRAMES, 1, false);
	CHECK_EQ(pass_faults(m, 0, PAGES), PAGES);
}

/*
 * FIFO leaves the last 16 of 64 pages, the oldest at the head. MRU adopts them, reads
 * nothing, and gives 63 up first, then what came in last: 48 to 62 stay for good, and
 * each pass misses 0 to 47 and 63.
 */
static void keeps_frames(void)
{
	struct hipec_status before, s;
	struct map m;
	int i;

	open_swept(&m, "fifo");
	before = get_status(m.container);
	swap_to(m.container, "mru");
	s = get_status(m.container);
	CHECK(!strcmp(s.policy, "mru"));
	CHECK_EQ(s.resident, FRAMES);
	CHECK_EQ(s.frames, FRAMES);
	CHECK_EQ(s.counters.faults, before.counters.faults);
	CHECK(s.counters.commands > before.counters.commands);
	CHECK_EQ(pass_faults(&m, OLDEST, PAGES), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(pass_faults(&m, 0, PAGES), PAGES - FRAMES + 1);
	s = get_status(m.container);
	CHECK_EQ(s.counters.read_pages, PAGES + 3 * (PAGES - FRAMES + 1));
	CHECK_EQ(s.counters.forgotten, 0);
	CHECK_EQ(s.counters.helped, 0);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	close_map(&m);
}

/* Without Adopt what was there goes first, the oldest before the others. */
static void without_adopt(void)
{
	struct map m;

	open_swept(&m, "fifo");
	swap_to(m.container, "keep-first");
	CHECK_EQ(pass_faults(&m, 0, 8), 8);
	CHECK_EQ(pass_faults(&m, OLDEST + 8, PAGES), 0);
	CHECK_EQ(get_status(m.container).counters.forgotten, 8);
	CHECK_EQ(pass_faults(&m, 8, 16), 8);
	CHECK_EQ(get_status(m.container).counters.forgotten, 16);
	CHECK_EQ(pass_faults(&m, 0, 16), 0);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	close_map(&m);
}

/* To the built-in replacement, and from it. */
static void builtin(void)
{
	struct map m;

	open_swept(&m, "mru");	/* 0 to 14, and 63 */
	swap_to(m.container, NULL);
	CHECK(!strcmp(get_status(m.container).policy, "builtin"));
	CHECK_EQ(pass_faults(&m, 0, 15) + pass_faults(&m, 63, 64), 0);
	CHECK_EQ(pass_faults(&m, 16, 48), 32);
	swap_to(m.container, "mru");
	CHECK_EQ(pass_faults(&m, 47, 48), 0);
	CHECK_EQ(get_status(m.container).resident, FRAMES);
	CHECK_EQ(pass_faults(&m, 48, 63), 15);
	/* MRU had one frame for all of them. */
	CHECK_EQ(pass_faults(&m, 48, 62), 14);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	close_map(&m);
}

/* Adopt runs once for each page, in order; it may queue it and nothing else. */
static void adopt_is_bound(void)
{
	struct hipec_status s;
	struct map m;

	open_swept(&m, "fifo");
	swap_to(m.container, "adopt-greedy");
	CHECK_EQ(value_of(&m, "early"), 0);
	CHECK_EQ(value_of(&m, "adopted"), FRAMES);
	CHECK_EQ(value_of(&m, "disorder"), 0);
	CHECK_EQ(value_of(&m, "first"), OLDEST);
	CHECK_EQ(value_of(&m, "last"), PAGES - 1);
	CHECK_EQ(value_of(&m, "wrong"), 0);
	CHECK_EQ(value_of(&m, "gone"), 0);
	CHECK_EQ(value_of(&m, "more"), 0);
	CHECK_EQ(value_of(&m, "read"), 0);
	CHECK_EQ(value_of(&m, "faulted"), 0);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.resident, FRAMES);
	/* Then it is a policy like others. */
	CHECK_EQ(pass_faults(&m, 0, OLDEST), OLDEST);
	CHECK_EQ(value_of(&m, "faulted"), OLDEST);
	close_map(&m);
}

/* Try to swap, in vain; the words are those of why. */
static void refused(const struct map *m, const char *policy, int want,
		    const char *words)
{
	char log[512] = "";

	CHECK_EQ(swap_id(m->container, 0, policy, log, sizeof(log)), want);
	if (!strstr(log, words))
		FAIL("%s: '%s' is not in '%s'", policy, words, log);
}

/*
 * The policy of params.c, which with its youngest at work misses 25 of 32 pages in
 * 8 frames, whatever is tried between two passes.
 */
static void failed_swap_changes_nothing(void)
{
	static const struct {
		const char *policy, *words;
	} bad[] = {
		{ "adopt-dies", "division by zero in Adopt+" },
		{ "init-dies", "division by zero in Init+" },
		{ "adopt-endless", "more commands than it may in Adopt+" },
	};
	static char junk[300];
	struct hipec_status s;
	char log[256] = "";
	struct map m;
	size_t i;

	make_file(FILE_S, 32 * PAGE_BYTES);
	open_map(&m, "ends", FILE_S, 8, 1, false);
	CHECK_EQ(hipec_set_param(m.container, "youngest", 1), 0);
	CHECK_EQ(pass_faults(&m, 0, 32), 32);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_EQ(pass_faults(&m, 0, 32), 25);
		refused(&m, bad[i].policy, -ECANCELED, bad[i].words);
		s = get_status(m.container);
		CHECK_EQ(s.exit.kind, EXIT_NONE);
		CHECK(!strcmp(s.policy, "ends"));
		CHECK_EQ(s.resident, 8);
		CHECK_EQ(value_of(&m, "youngest"), 1);
	}
	CHECK_EQ(pass_faults(&m, 0, 32), 25);
	CHECK_EQ(hipec_swap(m.container, 0, junk, sizeof(junk), log,
			    sizeof(log)), -EINVAL);
	CHECK(strstr(log, "no compiled policy"));
	CHECK_EQ(hipec_swap(m.container, 1ull << 60, NULL, 0, NULL, 0), -ESRCH);
	CHECK_EQ(pass_faults(&m, 0, 32), 25);
	CHECK_EQ(get_status(m.container).counters.forgotten, 0);
	CHECK_EQ(get_status(m.container).counters.helped, 0);
	close_map(&m);
}

/* Each Adopt may be long, but not all of them: 4096 + 64 commands a page, 4 times. */
static void adopt_pays(void)
{
	struct map m;

	make_file(FILE_S, 400 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_S, 200, 1, false);
	pass_faults(&m, 0, 10);
	swap_to(m.container, "adopt-slow");	/* 10 times 3,000 commands, of 67,584 */
	swap_to(m.container, "fifo");
	pass_faults(&m, 0, 400);
	refused(&m, "adopt-slow", -ECANCELED, "more commands than it may");
	CHECK(!strcmp(get_status(m.container).policy, "fifo"));
	CHECK_EQ(pass_faults(&m, 200, 400), 0);
	close_map(&m);
}

/*
 * Kill a task @ms after it has begun to swap in a policy whose Adopt has much fuel.
 * Return: whether it died of it; then nothing was swapped.
 */
static bool dies_in_adopt(unsigned int ms)
{
	struct hipec_status s;
	int begun[2], status;
	struct map m;
	pid_t pid;
	char c;

	CHECK(!pipe(begun));
	open_map(&m, "fifo", FILE_S, 16384, 1, false);
	touch(&m, 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(write(begun[1], "x", 1) == 1);
		swap_id(m.container, 0, "adopt-endless", NULL, 0);
		_exit(0);
	}
	CHECK(read(begun[0], &c, 1) == 1);
	usleep(ms * 1000);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	close(begun[0]);
	close(begun[1]);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK(!strcmp(s.policy, "fifo"));
	CHECK_EQ(pass_faults(&m, 0, 1), 0);
	CHECK_EQ(pass_faults(&m, 1, 2), 1);
	close_map(&m);
	return WIFSIGNALED(status);
}

static void killed_in_adopt(void)
{
	unsigned int ms, died = 0;

	make_file(FILE_S, 32 * PAGE_BYTES);
	set_switch("/sys/module/hipec/parameters/quantum_us", "0");
	for (ms = 1; ms < 12; ms += 3)
		died += dies_in_adopt(ms);
	set_switch("/sys/module/hipec/parameters/quantum_us", "10000");
	CHECK(died);
}

/* What the application shares it goes on sharing, wherever the slot is now. */
static void shared_arrays(void)
{
	int64_t *level, *again;
	struct map m;
	size_t nr;

	make_file(FILE_S, 700 * PAGE_BYTES);
	open_map(&m, "shared", FILE_S, 8, 1, false);
	CHECK_EQ(hipec_shared(m.container, "level", &level, &nr), 0);
	level[5] = 77;
	swap_to(m.container, "shared-moved");
	CHECK(operand_of(m.container, "level").slot !=
	      operand_of(m.container, "before").slot);
	touch(&m, 5);
	CHECK_EQ(value_of(&m, "seen"), 77);
	level[650] = -9;	/* on a page of it that was not touched before */
	touch(&m, 650);
	CHECK_EQ(value_of(&m, "seen"), -9);
	CHECK_EQ(value_of(&m, "seen_before"), 0);
	CHECK_EQ(hipec_shared(m.container, "level", &again, &nr), 0);
	CHECK_EQ(again[5], 77);
	again[6] = 78;
	CHECK_EQ(level[6], 78);
	munmap(again, nr * sizeof(*again));

	/* A policy without it: the memory is the application's alone. */
	swap_to(m.container, "fifo");
	CHECK_EQ(hipec_shared(m.container, "level", &again, &nr), -ENOENT);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, m.container,
		   HIPEC_SHARED_OFFSET(2)) == MAP_FAILED && errno == ENXIO);
	level[6] = 79;
	CHECK_EQ(level[6] + level[5] + level[650], 79 + 77 - 9);
	/* And a new array for who declares it again. */
	swap_to(m.container, "shared");
	touch(&m, 6);
	CHECK_EQ(value_of(&m, "seen"), 0);
	CHECK_EQ(hipec_shared(m.container, "level", &again, &nr), 0);
	again[7] = 80;
	touch(&m, 7);
	CHECK_EQ(value_of(&m, "seen"), 80);
	close_map(&m);
	CHECK_EQ(level[6], 79);
	munmap(level, nr * sizeof(*level));
	munmap(again, nr * sizeof(*again));
}

/* A page of an array that is first touched when its policy is no more. */
static void shared_untouched(void)
{
	int64_t *level;
	struct map m;
	size_t nr;

	make_file(FILE_S, 16 * PAGE_BYTES);
	open_map(&m, "shared", FILE_S, 8, 1, false);
	CHECK_EQ(hipec_shared(m.container, "level", &level, &nr), 0);
	swap_to(m.container, "fifo");
	level[0] = 1;
	level[1023] = 2;
	CHECK_EQ(level[0] + level[1023], 3);
	pass_faults(&m, 0, 16);
	close_map(&m);
	CHECK_EQ(level[0] + level[1023], 3);
	munmap(level, nr * sizeof(*level));
}

/* Written pages are written pages to the next policy, and reach the file. */
static void dirty_pages(void)
{
	struct map m;
	uint64_t word;
	size_t i;

	make_file(FILE_S, PAGES * PAGE_BYTES);
	open_map(&m, "fifo", FILE_S, FRAMES, 1, true);
	for (i = 0; i < FRAMES; i++)
		*(volatile uint64_t *)(m.base + i * PAGE_BYTES) = i + 1000;
	CHECK_EQ(get_status(m.container).dirty, FRAMES);
	swap_to(m.container, "mru");
	CHECK_EQ(get_status(m.container).dirty, FRAMES);
	refused(&m, "adopt-dies", -ECANCELED, "");
	CHECK_EQ(get_status(m.container).dirty, FRAMES);
	for (i = FRAMES; i < PAGES; i++)
		touch(&m, i);
	CHECK(!fsync(m.region));
	for (i = 0; i < FRAMES; i++) {
		CHECK_EQ(pread(m.file, &word, sizeof(word), i * PAGE_BYTES),
			 sizeof(word));
		CHECK_EQ(word, i + 1000);
	}
	close_map(&m);
}

/* The ghosts of one policy are no business of the next; its table stays longer. */
static void ghosts_stay_behind(void)
{
	struct map m;

	make_file(FILE_S, 16 * PAGE_BYTES);
	open_map(&m, "ghosts", FILE_S, 8, 1, false);
	CHECK_EQ(pass_faults(&m, 0, 16), 16);
	CHECK_EQ(get_status(m.container).ghosts, 8);
	swap_to(m.container, "fifo");
	CHECK_EQ(get_status(m.container).ghosts, 0);
	CHECK_EQ(pass_faults(&m, 8, 16), 0);
	CHECK_EQ(pass_faults(&m, 0, 16), 16);
	swap_to(m.container, "ghosts");
	CHECK_EQ(pass_faults(&m, 0, 16), 16);
	CHECK_EQ(pass_faults(&m, 0, 16), 16);
	CHECK(get_status(m.container).ghosts > 0);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	swap_to(m.container, "random2");
	pass_faults(&m, 0, 16);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	close_map(&m);
}

/* Timer is the new policy's or nobody's, from the moment of the swap. */
static void timers(void)
{
	struct map m;
	int i;

	make_file(FILE_S, 16 * PAGE_BYTES);
	open_map(&m, "events", FILE_S, 8, 1, false);
	for (i = 0; i < 30; i++) {
		swap_to(m.container, "fifo");
		usleep(1000 * (i % 13));
		swap_to(m.container, "events");
		usleep(1000 * (i % 17));
	}
	while (value_of(&m, "ticks") < 3)
		;
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	close_map(&m);
}

/* A record tells of one policy: it ends with it, and the next one can begin. */
static void records_end(void)
{
	struct pollfd p = { .events = POLLIN };
	static char buf[1 << 16];
	struct map m;
	ssize_t n;

	open_swept(&m, "fifo");
	p.fd = hipec_record(m.container, 0, 0);
	CHECK(p.fd >= 0);
	refused(&m, "adopt-dies", -ECANCELED, "");
	touch(&m, 0);
	CHECK_EQ(hipec_record(m.container, 0, 0), -EBUSY);
	swap_to(m.container, "mru");
	touch(&m, 1);
	while ((n = read(p.fd, buf, sizeof(buf))) > 0)
		;
	CHECK_EQ(n, 0);
	close(p.fd);
	p.fd = hipec_record(m.container, 0, 0);
	CHECK(p.fd >= 0);
	swap_to(m.container, "ghosts");
	close(p.fd);
	close_map(&m);
}

/* A sampler goes on: it tells of accesses, not of policies. */
static void samples_go_on(void)
{
	char buf[4096];
	struct map m;
	int fd;

	open_swept(&m, "fifo");
	fd = hipec_sample(m.container, 0, 1ull << 32, 0);
	CHECK(fd >= 0 && !fcntl(fd, F_SETFL, O_NONBLOCK));
	swap_to(m.container, "mru");
	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EAGAIN);
	touch(&m, 0);
	CHECK(read(fd, buf, sizeof(buf)) > 0);
	close(fd);
	close_map(&m);
}

static const struct test swap_tests[] = {
	{ "swap_keeps_what_is_cached", keeps_frames },
	{ "swap_without_adopt_gives_old_pages_up_first", without_adopt },
	{ "swap_from_and_to_the_builtin_replacement", builtin },
	{ "adopt_runs_once_a_page_and_may_not_give_it_up", adopt_is_bound },
	{ "swap_that_fails_changes_nothing", failed_swap_changes_nothing },
	{ "adopt_events_share_one_budget", adopt_pays },
	{ "swap_may_be_killed", killed_in_adopt },
	{ "swap_keeps_shared_arrays", shared_arrays },
	{ "swap_leaves_arrays_that_nobody_declares", shared_untouched },
	{ "swap_keeps_dirty_pages", dirty_pages },
	{ "swap_forgets_ghosts", ghosts_stay_behind },
	{ "swap_begins_timers_anew", timers },
	{ "swap_ends_a_record", records_end },
	{ "swap_leaves_samples_alone", samples_go_on },
	{ 0 }
};
SUITE(swap_tests, 0);
