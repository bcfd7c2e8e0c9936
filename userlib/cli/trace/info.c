// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec trace info: what is in a trace, in words and as JSON.
 *
 * Interface: trace.h.
 */
#include <stdlib.h>

#include "../cli.h"
#include "../../say/json.h"
#include "trace.h"

#define SAID_REGIONS 10	/* in text; --json has all of them */

/* What the user should know of a trace; lines of it begin with @mark. */
void cli_trace_say_notes(const struct trace *t, const char *mark, FILE *out)
{
	u32 i;

	trace_say_notes(t, mark, out);
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

/* Of a file, its page behind the first one; else as the trace numbers it. */
static void print_top(const struct trace *t, const struct trace_info *info)
{
	u32 i, region;

	printf("top pages        ");
	for (i = 0; i < info->nr_top; i++) {
		const struct trace_top *top = &info->top[i];

		region = trace_region(t, top->pgno);
		if (!t->nr_regions)
			printf("%s%u (%s)", i ? ", " : "", top->pgno,
			       CLI_NUMBER(top->accesses));
		else if (region < t->nr_regions)
			printf("%s%u (%s), page %u of %s", i ? "\n                 " : "",
			       top->pgno, CLI_NUMBER(top->accesses),
			       top->pgno - t->region[region].pgno, t->region[region].name);
		else
			printf("%s%u (%s), of no file", i ? "\n                 " : "",
			       top->pgno, CLI_NUMBER(top->accesses));
	}
	puts(i ? "" : "-");
}

/* A region, and what is accessed of it. */
struct file {
	const char *name;
	u32 first;	/* its first page */
	struct trace_use use;
};

static int by_accesses(const void *x, const void *y)
{
	const struct file *a = x, *b = y;

	if (a->use.accesses != b->use.accesses)
		return a->use.accesses < b->use.accesses ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Those with most accesses, @most of them; then how many are left. */
static void print_files(const struct trace *t, const struct trace_info *info, u64 most)
{
	struct file *file = calloc(t->nr_regions, sizeof(*file));
	char n[CLI_COUNT], m[CLI_COUNT];
	u64 rest = 0;
	u32 i;

	for (i = 0; file && i < t->nr_regions; i++)
		file[i] = (struct file){ t->region[i].name, t->region[i].pgno,
					 info->use[i] };
	if (file)
		qsort(file, t->nr_regions, sizeof(*file), by_accesses);
	printf("files            %s, by accesses:\n", CLI_NUMBER(t->nr_regions));
	for (i = 0; file && i < t->nr_regions && i < most; i++)
		printf("  %5s%%  %s to %s, from page %u on, of %s\n",
		       CLI_PERCENT(100.0 * file[i].use.accesses / info->accesses),
		       cli_count(n, file[i].use.accesses, "access"),
		       cli_count(m, file[i].use.pages, "page"), file[i].first, file[i].name);
	for (most = i; file && i < t->nr_regions; i++)
		rest += file[i].use.accesses;
	if (most < t->nr_regions)
		printf("  %5s%%  %s to %s more\n", CLI_PERCENT(100.0 * rest / info->accesses),
		       cli_count(n, rest, "access"), cli_count(m, t->nr_regions - most, "file"));
	free(file);
}

/**
 * cli_trace_info_print() - statistics, in words
 * @t:    trace
 * @info: of it
 * @most: files that are named
 */
void cli_trace_info_print(const struct trace *t, const struct trace_info *info, u64 most)
{
	char n[CLI_COUNT], m[CLI_COUNT];
	u32 i;

	printf("%s: %s to %s\n", t->name, cli_count(n, info->accesses, "access"),
	       cli_count(m, info->pages, "page"));
	printf("reads            %s\n", CLI_NUMBER(info->reads));
	printf("writes           %s, to %s\n", CLI_NUMBER(info->writes),
	       cli_count(n, info->written_pages, "page"));
	printf("footprint        %s, in pages %llu to %llu\n",
	       cli_memory(n, info->pages * TRACE_PAGE_BYTES),
	       (unsigned long long)info->first, (unsigned long long)info->last);
	printf("sequential       %s%%, to the page behind the one before\n",
	       CLI_PERCENT(100.0 * info->sequential / info->accesses));
	printf("repeated         %s%%, to the same page as the one before\n",
	       CLI_PERCENT(100.0 * info->repeated / info->accesses));
	printf("one touch        %s\n", cli_count(n, info->one_touch, "page"));
	printf("reuse distance   ");
	for (i = 0; i < TRACE_NR_QUANTILES && info->reuses; i++)
		printf("%s%llu%% %s", i ? ", " : "",
		       (unsigned long long)quantiles[i], CLI_NUMBER(info->quantile[i]));
	puts(info->reuses ? "" : "none: no page is accessed again");
	print_top(t, info);
	if (t->nr_regions)
		print_files(t, info, most);
	trace_say_notes(t, "note: ", stdout);
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

static struct json_object *regions_json(const struct trace *t, const struct trace_info *info)
{
	struct json_object *array = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < t->nr_regions; i++) {
		o = json_object_new_object();
		cli_json_number(o, "page", t->region[i].pgno);
		cli_json_number(o, "pages", t->region[i].nr ? t->region[i].nr :
				(u64)UINT32_MAX + 1);
		cli_json_text(o, "name", t->region[i].name);
		cli_json_number(o, "accesses", info->use[i].accesses);
		cli_json_number(o, "accessed_pages", info->use[i].pages);
		json_object_array_add(array, o);
	}
	return array;
}

static struct json_object *top_json(const struct trace *t, const struct trace_info *info)
{
	struct json_object *array = json_object_new_array(), *o;
	u32 i, region;

	for (i = 0; i < info->nr_top; i++) {
		o = json_object_new_object();
		cli_json_number(o, "page", info->top[i].pgno);
		cli_json_number(o, "accesses", info->top[i].accesses);
		region = trace_region(t, info->top[i].pgno);
		json_object_object_add(o, "region", region == t->nr_regions ? NULL :
				       json_object_new_string(t->region[region].name));
		json_object_array_add(array, o);
	}
	return array;
}

struct json_object *cli_trace_info_json(const struct trace *t,
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
	json_object_object_add(o, "top_pages", top_json(t, info));
	cli_json_number(o, "tags", t->nr_tags ? t->nr_tags - 1 : 0);
	json_object_object_add(o, "regions", regions_json(t, info));
	cli_json_text(o, "notes", t->notes ?: "");
	return o;
}
