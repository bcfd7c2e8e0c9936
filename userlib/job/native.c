// SPDX-License-Identifier: GPL-2.0-only
/*
 * --native: the policies of a job in code of this processor.
 */
#include <errno.h>
#include <stdlib.h>

#include "../say/say.h"
#include "job.h"

/* Policies that have commands: neither references nor the module's own code. */
static size_t gather(const struct sim_job *job, struct policy **to)
{
	size_t i, nr = 0;

	for (i = 0; i < job->nr_policies; i++)
		if (!job->policy[i].reference && job->policy[i].policy.image->nr_events)
			to[nr++] = &job->policy[i];
	return nr;
}

/**
 * sim_native_open() - have the policies of a job compiled
 * @job: with its policies and their parameters; sim_job_close() frees the code
 *
 * Context: any; runs the system's compiler.
 * Return: 0 or an exit code, said.
 */
int sim_native_open(struct sim_job *job)
{
	struct policy **p = calloc(job->nr_policies + 1, sizeof(*p));
	const struct hipec_policy **policy = calloc(job->nr_policies + 1, sizeof(*policy));
	char line[512], entry[NATIVE_ENTRY];
	struct hipec_text why;
	size_t nr = 0, i;
	int ret = 0;

	hipec_text_init(&why, line, sizeof(line));
	if (!p || !policy) {
		hipec_text_str(&why, strerror(ENOMEM));
		ret = -ENOMEM;
	} else {
		nr = gather(job, p);
	}
	for (i = 0; i < nr; i++)
		policy[i] = &p[i]->policy;
	if (nr)
		ret = native_open(&job->code, policy, nr, &why);
	for (i = 0; i < nr && !ret; i++) {
		native_entry(entry, i);
		native_find(&job->code, entry, &p[i]->run);
	}
	free(policy);
	free(p);
	if (ret)
		cli_error("--native: %s", cli_clean(line));
	return ret ? CLI_FAILED : CLI_OK;
}
