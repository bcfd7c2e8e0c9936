// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parent: makes the files, has them taken by the containers, exchanges policies and
 * containers while the threads use the files, and at the end compares every page.
 */
#include "crowd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../inject.h"
#include "../parent.h"

/* Seconds in which each thread ends an operation, on a stock kernel. */
#define PATIENCE 120

static struct fuzz_rng rng;
static int *container;			/* -1: it has ended */
static pid_t pid[MAX_PROCESSES];
static int slower = 1;
static bool narrow;			/* the cgroup */

static uint32_t below(uint32_t n)
{
	return fuzz_below(&rng, n);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The first one to find something wrong says what. */
void wrong(const char *format, ...)
{
	va_list args;

	if (__atomic_exchange_n(&board->wrong, true, __ATOMIC_SEQ_CST))
		return;
	va_start(args, format);
	vsnprintf(board->text, sizeof(board->text), format, args);
	va_end(args);
}

static bool act_syncfs(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || syncfs(fd))
		wrong("syncfs: %s", strerror(errno));
	close(fd);
	return true;
}

/* Version 1 of all pages. Return: the bytes of all files. */
static uint64_t make_files(void)
{
	static uint64_t data[MOST_PAGES * PAGE_WORDS];
	uint64_t bytes = 0;
	uint32_t f, page;
	char path[256];
	ssize_t size;
	int fd;

	mkdir(dir, 0700);
	for (f = 0; f < board->files && !board->wrong; f++) {
		snprintf(path, sizeof(path), "%s/%u", dir, f / IN_A_FOLDER);
		if (f % IN_A_FOLDER == 0)
			mkdir(path, 0700);
		for (page = 0; page < pages_of(f); page++) {
			fill_page(data + page * PAGE_WORDS, f, page, 1);
			board->page[f * MOST_PAGES + page] = (struct page_shadow){ 1, 1 };
		}
		size = page * PAGE_BYTES;
		bytes += size;
		file_path(path, sizeof(path), f);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || write(fd, data, size) != size)
			wrong("%s: %s", path, strerror(errno));
		close(fd);
	}
	act_syncfs();
	return bytes;
}

/* Container @c takes a file. Where allocations fail, the kernel may keep it. */
static void take(uint32_t c, uint32_t f)
{
	struct hipec_take args;
	char path[256];
	int fd, ret;

	file_path(path, sizeof(path), f);
	fd = open(path, O_PATH);
	ret = fd < 0 ? -errno : hipec_take(container[c], 0, fd, &args);
	if (ret && !(ret == -ENOMEM && board->inject))
		wrong("container %u takes %s: %s", c, path, strerror(-ret));
	close(fd);
}

static void end(uint32_t c)
{
	if (container[c] < 0)
		return;
	add_up(container[c]);
	close(container[c]);
	container[c] = -1;
}

/* A container with some policy, of those that load with so many frames, and its files. */
static void start(uint32_t c)
{
	uint32_t flags = HIPEC_LOAD_IN_PLACE | (below(3) ? 0 : HIPEC_LOAD_SHARE);
	uint32_t tries, f;
	int ret = -1;

	for (tries = 0; tries < 50 && ret; tries++) {
		/* A load allocates often: where one in five fails, none may ever work. */
		if (tries == 25)
			no_injection();
		container[c] = hipec_open();
		ret = container[c] < 0 ? container[c] :
		      load_any(container[c], &rng, 32 + below(481), flags);
		if (ret && container[c] >= 0)
			close(container[c]);
	}
	if (ret) {
		container[c] = -1;
		wrong("container %u: no policy loads: %s", c, strerror(-ret));
		return;
	}
	if (!below(4))
		join_any(container[c], &rng);
	for (f = c; f < board->files && !board->wrong; f += board->containers)
		take(c, f);
}

static bool act_swap(void)
{
	return !swap_any(container[below(board->containers)], &rng);
}

static bool act_replace(void)
{
	uint32_t c = below(board->containers);

	end(c);
	start(c);
	return true;
}

static bool act_join(void)
{
	int fd = container[below(board->containers)];

	return (below(3) ? join_any(fd, &rng) :
		hipec_join_budget(fd, 0, 1u << below(5), NULL, 0)) >= 0;
}

static bool act_revoke(void)
{
	return !hipec_revoke(container[below(board->containers)], 0);
}

/* A file goes to the kernel and comes back. */
static bool act_release(void)
{
	uint32_t f = below(board->files), c = f % board->containers;
	char path[256];
	int fd, ret;

	file_path(path, sizeof(path), f);
	fd = open(path, O_PATH);
	ret = hipec_release(container[c], 0, fd);
	close(fd);
	if (ret && !(board->inject && (ret == -ENOENT || ret == -ENOMEM)))
		wrong("container %u lets go of %s: %s", c, path, strerror(-ret));
	take(c, f);
	return !ret;
}

static void start_process(uint32_t i)
{
	uint32_t c;

	board->up[i] = false;
	pid[i] = fork();
	if (pid[i] < 0)
		wrong("fork: %s", strerror(errno));
	if (!pid[i]) {
		/* They end when the parent closes them. */
		for (c = 0; c < board->containers; c++)
			close(container[c]);
		if (!put(CGROUP "cgroup.procs", "0"))
			wrong(CGROUP "cgroup.procs: %s", strerror(errno));
		__atomic_store_n(&board->up[i], true, __ATOMIC_RELEASE);
		work(i);
	}
	while (!__atomic_load_n(&board->up[i], __ATOMIC_ACQUIRE) && !board->wrong)
		usleep(1000);
}

/* A process dies wherever it is, and another takes its place. */
static bool act_kill(void)
{
	uint32_t i = below(board->processes);
	int status;

	kill(pid[i], SIGKILL);
	if (waitpid(pid[i], &status, 0) != pid[i] || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGKILL)
		wrong("process %u ended with status %x", i, status);
	start_process(i);
	return true;
}

static bool act_inject(void)
{
	if (board->inject)
		inject_faults(&rng);
	return board->inject;
}

static bool act_drop_caches(void)
{
	return put("/proc/sys/vm/drop_caches", below(4) ? "1" : "3");
}

/* The cgroup has room for all files, or for a quarter of them at least. */
static bool act_squeeze(uint64_t bytes)
{
	char text[32] = "max";

	narrow = !narrow;
	if (narrow)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)
			 (((8ull + 2 * board->processes) << 20) +
			  bytes * (25 + below(75)) / 100) * (slower > 1 ? 2 : 1));
	return put(CGROUP "memory.max", text);
}

static void act(uint64_t bytes)
{
	static const struct {
		bool (*fn)(void);
		uint32_t often;
	} acts[NR_ACTS] = {
		[ACT_swap] = { act_swap, 20 },
		[ACT_replace] = { act_replace, 10 },
		[ACT_join] = { act_join, 15 },
		[ACT_revoke] = { act_revoke, 3 },
		[ACT_release] = { act_release, 20 },
		[ACT_inject] = { act_inject, 10 },
		[ACT_kill] = { act_kill, 5 },
		[ACT_drop_caches] = { act_drop_caches, 2 },
		[ACT_squeeze] = { NULL, 10 },
		[ACT_syncfs] = { act_syncfs, 2 },
	};
	/* On a slow machine few are done: these are, whatever chance says. */
	static const uint32_t first[] = { ACT_swap, ACT_replace, ACT_release };
	static uint32_t nr;
	uint32_t i;

	do
		i = below(NR_ACTS);
	while (below(20) >= acts[i].often || (board->plain && i <= ACT_inject));
	if (nr < 3 && !board->plain)
		i = first[nr++];
	board->acts[i] += acts[i].fn ? acts[i].fn() : act_squeeze(bytes);
}

static void show_stack(uint32_t i)
{
	char path[64], text[2048];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stack", board->thread[i].tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	printf("thread %u, file %u: %s:\n%.*s\n", i, board->thread[i].file, path,
	       (int)(n < 0 ? 0 : n), text);
	close(fd);
}

/* Each thread goes on: @seen is what it had done when it was looked at. */
static void watch(void)
{
	static uint64_t seen[MAX_THREADS], since[MAX_THREADS];
	uint64_t now = now_ns();
	uint32_t i;

	for (i = 0; i < board->threads; i++) {
		uint64_t done = __atomic_load_n(&board->thread[i].done, __ATOMIC_RELAXED);

		if (!since[i] || done != seen[i]) {
			seen[i] = done;
			since[i] = now;
		} else if (now - since[i] > PATIENCE * 1000000000ull * slower) {
			show_stack(i);
			wrong("thread %u is at file %u for %u s", i, board->thread[i].file,
			      PATIENCE * slower);
		}
	}
}

/* Return: whether all have ended. */
static bool reap(void)
{
	uint64_t until = now_ns() + PATIENCE * 1000000000ull * slower;
	uint32_t each = board->threads / board->processes, i, left = 0;
	int status;

	for (i = 0; i < board->processes; i++)
		left += pid[i] > 0;
	while (left && now_ns() < until) {
		for (i = 0; i < board->processes; i++) {
			if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
				continue;
			pid[i] = 0;
			left--;
			if (status)
				wrong("process %u ended with status %x", i, status);
		}
		usleep(10000);
	}
	for (i = 0; i < board->threads; i++)
		if (pid[i / each] > 0) {
			show_stack(i);
			wrong("process %u does not end", i / each);
		}
	return !left;
}

static void check_all(const char *where)
{
	static struct thread parent;
	uint32_t f;

	for (f = 0; f < board->files && !board->wrong; f++)
		check_file(f, &parent, where);
}

/* Nobody was killed: one who was has ended with a status, too. */
static void check_cgroup(void)
{
	int killed = oom_kills(CGROUP "memory.events");

	if (killed < 0)
		wrong(CGROUP "memory.events: %s", strerror(errno));
	if (killed > 0)
		wrong("%d processes were killed for lack of memory", killed);
}

/* No container is left, and no frame. */
static void check_module(void)
{
	struct hipec_query q = { 0 };
	int fd = hipec_open(), ret = fd < 0 ? fd : hipec_query(fd, &q);

	if (ret)
		wrong("query: %s", strerror(-ret));
	/* The one that asks is one. */
	if (q.containers > 1 || q.frames)
		wrong("%llu containers and %llu frames are left",
		      (unsigned long long)q.containers, (unsigned long long)q.frames);
	close(fd);
}

/* All of the run; board->wrong says how it went. */
void keep(uint64_t seconds)
{
	const char *said = getenv("HIPEC_SLOWER");
	uint64_t until, bytes;
	uint32_t c, i;

	slower = said ? atoi(said) : 1;
	rng = (struct fuzz_rng){ board->seed * MAX_THREADS + MAX_THREADS - 1 };
	container = malloc(board->containers * sizeof(*container));
	if (!container) {
		wrong("no memory");
		return;
	}
	bytes = make_files();
	/* From here on it is silent. */
	put("/proc/sys/vm/drop_caches", "4");
	/* The module's own: file systems read and write below its hooks, and may fail then. */
	if (board->inject && !can_inject(6))
		wrong("this kernel cannot inject faults");
	for (c = 0; c < board->containers; c++) {
		container[c] = -1;
		if (!board->plain && !board->wrong)
			start(c);
	}
	if (mkdir(CGROUP, 0755))
		wrong(CGROUP ": %s", strerror(errno));
	for (i = 0; i < board->processes && !board->wrong; i++)
		start_process(i);
	until = now_ns() + seconds * 1000000000ull;
	while (!board->wrong && now_ns() < until) {
		usleep((20 + below(200)) * 1000);
		act(bytes);
		watch();
	}
	board->stop = true;
	no_injection();
	put(CGROUP "memory.max", "max");
	if (reap()) {
		check_all("at the end");
		act_syncfs();
		put("/proc/sys/vm/drop_caches", "3");
		check_all("from the disk, at the end");
		for (c = 0; c < board->containers; c++)
			end(c);
		check_all("after the end of all containers");
		check_cgroup();
		if (!board->plain)
			check_module();
	}
	rmdir(CGROUP);
}
