// SPDX-License-Identifier: GPL-2.0-only
/*
 * HIPEC_IOC_LOG: what became of policies and containers, with their numbers, however
 * they ended; bounded, and each user's own.
 */
#define _GNU_SOURCE	/* unshare() */
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "../../../module/vm/optable.h"
#include "guest.h"

#define FILE_L DIR_DATA "log"
#define PAGES 24
#define FRAMES 8

/* The number of the last record. */
static uint64_t last_seq(int fd)
{
	struct hipec_log l;
	uint64_t seq = 0;
	int ret;

	while (!(ret = hipec_log(fd, seq, &l)))
		seq = l.seq;
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(hipec_log(fd, UINT64_MAX, &l), -ENOENT);
	return seq;
}

/* The first record of container @id behind @seq; those of others may be there as well. */
static struct hipec_log wait_for(int fd, uint64_t seq, uint64_t id)
{
	struct hipec_log l;
	uint64_t at;
	int i;

	for (i = 0; i < 1000; i++, usleep(10000))
		for (at = seq; !hipec_log(fd, at, &l); at = l.seq)
			if (l.status.id == id)
				return l;
	FAIL("no record of container %llu", (unsigned long long)id);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void check_end(const struct hipec_log *l, pid_t pid, uint64_t before)
{
	CHECK_EQ(l->closed, 1);
	CHECK_EQ(l->status.exit.kind, HIPEC_EXIT_CLOSED);
	CHECK_EQ(l->status.pid, pid);
	CHECK_EQ(l->status.uid, 0);
	CHECK(!strcmp(l->status.policy, "fifo"));
	CHECK(!strncmp(l->status.comm, "hipec-guest-tes", 16));
	CHECK_EQ(l->status.limit, FRAMES);
	CHECK_EQ(l->status.counters.faults, PAGES);
	CHECK_EQ(l->status.counters.evictions, PAGES - FRAMES);
	CHECK_EQ(l->status.counters.read_pages, PAGES);
	CHECK(l->time >= before && l->time <= now_ns());
	CHECK(l->lived && l->lived <= l->time - before);
}

static void sweep(struct map *m)
{
	size_t i;

	open_map(m, "fifo", FILE_L, FRAMES, 1, false);
	for (i = 0; i < PAGES; i++)
		touch(m, i);
}

/* A program that comes to its end, whoever closes what. */
static void ended(void)
{
	int fd = hipec_open(), pipes[2];
	uint64_t before = now_ns(), id, seq = last_seq(fd);
	struct hipec_log l;
	struct map m;
	pid_t pid;

	make_file(FILE_L, PAGES * PAGE_BYTES);
	sweep(&m);
	id = get_status(m.container).id;
	close_map(&m);
	l = wait_for(fd, seq, id);
	check_end(&l, getpid(), before);

	CHECK(!pipe(pipes));
	pid = fork();
	if (!pid) {
		sweep(&m);
		id = get_status(m.container).id;
		CHECK(write(pipes[1], &id, sizeof(id)) == sizeof(id));
		exit(0);
	}
	CHECK(read(pipes[0], &id, sizeof(id)) == sizeof(id));
	CHECK(waitpid(pid, NULL, 0) == pid);
	l = wait_for(fd, l.seq, id);
	check_end(&l, pid, before);
}

/* kill -9 */
static void killed(void)
{
	int fd = hipec_open(), pipes[2], status;
	uint64_t before = now_ns(), id, seq = last_seq(fd);
	struct hipec_log l;
	struct map m;
	pid_t pid;

	make_file(FILE_L, PAGES * PAGE_BYTES);
	CHECK(!pipe(pipes));
	pid = fork();
	if (!pid) {
		sweep(&m);
		id = get_status(m.container).id;
		CHECK(write(pipes[1], &id, sizeof(id)) == sizeof(id));
		pause();
	}
	CHECK(read(pipes[0], &id, sizeof(id)) == sizeof(id));
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	l = wait_for(fd, seq, id);
	check_end(&l, pid, before);
}

/* A policy that makes a mistake: its place, and its source's line. */
static void mistaken(void)
{
	int fd = hipec_open();
	uint64_t id, seq = last_seq(fd), faults;
	struct hipec_log l, end;
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_L, PAGES * PAGE_BYTES);
	open_map(&m, "div-zero", FILE_L, FRAMES, 1, false);
	id = get_status(m.container).id;
	for (i = 0; i < PAGES; i++)
		touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, HIPEC_EXIT_DIV_ZERO);
	l = wait_for(fd, seq, id);
	CHECK_EQ(l.closed, 0);
	CHECK(!memcmp(&l.status.exit, &s.exit, sizeof(s.exit)));
	CHECK(l.status.exit.line && l.status.exit.command);
	faults = l.status.counters.faults;
	CHECK(faults && faults < PAGES);

	close_map(&m);
	end = wait_for(fd, l.seq, id);
	CHECK_EQ(end.closed, 1);
	CHECK(!memcmp(&end.status.exit, &s.exit, sizeof(s.exit)));
	CHECK_EQ(end.status.counters.faults, PAGES);
}

/* So many are kept as the module's parameter says; later ones push out the first. */
static void bounded(void)
{
	FILE *parameter = fopen("/sys/module/hipec/parameters/log_records", "r");
	int fd = hipec_open(), i, nr = 0, most;
	struct hipec_log l;
	uint64_t seq;

	CHECK(parameter && fscanf(parameter, "%d", &most) == 1);
	fclose(parameter);
	for (i = 0; i < most + 5; i++)
		close(load_policy("fifo", 1, 1));
	CHECK(!hipec_log(fd, 0, &l));
	for (seq = l.seq; !hipec_log(fd, l.seq, &l); nr++)
		CHECK_EQ(l.seq, ++seq);
	CHECK_EQ(nr + 1, most);
}

/* A process in a namespace of its own knows no process outside. */
static void elsewhere(void)
{
	int fd = hipec_open(), status;
	struct hipec_log l;
	uint64_t seq;
	pid_t pid;

	close(load_policy("fifo", 1, 1));
	seq = last_seq(fd);
	CHECK(!hipec_log(fd, seq - 1, &l));
	CHECK_EQ(l.status.pid, getpid());
	CHECK(!unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid) {
		CHECK(!hipec_log(fd, seq - 1, &l));
		CHECK_EQ(l.seq, seq);
		CHECK_EQ(l.status.pid, 0);
		close(load_policy("fifo", 1, 1));
		CHECK(!hipec_log(fd, seq, &l));
		CHECK_EQ(l.status.pid, 1);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!hipec_log(fd, seq, &l));
	CHECK_EQ(l.status.pid, pid);
}

/* Each user his own; what has no policy has no record; arguments. */
static void whose(void)
{
	int fd = hipec_open(), other = hipec_open();
	struct hipec_query q = { 0 };
	struct hipec_log l = { .size = sizeof(l), .flags = 1 };
	uint64_t seq;

	CHECK(!hipec_query(fd, &q) && q.features & HIPEC_FEATURE_LOG);
	CHECK(ioctl(fd, HIPEC_IOC_LOG, &l) && errno == EINVAL);
	close(load_policy("fifo", 1, 1));
	seq = last_seq(fd);
	CHECK(seq);
	close(hipec_open());
	CHECK_EQ(hipec_log(fd, seq, &l), -ENOENT);
	/* A program that knows no more than the number. */
	memset(&l, 0, sizeof(l));
	l.size = 16;
	CHECK(!ioctl(fd, HIPEC_IOC_LOG, &l) && l.seq && !l.time && !l.status.id);
	CHECK(!setuid(65534));
	CHECK_EQ(hipec_log(fd, 0, &l), -ENOENT);
	CHECK_EQ(hipec_load(other, NULL, 0, 1, 0, NULL, 0), 0);
	close(other);
	CHECK(!hipec_log(fd, 0, &l));
	CHECK_EQ(l.status.uid, 65534);
	CHECK(!strcmp(l.status.policy, "builtin"));
	CHECK_EQ(l.seq, seq + 1);
	CHECK_EQ(hipec_log(fd, l.seq, &l), -ENOENT);
}

static const struct test log_tests[] = {
	{ "a_container_that_ended_is_on_record_with_its_numbers", ended },
	{ "a_container_that_was_killed_is_on_record_with_its_numbers", killed },
	{ "a_policy_s_mistake_is_on_record_and_then_its_container", mistaken },
	{ "so_many_ends_are_kept_as_the_parameter_says", bounded },
	{ "each_namespace_has_its_own_numbers_of_processes", elsewhere },
	{ "each_user_sees_his_own_ends", whose },
	{ },
};
SUITE(log_tests, 0);
