// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sim --step: its arguments. The session itself is in debug/.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "../job/input.h"
#include "sim/sim.h"
#include "../debug/debug.h"

/* What was asked for beside a trace, a policy, frames and a mode. */
struct asked {
	char **command;		/* of --command */
	size_t nr_commands;
	const char *source;
};

static int set_option(struct sim_job *job, struct asked *a, int opt, char *arg)
{
	char **more;

	switch (opt) {
	case 'c':
		more = reallocarray(a->command, a->nr_commands + 1, sizeof(*more));
		if (!more) {
			cli_error("%s", strerror(ENOMEM));
			return CLI_FAILED;
		}
		a->command = more;
		a->command[a->nr_commands++] = arg;
		return CLI_OK;
	case 's':
		a->source = arg;
		return CLI_OK;
	case '?':
		return CLI_USAGE;
	}
	return sim_args_set(job, opt, arg);
}

/* One of each, and the commands have to come from somewhere. */
static int check(const struct sim_job *job, const struct asked *a,
		 const char *trace)
{
	if (job->nr_policies != 1)
		cli_error("--policy: want one policy");
	else if (job->nr_sizes != 1 || job->size[0].percent)
		cli_error("--frames: want one size, in frames (3, 4k) or memory (64M)");
	else if (!strcmp(trace, "-") && !a->nr_commands)
		cli_error("standard input is for commands: want the trace as a file, or --command");
	else
		return CLI_OK;
	return CLI_USAGE;
}

static const struct option_row options[] = {
	{ 'p', "policy", "FILE", .help = "a policy: .hp, .hpo or the name of a shipped one" },
	{ LONG('a'), "param", "NAME=VALUE", .help = "a parameter of it; repeatable" },
	{ 'f', "frames", "N", .help = "frames of memory: 3, 4k; or as bytes 64M" },
	{ 'm', "mode", SIM_MODE_WORDS, .help = "as of hipec sim; mapped" },
	{ 'c', "command", "LINE",
	  .help = "a command; more than one are done in their order, and standard input is not"
		  " read" },
	{ LONG('s'), "source", "FILE",
	  .help = "what a .hpo was compiled from, if it is not found" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static int parse(struct sim_job *job, struct asked *a, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1)
		ret = set_option(job, a, opt, optarg);
	return ret ?: cli_operands(argc, argv, 1, 1, "a trace") ?: check(job, a, argv[optind]);
}

static int debug(const struct sim_job *job, const struct asked *a)
{
	const struct policy *p = &job->policy[0];
	struct dbg d = {
		.policy = &p->policy, .trace = &job->trace[0],
		.frames = job->size[0].nr, .mode = job->mode,
	};
	int ret;

	if (p->reference || hipec_fifo2_is(&p->policy)) {
		cli_error("%s is built in and has no commands: want a .hp, a .hpo or a shipped policy",
			  p->name);
		return CLI_FAILED;
	}
	dbg_source_open(&d.source, p, a->source);
	dbg_lines_begin(&d.lines, a->command, a->nr_commands);
	ret = dbg_run(&d);
	dbg_lines_end(&d.lines);
	dbg_source_close(&d.source);
	return ret;
}

static int cli_debug(int argc, char **argv)
{
	struct sim_job job = { 0 };
	struct asked a = { 0 };
	int ret = parse(&job, &a, argc, argv);

	if (!ret)
		ret = sim_job_open(&job, argv + optind, 1);
	if (!ret)
		ret = debug(&job, &a);
	sim_job_close(&job);
	free(a.command);
	return ret;
}

const struct cli_verb cli_verb_step = {
	.name = "--step", .of = "sim", .was = "debug", .run = cli_debug,
	.usage = "[OPTION...] TRACE",
	.summary = "step through a policy on a trace, command by command",
	.help = "Runs a trace through a policy as hipec sim does, stops, and says what is where"
		" and why. Commands come from the terminal, or from standard input or"
		" --command; 'help' lists them, docs/policy/tutorial.md has an example.",
	.options = options,
	.end = "Exit codes: 0 done; 1 the trace or the policy is wrong, or, without a terminal,"
	       " a command was; 2 usage.",
};
