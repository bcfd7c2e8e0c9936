// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place that programs had open, or mapped, before they were taken: what is
 * counted is what would be if they had been opened later.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "before-a"
#define PAGES 512
#define FRAMES 448
#define PASSES 6

/* Each page twice: it is missed once, if it is not there, and found once. */
static void read_twice(int file)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < 2 * PAGES; i++) {
		CHECK(pread(file, &word, sizeof(word), i / 2 * PAGE_BYTES) == sizeof(word));
		CHECK(word == page_word(i / 2));
	}
}

static int open_before(void)
{
	int file;

	stay_here();
	make_file(FILE_A, PAGES * PAGE_BYTES);
	file = open(FILE_A, O_RDONLY);
	CHECK(file >= 0);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	return file;
}

static void take(int c, int file)
{
	struct hipec_take t;
	int ret = hipec_take(c, 0, file, &t);

	if (ret)
		FAIL("take: %s, refused %u", strerror(-ret), t.refused);
}

static void check_twice(int c, int file)
{
	struct hipec_status s;

	read_twice(file);
	s = get_status(c);
	CHECK_EQ(s.counters.read_pages, PAGES);
	CHECK_EQ(s.counters.pages_in, PAGES);
	CHECK_EQ(s.counters.hits, PAGES);
}

/* By another descriptor, by the same, and by one that another container had before. */
static void reads_are_heard(void)
{
	int file = open_before(), path = open(FILE_A, O_PATH), c, i;

	CHECK(path >= 0);
	for (i = 0; i < 3; i++) {
		c = open_cache("lru", PAGES);
		take(c, i == 0 ? path : file);
		CHECK_EQ(get_status(c).counters.open_before, i == 0);
		check_twice(c, file);
		close(c);
		CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
	}
	close(file);
	file = open_before();
	c = open_cache("lru", PAGES);
	take(c, file);
	CHECK_EQ(get_status(c).counters.open_before, 1);
	check_twice(c, file);
	close(path);
	close(file);
	close(c);
}

/* The names of a file are looked through, up to so many. */
#define NAMES 1000

/* By the oldest of more names than are looked through. */
static void many_names_are_heard(void)
{
	int file = open_before(), path, c, i;
	char name[64];

	for (i = 0; i <= NAMES; i++) {
		snprintf(name, sizeof(name), FILE_A "-%d", i);
		unlink(name);
		CHECK(!link(FILE_A, name));
	}
	path = open(name, O_PATH);
	CHECK(path >= 0);
	c = open_cache("lru", PAGES);
	take(c, path);
	CHECK_EQ(get_status(c).counters.open_before, 1);
	check_twice(c, file);
	for (i = 0; i <= NAMES; i++) {
		snprintf(name, sizeof(name), FILE_A "-%d", i);
		CHECK(!unlink(name));
	}
	close(path);
	close(file);
	close(c);
}

/* In another process, which has closed it but for a copy of the descriptor. */
static void other_processes_are_heard(void)
{
	int file = open_before(), path = open(FILE_A, O_PATH), go[2], status, c;
	pid_t pid;
	char byte;

	CHECK(path >= 0 && !pipe(go));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		int copy = dup(file);

		close(file);
		CHECK(read(go[0], &byte, 1) == 1);
		read_twice(copy);
		_exit(0);
	}
	close(file);
	c = open_cache("lru", PAGES);
	take(c, path);
	CHECK(write(go[1], "x", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK_EQ(get_status(c).counters.open_before, 1);
	CHECK_EQ(get_status(c).counters.read_pages, PAGES);
	CHECK_EQ(get_status(c).counters.hits, PAGES);
	close(go[0]);
	close(go[1]);
	close(path);
	close(c);
}

/* A map whose descriptor was closed: as mapped later, cache.c. */
static void faults_are_heard(void)
{
	const size_t least = PAGES + (PASSES - 1) * (PAGES - FRAMES);
	struct map m = { .file = open_before(), .pages = PAGES };
	struct hipec_status s;
	size_t i;
	int path;

	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
	CHECK(m.base != MAP_FAILED);
	close(m.file);
	path = open(FILE_A, O_PATH);
	CHECK(path >= 0);
	m.container = open_cache("mru", FRAMES);
	take(m.container, path);
	CHECK_EQ(get_status(m.container).counters.open_before, 1);
	for (i = 0; i < PASSES * PAGES; i++)
		touch(&m, i % PAGES);
	s = get_status(m.container);
	CHECK_LE(least, s.counters.read_pages);
	CHECK_LE(s.counters.read_pages, least + (PASSES - 1) * 128);
	CHECK_LE(PAGES, s.counters.pages_in);
	CHECK(!munmap(m.base, PAGES * PAGE_BYTES));
	close(path);
	close(m.container);
}

/* References to the module. */
static long module_references(void)
{
	FILE *file = fopen("/sys/module/hipec/refcnt", "r");
	long nr;

	CHECK(file && fscanf(file, "%ld", &nr) == 1);
	fclose(file);
	return nr;
}

static volatile bool opening;

static void *open_again_and_again(void *unused)
{
	(void)unused;
	while (opening)
		close(open(FILE_A, O_RDONLY));
	return NULL;
}

/* Three threads open the file that @c takes and lets go, again and again. */
static void open_beside_take(int c, int file, int times)
{
	pthread_t thread[3];
	int i;

	opening = true;
	for (i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, open_again_and_again, NULL));
	for (i = 0; i < times; i++) {
		take(c, file);
		CHECK_EQ(hipec_release(c, 0, file), 0);
	}
	opening = false;
	for (i = 0; i < 3; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

/*
 * Files are opened as their tables change: each open gets the functions of one table, and a
 * reference to the owner of one, in v6.1 perhaps of the other. None is lost, and none is kept. That
 * is looked at now and then, lest as many are lost as are kept.
 */
static void open_beside_take_keeps_references(void)
{
	int file = open_before(), c = open_cache("fifo", 16), part, i;
	long before;

	take(c, file);
	CHECK_EQ(hipec_release(c, 0, file), 0);
	before = module_references();
	CHECK(!sched_setaffinity(0, sizeof(cpu_set_t), &(cpu_set_t){ .__bits = { ~0ul } }));
	for (part = 0; part < 12; part++) {
		open_beside_take(c, file, rounds(500));
		/* A file that was closed is put a while later. */
		for (i = 0; i < 200 && module_references() != before; i++)
			usleep(10000);
		CHECK_EQ(module_references(), before);
	}
	close(c);
	close(file);
}

/* What another user has open is not looked for, and not heard. */
static void strangers_are_not_heard(void)
{
	int file = open_before(), status, tube[2], c;
	pid_t stranger, loader;
	char byte;

	close(file);
	CHECK(!chown(FILE_A, 1000, 1000) && !chmod(FILE_A, 0644));
	CHECK(!chmod("/data", 0755) && !chmod(HIPEC_DEVICE, 0666) && !pipe(tube));
	stranger = fork();
	CHECK(stranger >= 0);
	if (!stranger) {
		CHECK(!setuid(65534));
		CHECK(open(FILE_A, O_RDONLY) >= 0);
		CHECK(write(tube[1], "x", 1) == 1);
		pause();
	}
	CHECK(read(tube[0], &byte, 1) == 1);
	loader = fork();
	CHECK(loader >= 0);
	if (!loader) {
		CHECK(!setuid(1000));
		file = open(FILE_A, O_RDONLY);
		CHECK(file >= 0 && open(FILE_A, O_RDONLY) >= 0);
		c = open_cache("lru", PAGES);
		take(c, file);
		CHECK_EQ(get_status(c).counters.open_before, 2);
		exit(0);
	}
	CHECK(waitpid(loader, &status, 0) == loader);
	CHECK(!kill(stranger, SIGKILL) && waitpid(stranger, NULL, 0) == stranger);
	CHECK(!chmod(HIPEC_DEVICE, 0600) && !close(tube[0]) && !close(tube[1]));
	CHECK_EQ(status, 0);
}

static const struct test cache_before_tests[] = {
	{ "cache_hears_descriptors_of_before", reads_are_heard },
	{ "cache_hears_descriptors_of_a_file_with_many_names", many_names_are_heard },
	{ "cache_hears_other_processes_of_before", other_processes_are_heard },
	{ "cache_hears_maps_of_before", faults_are_heard },
	{ "cache_hears_no_stranger_s_descriptors_of_before", strangers_are_not_heard },
	{ "cache_open_beside_take_keeps_references", open_beside_take_keeps_references },
	{ 0 }
};
SUITE(cache_before_tests, 0);
