// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec log: what became of policies and containers that are gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../module/vm/optable.h"
#include "cli.h"
#include "../say/json.h"
#include "state.h"
#include "table.h"

struct records {
	struct hipec_log *row;	/* by rising number */
	size_t nr;
};

static void put_seq(char *cell, const void *row)
{
	cli_put_id(cell, ((const struct hipec_log *)row)->seq);
}

/* 2026-01-31 23:59:59, as the clock on the wall has it. */
static void put_time(char *cell, const void *row)
{
	time_t at = ((const struct hipec_log *)row)->time / 1000000000;
	struct tm tm;

	strftime(cell, CLI_CELL, "%F %T", localtime_r(&at, &tm));
}

static void put_lived(char *cell, const void *row)
{
	static const struct {
		double from, of;	/* seconds */
		const char *unit;
	} units[] = {
		{ 172800, 86400, "d" }, { 7200, 3600, "h" }, { 120, 60, "min" }, { 1, 1, "s" },
		{ 0, 1e-3, "ms" },
	};
	double lived = ((const struct hipec_log *)row)->lived / 1e9;
	size_t i;

	for (i = 0; lived < units[i].from; i++)
		;
	snprintf(cell, CLI_CELL, "%.1f %s", lived / units[i].of, units[i].unit);
}

static void put_id(char *cell, const void *row)
{
	cli_put_id(cell, ((const struct hipec_log *)row)->status.id);
}

static void put_pid(char *cell, const void *row)
{
	cli_put_id(cell, ((const struct hipec_log *)row)->status.pid);
}

static void put_uid(char *cell, const void *row)
{
	cli_put_id(cell, ((const struct hipec_log *)row)->status.uid);
}

static void put_comm(char *cell, const void *row)
{
	const struct hipec_status *s = &((const struct hipec_log *)row)->status;

	cli_put_text(cell, s->comm, sizeof(s->comm));
}

static void put_policy(char *cell, const void *row)
{
	const struct hipec_status *s = &((const struct hipec_log *)row)->status;

	cli_put_text(cell, s->policy, sizeof(s->policy));
}

static void put_faults(char *cell, const void *row)
{
	cli_put_number(cell, ((const struct hipec_log *)row)->status.counters.faults);
}

static void put_read(char *cell, const void *row)
{
	cli_put_number(cell, ((const struct hipec_log *)row)->status.counters.read_pages);
}

static void put_written(char *cell, const void *row)
{
	cli_put_number(cell, ((const struct hipec_log *)row)->status.counters.written_pages);
}

static void put_what(char *cell, const void *row)
{
	strcpy(cell, ((const struct hipec_log *)row)->closed ? "container" : "policy");
}

static void put_why(char *cell, const void *row)
{
	const struct hipec_exit *e = &((const struct hipec_log *)row)->status.exit;

	cli_put_text(cell, e->message, sizeof(e->message));
}

static const struct cli_column columns[] = {
	{ "SEQ", false, put_seq }, { "TIME", true, put_time }, { "LIVED", false, put_lived },
	{ "ID", false, put_id }, { "PID", false, put_pid }, { "UID", false, put_uid },
	{ "COMM", true, put_comm }, { "POLICY", true, put_policy },
	{ "FAULTS", false, put_faults }, { "READ", false, put_read },
	{ "WRITTEN", false, put_written }, { "END", true, put_what }, { "WHY", true, put_why },
};

static struct json_object *record_json(const struct hipec_log *l)
{
	struct json_object *o = json_object_new_object();
	time_t at = l->time / 1000000000;
	char text[64];
	struct tm tm;
	size_t n;

	n = strftime(text, sizeof(text), "%FT%T", gmtime_r(&at, &tm));
	snprintf(text + n, sizeof(text) - n, ".%03uZ", (unsigned int)(l->time / 1000000 % 1000));
	cli_json_number(o, "seq", l->seq);
	cli_json_text(o, "time", text);
	cli_json_number(o, "lived_ms", l->lived / 1000000);
	cli_json_text(o, "end", l->closed ? "container" : "policy");
	json_object_object_add(o, "container", cli_state_json(&l->status));
	return o;
}

static void print_json(const struct hipec_log *row, size_t nr)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_object_array_add(array, record_json(&row[i]));
	puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
}

/* All that there is; 0 or -errno. */
static int read_records(int fd, struct records *r)
{
	struct hipec_log one = { 0 }, *more;
	int ret;

	while (!(ret = hipec_log(fd, one.seq, &one))) {
		more = realloc(r->row, (r->nr + 1) * sizeof(*r->row));
		if (!more)
			return -ENOMEM;
		r->row = more;
		r->row[r->nr++] = one;
	}
	return ret == -ENOENT ? 0 : ret;
}

static int show(size_t most, bool json)
{
	struct records records = { 0 };
	int fd = hipec_open(), ret;
	size_t nr;

	if (fd < 0)
		return cli_open_failed(fd);
	ret = read_records(fd, &records);
	close(fd);
	nr = records.nr < most ? records.nr : most;
	if (ret)
		cli_error(HIPEC_DEVICE ": %s", cli_call_failed(ret));
	else if (json)
		print_json(records.row + records.nr - nr, nr);
	else if (!cli_table_empty(nr, "no policy and no container has ended since the module was loaded"))
		cli_table_print(stdout, columns, ARRAY_SIZE(columns),
				records.row + records.nr - nr, nr, sizeof(*records.row));
	free(records.row);
	return ret ? CLI_FAILED : CLI_OK;
}

static const struct option_row options[] = {
	{ 'n', "last", "N", .help = "the last N of them" },
	{ 'j', "json", NULL, .help = "an array with all there is, for programs" },
	{ 0 },
};

static int cli_log(int argc, char **argv)
{
	unsigned long most = -1ul;
	bool json = false;
	char *end;
	int opt;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		switch (opt) {
		case 'j':
			json = true;
			break;
		case 'n':
			most = strtoul(optarg, &end, 10);
			if (*end || *optarg < '0' || *optarg > '9') {
				cli_error("--last wants a number, not '%s'", optarg);
				return CLI_USAGE;
			}
			break;
		default:
			return CLI_USAGE;
		}
	}
	return cli_operands(argc, argv, 0, 0, "") ?: show(most, json);
}

const struct cli_verb cli_verb_log = {
	.name = "log", .run = cli_log, .group = CLI_GROUP_WATCH,
	.usage = "[--last N] [--json]",
	.summary = "show how policies and containers ended that are gone",
	.help = "The last 64 of all users, or as many as the module's parameter log_records"
		" says; of these the caller's, or all with CAP_SYS_ADMIN. END is what ended:"
		" the policy, whose container goes on, or the container.",
	.options = options,
};
