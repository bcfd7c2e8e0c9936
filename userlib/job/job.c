// SPDX-License-Identifier: GPL-2.0-only
/*
 * The traces and policies of a job.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "../say/say.h"
#include "job.h"
#include "input.h"

static int open_policies(struct sim_job *job)
{
	char line[512];
	struct hipec_text why;
	size_t i;

	job->default_policy = (struct policy){ .name = "the default",
						   .reference = POLICY_DEFAULT };
	for (i = 0; i < job->nr_policies; i++) {
		struct policy *p = &job->policy[i];

		hipec_text_init(&why, line, sizeof(line));
		if (policy_open(p, p->name, &why)) {
			cli_error("%s", cli_clean(line));
			return CLI_FAILED;
		}
		if (!p->reference && p->policy.index[HIPEC_EVENT_TIMER])
			cli_error("%s: its Timer does not run: there is no clock here",
				  p->name);
	}
	return CLI_OK;
}

/* The accesses of @size are not counted. 0 or an exit code, said. */
static int warm_up(const struct sim_size *size, struct trace *t)
{
	u64 n = size->percent ? t->nr_accesses * size->nr / (100 * SIM_PERCENT) : size->nr;
	int ret;

	if (n >= t->nr_accesses) {
		cli_error("%s: --warm-up %llu leaves none of its %llu accesses",
			  t->name, (unsigned long long)n,
			  (unsigned long long)t->nr_accesses);
		return CLI_USAGE;
	}
	ret = trace_warm(t, n);
	return ret ? cli_trace_failed(t->name, ret, NULL) : CLI_OK;
}

static int read_traces(struct sim_job *job, char **names, int nr)
{
	int i, ret = CLI_OK;

	if (!nr)
		return CLI_OK;	/* the caller has put some there */
	job->trace = calloc(nr, sizeof(*job->trace));
	if (!job->trace) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	for (i = 0; i < nr && !ret; i++)
		ret = cli_trace_open(&job->trace[job->nr_traces++], names[i]) ?:
		      warm_up(&job->warm_up, &job->trace[i]);
	return ret;
}

/* What opt and opt-reads note of each access is to fit. Return: 0 or an exit code, said. */
static int look_at_memory(const struct sim_job *job)
{
	u64 accesses = 0, left = trace_room_left();
	size_t i;

	for (i = 0; i < job->nr_traces; i++)
		accesses += job->trace[i].nr_accesses;
	if (accesses <= left / sizeof(u32))
		return CLI_OK;
	for (i = 0; i < job->nr_policies; i++) {
		const struct policy *p = &job->policy[i];

		if (p->reference != POLICY_OPT && p->reference != POLICY_OPT_READS)
			continue;
		cli_error("%s: %llu accesses take %llu MB, and %llu MB of memory are left, enough for %llu: leave it out, or give it a part of the trace",
			  p->name, (unsigned long long)accesses,
			  (unsigned long long)(accesses * sizeof(u32) >> 20),
			  (unsigned long long)(left >> 20),
			  (unsigned long long)(left / sizeof(u32)));
		return CLI_FAILED;
	}
	return CLI_OK;
}

/**
 * sim_job_open() - read the traces of a job, and open its policies
 * @job:   with its arguments; sim_job_close() it, also after an error
 * @names: of traces; must outlive @job
 * @nr:    of them; 0: @job has its traces, or needs none
 *
 * Context: any; runs programs.
 * Return: 0 or an exit code, said.
 */
int sim_job_open(struct sim_job *job, char **names, int nr)
{
	return read_traces(job, names, nr) ?: open_policies(job) ?: look_at_memory(job) ?:
	       sim_league_open(job) ?:
	       policy_params_set(&job->params, job->policy, job->nr_policies) ?:
	       sim_feed_open(job) ?:
	       (job->native ? sim_native_open(job) : 0);
}

void sim_job_close(struct sim_job *job)
{
	size_t i;

	for (i = 0; i < job->nr_traces; i++)
		trace_free(&job->trace[i]);
	for (i = 0; i < job->nr_policies; i++)
		policy_close(&job->policy[i]);
	sim_sample_free(job);
	sim_feed_close(job);
	native_close(&job->code);
	sim_league_close(job);
	free(job->trace);
	free(job->policy);
	free(job->params.param);
	free(job->size);
}
