// SPDX-License-Identifier: GPL-2.0-only
/*
 * --param NAME=VALUE: parameters of the policies of a job, set in their images as an
 * application does before the load.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../image/asm.h"
#include "../cli.h"
#include "sim.h"
#include "../../lib/hipec.h"

/**
 * sim_param_add() - an argument of --param
 * @job: gets it
 * @arg: is cut apart, must outlive @job
 *
 * Return: 0 or an exit code, said.
 */
int sim_param_add(struct sim_job *job, char *arg)
{
	char *value = strchr(arg, '=');
	struct sim_param *more;
	s64 n;

	if (!value || value == arg ||
	    !hipec_asm_number(value + 1, strlen(value + 1), &n)) {
		cli_error("--param: want NAME=VALUE, an integer, not '%s'",
			  cli_clean(arg));
		return CLI_USAGE;
	}
	more = reallocarray(job->param, job->nr_params + 1, sizeof(*more));
	if (!more) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	*value = 0;
	job->param = more;
	job->param[job->nr_params++] = (struct sim_param){ .name = arg, .value = n };
	return CLI_OK;
}

static int out_of_range(const struct sim_policy *p, const struct sim_param *param)
{
	struct hipec_param has;

	hipec_image_param(p->image, p->policy.image->image_size, param->name,
			  &has);
	cli_error("--param %s=%lld: in %s it may be %lld to %lld",
		  cli_clean(param->name), (long long)param->value, p->name,
		  (long long)has.low, (long long)has.high);
	return CLI_FAILED;
}

/* Set it wherever there is such a parameter. */
static int set(struct sim_job *job, const struct sim_param *param)
{
	bool found = false;
	size_t i;
	int ret;

	for (i = 0; i < job->nr_policies; i++) {
		struct sim_policy *p = &job->policy[i];

		if (!p->image)
			continue;
		ret = hipec_image_set_param(p->image, p->policy.image->image_size,
					    param->name, param->value);
		if (ret == -ERANGE)
			return out_of_range(p, param);
		found |= !ret;
	}
	if (found)
		return CLI_OK;
	cli_error("--param: no policy here has a parameter '%s'",
		  cli_clean(param->name));
	return CLI_FAILED;
}

/**
 * sim_params_set() - have the policies of a job run with its parameters
 * @job: with its policies open
 *
 * Return: 0 or an exit code, said.
 */
int sim_params_set(struct sim_job *job)
{
	int ret = CLI_OK;
	size_t i;

	for (i = 0; i < job->nr_params && !ret; i++)
		ret = set(job, &job->param[i]);
	return ret;
}

/**
 * sim_job_policy() - open the one policy of a job, and set its parameters
 * @job:  gets it
 * @name: of a file, a shipped policy, or builtin
 *
 * Return: 0 or an exit code, said.
 */
int sim_job_policy(struct sim_job *job, const char *name)
{
	struct hipec_text why;
	char line[512];

	hipec_text_init(&why, line, sizeof(line));
	job->policy = calloc(1, sizeof(*job->policy));
	if (!job->policy) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	job->nr_policies = 1;
	if (sim_policy_load(job->policy, name, &why)) {
		cli_error("%s", cli_clean(line));
		return CLI_FAILED;
	}
	return sim_params_set(job);
}
