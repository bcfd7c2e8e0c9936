// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user without rights cannot do, and cannot see of others: docs/internals/security.md
 * names these tests.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/blkpg.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "secure-a"
#define FILE_B DIR_DATA "secure-b"
#define USER_A 65533
#define USER_B 65534
#define SECRET 0xa5
#define SECRET_PAGES 64

/* A file that is all secret. */
static void make_secret(void)
{
	unsigned char page[PAGE_BYTES];
	int fd = open(FILE_A, O_RDWR | O_CREAT | O_TRUNC, 0600), i;

	memset(page, SECRET, sizeof(page));
	CHECK(fd >= 0);
	for (i = 0; i < SECRET_PAGES; i++)
		CHECK(write(fd, page, sizeof(page)) == sizeof(page));
	CHECK(!fsync(fd));
	CHECK(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	close(fd);
}

static int share(uint64_t frames)
{
	struct hipec_load load = { .flags = HIPEC_LOAD_SHARE, .frames = frames, .cluster = 1 };
	int fd = hipec_open(), ret;

	CHECK(fd >= 0);
	ret = hipec_load_args(fd, &load);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Map @path's whole pages in @container. */
static struct map map_in(int container, const char *path, bool writable)
{
	struct map m = { .container = container };
	struct stat st;

	m.file = open(path, writable ? O_RDWR : O_RDONLY);
	CHECK(m.file >= 0 && !fstat(m.file, &st));
	m.pages = (st.st_size + PAGE_BYTES - 1) / PAGE_BYTES;
	m.region = hipec_attach(container, m.file, 0, 0, writable, NULL);
	if (m.region < 0)
		FAIL("attach %s: %s", path, strerror(-m.region));
	m.base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ | (writable ? PROT_WRITE : 0),
		      MAP_SHARED, m.region, 0);
	CHECK(m.base != MAP_FAILED);
	return m;
}

static void unmap(struct map *m)
{
	CHECK(!munmap(m->base, m->pages * PAGE_BYTES));
	CHECK(!close(m->region) && !close(m->file));
}

/* Every page of the container's frames has had the secret. */
static void read_secret(int container)
{
	struct map m = map_in(container, FILE_A, false);
	size_t i;

	for (i = 0; i < m.pages; i++)
		CHECK_EQ(m.base[i * PAGE_BYTES + PAGE_BYTES - 1], SECRET);
	unmap(&m);
}

/* Files that do not fill their pages: bytes that are written, and in all. */
static const struct {
	size_t written, size, cut;
} shape[] = {
	{ 100, 100, 0 },				/* ends in its first block */
	{ PAGE_BYTES + 1, PAGE_BYTES + 1, 0 },		/* in its second page */
	{ 3 * PAGE_BYTES - 1, 3 * PAGE_BYTES - 1, 0 },	/* a byte before a page's end */
	{ 0, 8 * PAGE_BYTES, 0 },			/* a hole */
	{ 600, 5 * PAGE_BYTES + 600, 0 },		/* a hole that ends in a page */
	{ 8 * PAGE_BYTES, 8 * PAGE_BYTES, 5 * PAGE_BYTES + 10 },	/* cut while mapped */
};

/*
 * Nothing of the secret is in a file of that shape, nor behind its end. A region for
 * writing reads from the disk, one for reading has what the page cache has.
 */
static void check_as(int container, size_t which, bool writable)
{
	size_t end = shape[which].cut ?: shape[which].size, i;
	int fd = open(FILE_B, O_RDWR | O_CREAT | O_TRUNC, 0600);
	static unsigned char zeros[8 * PAGE_BYTES];
	struct map m;

	CHECK(fd >= 0 && !ftruncate(fd, shape[which].size));
	CHECK(pwrite(fd, zeros, shape[which].written, 0) ==
	      (ssize_t)shape[which].written);
	CHECK(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	m = map_in(container, FILE_B, writable);
	if (shape[which].cut)
		CHECK(!ftruncate(fd, shape[which].cut));
	/* From the end on, as the first frames that are filled have the secret yet. */
	for (i = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES; i--;)
		if (m.base[i])
			FAIL("shape %zu: byte %zu is %#x", which, i, m.base[i]);
	unmap(&m);
	close(fd);
}

static void check_shape(int container, size_t which)
{
	check_as(container, which, true);
	read_secret(container);
	check_as(container, which, false);
}

/* One container, whose frames come from one file to another without the system. */
static void stale_frames(void)
{
	size_t i;
	int c;

	make_secret();
	for (i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		c = load_policy("fifo", 4, 1);
		read_secret(c);
		check_shape(c, i);
		read_secret(c);
		close(c);
		/* A cluster's frames likewise. */
		c = load_policy("fifo", 32, 0);
		read_secret(c);
		check_shape(c, i);
		close(c);
	}
}

#define DISK_CONFIG "/sys/kernel/config/nullb/tail/"

static void remove_disk(void)
{
	rmdir(DISK_CONFIG);
}

/*
 * A disk that ends in a page: what a file system fills with zeros itself, and so
 * hides, nobody fills here but us.
 */
static void stale_tail(void)
{
	struct blkpg_partition part = { .length = 4 * PAGE_BYTES + 512, .pno = 1 };
	struct blkpg_ioctl_arg arg = { .op = BLKPG_ADD_PARTITION, .datalen = sizeof(part),
				       .data = &part };
	struct map m = { .pages = 5 };
	size_t i;
	int fd, c;

	make_secret();
	remove_disk();
	CHECK(!mkdir(DISK_CONFIG, 0700));
	atexit(remove_disk);
	set_switch(DISK_CONFIG "size", "1");
	set_switch(DISK_CONFIG "memory_backed", "1");
	set_switch(DISK_CONFIG "power", "1");
	fd = open("/dev/tail", O_RDWR);
	CHECK(fd >= 0 && !ioctl(fd, BLKPG, &arg));
	c = load_policy("fifo", 4, 1);
	read_secret(c);
	m.file = open("/dev/tail1", O_RDWR);
	CHECK(m.file >= 0);
	m.region = hipec_attach(c, m.file, 0, 0, true, NULL);
	CHECK(m.region >= 0);
	m.base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.region, 0);
	CHECK(m.base != MAP_FAILED);
	for (i = m.pages * PAGE_BYTES; i--;)
		if (m.base[i])
			FAIL("byte %zu is %#x", i, m.base[i]);
	unmap(&m);
	close(fd);
	close(c);
}

/* Two users and the pool: the second has the frames that the first gave up. */
static void stale_pool_frames(void)
{
	size_t i, round;

	make_secret();
	CHECK(!chown(FILE_A, USER_A, USER_A));
	unlink(FILE_B);
	for (round = 0; round < 2; round++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			int c;

			CHECK(!setreuid(round ? USER_A : 0, 0));
			c = share(SECRET_PAGES);
			CHECK(c >= 0);
			read_secret(c);
			exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && !status);
		for (i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
			int c = share(16);

			CHECK(c >= 0);
			check_as(c, i, true);
			close(c);
		}
	}
}

/* Shared arrays and what the device answers are no one's old memory either. */
static void stale_tables(void)
{
	int64_t *level;
	size_t nr, i;
	int round, c;

	for (round = 0; round < 4; round++) {
		c = load_policy("shared", 8, 1);
		CHECK_EQ(hipec_shared(c, "level", &level, &nr), 0);
		for (i = 0; i < nr; i++) {
			CHECK_EQ(level[i], 0);
			level[i] = -1;
		}
		CHECK(!munmap(level, nr * sizeof(*level)));
		close(c);
	}
}

/* Load so many reserved frames in a process that ends; another has the descriptor. */
static int child_loads(uint64_t frames)
{
	int pipes[2], status, left;
	pid_t pid;

	CHECK(!pipe(pipes));
	pid = fork();
	if (!pid) {
		int fd = hipec_open();

		CHECK(fd >= 0 && !setuid(USER_A));
		left = hipec_load(fd, NULL, 0, frames, 1, NULL, 0);
		CHECK(write(pipes[1], &left, sizeof(left)) == sizeof(left));
		pid = left ? 0 : fork();	/* who holds it has no locked memory */
		if (pid || left)
			exit(0);
		close(pipes[1]);
		pause();
		exit(0);
	}
	close(pipes[1]);
	CHECK(read(pipes[0], &left, sizeof(left)) == sizeof(left));
	close(pipes[0]);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return left;
}

/* A descriptor that outlives its process does not free its user of the limit. */
static void memlock_of_a_user(void)
{
	const struct rlimit limit = { 32 * PAGE_BYTES, 32 * PAGE_BYTES };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
	CHECK_EQ(child_loads(24), 0);
	CHECK_EQ(child_loads(9), -ENOMEM);
	CHECK_EQ(child_loads(8), 0);
	CHECK_EQ(child_loads(1), -ENOMEM);
	CHECK_EQ(frames_held(), 32);
}

/* What was counted of the user is counted no more. */
static void memlock_comes_back(void)
{
	const struct rlimit limit = { 32 * PAGE_BYTES, 32 * PAGE_BYTES };
	int fd[4], i;

	for (i = 0; i < 4; i++)
		CHECK((fd[i] = hipec_open()) >= 0);
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
	CHECK(!setuid(USER_B));
	for (i = 0; i < 4; i++) {
		CHECK_EQ(hipec_load(fd[i], NULL, 0, 33, 1, NULL, 0), -ENOMEM);
		CHECK_EQ(hipec_load(fd[i], NULL, 0, 32, 1, NULL, 0), 0);
		close(fd[i]);
	}
}

/* As many containers share as one user's may; others' still do. */
static void members_of_a_user(void)
{
	const int most = 256;	/* HIPEC_MAX_USER_MEMBERS */
	struct rlimit limit = { 1000, 1000 };
	int i, status;
	pid_t pid;

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	for (i = 0; i < most; i++)
		CHECK(share(1) >= 0);
	CHECK_EQ(share(1), -ENOSPC);
	pid = fork();
	if (!pid) {
		int fd = hipec_open();
		struct hipec_load load = { .flags = HIPEC_LOAD_SHARE, .frames = 1 };

		CHECK(fd >= 0 && !setuid(USER_B));
		CHECK_EQ(hipec_load_args(fd, &load), 0);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/*
 * A store through a region by who is not root takes the file's set-user-ID bit
 * away, as write() does: a worker writes it, with the right of who attached it and
 * not with its own. By the same right quotas hold, which no disk here has.
 */
static void rights_of_writeback(void)
{
	struct stat st;
	struct map m;
	int fd, c, i;

	make_file(FILE_A, 4 * PAGE_BYTES);
	fd = open(FILE_A, O_RDWR);
	CHECK(fd >= 0 && !fchown(fd, USER_A, USER_A) && !fchmod(fd, 04755));
	c = share(16);
	CHECK(c >= 0 && !chmod("/data", 0755) && !setuid(USER_A));
	m = map_in(c, FILE_A, true);
	m.base[PAGE_BYTES + 8]++;
	CHECK(!fstat(fd, &st) && st.st_mode & S_ISUID);
	/* munmap() has the worker write. */
	CHECK(!munmap(m.base, 4 * PAGE_BYTES));
	for (i = 0; i < 10000 && !get_status(m.container).counters.written_pages; i++)
		usleep(1000);
	CHECK_EQ(get_status(m.container).counters.written_pages, 1);
	CHECK(!fstat(fd, &st));
	CHECK_EQ(st.st_mode & 07777, 0755);
}

/* Whose container it is not finds none, whatever is asked. */
static void containers_of_others(void)
{
	int c = load_policy("fifo", 16, 1);
	struct hipec_set_param set = { .size = sizeof(set), .slot = 2 };
	struct hipec_operand operand;
	struct hipec_status s;
	int other = hipec_open();
	uint64_t id = get_status(c).id;

	set.id = id;
	CHECK_EQ(hipec_operand(other, id, 0, &operand), 0);
	CHECK(!setuid(USER_B));
	CHECK_EQ(hipec_operand(other, id, 0, &operand), -ESRCH);
	CHECK(ioctl(other, HIPEC_IOC_SET_PARAM, &set) && errno == ESRCH);
	CHECK_EQ(hipec_record(other, id, 0), -ESRCH);
	CHECK_EQ(hipec_sample(other, id, 1, 0), -ESRCH);
	CHECK_EQ(hipec_next(other, 0, &s), -ENOENT);
	/* In a user namespace, where it is root and has all capabilities, as well. */
	if (unshare(CLONE_NEWUSER)) {
		printf("# no user namespaces here\n");
		return;
	}
	CHECK_EQ(hipec_operand(other, id, 0, &operand), -ESRCH);
	CHECK_EQ(hipec_next(other, 0, &s), -ENOENT);
}

#define TRACING "/sys/kernel/tracing/"

static bool set_trace(const char *file, const char *format, int value)
{
	char path[128], text[128];
	int fd, n, ok;

	snprintf(path, sizeof(path), TRACING "%s", file);
	n = snprintf(text, sizeof(text), format, value);
	fd = open(path, O_WRONLY | O_APPEND);
	ok = fd >= 0 && write(fd, text, n) == n;
	close(fd);
	return ok;
}

static void end_trace(void)
{
	set_trace("events/kprobes/hipec_asked/enable", "0", 0);
	set_trace("kprobe_events", "-:hipec_asked", 0);
}

/* How often the trace has it. */
static int questions(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[256];
	int n = 0;

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "hipec_asked:") != NULL;
	fclose(f);
	return n;
}

/*
 * To leave others' containers out asks for no capability that an audit log would
 * tell of: bit 1 of cap_capable()'s last argument says that it shall not. 21 is
 * CAP_SYS_ADMIN.
 */
static void no_audit(void)
{
	int c = load_policy("fifo", 16, 1), other = hipec_open(), pipes[2], trace;
	struct hipec_log log = { 0 };
	struct hipec_status s;
	char go = 0;

	if (!set_trace("kprobe_events", "p:hipec_asked cap_capable cap=%%dx:s32 opts=%%cx:u32\n", 0)) {
		printf("# no kprobes here\n");
		return;
	}
	atexit(end_trace);
	CHECK(set_trace("events/kprobes/hipec_asked/filter",
			"common_pid == %d && cap == 21 && !(opts & 2)", getpid()));
	CHECK(set_trace("events/kprobes/hipec_asked/enable", "1", 0));
	/* One question that is audited, so that it is known to be seen. */
	CHECK(!sethostname("guest", 5));
	CHECK_EQ(questions(), 1);
	CHECK(!pipe(pipes));
	trace = fork();
	CHECK(trace >= 0);
	if (!trace) {
		CHECK(read(pipes[0], &go, 1) == 1);
		exit(questions() != 1);
	}
	CHECK(!setuid(USER_B));
	CHECK_EQ(hipec_next(other, 0, &s), -ENOENT);
	hipec_log(other, 0, &log);	/* it may have ended some before */
	CHECK(write(pipes[1], &go, 1) == 1);
	CHECK(waitpid(trace, &trace, 0) > 0);
	CHECK_EQ(trace, 0);
	close(c);
}

static const struct test secure_tests[] = {
	{ "frames_show_nothing_of_the_file_before", stale_frames },
	{ "frames_show_nothing_behind_the_end_of_a_disk", stale_tail },
	{ "frames_of_the_pool_show_nothing_of_another_user", stale_pool_frames },
	{ "shared_arrays_show_nothing_of_another_container", stale_tables },
	{ "memlock_counts_what_outlives_its_process", memlock_of_a_user },
	{ "memlock_has_back_what_a_container_had", memlock_comes_back },
	{ "pool_keeps_room_for_other_users_containers", members_of_a_user },
	{ "write_back_has_the_right_of_who_attached", rights_of_writeback },
	{ "containers_of_others_are_not_there", containers_of_others },
	{ "others_containers_are_left_out_without_an_audit_record", no_audit },
	{ 0 }
};
SUITE(secure_tests, 0);
