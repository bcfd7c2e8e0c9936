// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place, and a policy whose events take as long as they may: nobody's time is theirs, and
 * who closes what he was sent, or maps an array, waits for none of them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

#define FILE_A DIR_DATA "nobody"
#define PAGES 1024ul
#define FRAMES 65536
#define TRIES 4

/* What processes know of each other. */
static struct {
	atomic_int begun;	/* reads, which take an event each */
	atomic_llong took;	/* the first, ns; 0: it has not ended */
	atomic_int step;
} *board;

static long long now_ns(void)
{
	struct timespec t;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &t));
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void set_up(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	board = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(board != MAP_FAILED && !setrlimit(RLIMIT_MEMLOCK, &all));
	CHECK(!chmod("/data", 0755) && !chmod(HIPEC_DEVICE, 0666));
	make_file(FILE_A, PAGES * PAGE_BYTES);
	CHECK(!chown(FILE_A, 1000, 1000) && !chmod(FILE_A, 0644));
}

static void clean_up(void)
{
	CHECK(!unlink(FILE_A) && !chmod(HIPEC_DEVICE, 0600));
	CHECK(!munmap(board, PAGE_BYTES));
}

static pid_t start(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

static void stop(pid_t pid)
{
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
}

/* A container's budget is free a moment after others have closed it: a worker ends it. */
static int open_slowest(void)
{
	struct hipec_load load = { .flags = HIPEC_LOAD_IN_PLACE, .frames = FRAMES };
	int fd = hipec_open(), ret, i;
	size_t size;
	void *image;

	CHECK(fd >= 0);
	read_image("slowest-fault", &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	for (i = 0; (ret = hipec_load_args(fd, &load)) == -ENOSPC && i < 1000; i++)
		usleep(10000);
	CHECK_EQ(ret, 0);
	free(image);
	return fd;
}

static int open_a(void)
{
	int file = open(FILE_A, O_RDONLY);

	CHECK(file >= 0 && !posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	return file;
}

static void read_page(int file, long page)
{
	char byte;

	CHECK(pread(file, &byte, 1, page * PAGE_BYTES) == 1);
}

/* A child that has a container's lock for nearly all of the time, and none of its descriptors. */
static pid_t start_reader(void)
{
	long long since;
	pid_t pid;
	long page;
	int file, fd;

	atomic_store(&board->begun, 0);
	atomic_store(&board->took, 0);
	pid = start();
	if (pid) {
		while (!atomic_load(&board->took)) {
			CHECK(!waitpid(pid, NULL, WNOHANG));
			usleep(1000);
		}
		return pid;
	}
	for (fd = 3; fd < 64; fd++)
		close(fd);
	file = open_a();
	for (page = 0; page < (long)PAGES; page++) {
		since = now_ns();
		atomic_fetch_add(&board->begun, 1);
		read_page(file, page);
		if (!page)
			atomic_store(&board->took, now_ns() - since);
	}
	exit(0);
}

/*
 * What is called, as another user, when a quarter of a read is over, and with it its disk: the event
 * runs. Return: whether it took an eighth of that time, or less; where it waits for the event it
 * takes three quarters.
 */
static bool waits_for_none(void (*fn)(int arg), int arg)
{
	long long event = atomic_load(&board->took), took;
	int read = atomic_load(&board->begun), status;
	pid_t pid = start();

	if (!pid) {
		CHECK(!setuid(65534));
		atomic_store(&board->step, 1);
		while (atomic_load(&board->begun) == read)
			usleep(100);
		usleep(event / 4000);
		took = now_ns();
		fn(arg);
		took = now_ns() - took;
		printf("# %lld of %lld ms\n", took / 1000000, event / 1000000);
		fflush(stdout);
		_exit(took > event / 8);
	}
	while (!atomic_load(&board->step))
		usleep(1000);
	atomic_store(&board->step, 0);
	close(arg);	/* it has one of its own */
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return !WEXITSTATUS(status);
}

static void close_it(int fd)
{
	CHECK(!close(fd));
}

static int nr_waited;

/* A host may let one of several lie for a while. */
static void count(bool waits_for_none)
{
	nr_waited += !waits_for_none;
}

/* The file's pages are on the disk alone, as nobody has it. */
static int container_to_be_busy(void)
{
	int c = open_slowest();

	make_file(FILE_A, PAGES * PAGE_BYTES);
	close(take_file(c, FILE_A, O_RDONLY));
	return c;
}

/* A record and samples, of who has them from somebody else. */
static void who_closes_what_tells(void)
{
	int c, i, record, samples;
	pid_t reader;

	set_up();
	for (i = 0; i < TRIES; i += 2) {
		c = container_to_be_busy();
		record = hipec_record(c, 0, 0);
		samples = hipec_sample(c, 0, 1, 0);
		CHECK(record >= 0 && samples >= 0);
		reader = start_reader();
		count(waits_for_none(close_it, record));
		count(waits_for_none(close_it, samples));
		stop(reader);
		close(c);
	}
	CHECK_LE(nr_waited, TRIES / 2);
	clean_up();
}

/* Records of containers that are gone; the next one is busy. */
static void who_closes_what_is_over(void)
{
	int record[TRIES], c[TRIES], busy, i;
	pid_t reader;

	set_up();
	for (i = 0; i < TRIES; i++) {
		c[i] = load_policy("fifo", 16, 1);
		record[i] = hipec_record(c[i], 0, 0);
		CHECK(record[i] >= 0);
	}
	busy = container_to_be_busy();
	for (i = 0; i < TRIES; i++)
		close(c[i]);
	reader = start_reader();
	for (i = 0; i < TRIES; i++)
		count(waits_for_none(close_it, record[i]));
	CHECK_LE(nr_waited, TRIES / 2);
	stop(reader);
	close(busy);
	clean_up();
}

/* The last descriptor of a container, whose event ends then. */
static void who_closes_a_container(void)
{
	pid_t reader;
	int i, c;

	set_up();
	for (i = 0; i < TRIES; i++) {
		c = container_to_be_busy();
		reader = start_reader();
		count(waits_for_none(close_it, c));
		stop(reader);
	}
	CHECK_LE(nr_waited, TRIES / 2);
	clean_up();
}

static uint64_t offset;

static void map_array(int c)
{
	void *array = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, c, offset);

	CHECK(array != MAP_FAILED && !munmap(array, PAGE_BYTES));
}

/* While mmap() waits, nobody can look at the process that made the call. */
static void who_maps_an_array(void)
{
	pid_t reader;
	int c, i;

	set_up();
	c = container_to_be_busy();
	offset = operand_of(c, "level").offset;
	reader = start_reader();
	for (i = 0; i < TRIES; i++)
		count(waits_for_none(map_array, dup(c)));
	CHECK_LE(nr_waited, TRIES / 2);
	stop(reader);
	close(c);
	clean_up();
}

/* Pages that a stranger reads, which a worker tells the policy of; and how many at once at most. */
#define STRANGE 64
#define AT_ONCE (STRANGE / 4)
#define ASKED 40

static void wait_step(int step)
{
	while (atomic_load(&board->step) < step)
		usleep(1000);
}

/* The owner's container; the stranger, who is root and its parent, has read the file then. */
static int open_for_stranger(long long *event, uint32_t *heard)
{
	int c, file;

	CHECK(!setuid(1000));
	c = open_slowest();
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	*event = now_ns();
	read_page(file, PAGES - 1);
	CHECK_EQ(get_status(c).counters.pages_in, 1);
	*event = now_ns() - *event;
	close(file);
	*heard = operand_of(c, "heard").slot;
	atomic_store(&board->step, 1);
	wait_step(2);
	return c;
}

/* To be told of an operand takes the container's lock, and has nothing told to the policy. */
static int64_t heard_by(int c, uint32_t slot)
{
	struct hipec_operand o;

	CHECK_EQ(hipec_operand(c, 0, slot, &o), 0);
	return o.value;
}

static void ask_again_and_again(void)
{
	int64_t most = 0, last = 1, now, half = 0;
	long long event;
	uint32_t heard;
	int c, i;

	c = open_for_stranger(&event, &heard);
	for (i = 0; i < ASKED; i++) {
		now = heard_by(c, heard);
		if (now - last > most)
			most = now - last;
		last = now;
		if (i == ASKED / 2)
			half = now;
		usleep(100000);
	}
	printf("# an event %lld ms; %lld heard of, %lld at once\n", event / 1000000,
	       (long long)last, (long long)most);
	fflush(stdout);
	CHECK_LE(most, AT_ONCE);
	/* It is told of more, in the worker's next slices. */
	CHECK_LE(half + 1, last);
	close(c);
	exit(0);
}

/* Return: ns that it takes to end a container. */
static long long time_to_close(int c)
{
	long long began = now_ns();

	close(c);
	return now_ns() - began;
}

static long long time_to_close_an_idle_one(void)
{
	int c = open_cache("fifo", 16);

	make_file(DIR_DATA "nobody-idle", PAGE_BYTES);
	close(take_file(c, DIR_DATA "nobody-idle", O_RDONLY));
	return time_to_close(c);
}

/* Return: whether it takes an eighth of an event more, or less, to end it beside the worker. */
static void end_at_once(void)
{
	long long event, took, idle = time_to_close_an_idle_one();
	uint32_t heard;
	int c = open_for_stranger(&event, &heard);

	usleep(event / 1000 * 3);	/* the worker is busy with what it was told last */
	took = time_to_close(c);
	printf("# an event %lld ms, close %lld ms, of an idle one %lld ms\n", event / 1000000,
	       took / 1000000, idle / 1000000);
	fflush(stdout);
	_exit(took > idle + event / 8);
}

/* Return: what the owner's process returns. @on: the stranger reads on until then. */
static int beside_a_stranger(void (*owner)(void), bool on)
{
	int file, i, status;
	pid_t pid;

	set_up();
	pid = start();
	if (!pid)
		owner();
	while (atomic_load(&board->step) < 1) {
		CHECK(!waitpid(pid, NULL, WNOHANG));
		usleep(1000);
	}
	file = open_a();
	for (i = 0; i < STRANGE; i++)
		read_page(file, i);
	atomic_store(&board->step, 2);
	for (; !waitpid(pid, &status, on ? WNOHANG : 0); i = (i + 1) % (PAGES - 1)) {
		read_page(file, i);
		usleep(2000);
	}
	close(file);
	CHECK(WIFEXITED(status));
	clean_up();
	return WEXITSTATUS(status);
}

static void a_worker_takes_a_slice(void)
{
	CHECK_EQ(beside_a_stranger(ask_again_and_again, false), 0);
}

/* Of 50 ms each, between rests of half a second: an event is given up as its slice ends. */
static void ask_at_the_end(void)
{
	long long event, began = now_ns(), ms;
	uint32_t heard;
	int c = open_for_stranger(&event, &heard);
	int64_t told;

	usleep(4000000);
	told = heard_by(c, heard) - 1;
	ms = (now_ns() - began) / 1000000;
	printf("# an event %lld ms; %lld heard of in %lld ms\n", event / 1000000, (long long)told, ms);
	fflush(stdout);
	CHECK_LE(told, (2 + 50000000 / event) * (ms / 550 + 2));
	close(c);
	exit(0);
}

/* A stranger who reads on while the worker has its slice does not take it out of its rest. */
static void a_worker_rests_beside_a_stranger(void)
{
	CHECK_EQ(beside_a_stranger(ask_at_the_end, true), 0);
}

static void a_container_ends_its_worker_s_event(void)
{
	int i;

	for (i = 0; i < TRIES; i++)
		count(!beside_a_stranger(end_at_once, false));
	CHECK_LE(nr_waited, TRIES / 2);
}

#define GROUP "hipec-nobody"
static int own, foreign, slot;
static atomic_bool done;

static void *exchange(void *arg)
{
	(void)arg;
	while (!atomic_load(&done)) {
		CHECK(dup2(foreign, slot) == slot);
		CHECK(dup2(own, slot) == slot);
	}
	return NULL;
}

static int open_group(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY);

	CHECK(fd >= 0);
	return fd;
}

/* As the owner of one of two cgroups. It is his that was taken, or none. */
static void take_while_exchanged(void)
{
	int c, i, ret, nr_taken = 0, nr_refused = 0;
	pthread_t thread;

	CHECK(!setuid(1000));
	c = open_cache("fifo", 64);
	own = open_group(CGROUP GROUP "/own");
	foreign = open_group(CGROUP GROUP "/foreign");
	slot = dup(foreign);
	CHECK_EQ(hipec_take_cgroup(c, 0, slot, 0, NULL, NULL), -EPERM);
	CHECK(!pthread_create(&thread, NULL, exchange, NULL));
	/* The other thread may not have begun. */
	for (i = 0; i < rounds(4000) || nr_taken < 10; i++) {
		ret = hipec_take_cgroup(c, 0, slot, 0, NULL, NULL);
		if (ret) {
			CHECK(ret == -EPERM || ret == -EBADF);
			nr_refused++;
			continue;
		}
		nr_taken++;
		if (hipec_release(c, 0, own))
			FAIL("in round %d a foreign cgroup was taken", i);
	}
	atomic_store(&done, true);
	CHECK(!pthread_join(thread, NULL));
	printf("# %d taken, %d refused\n", nr_taken, nr_refused);
	CHECK(nr_refused);
	close(c);
	exit(0);
}

static void what_was_checked_is_taken(void)
{
	pid_t pid;

	set_up();
	/* What a test that failed has left. */
	rmdir(CGROUP GROUP "/own");
	rmdir(CGROUP GROUP "/foreign");
	rmdir(CGROUP GROUP);
	CHECK(!mkdir(CGROUP GROUP, 0755) && !mkdir(CGROUP GROUP "/own", 0755));
	CHECK(!mkdir(CGROUP GROUP "/foreign", 0755) && !chown(CGROUP GROUP "/own", 1000, 1000));
	pid = start();
	if (!pid)
		take_while_exchanged();
	finish(pid);
	CHECK(!rmdir(CGROUP GROUP "/own") && !rmdir(CGROUP GROUP "/foreign") && !rmdir(CGROUP GROUP));
	clean_up();
}

static int take(int c, int group)
{
	return hipec_take_cgroup(c, 0, group, 0, NULL, NULL);
}

/*
 * The last cgroup is let go as an event begins: the hook ends behind that, as the kernel waits for each
 * task to sleep of its own. Who takes the next cgroup waits for it, and is killed. Return: whether he
 * is gone before three quarters of the event are over.
 */
static bool dies_before_the_hook(int c, int group)
{
	long long event = atomic_load(&board->took), took;
	int read;
	pid_t pid;

	CHECK_EQ(take(c, group), 0);
	read = atomic_load(&board->begun);
	while (atomic_load(&board->begun) == read)
		usleep(100);
	usleep(event / 8000);
	took = now_ns();
	CHECK_EQ(hipec_release(c, 0, group), 0);
	usleep(event / 8000);
	pid = start();
	if (!pid)
		exit(!take(c, group));
	wait_until_asleep(pid);
	stop(pid);
	took = now_ns() - took;
	printf("# %lld of %lld ms\n", took / 1000000, event / 1000000);
	hipec_release(c, 0, group);	/* he may have had it before */
	return took < event / 4 * 3;
}

static void who_takes_a_cgroup(void)
{
	int c, busy, group, i;
	pid_t reader;

	set_up();
	rmdir(CGROUP GROUP);
	CHECK(!mkdir(CGROUP GROUP, 0755));
	group = open_group(CGROUP GROUP);
	busy = container_to_be_busy();
	c = open_cache("fifo", 64);
	reader = start_reader();
	for (i = 0; i < TRIES; i++)
		count(dies_before_the_hook(c, group));
	CHECK_LE(nr_waited, TRIES / 2);
	stop(reader);
	close(busy);
	close(c);
	close(group);
	CHECK(!rmdir(CGROUP GROUP));
	clean_up();
}

static const struct test cache_nobody_tests[] = {
	{ "cache_worker_takes_a_slice_and_rests", a_worker_takes_a_slice },
	{ "cache_worker_rests_beside_a_stranger_who_reads_on", a_worker_rests_beside_a_stranger },
	{ "cache_that_ends_ends_its_worker_s_event", a_container_ends_its_worker_s_event },
	{ "cache_records_are_closed_beside_an_event", who_closes_what_tells },
	{ "cache_records_of_what_is_gone_are_closed_beside_an_event", who_closes_what_is_over },
	{ "cache_is_closed_by_others_beside_an_event", who_closes_a_container },
	{ "cache_arrays_are_mapped_beside_an_event", who_maps_an_array },
	{ "cache_of_a_cgroup_is_of_the_one_that_was_checked", what_was_checked_is_taken },
	{ "cache_open_waits_for_the_hook_s_end_and_can_be_killed", who_takes_a_cgroup },
	{ 0 }
};
SUITE(cache_nobody_tests, 0);
