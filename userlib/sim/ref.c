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
 *
 * opt-reads is opt for who waits for reads alone, after OPT of write-hints-2006:
 * what is not read for the longest time goes, and that may be what comes in: it
 * then passes through, a write to the disk. As printed OPT also holds pages that
 * are written before they are read, for nothing, and is not the best that can be.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim.h"

#define RESIDENT 1
#define DIRTY 2
#define REFERENCED 4

struct cache {
	enum policy_reference ref;
	const struct trace *t;
	u32 frames, nr;
	u8 *bits;		/* by id */
	u32 *next, *prev;	/* the queue, by id; nr_pages is its two ends, */
	u32 inactive;		/* and nr_pages + 1 of default's inactive one, */
				/* which has so many pages */
	const u32 *next_use;	/* of opt and opt-reads: by access; */
	u32 *when;		/* the next use, by id; */
	u32 *heap, *at;		/* ids, the victim on top; places, by id */
	struct sim_teller *teller;	/* or NULL */
	u32 access;		/* under way, from 1 */
	u32 *pgno;		/* by id, if somebody wants to know */
};

static void tell(struct cache *c, u32 id, enum sim_tell what)
{
	if (c->teller)
		c->teller->tell(c->teller, c->access, id, what);
}

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

	if (c->ref == POLICY_DEFAULT)
		return take_default(c);

	if (c->when) {
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
	if (c->when) {
		sift(c, c->at[id]);
	} else if (c->ref == POLICY_LRU) {
		unlink_id(c, id);
		link_tail(c, c->t->nr_pages, id);
	} else if (c->ref == POLICY_CLOCK || c->ref == POLICY_DEFAULT) {
		c->bits[id] |= REFERENCED;
	}
}

/* What the disk is asked for; opt-reads has whole pages written. */
static void note_read(const struct cache *c, u32 id, bool write,
		      const struct sim_result *r)
{
	if (c->pgno && !(write && c->ref == POLICY_OPT_READS))
		sim_note_read(r, c->pgno[id], write);
}

static void note_write(const struct cache *c, u32 id, const struct sim_result *r)
{
	if (c->pgno)
		sim_note_write(r, c->pgno[id]);
}

static void miss(struct cache *c, u32 id, bool write, struct sim_result *r)
{
	r->faults++;
	r->read_misses += !write;
	tell(c, id, SIM_TELL_FAULT);
	if (c->ref == POLICY_OPT_READS && c->nr == c->frames &&
	    c->when[c->heap[0]] <= c->when[id]) {
		r->written += write;
		note_read(c, id, write, r);
		if (write)
			note_write(c, id, r);
		return;
	}
	if (c->nr == c->frames) {
		u32 victim = take(c);

		r->evictions++;
		r->written += !!(c->bits[victim] & DIRTY);
		if (c->bits[victim] & DIRTY)
			note_write(c, victim, r);
		c->bits[victim] = 0;
		tell(c, victim, SIM_TELL_OUT);
	}
	note_read(c, id, write, r);
	c->bits[id] = RESIDENT;
	c->nr++;
	tell(c, id, SIM_TELL_IN);
	if (c->when) {
		put(c, c->nr - 1, id);
		sift(c, c->nr - 1);
	} else {
		link_tail(c, c->t->nr_pages, id);
	}
}

static void run(struct cache *c, struct sim_result *r)
{
	const struct trace *t = c->t;
	u32 i;
	size_t n;

	for (n = 0; n < t->nr_runs; n++) {
		bool write = t->run[n].write;

		if (n && n == t->warm_runs)
			sim_result_again(r);
		r->writes += write ? t->run[n].nr : 0;
		for (i = 0; i < t->run[n].nr; i++) {
			u32 id = trace_id(t, t->run[n].pgno + i);

			if (c->when)
				c->when[id] = c->next_use[c->access];
			if (c->pgno)
				c->pgno[id] = t->run[n].pgno + i;
			sim_progress_note(r, ++c->access);
			if (c->bits[id] & RESIDENT)
				hit(c, id);
			else
				miss(c, id, write, r);
			if (write && c->bits[id] & RESIDENT)
				c->bits[id] |= DIRTY;
		}
	}
}

/*
 * When each access's page is read next, unless it is written before, 4 bytes an
 * access, or NULL.
 */
static u32 *next_reads(const struct trace *t)
{
	u32 *next = malloc(t->nr_accesses * sizeof(*next));
	u32 *last = malloc((size_t)t->nr_pages * sizeof(*last));
	u32 i, access = t->nr_accesses;
	size_t n;

	for (i = 0; last && i < t->nr_pages; i++)
		last[i] = SIM_NEVER;
	for (n = next && last ? t->nr_runs : 0; n--;) {
		for (i = t->run[n].nr; i--;) {
			u32 id = trace_id(t, t->run[n].pgno + i);

			next[--access] = last[id];
			last[id] = t->run[n].write ? SIM_NEVER : access;
		}
	}
	if (!last) {
		free(next);
		next = NULL;
	}
	free(last);
	return next;
}

/* The trace keeps this, so that it is made once. */
static int next_uses(struct trace *t)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int ret;

	pthread_mutex_lock(&lock);
	ret = trace_next_uses(t);
	pthread_mutex_unlock(&lock);
	return ret;
}

/**
 * sim_run_reference() - a trace through a built-in reference
 * @ref:    which
 * @t:      trace; others may run it at the same time
 * @frames: 1 or more
 * @r:      filled; commands are none
 * @teller: NULL, or who is told of pages
 *
 * Context: any; takes a lock of its own.
 * Return: 0; -ENOMEM.
 */
int sim_run_reference(enum policy_reference ref, struct trace *t, u32 frames,
		      struct sim_result *r, struct sim_teller *teller)
{
	size_t n = (size_t)t->nr_pages + 2, end;
	struct cache c = { .ref = ref, .t = t, .frames = frames, .teller = teller };
	u32 *words = malloc(3 * n * sizeof(*words)), *reads = NULL;
	int ret = -ENOMEM;

	sim_result_begin(r);
	c.bits = calloc(n, sizeof(*c.bits));
	c.pgno = r->post ? malloc(n * sizeof(*c.pgno)) : NULL;
	if (!c.bits || !words || (r->post && !c.pgno))
		goto out;
	ret = 0;
	if (ref == POLICY_OPT || ref == POLICY_OPT_READS) {
		c.when = words;
		c.heap = words + n;
		c.at = words + 2 * n;
		if (ref == POLICY_OPT)
			ret = next_uses(t);
		else
			ret = (reads = next_reads(t)) ? 0 : -ENOMEM;
		c.next_use = reads ?: t->next_use;
	} else {
		c.next = words;
		c.prev = words + n;
		for (end = n - 2; end < n; end++)
			c.next[end] = c.prev[end] = end;
	}
	if (!ret)
		run(&c, r);
out:
	free(reads);
	free(words);
	free(c.pgno);
	free(c.bits);
	return ret;
}
