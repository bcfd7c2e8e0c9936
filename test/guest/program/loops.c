// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies that never end, and who waits for them: counts of a neighbour whose
 * faults are served meanwhile. The pool has 512 frames (run.sh).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

#define FILE_L DIR_DATA "loops"
#define FILE_N DIR_DATA "loops-neighbour"
#define FILE_C DIR_DATA "loops-crowd"
#define POOL 512
#define FIRST 16
/* Of the neighbour, while one event goes on, whose fuel is for its frames. */
#define FAULTS(share) ((share) ? 4 : 24)
#define OTHERS "/sys/module/hipec/parameters/others_us"
#define QUANTUM "/sys/module/hipec/parameters/quantum_us"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

static void set_quantum(const char *us)
{
	int fd = open(QUANTUM, O_WRONLY);

	CHECK(fd >= 0 && write(fd, us, strlen(us)) == (ssize_t)strlen(us));
	close(fd);
}

/* CPU time that a task has had, in any unit. */
static uint64_t used(clockid_t clock)
{
	struct timespec t;

	CHECK(!clock_gettime(clock, &t));
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * The neighbour's next faults, while another task is in its one endless event:
 * that has begun before and not ended after them, its CPU time goes on, and the
 * kill that ends it finds the event. Return: whether all of that was so.
 */
static bool served_beside(struct map *looper, struct map *n, size_t nr)
{
	volatile int *state = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before, after;
	struct hipec_status s;
	clockid_t clock;
	bool beside;
	pid_t pid;

	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		*state = 1;
		touch(looper, 0);
		*state = 2;
		_exit(0);
	}
	while (!*state)
		sched_yield();
	CHECK(!clock_getcpuclockid(pid, &clock));
	before = used(clock);
	touch_range(n, 100, 100 + nr);
	after = used(clock);
	beside = *state == 1 && after > before;
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, NULL, 0) == pid);
	s = get_status(looper->container);
	CHECK(!munmap((void *)state, PAGE_BYTES));
	return beside && s.counters.late == 1 && s.exit.kind == EXIT_NONE;
}

static void same_counts(const struct hipec_status *alone,
			const struct hipec_status *beside, bool share)
{
	CHECK_EQ(alone->counters.faults, 100);
	CHECK_EQ(beside->counters.faults, 100 + FAULTS(share));
	CHECK_EQ(beside->counters.soft_faults, 0);
	CHECK_EQ(beside->counters.helped, 0);
	CHECK_EQ(beside->counters.late, 0);
	CHECK_EQ(beside->counters.given, 0);
	CHECK_EQ(beside->frames, share ? 100 + FAULTS(share) : 100);
	CHECK_EQ(beside->counters.evictions, share ? 0 : FAULTS(share));
	/* Three commands for the page, three for its frame. */
	CHECK_EQ(beside->counters.commands - alone->counters.commands,
		 (share ? 3 : 6) * FAULTS(share));
}

/*
 * What the neighbour's faults cost with nobody beside it, and beside a loop: the
 * same counts. Shared: the pool is full, so each fault has a frame given up,
 * among containers of which one is locked by the loop.
 */
static void same_counts_beside_a_loop(bool share)
{
	struct hipec_status alone, beside;
	struct map looper, n, crowd;
	bool met;
	int try;

	make_file(FILE_N, 200 * PAGE_BYTES);
	make_file(FILE_L, 4 * PAGE_BYTES);
	set_quantum("0");
	for (try = 0, met = false; !met; try++) {
		CHECK(try < 100);
		if (share) {
			map_shared(&looper, "endless-look", FILE_L, POOL, 4, false);
			open_shared(&crowd, "fifo", FILE_C, 400, 400, false);
			touch_range(&crowd, 0, 400);
			map_shared(&n, "fifo", FILE_N, 200, 200, false);
		} else {
			open_map(&looper, "endless-look", FILE_L, 16384, 1, false);
			open_map(&n, "fifo", FILE_N, 100, 1, false);
		}
		touch_range(&n, 0, 100);
		/* While it names pages it is busy, as the looper will be. */
		if (share)
			wait_named(crowd.container);
		alone = get_status(n.container);
		met = served_beside(&looper, &n, FAULTS(share));
		beside = get_status(n.container);
		if (met)
			same_counts(&alone, &beside, share);
		if (share) {
			CHECK_EQ(get_status(looper.container).frames, FIRST);
			close_map(&crowd);
		}
		close_map(&looper);
		close_map(&n);
	}
	set_quantum("10000");
}

static void reserved(void)
{
	same_counts_beside_a_loop(false);
}

static void shared(void)
{
	same_counts_beside_a_loop(true);
}

/*
 * A loop in Replace is to name pages for others, in a worker, and no longer than its time.
 * It names none, so it is asked once, and the neighbour gets what the manager chooses.
 */
static void replace_for_others(void)
{
	struct hipec_status s;
	struct map looper, n;

	open_shared(&looper, "endless-replace", FILE_L, 400, 400, false);
	touch_range(&looper, 0, 400);
	open_shared(&n, "fifo", FILE_N, 400, 400, false);
	set_switch(OTHERS, "0");
	touch_beside(&n, 0, 400, &looper);
	set_switch(OTHERS, "10000");
	s = get_status(looper.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.late, 1);
	CHECK_EQ(s.counters.given, 288);
	CHECK_EQ(s.frames, POOL - 400);
	s = get_status(n.container);
	CHECK_EQ(s.counters.faults, 400);
	CHECK_EQ(s.frames, 400);
	CHECK_EQ(s.counters.evictions, 0);
	close_map(&looper);
	close_map(&n);
}

/* For others it has less time than for itself, and more looks at the clock. */
static void less_time_for_others(void)
{
	struct hipec_status before, after;
	struct map looper, n;

	open_shared(&n, "fifo", FILE_N, 400, 400, false);
	open_shared(&looper, "endless-replace", FILE_L, 400, 400, false);
	before = touch_range(&looper, 0, 400);
	set_switch(OTHERS, "0");
	touch_beside(&n, 0, POOL - 400 + 1, &looper);
	set_switch(OTHERS, "10000");
	after = get_status(looper.container);
	CHECK_EQ(after.counters.late, 1);
	CHECK_EQ(after.late.kind, EXIT_OVERTIME);
	CHECK_LE(after.counters.commands - before.counters.commands, 150);
	close_map(&looper);
	close_map(&n);
}

/*
 * A policy that loops for others alone is late again after each page of its own, and is left
 * out once, then 3 times, 7 and so on: 64 rounds of a page of its own, which it has not read
 * before, and 8 of its neighbour are 512 requests at most, so it is late 10 times at most.
 */
static void late_for_others_again(void)
{
	struct hipec_status s;
	struct map looper, n;
	size_t round;

	open_shared(&looper, "slow-for-others", FILE_L, 400, 464, false);
	touch_range(&looper, 0, 400);
	open_shared(&n, "fifo", FILE_N, 400, 400, false);
	set_switch(OTHERS, "0");
	for (round = 0; round < 64; round++) {
		touch(&looper, 400 + round);
		touch_beside(&n, 8 * round % 400, 8 * round % 400 + 8, &looper);
	}
	set_switch(OTHERS, "10000");
	s = get_status(looper.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.faults, 464);
	CHECK_LE(2, s.counters.late);
	CHECK_LE(s.counters.late, 10);
	close_map(&looper);
	close_map(&n);
}

/* All pages of @m are in pipes, and cannot go. */
static void pin(struct map *m)
{
	size_t first, nr = m->pages / 2;
	struct iovec iov;
	int pipes[2];

	for (first = 0; first < 2 * nr; first += nr) {
		iov = (struct iovec){ m->base + first * PAGE_BYTES, nr * PAGE_BYTES };
		CHECK(!pipe(pipes));
		CHECK(fcntl(pipes[1], F_SETPIPE_SZ, 256 * PAGE_BYTES) > 0);
		CHECK_EQ(vmsplice(pipes[1], &iov, 1, 0), nr * PAGE_BYTES);
	}
}

/*
 * Whose pages cannot go names none, and is asked once, not for each that the manager looks
 * at: 400 of them, until it comes to the neighbour's own.
 */
static void pinned_pages_of_others(void)
{
	struct hipec_status s;
	struct map a, n;

	open_shared(&n, "fifo", FILE_N, 400, 400, false);
	open_shared(&a, "hoard", FILE_L, 400, 400, false);
	touch_range(&a, 0, 400);
	pin(&a);
	CHECK_EQ(value_of(&a, "n"), 0);
	touch_beside(&n, 0, POOL - 400, &a);
	s = touch_beside(&n, POOL - 400, POOL - 400 + 1, &a);
	CHECK_EQ(s.counters.faults, POOL - 400 + 1);
	CHECK_EQ(s.frames, POOL - 400);
	CHECK_EQ(value_of(&a, "n"), 1);
	CHECK_EQ(get_status(a.container).counters.given, 0);
	close_map(&a);
	close_map(&n);
}

/* The state of a process, as /proc tells it; 0: it is gone. */
static char state_of(pid_t pid)
{
	char path[32], line[256] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	CHECK(read(fd, line, sizeof(line) - 1) > 0);
	close(fd);
	end = strrchr(line, ')');
	return end ? end[2] : 0;
}

/*
 * Who asks for the status of a container that is in a long event waits for it, and can
 * be killed meanwhile. Return: whether the event was still going on then.
 */
static bool killed_beside(struct map *looper)
{
	struct hipec_status s;
	pid_t busy, asker;
	char state;

	busy = fork();
	CHECK(busy >= 0);
	if (!busy) {
		touch(looper, 0);
		_exit(0);
	}
	asker = fork();
	CHECK(asker >= 0);
	if (!asker) {
		for (;;)
			get_status(looper->container);
	}
	do {
		sched_yield();
		state = state_of(asker);
	} while (state != 'D' && state_of(busy) != 'Z');
	CHECK(!kill(asker, SIGKILL));
	CHECK(waitpid(asker, NULL, 0) == asker);
	CHECK(!kill(busy, SIGKILL));
	CHECK(waitpid(busy, NULL, 0) == busy);
	s = get_status(looper->container);
	return s.counters.late == 1 && s.exit.kind == EXIT_NONE;
}

static void asker_is_killed(void)
{
	struct map looper;
	bool met = false;
	int try;

	make_file(FILE_L, 4 * PAGE_BYTES);
	set_quantum("0");
	for (try = 0; !met; try++) {
		CHECK(try < 100);
		open_map(&looper, "endless-look", FILE_L, 16384, 1, false);
		met = killed_beside(&looper);
		close_map(&looper);
	}
	set_quantum("10000");
}

/*
 * Let go of a file with as many pages, each of which the policy has an event of. The task is
 * killed when it has used a fifth of a second. Return: events that were run.
 */
static int removes_until_killed(int c, int pages)
{
	clockid_t clock;
	int status;
	pid_t pid = fork();

	if (!pid) {
		hipec_release(c, 0, -1);
		exit(0);
	}
	CHECK(!clock_getcpuclockid(pid, &clock));
	while (used(clock) < 200000000 && !waitpid(pid, &status, WNOHANG))
		sched_yield();
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQ(get_status(c).exit.kind, 0);
	printf("# %lld of %d events\n", (long long)operand_of(c, "removed").value, pages);
	return operand_of(c, "removed").value;
}

/*
 * Each event keeps to its time, on a slow machine as well, and all of them are longer than anybody
 * would wait. The file is let go all the same, and its container takes another.
 */
static void remover_is_killed(void)
{
	enum { PAGES = 8192 };
	int c, file, removed;

	set_quantum("60000000");
	make_file(FILE_L, PAGES * PAGE_BYTES);
	c = open_cache("remove-slow", PAGES);
	file = take_file(c, FILE_L, O_RDONLY);
	sweep_read(file, PAGES);
	CHECK_EQ(get_status(c).counters.read_pages, PAGES);
	removed = removes_until_killed(c, PAGES);
	CHECK(removed && removed < PAGES / 2);
	close(file);
	file = take_file(c, FILE_L, O_RDONLY);
	sweep_read(file, 16);
	close(file);
	close(c);
	set_quantum("10000");
	CHECK(!unlink(FILE_L));
}

/* Whether a worker of the module's waits for something that no signal ends. */
static bool a_worker_waits(void)
{
	char path[300], name[64];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	bool waits = false;
	FILE *f;

	CHECK(proc);
	while (!waits && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		f = atoi(entry->d_name) ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		/* Its queue's name behind its own. */
		waits = fgets(name, sizeof(name), f) && strstr(name, "+hipec\n") &&
			state_of(atoi(entry->d_name)) == 'D';
		fclose(f);
	}
	closedir(proc);
	return waits;
}

/*
 * A file is unlinked beside an event of its policy that does not end, and a worker is to forget its
 * pages. Return: whether the event was still going on behind that.
 */
static bool unlinked_beside(int c, int busy_file)
{
	struct hipec_status s;
	clockid_t clock;
	bool waited;
	uint64_t began;
	pid_t busy;
	char byte;

	busy = fork();
	CHECK(busy >= 0);
	if (!busy)
		_exit(pread(busy_file, &byte, 1, 0) != 1);
	CHECK(!clock_getcpuclockid(busy, &clock));
	began = used(clock);
	while (used(clock) - began < 20000000 && state_of(busy) != 'Z')
		sched_yield();
	CHECK(!unlink(FILE_N));
	usleep(10000);
	waited = a_worker_waits();
	CHECK(!kill(busy, SIGKILL));
	CHECK(waitpid(busy, NULL, 0) == busy);
	s = get_status(c);
	CHECK_EQ(waited, false);
	return s.counters.late == 1 && s.exit.kind == EXIT_NONE;
}

/* Containers of all users share the workers: none of them waits for a policy. */
static void workers_wait_for_no_event(void)
{
	bool met = false;
	int c, file, try;

	make_file(FILE_L, PAGE_BYTES);
	for (try = 0; !met; try++) {
		CHECK(try < 100);
		drop_pages(FILE_L);
		make_file(FILE_N, PAGE_BYTES);
		c = open_cache("endless-look", 16384);
		close(take_file(c, FILE_N, O_RDONLY));
		file = take_file(c, FILE_L, O_RDONLY);
		met = unlinked_beside(c, file);
		close(file);
		close(c);
	}
	CHECK(!unlink(FILE_L));
}

/* Let go of a file of one page, on the first CPU. Return: ns of CPU time that its event took. */
static uint64_t one_remove(int c)
{
	unsigned char page[PAGE_BYTES];
	uint64_t before;
	cpu_set_t one;
	int file;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
	drop_pages(FILE_L);
	file = take_file(c, FILE_L, O_RDONLY);
	CHECK(pread(file, page, sizeof(page), 0) == sizeof(page));
	before = used(CLOCK_PROCESS_CPUTIME_ID);
	CHECK(!hipec_release(c, 0, file));
	close(file);
	return used(CLOCK_PROCESS_CPUTIME_ID) - before;
}

/* As many tasks keep the caller's CPU busy, until they are killed. */
static void keep_busy(pid_t pids[], int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (!pids[i])
			for (;;)
				;
	}
}

/*
 * An event has a sixth of its quantum, and takes 32 times as long as that, since its CPU is others' for
 * the rest: it is not late, and they do not end somebody's policy by it.
 */
static void preempted_event_is_not_late(void)
{
	enum { BUSY = 31 };
	char quantum[24];
	pid_t pids[BUSY];
	uint64_t took;
	int c, i;

	if (access("/proc/self/schedstat", R_OK)) {
		printf("# this kernel does not count how long a task waits for a CPU\n");
		return;
	}
	set_quantum("60000000");
	make_file(FILE_L, PAGE_BYTES);
	c = open_cache("remove-slow", 8192);	/* fuel */
	took = one_remove(c);
	snprintf(quantum, sizeof(quantum), "%llu", (unsigned long long)(6 * took / 1000));
	printf("# a quantum of %s us\n", quantum);
	set_quantum(quantum);
	keep_busy(pids, BUSY);
	for (i = 0; i < 3; i++)
		one_remove(c);
	for (i = 0; i < BUSY; i++)
		CHECK(!kill(pids[i], SIGKILL) && waitpid(pids[i], NULL, 0) == pids[i]);
	CHECK_EQ(operand_of(c, "removed").value, 4);
	CHECK_EQ(get_status(c).counters.late, 0);
	close(c);
	set_quantum("10000");
	CHECK(!unlink(FILE_L));
}

static const struct test loop_tests[] = {
	{ "endless_page_fault_lets_a_neighbour_fault", reserved },
	{ "endless_page_fault_lets_the_pool_go_on", shared },
	{ "endless_replace_keeps_nobody_from_the_pool", replace_for_others },
	{ "replace_for_others_has_less_time", less_time_for_others },
	{ "late_for_others_is_left_out_longer_each_time", late_for_others_again },
	{ "pinned_pages_ask_their_policy_once", pinned_pages_of_others },
	{ "who_asks_a_busy_container_can_be_killed", asker_is_killed },
	{ "who_lets_a_file_go_can_be_killed_between_events", remover_is_killed },
	{ "workers_wait_for_no_event", workers_wait_for_no_event },
	{ "event_whose_cpu_others_have_is_not_late", preempted_event_is_not_late },
	{ 0 }
};
SUITE(loop_tests, 0);
