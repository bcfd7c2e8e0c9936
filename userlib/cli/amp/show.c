// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns as a table or as JSON: docs/user/amp.md has columns and keys.
 *
 * Interface: amp.h.
 */
#include "amp.h"
#include "../../say/json.h"

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

static struct json_object *pattern_json(const struct amp_pattern *p)
{
	struct json_object *o = json_object_new_object();
	char context[17];
	bool loop = p->loop_time > 0;

	snprintf(context, sizeof(context), "%016llx",
		 (unsigned long long)p->context);
	cli_json_text(o, "context", context);
	cli_json_text(o, "kind", amp_kind_names[p->kind]);
	json_object_object_add(o, "known", json_object_new_boolean(p->known));
	cli_json_real(o, "r", p->r >= 0, p->r);
	cli_json_real(o, "confidence", true, p->confidence);
	cli_json_number(o, "accesses", p->accesses);
	cli_json_number(o, "pages", p->pages);
	cli_json_real(o, "loop_size", loop, p->loop_size);
	cli_json_real(o, "loop_time", loop, p->loop_time);
	cli_json_real(o, "loop_deviation", loop, p->loop_dev);
	cli_json_number(o, "sampled_blocks", p->blocks);
	cli_json_real(o, "rate", true, p->rate);
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
