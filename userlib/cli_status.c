// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec status: the containers that the caller may see, as a table or as JSON.
 */
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../module/vm/optable.h"
#include "cli.h"
#include "hipec.h"

/* Longest text of a column, bytes. */
#define CELL (HIPEC_MESSAGE_MAX + 1)

struct list {
	struct hipec_status *row;
	size_t nr;
};

static char *put_number(char *cell, unsigned long long n)
{
	snprintf(cell, CELL, "%llu", n);
	return cell;
}

static char *put_text(char *cell, const char *text, size_t size)
{
	snprintf(cell, CELL, "%.*s", (int)size, text);
	return cli_clean(cell);
}

/* How the policy fares: "runs", or why and where it ended. */
static char *put_state(char *cell, const struct hipec_exit *e)
{
	if (e->kind == HIPEC_EXIT_NONE)
		return put_text(cell, "runs", sizeof("runs"));
	return put_text(cell, e->message, sizeof(e->message));
}

/* The table, column by column; X(TITLE, left, cell of s) */
#define COLUMNS(X)							\
	X("ID", false, put_number(cell, s->id))				\
	X("PID", false, put_number(cell, s->pid))			\
	X("COMM", true, put_text(cell, s->comm, sizeof(s->comm)))	\
	X("POLICY", true, put_text(cell, s->policy, sizeof(s->policy)))	\
	X("FRAMES", false, put_number(cell, s->frames))			\
	X("FREE", false, put_number(cell, s->free_frames))		\
	X("RESIDENT", false, put_number(cell, s->resident))		\
	X("DIRTY", false, put_number(cell, s->dirty))			\
	X("FAULTS", false, put_number(cell, s->counters.faults))	\
	X("EVICTIONS", false, put_number(cell, s->counters.evictions))	\
	X("READ", false, put_number(cell, s->counters.read_pages))	\
	X("WRITTEN", false, put_number(cell, s->counters.written_pages)) \
	X("COMMANDS", false, put_number(cell, s->counters.commands))	\
	X("STATE", true, put_state(cell, &s->exit))

static const struct {
	const char *title;
	bool left;
} columns[] = {
#define X(title, left, put) { title, left },
	COLUMNS(X)
#undef X
};

static void get_cell(const struct hipec_status *s, size_t column, char *cell)
{
	size_t i = 0;

#define X(title, left, put) if (i++ == column) put;
	COLUMNS(X)
#undef X
}

static void print_cell(size_t column, const char *text, int width)
{
	const char *end = column == ARRAY_SIZE(columns) - 1 ? "\n" : "  ";

	if (*end == '\n')
		width = 0;
	printf(columns[column].left ? "%-*s%s" : "%*s%s", width, text, end);
}

static void print_table(const struct list *l)
{
	int width[ARRAY_SIZE(columns)];
	char cell[CELL];
	size_t i, j;

	for (j = 0; j < ARRAY_SIZE(columns); j++) {
		width[j] = strlen(columns[j].title);
		for (i = 0; i < l->nr; i++) {
			get_cell(&l->row[i], j, cell);
			if ((int)strlen(cell) > width[j])
				width[j] = strlen(cell);
		}
	}
	for (j = 0; j < ARRAY_SIZE(columns); j++)
		print_cell(j, columns[j].title, width[j]);
	for (i = 0; i < l->nr; i++)
		for (j = 0; j < ARRAY_SIZE(columns); j++) {
			get_cell(&l->row[i], j, cell);
			print_cell(j, cell, width[j]);
		}
}

static void add_number(struct json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static struct json_object *exit_json(const struct hipec_exit *e)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "kind", e->kind);
	add_text(o, "text", hipec_exit_text(e->kind));
	if (e->kind == HIPEC_EXIT_NONE)
		return o;
	add_number(o, "event", e->event);
	add_number(o, "command", e->command);
	add_number(o, "line", e->line);
	add_number(o, "word", e->word);
	add_number(o, "operand", e->operand);
	add_text(o, "message", e->message);
	return o;
}

/* The integers that the policy declares as counters. */
static struct json_object *counters_json(int fd, uint64_t id)
{
	struct json_object *o = json_object_new_object();
	struct hipec_operand operand;
	uint32_t slot;

	for (slot = 0; !hipec_operand(fd, id, slot, &operand); slot++)
		if (operand.operand_flags & HIPEC_OPERAND_COUNTER)
			json_object_object_add(o, operand.name,
				json_object_new_int64(operand.value));
	return o;
}

static struct json_object *status_json(int fd, const struct hipec_status *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *counters = json_object_new_object();
	char cell[CELL];

	add_number(o, "id", s->id);
	add_number(o, "pid", s->pid);
	add_number(o, "uid", s->uid);
	add_text(o, "comm", put_text(cell, s->comm, sizeof(s->comm)));
	add_text(o, "policy", put_text(cell, s->policy, sizeof(s->policy)));
	add_number(o, "frames", s->frames);
	add_number(o, "limit", s->limit);
	json_object_object_add(o, "shares",
			       json_object_new_boolean(s->shares));
	add_number(o, "free_frames", s->free_frames);
	add_number(o, "resident", s->resident);
	add_number(o, "dirty", s->dirty);
	add_number(o, "ghosts", s->ghosts);
	add_number(o, "cluster", s->cluster);
	add_number(o, "regions", s->regions);
	json_object_object_add(o, "exit", exit_json(&s->exit));
	json_object_object_add(o, "late", exit_json(&s->late));
#define X(name, help) add_number(counters, #name, s->counters.name);
	HIPEC_COUNTERS(X)
#undef X
	json_object_object_add(o, "counters", counters);
	json_object_object_add(o, "policy_counters", counters_json(fd, s->id));
	return o;
}

static void print_json(int fd, const struct list *l)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < l->nr; i++)
		json_object_array_add(array, status_json(fd, &l->row[i]));
	puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
}

/* All containers from @fd on; 0 or -errno. */
static int read_list(int fd, struct list *l)
{
	struct hipec_status s = { 0 }, *more;
	int ret;

	while (!(ret = hipec_next(fd, s.id, &s))) {
		more = realloc(l->row, (l->nr + 1) * sizeof(*l->row));
		if (!more)
			return -ENOMEM;
		l->row = more;
		l->row[l->nr++] = s;
	}
	return ret == -ENOENT ? 0 : ret;
}

int cli_status(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct list list = { 0 };
	bool json = false;
	int opt, fd, ret;

	while ((opt = getopt_long(argc, argv, "j", options, NULL)) != -1) {
		if (opt != 'j')
			return CLI_USAGE;
		json = true;
	}
	if (optind != argc)
		return CLI_USAGE;
	fd = hipec_open();
	if (fd < 0)
		return cli_open_failed(fd);
	ret = read_list(fd, &list);
	if (ret)
		cli_error(HIPEC_DEVICE ": %s", strerror(-ret));
	else if (json)
		print_json(fd, &list);
	else
		print_table(&list);
	close(fd);
	free(list.row);
	return ret ? CLI_FAILED : CLI_OK;
}
