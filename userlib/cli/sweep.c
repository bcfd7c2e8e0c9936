// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sweep: a plan of many runs of hipec sim, and the report of its table; hipec tune:
 * the params of a policy. What does it is in sweep/.
 */
#include <limits.h>

#include "cli.h"
#include "../job/input.h"
#include "python.h"
#include "../job/job.h"

static const struct option_row sweep_options[] = {
	{ 'o', "output", "DIR",
	  .help = "of the results; without it PLAN.sweep. Of report the page; without it"
		  " report.html beside the table" },
	{ 'n', "dry-run", NULL, .help = "only say how many runs there are, and how large" },
	{ 'J', "jobs", "N", .help = "at a time; without it as many as there are processors" },
	{ LONG('s'), "scheduler", "ADDRESS",
	  .help = "run it on that cluster of Dask's, as tcp://host:8786" },
	{ LONG('S'), "sample", "1/64",
	  .help = "as of hipec sim, in the place of the plan's; 1/1: none" },
	{ LONG('p'), "part", "I/N",
	  .help = "every Nth trace from the Ith on, from 0; no table yet" },
	{ LONG('e'), "emit", "parallel|slurm",
	  .help = "print what runs all parts: lines of commands, or a script for sbatch;"
		  " hipec sweep PLAN joins them" },
	{ 'j', "json", NULL, .help = "of report: what the page shows, for programs" },
	{ 0 },
};

static const struct option_row tune_options[] = {
	{ 'o', "output", "FILE", .help = "the result; without it POLICY.tuned.hp" },
	{ 'f', "frames", "LIST", .help = "as of hipec sim; 10%,25%,50%" },
	{ 'm', "mode", SIM_MODE_WORDS, .help = "as of hipec sim; mapped" },
	{ LONG('t'), "trials", "N", .help = "values that are tried; 64" },
	{ LONG('r'), "seed", "N",
	  .help = "of the search, and of which traces are held out; 0" },
	{ LONG('H'), "held-out", "N", .help = "percent of the traces; 50" },
	{ LONG('S'), "sample", "1/64",
	  .help = "as of hipec sim; held-out traces are run as a whole" },
	{ 'J', "jobs", "N", .help = "at a time; without it as many as there are processors" },
	{ LONG('s'), "scheduler", "ADDRESS", .help = "run it on that cluster of Dask's" },
	{ 'j', "json", NULL, .help = "what was found, for programs" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static int cli_sweep(int argc, char **argv)
{
	static const struct cli_python plan = {
		"sweep/sweep.py", sweep_options, "p", 1, 1, "a plan",
	};

	return cli_python(&plan, argc, argv);
}

const struct cli_verb cli_verb_sweep = {
	.name = "sweep", .run = cli_sweep, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] PLAN",
	.summary = "run policies at many sizes over many traces, into one table",
	.help = "PLAN is a file in TOML: traces, policies, frames, modes and params. Each run"
		" is a row of results.parquet. What was killed goes on where it was, and a plan"
		" that was extended runs what is new. docs/user/sweeps.md has an example; it"
		" needs Python 3.11 with pyarrow, and takes python3 or what HIPEC_PYTHON says.",
	.options = sweep_options,
	.end = "Exit codes: 0 done; 1 failed; 2 usage; 3 done, but some rows are errors.",
};

static int cli_sweep_report(int argc, char **argv)
{
	static const struct cli_python report = {
		"sweep/report.py", sweep_options, "r", 1, 1, "results of a sweep",
	};

	return cli_python(&report, argc, argv);
}

const struct cli_verb cli_verb_draw = {
	.name = "report", .of = "sweep", .run = cli_sweep_report,
	.usage = "[OPTION...] RESULTS",
	.summary = "draw RESULTS, a table or its folder, as a page for a browser",
};

static int cli_tune(int argc, char **argv)
{
	static const struct cli_python tune = {
		"sweep/tune.py", tune_options, "", 2, INT_MAX,
		"a policy and traces",
	};

	return cli_python(&tune, argc, argv);
}

const struct cli_verb cli_verb_tune = {
	.name = "tune", .run = cli_tune, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] POLICY.hp TRACE...",
	.summary = "search the params of a policy on some traces, judge them on others",
	.help = "Params are searched within their ranges, by Optuna. The result is a source"
		" with the best values, and a header that says on what they were found, and"
		" what they gain on the traces that were held out. Without a gain there the"
		" values are those that it had. docs/user/sweeps.md has an example.",
	.options = tune_options,
	.end = "Exit codes: 0 a gain; 1 failed; 2 usage; 3 no gain.",
};
