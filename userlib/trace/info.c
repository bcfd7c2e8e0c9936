// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a trace.
 */
#include <errno.h>
#include <stdlib.h>

#include "reuse.h"
#include "trace.h"

/* Per page. */
struct counts {
	u32 *accesses;
	u32 *distances;	/* by distance: accesses that had it */
	struct trace_use *use;	/* of the region of the access; the last: of none */
	u8 *written;
};

static void count_access(const struct trace *t, u32 pgno, bool write,
			 struct trace_stack *s, struct counts *c,
			 struct trace_info *info)
{
	u32 id = trace_id(t, pgno), region = trace_region(t, pgno), d = 0;

	if (pgno < info->first)
		info->first = pgno;
	if (pgno > info->last)
		info->last = pgno;
	info->accesses++;
	*(write ? &info->writes : &info->reads) += 1;
	c->written[id] |= write;
	c->use[region].accesses++;
	c->use[region].pages += !c->accesses[id]++;
	if (trace_stack_distance(s, id, &d)) {
		info->reuses++;
		c->distances[d]++;
	}
}

static void count_accesses(const struct trace *t, struct trace_stack *s,
			   struct counts *c, struct trace_info *info)
{
	u64 before = UINT64_MAX - 1;	/* no page, nor in front of one */
	size_t i;
	u32 j;

	info->first = UINT64_MAX;
	for (i = 0; i < t->nr_runs; i++)
		for (j = 0; j < t->run[i].nr; j++) {
			u32 pgno = t->run[i].pgno + j;

			info->sequential += pgno == before + 1;
			info->repeated += pgno == before;
			before = pgno;
			count_access(t, pgno, t->run[i].write, s, c, info);
		}
}

/* The least distance that so many percent of the reuses do not exceed. */
static void find_quantiles(const struct trace *t, const struct counts *c,
			   struct trace_info *info)
{
	static const u64 percent[TRACE_NR_QUANTILES] = TRACE_QUANTILES;
	u64 sum = 0;
	u32 d, q = 0;

	for (d = 0; d < t->nr_pages; d++) {
		sum += c->distances[d];
		while (q < TRACE_NR_QUANTILES && info->reuses &&
		       sum * 100 >= percent[q] * info->reuses)
			info->quantile[q++] = d;
	}
}

static bool goes_before(const struct trace_top *a, const struct trace_top *b)
{
	return a->accesses != b->accesses ? a->accesses > b->accesses :
					    a->pgno < b->pgno;
}

static void find_top(const struct trace *t, const struct counts *c, u32 nr,
		     struct trace_info *info)
{
	size_t i, places = (size_t)1 << t->bits;
	u32 n, id;

	for (i = 0; i < places; i++) {
		struct trace_top one;

		if (!t->page[i].id)
			continue;
		id = t->page[i].id - 1;
		one = (struct trace_top){ t->page[i].pgno, c->accesses[id] };
		info->one_touch += one.accesses == 1;
		info->written_pages += c->written[id];
		if (info->nr_top == nr &&
		    (!nr || !goes_before(&one, &info->top[nr - 1])))
			continue;
		n = info->nr_top < nr ? info->nr_top++ : nr - 1;
		for (; n && goes_before(&one, &info->top[n - 1]); n--)
			info->top[n] = info->top[n - 1];
		info->top[n] = one;
	}
}

/**
 * trace_info() - what there is to count in a trace
 * @t:      trace
 * @nr_top: pages wanted, of those with most accesses
 * @info:   filled; trace_info_free() it
 *
 * Return: 0; -ENOMEM.
 */
int trace_info(struct trace *t, u32 nr_top, struct trace_info *info)
{
	size_t n = t->nr_pages;
	struct trace_stack s;
	struct counts c;
	int ret = trace_stack_open(&s, n);

	*info = (struct trace_info){ .pages = n };
	c.accesses = calloc(n, sizeof(*c.accesses));
	c.distances = calloc(n, sizeof(*c.distances));
	c.written = calloc(n, sizeof(*c.written));
	info->top = calloc((size_t)nr_top + 1, sizeof(*info->top));
	info->use = c.use = calloc((size_t)t->nr_regions + 1, sizeof(*c.use));
	if (!c.accesses || !c.distances || !c.written || !info->top || !c.use)
		ret = -ENOMEM;
	if (!ret) {
		count_accesses(t, &s, &c, info);
		find_quantiles(t, &c, info);
		find_top(t, &c, nr_top, info);
	}
	trace_stack_close(&s);
	free(c.accesses);
	free(c.distances);
	free(c.written);
	return ret;
}

void trace_info_free(struct trace_info *info)
{
	free(info->top);
	free(info->use);
	info->top = NULL;
	info->use = NULL;
}
