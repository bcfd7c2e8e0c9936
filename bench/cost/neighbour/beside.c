// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls cost a user who has nothing to do with hipec, beside a client of it who does in a
 * loop what costs others most: each call, in nanoseconds; in a guest of run.py --det these are
 * instructions.
 *
 * The client with `plain` makes the same calls on the same files, but its container is
 * /dev/null. Client and neighbour are users of their own, in cgroups and directories of their
 * own. The neighbour runs whenever it can (SCHED_FIFO), and the client when nobody else does (nice
 * 19): what is waited for are locks, work, and whoever lets nobody run, and no shares of the CPU.
 * One line of name=value.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define CLIENT 1000
#define NEIGHBOUR 65534
#define FILES 8
#define OWN 64		/* pages that the neighbour maps, and as many that it reads */
#define NAP_NS 1000000	/* it sleeps so long after each round */

static const char usage[] =
"usage: beside MODE POLICY|plain FRAMES ROUNDS CLIENT-DIR CLIENT-CGROUP DIR CGROUP\n"
"CLIENT-DIR: has `data`, and `sparse`.\n";

static struct {
	int ready;
	uint64_t turns;
	struct hipec_status status;
} *board;

static void fail_if(bool failed, const char *what)
{
	if (failed)
		die(what);
}

/* The client. */

static const char *policy, *cgroup;
static bool plain;
static unsigned long frames;
static int container, file, other;
static size_t pages, at;
static void *image, *base;
static size_t image_size;

/* A plain one's calls fail: there is no container. */
static void done(int ret, const char *what)
{
	if (plain)
		return;
	errno = ret < 0 ? -ret : 0;
	fail_if(errno, what);
}

static void load(void)
{
	container = plain ? open("/dev/null", O_RDWR) :
			    load_as(policy, (struct hipec_load){
				.flags = HIPEC_LOAD_IN_PLACE, .frames = frames });
	fail_if(container < 0, "container");
}

/* For who started it. */
static void look(void)
{
	struct hipec_status s = { 0 };

	if (!hipec_status(container, &s))
		board->status = s;
}

static void read_next(void)
{
	char byte;

	fail_if(pread(file, &byte, 1, at * PAGE_BYTES) != 1, "read");
	at = (at + 1) % pages;
}

/* As many pages as it may have. */
static void fill(void)
{
	unsigned long i;

	for (i = 0; i < frames; i++)
		read_next();
}

static void open_data(void)
{
	struct stat st;

	file = open("data", O_RDWR);
	fail_if(file < 0 || fstat(file, &st), "data");
	pages = st.st_size / PAGE_BYTES;
	fail_if(posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM), "advice");
}

static void take_data(void)
{
	load();
	open_data();
	done(hipec_take(container, 0, file, NULL), "take");
	fill();
}

static void ask(void)
{
	struct hipec_why why = { .flags = HIPEC_WHY_BY_FILE, .fd = file,
				 .offset = (at - 1) % pages * PAGE_BYTES };
	struct hipec_status s = { 0 };
	struct hipec_operand o = { 0 };

	done(hipec_status(container, &s), "status");
	done(hipec_why(container, 0, &why), "why");
	done(hipec_operand(container, 0, 2, &o), "operand");
}

static void attach_sparse(void)
{
	load();
	other = open("sparse", O_RDWR);
	fail_if(other < 0, "sparse");
}

static void attach_and_detach(void)
{
	done(hipec_take(container, 0, other, NULL), "take");
	done(hipec_release(container, 0, other), "release");
}

static void take_to_swap(void)
{
	take_data();
	done(hipec_image_read("/policies/slowest.hpo", &image, &image_size), "image");
}

static void read_and_swap(void)
{
	int i;

	for (i = 0; i < 4; i++)
		read_next();
	done(hipec_swap(container, 0, image, image_size, NULL, 0), "swap");
}

static void take_directory(void)
{
	load();
	other = open(".", O_RDONLY | O_DIRECTORY);
	unlink("new");
	done(hipec_take(container, 0, other, NULL), "take");
}

static void come_and_go(void)
{
	int new = open("new", O_RDWR | O_CREAT | O_EXCL, 0600);

	fail_if(new < 0 || write(new, "new", 3) != 3 || close(new) || unlink("new"), "new");
}

static void take_with_rivals(void)
{
	int i;

	take_data();
	done(hipec_image_read("/policies/slow-rival.hpo", &image, &image_size), "image");
	for (i = 0; i < HIPEC_MAX_TEAMS - 1; i++)
		done(hipec_join(container, 0, image, image_size, NULL, 0), "join");
}

static void take_to_lock(void)
{
	take_data();
	base = mmap(NULL, frames * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
	fail_if(base == MAP_FAILED, "mmap");
}

static void lock_and_unlock(void)
{
	fail_if(mlock(base, frames / 2 * PAGE_BYTES), "mlock");
	fail_if(munlock(base, frames / 2 * PAGE_BYTES), "munlock");
	read_next();
}

static void join_group(const char *group)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = fopen(path, "w");
	fail_if(!f || fputs("0", f) < 0 || fclose(f), path);
}

/* A cgroup pays for pages, and is gone. */
static void read_and_remove(void)
{
	char path[128];
	pid_t pid;
	int i;

	snprintf(path, sizeof(path), "%s/../%d-%" PRIu64, cgroup, getpid(), board->turns);
	fail_if(mkdir(path, 0700), path);
	pid = fork();
	if (!pid) {
		join_group(path);
		for (i = 0; i < 16; i++)
			read_next();
		_exit(0);
	}
	at = (at + 16) % pages;
	fail_if(pid < 0 || waitpid(pid, NULL, 0) != pid, "child");
	while (rmdir(path))
		fail_if(errno != EBUSY, path);
}

/* A policy that errs. */
static void load_again(void)
{
	load();
	done(hipec_take(container, 0, file, NULL), "take");
	fill();
	fill();
	look();
	close(container);
}

/* What the policy decides is recorded, and read; an end of a record waits for no event. */
static void record_and_read(void)
{
	int record = plain ? open("/dev/null", O_RDONLY) : hipec_record(container, 0, 0);
	static char some[1 << 16];
	int i;

	fail_if(record < 0, "record");
	for (i = 0; i < 32; i++)
		read_next();
	fail_if(read(record, some, sizeof(some)) < 0, "read a record");
	close(record);
}

static const struct mode {
	const char *name;
	void (*begin)(void), (*turn)(void);
} modes[] = {
	{ "sweep", take_data, read_next },
	{ "ask", take_data, ask },
	{ "attach", attach_sparse, attach_and_detach },
	{ "swap", take_to_swap, read_and_swap },
	{ "create", take_directory, come_and_go },
	{ "league", take_with_rivals, read_next },
	{ "mlock", take_to_lock, lock_and_unlock },
	{ "cgroups", take_data, read_and_remove },
	{ "errs", open_data, load_again },
	{ "record", take_data, record_and_read },
	{ NULL }
};

static void become(const char *group, const char *dir, uid_t uid)
{
	join_group(group);
	fail_if(chdir(dir) || setgid(uid) || setuid(uid), dir);
	fail_if(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
}

static void __attribute__((noreturn)) be_client(const struct mode *m)
{
	uint64_t told = 0;

	m->begin();
	m->turn();
	for (board->ready = 1;; board->turns++) {
		m->turn();
		/* Now and then, as it is a call. */
		if (!plain && now() - told > 100000000) {
			look();
			told = now();
		}
	}
}

/* The neighbour: each call returns what it took. */

static volatile char *map;

static const char *name(unsigned int i)
{
	static char path[16];

	snprintf(path, sizeof(path), "n%u", i % FILES);
	return path;
}

static uint64_t timed_open(const char *path, int flags)
{
	uint64_t begin = now();
	int fd = open(path, flags, 0600);

	begin = now() - begin;
	fail_if(fd < 0 || close(fd), path);
	return begin;
}

static uint64_t op_open(unsigned int i)
{
	(void)i;
	return timed_open("own", O_RDONLY);
}

static uint64_t op_create(unsigned int i)
{
	return timed_open(name(i), O_CREAT | O_EXCL | O_RDWR);
}

static uint64_t op_unlink(unsigned int i)
{
	uint64_t begin = now();

	fail_if(unlink(name(i)), "unlink");
	return now() - begin;
}

/* From the disk, which pages that are mapped would not be. */
static uint64_t op_read(unsigned int i)
{
	off_t offset = (OWN + i % OWN) * PAGE_BYTES;
	uint64_t begin;
	char byte;

	fail_if(posix_fadvise(file, offset, PAGE_BYTES, POSIX_FADV_DONTNEED), "advice");
	begin = now();
	fail_if(pread(file, &byte, 1, offset) != 1, "read");
	return now() - begin;
}

static uint64_t op_fault(unsigned int i)
{
	volatile char *page = map + i % OWN * PAGE_BYTES;
	uint64_t begin;

	fail_if(madvise((void *)page, PAGE_BYTES, MADV_DONTNEED), "madvise");
	begin = now();
	(void)*page;
	return now() - begin;
}

static uint64_t op_exit(unsigned int i)
{
	uint64_t begin = now();
	pid_t pid = fork();
	int status;

	(void)i;
	if (!pid)
		_exit(0);
	fail_if(pid < 0 || waitpid(pid, &status, 0) != pid || status, "exit");
	return now() - begin;
}

static uint64_t op_sync(unsigned int i)
{
	uint64_t begin = now();

	(void)i;
	sync();
	return now() - begin;
}

/* How late it comes to run. */
static uint64_t op_wake(unsigned int i)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t begin = now();

	(void)i;
	fail_if(nanosleep(&nap, NULL), "nanosleep");
	return now() - begin - NAP_NS;
}

static const struct op {
	const char *name;
	uint64_t (*run)(unsigned int i);
	unsigned int times;	/* a round */
} ops[] = {
	{ "open", op_open, FILES },
	{ "create", op_create, FILES },
	{ "unlink", op_unlink, FILES },
	{ "read", op_read, FILES },
	{ "fault", op_fault, FILES },
	{ "exit", op_exit, 2 },
	{ "sync", op_sync, 4 },
	{ "wake", op_wake, 1 },
	{ NULL }
};

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

static void open_own(void)
{
	char page[PAGE_BYTES] = "own";
	int i;

	file = open("own", O_CREAT | O_TRUNC | O_RDWR, 0600);
	fail_if(file < 0, "own");
	for (i = 0; i < 2 * OWN; i++)
		fail_if(write(file, page, PAGE_BYTES) != PAGE_BYTES, "write");
	fail_if(fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM), "advice");
	map = mmap(NULL, OWN * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
	fail_if(map == MAP_FAILED, "mmap");
}

static void __attribute__((noreturn)) be_neighbour(unsigned int rounds)
{
	uint64_t *ns[sizeof(ops) / sizeof(*ops)];
	const struct op *o;
	unsigned int i, k;
	size_t nr;

	open_own();
	for (o = ops; o->name; o++)
		fail_if(!(ns[o - ops] = calloc(rounds * o->times, sizeof(**ns))), "memory");
	/* The first round is not counted: it is written over. */
	for (i = 0; i <= rounds; i++)
		for (o = ops; o->name; o++)
			for (k = 0; k < o->times; k++)
				ns[o - ops][(i ? i - 1 : 0) * o->times + k] = o->run(k);
	for (o = ops; o->name; o++) {
		nr = rounds * o->times;
		qsort(ns[o - ops], nr, sizeof(**ns), descending);
		printf("%s_median=%" PRIu64 " %s_p999=%" PRIu64 " %s_most=%" PRIu64 " ",
		       o->name, ns[o - ops][nr / 2], o->name, ns[o - ops][nr / 1000], o->name,
		       ns[o - ops][0]);
	}
	fflush(stdout);
	_exit(0);
}

static pid_t start(void)
{
	pid_t pid = fork();

	fail_if(pid < 0, "fork");
	return pid;
}

int main(int argc, char **argv)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const struct mode *m;
	pid_t client, pid;
	uint64_t death;
	int status;

	for (m = modes; argc == 9 && m->name && strcmp(m->name, argv[1]); m++)
		;
	if (argc != 9 || !m->name) {
		fputs(usage, stderr);
		return 2;
	}
	policy = argv[2];
	cgroup = argv[6];
	plain = !strcmp(policy, "plain");
	frames = strtoul(argv[3], NULL, 0);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fail_if(!plain && chmod(HIPEC_DEVICE, 0666), HIPEC_DEVICE);
	fail_if(board == MAP_FAILED || setrlimit(RLIMIT_MEMLOCK, &all), "board");
	client = start();
	if (!client) {
		fail_if(setpriority(PRIO_PROCESS, 0, 19), "priority");
		become(cgroup, argv[5], CLIENT);
		be_client(m);
	}
	while (!__atomic_load_n(&board->ready, __ATOMIC_RELAXED)) {
		fail_if(waitpid(client, NULL, WNOHANG), "client");
		usleep(1000);
	}
	board->turns = 0;
	pid = start();
	if (!pid) {
		fail_if(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }), "scheduler");
		become(argv[8], argv[7], NEIGHBOUR);
		be_neighbour(strtoul(argv[4], NULL, 0));
	}
	fail_if(waitpid(pid, &status, 0) != pid || status, "neighbour");
	death = now();
	fail_if(kill(client, SIGKILL) || waitpid(client, &status, 0) != client, "kill");
	death = now() - death;
	fail_if(!WIFSIGNALED(status), "client");
	printf("death=%" PRIu64 " turns=%" PRIu64 " late=%llu exit=%u\n", death, board->turns,
	       board->status.counters.late, board->status.exit.kind);
	return 0;
}
