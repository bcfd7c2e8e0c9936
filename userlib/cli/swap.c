// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec swap: another policy for a live container, at once or on trial.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "../say/json.h"
#include "live.h"
#include "../lib/hipec.h"
#include "../policy/policy.h"

#define MOST_SECONDS 86400

/* Seconds: a number with ms, s, m or h behind it, or nothing. */
static bool parse_time(const char *text, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {
		{ "", 1 }, { "s", 1 }, { "ms", 0.001 }, { "m", 60 }, { "h", 3600 },
	};
	char *end;
	size_t i;

	*seconds = strtod(text, &end);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (*text >= '0' && *text <= '9' && !strcmp(end, units[i].unit)) {
			*seconds *= units[i].seconds;
			if (*seconds >= 0.1 && *seconds <= MOST_SECONDS)
				return true;
		}
	cli_error("--trial wants a time of 100ms to 24h, not '%s'", text);
	return false;
}

static int swap_now(struct cli_swap *s)
{
	struct json_object *j;

	if (cli_swap_policy(s))
		return CLI_FAILED;
	if (!s->json) {
		printf("container %llu: %s has taken over, with %s pages\n",
		       (unsigned long long)s->id, s->name, CLI_NUMBER(s->adopted));
		return CLI_OK;
	}
	j = json_object_new_object();
	cli_json_number(j, "id", s->id);
	cli_json_text(j, "policy", s->name);
	cli_json_number(j, "adopted", s->adopted);
	puts(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
	return CLI_OK;
}

static int run(struct cli_swap *s, double trial)
{
	struct policy p;
	int ret;

	ret = policy_load_with(&p, s->name, NULL);
	if (ret) {
		policy_close(&p);
		return ret;
	}
	s->image = p.image;
	s->size = p.image ? p.policy.image->image_size : 0;
	s->device = hipec_open();
	if (s->device < 0)
		ret = cli_open_failed(s->device);
	else
		ret = trial ? cli_swap_try(s, trial) : swap_now(s);
	if (s->device >= 0)
		close(s->device);
	policy_close(&p);
	return ret;
}

static const struct option_row options[] = {
	{ 't', "trial", "TIME",
	  .help = "30s, 5m: watch the policy before for so long, then this one, and go back if"
		  " it is worse, ends, or on Ctrl-C" },
	{ 'j', "json", NULL, .help = "an object with what was seen, for programs" },
	{ 0 },
};

static int cli_swap(int argc, char **argv)
{
	struct cli_swap s = { 0 };
	double trial = 0;
	int opt;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt == 'j')
			s.json = true;
		else if (opt != 't' || !parse_time(optarg, &trial))
			return CLI_USAGE;
	}
	if (cli_operands(argc, argv, 2, 2, "a container's number and a policy") ||
	    !cli_live_id(argv[optind], &s.id))
		return CLI_USAGE;
	s.name = argv[optind + 1];
	return run(&s, trial);
}

const struct cli_verb cli_verb_swap = {
	.name = "swap", .run = cli_swap, .group = CLI_GROUP_RUN,
	.usage = "[--trial TIME] [--json] ID POLICY",
	.summary = "give a live container another policy; what is cached stays",
	.help = "POLICY is a .hpo file, a .hp file, which ampc compiles, a shipped policy"
		" (mru), or builtin. If it cannot take over, the one before goes on:"
		" docs/user/swap.md.",
	.options = options,
	.end = "Exit codes: 0 done, 1 failed, 2 usage, 3 tried, and the one before is back.",
};
