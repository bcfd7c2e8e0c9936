// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parent: has the files taken and let go of, by one container after the other,
 * while the processes use them; and at the end looks whether all is there.
 */
#include "place.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Seconds in which each process ends an operation, on a stock kernel. */
#define PATIENCE 120

/* Frames of the pool: pool_mb of place.sh. */
#define POOL 512

/* Two, of which most share the pool: each takes what the other does not have. */
static int containers[] = { -1, -1 };
static int *container = containers;	/* the one that is acted on */
static pid_t pid[NR_PROCS];
static int slower = 1;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void make_files(void)
{
	static const unsigned char zeros[PAGE_BYTES];
	char path[256];
	uint32_t f, i;
	int fd;

	for (f = 0; f < NR_FILES; f++) {
		file_path(path, sizeof(path), f);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		for (i = 0; i < NR_PAGES; i++)
			if (fd < 0 || write(fd, zeros, PAGE_BYTES) != (ssize_t)PAGE_BYTES) {
				wrong("%s: %s", path, strerror(errno));
				return;
			}
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}

static bool act_end(void)
{
	if (*container < 0)
		return false;
	add_up(*container);
	close(*container);
	*container = -1;
	return true;
}

static int take_path(const char *path)
{
	struct hipec_take take;
	int fd = open(path, O_PATH), ret;

	if (fd < 0)
		return -errno;
	ret = hipec_take(*container, 0, fd, &take);
	close(fd);
	return ret;
}

/* The directory, for files that come, and then half of what is there. */
static bool act_take(void)
{
	char path[600];
	struct dirent *e;
	DIR *d;
	int ret;

	if (*container < 0)
		return false;
	ret = take_path(take_dir);
	if (ret && ret != -EBUSY)
		wrong("take %s: %s", take_dir, strerror(-ret));
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || below(2))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		ret = take_path(path);
		/* It may have gone again. */
		if (ret && ret != -EBUSY && ret != -ENOENT)
			wrong("take %s: %s", path, strerror(-ret));
	}
	if (d)
		closedir(d);
	return true;
}

/* Some policy, of those that load with so many frames; most share. */
static bool act_load(void)
{
	bool share = below(4);
	uint32_t tries;
	int ret = -1;

	act_end();
	for (tries = 0; tries < 50 && ret; tries++) {
		*container = hipec_open();
		ret = *container < 0 ? *container :
		      load_any(*container, &rng,
			       64 + below(below(2) ? 256 : share ? POOL - 64 : 1200),
			       HIPEC_LOAD_IN_PLACE | (share ? HIPEC_LOAD_SHARE : 0));
		if (ret && *container >= 0)
			close(*container);
	}
	if (ret) {
		*container = -1;
		wrong("load: %s", strerror(-ret));
		return false;
	}
	return act_take();
}

static bool act_release(void)
{
	char path[256];
	int fd, ret;

	if (*container < 0)
		return false;
	file_path(path, sizeof(path), below(NR_FILES));
	fd = open(path, O_PATH);
	ret = hipec_release(*container, 0, fd);
	close(fd);
	return !ret;
}

static bool act_release_all(void)
{
	return *container >= 0 && !hipec_release(*container, 0, -1);
}

static bool act_swap(void)
{
	return *container >= 0 && !swap_any(*container, &rng);
}

/* A few policies beside the one that runs; of those that share there is none. */
static bool act_join(void)
{
	uint32_t n = 1 + below(4);
	bool joined = false;

	while (*container >= 0 && n--)
		joined |= (below(3) ? join_any(*container, &rng) :
			   hipec_join_budget(*container, 0, 1u << below(5), NULL, 0)) >= 0;
	return joined;
}

static bool act_revoke(void)
{
	return *container >= 0 && !hipec_revoke(*container, 0);
}

static bool act_drop_caches(void)
{
	return put("/proc/sys/vm/drop_caches", below(2) ? "1" : "3");
}

/* The files have 6 MB, and as much is appended to; the processes need 2 MB or so. */
static bool act_squeeze(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", (5 + below(20)) << 20);
	return put(CGROUP "memory.max", below(4) && slower == 1 ? text : "max");
}

static bool act_freeze(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY), ret = -1;

	if (fd >= 0) {
		ret = ioctl(fd, FIFREEZE, 0);
		usleep(20000);
		if (!ret && ioctl(fd, FITHAW, 0))
			wrong("the file system does not thaw: %s", strerror(errno));
		close(fd);
	}
	return !ret;
}

static bool act_syncfs(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || syncfs(fd))
		wrong("syncfs: %s", strerror(errno));
	close(fd);
	return true;
}

static const struct {
	bool (*fn)(void);
	uint32_t often;
} acts[NR_ACTS] = {
	[ACT_load] = { act_load, 6 },
	[ACT_end] = { act_end, 1 },
	[ACT_take] = { act_take, 8 },
	[ACT_release] = { act_release, 8 },
	[ACT_release_all] = { act_release_all, 2 },
	[ACT_swap] = { act_swap, 3 },
	[ACT_join] = { act_join, 6 },
	[ACT_revoke] = { act_revoke, 1 },
	[ACT_drop_caches] = { act_drop_caches, 4 },
	[ACT_squeeze] = { act_squeeze, 5 },
	[ACT_freeze] = { act_freeze, 1 },
	[ACT_syncfs] = { act_syncfs, 2 },
};

static void act(bool plain)
{
	uint32_t i;

	do
		i = below(NR_ACTS);
	while (below(10) >= acts[i].often || (plain && i <= ACT_revoke));
	container = &containers[below(2)];
	if (acts[i].fn())
		board->acts[i]++;
}

static void show_file(pid_t of, const char *name)
{
	char path[64], text[2048];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", of, name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	printf("%s:\n%.*s\n", path, (int)(n < 0 ? 0 : n), text);
	close(fd);
}

/* Each goes on: @seen is what it had done when it was looked at. */
static void watch(uint64_t seen[], uint64_t since[])
{
	uint32_t i;

	for (i = 0; i < NR_PROCS; i++) {
		if (!since[i] || board->done[i] != seen[i]) {
			seen[i] = board->done[i];
			since[i] = now();
		} else if (now() - since[i] > PATIENCE * 1000ull * slower) {
			show_file(pid[i], "stack");
			wrong("process %u is in %s for %u s", i,
			      op_name[board->doing[i]], PATIENCE * slower);
		}
	}
}

/* Return: whether all have ended, and by themselves. */
static bool reap(void)
{
	uint64_t end = now() + PATIENCE * 1000ull * slower;
	uint32_t i, left = NR_PROCS;
	int status;

	while (left && now() < end) {
		for (i = 0; i < NR_PROCS; i++) {
			if (!pid[i] || waitpid(pid[i], &status, WNOHANG) != pid[i])
				continue;
			pid[i] = 0;
			left--;
			if (status)
				wrong("process %u ended with status %x", i, status);
		}
		usleep(10000);
	}
	for (i = 0; i < NR_PROCS; i++)
		if (pid[i]) {
			show_file(pid[i], "stack");
			wrong("process %u does not end: %s", i, op_name[board->doing[i]]);
		}
	return !left;
}

/* All that was written is in the file, by descriptor @fd: nobody writes any more. */
static void check_all(uint32_t f, int fd, const char *where)
{
	struct before b;
	uint32_t page;

	for (page = 0; page < NR_PAGES; page++) {
		remember(&b, f, page, 1);
		if (pread(fd, buffer, PAGE_BYTES, page * PAGE_BYTES) != (ssize_t)PAGE_BYTES)
			wrong("%s: file %u page %u: %s", where, f, page, strerror(errno));
		check(&b, 0, (uint64_t *)buffer, where);
	}
}

static void check_end(bool fresh)
{
	char path[256];
	uint32_t f;
	int fd;

	for (f = 0; f < NR_FILES; f++) {
		file_path(path, sizeof(path), f);
		fd = open(path, O_RDWR);
		check_all(f, fd, fresh ? "read() at the end" : "read() of a file let go");
		if (fsync(fd))
			wrong("fsync at the end: %s", strerror(errno));
		close(fd);
		fd = open(path, O_RDONLY | O_DIRECT);
		check_all(f, fd, "direct read at the end");
		close(fd);
	}
}

/* Nobody was killed: one who was has ended with a status, too. */
static void check_cgroup(void)
{
	int killed = oom_kills(CGROUP "memory.events");

	if (killed > 0)
		wrong("%d processes were killed for lack of memory", killed);
}

/* Return: 0 if nothing was wrong. */
int keep(uint64_t seconds, bool plain)
{
	uint64_t end = now() + seconds * 1000, seen[NR_PROCS] = { 0 }, since[NR_PROCS] = { 0 };
	const char *said = getenv("HIPEC_SLOWER");
	uint32_t i;

	slower = said ? atoi(said) : 1;
	rng = (struct fuzz_rng){ board->seed * 64 + 63 };
	buffer = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mkdir(dir, 0700);
	mkdir(CGROUP, 0755);
	make_files();
	for (i = 0; !plain && i < 2; i++) {
		container = &containers[i];
		act_load();
	}
	for (i = 0; i < NR_PROCS && !board->wrong; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			/* It ends when the parent closes it. */
			close(containers[0]);
			close(containers[1]);
			put(CGROUP "cgroup.procs", "0");
			work(i);
		}
	}
	while (!board->wrong && now() < end) {
		usleep((20 + below(200)) * 1000);
		act(plain);
		watch(seen, since);
	}
	board->stop = true;
	if (reap()) {
		check_end(true);
		for (i = 0; i < 2; i++) {
			container = &containers[i];
			act_end();
		}
		act_drop_caches();
		check_end(false);
		check_cgroup();
	}
	rmdir(CGROUP);
	return board->wrong;
}
