// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sim: traces through policies and references, as a table or as JSON.
 * All that can be wrong with the arguments is found before anything is printed.
 */
#include <stdlib.h>

#include "../cli.h"
#include "sim.h"
#include "../trace/trace.h"

/* The best news of all cells. */
static int verdict_exit(const struct sim_job *job, const struct sim_rows *rows)
{
	static const int code[] = {
		[SIM_VERDICT_UNKNOWN] = CLI_NO_GAIN_POSSIBLE,
		[SIM_VERDICT_NONE] = CLI_NO_GAIN_POSSIBLE,
		[SIM_VERDICT_ROOM] = CLI_NO_GAIN,
		[SIM_VERDICT_GAIN] = CLI_OK,
	};
	enum sim_verdict best = SIM_VERDICT_UNKNOWN;
	size_t i;

	for (i = 0; i < rows->nr_cells; i++) {
		enum sim_verdict v = sim_verdict(job, &rows->cell[i]);

		best = v > best ? v : best;
	}
	return code[best];
}

static int write_post(const struct sim_job *job)
{
	struct sim_post *p = job->post;

	if (!p->ret)
		return cli_trace_write(&p->t, TRACE_ANY, job->post_name);
	cli_error("%s: %s", job->post_name, strerror(-p->ret));
	return CLI_FAILED;
}

static int run_job(struct sim_job *job)
{
	struct sim_post post = { .whole_writes = job->whole_writes };
	struct sim_rows rows;
	int ret;

	job->post = job->post_name ? &post : NULL;
	ret = sim_rows_make(job, &rows) ?: sim_curve_fill(job, &rows) ?:
	      sim_rows_run(job, &rows);
	if (!ret && job->post)
		ret = write_post(job);
	ret = ret ?: sim_feed_write(job, &rows);
	trace_free(&post.t);

	if (!ret && job->json) {
		struct json_object *array = sim_json(job, &rows);

		puts(json_object_to_json_string_ext(array,
						    JSON_C_TO_STRING_PRETTY));
		json_object_put(array);
	} else if (!ret) {
		sim_table_print(job, &rows);
	}
	if (!ret && job->verdict)
		ret = verdict_exit(job, &rows);
	sim_rows_free(&rows);
	return ret;
}

static int cli_sim(int argc, char **argv)
{
	struct sim_job job = { 0 };
	int ret;

	ret = sim_args_parse(&job, argc, argv);
	if (!ret)
		ret = sim_job_open(&job, argv + optind, argc - optind);
	if (!ret)
		ret = run_job(&job);
	sim_job_close(&job);
	return ret;
}

const struct cli_verb cli_verb_sim = {
	.name = "sim", .run = cli_sim, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] TRACE...",
	.summary = "count the faults of policies on traces, without the module",
	.help = "Runs each trace through each policy with each number of frames; '-' is"
		" standard input. docs/user/sim.md has the trace's form and the columns.",
	.options = sim_options,
};
