/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `hipec amp` consists of.
 *
 * Interface:
 * amp_options[]       of all of its forms
 * amp_hints_name()    the file in which runs of a program keep what they learn
 * amp_hints_read(), _keep()  that file
 * amp_patterns_print(), _json()  patterns, a line or an object each
 */
#ifndef HIPEC_CLI_AMP_H
#define HIPEC_CLI_AMP_H

#include <json-c/json.h>

#include "../../amp/amp.h"
#include "../../option/option.h"

extern const struct option_row amp_options[];

struct amp_loop;
struct amp_state;
char *amp_hints_name(const char *program);
void amp_hints_read(const char *name, struct amp_state *state);
int amp_hints_keep(char *name, struct amp_loop *l);

void amp_patterns_print(const struct amp_pattern *p, size_t nr);
struct json_object *amp_patterns_json(const struct amp_pattern *p, size_t nr);

#endif /* HIPEC_CLI_AMP_H */
