/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Members of JSON objects.
 *
 * Interface:
 * cli_json_number()  what is counted
 * cli_json_real()    what is measured; not given: null
 * cli_json_text()    a text; NULL: null
 */
#ifndef HIPEC_SAY_JSON_H
#define HIPEC_SAY_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

static inline void cli_json_number(struct json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static inline void cli_json_real(struct json_object *o, const char *key, bool given, double x)
{
	json_object_object_add(o, key, given ? json_object_new_double(x) : NULL);
}

static inline void cli_json_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text ? json_object_new_string(text) : NULL);
}

#endif /* HIPEC_SAY_JSON_H */
