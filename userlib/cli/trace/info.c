// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec trace info: what is in a trace, in words and as JSON.
 *
 * Interface: trace.h.
 */
#include "../cli.h"
#include "../json.h"
#include "trace.h"

#define SAID_REGIONS 10	/* in text; --json has all of them */

/* What the user should know of a trace; lines of it begin with @mark. */
void cli_trace_say_notes(const struct sim_trace *t, const char *mark, FILE *out)
{
	u32 i;

	sim_trace_say_notes(t, mark, out);
	for (i = 0; i < t->nr_regions && i < SAID_REGIONS; i++)
		fprintf(out, "%spages %u to %u are %s\n", mark,
			t->region[i].pgno,
			t->region[i].pgno + t->region[i].nr - 1,
			t->region[i].name);
	if (i < t->nr_regions)
		fprintf(out, "%sand so on: there are %u regions\n", mark,
			t->nr_regions);
}

static const u64 quantiles[TRACE_NR_QUANTILES] = TRACE_QUANTILES;

void cli_trace_info_print(const struct sim_trace *t, const struct trace_info *info)
{
	char n[CLI_COUNT], m[CLI_COUNT];
	u32 i;

	printf("%s: %s to %s\n", t->name, cli_count(n, info->accesses, "access"),
	       cli_count(m, info->pages, "page"));
	printf("reads            %llu\n", (unsigned long long)info->reads);
	printf("writes           %llu, to %s\n", (unsigned long long)info->writes,
	       cli_count(n, info->written_pages, "page"));
	printf("footprint        %s, in pages %llu to %llu\n",
	       cli_memory(n, info->pages * TRACE_PAGE_BYTES),
	       (unsigned long long)info->first, (unsigned long long)info->last);
	printf("sequential       %.1f%%, to the page behind the one before\n",
	       100.0 * info->sequential / info->accesses);
	printf("repeated         %.1f%%, to the same page as the one before\n",
	       100.0 * info->repeated / info->accesses);
	printf("one touch        %s\n", cli_count(n, info->one_touch, "page"));
	printf("reuse distance   ");
	for (i = 0; i < TRACE_NR_QUANTILES && info->reuses; i++)
		printf("%s%llu%% %llu", i ? ", " : "",
		       (unsigned long long)quantiles[i],
		       (unsigned long long)info->quantile[i]);
	puts(info->reuses ? "" : "none: no page is accessed again");
	printf("top pages        ");
	for (i = 0; i < info->nr_top; i++)
		printf("%s%u (%u)", i ? ", " : "", info->top[i].pgno,
		       info->top[i].accesses);
	puts(i ? "" : "-");
	cli_trace_say_notes(t, "note: ", stdout);
}

static struct json_object *distances_json(const struct trace_info *info)
{
	struct json_object *o = json_object_new_object();
	char key[8];
	int i;

	for (i = 0; i < TRACE_NR_QUANTILES && info->reuses; i++) {
		snprintf(key, sizeof(key), "%u", (unsigned int)quantiles[i]);
		cli_json_number(o, key, info->quantile[i]);
	}
	return o;
}

static struct json_object *regions_json(const struct sim_trace *t)
{
	struct json_object *array = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < t->nr_regions; i++) {
		o = json_object_new_object();
		cli_json_number(o, "page", t->region[i].pgno);
		cli_json_number(o, "pages", t->region[i].nr ? t->region[i].nr :
				(u64)UINT32_MAX + 1);
		cli_json_text(o, "name", t->region[i].name);
		json_object_array_add(array, o);
	}
	return array;
}

static struct json_object *top_json(const struct trace_info *info)
{
	struct json_object *array = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < info->nr_top; i++) {
		o = json_object_new_object();
		cli_json_number(o, "page", info->top[i].pgno);
		cli_json_number(o, "accesses", info->top[i].accesses);
		json_object_array_add(array, o);
	}
	return array;
}

struct json_object *cli_trace_info_json(const struct sim_trace *t,
					const struct trace_info *info)
{
	struct json_object *o = json_object_new_object();

	cli_json_text(o, "trace", t->name);
	cli_json_number(o, "accesses", info->accesses);
	cli_json_number(o, "reads", info->reads);
	cli_json_number(o, "writes", info->writes);
	cli_json_number(o, "pages", info->pages);
	cli_json_number(o, "written_pages", info->written_pages);
	cli_json_number(o, "footprint_bytes", info->pages * TRACE_PAGE_BYTES);
	cli_json_number(o, "first_page", info->first);
	cli_json_number(o, "last_page", info->last);
	cli_json_number(o, "sequential", info->sequential);
	cli_json_number(o, "repeated", info->repeated);
	cli_json_number(o, "one_touch_pages", info->one_touch);
	cli_json_number(o, "reuses", info->reuses);
	json_object_object_add(o, "reuse_distance", distances_json(info));
	json_object_object_add(o, "top_pages", top_json(info));
	cli_json_number(o, "tags", t->nr_tags ? t->nr_tags - 1 : 0);
	json_object_object_add(o, "regions", regions_json(t));
	cli_json_text(o, "notes", t->notes ?: "");
	return o;
}
