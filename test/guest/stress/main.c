// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec-stress: everything at once, from a seed, and no write is lost.
 *
 *	hipec-stress [--seconds N] [--ops N] [--seed N] [--inject] [--roomy]
 *		[--timeout N]
 *
 * Ends after so many seconds, or so many operations of its threads. --inject:
 * allocations fail as well, on a kernel that was built for it; --roomy: what shares
 * the pool has frames for all its pages, in a pool that is large enough. Prints the
 * seed first, then what was done, and `ok` or `not ok: REASON` in the last line.
 *
 * This process is the watchdog: if an operation, or the keeper, does not get on,
 * it says which and where in the kernel, and ends all.
 *
 * Exit status: 0; 1 something is wrong; 2 usage; 3 something hangs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "stress.h"

#define TIMEOUT 60	/* seconds for one step, of a stock kernel */

#define X(name, often) #name,
const char *const op_name[NR_OPS + 1] = { STRESS_OPS(X) "start" };
#undef X

#define X(name) #name,
static const char *const act_name[] = { KEEPER_ACTS(X) };
#undef X

struct board *board;

static void show_file(const char *path)
{
	char text[2048];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n > 0) {
		text[n] = 0;
		printf("  %s: %s%s", path + 6, text,
		       text[n - 1] == '\n' ? "" : "\n");
	}
	if (fd >= 0)
		close(fd);
}

/* What a process has of regions. */
static void show_regions(const char *pid)
{
	char path[300], text[300];
	struct dirent *e;
	ssize_t n;
	FILE *f;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	f = fopen(path, "r");
	while (f && fgets(text, sizeof(text), f))
		if (strstr(text, "/hipec (deleted)"))
			printf("  maps %s", text);
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		n = readlinkat(dirfd(dir), e->d_name, text, sizeof(text) - 1);
		if (n > 0 && memmem(text, n, "hipec", 5))
			printf("  has %s: %.*s\n", e->d_name, (int)n, text);
	}
	if (dir)
		closedir(dir);
}

/* All tasks of a process: where they are in the kernel. */
static void show_process(const char *pid)
{
	static const char *const what[] = { "comm", "wchan", "syscall", "stack" };
	char path[600];
	struct dirent *e;
	DIR *dir;
	size_t i;

	printf("process %s\n", pid);
	show_regions(pid);
	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		for (i = 0; e->d_name[0] != '.' && i < 4; i++) {
			snprintf(path, sizeof(path), "/proc/%s/task/%s/%s", pid,
				 e->d_name, what[i]);
			show_file(path);
		}
	}
	if (dir)
		closedir(dir);
}

/* Ours, also those that are dying, and the kernel's workers. */
static bool concerns(const char *pid)
{
	char path[300], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return !strncmp(text, "hipec-stress", 12) ||
	       (!strncmp(text, "kworker", 7) && strstr(text, "hipec"));
}

static void show_all_tasks(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	uint32_t t;

	printf("keeper %d: %s\n", board->keeper, board->keeper_does);
	for (t = 0; t < NR_THREADS; t++) {
		struct thread_board *b = &board->thread[t];

		printf("thread %u task %d: operation %llu, %s, for %llu ms; holds %u %u %u\n",
		       t, b->tid, (unsigned long long)b->nr, op_name[b->op],
		       b->since ? (unsigned long long)(now_ns() - b->since) /
		       1000000 : 0, b->holds[0], b->holds[1], b->holds[2]);
	}
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    atoi(e->d_name) != getpid() && concerns(e->d_name))
			show_process(e->d_name);
	if (dir)
		closedir(dir);
}

/* Who does not get on? Says it, with all that is known; then all may end. */
static bool hangs(uint64_t timeout)
{
	uint64_t now = now_ns(), since;
	char text[100] = "";
	uint32_t t;

	for (t = 0; t < NR_THREADS; t++) {
		since = __atomic_load_n(&board->thread[t].since,
					__ATOMIC_SEQ_CST);
		if (since && now > since + timeout)
			snprintf(text, sizeof(text), "thread %u hangs in %s", t,
				 op_name[board->thread[t].op]);
	}
	since = __atomic_load_n(&board->keeper_since, __ATOMIC_SEQ_CST);
	if (since && now > since + timeout)
		snprintf(text, sizeof(text), "the keeper hangs: %s",
			 board->keeper_does);
	if (!text[0])
		return false;
	show_all_tasks();
	wrong("%s", text);
	return true;
}

static void kill_all(void)
{
	uint32_t i;

	for (i = 0; i < NR_PROCS; i++)
		if (board->proc[i] > 0)
			kill(-board->proc[i], SIGKILL);
}

/* Until the keeper ends. Return: exit status. */
static int watch(pid_t keeper, uint64_t timeout)
{
	int status;
	pid_t pid;

	while (!(pid = waitpid(keeper, &status, WNOHANG))) {
		if (hangs(timeout)) {
			kill_all();
			kill(keeper, SIGKILL);
			return 3;
		}
		usleep(100000);
	}
	kill_all();
	if (pid != keeper || !WIFEXITED(status)) {
		wrong("the keeper died of signal %d", WTERMSIG(status));
		return 1;
	}
	return board->wrong ? 1 : WEXITSTATUS(status);
}

static void show(void)
{
	uint32_t i;

	for (i = 0; i < NR_OPS; i++)
		printf("op %s tried %llu worked %llu\n", op_name[i],
		       (unsigned long long)board->tried[i],
		       (unsigned long long)board->worked[i]);
	for (i = 0; i < NR_ACTS; i++)
		printf("act %s %llu\n", act_name[i],
		       (unsigned long long)board->acts[i]);
	for (i = 0; i < NR_SLOTS; i++) {
		struct slot *s = &board->slot[i];

		printf("slot %u sigbus %llu errors %u exits %u", i,
		       (unsigned long long)s->sigbus, s->errors, s->exits);
#define HIPEC_X(name, help) printf(" " #name " %llu", \
		(unsigned long long)s->sum.name);
		HIPEC_COUNTERS(HIPEC_X)
#undef HIPEC_X
		printf("\n");
	}
	printf("operations %llu touches %llu injected %llu starts %llu pages %llu\n",
	       (unsigned long long)board->ops,
	       (unsigned long long)board->touches,
	       (unsigned long long)board->injected,
	       (unsigned long long)board->starts,
	       (unsigned long long)board->words);
}

/* Into *@board and these. Return: false for what is no option. */
static bool options_of(int argc, char **argv, uint64_t *seconds, uint64_t *ops,
		       uint64_t *timeout)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'o' },
		{ "seed", required_argument, NULL, 'r' },
		{ "inject", no_argument, NULL, 'i' },
		{ "roomy", no_argument, NULL, 'm' },
		{ "timeout", required_argument, NULL, 'p' },
		{ 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			*seconds = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			*ops = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			board->seed = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			*timeout = strtoull(optarg, NULL, 0);
			break;
		case 'i':
			board->inject = true;
			break;
		case 'm':
			board->roomy = true;
			break;
		default:
			return false;
		}
	}
	if (!*seconds && !*ops)
		*seconds = 60;
	return true;
}

int main(int argc, char **argv)
{
	const char *slower = getenv("HIPEC_SLOWER");
	uint64_t seconds = 0, ops = 0, timeout = TIMEOUT;
	pid_t keeper;
	int status;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED) {
		perror("hipec-stress: mmap");
		return 1;
	}
	board->seed = now_ns();
	if (!options_of(argc, argv, &seconds, &ops, &timeout))
		return 2;
	printf("seed %llu\n", (unsigned long long)board->seed);
	fflush(stdout);
	keeper = fork();
	if (!keeper)
		_exit(keep(seconds, ops));
	status = keeper < 0 ? 1 :
		 watch(keeper, timeout * 1000000000ull *
			       (slower ? atoi(slower) : 1));
	show();
	if (status)
		printf("not ok: %s\n", board->text);
	else
		printf("ok\n");
	return status;
}
