// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reuse distances, and lru. They are exact: a tree counts the pages that were accessed
 * since the last access to a page, in time that grows with the logarithm of the number of
 * pages, and memory with that number.
 */
#include <errno.h>
#include <stdlib.h>

#include "reuse.h"

static void add(struct trace_stack *s, u32 place, s32 n)
{
	for (; place <= s->places; place += place & -place)
		s->count[place] += n;
}

/* Pages at places up to @place. */
static u32 count(const struct trace_stack *s, u32 place)
{
	u32 n = 0;

	for (; place; place -= place & -place)
		n += s->count[place];
	return n;
}

/* All places were given out: move the pages down, in their order. */
static void compact(struct trace_stack *s)
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

/**
 * trace_stack_distance() - an access
 * @s:  stack
 * @id: page
 * @d:  gets how many different pages were accessed since the last access to it
 *
 * Return: whether there was one before.
 */
bool trace_stack_distance(struct trace_stack *s, u32 id, u32 *d)
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

int trace_stack_open(struct trace_stack *s, u32 nr_pages)
{
	size_t n = 2 * (size_t)nr_pages + 64;

	*s = (struct trace_stack){
		.last = calloc(nr_pages, sizeof(*s->last)),
		.id = calloc(n + 1, sizeof(*s->id)),
		.count = calloc(n + 1, sizeof(*s->count)),
		.places = n,
	};
	return s->last && s->id && s->count ? 0 : -ENOMEM;
}

void trace_stack_close(struct trace_stack *s)
{
	free(s->last);
	free(s->id);
	free(s->count);
}

#define CLEAN UINT32_MAX

/*
 * A memory hits what was accessed within less different pages than it has frames. A page
 * that was written is dirty in all memories that did not evict it since: those with more
 * frames than its longest distance since then.
 */
struct lru {
	struct trace_stack stack;
	u64 *misses[2];	/* by distance: reads and writes of pages that were there before */
	u64 cold[2];	/* and of those that were not */
	s64 *written;	/* by frames: how many more than with one frame less */
	u32 *evicted;	/* by page: it is dirty with more frames; CLEAN: with none */
	u32 warm_pages;
};

/* The page was evicted where there are at most @d frames, and written where it was dirty. */
static void evict(struct lru *l, u32 id, u32 d, bool counts)
{
	if (l->evicted[id] >= d)
		return;
	if (counts) {
		l->written[l->evicted[id] + 1]++;
		l->written[d + 1]--;
	}
	l->evicted[id] = d;
}

/* What has left memories until now, by the order of last accesses. */
static void evict_all(struct lru *l, bool counts)
{
	u32 place, d = 0;

	for (place = l->stack.now; place; place--)
		if (l->stack.id[place])
			evict(l, l->stack.id[place] - 1, d++, counts);
}

static void note(struct lru *l, u32 id, bool write, bool counts)
{
	u32 d = 0;
	bool again = trace_stack_distance(&l->stack, id, &d);

	if (again)
		evict(l, id, d, counts);
	if (write)
		l->evicted[id] = 0;
	if (counts)
		*(again ? &l->misses[write][d] : &l->cold[write]) += 1;
}

static void run(struct lru *l, const struct trace *t)
{
	size_t n;
	u32 i;

	for (n = 0; n < t->nr_runs; n++) {
		if (n && n == t->warm_runs) {
			evict_all(l, false);
			l->warm_pages = l->stack.live;
		}
		for (i = 0; i < t->run[n].nr; i++)
			note(l, trace_id(t, t->run[n].pgno + i), t->run[n].write,
			       n >= t->warm_runs);
	}
	evict_all(l, true);
}

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

static void fill(const struct lru *l, const struct trace *t, struct trace_lru *size)
{
	u32 all = t->nr_pages, d;

	size->faults = l->cold[0] + l->cold[1];
	size->read_misses = l->cold[0];
	size->written = 0;
	for (d = size->frames; d < all; d++) {
		size->faults += l->misses[0][d] + l->misses[1][d];
		size->read_misses += l->misses[0][d];
	}
	/* A fault takes a free frame, or evicts. */
	size->evictions = size->faults - (least(size->frames, all) -
					  least(size->frames, l->warm_pages));
	for (d = 1; d <= size->frames && d <= all; d++)
		size->written += l->written[d];
}

/**
 * trace_lru() - what lru does with many sizes
 * @t:    trace
 * @size: its frames are given, the rest is filled
 * @nr:   of these
 *
 * Return: 0; -ENOMEM.
 * Source: Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies",
 *         1970; write-backs: Thompson, Smith, "Efficient (stack) algorithms for analysis of
 *         write-back and sector memories", 1989.
 */
int trace_lru(const struct trace *t, struct trace_lru *size, size_t nr)
{
	size_t n = (size_t)t->nr_pages + 2, i;
	struct lru l = { .evicted = malloc(n * sizeof(*l.evicted)),
			 .written = calloc(n, sizeof(*l.written)),
			 .misses = { calloc(n, sizeof(u64)), calloc(n, sizeof(u64)) } };
	int ret = trace_stack_open(&l.stack, t->nr_pages);

	if (!l.evicted || !l.written || !l.misses[0] || !l.misses[1])
		ret = -ENOMEM;
	if (!ret) {
		memset(l.evicted, 0xff, n * sizeof(*l.evicted));
		run(&l, t);
		for (i = 0; i < nr; i++)
			fill(&l, t, &size[i]);
	}
	trace_stack_close(&l.stack);
	free(l.evicted);
	free(l.written);
	free(l.misses[0]);
	free(l.misses[1]);
	return ret;
}
