// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a trace. Reuse distances are exact: a tree counts the pages that
 * were accessed since the last access to a page, in time that grows with the
 * logarithm of the number of pages, and memory with that number.
 */
#include <errno.h>
#include <stdlib.h>

#include "trace.h"

/* Last accesses to pages, in the order of time; a Fenwick tree counts them. */
struct stack {
	u32 *last;	/* by page, its place; 0: not accessed yet */
	u32 *id;	/* by place, its page + 1; 0: none any more */
	u32 *count;	/* by place: the tree */
	u32 places;
	u32 now;	/* place that was given out last */
	u32 live;	/* places with a page */
};

static void add(struct stack *s, u32 place, s32 n)
{
	for (; place <= s->places; place += place & -place)
		s->count[place] += n;
}

/* Pages at places up to @place. */
static u32 count(const struct stack *s, u32 place)
{
	u32 n = 0;

	for (; place; place -= place & -place)
		n += s->count[place];
	return n;
}

/* All places were given out: move the pages down, in their order. */
static void compact(struct stack *s)
{
	u32 place, to = 0;

	memset(s->count, 0, ((size_t)s->places + 1) * sizeof(*s->count));
	for (place = 1; place <= s->now; place++) {
		if (!s->id[place])
			continue;
		s->id[++to] = s->id[place];
		s->last[s->id[to] - 1] = to;
		add(s, to, 1);
	}
	memset(s->id + to + 1, 0, (size_t)(s->now - to) * sizeof(*s->id));
	s->now = to;
}

/* Different pages since the last access to @id; false if this is the first. */
static bool distance(struct stack *s, u32 id, u32 *d)
{
	u32 last = s->last[id];

	if (last) {
		*d = s->live - count(s, last);
		add(s, last, -1);
		s->id[last] = 0;
		s->live--;
	}
	if (s->now == s->places)
		compact(s);
	s->last[id] = ++s->now;
	s->id[s->now] = id + 1;
	add(s, s->now, 1);
	s->live++;
	return last;
}

/* Per page. */
struct counts {
	u32 *accesses;
	u32 *distances;	/* by distance: accesses that had it */
	struct trace_use *use;	/* of the region of the access; the last: of none */
	u8 *written;
};

static void count_access(const struct sim_trace *t, u32 pgno, bool write,
			 struct stack *s, struct counts *c,
			 struct trace_info *info)
{
	u32 id = sim_trace_id(t, pgno), region = sim_trace_region(t, pgno), d = 0;

	if (pgno < info->first)
		info->first = pgno;
	if (pgno > info->last)
		info->last = pgno;
	info->accesses++;
	*(write ? &info->writes : &info->reads) += 1;
	c->written[id] |= write;
	c->use[region].accesses++;
	c->use[region].pages += !c->accesses[id]++;
	if (distance(s, id, &d)) {
		info->reuses++;
		c->distances[d]++;
	}
}

static void count_accesses(const struct sim_trace *t, struct stack *s,
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
static void find_quantiles(const struct sim_trace *t, const struct counts *c,
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

static void find_top(const struct sim_trace *t, const struct counts *c, u32 nr,
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
int trace_info(struct sim_trace *t, u32 nr_top, struct trace_info *info)
{
	size_t n = t->nr_pages;
	struct stack s = { .places = 2 * n + 64 };
	struct counts c;
	int ret = -ENOMEM;

	*info = (struct trace_info){ .pages = n };
	s.last = calloc(n, sizeof(*s.last));
	s.id = calloc((size_t)s.places + 1, sizeof(*s.id));
	s.count = calloc((size_t)s.places + 1, sizeof(*s.count));
	c.accesses = calloc(n, sizeof(*c.accesses));
	c.distances = calloc(n, sizeof(*c.distances));
	c.written = calloc(n, sizeof(*c.written));
	info->top = calloc((size_t)nr_top + 1, sizeof(*info->top));
	info->use = c.use = calloc((size_t)t->nr_regions + 1, sizeof(*c.use));
	if (s.last && s.id && s.count && c.accesses && c.distances &&
	    c.written && info->top && c.use) {
		count_accesses(t, &s, &c, info);
		find_quantiles(t, &c, info);
		find_top(t, &c, nr_top, info);
		ret = 0;
	}
	free(s.last);
	free(s.id);
	free(s.count);
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
