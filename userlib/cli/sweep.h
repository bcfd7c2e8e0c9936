/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the verbs that run many simulations, for the table of cli.c: arguments,
 * summary and help. What does them is in sweep/, in Python.
 */
#ifndef HIPEC_CLI_SWEEP_H
#define HIPEC_CLI_SWEEP_H

#define SWEEP_ROW                                                                      \
	"[OPTION...] PLAN\n"                                                           \
	"report [OPTION...] RESULTS",                                                  \
	"run policies at many sizes over many traces, into one table",                 \
	"PLAN is a file in TOML: traces, policies, frames, modes and params. Each run is\n" \
	"a row of results.parquet. What was killed goes on where it was, and a plan that\n" \
	"was extended runs what is new. docs/user/sweeps.md has an example; it needs\n" \
	"Python 3.11 with pyarrow, and takes python3 or what HIPEC_PYTHON says. report\n" \
	"draws RESULTS, a table or its folder, as a page for a browser.\n"             \
	"\n"                                                                           \
	"  -o, --output DIR   of the results; without it PLAN.sweep. Of report the page;\n" \
	"                     without it report.html beside the table\n"              \
	"  -n, --dry-run      only say how many runs there are, and how large\n"       \
	"  -J, --jobs N       at a time; without it as many as there are processors\n" \
	"      --scheduler ADDRESS\n"                                                  \
	"                     run it on that cluster of Dask's, as tcp://host:8786\n" \
	"      --sample 1/64  as of hipec sim, in the place of the plan's; 1/1: none\n" \
	"      --part I/N     every Nth trace from the Ith on, from 0; no table yet\n" \
	"      --emit HOW     print what runs all parts: parallel, lines of commands, or\n" \
	"                     slurm, a script for sbatch; hipec sweep PLAN joins them\n" \
	"  -j, --json         of report: what the page shows, for programs\n"          \
	"\n"                                                                           \
	"Exit codes: 0 done; 1 failed; 2 usage; 3 done, but some rows are errors.\n"

#define TUNE_ROW                                                                       \
	"[OPTION...] POLICY.hp TRACE...",                                              \
	"search the params of a policy on some traces, judge them on others",          \
	"Params are searched within their ranges, by Optuna. The result is a source with\n" \
	"the best values, and a header that says on what they were found, and what they\n" \
	"gain on the traces that were held out. Without a gain there the values are those\n" \
	"that it had. docs/user/sweeps.md has an example.\n"                           \
	"\n"                                                                           \
	"  -o, --output FILE  the result; without it POLICY.tuned.hp\n"                \
	"  -f, --frames LIST  as of hipec sim; 10%,25%,50%\n"                          \
	"  -m, --mode MODE    mapped or exact; mapped\n"                               \
	"      --trials N     values that are tried; 64\n"                             \
	"      --seed N       of the search, and of which traces are held out; 0\n"    \
	"      --held-out N   percent of the traces; 50\n"                             \
	"      --sample 1/64  as of hipec sim; held-out traces are run as a whole\n"   \
	"  -J, --jobs N       at a time; without it as many as there are processors\n" \
	"      --scheduler ADDRESS\n"                                                  \
	"                     run it on that cluster of Dask's\n"                      \
	"  -j, --json         what was found, for programs\n"                          \
	"\n"                                                                           \
	"Exit codes: 0 a gain; 1 failed; 2 usage; 3 no gain.\n"

#define JUDGE_ROW                                                                      \
	"[OPTION...] TRACE...",                                                        \
	"judge policies that a program writes, one after the other",                   \
	"Reads candidates from standard input, a line each: the name of a .hp file, or\n" \
	"JSON with its \"source\". Writes a line of JSON for each, in their order: whether\n" \
	"it is refused, what its events cost, its misses by those of lru. An interface\n" \
	"for programs that search; docs/user/sweeps.md describes it.\n"                \
	"\n"                                                                           \
	"  -f, --frames LIST  as of hipec sim, in percent; 10%,25%,50%\n"              \
	"  -m, --mode MODE    mapped or exact; mapped\n"                               \
	"      --seed N       of which traces are held out; 0\n"                       \
	"      --held-out N   percent of the traces; 50\n"                             \
	"      --sample 1/16  one page of 16 of each trace, taken once\n"              \
	"  -J, --jobs N       at a time; without it as many as there are processors\n"

#endif /* HIPEC_CLI_SWEEP_H */
