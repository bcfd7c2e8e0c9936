// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another policy for a container in use: what was cached stays, what fails changes
 * nothing; revoked by hand; where a page stands. By arithmetic: all reads are of one
 * page but where it says so.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../../module/include/uapi/hipec_ops.h"
#include "guest.h"

#define FILE_S DIR_DATA "swap"
#define PAGES 64
#define FRAMES 16
#define OLDEST (PAGES - FRAMES)	/* page that is left of a sweep */
#define READMIT "/sys/module/hipec/parameters/readmit_ms"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

static uint64_t faults(const struct map *m)
{
	return get_status(m->container).counters.faults;
}

/* Faults of one pass over pages [first, end). */
static uint64_t pass(const struct map *m, size_t first, size_t end)
{
	uint64_t before = faults(m);

	for (; first < end; first++)
		touch(m, first);
	return faults(m) - before;
}

static struct hipec_operand operand(int container, const char *name)
{
	struct hipec_operand o;
	uint32_t slot;

	for (slot = 0; !hipec_operand(container, 0, slot, &o); slot++)
		if (!strcmp(o.name, name))
			return o;
	FAIL("there is no '%s'", name);
}

static int64_t value(const struct map *m, const char *name)
{
	return operand(m->container, name).value;
}

/* NULL: the built-in replacement. */
static int swap_id(int fd, uint64_t id, const char *policy, char *log,
		   size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), DIR_POLICIES "%s.hpo", policy ?: "");
	return hipec_swap_file(fd, id, policy ? path : NULL, log, size);
}

static void swap_to(const struct map *m, const char *policy)
{
	char log[512] = "";
	int ret = swap_id(m->container, 0, policy, log, sizeof(log));

	if (ret)
		FAIL("swap to %s: %s", policy ?: "none", log);
}

/* Of FRAMES frames, which hold the last pages of a sweep, in their order. */
static void open_swept(struct map *m, const char *policy)
{
	make_file(FILE_S, PAGES * PAGE_BYTES);
	open_map(m, policy, FILE_S, FRAMES, 1, false);
	CHECK_EQ(pass(m, 0, PAGES), PAGES);
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
	swap_to(&m, "mru");
	s = get_status(m.container);
	CHECK(!strcmp(s.policy, "mru"));
	CHECK_EQ(s.resident, FRAMES);
	CHECK_EQ(s.frames, FRAMES);
	CHECK_EQ(s.counters.faults, before.counters.faults);
	CHECK(s.counters.commands > before.counters.commands);
	CHECK_EQ(pass(&m, OLDEST, PAGES), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(pass(&m, 0, PAGES), PAGES - FRAMES + 1);
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
	swap_to(&m, "keep-first");
	CHECK_EQ(pass(&m, 0, 8), 8);
	CHECK_EQ(pass(&m, OLDEST + 8, PAGES), 0);
	CHECK_EQ(get_status(m.container).counters.forgotten, 8);
	CHECK_EQ(pass(&m, 8, 16), 8);
	CHECK_EQ(get_status(m.container).counters.forgotten, 16);
	CHECK_EQ(pass(&m, 0, 16), 0);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	close_map(&m);
}

/* To the built-in replacement, and from it. */
static void builtin(void)
{
	struct map m;

	open_swept(&m, "mru");	/* 0 to 14, and 63 */
	swap_to(&m, NULL);
	CHECK(!strcmp(get_status(m.container).policy, "builtin"));
	CHECK_EQ(pass(&m, 0, 15) + pass(&m, 63, 64), 0);
	CHECK_EQ(pass(&m, 16, 48), 32);
	swap_to(&m, "mru");
	CHECK_EQ(pass(&m, 47, 48), 0);
	CHECK_EQ(get_status(m.container).resident, FRAMES);
	CHECK_EQ(pass(&m, 48, 63), 15);
	/* MRU had one frame for all of them. */
	CHECK_EQ(pass(&m, 48, 62), 14);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	close_map(&m);
}

/* Adopt runs once for each page, in order; it may queue it and nothing else. */
static void adopt_is_bound(void)
{
	struct hipec_status s;
	struct map m;

	open_swept(&m, "fifo");
	swap_to(&m, "adopt-greedy");
	CHECK_EQ(value(&m, "early"), 0);
	CHECK_EQ(value(&m, "adopted"), FRAMES);
	CHECK_EQ(value(&m, "disorder"), 0);
	CHECK_EQ(value(&m, "first"), OLDEST);
	CHECK_EQ(value(&m, "last"), PAGES - 1);
	CHECK_EQ(value(&m, "wrong"), 0);
	CHECK_EQ(value(&m, "gone"), 0);
	CHECK_EQ(value(&m, "more"), 0);
	CHECK_EQ(value(&m, "read"), 0);
	CHECK_EQ(value(&m, "faulted"), 0);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.resident, FRAMES);
	/* Then it is a policy like others. */
	CHECK_EQ(pass(&m, 0, OLDEST), OLDEST);
	CHECK_EQ(value(&m, "faulted"), OLDEST);
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
	CHECK_EQ(pass(&m, 0, 32), 32);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_EQ(pass(&m, 0, 32), 25);
		refused(&m, bad[i].policy, -ECANCELED, bad[i].words);
		s = get_status(m.container);
		CHECK_EQ(s.exit.kind, EXIT_NONE);
		CHECK(!strcmp(s.policy, "ends"));
		CHECK_EQ(s.resident, 8);
		CHECK_EQ(value(&m, "youngest"), 1);
	}
	CHECK_EQ(pass(&m, 0, 32), 25);
	CHECK_EQ(hipec_swap(m.container, 0, junk, sizeof(junk), log,
			    sizeof(log)), -EINVAL);
	CHECK(strstr(log, "no compiled policy"));
	CHECK_EQ(hipec_swap(m.container, 1ull << 60, NULL, 0, NULL, 0), -ESRCH);
	CHECK_EQ(pass(&m, 0, 32), 25);
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
	pass(&m, 0, 10);
	swap_to(&m, "adopt-slow");	/* 10 times 3,000 commands, of 67,584 */
	swap_to(&m, "fifo");
	pass(&m, 0, 400);
	refused(&m, "adopt-slow", -ECANCELED, "more commands than it may");
	CHECK(!strcmp(get_status(m.container).policy, "fifo"));
	CHECK_EQ(pass(&m, 200, 400), 0);
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
	CHECK_EQ(pass(&m, 0, 1), 0);
	CHECK_EQ(pass(&m, 1, 2), 1);
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
	swap_to(&m, "shared-moved");
	CHECK(operand(m.container, "level").slot !=
	      operand(m.container, "before").slot);
	touch(&m, 5);
	CHECK_EQ(value(&m, "seen"), 77);
	level[650] = -9;	/* on a page of it that was not touched before */
	touch(&m, 650);
	CHECK_EQ(value(&m, "seen"), -9);
	CHECK_EQ(value(&m, "seen_before"), 0);
	CHECK_EQ(hipec_shared(m.container, "level", &again, &nr), 0);
	CHECK_EQ(again[5], 77);
	again[6] = 78;
	CHECK_EQ(level[6], 78);
	munmap(again, nr * sizeof(*again));

	/* A policy without it: the memory is the application's alone. */
	swap_to(&m, "fifo");
	CHECK_EQ(hipec_shared(m.container, "level", &again, &nr), -ENOENT);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, m.container,
		   HIPEC_SHARED_OFFSET(2)) == MAP_FAILED && errno == ENXIO);
	level[6] = 79;
	CHECK_EQ(level[6] + level[5] + level[650], 79 + 77 - 9);
	/* And a new array for who declares it again. */
	swap_to(&m, "shared");
	touch(&m, 6);
	CHECK_EQ(value(&m, "seen"), 0);
	CHECK_EQ(hipec_shared(m.container, "level", &again, &nr), 0);
	again[7] = 80;
	touch(&m, 7);
	CHECK_EQ(value(&m, "seen"), 80);
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
	swap_to(&m, "fifo");
	level[0] = 1;
	level[1023] = 2;
	CHECK_EQ(level[0] + level[1023], 3);
	pass(&m, 0, 16);
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
	swap_to(&m, "mru");
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
	CHECK_EQ(pass(&m, 0, 16), 16);
	CHECK_EQ(get_status(m.container).ghosts, 8);
	swap_to(&m, "fifo");
	CHECK_EQ(get_status(m.container).ghosts, 0);
	CHECK_EQ(pass(&m, 8, 16), 0);
	CHECK_EQ(pass(&m, 0, 16), 16);
	swap_to(&m, "ghosts");
	CHECK_EQ(pass(&m, 0, 16), 16);
	CHECK_EQ(pass(&m, 0, 16), 16);
	CHECK(get_status(m.container).ghosts > 0);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	swap_to(&m, "random2");
	pass(&m, 0, 16);
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
		swap_to(&m, "fifo");
		usleep(1000 * (i % 13));
		swap_to(&m, "events");
		usleep(1000 * (i % 17));
	}
	while (value(&m, "ticks") < 3)
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
	swap_to(&m, "mru");
	touch(&m, 1);
	while ((n = read(p.fd, buf, sizeof(buf))) > 0)
		;
	CHECK_EQ(n, 0);
	close(p.fd);
	p.fd = hipec_record(m.container, 0, 0);
	CHECK(p.fd >= 0);
	swap_to(&m, "ghosts");
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
	swap_to(&m, "mru");
	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EAGAIN);
	touch(&m, 0);
	CHECK(read(fd, buf, sizeof(buf)) > 0);
	close(fd);
	close_map(&m);
}

#define THREADS 4
#define ROUNDS 4000

static struct {
	struct map m;
	uint64_t wrote[THREADS][PAGES];
	volatile bool over;
} busy;

/* Counts in a word of its own on each page, and looks whether it is still there. */
static void *write_pages(void *arg)
{
	size_t me = (size_t)arg, page;
	uint32_t random = me + 1;

	while (!busy.over) {
		volatile uint64_t *word;

		random = random * 1664525 + 1013904223;
		page = random >> 16 & (PAGES - 1);
		word = (void *)(busy.m.base + page * PAGE_BYTES + 64 * (me + 1));
		if (*word != busy.wrote[me][page])
			FAIL("page %zu lost a write of thread %zu", page, me);
		*word = ++busy.wrote[me][page];
	}
	return NULL;
}

static void zero_words(const char *path)
{
	static char zeros[PAGE_BYTES];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), i;

	CHECK(fd >= 0);
	for (i = 0; i < PAGES; i++)
		CHECK_EQ(write(fd, zeros, sizeof(zeros)), sizeof(zeros));
	CHECK(!fsync(fd));
	close(fd);
}

static void check_words(void)
{
	uint64_t word;
	size_t t, i;

	for (t = 0; t < THREADS; t++)
		for (i = 0; i < PAGES; i++) {
			CHECK_EQ(pread(busy.m.file, &word, sizeof(word),
				       i * PAGE_BYTES + 64 * (t + 1)),
				 sizeof(word));
			CHECK_EQ(word, busy.wrote[t][i]);
		}
}

static void swap_in_turn(void)
{
	static const char *const policy[] = {
		"mru", "lru", "ghosts", "adopt-dies", NULL, "fifo2", "arc",
		"events", "init-dies", "highest-first", "shared", "2q",
		"adopt-endless", "hoard", "clock-pro", "div-zero", "spill",
	};
	size_t nr = sizeof(policy) / sizeof(*policy), i;
	struct hipec_status s;
	int done = 0, ret;

	for (i = 0; i < (size_t)rounds(20) * nr; i++) {
		ret = swap_id(busy.m.container, 0, policy[i % nr], NULL, 0);
		CHECK(!ret || ret == -ECANCELED);
		done += !ret;
		s = get_status(busy.m.container);
		CHECK_EQ(s.limit, FRAMES);
		CHECK_LE(s.resident, FRAMES);
		if (s.exit.kind == EXIT_BROKEN)
			FAIL("%s", s.exit.message);
	}
	CHECK(done >= rounds(20) * 13);
}

static void run_busy(void)
{
	pthread_t thread[THREADS];
	size_t i;

	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, write_pages,
				      (void *)i));
	swap_in_turn();
	busy.over = true;
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK(!fsync(busy.m.region));
	check_words();
	close_map(&busy.m);
}

/* Threads fault, read ahead and write while policies come and go. */
static void swap_while_faulting(void)
{
	zero_words(FILE_S);
	open_map(&busy.m, "fifo", FILE_S, FRAMES, 8, true);
	run_busy();
}

static void swap_while_sharing(void)
{
	zero_words(FILE_S);
	map_shared(&busy.m, "fifo", FILE_S, FRAMES, PAGES, true);
	run_busy();
}

/* Where a container shares, who was revoked waits; who swaps starts anew. */
static void shared_pool(void)
{
	struct hipec_status s;
	struct pollfd p = { .events = POLLIN };
	struct map m;
	int i;

	set_switch(READMIT, "600000");
	open_shared(&m, "newest-first", FILE_S, 64, 200, false);
	p.fd = m.container;
	touch_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 100, 132);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(poll(&p, 1, 0), 1);
	refused(&m, "newest-first", -EAGAIN, "was revoked ");
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_WORSE);
	swap_to(&m, "mru");
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.resident, 64);
	CHECK_EQ(poll(&p, 1, 0), 0);
	/* MRU on a sweep is far better than the default, from the first window on. */
	for (i = 0; i < 40; i++)
		s = touch_range(&m, 0, 100);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK(s.counters.windows > 5);
	CHECK_EQ(s.counters.bad_windows, 4);
	set_switch(READMIT, "0");
	close_map(&m);
}

/* A bad policy that comes by a swap is revoked like any other, after four windows. */
static void swapped_in_is_held_to_the_contract(void)
{
	struct hipec_status s, before;
	struct map m;
	int i;

	open_shared(&m, "fifo2", FILE_S, 64, 200, false);
	before = touch_range(&m, 0, 64);
	CHECK_EQ(before.counters.faults, 64);
	swap_to(&m, "newest-first");
	touch_range(&m, 64, 128);	/* what was there goes, these stay */
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 128, 160);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.bad_windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * 512);
	/* The default has the first 64 pages too, and brings in 64 and 32 more. */
	CHECK_EQ(s.counters.default_faults, 64 + 32);
	swap_to(&m, NULL);
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 0, 160);
	CHECK_EQ(s.counters.windows, 4);
	close_map(&m);
}

static int swap_raw(int fd, struct hipec_swap *a)
{
	return ioctl(fd, HIPEC_IOC_SWAP, a) ? errno : 0;
}

/* As another user, in a child: what it gets. */
static int as_nobody(int (*fn)(uint64_t id), uint64_t id)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		_exit(setgid(65534) || setuid(65534) ? 255 : fn(id));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int other;	/* a descriptor that a child may use */

static int try_all(uint64_t id)
{
	struct hipec_why why = { .offset = 0 };

	return swap_id(other, id, NULL, NULL, 0) == -ESRCH &&
	       hipec_revoke(other, id) == -ESRCH &&
	       hipec_why(other, id, &why) == -ESRCH &&
	       hipec_set_param_of(other, id, "youngest", 1) == -ESRCH ? 7 : 8;
}

static void arguments(void)
{
	struct { struct hipec_swap a; uint64_t more; } longer = { 0 };
	struct hipec_swap a = { .size = sizeof(a) };
	struct hipec_query q;
	struct hipec_param p;
	struct map m;
	uint64_t id;

	other = hipec_open();
	CHECK(other >= 0 && !hipec_query(other, &q));
	CHECK(q.features & HIPEC_FEATURE_SWAP);
	CHECK_EQ(swap_raw(other, &a), ENODATA);
	CHECK_EQ(hipec_revoke(other, 0), -ENODATA);
	make_file(FILE_S, 32 * PAGE_BYTES);
	open_map(&m, "ends", FILE_S, 8, 1, false);
	id = get_status(m.container).id;
	a.flags = 1;
	CHECK_EQ(swap_raw(m.container, &a), EINVAL);
	a.flags = 0;
	a.size = 4;
	CHECK_EQ(swap_raw(m.container, &a), EINVAL);
	a.size = sizeof(a);
	a.id = 1ull << 60;
	CHECK_EQ(swap_raw(m.container, &a), ESRCH);
	a.id = 0;
	a.image = 8;
	a.image_size = 100;
	CHECK_EQ(swap_raw(m.container, &a), EFAULT);
	a.image_size = HIPEC_MAX_IMAGE + 1;
	CHECK_EQ(swap_raw(m.container, &a), EINVAL);
	longer.a.size = sizeof(longer);
	longer.more = 1;
	CHECK_EQ(swap_raw(m.container, &longer.a), E2BIG);
	CHECK_EQ(swap_raw(m.region, &a), ENOTTY);
	CHECK(!strcmp(get_status(m.container).policy, "ends"));

	/* By its number, from another descriptor: its owner, and nobody else. */
	CHECK_EQ(as_nobody(try_all, id), 7);
	CHECK_EQ(hipec_param_of(other, id, "youngest", &p), 0);
	CHECK(p.value == 0 && p.high == 1);
	CHECK_EQ(hipec_set_param_of(other, id, "youngest", 1), 0);
	CHECK_EQ(hipec_set_param_of(other, id, "youngest", 2), -ERANGE);
	CHECK_EQ(value(&m, "youngest"), 1);
	CHECK_EQ(pass(&m, 0, 8), 8);
	longer.a.id = id;
	longer.more = 0;
	CHECK_EQ(swap_raw(other, &longer.a), 0);
	CHECK_EQ(longer.a.adopted, 8);
	CHECK(!strcmp(get_status(m.container).policy, "builtin"));
	close(other);
	close_map(&m);
}

static void revoked_by_hand(void)
{
	struct pollfd p = { .events = POLLIN };
	struct hipec_status s;
	struct map m;

	open_swept(&m, "mru");	/* 0 to 14, and 63 */
	p.fd = m.container;
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_EQ(hipec_revoke(m.container, 1ull << 60), -ESRCH);
	CHECK_EQ(hipec_revoke(m.container, 0), 0);
	CHECK_EQ(poll(&p, 1, 0), 1);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_BY_HAND);
	CHECK(strstr(s.exit.message, "revoked by hand"));
	CHECK_EQ(s.resident, FRAMES);
	CHECK_EQ(pass(&m, 0, 15) + pass(&m, 63, 64), 0);
	/* FIFO is in charge: no hits on a sweep. */
	pass(&m, 0, PAGES);
	CHECK_EQ(pass(&m, 0, PAGES), PAGES);
	CHECK_EQ(hipec_revoke(m.container, 0), -EALREADY);
	/* And another policy may come. */
	swap_to(&m, "mru");
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	pass(&m, 0, PAGES);
	CHECK_EQ(pass(&m, 0, PAGES), PAGES - FRAMES + 1);
	swap_to(&m, NULL);
	CHECK_EQ(hipec_revoke(m.container, 0), -ENODATA);
	close_map(&m);
}

static struct hipec_why why(const struct map *m, size_t page)
{
	struct hipec_why w = { .offset = page * PAGE_BYTES };
	int ret = hipec_why(m->container, 0, &w);

	if (ret)
		FAIL("why %zu: %s", page, strerror(-ret));
	CHECK_EQ(w.address, page * PAGE_BYTES);
	return w;
}

/* Where a page is, to the policy; and that asking changes nothing. */
static void why_page(void)
{
	struct hipec_why w;
	struct map m;
	int i;

	make_file(FILE_S, PAGES * PAGE_BYTES);
	open_map(&m, "fifo", FILE_S, FRAMES, 1, true);
	pass(&m, 0, 20);	/* 4 to 19 stay */
	w = why(&m, 3);
	CHECK_EQ(w.state, 0);
	CHECK_EQ(w.on, HIPEC_WHY_ON_NONE);
	w = why(&m, 4);
	CHECK_EQ(w.state, HIPEC_WHY_RESIDENT | HIPEC_WHY_MAPPED |
		 HIPEC_WHY_REFERENCED);
	CHECK_EQ(w.on, HIPEC_WHY_ON_POLICY);
	CHECK(!strcmp(w.queue, "fifo"));
	CHECK_EQ(w.slot, operand(m.container, "fifo").slot);
	CHECK(w.place == 0 && w.nr == FRAMES);
	CHECK(!w.start && w.length == PAGES * PAGE_BYTES);
	CHECK_EQ(w.file_offset, 4 * PAGE_BYTES);
	CHECK(!strcmp(w.file, FILE_S));
	CHECK_EQ(why(&m, 19).place, FRAMES - 1);
	*(volatile uint64_t *)(m.base + 7 * PAGE_BYTES) = 1;
	for (i = 0; i < 3; i++)
		CHECK(why(&m, 7).state & HIPEC_WHY_DIRTY);
	w = (struct hipec_why){ .offset = 9 * PAGE_BYTES + 5, .fd = m.file,
				.flags = HIPEC_WHY_BY_FILE };
	CHECK_EQ(hipec_why(m.container, 0, &w), 0);
	CHECK_EQ(w.address, 9 * PAGE_BYTES);
	CHECK_EQ(w.place, 5);
	w.fd = -1;
	CHECK_EQ(hipec_why(m.container, 0, &w), -EBADF);
	w.fd = m.container;
	CHECK_EQ(hipec_why(m.container, 0, &w), -ENXIO);
	w.fd = m.file;
	w.offset = PAGES * PAGE_BYTES;
	CHECK_EQ(hipec_why(m.container, 0, &w), -ENXIO);
	w.flags = 2;
	CHECK_EQ(hipec_why(m.container, 0, &w), -EINVAL);
	w.flags = 0;
	w.offset = UINT64_MAX;
	CHECK_EQ(hipec_why(m.container, 0, &w), -ENXIO);

	swap_to(&m, NULL);	/* all on the active queue */
	CHECK_EQ(why(&m, 4).on, HIPEC_WHY_ON_FALLBACK);
	touch(&m, 20);
	CHECK_EQ(why(&m, 8).on, HIPEC_WHY_ON_BUILTIN);
	CHECK(!ftruncate(m.file, 30 * PAGE_BYTES));
	CHECK(why(&m, 31).state & HIPEC_WHY_BEHIND);
	close_map(&m);
}

/* A ghost, where it is remembered; and an element of a queue array. */
static void why_ghost(void)
{
	struct hipec_why w;
	struct map m;

	make_file(FILE_S, 16 * PAGE_BYTES);
	open_map(&m, "ghosts", FILE_S, 8, 1, false);
	pass(&m, 0, 16);
	w = why(&m, 2);
	CHECK_EQ(w.state, HIPEC_WHY_GHOST);
	CHECK(!strcmp(w.queue, "past"));
	CHECK(w.place == 2 && w.nr == 8);
	close_map(&m);
}

const struct test swap_tests[] = {
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
	{ "swap_again_and_again_while_threads_fault", swap_while_faulting },
	{ "swap_again_and_again_while_sharing_the_pool", swap_while_sharing },
	{ "swap_revives_a_container_whose_policy_was_revoked", shared_pool },
	{ "swap_holds_the_new_policy_to_the_contract", swapped_in_is_held_to_the_contract },
	{ "swap_refuses_what_is_wrong", arguments },
	{ "revoke_ends_a_policy_by_hand", revoked_by_hand },
	{ "why_tells_where_a_page_is", why_page },
	{ "why_tells_what_is_remembered", why_ghost },
	{ 0 }
};
