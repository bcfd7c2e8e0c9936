// SPDX-License-Identifier: GPL-2.0-only
/*
 *	hipec-place-stress [--seconds 60] [--seed N] [--plain] [--take OTHER] DIRECTORY
 *
 * --take: by this name the directory is taken, where it is below an overlay.
 * --plain: nothing is taken, so what is found wrong is no fault of hipec's.
 */
#include "place.h"

#include <getopt.h>
#include <sys/mman.h>
#include <time.h>

struct board *board;
const char *dir, *take_dir;

static const char *const act_name[NR_ACTS] = {
#define X(name) #name,
	PLACE_ACTS(X)
#undef X
};

static void show(void)
{
	uint32_t i;

	for (i = 0; i < NR_OPS; i++)
		printf("op %s tried %llu worked %llu\n", op_name[i],
		       (unsigned long long)board->tried[i],
		       (unsigned long long)board->worked[i]);
	for (i = 0; i < NR_ACTS; i++)
		printf("act %s %llu\n", act_name[i], (unsigned long long)board->acts[i]);
	show_counters();
	printf("operations %llu words %llu torn %llu\n", (unsigned long long)board->ops,
	       (unsigned long long)board->words, (unsigned long long)board->torn);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "plain", no_argument, NULL, 'p' },
		{ "take", required_argument, NULL, 't' },
		{ 0 }
	};
	uint64_t seconds = 60;
	bool plain = false;
	int option;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	board->seed = time(NULL);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			seconds = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			board->seed = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			plain = true;
			break;
		case 't':
			take_dir = optarg;
			break;
		default:
			return 2;
		}
	}
	if (optind != argc - 1 || (!plain && read_policies()))
		return 2;
	dir = argv[optind];
	if (!take_dir)
		take_dir = dir;
	printf("seed %llu\n", (unsigned long long)board->seed);
	fflush(stdout);
	if (keep(seconds, plain)) {
		show();
		printf("not ok: %s\n", board->text);
		return 1;
	}
	show();
	printf("ok\n");
	return 0;
}
