// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotas: that they are looked at first, and whose they are. The pool has 512 frames
 * (run.sh).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define DEVICE "/dev/hipec"
#define QUOTA "/sys/module/hipec/parameters/quota_mb"
#define FILE_Q DIR_DATA "quota"
#define QUOTA_FRAMES 256l
#define MOST_MEMBERS 256	/* HIPEC_MAX_USER_MEMBERS */
#define LOCKED 32

/* Whose namespaces these are, and a user that is mapped into the first's. */
#define OWNER 1000
#define OTHER 1001
#define SUBORDINATE 100000

#define MB (1l << 20)

/* So many frames, and twice as many ghosts: 2.4 MB of pointers alone. */
#define TOO_MANY 100000

static void load_too_many(void)
{
	CHECK_EQ(load_shared("ghosts", TOO_MANY, NULL, 0), -EDQUOT);
}

/*
 * In a cgroup that has not the memory for the tables of what is asked for: nobody
 * looks for it, and the OOM killer has no reason to come.
 */
static void quota_comes_first(void)
{
	new_group("hipec-a", 2 * MB);
	CHECK_EQ(in_group("hipec-a", load_too_many), 0);
	CHECK_EQ(oom_kills("hipec-a"), 0);
	CHECK_EQ(of_group("hipec-a", "memory.events", "oom "), 0);
}

static int wait_for(pid_t pid)
{
	int status;

	CHECK(pid >= 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static void be(uid_t uid)
{
	CHECK(!setresuid(uid, uid, uid));
}

/*
 * As root of a namespace that OWNER made, in which 1 is SUBORDINATE. Return: -1
 * where there are no namespaces of users, else what waitpid() says.
 */
static int in_namespace(void (*fn)(void))
{
	int up[2], go[2];
	char path[64], byte = 0;
	pid_t pid;

	CHECK(!pipe(up) && !pipe(go));
	pid = fork();
	if (!pid) {
		be(OWNER);
		byte = !unshare(CLONE_NEWUSER);
		CHECK(write(up[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1);
		if (byte) {
			be(0);
			fn();
		}
		fflush(stdout);
		_exit(0);
	}
	CHECK(read(up[0], &byte, 1) == 1);
	if (byte) {
		FILE *map;

		snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
		map = fopen(path, "w");
		CHECK(map && fprintf(map, "0 %d 1\n1 %d 1\n", OWNER, SUBORDINATE) > 0);
		CHECK(!fclose(map));
	} else {
		printf("# no user namespaces here\n");
	}
	CHECK(write(go[1], &byte, 1) == 1);
	return byte ? wait_for(pid) : -1 - wait_for(pid);
}

/* Run @fn as user @uid of the namespace one is in. */
static void as(uid_t uid, void (*fn)(void))
{
	pid_t pid = fork();

	if (!pid) {
		be(uid);
		fn();
		fflush(stdout);
		_exit(0);
	}
	CHECK_EQ(wait_for(pid), 0);
}

/* All may use the device and the file, until the test ends. */
static void close_device(void)
{
	chmod(DEVICE, 0600);
	set_switch(QUOTA, "0");
}

static void open_device(void)
{
	make_file(FILE_Q, QUOTA_FRAMES * PAGE_BYTES);
	CHECK(!chmod(FILE_Q, 0644) && !chmod("/data", 0755) && !chmod(DEVICE, 0666));
	atexit(close_device);
	set_switch(QUOTA, "1");
}

static void has_what_200_leave(void)
{
	struct map m;

	map_shared(&m, "fifo", FILE_Q, QUOTA_FRAMES, 100, false);
	CHECK_EQ(touch_range(&m, 0, 100).frames, QUOTA_FRAMES - 200);
	close_map(&m);
}

static void has_all(void)
{
	struct map m;

	map_shared(&m, "fifo", FILE_Q, QUOTA_FRAMES, 200, false);
	CHECK_EQ(touch_range(&m, 0, 200).frames, 200);
	close_map(&m);
}

static void owner_and_subordinate(void)
{
	struct map m;

	map_shared(&m, "fifo", FILE_Q, QUOTA_FRAMES, 200, false);
	CHECK_EQ(touch_range(&m, 0, 200).frames, 200);
	as(1, has_what_200_leave);
	close_map(&m);
	as(1, has_all);
}

/* Another user's namespace is charged to that one; who has none, for itself. */
static void quota_of_a_namespace(void)
{
	struct map m;

	open_device();
	map_shared(&m, "fifo", FILE_Q, QUOTA_FRAMES, 200, false);
	touch_range(&m, 0, 200);
	CHECK_LE(in_namespace(owner_and_subordinate), 0);
	as(OTHER, has_all);
	close_map(&m);
}

static int load_one(void)
{
	return load_shared("fifo", 1, NULL, 0);
}

static void may_not_join(void)
{
	CHECK_EQ(load_one(), -ENOSPC);
}

static void half_joins_then_no_more(void)
{
	int i;

	for (i = 0; i < MOST_MEMBERS / 2; i++)
		CHECK(load_one() >= 0);
	as(1, may_not_join);
	may_not_join();
}

static void members_of_both(void)
{
	int i;

	for (i = 0; i < MOST_MEMBERS / 2; i++)
		CHECK(load_one() >= 0);
	as(1, half_joins_then_no_more);
	CHECK(load_one() >= 0);
}

static void members_of_a_namespace(void)
{
	const struct rlimit limit = { 1000, 1000 };

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	open_device();
	CHECK_LE(in_namespace(members_of_both), 0);
}

static int reserve(uint64_t frames)
{
	int fd = hipec_open(), ret;

	CHECK(fd >= 0);
	ret = hipec_load(fd, NULL, 0, frames, 1, NULL, 0);
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

static void locks_8_of_9(void)
{
	CHECK_EQ(reserve(9), -ENOMEM);
	CHECK(reserve(8) >= 0);
	CHECK_EQ(reserve(1), -ENOMEM);
}

static void locks_all(void)
{
	CHECK(reserve(LOCKED) >= 0);
}

static void locked_of_both(void)
{
	int fd = reserve(24);

	CHECK(fd >= 0);
	as(1, locks_8_of_9);
	close(fd);
	as(1, locks_all);
}

static void memlock_of_a_namespace(void)
{
	const struct rlimit limit = { LOCKED * PAGE_BYTES, LOCKED * PAGE_BYTES };

	open_device();
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
	CHECK_LE(in_namespace(locked_of_both), 0);
}

static const struct test quota_tests[] = {
	{ "quota_is_looked_at_before_memory_is_taken", quota_comes_first },
	{ "quota_is_of_who_made_the_user_namespace", quota_of_a_namespace },
	{ "members_are_counted_of_who_made_the_user_namespace", members_of_a_namespace },
	{ "memlock_is_of_who_made_the_user_namespace", memlock_of_a_namespace },
	{ 0 }
};
SUITE(quota_tests, 0);
