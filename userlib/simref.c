// SPDX-License-Identifier: GPL-2.0-only
/*
 * Built-in references, in C: what policies are measured against. A miss brings
 * its page in, a page that is given up dirty is written back, nothing is written
 * at the end.
 *
 * lru, fifo and clock are a queue from which victims go at the head: lru moves a
 * page that is hit to the tail; clock sets its bit, and passes over pages with
 * the bit set, once. opt gives up the page that is wanted again last; of pages
 * that are never wanted again the one that the trace has first. default is FIFO
 * with a second chance on two queues, policies/fifo2.hp, told of every hit.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim.h"

#define RESIDENT 1
#define DIRTY 2
#define REFERENCED 4

struct cache {
	enum sim_reference ref;
	const struct sim_trace *t;
	u32 frames, nr;
	u8 *bits;		/* by id */
	u32 *next, *prev;	/* the queue, by id; nr_pages is its two ends, */
	u32 inactive;		/* and nr_pages + 1 of default's inactive one, */
				/* which has so many pages */
	u32 *when;		/* of opt: the next use, by id */
	u32 *heap, *at;		/* of opt: ids, the victim on top; places, by id */
};

static void link_tail(struct cache *c, u32 end, u32 id)
{
	u32 tail = c->prev[end];

	c->next[tail] = id;
	c->prev[id] = tail;
	c->next[id] = end;
	c->prev[end] = id;
}

static void unlink_id(struct cache *c, u32 id)
{
	c->next[c->prev[id]] = c->next[id];
	c->prev[c->next[id]] = c->prev[id];
}

/* Whether @a goes before @b. */
static bool goes_before(const struct cache *c, u32 a, u32 b)
{
	if (c->when[a] != c->when[b])
		return c->when[a] > c->when[b];
	return a < b;
}

static void put(struct cache *c, u32 place, u32 id)
{
	c->heap[place] = id;
	c->at[id] = place;
}

/* Move what is at @place to where it belongs. */
static void sift(struct cache *c, u32 place)
{
	u32 id = c->heap[place], child;

	while (place && goes_before(c, id, c->heap[(place - 1) / 2])) {
		put(c, place, c->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	while ((child = 2 * place + 1) < c->nr) {
		if (child + 1 < c->nr &&
		    goes_before(c, c->heap[child + 1], c->heap[child]))
			child++;
		if (!goes_before(c, c->heap[child], id))
			break;
		put(c, place, c->heap[child]);
		place = child;
	}
	put(c, place, id);
}

/* Two thirds of @nr pages wait on the inactive queue. */
static void deactivate(struct cache *c, u32 nr)
{
	u32 end = c->t->nr_pages;

	for (; c->inactive < nr * 2 / 3; c->inactive++) {
		u32 id = c->next[end];

		c->bits[id] &= ~REFERENCED;
		unlink_id(c, id);
		link_tail(c, end + 1, id);
	}
}

static u32 take_default(struct cache *c)
{
	u32 end = c->t->nr_pages, id;

	for (;;) {
		deactivate(c, c->nr);
		/* One frame alone has no inactive page. */
		id = c->next[c->inactive ? end + 1 : end];
		unlink_id(c, id);
		c->inactive -= !!c->inactive;
		if (!(c->bits[id] & REFERENCED) || c->nr == 1)
			break;
		link_tail(c, end, id);
	}
	c->nr--;
	deactivate(c, c->nr);
	return id;
}

/* Take the victim out. */
static u32 take(struct cache *c)
{
	u32 end = c->t->nr_pages, id;

	if (c->ref == SIM_DEFAULT)
		return take_default(c);

	if (c->ref == SIM_OPT) {
		id = c->heap[0];
		c->nr--;
		if (c->nr) {
			put(c, 0, c->heap[c->nr]);
			sift(c, 0);
		}
		return id;
	}
	while (c->bits[id = c->next[end]] & REFERENCED) {
		c->bits[id] &= ~REFERENCED;
		unlink_id(c, id);
		link_tail(c, end, id);
	}
	unlink_id(c, id);
	c->nr--;
	return id;
}

static void hit(struct cache *c, u32 id)
{
	if (c->ref == SIM_OPT) {
		sift(c, c->at[id]);
	} else if (c->ref == SIM_LRU) {
		unlink_id(c, id);
		link_tail(c, c->t->nr_pages, id);
	} else if (c->ref == SIM_CLOCK || c->ref == SIM_DEFAULT) {
		c->bits[id] |= REFERENCED;
	}
}

static void miss(struct cache *c, u32 id, struct sim_result *r)
{
	r->faults++;
	if (c->nr == c->frames) {
		u32 victim = take(c);

		r->evictions++;
		r->written += !!(c->bits[victim] & DIRTY);
		c->bits[victim] = 0;
	}
	c->bits[id] = RESIDENT;
	c->nr++;
	if (c->ref == SIM_OPT) {
		put(c, c->nr - 1, id);
		sift(c, c->nr - 1);
	} else {
		link_tail(c, c->t->nr_pages, id);
	}
}

static void run(struct cache *c, struct sim_result *r)
{
	const struct sim_trace *t = c->t;
	u32 access = 0, i;
	size_t n;

	for (n = 0; n < t->nr_runs; n++) {
		for (i = 0; i < t->run[n].nr; i++) {
			u32 id = sim_trace_id(t, t->run[n].pgno + i);

			if (c->when)
				c->when[id] = t->next_use[access++];
			if (c->bits[id] & RESIDENT)
				hit(c, id);
			else
				miss(c, id, r);
			if (t->run[n].write)
				c->bits[id] |= DIRTY;
		}
	}
}

/**
 * sim_run_reference() - a trace through a built-in reference
 * @ref:    which
 * @t:      trace
 * @frames: 1 or more
 * @r:      filled; commands are none
 *
 * Context: any.
 * Return: 0; -ENOMEM.
 */
int sim_run_reference(enum sim_reference ref, struct sim_trace *t, u32 frames,
		      struct sim_result *r)
{
	size_t n = (size_t)t->nr_pages + 2, end;
	struct cache c = { .ref = ref, .t = t, .frames = frames };
	u32 *words;
	int ret = 0;

	memset(r, 0, sizeof(*r));
	if (ref == SIM_OPT)
		ret = sim_trace_next_uses(t);
	if (ret)
		return ret;
	c.bits = calloc(n, sizeof(*c.bits));
	words = malloc(3 * n * sizeof(*words));
	if (!c.bits || !words) {
		ret = -ENOMEM;
	} else {
		if (ref == SIM_OPT) {
			c.when = words;
			c.heap = words + n;
			c.at = words + 2 * n;
		} else {
			c.next = words;
			c.prev = words + n;
			for (end = n - 2; end < n; end++)
				c.next[end] = c.prev[end] = end;
		}
		run(&c, r);
	}
	free(words);
	free(c.bits);
	return ret;
}
