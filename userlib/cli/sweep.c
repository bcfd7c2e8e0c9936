// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sweep: a plan of many runs of hipec sim. The program in sweep/, in Python, does
 * it; this file reads the options, and has that program run in this one's place.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sim/beside.h"
#include "cli.h"

#define PROGRAM "sweep/sweep.py"
#define MAX_WORDS 32	/* of the program's command line */

/* The program's command line, as far as it is known. */
struct words {
	const char *word[MAX_WORDS + 1];
	int nr;
};

static int add(struct words *w, const char *word)
{
	if (w->nr == MAX_WORDS) {
		cli_error("want %d words at most", MAX_WORDS);
		return CLI_USAGE;
	}
	w->word[w->nr++] = word;
	return CLI_OK;
}

static int add_option(struct words *w, const char *name, const char *value)
{
	return add(w, name) ?: value ? add(w, value) : CLI_OK;
}

static int parse(struct words *w, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "jobs", required_argument, NULL, 'J' },
		{ "scheduler", required_argument, NULL, 's' },
		{ "sample", required_argument, NULL, 'S' },
		{ "part", required_argument, NULL, 'p' },
		{ "emit", required_argument, NULL, 'e' },
		{ NULL, 0, NULL, 0 },
	};
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, "o:nJ:", options)) != -1)
		ret = opt == 'o' ? add_option(w, "--output", optarg) :
		      opt == 'n' ? add_option(w, "--dry-run", NULL) :
		      opt == 'J' ? add_option(w, "--jobs", optarg) :
		      opt == 's' ? add_option(w, "--scheduler", optarg) :
		      opt == 'S' ? add_option(w, "--sample", optarg) :
		      opt == 'p' ? add_option(w, "--part", optarg) :
		      opt == 'e' ? add_option(w, "--emit", optarg) : CLI_USAGE;
	if (!ret)
		ret = cli_operands(argc, argv, 1, 1, "a plan");
	return ret ?: add(w, "--") ?: add(w, argv[optind]);
}

/* The interpreter: where pyarrow is installed need not be the distribution's. */
static const char *interpreter(void)
{
	const char *name = getenv("HIPEC_PYTHON");

	return name && *name ? name : "python3";
}

int cli_sweep(int argc, char **argv)
{
	char program[PATH_MAX], self[PATH_MAX];
	struct words w = { { interpreter(), program, self }, 3 };
	ssize_t n;
	int ret;

	ret = parse(&w, argc, argv);
	if (ret)
		return ret;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0 || !beside_find(program, BESIDE_SHARE, PROGRAM)) {
		cli_error("want " PROGRAM " beside this command or in " BESIDE_SHARE);
		return CLI_FAILED;
	}
	self[n] = '\0';
	execvp(w.word[0], (char **)w.word);
	cli_error("%s: %s; it needs Python 3.11 or newer", w.word[0], strerror(errno));
	return CLI_FAILED;
}
