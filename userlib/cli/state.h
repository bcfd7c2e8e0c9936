/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What verbs that show containers have in common: the list, its numbers, its JSON.
 *
 * Interface:
 * cli_state_read()    all containers that the caller may see
 * cli_state_gain()    how much a policy gains over the default one
 * cli_state_json()    a container
 * cli_state_counters_json(), cli_state_own_json()  its counters, its policy's own
 */
#ifndef HIPEC_CLI_STATE_H
#define HIPEC_CLI_STATE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "../lib/hipec.h"

struct cli_state {
	struct hipec_status *row;	/* by rising id; free() it */
	size_t nr;
};

int cli_state_read(int fd, struct cli_state *list);
bool cli_state_gain(const struct hipec_counters *c, double *percent, double *error);
struct json_object *cli_state_json(const struct hipec_status *s);
struct json_object *cli_state_counters_json(const struct hipec_counters *c);
struct json_object *cli_state_own_json(int fd, uint64_t id);

#endif /* HIPEC_CLI_STATE_H */
