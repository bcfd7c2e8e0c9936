// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containers as the verbs show them. See state.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../module/vm/optable.h"
#include "cli.h"
#include "../say/json.h"
#include "state.h"
#include "table.h"

/**
 * cli_state_read() - all containers that the caller may see
 * @fd:   of hipec_open()
 * @list: empty; gets them
 *
 * Context: any thread.
 * Return: 0 or -errno.
 */
int cli_state_read(int fd, struct cli_state *list)
{
	struct hipec_status s = { 0 }, *more;
	int ret;

	while (!(ret = hipec_next(fd, s.id, &s))) {
		more = realloc(list->row, (list->nr + 1) * sizeof(*list->row));
		if (!more)
			return -ENOMEM;
		list->row = more;
		list->row[list->nr++] = s;
	}
	return ret == -ENOENT ? 0 : ret;
}

/**
 * cli_state_gain() - how much a policy gains over the default one
 * @c:       counters of a container
 * @percent: gets how many of its pages are not brought in; of a loss, less than 0
 * @error:   gets by how many percent that may be off, up or down, 19 times of 20
 *
 * By the judge that revocation goes by, in all windows up to now.
 *
 * Return: false if nothing was compared: no contract holds the policy, or it is young.
 */
bool cli_state_gain(const struct hipec_counters *c, double *percent, double *error)
{
	double low, high;

	if (!c->default_least || !c->default_most)
		return false;
	low = 100 - 100.0 * c->judged_faults / c->default_least;
	high = 100 - 100.0 * c->judged_faults / c->default_most;
	*percent = (low + high) / 2;
	*error = (high - low) / 2;
	return true;
}

static void add_clean(struct json_object *o, const char *key, const char *text, size_t size)
{
	char cell[CLI_CELL];

	cli_put_text(cell, text, size);
	cli_json_text(o, key, cell);
}

static struct json_object *exit_json(const struct hipec_exit *e)
{
	struct json_object *o = json_object_new_object();

	cli_json_number(o, "kind", e->kind);
	cli_json_text(o, "text", hipec_vm_exit_text(e->kind));
	if (e->kind == HIPEC_EXIT_NONE)
		return o;
	cli_json_number(o, "event", e->event);
	cli_json_number(o, "command", e->command);
	cli_json_number(o, "line", e->line);
	cli_json_number(o, "word", e->word);
	cli_json_number(o, "operand", e->operand);
	add_clean(o, "message", e->message, sizeof(e->message));
	return o;
}

struct json_object *cli_state_counters_json(const struct hipec_counters *c)
{
	struct json_object *o = json_object_new_object();

#define X(name, help) cli_json_number(o, #name, c->name);
	HIPEC_COUNTERS(X)
#undef X
	return o;
}

/* The integers that a container's policy declares as counters. */
struct json_object *cli_state_own_json(int fd, uint64_t id)
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

/* A container, but for the counters of its policy's own. */
struct json_object *cli_state_json(const struct hipec_status *s)
{
	struct json_object *o = json_object_new_object();

	cli_json_number(o, "id", s->id);
	cli_json_number(o, "pid", s->pid);
	cli_json_number(o, "uid", s->uid);
	add_clean(o, "comm", s->comm, sizeof(s->comm));
	add_clean(o, "policy", s->policy, sizeof(s->policy));
	cli_json_number(o, "frames", s->frames);
	cli_json_number(o, "limit", s->limit);
	json_object_object_add(o, "shares",
			       json_object_new_boolean(s->shares));
	json_object_object_add(o, "in_place",
			       json_object_new_boolean(s->in_place));
	cli_json_number(o, "free_frames", s->free_frames);
	cli_json_number(o, "resident", s->resident);
	cli_json_number(o, "dirty", s->dirty);
	cli_json_number(o, "ghosts", s->ghosts);
	cli_json_number(o, "cluster", s->cluster);
	cli_json_number(o, "regions", s->regions);
	json_object_object_add(o, "exit", exit_json(&s->exit));
	json_object_object_add(o, "late", exit_json(&s->late));
	json_object_object_add(o, "counters", cli_state_counters_json(&s->counters));
	return o;
}
