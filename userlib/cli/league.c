// SPDX-License-Identifier: GPL-2.0-only
/*
 * --policy auto of live containers: the kernel has the league (module/league.c); here are
 * its policies named, and told how they stand.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/auto.h"
#include "cli.h"
#include "../say/json.h"
#include "league.h"
#include "table.h"

/* Why a policy may not join, by the errno of the call. */
const char *cli_league_why(int err)
{
	return err == -ENOSPC ? "there are too many policies" : cli_call_failed(err);
}

static int join(int device, const char *name)
{
	char text[512] = "";
	struct policy p;
	int ret = policy_load_with(&p, name, NULL), err = 0;

	if (!ret)
		err = hipec_join(device, 0, p.image, p.image ? p.policy.image->image_size : 0,
				 text, sizeof(text));
	if (err < 0)
		cli_error("%s: %s", cli_clean(strdupa(name)),
			  *text ? cli_clean(text) : cli_league_why(err));
	policy_close(&p);
	return ret ?: err < 0 ? CLI_FAILED : CLI_OK;
}

/**
 * cli_league_begin() - policies play beside the one that runs
 * @device: container that runs the built-in replacement
 * @among:  their names, separated by commas; NULL: those of hipec sim's auto
 *
 * Return: 0 or an exit code, said.
 */
int cli_league_begin(int device, const char *among)
{
	char *rest = strdupa(among ?: SIM_LEAGUE), *name;
	int ret = CLI_OK;

	while (!ret && (name = strsep(&rest, ",")))
		ret = join(device, name);
	return ret;
}

/**
 * cli_league_read() - how the policies of a league stand
 * @device: of hipec_open()
 * @id:     container; 0: the device's own
 * @l:      filled; empty on an error
 *
 * Return: 0; -ENODATA if nothing plays; or as hipec_standing().
 */
int cli_league_read(int device, uint64_t id, struct cli_league *l)
{
	uint32_t nr = 0;
	int ret;

	l->nr = 0;
	do {
		ret = hipec_standing(device, id, nr, &l->team[nr]);
		if (ret)
			return ret;
		cli_clean(l->team[nr].policy);
	} while (++nr < l->team[0].nr && nr < HIPEC_MAX_TEAMS);
	l->nr = nr;
	return 0;
}

/* Return: a league for each of @list, empty where there is none, to be freed; NULL: no memory. */
struct cli_league *cli_league_read_all(int device, const struct cli_state *list)
{
	struct cli_league *all = calloc(list->nr + 1, sizeof(*all));
	size_t i;

	for (i = 0; all && i < list->nr; i++)
		cli_league_read(device, list->row[i].id, &all[i]);
	return all;
}

/* Whether @s plays with the container's budget, and may take over. */
bool cli_league_is_rival(const struct hipec_standing *s)
{
	return s->quarters == 4;
}

/* Whether @l has policies that may take over, beside the one that runs. */
bool cli_league_is(const struct cli_league *l)
{
	uint32_t i, n = 0;

	for (i = 0; i < l->nr; i++)
		n += cli_league_is_rival(&l->team[i]);
	return n > 1;
}

/*
 * Percent of the misses that it is held against and would not have had, and by how many
 * that may be off, 19 times of 20. Return: false if there were none.
 */
bool cli_league_saving(const struct hipec_standing *s, double *percent, double *error)
{
	if (!s->missed)
		return false;
	*percent = 100. * s->saves / s->missed;
	*error = 100. * 2 * sqrt(s->variance) / s->missed;
	return true;
}

void cli_league_put_saving(char *cell, const struct hipec_standing *s)
{
	double percent, error;

	if (!cli_league_saving(s, &percent, &error))
		snprintf(cell, CLI_CELL, "-");
	else if (s->shift)
		snprintf(cell, CLI_CELL, "%s ± %s", CLI_CHANGE(percent), CLI_PERCENT(error));
	else
		cli_percent(cell, percent, true);
}

static const char *state_of(const struct hipec_standing *s)
{
	if (s->out)
		return "has ended";
	if (s->runs == s->team)
		return "runs";
	return s->rehearses ? "rehearses" : "plays";
}

#define COLUMNS(X)								\
	X(policy, "POLICY", true, cli_put_text(cell, s->policy, sizeof(s->policy))) \
	X(misses, "MISSES", false, cli_put_number(cell, s->misses))		\
	X(saves, "SAVES%", false, cli_league_put_saving(cell, s))				\
	X(state, "STATE", true, snprintf(cell, CLI_CELL, "%s", state_of(s)))

#define CLI_ROW const struct hipec_standing *s
COLUMNS(CLI_PUT_CELL)

static const struct cli_column columns[] = { COLUMNS(CLI_COLUMN) };

/* The policies and what each would have missed, of the sample. */
void cli_league_print(const struct cli_league *l)
{
	struct hipec_standing rival[HIPEC_MAX_TEAMS];
	const struct hipec_standing *s = l->team;
	char count[CLI_COUNT];
	uint32_t i, nr = 0;

	for (i = 0; i < l->nr; i++)
		if (cli_league_is_rival(&l->team[i]))
			rival[nr++] = l->team[i];
	cli_table_print(stdout, columns, ARRAY_SIZE(columns), rival, nr, sizeof(*rival));
	printf("%s accesses played, to one page in %u; the container missed %s of them, after %s\n",
	       CLI_NUMBER(s->sampled), 1u << s->shift, CLI_NUMBER(s->missed),
	       cli_count(count, s->switches, "take-over"));
}

/* What runs, how it came, and which other one would have missed less; @size bytes. */
void cli_league_line(const struct cli_league *l, char *text, size_t size)
{
	const struct hipec_standing *best = NULL, *s;
	double percent, error;
	char count[CLI_COUNT];
	uint32_t n;

	for (s = l->team; s < l->team + l->nr; s++)
		if (s->team != s->runs && !s->out && cli_league_is_rival(s) &&
		    (!best || s->saves > best->saves))
			best = s;
	n = snprintf(text, size, "%s runs, after %s", l->team[l->team[0].runs].policy,
		     cli_count(count, l->team[0].switches, "take-over"));
	if (n >= size || !best || !cli_league_saving(best, &percent, &error))
		return;
	if (percent > error)
		snprintf(text + n, size - n, "; %s from the beginning would have missed %s %% ± %s %% less",
			 best->policy, CLI_PERCENT(percent), CLI_PERCENT(error));
	else
		snprintf(text + n, size - n, "; no other policy would have missed less");
}

/* Return: an object, to be put; NULL: there is no league. */
struct json_object *cli_league_json(const struct cli_league *l)
{
	struct json_object *o, *teams;
	uint32_t i;

	if (!cli_league_is(l))
		return NULL;
	o = json_object_new_object();
	teams = json_object_new_array();
	cli_json_text(o, "runs", l->team[l->team[0].runs].policy);
	cli_json_number(o, "switches", l->team[0].switches);
	cli_json_number(o, "sampled_accesses", l->team[0].sampled);
	cli_json_number(o, "one_page_in", 1ull << l->team[0].shift);
	cli_json_number(o, "sampled_misses", l->team[0].missed);
	for (i = 0; i < l->nr; i++) {
		struct json_object *team;
		double percent, error;

		if (!cli_league_is_rival(&l->team[i]))
			continue;
		team = json_object_new_object();
		cli_json_text(team, "policy", l->team[i].policy);
		cli_json_text(team, "state", state_of(&l->team[i]));
		cli_json_number(team, "sampled_misses", l->team[i].misses);
		if (cli_league_saving(&l->team[i], &percent, &error)) {
			json_object_object_add(team, "saves_percent",
					       json_object_new_double(percent));
			json_object_object_add(team, "error_percent",
					       json_object_new_double(error));
		}
		json_object_array_add(teams, team);
	}
	json_object_object_add(o, "teams", teams);
	return o;
}
