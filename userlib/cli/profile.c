// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec profile: runs that are watched, as JSON; or that, made into a page or
 * into text by the programs in profile/, which are in Python.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../program/install_path.h"
#include "cli.h"
#include "../job/input.h"
#include "../profile/pattern.h"
#include "sim/sim.h"

extern char **environ;

#define PROGRAM "profile/report.py"

static int no_memory(void)
{
	cli_error("%s", strerror(ENOMEM));
	return CLI_FAILED;
}

/* Run the program: make a page or a text of @in, or say whether it could. */
static int run_program(const struct profile_output *o, FILE *in)
{
	char path[PATH_MAX];
	char *argv[] = { path, o->text ? "--text" : "--output", (char *)o->file,
			 in ? NULL : "--check", NULL };
	posix_spawn_file_actions_t actions;
	int ret, status = -1;
	pid_t pid;

	if (!install_path_find(path, INSTALL_PATH_SHARE, PROGRAM)) {
		cli_error("want " PROGRAM " beside this command or in " INSTALL_PATH_SHARE
			  "; --json does without");
		return CLI_FAILED;
	}
	posix_spawn_file_actions_init(&actions);
	if (in)
		posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
	ret = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret) {
		cli_error("%s: %s; it needs /usr/bin/python3, --json does not",
			  path, strerror(ret));
		return CLI_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? CLI_OK : CLI_FAILED;
}

/* Hand the profile to the program, in a file that has no name. */
static int hand_over(const struct profile_output *o, const char *json)
{
	FILE *file = tmpfile();
	int ret = CLI_FAILED;

	if (file && fputs(json, file) >= 0 && !fflush(file)) {
		rewind(file);
		ret = run_program(o, file);
	} else {
		cli_error("a temporary file: %s", strerror(errno));
	}
	if (file)
		fclose(file);
	return ret;
}

static int watch_row(struct profile *p, const struct profile_map *map,
		     struct sim_row *row, const char *counters)
{
	int ret = profile_begin(p, map, row);

	if (!ret && counters)
		profile_counters(p, counters);
	return ret;
}

/* The rows of each trace's first size are watched. */
static int watch_rows(const struct sim_job *job, const char *counters,
		      struct sim_rows *rows, struct profile_watchers *w)
{
	size_t c, i;

	w->map = calloc(job->nr_traces, sizeof(*w->map));
	w->pattern = calloc(job->nr_traces, sizeof(*w->pattern));
	w->profile = calloc(job->nr_traces * job->nr_policies,
			    sizeof(*w->profile));
	if (!w->map || !w->pattern || !w->profile)
		return no_memory();
	for (c = 0; c < rows->nr_cells; c++) {
		struct sim_row *row = rows->cell[c].row;
		struct profile_map *map = &w->map[w->nr_maps];

		if (w->nr_maps && row->trace == map[-1].t)
			continue;
		w->nr_maps++;
		if (profile_map_make(map, row->trace) ||
		    profile_pattern_make(&w->pattern[map - w->map], map))
			return no_memory();
		for (i = 0; i < job->nr_policies; i++, row++)
			if (watch_row(&w->profile[w->nr++], map, row, counters))
				return no_memory();
	}
	return CLI_OK;
}

/* Who watched, and what they stood on. */
void profile_watchers_free(struct profile_watchers *w)
{
	size_t i;

	for (i = 0; i < w->nr; i++)
		profile_free(&w->profile[i]);
	for (i = 0; i < w->nr_maps; i++) {
		profile_map_free(&w->map[i]);
		if (w->pattern)
			profile_pattern_free(&w->pattern[i]);
	}
	free(w->pattern);
	free(w->profile);
	free(w->map);
}

/**
 * profile_output_check() - whether a page can be made: better now than behind a long
 *                          simulation
 * @o: what becomes of a profile
 *
 * Return: 0 or an exit code, said.
 */
int profile_output_check(const struct profile_output *o)
{
	return o->json || o->text ? CLI_OK : run_program(o, NULL);
}

/**
 * profile_show() - put a profile out
 * @o:       how
 * @profile: as of profile_json()
 *
 * Return: 0 or an exit code, said.
 */
int profile_show(const struct profile_output *o, struct json_object *profile)
{
	const char *text = json_object_to_json_string_ext(profile,
							  JSON_C_TO_STRING_PLAIN);

	if (!text)
		return no_memory();
	if (!o->json)
		return hand_over(o, text);
	puts(text);
	return CLI_OK;
}

static int run_job(const struct sim_job *job, const struct profile_output *o)
{
	struct profile_watchers w = { 0 };
	struct sim_rows rows;
	struct json_object *profile;
	size_t i;
	int ret;

	ret = sim_rows_make(job, &rows) ?: watch_rows(job, o->counters, &rows, &w) ?:
	      sim_rows_run(job, &rows);
	for (i = 0; i < w.nr && !ret; i++)
		profile_end(&w.profile[i]);
	if (!ret) {
		profile = profile_json(job, &rows, &w);
		ret = profile_show(o, profile);
		json_object_put(profile);
	}
	profile_watchers_free(&w);
	sim_rows_free(&rows);
	return ret;
}

/* What nobody said. */
static int fill_in(struct sim_job *job)
{
	static char policies[] = "lru,fifo2,mru,opt", size[] = "50%";
	static char curve[] = "1%,2%,3%,5%,7%,10%,15%,20%,30%,40%,50%,60%,80%,100%";
	int ret = CLI_OK;

	job->least = SIM_LEAST_GAIN;
	if (!job->nr_policies)
		ret = sim_args_set(job, 'p', policies);
	if (!ret && !job->nr_sizes)
		ret = sim_args_set(job, 'f', size);
	if (!ret && job->nr_sizes == 1)
		ret = sim_args_set(job, 'f', curve);
	return ret ?: sim_args_fill(job);
}

static const struct option_row options[] = {
	{ 'p', "policy", "LIST", .help = "without it lru,fifo2,mru,opt" },
	{ LONG('a'), "param", "NAME=VALUE",
	  .help = "of each policy that has such a param; repeatable" },
	{ 'f', "frames", "LIST",
	  .help = "the first size is drawn in detail, without it 50%; all are on the curve;"
		  " with one size or none, 1% to 100% are too" },
	{ 'm', "mode", SIM_MODE_WORDS, .help = "as of hipec sim; mapped" },
	{ LONG('V'), "over", "POLICY", .help = "the one to compare with in the place of lru" },
	{ LONG('w'), "whole-writes", NULL,
	  .help = "a write miss reads nothing: it fills its page" },
	{ LONG('k'), "counters", "LIST",
	  .help = "of a policy's counters, drawn on top of each other; without it frames*" },
	{ LONG('d'), "detector", SIM_DETECTOR_WORDS, .help = NULL },
	{ LONG('e'), "detect-every", "N",
	  .help = "what feeds policies as amp, and how often, as of hipec sim" },
	CLI_INPUT_OPTIONS,
	{ 'o', "output", "FILE", .help = "the page; without it profile.html" },
	{ 't', "text", NULL, .help = "a summary for this terminal in the place of the page" },
	{ 'j', "json", NULL, .help = "what both are made of, for programs" },
	{ 'J', "jobs", "N", .help = "runs at a time" },
	{ 0 },
};

static int parse(struct sim_job *job, struct profile_output *o, int argc,
		 char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1)
		if (opt == 'o')
			o->file = optarg;
		else if (opt == 'k')
			o->counters = optarg;
		else if (opt == 't')
			o->text = true;
		else if (opt == 'j')
			o->json = true;
		else
			ret = sim_args_set(job, opt == 'V' ? 'o' : opt, optarg);
	if (!ret && o->json + o->text + !!o->file > 1) {
		cli_error("want one of --output, --text and --json");
		ret = CLI_USAGE;
	}
	return ret ?: cli_operands(argc, argv, 1, argc, "a trace") ?: fill_in(job);
}

static int cli_profile(int argc, char **argv)
{
	struct profile_output o = { 0 };
	struct sim_job job = { .no_league = true };
	int ret;

	ret = parse(&job, &o, argc, argv);
	if (!o.file)
		o.file = o.text ? "-" : "profile.html";
	if (!ret)
		ret = profile_output_check(&o);
	if (!ret)
		ret = sim_job_open(&job, argv + optind, argc - optind);
	if (!ret)
		ret = run_job(&job, &o);
	sim_job_close(&job);
	return ret;
}

const struct cli_verb cli_verb_profile = {
	.name = "profile", .run = cli_profile, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] TRACE...",
	.summary = "draw what policies do on traces, as a page for a browser",
	.help = "Runs each trace through each policy: faults by region and over time, frames"
		" held, queue lengths, the hottest lines, and faults by memory; and, whatever the"
		" policy, how unequal pages are and how far apart accesses to one. '-' is standard"
		" input. docs/user/profile.md says how to read it; policies, sizes and modes"
		" are those of hipec sim.",
	.options = options,
};
