// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns as a table or as JSON: docs/amp.md has columns and keys.
 *
 * Interface: cli_amp.h.
 */
#include "cli_amp.h"

/* A number with @decimals if @given, else "-". */
static const char *real(char *cell, bool given, int decimals, double n)
{
	snprintf(cell, 24, given ? "%.*f" : "-", decimals, n);
	return cell;
}

/**
 * amp_patterns_print() - patterns as a table, on standard output
 * @p:  patterns, in its order
 * @nr: of them
 *
 * Context: any.
 */
void amp_patterns_print(const struct amp_pattern *p, size_t nr)
{
	char r[24], size[24], time[24], dev[24];

	printf("%-16s  %8s  %7s  %6s  %-9s  %9s  %9s  %9s\n", "CONTEXT",
	       "ACCESSES", "PAGES", "R", "KIND", "LOOP-SIZE", "LOOP-TIME",
	       "DEVIATION");
	for (; nr--; p++) {
		bool loop = p->loop_time > 0;

		printf("%016llx  %8llu  %7llu  %6s  %-9s  %9s  %9s  %9s\n",
		       (unsigned long long)p->context,
		       (unsigned long long)p->accesses,
		       (unsigned long long)p->pages,
		       real(r, p->r >= 0, 3, p->r), amp_kind_names[p->kind],
		       real(size, loop, 0, p->loop_size),
		       real(time, loop, 0, p->loop_time),
		       real(dev, loop, 0, p->loop_dev));
	}
}

static void add_number(struct json_object *o, const char *key, u64 n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_real(struct json_object *o, const char *key, bool given, double n)
{
	json_object_object_add(o, key, given ? json_object_new_double(n) : NULL);
}

static struct json_object *pattern_json(const struct amp_pattern *p)
{
	struct json_object *o = json_object_new_object();
	char context[17];
	bool loop = p->loop_time > 0;

	snprintf(context, sizeof(context), "%016llx",
		 (unsigned long long)p->context);
	json_object_object_add(o, "context", json_object_new_string(context));
	json_object_object_add(o, "kind",
			       json_object_new_string(amp_kind_names[p->kind]));
	json_object_object_add(o, "known", json_object_new_boolean(p->known));
	add_real(o, "r", p->r >= 0, p->r);
	add_real(o, "confidence", true, p->confidence);
	add_number(o, "accesses", p->accesses);
	add_number(o, "pages", p->pages);
	add_real(o, "loop_size", loop, p->loop_size);
	add_real(o, "loop_time", loop, p->loop_time);
	add_real(o, "loop_deviation", loop, p->loop_dev);
	add_number(o, "sampled_blocks", p->blocks);
	add_real(o, "rate", true, p->rate);
	return o;
}

/* Patterns as an array, in their order. */
struct json_object *amp_patterns_json(const struct amp_pattern *p, size_t nr)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_object_array_add(array, pattern_json(&p[i]));
	return array;
}
