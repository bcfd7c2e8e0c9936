// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile-client: do to the module whatever processes can, for a while.
 *
 *	hostile-client SECONDS SEED
 *
 * Starts NR_WORKERS, kills one now and then and starts it again; at the end
 * kills all, lets go of containers that were kept, and asks whether every frame
 * came back. Prints how often each operation was tried and worked, the last
 * operations of each worker if anything is wrong, and `ok` or `not ok: REASON` in
 * the last line.
 *
 * With /dev/kmsg writable and HOSTILE_LOG set, each operation is in the kernel's
 * log before it is done (panic_print=32 shows it when the kernel dies of it).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "hostile.h"

#define PATIENCE 120	/* seconds, for what is killed to be gone */

/* Operations that shall have worked; a busy machine gets so many times as long for them. */
#define ENOUGH 1000
#define LONGER 10

struct board *board;
int kmsg = -1;

static pid_t pid_of[NR_WORKERS];
static uint32_t nr_kills, nr_starts;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void start(uint32_t i, uint64_t seed)
{
	pid_t pid = fork();

	if (!pid)
		work(i, seed + 1000003ull * nr_starts);
	/* Never a number that kill() takes for everybody. */
	if (pid < 0) {
		perror("hostile-client: fork");
		exit(1);
	}
	nr_starts++;
	pid_of[i] = pid;
}

/* Start again those that are dead, whoever killed them. */
static void reap(uint64_t seed)
{
	int status;
	uint32_t i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < NR_WORKERS && pid_of[i] != pid; i++)
			;
		if (i == NR_WORKERS)
			continue;	/* a worker's child */
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL &&
		    !__atomic_test_and_set(&board->wrong, __ATOMIC_SEQ_CST))
			snprintf(board->text, sizeof(board->text),
				 "worker %u was killed by signal %d", i,
				 WTERMSIG(status));
		/* Children of it may go on, without it. */
		start(i, seed);
	}
}

/* Everybody gone? */
static bool all_dead(void)
{
	double end = now() + PATIENCE;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR) {
		if (now() > end)
			return false;
		if (!pid)
			usleep(10000);
	}
	return true;
}

static uint64_t frames(void)
{
	FILE *f = fopen("/sys/kernel/debug/hipec/frames", "r");
	unsigned long long nr = ~0ull;

	if (f) {
		if (fscanf(f, "%llu", &nr) != 1)
			nr = ~0ull;
		fclose(f);
	}
	return nr;
}

static void say(const char *text)
{
	if (!__atomic_test_and_set(&board->wrong, __ATOMIC_SEQ_CST))
		snprintf(board->text, sizeof(board->text), "%s", text);
}

/* What was kept is let go of. Return: whether no container is left. */
static bool end_containers(void)
{
	double end = now() + PATIENCE;
	int fd = hipec_open();
	uint32_t left = 1;

	while (fd >= 0 && (left = end_places(fd)) && now() < end)
		usleep(10000);
	if (fd >= 0)
		close(fd);
	return !left;
}

static void finish(void)
{
	char text[64];
	double end;
	uint32_t i;

	for (i = 0; i < NR_WORKERS; i++) {
		kill(-pid_of[i], SIGKILL);
		kill(pid_of[i], SIGKILL);
		close(channel[i][0]);
		close(channel[i][1]);
	}
	if (!all_dead())
		return say("processes that were killed do not die");
	if (!end_containers())
		say("containers are left");
	/* Files of the dead are closed by and by. */
	for (end = now() + PATIENCE; frames() && now() < end;)
		usleep(10000);
	snprintf(text, sizeof(text), "%llu frames were not given back",
		 (unsigned long long)frames());
	if (frames())
		say(text);
}

static void show_log(void)
{
	uint32_t i, k;

	for (i = 0; i < NR_WORKERS; i++) {
		uint32_t nr = board->log[i].nr;

		for (k = nr > NR_LOGGED ? nr - NR_LOGGED : 0; k != nr; k++) {
			struct logged *l = &board->log[i].last[k % NR_LOGGED];

			printf("worker %u #%u %s %016llx: %s\n", i, l->number,
			       op_name[l->op % NR_OPS],
			       (unsigned long long)l->state,
			       l->result == 1 ? "1" : l->result < 0 ?
			       strerror(-l->result) : "ok");
		}
	}
}

static void show(void)
{
	unsigned long long tried = 0, worked = 0;
	uint32_t i;

	if (board->wrong)
		show_log();
	for (i = 0; i < NR_OPS; i++) {
		printf("op %s tried %llu worked %llu\n", op_name[i],
		       (unsigned long long)board->tried[i],
		       (unsigned long long)board->worked[i]);
		tried += board->tried[i];
		worked += board->worked[i];
	}
	printf("operations %llu worked %llu touches %llu refused %llu words %llu starts %u kills %u\n",
	       tried, worked, (unsigned long long)board->touches,
	       (unsigned long long)board->faults_refused,
	       (unsigned long long)board->words, nr_starts, nr_kills);
	if (board->wrong)
		printf("not ok: %s\n", board->text);
	else
		printf("ok\n");
}

static int prepare(void)
{
	uint32_t i;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	arena = mmap(NULL, NR_SPOTS * SPOT_BYTES, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (board == MAP_FAILED || arena == MAP_FAILED) {
		perror("hostile-client: mmap");
		return -ENOMEM;
	}
	/* A kernel without them has the other way: file.c. */
	for (i = 0; i < NR_WORKERS; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0,
			       channel[i]))
			channel[i][0] = channel[i][1] = -1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (getenv("HOSTILE_LOG"))
		kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	return make_places() ?: make_files() ?: read_policies();
}

static bool enough(void)
{
	uint64_t worked = 0;
	uint32_t i;

	for (i = 0; i < NR_OPS; i++)
		worked += __atomic_load_n(&board->worked[i], __ATOMIC_RELAXED);
	return worked >= ENOUGH;
}

int main(int argc, char **argv)
{
	struct fuzz_rng rng;
	double begin, seconds, next;
	uint64_t seed;
	uint32_t i;

	if (argc != 3) {
		fputs("usage: hostile-client SECONDS SEED\n", stderr);
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0);
	rng.state = ~seed;
	if (prepare())
		return 1;
	for (i = 0; i < NR_WORKERS; i++)
		start(i, seed);
	begin = now();
	seconds = atof(argv[1]);
	next = 0;
	while (!board->wrong && now() < begin + LONGER * seconds &&
	       (now() < begin + seconds || !enough())) {
		usleep(20000);
		reap(seed);
		if (now() < next)
			continue;
		next = now() + 0.1 + fuzz_below(&rng, 100) / 25.0;
		i = fuzz_below(&rng, NR_WORKERS);
		/* At times with its children, at times alone. */
		if (fuzz_chance(&rng, 50))
			kill(-pid_of[i], SIGKILL);
		else
			kill(pid_of[i], SIGKILL);
		nr_kills++;
	}
	finish();
	show();
	return board->wrong ? 1 : 0;
}
