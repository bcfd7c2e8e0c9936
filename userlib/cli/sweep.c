// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sweep: a plan of many runs of hipec sim, and the report of its table; hipec tune:
 * the params of a policy; hipec judge: policies that a program writes. What does it is in
 * sweep/.
 */
#include <limits.h>
#include <string.h>

#include "cli.h"
#include "python.h"

static const struct option plan_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "jobs", required_argument, NULL, 'J' },
	{ "scheduler", required_argument, NULL, 's' },
	{ "sample", required_argument, NULL, 'S' },
	{ "part", required_argument, NULL, 'p' },
	{ "emit", required_argument, NULL, 'e' },
	{ NULL, 0, NULL, 0 },
};

static const struct option report_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

static const struct option tune_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "frames", required_argument, NULL, 'f' },
	{ "mode", required_argument, NULL, 'm' },
	{ "trials", required_argument, NULL, 't' },
	{ "seed", required_argument, NULL, 'r' },
	{ "sample", required_argument, NULL, 'S' },
	{ "held-out", required_argument, NULL, 'H' },
	{ "jobs", required_argument, NULL, 'J' },
	{ "scheduler", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

static const struct option judge_options[] = {
	{ "frames", required_argument, NULL, 'f' },
	{ "mode", required_argument, NULL, 'm' },
	{ "seed", required_argument, NULL, 'r' },
	{ "sample", required_argument, NULL, 'S' },
	{ "held-out", required_argument, NULL, 'H' },
	{ "jobs", required_argument, NULL, 'J' },
	{ NULL, 0, NULL, 0 },
};

int cli_sweep(int argc, char **argv)
{
	static const struct cli_python plan = {
		"sweep/sweep.py", plan_options, "o:nJ:", 1, 1, "a plan",
	}, report = {
		"sweep/report.py", report_options, "o:j", 1, 1, "results of a sweep",
	};

	if (argc > 1 && !strcmp(argv[1], "report"))
		return cli_python(&report, argc - 1, argv + 1);
	return cli_python(&plan, argc, argv);
}

int cli_tune(int argc, char **argv)
{
	static const struct cli_python tune = {
		"sweep/tune.py", tune_options, "o:f:m:J:j", 2, INT_MAX,
		"a policy and traces",
	};

	return cli_python(&tune, argc, argv);
}

int cli_judge(int argc, char **argv)
{
	static const struct cli_python judge = {
		"sweep/candidates.py", judge_options, "f:m:J:", 1, INT_MAX, "traces",
	};

	return cli_python(&judge, argc, argv);
}
