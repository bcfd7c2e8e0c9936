// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups in place: what their processes open is a policy's, from the first access on,
 * and nothing else is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define GROUP "hipec-opens"
#define FILE_A DIR_DATA "cgroup-a"
#define FILE_B DIR_DATA "cgroup-b"
#define PAGES 256
#define LEAST (PAGES * PAGE_BYTES)

static void make_group(const char *group)
{
	char path[128];

	/* What a test that failed has left. */
	snprintf(path, sizeof(path), CGROUP "%s/inner", group);
	rmdir(path);
	snprintf(path, sizeof(path), CGROUP "%s", group);
	rmdir(path);
	CHECK(!mkdir(path, 0755));
}

static int open_group(const char *group)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), CGROUP "%s", group);
	fd = open(path, O_PATH | O_DIRECTORY);
	CHECK(fd >= 0);
	return fd;
}

static int take_group(int container, const char *group, struct hipec_take *take)
{
	int fd = open_group(group), ret;

	ret = hipec_take_cgroup(container, 0, fd, LEAST, NULL, take);
	close(fd);
	return ret;
}

/* Run @fn in a process of @group. */
static void run_in(const char *group, void (*fn)(int container), int container)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		stay_here();
		if (group)
			join_group(group);
		fn(container);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* Read all of a file by pages, twice each. */
static void read_twice(int file)
{
	uint64_t word;
	size_t i;

	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < 2 * PAGES; i++) {
		CHECK(pread(file, &word, sizeof(word), i / 2 * PAGE_BYTES) == sizeof(word));
		CHECK(word == page_word(i / 2));
	}
}

/* Each page is read once and touched twice, and the first touch is the first at all. */
static void open_and_read(int c)
{
	struct hipec_status s = get_status(c);
	int file = open(FILE_A, O_RDONLY);

	CHECK(file >= 0);
	CHECK_EQ(get_status(c).regions, s.regions + 1);
	read_twice(file);
	close(file);
	s = get_status(c);
	CHECK_EQ(s.counters.read_pages, PAGES);
	CHECK_EQ(s.counters.pages_in, PAGES);
	CHECK_EQ(s.counters.hits, PAGES);
	CHECK_EQ(s.resident, 64);
}

static void open_others(int c)
{
	uint32_t before = get_status(c).regions;
	int path = open(FILE_B, O_PATH), small = open(DIR_DATA "cgroup-small", O_RDONLY);
	int self = open("/proc/self/exe", O_RDONLY), dir = open(DIR_DATA, O_RDONLY);

	CHECK(path >= 0 && small >= 0 && self >= 0 && dir >= 0);
	CHECK_EQ(get_status(c).regions, before);
	close(path);
	close(small);
	close(self);
	close(dir);
}

static void open_b(int c)
{
	int file = open(FILE_B, O_RDWR);

	CHECK(file >= 0 && get_status(c).in_place);
	close(file);
}

/* Inside and outside; small files, programs, other kinds; until it is let go. */
static void what_is_opened_is_taken(void)
{
	int c = open_cache("lru", 64), group;

	make_group(GROUP);
	make_group(GROUP "/inner");
	make_file(FILE_A, LEAST);
	make_file(FILE_B, LEAST);
	make_file(DIR_DATA "cgroup-small", LEAST - 1);
	drop_pages(FILE_A);
	CHECK_EQ(take_group(c, GROUP, NULL), 0);
	run_in(NULL, open_b, c);
	CHECK_EQ(get_status(c).regions, 0);
	run_in(GROUP, open_and_read, c);
	run_in(GROUP, open_others, c);
	CHECK_EQ(get_status(c).regions, 1);
	run_in(GROUP "/inner", open_b, c);
	CHECK_EQ(get_status(c).regions, 2);
	CHECK(!unlink(FILE_B));
	CHECK_EQ(get_status(c).regions, 1);

	make_file(FILE_B, LEAST);
	group = open_group(GROUP);
	CHECK_EQ(hipec_release(c, 0, group), 0);
	CHECK_EQ(hipec_release(c, 0, group), -ENOENT);
	close(group);
	run_in(GROUP, open_b, c);
	CHECK_EQ(get_status(c).regions, 1);
	CHECK_EQ(take_group(c, GROUP, NULL), 0);
	run_in(GROUP, open_b, c);
	CHECK_EQ(get_status(c).regions, 2);
	close(c);
	CHECK(!unlink(FILE_A) && !unlink(FILE_B));
	CHECK(!rmdir(CGROUP GROUP "/inner") && !rmdir(CGROUP GROUP));
}

#define PROGRAM DIR_DATA "cgroup-program"

static void map_program(int c)
{
	int file = open(PROGRAM, O_RDONLY), again, i;
	void *code;

	CHECK(file >= 0);
	CHECK_EQ(get_status(c).regions, 1);
	code = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	CHECK(code != MAP_FAILED);
	CHECK(!memcmp(code, "\177ELF", 4));
	for (i = 0; i < 1000 && get_status(c).regions; i++)
		usleep(10000);
	CHECK_EQ(get_status(c).regions, 0);
	/* Its first page is there now, and says what it is. */
	again = open(PROGRAM, O_RDONLY);
	CHECK(again >= 0);
	CHECK_EQ(get_status(c).regions, 0);
	close(again);
	close(file);
}

/* What is seen to be code is not taken, and what turns out to be is let go. */
static void code_is_left_alone(void)
{
	static unsigned char buffer[1 << 16];
	int c = open_cache("lru", 64), from = open("/proc/self/exe", O_RDONLY);
	int to = open(PROGRAM, O_CREAT | O_TRUNC | O_WRONLY, 0755);
	ssize_t n;

	CHECK(from >= 0 && to >= 0);
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		CHECK(write(to, buffer, n) == n);
	CHECK(!n && !ftruncate(to, 2 * LEAST));
	close(from);
	close(to);
	drop_pages(PROGRAM);
	make_group(GROUP);
	CHECK_EQ(take_group(c, GROUP, NULL), 0);
	run_in(GROUP, map_program, c);
	close(c);
	CHECK(!unlink(PROGRAM) && !rmdir(CGROUP GROUP));
}

static void as_a_user(int c)
{
	struct hipec_take take;

	CHECK(!setuid(65534));
	CHECK_EQ(take_group(c, GROUP, &take), -EPERM);
	CHECK_EQ(take_group(c, GROUP "/inner", &take), 0);
}

static void open_two(int c)
{
	int own = open(FILE_A, O_RDONLY), roots = open(FILE_B, O_RDONLY);

	CHECK(own >= 0 && roots >= 0);
	CHECK_EQ(get_status(c).regions, 1);
	close(own);
	close(roots);
}

/* A user's policy has his cgroup, and his files; a cgroup has one policy. */
static void a_user_has_his_own(void)
{
	int a = open_cache("lru", 64), b = open_cache("lru", 64), dir;
	struct hipec_take take;

	make_group(GROUP);
	make_group(GROUP "/inner");
	CHECK(!chown(CGROUP GROUP "/inner", 65534, 65534));
	make_file(FILE_A, LEAST);
	make_file(FILE_B, LEAST);
	CHECK(!chown(FILE_A, 65534, 65534));
	run_in(NULL, as_a_user, a);
	run_in(GROUP "/inner", open_two, a);
	CHECK_EQ(take_group(b, GROUP "/inner", &take), -EBUSY);
	CHECK_EQ(take.other, get_status(a).id);
	dir = open(DIR_DATA, O_RDONLY);
	CHECK_EQ(hipec_take_cgroup(b, 0, dir, 0, NULL, NULL), -EBADF);
	CHECK_EQ(hipec_take_cgroup(b, 0, -1, 0, NULL, NULL), -EBADF);
	close(dir);
	/* The cgroup around it is b's; what is inside the other stays a's. */
	CHECK_EQ(take_group(b, GROUP, &take), 0);
	CHECK(!unlink(FILE_A) && !unlink(FILE_B));
	make_file(FILE_B, LEAST);
	run_in(GROUP "/inner", open_b, a);
	CHECK_EQ(get_status(a).regions + get_status(b).regions, 0);
	run_in(GROUP, open_b, b);
	CHECK_EQ(get_status(b).regions, 1);
	close(a);
	close(b);
	CHECK(!unlink(FILE_B));
	CHECK(!rmdir(CGROUP GROUP "/inner") && !rmdir(CGROUP GROUP));
}

/* Opens of three tasks, while the cgroup is taken and let go. */
static void comes_and_goes_under_load(void)
{
	int nr, i, c, status, file;
	pid_t pid;

	make_group(GROUP);
	make_file(FILE_A, LEAST);
	for (nr = 0; nr < 3; nr++) {
		pid = fork();
		CHECK(pid >= 0);
		if (pid)
			continue;
		join_group(GROUP);
		for (i = 0; i < rounds(120); i++) {
			file = open(FILE_A, O_RDONLY);
			CHECK(file >= 0);
			if (i % 4 == nr)
				read_twice(file);
			close(file);
		}
		_exit(0);
	}
	for (i = 0; i < rounds(30); i++) {
		c = open_cache("lru", 64);
		CHECK_EQ(take_group(c, GROUP, NULL), 0);
		get_status(c);
		close(c);
	}
	for (nr = 0; nr < 3; nr++)
		CHECK(wait(&status) > 0 && !status);
	CHECK(!unlink(FILE_A) && !rmdir(CGROUP GROUP));
}

/* Of all containers together. */
static void cgroups_are_bounded(void)
{
	int c = open_cache("lru", 64), group, i;
	char name[32];

	for (i = 0; i <= HIPEC_MAX_CGROUPS; i++) {
		snprintf(name, sizeof(name), GROUP "-%d", i);
		make_group(name);
		CHECK_EQ(take_group(c, name, NULL), i < HIPEC_MAX_CGROUPS ? 0 : -ENOSPC);
	}
	group = open_group(GROUP "-0");
	CHECK_EQ(hipec_release(c, 0, group), 0);
	close(group);
	CHECK_EQ(take_group(c, name, NULL), 0);
	close(c);
	for (i = 0; i <= HIPEC_MAX_CGROUPS; i++) {
		snprintf(name, sizeof(name), CGROUP GROUP "-%d", i);
		CHECK(!rmdir(name));
	}
}

/* Patterns of 16 KB, for as many cgroups as there may be. */
static void take_with_patterns(void)
{
	static char names[HIPEC_MAX_NAMES + 1];
	int c = open_cache("lru", 64), group, i;
	long before = charged_to(GROUP), after = LONG_MAX;
	char name[32];

	memset(names, 'x', HIPEC_MAX_NAMES - 1);
	names[HIPEC_MAX_NAMES - 1] = '\n';
	for (i = 0; i < HIPEC_MAX_CGROUPS; i++) {
		snprintf(name, sizeof(name), GROUP "-%d", i);
		group = open_group(name);
		CHECK_EQ(hipec_take_cgroup(c, 0, group, 0, names, NULL), 0);
		close(group);
	}
	CHECK_LE(HIPEC_MAX_CGROUPS * HIPEC_MAX_NAMES, charged_to(GROUP) - before);
	CHECK_EQ(hipec_release(c, 0, -1), 0);
	/* They go behind a grace period, and in batches of it. */
	for (i = 0; i < 2000 && after > HIPEC_MAX_CGROUPS * HIPEC_MAX_NAMES / 2; i++) {
		usleep(20000);
		after = charged_to(GROUP) - before;
	}
	CHECK_LE(after, HIPEC_MAX_CGROUPS * HIPEC_MAX_NAMES / 2);
	close(c);
}

/* What patterns take, the cgroup pays whose process attaches. */
static void patterns_are_charged(void)
{
	char name[32];
	int i;

	for (i = 0; i < HIPEC_MAX_CGROUPS; i++) {
		snprintf(name, sizeof(name), GROUP "-%d", i);
		make_group(name);
	}
	new_group(GROUP, 64l << 20);
	CHECK_EQ(in_group(GROUP, take_with_patterns), 0);
	CHECK(!rmdir(CGROUP GROUP));
	for (i = 0; i < HIPEC_MAX_CGROUPS; i++) {
		snprintf(name, sizeof(name), CGROUP GROUP "-%d", i);
		CHECK(!rmdir(name));
	}
}

/* Tokens, with what other objects share their slabs, to some on each CPU. */
static long nr_tokens(void)
{
	FILE *file = fopen("/sys/kernel/slab/hipec_cache_token/objects", "r");
	long nr = 0;

	CHECK(file && fscanf(file, "%ld", &nr) == 1);
	fclose(file);
	return nr;
}

static const size_t *page_to_read;

static void read_one_page(int file)
{
	uint64_t word;

	CHECK(pread(file, &word, sizeof(word), *page_to_read * PAGE_BYTES) == sizeof(word));
}

/*
 * Each cgroup that has read a page has a token, which is its parent's when it has gone. Reclaim there
 * finds the container by one of them, and frees the others.
 */
static void tokens_of_cgroups_that_have_gone(void)
{
	enum { GROUPS = 1200, SOME = 400 };
	int c = open_cache("lru", 64), file;
	long before = nr_tokens();
	size_t i;

	new_group(GROUP, 1l << 30);
	put_text(CGROUP GROUP "/cgroup.subtree_control", "+memory");
	make_file(FILE_A, GROUPS * PAGE_BYTES);
	file = take_file(c, FILE_A, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	page_to_read = &i;
	for (i = 0; i < GROUPS; i++) {
		CHECK(!mkdir(CGROUP GROUP "/inner", 0755));
		run_in(GROUP "/inner", read_one_page, file);
		while (rmdir(CGROUP GROUP "/inner"))
			CHECK_EQ(errno, EBUSY);
	}
	printf("# %ld tokens\n", nr_tokens() - before);
	CHECK_LE(GROUPS - SOME, nr_tokens() - before);
	/* Its room is less than reclaim wants. */
	set_group(GROUP, "memory.max", of_group(GROUP, "memory.current", "") + (64 << 10));
	for (i = 0; i < 100 && nr_tokens() - before > SOME; i++) {
		int fd = open(CGROUP GROUP "/memory.reclaim", O_WRONLY);

		CHECK(fd >= 0);
		if (write(fd, "64K", 3) < 0)
			CHECK_EQ(errno, EAGAIN);
		close(fd);
	}
	printf("# %ld tokens\n", nr_tokens() - before);
	CHECK_LE(nr_tokens() - before, SOME);
	close(file);
	close(c);
	CHECK(!unlink(FILE_A));
	while (rmdir(CGROUP GROUP))
		CHECK_EQ(errno, EBUSY);
}

static const struct test cache_cgroup_tests[] = {
	{ "cache_tokens_of_cgroups_that_have_gone_go", tokens_of_cgroups_that_have_gone },
	{ "cache_takes_what_a_cgroup_opens", what_is_opened_is_taken },
	{ "cache_of_a_cgroup_leaves_code_alone", code_is_left_alone },
	{ "cache_of_a_cgroup_is_its_owners", a_user_has_his_own },
	{ "cache_of_a_cgroup_is_one_of_64", cgroups_are_bounded },
	{ "cache_of_a_cgroup_charges_its_patterns", patterns_are_charged },
	{ "cache_of_a_cgroup_comes_and_goes_under_load", comes_and_goes_under_load },
	{ 0 }
};
SUITE(cache_cgroup_tests, 0);
