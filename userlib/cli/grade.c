// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sim --grade: how far a policy is on the way from lru to opt, which no policy can
 * pass.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "../job/input.h"
#include "../say/json.h"
#include "sim/sim.h"
#include "table.h"
#include "../option/option.h"

/* Rows of a cell, in the order in which parse() adds the policies. */
enum { OWN, LRU, OPT };

struct grade {
	const struct sim_row *own, *lru, *opt;
	bool given;	/* there is something to gain */
	double percent;	/* of it */
};

static void put_grade(char *cell, const struct grade *g)
{
	if (g->given)
		snprintf(cell, CLI_CELL, "%s %%", CLI_PERCENT(g->percent));
	else
		snprintf(cell, CLI_CELL, "-");
}

static void put_state(char *cell, const struct grade *g)
{
	const struct sim_result *r = &g->own->r;

	if (r->exit.kind)
		cli_put_text(cell, r->exit.message, sizeof(r->exit.message));
	else if (!g->given)
		snprintf(cell, CLI_CELL, "no policy can gain anything here");
	else
		cli_put_runs(cell, r->helped, r->forgotten);
}

/* The table, column by column; X(name, TITLE, left, cell of g) */
#define COLUMNS(X)								\
	X(trace, "TRACE", true, cli_put_text(cell, g->own->trace->name, CLI_CELL - 1)) \
	X(frames, "FRAMES", false, cli_put_number(cell, g->own->frames))	\
	X(lru, "LRU", false, cli_put_number(cell, g->lru->r.faults))		\
	X(own, "FAULTS", false, cli_put_number(cell, g->own->r.faults))		\
	X(opt, "OPT", false, cli_put_number(cell, g->opt->r.faults))		\
	X(grade, "GRADE", false, put_grade(cell, g))				\
	X(state, "STATE", true, put_state(cell, g))

#define CLI_ROW const struct grade *g
COLUMNS(CLI_PUT_CELL)

static const struct cli_column columns[] = { COLUMNS(CLI_COLUMN) };

/* A policy that ended has none of what the built-in one then saved. */
static struct grade grade_of(const struct sim_cell *cell)
{
	struct grade g = {
		.own = &cell->row[OWN], .lru = &cell->row[LRU], .opt = &cell->row[OPT],
	};
	double room = g.lru->r.faults - (double)g.opt->r.faults;

	g.given = room > 0;
	if (g.given && !g.own->r.exit.kind)
		g.percent = 100 * (g.lru->r.faults - (double)g.own->r.faults) / room;
	return g;
}

static struct json_object *grade_json(const struct grade *g)
{
	struct json_object *o = json_object_new_object();

	cli_json_text(o, "trace", g->own->trace->name);
	cli_json_text(o, "policy", g->own->policy->name);
	cli_json_number(o, "frames", g->own->frames);
	cli_json_number(o, "lru_faults", g->lru->r.faults);
	cli_json_number(o, "faults", g->own->r.faults);
	cli_json_number(o, "opt_faults", g->opt->r.faults);
	cli_json_real(o, "grade_percent", g->given, g->percent);
	json_object_object_add(o, "exit", sim_exit_json(&g->own->r));
	return o;
}

static void print(const struct sim_job *job, const struct grade *g, size_t nr, size_t nr_given,
		  double mean)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; job->json && i < nr; i++)
		json_object_array_add(array, grade_json(&g[i]));
	if (job->json)
		puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	if (job->json)
		return;
	cli_table_print(stdout, columns, sizeof(columns) / sizeof(*columns), g, nr, sizeof(*g));
	if (nr_given)
		printf("%s: %s %%, where lru has 0 %% and opt 100 %%\n", g->own->policy->name,
		       CLI_PERCENT(mean));
	else
		printf("%s: no policy can gain anything over lru here\n", g->own->policy->name);
}

/* Return: an exit code: whether each grade is @least or more. */
static int give_grades(const struct sim_job *job, const struct sim_rows *rows, double least)
{
	struct grade *g = calloc(rows->nr_cells, sizeof(*g));
	size_t i, nr_given = 0;
	int ret = CLI_OK;
	double sum = 0;

	if (!g) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	for (i = 0; i < rows->nr_cells; i++) {
		g[i] = grade_of(&rows->cell[i]);
		nr_given += g[i].given;
		sum += g[i].percent;
		if (g[i].own->r.exit.kind || (g[i].given && g[i].percent < least))
			ret = CLI_NO_GAIN;
	}
	print(job, g, rows->nr_cells, nr_given, nr_given ? sum / nr_given : 0);
	free(g);
	return ret;
}

static int set_least(const char *text, double *least)
{
	char *end;

	*least = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && *least <= 100)
		return CLI_OK;
	cli_error("--least: want a percentage from 0 to 100, not '%s'",
		  cli_clean((char *)text));
	return CLI_USAGE;
}

static const struct option_row options[] = {
	{ 'f', "frames", "LIST", .help = "as of hipec sim; without it 25% and 50%" },
	{ 'm', "mode", SIM_MODE_WORDS, .help = "as of hipec sim; mapped" },
	{ LONG('a'), "param", "NAME=VALUE", .help = "a parameter of the policy; repeatable" },
	{ LONG('l'), "least", "PERCENT",
	  .help = "what each grade has to be; without it, any will do" },
	{ 'J', "jobs", "N", .help = "at a time" },
	{ 'j', "json", NULL, .help = "an array with all there is, for programs" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static int parse(struct sim_job *job, double *least, int argc, char **argv)
{
	static char references[] = "lru,opt";
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1)
		ret = opt == 'l' ? set_least(optarg, least) : sim_args_set(job, opt, optarg);
	ret = ret ?: cli_operands(argc, argv, 2, argc, "a policy and a trace");
	if (!ret && strchr(argv[optind], ',')) {
		cli_error("want one policy, not '%s'", cli_clean(argv[optind]));
		ret = CLI_USAGE;
	}
	/* Their order is that of the rows of a cell. */
	return ret ?: sim_args_set(job, 'p', argv[optind]) ?:
	       sim_args_set(job, 'p', references) ?: sim_args_fill(job);
}

static int cli_grade(int argc, char **argv)
{
	struct sim_job job = { .no_league = true };
	struct sim_rows rows;
	double least = -INFINITY;
	int ret = parse(&job, &least, argc, argv);

	if (!ret)
		ret = sim_job_open(&job, argv + optind + 1, argc - optind - 1);
	if (!ret) {
		ret = sim_rows_make(&job, &rows) ?: sim_rows_run(&job, &rows) ?:
		      give_grades(&job, &rows, least);
		sim_rows_free(&rows);
	}
	sim_job_close(&job);
	return ret;
}

const struct cli_verb cli_verb_grade = {
	.name = "--grade", .of = "sim", .was = "grade", .run = cli_grade,
	.usage = "[OPTION...] POLICY TRACE...",
	.summary = "say how far a policy is on the way from lru to opt",
	.help = "Counts the faults of a policy, of lru and of opt, which knows the future, on"
		" each trace. The grade is the share of what opt saves: lru has 0 %, opt 100 %,"
		" and a policy that is worse than lru has less than nothing."
		" docs/policy/tutorial.md has exercises.",
	.options = options,
	.end = "Exit codes: 0 each grade is enough, 1 failed, 2 usage, 3 one is not, or the"
	       " policy has ended.",
};
