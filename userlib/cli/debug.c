// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec debug: its arguments. The session itself is in debug/.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
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

static int parse(struct sim_job *job, struct asked *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "param", required_argument, NULL, 'a' },
		{ "frames", required_argument, NULL, 'f' },
		{ "mode", required_argument, NULL, 'm' },
		{ "command", required_argument, NULL, 'c' },
		{ "source", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, "p:f:m:c:", options)) != -1)
		ret = set_option(job, a, opt, optarg);
	return ret ?: cli_operands(argc, argv, 1, 1, "a trace") ?: check(job, a, argv[optind]);
}

static int debug(const struct sim_job *job, const struct asked *a)
{
	const struct sim_policy *p = &job->policy[0];
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

int cli_debug(int argc, char **argv)
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
