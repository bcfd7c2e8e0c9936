// SPDX-License-Identifier: GPL-2.0-only
/*
 * --param NAME=VALUE: parameters of policies, set in their images as an application does
 * before the load.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../image/asm.h"
#include "../lib/hipec.h"
#include "../say/say.h"
#include "policy.h"

/**
 * policy_param_add() - an argument of --param
 * @params: get it
 * @arg:    is cut apart, must outlive @params
 *
 * Return: 0 or an exit code, said.
 */
int policy_param_add(struct policy_params *params, char *arg)
{
	char *value = strchr(arg, '=');
	struct policy_param *more;
	s64 n;

	if (!value || value == arg ||
	    !hipec_asm_number(value + 1, strlen(value + 1), &n)) {
		cli_error("--param: want NAME=VALUE, an integer, not '%s'",
			  cli_clean(arg));
		return CLI_USAGE;
	}
	more = reallocarray(params->param, params->nr + 1, sizeof(*more));
	if (!more) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	*value = 0;
	params->param = more;
	params->param[params->nr++] = (struct policy_param){ .name = arg, .value = n };
	return CLI_OK;
}

static int out_of_range(const struct policy *p, const struct policy_param *param)
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
static int set(const struct policy_param *param, struct policy *policy, size_t nr)
{
	bool found = false;
	size_t i;
	int ret;

	for (i = 0; i < nr; i++) {
		struct policy *p = &policy[i];

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
 * policy_params_set() - have policies run with parameters
 * @params: each is to be one of some policy's
 * @policy: open ones
 * @nr:     of them
 *
 * Return: 0 or an exit code, said.
 */
int policy_params_set(const struct policy_params *params, struct policy *policy, size_t nr)
{
	int ret = CLI_OK;
	size_t i;

	for (i = 0; i < params->nr && !ret; i++)
		ret = set(&params->param[i], policy, nr);
	return ret;
}

/**
 * policy_load_with() - load a policy, and set its parameters
 * @p:      filled; policy_close() it, also after an error
 * @name:   of a file, a shipped policy, or builtin; must outlive @p
 * @params: of it, or NULL
 *
 * Return: 0 or an exit code, said.
 */
int policy_load_with(struct policy *p, const char *name, const struct policy_params *params)
{
	struct hipec_text why;
	char line[512];

	hipec_text_init(&why, line, sizeof(line));
	if (policy_load(p, name, &why)) {
		cli_error("%s", cli_clean(line));
		return CLI_FAILED;
	}
	return params ? policy_params_set(params, p, 1) : CLI_OK;
}
