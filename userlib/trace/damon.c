// SPDX-License-Identifier: GPL-2.0-only
/*
 * What DAMON records of a program's memory, as text: of "damo report raw", or of "perf
 * script" for the event damon_aggregated. DAMON counts samples of regions, not accesses:
 * a region with some is one access to each of its pages.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

struct damon {
	struct trace_in *r;
	struct trace_files files;
	s64 target;	/* file; -1: not known yet */
	u64 idle;	/* regions without a sample */
};

/* "563ebaa00000-563ebc99e000(  31.617 MiB):  1" in hexadecimal. */
static bool is_raw_region(const char *line, u64 *start, u64 *end, u64 *samples)
{
	char *c;

	line += strspn(line, " ");
	*start = strtoull(line, &c, 16);
	if (c == line || *c != '-')
		return false;
	line = c + 1;
	*end = strtoull(line, &c, 16);
	if (c == line || *c != '(')
		return false;
	c = strstr(c, "):");
	if (!c)
		return false;
	*samples = strtoull(c + 2, NULL, 10);
	return true;
}

/* "damon_aggregated: target_id=0 nr_regions=11 4096-8192: 3 7" in decimal. */
static bool is_event_region(const char *line, u64 *target, u64 *start, u64 *end, u64 *samples)
{
	unsigned long long n[4];
	const char *c = strstr(line, "damon_aggregated: target_id=");

	if (!c || sscanf(c, "damon_aggregated: target_id=%llu nr_regions=%*u %llu-%llu: %llu",
			 &n[0], &n[1], &n[2], &n[3]) != 4)
		return false;
	*target = n[0];
	*start = n[1];
	*end = n[2];
	*samples = n[3];
	return true;
}

bool trace_is_damon(const char *line)
{
	u64 n[4];

	return !strncmp(line, "base_time_absolute:", 19) ||
	       !strncmp(line, "monitoring_start:", 17) || is_event_region(line, n, n + 1, n + 2, n + 3);
}

static int set_target(struct damon *d, u64 target)
{
	char name[32];

	snprintf(name, sizeof(name), "target %llu", (unsigned long long)target);
	d->target = trace_file(d->r, &d->files, name);
	return d->target < 0 ? d->target : 0;
}

static int read_line(struct damon *d)
{
	const char *line = d->r->line;
	u64 target = 0, start, end, samples;
	int ret = 0;

	if (!strncmp(line, "target_id:", 10))
		return set_target(d, strtoull(line + 10, NULL, 10));
	if (is_event_region(line, &target, &start, &end, &samples))
		ret = set_target(d, target);
	else if (!is_raw_region(line, &start, &end, &samples))
		return 0;	/* a time, or a number of regions */
	else if (d->target < 0)
		ret = set_target(d, 0);
	if (ret)
		return ret;
	d->idle += !samples;
	if (!samples)
		return 0;
	if (end <= start)
		return trace_malformed(d->r, "want a region that ends behind its start");
	return trace_touch(d->r, &d->files, d->target, start, end - start, false);
}

int trace_read_damon(struct trace_in *r, struct trace *t)
{
	struct damon d = { .r = r, .target = -1 };
	int ret;

	while ((ret = trace_next_line(r)) > 0) {
		ret = read_line(&d);
		if (ret)
			break;
	}
	if (!ret)
		ret = trace_files_end(r, &d.files, t);
	trace_files_free(&d.files);
	if (!ret)
		ret = trace_note(t, "DAMON samples regions: one with samples is an access to each of its pages, and nobody knows which wrote; %llu had none",
				 (unsigned long long)d.idle);
	return ret;
}
