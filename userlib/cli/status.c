// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec status: the containers that the caller may see, as a table or as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../module/vm/optable.h"
#include "cli.h"
#include "league.h"
#include "live.h"
#include "state.h"
#include "table.h"

/* How the policy fares: "runs" and what is wrong with that, or why and where it ended. */
static void put_state(char *cell, const struct hipec_status *s)
{
	if (s->exit.kind == HIPEC_EXIT_NONE)
		cli_put_runs(cell, s->counters.helped, s->counters.forgotten);
	else
		cli_put_text(cell, s->exit.message, sizeof(s->exit.message));
}

/* The table, column by column; X(name, TITLE, left, cell of s) */
#define COLUMNS(X)								\
	X(id, "ID", false, cli_put_id(cell, s->id))				\
	X(pid, "PID", false, cli_put_id(cell, s->pid))			\
	X(comm, "COMM", true, cli_put_text(cell, s->comm, sizeof(s->comm)))	\
	X(policy, "POLICY", true, cli_put_text(cell, s->policy, sizeof(s->policy))) \
	X(frames, "FRAMES", false, cli_put_number(cell, s->frames))		\
	X(free, "FREE", false, cli_put_number(cell, s->free_frames))		\
	X(resident, "RESIDENT", false, cli_put_number(cell, s->resident))	\
	X(dirty, "DIRTY", false, cli_put_number(cell, s->dirty))		\
	X(faults, "FAULTS", false, cli_put_number(cell, s->counters.faults))	\
	X(evictions, "EVICTIONS", false, cli_put_number(cell, s->counters.evictions)) \
	X(read, "READ", false, cli_put_number(cell, s->counters.read_pages))	\
	X(written, "WRITTEN", false, cli_put_number(cell, s->counters.written_pages)) \
	X(commands, "COMMANDS", false, cli_put_number(cell, s->counters.commands)) \
	X(state, "STATE", true, put_state(cell, s))

#define CLI_ROW const struct hipec_status *s
COLUMNS(CLI_PUT_CELL)

static const struct cli_column columns[] = { COLUMNS(CLI_COLUMN) };

static void print_json(int fd, const struct cli_state *l)
{
	struct json_object *array = json_object_new_array();
	struct cli_league league;
	struct json_object *o;
	size_t i;

	for (i = 0; i < l->nr; i++) {
		o = cli_state_json(&l->row[i]);
		cli_league_read(fd, l->row[i].id, &league);
		json_object_object_add(o, "policy_counters",
				       cli_state_own_json(fd, l->row[i].id));
		json_object_object_add(o, "league", cli_league_json(&league));
		json_object_object_add(o, "curve", cli_curve_json(&league, l->row[i].limit));
		json_object_array_add(array, o);
	}
	puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
}

static int no_teams(uint64_t id, int err, bool curve)
{
	if (err && err != -ENODATA)
		return cli_live_failed(id, err);
	cli_error("container %llu has no %s; hipec run --%s makes one", (unsigned long long)id,
		  curve ? "curve" : "league", curve ? "curve" : "policy auto");
	return CLI_FAILED;
}

/* What plays in a container: its league, or its curve. */
static int print_teams(int fd, uint64_t id, bool curve)
{
	struct hipec_status s = { 0 };
	struct cli_league l;
	int ret = cli_league_read(fd, id, &l);

	/* The next one after the number before is this one. */
	if (curve && !ret)
		ret = hipec_next(fd, id - 1, &s);
	if (ret || !(curve ? cli_curve_is(&l) : cli_league_is(&l)))
		return no_teams(id, ret, curve);
	if (curve)
		cli_curve_print(&l, s.limit);
	else
		cli_league_print(&l);
	return CLI_OK;
}

static const struct option_row options[] = {
	{ 'l', "league", "ID",
	  .help = "of one container under --policy auto: its policies, what each would have"
		  " missed, and how much less that is than what the container missed" },
	{ 'c', "curve", "ID",
	  .help = "of one container under --curve: what its policy would have missed with a"
		  " quarter, a half, twice and four times the budget, and how much less that is" },
	{ 'j', "json", NULL, .help = "an array with all there is, for programs" },
	{ 0 },
};

static int cli_status(int argc, char **argv)
{
	struct cli_state list = { 0 };
	bool json = false, curve = false;
	uint64_t id = 0;
	int opt, fd, ret;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt == 'j')
			json = true;
		else if ((opt != 'l' && opt != 'c') || !cli_live_id(optarg, &id))
			return CLI_USAGE;
		curve |= opt == 'c';
	}
	if (cli_operands(argc, argv, 0, 0, ""))
		return CLI_USAGE;
	if (id && json) {
		cli_error("--%s: want no --json beside it, which has all of them",
			  curve ? "curve" : "league");
		return CLI_USAGE;
	}
	fd = hipec_open();
	if (fd < 0)
		return cli_open_failed(fd);
	if (id) {
		ret = print_teams(fd, id, curve);
		close(fd);
		return ret;
	}
	ret = cli_state_read(fd, &list);
	if (ret)
		cli_error(HIPEC_DEVICE ": %s", cli_call_failed(ret));
	else if (json)
		print_json(fd, &list);
	else if (!cli_table_empty(list.nr, "no containers; 'hipec run' starts a program in one"))
		cli_table_print(stdout, columns, ARRAY_SIZE(columns), list.row, list.nr,
				sizeof(*list.row));
	close(fd);
	free(list.row);
	return ret ? CLI_FAILED : CLI_OK;
}

const struct cli_verb cli_verb_status = {
	.name = "status", .run = cli_status, .group = CLI_GROUP_WATCH,
	.usage = "[--league ID | --curve ID | --json]",
	.summary = "show the containers: their frames, faults and why they ended",
	.help = "Shows the containers of the caller, or all of them with CAP_SYS_ADMIN. FRAMES"
		" is the budget; FREE, RESIDENT and DIRTY are pages of it now, the other counts"
		" are since the policy was loaded. Pages have 4096 bytes.",
	.options = options,
};
