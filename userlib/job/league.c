// SPDX-License-Identifier: GPL-2.0-only
/*
 * --policy auto and --among: which policies are in the league, and what came of it.
 */
#include <stdlib.h>

#include "../say/say.h"
#include "../say/json.h"
#include "job.h"

static bool has_auto(const struct sim_job *job)
{
	size_t i;

	for (i = 0; i < job->nr_policies; i++)
		if (job->policy[i].reference == POLICY_AUTO)
			return true;
	return false;
}

static int add(struct sim_job *job, const char *name)
{
	return policy_load_with(&job->team[job->nr_teams++], name, NULL);
}

/**
 * sim_league_open() - open the policies of the league, if one is asked for
 * @job: with its arguments; sim_league_close() it, also after an error
 *
 * The built-in replacement is the first, and the default.
 *
 * Context: any; runs programs.
 * Return: 0 or an exit code, said.
 */
int sim_league_open(struct sim_job *job)
{
	static char usual[] = SIM_LEAGUE;
	char *name, *rest = job->among ?: usual, *copy;
	int ret = CLI_OK;

	if (!has_auto(job)) {
		if (!job->among)
			return CLI_OK;
		cli_error("--among: want --policy auto beside it");
		return CLI_USAGE;
	}
	if (job->no_league) {
		cli_error("auto: hipec sim runs it; here want one of its policies");
		return CLI_USAGE;
	}
	if (job->mode != SIM_EXACT) {
		cli_error("auto: want --mode exact, in which hits are told");
		return CLI_USAGE;
	}
	job->among = copy = strdup(rest);
	ret = copy ? add(job, HIPEC_FIFO2_NAME) : CLI_FAILED;
	while (!ret && (name = strsep(&copy, ","))) {
		if (job->nr_teams == HIPEC_LEAGUE_MAX) {
			cli_error("--among: want %u policies at most", HIPEC_LEAGUE_MAX - 1);
			return CLI_USAGE;
		}
		ret = add(job, name);
	}
	return ret;
}

/* Give a row that is auto its league. */
void sim_league_row(const struct sim_job *job, struct sim_row *row)
{
	u32 i;

	row->league = (struct sim_auto){ .nr = job->nr_teams, .salt = job->salt };
	for (i = 0; i < job->nr_teams; i++)
		row->league.policy[i] = &job->team[i].policy;
}

/* What ran: in words, of @size bytes. */
void sim_league_text(const struct sim_job *job, const struct sim_row *row, char *text,
		     size_t size)
{
	const struct sim_auto *a = &row->league;
	char count[CLI_COUNT];
	u32 i, n;

	if (!a->nr_switches) {
		snprintf(text, size, "%s all the time", job->team[a->runs].name);
		return;
	}
	n = snprintf(text, size, "%s at the end; %s", job->team[a->runs].name,
		     cli_count(count, a->nr_switches, "take-over"));
	for (i = 0; i < a->nr_switches && i < 3 && n < size; i++)
		n += snprintf(text + n, size - n, "%s %s at access %llu",
			      i ? "," : ":", job->team[a->switches[i].to].name,
			      (unsigned long long)a->switches[i].at);
	if (a->nr_switches > 3 && n < size)
		snprintf(text + n, size - n, ", ...");
}

/* The same for programs. Return: an object, to be put. */
struct json_object *sim_league_json(const struct sim_job *job, const struct sim_row *row)
{
	const struct sim_auto *a = &row->league;
	struct json_object *o = json_object_new_object(), *teams, *switches;
	u32 i;

	teams = json_object_new_array();
	switches = json_object_new_array();
	cli_json_text(o, "runs", job->team[a->runs].name);
	cli_json_number(o, "sampled_accesses", a->played);
	cli_json_number(o, "one_page_in", 1ull << a->shift);
	for (i = 0; i < a->nr; i++) {
		struct json_object *team = json_object_new_object();

		cli_json_text(team, "policy", job->team[i].name);
		cli_json_number(team, "sampled_misses", a->misses[i]);
		json_object_array_add(teams, team);
	}
	for (i = 0; i < a->nr_switches && i < SIM_MAX_SWITCHES; i++) {
		struct json_object *s = json_object_new_object();

		cli_json_number(s, "access", a->switches[i].at);
		cli_json_text(s, "policy", job->team[a->switches[i].to].name);
		json_object_array_add(switches, s);
	}
	json_object_object_add(o, "teams", teams);
	cli_json_number(o, "nr_switches", a->nr_switches);
	json_object_object_add(o, "switches", switches);
	return o;
}

void sim_league_close(struct sim_job *job)
{
	u32 i;

	for (i = 0; i < job->nr_teams; i++)
		policy_close(&job->team[i]);
	if (job->nr_teams)
		free(job->among);
}
