// SPDX-License-Identifier: GPL-2.0-only
/* Files in place, and a policy whose events take long: others do not wait for it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

#define DIR_A DIR_DATA "wait.d/"
#define FILE_A DIR_A "big"
#define FILE_B DIR_DATA "moves"
#define PAGES 4096ul
#define FRAMES 65536
#define CALLS 16
#define TRIES 3

/* Pages that the reader has read, which takes an event each; both processes see it. */
static atomic_int *nr_read;

static const char *name_of(const char *prefix, int nr)
{
	static char name[64];

	snprintf(name, sizeof(name), DIR_A "%s%d", prefix, nr);
	return name;
}

/* As @user, who is the loader's or not. */
static pid_t start(uid_t user, void (*fn)(void))
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	CHECK(!setuid(user));
	fn();
	exit(0);
}

static void finish(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

/* Child @pid has read @nr pages. */
static void wait_read(pid_t pid, int nr)
{
	while (atomic_load(nr_read) < nr) {
		CHECK(!waitpid(pid, NULL, WNOHANG));
		usleep(1000);
	}
}

/* It has its container's lock for as good as all of the time. */
static void read_for_ever(void)
{
	int c = open_cache("slow-fault", FRAMES), dir = open(DIR_A, O_RDONLY), file, i;
	struct hipec_take t;
	char byte;
	long page;

	CHECK(dir >= 0 && !hipec_take(c, 0, dir, &t));
	for (i = 0; i < TRIES * CALLS; i++)
		close(take_file(c, name_of("old", i), O_RDONLY));
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (page = 0; page < (long)PAGES / 2; page++) {
		CHECK(pread(file, &byte, 1, page * PAGE_BYTES) == 1);
		atomic_fetch_add(nr_read, 1);
	}
	CHECK_EQ(get_status(c).exit.kind, 0);
}

static void read_one(int i)
{
	int file = open(FILE_A, O_RDONLY);
	char byte;

	CHECK(file >= 0 && !posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	CHECK(pread(file, &byte, 1, (PAGES / 2 + 8 * i) * PAGE_BYTES) == 1);
	close(file);
}

static void unlink_one(int i)
{
	CHECK(!unlink(name_of("old", i)));
}

static void create_one(int i)
{
	int file = open(name_of("new", i), O_RDWR | O_CREAT | O_EXCL, 0644);

	CHECK(file >= 0 && !close(file));
}

/* Who asks for all containers is told of his own: there is none. */
static void list_one(int i)
{
	struct hipec_status s;
	int fd = hipec_open();

	(void)i;
	CHECK_EQ(hipec_next(fd, 0, &s), -ENOENT);
	CHECK(!close(fd));
}

/* One call is to be made, again and again; a child of start() sees these. */
static void (*call)(int i);
static int first_call;

static void calls(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		call(first_call + i);
}

/*
 * CALLS calls of @user take less time than half as many events: on a debug kernel both take long. A host
 * may let one of them lie for a while, but not whenever it is tried.
 */
static void in_a_few_events(uid_t user, void (*fn)(int i))
{
	int events = CALLS, before;

	call = fn;
	for (first_call = 0; first_call < TRIES * CALLS && events > CALLS / 2; first_call += CALLS) {
		before = atomic_load(nr_read);
		finish(start(user, calls));
		events = atomic_load(nr_read) - before;
		printf("# %d calls, %d events\n", CALLS, events);
	}
	CHECK_LE(events, CALLS / 2);
}

static void set_up(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	nr_read = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(nr_read != MAP_FAILED && !setrlimit(RLIMIT_MEMLOCK, &all));
	CHECK(!mkdir(DIR_A, 0777) && !chmod(DIR_A, 0777) && !chown(DIR_A, 1000, 1000));
	CHECK(!chmod("/data", 0755) && !chmod(HIPEC_DEVICE, 0666));
	make_file(FILE_A, PAGES * PAGE_BYTES);
	CHECK(!chown(FILE_A, 1000, 1000) && !chmod(FILE_A, 0644));
}

static void others_wait_for_no_event(void)
{
	pid_t reader;
	int i;

	set_up();
	for (i = 0; i < TRIES * CALLS; i++) {
		make_file(name_of("old", i), PAGE_BYTES);
		CHECK(!chown(name_of("old", i), 1000, 1000) && !chmod(name_of("old", i), 0644));
	}
	reader = start(1000, read_for_ever);
	wait_read(reader, 4);
	in_a_few_events(65534, read_one);
	in_a_few_events(65534, list_one);
	in_a_few_events(65534, unlink_one);
	in_a_few_events(1000, create_one);
	CHECK(!kill(reader, SIGKILL) && waitpid(reader, NULL, 0) == reader);
	for (i = 0; i < TRIES * CALLS; i++) {
		unlink(name_of("old", i));
		unlink(name_of("new", i));
	}
	CHECK(!unlink(FILE_A) && !rmdir(DIR_A) && !chmod(HIPEC_DEVICE, 0600));
}

/* More than is noted on any CPU; and those pages of which slow-first has long events. */
#define MANY 1500
#define FEW 6

static void read_many(void)
{
	int file = open(FILE_A, O_RDONLY), i;
	char byte;

	CHECK(file >= 0 && !posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < MANY; i++)
		CHECK(pread(file, &byte, 1, (FEW + i) * PAGE_BYTES) == 1);
}

/* Reads a few pages, while others read many; in the end each page in memory is one of its own. */
static void read_few(void)
{
	struct map m = { .pages = PAGES, .container = open_cache("slow-first", FRAMES) };
	char byte;
	int i;

	m.file = take_file(m.container, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_RANDOM));
	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED && !nr_in_memory(&m, 0, PAGES));
	for (i = 0; i < FEW; i++) {
		CHECK(pread(m.file, &byte, 1, i * PAGE_BYTES) == 1);
		atomic_fetch_add(nr_read, 1);
	}
	while (atomic_load(nr_read) == FEW)
		usleep(10000);
	for (i = 0; get_status(m.container).resident != FEW + MANY; i++) {
		CHECK(i < 1000);
		usleep(10000);
	}
	CHECK_EQ(nr_in_memory(&m, 0, PAGES), FEW + MANY);
}

static void pages_beside_an_event_have_entries(void)
{
	pid_t reader;

	set_up();
	reader = start(1000, read_few);
	wait_read(reader, 1);
	finish(start(65534, read_many));
	printf("# %d pages, beside %d events\n", MANY, atomic_load(nr_read) - 1);
	wait_read(reader, FEW);
	atomic_fetch_add(nr_read, 1);
	finish(reader);
	CHECK(!unlink(FILE_A) && !rmdir(DIR_A) && !chmod(HIPEC_DEVICE, 0600));
}

static atomic_int reader_tid;

/* The reader goes from one CPU to another, as often as this can be. */
static void *move_reader(void *arg)
{
	cpu_set_t set;
	int cpu, tid;

	(void)arg;
	for (cpu = 0; (tid = atomic_load(&reader_tid)) >= 0; cpu = !cpu) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (tid)
			CHECK(!sched_setaffinity(tid, sizeof(set), &set));
		usleep(50);
	}
	return NULL;
}

/* Reads pages in no order, each twice. Return: pages that the policy missed. */
static uint64_t read_in_no_order(void)
{
	int c = open_cache("fifo", 256), file = take_file(c, FILE_B, O_RDONLY), i;
	struct hipec_status s;
	uint32_t seed = 1;
	char byte;

	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < 4000; i++) {
		seed = seed * 1664525 + 1013904223;
		CHECK(pread(file, &byte, 1, (seed >> 8) % 512 * PAGE_BYTES) == 1);
		CHECK(pread(file, &byte, 1, (seed >> 8) % 512 * PAGE_BYTES) == 1);
	}
	s = get_status(c);
	CHECK_EQ(s.counters.ahead_dropped, 0);
	CHECK_LE(s.counters.read_pages, s.counters.pages_in);
	close(file);
	close(c);
	return s.counters.pages_in;
}

/*
 * A task that misses on one CPU and touches the page on another: the policy hears of the miss first.
 * By fifo, which hears of no hit, each miss is where it is without that.
 */
static void who_moves_is_heard_in_order(void)
{
	uint64_t stays, moves;
	pthread_t mover;

	stay_here();
	make_file(FILE_B, 512 * PAGE_BYTES);
	stays = read_in_no_order();
	drop_pages(FILE_B);
	atomic_store(&reader_tid, (int)gettid());
	CHECK(!pthread_create(&mover, NULL, move_reader, NULL));
	moves = read_in_no_order();
	atomic_store(&reader_tid, -1);
	CHECK(!pthread_join(mover, NULL));
	CHECK_EQ(moves, stays);
	unlink(FILE_B);
}

#define FILE_S DIR_DATA "slices"

static long long now_ms(void)
{
	struct timespec t;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &t));
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

#define REMOVED 256

/*
 * A file is unlinked, and a worker has the policy hear of each of its pages, some of them in a slice:
 * nearly all are heard of in the end, as an event may be given up where a slice ends.
 */
static void a_worker_forgets_in_slices(void)
{
	long long began, ms;
	int64_t now;
	int c, file;

	c = open_cache("remove-slow", FRAMES);
	make_file(FILE_S, REMOVED * PAGE_BYTES);
	file = take_file(c, FILE_S, O_RDONLY);
	sweep_read(file, REMOVED);
	CHECK_EQ(get_status(c).resident, REMOVED);
	close(file);
	began = now_ms();
	CHECK(!unlink(FILE_S));
	usleep(2000000);
	now = operand_of(c, "removed").value;
	ms = now_ms() - began;
	printf("# %lld heard of in %lld ms\n", (long long)now, ms);
	fflush(stdout);
	CHECK_LE(now, REMOVED / 2);
	while (operand_of(c, "removed").value < REMOVED && now_ms() - began < 200000)
		usleep(100000);
	printf("# all in %lld ms\n", now_ms() - began);
	CHECK_LE(REMOVED * 9 / 10, operand_of(c, "removed").value);
	CHECK_EQ(get_status(c).resident, 0);
	close(c);
}

#define QUANTUM "/sys/module/hipec/parameters/quantum_us"
#define HIT 1024
#define HIT_TOGETHER 63

/*
 * A process has hit as many pages as there are notes for, many with each: it can be killed while
 * their Access runs, of which none is late.
 */
static void a_task_that_has_hit_can_be_killed(void)
{
	static char buffer[HIT_TOGETHER * PAGE_BYTES];
	int c, file, at;
	long long took;
	pid_t pid;

	set_switch(QUANTUM, "60000000");	/* a slow host is not late */
	c = open_cache("slow-access", FRAMES);
	make_file(FILE_S, HIT * PAGE_BYTES);
	file = take_file(c, FILE_S, O_RDONLY);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		for (at = 0;; at = (at + HIT_TOGETHER) % (int)(HIT - HIT_TOGETHER))
			CHECK(pread(file, buffer, sizeof(buffer), at * PAGE_BYTES) == sizeof(buffer));
	}
	usleep(3000000);
	took = now_ms();
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	took = now_ms() - took;
	set_switch(QUANTUM, "10000");
	printf("# dead behind %lld ms\n", took);
	CHECK_EQ(get_status(c).exit.kind, 0);
	CHECK_LE(took, 1000);
	close(file);
	close(c);
	CHECK(!unlink(FILE_S));
}

static const struct test cache_wait_tests[] = {
	{ "cache_of_who_moves_hears_of_misses_in_order", who_moves_is_heard_in_order },
	{ "cache_worker_forgets_in_slices", a_worker_forgets_in_slices },
	{ "cache_task_that_has_hit_can_be_killed", a_task_that_has_hit_can_be_killed },
	{ "cache_others_wait_for_no_event", others_wait_for_no_event },
	{ "cache_pages_that_come_beside_an_event_have_entries", pages_beside_an_event_have_entries },
	{ 0 }
};
SUITE(cache_wait_tests, 0);
