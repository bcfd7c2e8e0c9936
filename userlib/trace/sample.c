// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample of a trace: some of its pages, with all accesses to these.
 *
 * Pages stand in an order, often accessed ones first, and among those that are accessed
 * about as often the ones that appear early. Of each @every that follow each other a
 * hash of their number chooses one: no kind of page is missed by chance, as is with
 * pages that are chosen by their hash alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

#define CLASSES 33	/* of how often a page is accessed: powers of two */
#define PARTS TRACE_SAMPLE_PARTS

static u32 hash(u32 pgno)
{
	pgno = (pgno ^ pgno >> 16) * 0x7feb352du;
	pgno = (pgno ^ pgno >> 15) * 0x846ca68bu;
	return pgno ^ pgno >> 16;
}

/* By id: how often a page is accessed; its number. */
static void count(const struct trace *t, u32 *times, u32 *pgno)
{
	u32 i, id;
	size_t n;

	for (n = 0; n < t->nr_runs; n++)
		for (i = 0; i < t->run[n].nr; i++) {
			id = trace_id(t, t->run[n].pgno + i);
			times[id]++;
			pgno[id] = t->run[n].pgno + i;
		}
}

static u32 class_of(u32 times)
{
	return CLASSES - 1 - (31 - __builtin_clz(times | 1));
}

/* The ids in their order. */
static void put_in_order(const u32 *times, u32 nr, u32 *order)
{
	u32 start[CLASSES + 1] = { 0 }, i;

	for (i = 0; i < nr; i++)
		start[class_of(times[i]) + 1]++;
	for (i = 0; i < CLASSES; i++)
		start[i + 1] += start[i];
	for (i = 0; i < nr; i++)
		order[start[class_of(times[i])]++] = i;
}

/*
 * Leave one of each @every in @order, whose hash is least. Return: how many there are.
 */
static u32 choose(const u32 *pgno, u32 *order, u32 nr, u32 every)
{
	u32 from, i, n = 0;

	for (from = 0; from < nr; from += every) {
		u32 best = from;

		for (i = from + 1; i < from + every && i < nr; i++)
			if (hash(pgno[order[i]]) < hash(pgno[order[best]]))
				best = i;
		/* What is left at the end is one with its share of chance. */
		if (nr - from >= every || hash(pgno[order[best]] + 1) % every < nr - from)
			order[n++] = order[best];
	}
	return n;
}

/* Which part each of those that were chosen is in, from 1: of PARTS in a row, each. */
static void divide(const u32 *pgno, const u32 *order, u32 nr, u8 *part)
{
	u32 i, shift = 0;

	for (i = 0; i < nr; i++) {
		if (!(i % PARTS))
			shift = hash(pgno[order[i]] ^ 0x5bd1e995);
		part[order[i]] = 1 + (i + shift) % PARTS;
	}
}

/* The accesses of a run to pages of @part, or of any that is not 0. */
static int add(struct trace *to, const struct trace *t, size_t n, const u8 *part,
	       u32 which)
{
	struct trace_tag tag = trace_tag(t, n);
	u32 i;

	for (i = 0; i < t->run[n].nr; i++) {
		const struct trace_run run = { t->run[n].pgno + i, 1, t->run[n].write };
		u8 is = part[trace_id(t, run.pgno)];
		int ret = is && (!which || is == which) ? trace_add(NULL, to, &run, &tag) : 0;

		if (ret)
			return ret;
	}
	return 0;
}

/* @to: empty. */
static int take(struct trace *to, const struct trace *t, const u8 *part, u32 which)
{
	u64 warm = 0;
	size_t n;
	int ret;

	to->name = t->name;
	for (n = 0; n < t->nr_runs; n++) {
		if (n == t->warm_runs)
			warm = to->nr_accesses;
		ret = add(to, t, n, part, which);
		if (ret)
			return ret;
	}
	return warm && warm < to->nr_accesses ? trace_warm(to, warm) : 0;
}

/**
 * trace_sample() - a sample of a trace, and parts of that
 * @t:     trace
 * @every: one page of so many
 * @to:    1 + TRACE_SAMPLE_PARTS empty ones; the first gets the sample, the others get
 *         parts of it, of which each is a sample of one page of so many times more.
 *         trace_free() each, also after an error
 *
 * Pages keep their numbers. There is no page at all in a part of few.
 *
 * Return: 0; -ENOMEM.
 * Source: Waldspurger, Saemundsson, Ahmad, Park, "Cache Modeling and Optimization using
 *         Miniature Simulations", USENIX ATC 2017; order and parts: ours.
 */
int trace_sample(const struct trace *t, u32 every, struct trace *to)
{
	u32 *times = calloc(t->nr_pages, sizeof(*times));
	u32 *pgno = calloc(t->nr_pages, sizeof(*pgno));
	u32 *order = calloc(t->nr_pages, sizeof(*order));
	u8 *part = calloc(t->nr_pages, 1);
	int ret = times && pgno && order && part ? 0 : -ENOMEM;
	u32 i;

	if (!ret) {
		count(t, times, pgno);
		put_in_order(times, t->nr_pages, order);
		divide(pgno, order, choose(pgno, order, t->nr_pages, every), part);
	}
	for (i = 0; i <= PARTS && !ret; i++)
		ret = take(&to[i], t, part, i);
	free(part);
	free(order);
	free(pgno);
	free(times);
	return ret;
}
