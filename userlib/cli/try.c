// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec try: whether a policy is worth it for a program, and what to run next. It
 * takes the program's trace, runs the policies that are fit for production on it at
 * a few sizes of memory, and says what came of it. Neither root nor the module.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "input.h"
#include "program.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define OVER "lru"	/* about what operating systems do */

struct try {
	char *frames;		/* of --frames, or NULL */
	const char *policies;	/* of --policy, or NULL */
	bool no_maps;
	char **keep;		/* options of hipec trace that say what matters */
	size_t nr_keep;
	char *trace;		/* its file, to free() */
	char **command;		/* NULL: there was only a trace */
	FILE *out;
};

/* Of so many pages. */
#define SIZE(pages) cli_memory((char [CLI_COUNT]){ 0 }, (u64)(pages) << 12)

/* As --budget and --frames take it. */
static const char *budget_text(char *text, size_t size, u32 frames)
{
	if (frames % 256)
		snprintf(text, size, "%u", frames);
	else
		snprintf(text, size, "%uM", frames / 256);
	return text;
}

/* Hand an option on to hipec trace, as one word. */
static bool keep_option(struct try *t, const char *name, const char *value)
{
	char **more = reallocarray(t->keep, t->nr_keep + 1, sizeof(*more));

	if (more)
		t->keep = more;
	if (!more || asprintf(&more[t->nr_keep], value ? "--%s=%s" : "--%s", name, value) < 0) {
		cli_error("%s", strerror(ENOMEM));
		return false;
	}
	t->nr_keep++;
	return true;
}

static const struct option_row options[] = {
	{ 'f', "frames", "LIST",
	  .help = "sizes of memory, as of hipec sim: 64M, 4096, 10%; without it 10%,25%,50%,75%"
		  " of the pages that are accessed" },
	{ 'p', "policy", "LIST", .help = "these policies, as of hipec sim" },
	{ 'o', "output", "FILE", .help = "the trace; without it PROGRAM.trace" },
	{ LONG('M'), "no-mmap", NULL,
	  .help = "leave out mapped files: for a program that fails with them" },
	{ LONG('y'), "only", "GLOB", .help = NULL },
	{ LONG('n'), "min-pages", "N", .help = NULL },
	{ LONG('a'), "all", NULL, .help = "which files matter, as of hipec trace" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static int parse(struct try *t, int argc, char **argv)
{
	const char *out = NULL, *slash;
	bool program;
	int opt;

	while ((opt = cli_option(argc, argv, options, "+")) != -1)
		if (opt >= CLI_INPUT_FROM) {
			if (cli_input_set(opt, optarg))
				return CLI_USAGE;
		} else if (opt == 'f')
			t->frames = optarg;
		else if (opt == 'p')
			t->policies = optarg;
		else if (opt == 'o')
			out = optarg;
		else if (opt == 'M')
			t->no_maps = true;
		else if (opt == '?')
			return CLI_USAGE;
		else if (!keep_option(t, opt == 'y' ? "only" : opt == 'n' ? "min-pages" : "all",
				      opt == 'a' ? NULL : optarg))
			return CLI_FAILED;
	program = optind > 1 && !strcmp(argv[optind - 1], "--");
	if (optind == argc) {
		cli_error("want -- and a program to run, or its trace");
		return CLI_USAGE;
	}
	t->out = program ? stderr : stdout;
	if (program)
		t->command = argv + optind;
	else if (optind + 1 != argc) {
		cli_error("want one trace, or -- before a program and its arguments");
		return CLI_USAGE;
	} else if (out || t->no_maps || t->nr_keep) {
		cli_error("--output, --no-mmap and what says which files matter are for programs: '%s' is a trace",
			  cli_clean(strdupa(argv[optind])));
		return CLI_USAGE;
	}
	slash = strrchr(argv[optind], '/');
	if (!program || out)
		t->trace = strdup(program ? out : argv[optind]);
	else if (asprintf(&t->trace, "%s.trace", slash ? slash + 1 : argv[optind]) < 0)
		t->trace = NULL;
	if (t->trace)
		return CLI_OK;
	cli_error("%s", strerror(ENOMEM));
	return CLI_FAILED;
}

/* hipec trace, in a process of its own: it ends as the program does. */
static int take_trace(const struct try *t)
{
	size_t nr = 0, n = 0, i;
	struct stat st;
	char **argv;
	int status;
	pid_t child;

	unlink(t->trace);
	while (t->command[nr])
		nr++;
	argv = calloc(nr + t->nr_keep + 6, sizeof(*argv));
	child = argv ? fork() : -1;
	if (child < 0) {
		cli_error("%s", strerror(errno));
		free(argv);
		return CLI_FAILED;
	}
	if (!child) {
		argv[n++] = "trace";
		argv[n++] = "-o";
		argv[n++] = t->trace;
		if (!t->no_maps)
			argv[n++] = "--mmap";
		for (i = 0; i < t->nr_keep; i++)
			argv[n++] = t->keep[i];
		argv[n++] = "--";
		memcpy(argv + n, t->command, nr * sizeof(*argv));
		optind = 1;
		exit(cli_trace_program(n + nr, argv));
	}
	free(argv);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	status = cli_program_status(status);
	if (status == CLI_NOT_FOUND || status == CLI_NOT_RUN)
		return status;		/* said */
	if (status)
		cli_error("%s ended with %d; what it did until then counts",
			  cli_clean(strdupa(t->command[0])), status);
	if (!stat(t->trace, &st))
		return CLI_OK;
	cli_error("no accesses were seen, so there is nothing to try (docs/user/traces.md)");
	return CLI_FAILED;
}

/* The cell where most is gained, in percent, or of those the one with most room. */
static const struct sim_cell *best_cell(const struct sim_job *job,
					const struct sim_rows *rows)
{
	const struct sim_cell *best = NULL;
	double gain, most = 0;
	size_t i;

	for (i = 0; i < rows->nr_cells; i++) {
		const struct sim_cell *cell = &rows->cell[i];

		if (best && sim_verdict(job, cell) < sim_verdict(job, best))
			continue;
		if (!sim_verdict_gain(cell, sim_verdict(job, cell) == SIM_VERDICT_GAIN ?
				      cell->best : cell->opt, &gain))
			continue;
		if (!best || sim_verdict(job, cell) > sim_verdict(job, best) ||
		    gain > most) {
			best = cell;
			most = gain;
		}
	}
	return best;
}

/* Whether there is nothing to keep, at any size of memory. */
static bool all_read_once(const struct sim_rows *rows)
{
	u64 pages = rows->row->trace->nr_pages;
	size_t i;

	for (i = 0; i < rows->nr_cells; i++)
		if (rows->cell[i].over->r.faults > pages + pages / 33)
			return false;
	return true;
}

/* An argument as a shell takes it. */
static void put_word(FILE *out, char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-";

	cli_clean(word);
	if (*word && !word[strspn(word, plain)]) {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (; *word; word++)
		fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
	fputc('\'', out);
}

static void say_next(const struct try *t, const char *policy, u32 frames)
{
	char budget[32];
	size_t i;

	budget_text(budget, sizeof(budget), frames);
	if (policy) {
		fprintf(t->out, "next: hipec run --policy %s --budget %s --", policy, budget);
		for (i = 0; t->command && t->command[i]; i++)
			put_word(t->out, strdupa(t->command[i]));
		fprintf(t->out, "%s\n", t->command ? "" : " PROGRAM");
	}
	fprintf(t->out, "%s hipec profile --policy " OVER ",%s%sopt --frames %s --output report.html",
		policy ? "and: " : "next:", policy ?: "", policy ? "," : "", budget);
	put_word(t->out, strdupa(t->trace));
	fputc('\n', t->out);
}

static void say(const struct try *t, const struct sim_job *job, const struct sim_rows *rows)
{
	const struct sim_cell *cell = best_cell(job, rows);
	enum sim_verdict verdict = cell ? sim_verdict(job, cell) : SIM_VERDICT_UNKNOWN;
	double gain = 0;
	u32 frames;

	if (verdict == SIM_VERDICT_UNKNOWN) {
		fprintf(t->out, "nothing to compare: no page was read\n");
		return;
	}
	frames = cell->row->frames;
	sim_verdict_gain(cell, verdict == SIM_VERDICT_GAIN ? cell->best : cell->opt, &gain);
	if (verdict == SIM_VERDICT_GAIN)
		fprintf(t->out, "worth it: with %s, %s reads %s instead of %s (-%.0f %%); least possible: %s\n",
			SIZE(frames), cell->best->policy->name, SIZE(cell->best->r.faults),
			SIZE(cell->over->r.faults), gain, SIZE(cell->opt->r.faults));
	else if (verdict == SIM_VERDICT_ROOM)
		fprintf(t->out, "not worth it with these policies: none reads %g %% less than %s; with %s, one of its own could read up to %.0f %% less\n",
			job->least, job->over, SIZE(frames), gain);
	else if (all_read_once(rows))
		fprintf(t->out, "not worth it: each page is read about once, so no policy and no more memory can help\n");
	else
		fprintf(t->out, "not worth it: with none of these sizes of memory any policy can read %g %% less than %s; only more memory helps, of %s in all\n",
			job->least, job->over, SIZE(cell->row->trace->nr_pages));
	say_next(t, verdict == SIM_VERDICT_GAIN ? cell->best->policy->name : NULL, frames);
}

/* What --policy auto would come to: in place it is told each access, as in exact mode. */
static int say_auto(const struct try *t, const struct sim_cell *cell)
{
	static char policy[] = "auto", mode[] = "exact";
	struct sim_job job = { 0 };
	const struct sim_row *row;
	struct sim_rows rows;
	char frames[32];
	double gain;
	int ret;

	snprintf(frames, sizeof(frames), "%u", cell->row->frames);
	ret = sim_args_set(&job, 'p', policy) ?: sim_args_set(&job, 'm', mode) ?:
	      sim_args_set(&job, 'f', frames) ?: sim_args_fill(&job) ?:
	      sim_job_open(&job, (char **)&t->trace, 1);
	if (!ret) {
		ret = sim_rows_make(&job, &rows) ?: sim_rows_run(&job, &rows);
		row = rows.row;
		if (!ret && sim_verdict_gain(cell, row, &gain))
			fprintf(t->out, "auto: finds %s while the program runs, and reads %s (%+.0f %%)\n",
				job.team[row->league.runs].name, SIZE(row->r.faults), -gain);
		sim_rows_free(&rows);
	}
	sim_job_close(&job);
	return ret;
}

static int simulate(const struct try *t)
{
	static const int code[] = {
		[SIM_VERDICT_UNKNOWN] = CLI_NO_GAIN_POSSIBLE,
		[SIM_VERDICT_NONE] = CLI_NO_GAIN_POSSIBLE,
		[SIM_VERDICT_ROOM] = CLI_NO_GAIN,
		[SIM_VERDICT_GAIN] = CLI_OK,
	};
	/* Those of production that suit any program; the league's order. */
	static char usual[] = OVER ",mru,scan-resistant,s3-fifo,sieve,arc,2q,opt";
	static char sizes[] = "10%,25%,50%,75%";
	struct sim_job job = { .least = SIM_LEAST_GAIN, .verdict = true };
	const struct sim_cell *cell;
	struct sim_rows rows;
	int ret;

	ret = sim_args_set(&job, 'p', t->policies ? strdupa(t->policies) : usual) ?:
	      sim_args_set(&job, 'f', t->frames ?: sizes) ?: sim_args_fill(&job) ?:
	      sim_job_open(&job, (char **)&t->trace, 1);
	if (!ret) {
		ret = sim_rows_make(&job, &rows) ?: sim_rows_run(&job, &rows);
		if (!ret) {
			say(t, &job, &rows);
			cell = best_cell(&job, &rows);
			ret = code[cell ? sim_verdict(&job, cell) : SIM_VERDICT_UNKNOWN];
			if (ret == CLI_OK)
				ret = say_auto(t, cell);
		}
		sim_rows_free(&rows);
	}
	sim_job_close(&job);
	return ret;
}

static int cli_try(int argc, char **argv)
{
	struct try t = { 0 };
	int ret = parse(&t, argc, argv);

	if (!ret && t.command)
		ret = take_trace(&t);
	ret = ret ?: simulate(&t);
	free(t.trace);
	while (t.nr_keep)
		free(t.keep[--t.nr_keep]);
	free(t.keep);
	return ret;
}

const struct cli_verb cli_verb_try = {
	.name = "try", .run = cli_try, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] TRACE|-- PROGRAM...",
	.summary = "say whether a policy is worth it for a program, and what to run next",
	.help = "Takes the program's trace, or reads one, runs the policies that are fit for"
		" production on it at a few sizes of memory, beside lru, which is about what"
		" operating systems do, and the optimum. Needs neither root nor the module."
		" docs/user/first-steps.md has an example. A program may ignore its policy:"
		" hipec run says which accesses it acts on.",
	.options = options,
	.end = "Exit codes: 0 worth it; 3 not with these policies, one could; 4 none could; 1"
	       " failed, 2 usage, 126 and 127 as of hipec run.",
};
