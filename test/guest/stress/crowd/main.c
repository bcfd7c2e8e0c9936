// SPDX-License-Identifier: GPL-2.0-only
/*
 *	hipec-crowd [--seconds 60] [--seed N] [--containers 200] [--files 20000]
 *		    [--processes 16] [--threads 4] [--inject] [--plain] DIRECTORY
 *
 * --threads: of each process. --inject: allocations of the module fail. --plain: no
 * container, so what is found wrong is no fault of hipec's.
 */
#include "crowd.h"

#include <getopt.h>
#include <sys/mman.h>
#include <time.h>

#include "../parent.h"

struct board *board;
const char *dir;

static const char *const act_name[NR_ACTS] = {
#define X(name) #name,
	CROWD_ACTS(X)
#undef X
};

/* The most that one in so many of what step @step counts took, in us. */
static double step_us(uint32_t step)
{
	uint32_t power = step / STEPS;

	if (!power)
		return step / 1000.0;
	return (((STEPS + step % STEPS + 1ull) << (power - 1)) - 1) / 1000.0;
}

/* The time within which @part of @nr reads came back. */
static double quantile_us(const uint64_t *took, uint64_t nr, double part)
{
	uint64_t so_far = 0;
	uint32_t step;

	for (step = 0; step < NR_STEPS - 1; step++) {
		so_far += took[step];
		if (so_far >= nr * part)
			break;
	}
	return step_us(step);
}

static void show(void)
{
	struct thread all = { 0 };
	uint32_t i, step;

	for (i = 0; i < NR_ACTS; i++)
		printf("act %s %llu\n", act_name[i], (unsigned long long)board->acts[i]);
	show_counters();
	for (i = 0; i < board->threads; i++) {
		const struct thread *t = &board->thread[i];

		all.reads += t->reads;
		all.maps += t->maps;
		all.writes += t->writes;
		all.checks += t->checks;
		all.torn += t->torn;
		all.slowest = t->slowest > all.slowest ? t->slowest : all.slowest;
		for (step = 0; step < NR_STEPS; step++)
			all.took[step] += t->took[step];
	}
	printf("reads %llu maps %llu writes %llu checks %llu torn %llu\n",
	       (unsigned long long)all.reads, (unsigned long long)all.maps,
	       (unsigned long long)all.writes, (unsigned long long)all.checks,
	       (unsigned long long)all.torn);
	printf("pread us p50 %.1f p99 %.1f p99.9 %.1f max %.1f\n",
	       quantile_us(all.took, all.reads, 0.5), quantile_us(all.took, all.reads, 0.99),
	       quantile_us(all.took, all.reads, 0.999), all.slowest / 1000.0);
}

static const struct option options[] = {
	{ "seconds", required_argument, NULL, 's' },
	{ "seed", required_argument, NULL, 'r' },
	{ "containers", required_argument, NULL, 'c' },
	{ "files", required_argument, NULL, 'f' },
	{ "processes", required_argument, NULL, 'p' },
	{ "threads", required_argument, NULL, 't' },
	{ "inject", no_argument, NULL, 'i' },
	{ "plain", no_argument, NULL, 'n' },
	{ 0 }
};

int main(int argc, char **argv)
{
	struct board said = {
		.seed = time(NULL), .containers = 200, .files = 20000, .processes = 16,
	};
	uint64_t seconds = 60, each = 4;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t value = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (option) {
		case 's': seconds = value; break;
		case 'r': said.seed = value; break;
		case 'c': said.containers = value; break;
		case 'f': said.files = value; break;
		case 'p': said.processes = value; break;
		case 't': each = value; break;
		case 'i': said.inject = true; break;
		case 'n': said.plain = true; break;
		default: return 2;
		}
	}
	said.threads = said.processes * each;
	if (optind != argc - 1 || !said.containers || !said.threads ||
	    said.processes > MAX_PROCESSES || said.threads > MAX_THREADS ||
	    said.files < said.threads || (!said.plain && read_policies()))
		return 2;
	dir = argv[optind];
	board = mmap(NULL, sizeof(*board) + said.files * MOST_PAGES * sizeof(*board->page),
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	*board = said;
	printf("seed %llu\n", (unsigned long long)board->seed);
	fflush(stdout);
	keep(seconds);
	show();
	printf(board->wrong ? "not ok: %s\n" : "ok\n", board->text);
	return board->wrong;
}
