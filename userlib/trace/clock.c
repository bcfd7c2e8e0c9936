// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the requests of a trace were, by its own clock: how many were in each part of its
 * time. Nobody knows beforehand how long that is, so parts become twice as long whenever
 * there are too many, and memory stays the same.
 *
 * Interface: reader.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reader.h"

#define FIRST_PART 0x1p-30	/* of a unit; less than clocks tell */

/* Two parts are one. */
static void join_parts(struct trace_clock *c)
{
	u32 i;

	for (i = 0; i < SIM_CLOCK_PARTS / 2; i++)
		c->requests[i] = c->requests[2 * i] + c->requests[2 * i + 1];
	for (; i < SIM_CLOCK_PARTS; i++)
		c->requests[i] = 0;
	c->part *= 2;
	c->nr = (c->nr + 1) / 2;
}

/* Parts from the first one to @at; less than 0: it is before that. */
static double part_of(const struct trace_clock *c, double at)
{
	return floor((at - c->first) / c->part);
}

/* Let the time begin so many parts earlier. */
static void begin_earlier(struct trace_clock *c, u32 parts)
{
	u32 i;

	for (i = c->nr; i--;)
		c->requests[i + parts] = c->requests[i];
	for (i = 0; i < parts; i++)
		c->requests[i] = 0;
	c->first -= parts * c->part;
	c->nr += parts;
}

/**
 * trace_clock_add() - requests at a time
 * @r:        the trace's reader; r->clock.ns is its own to set
 * @at:       in units of its clock, 0 to 2^64; logs are not always in order
 * @requests: so many
 */
void trace_clock_add(struct trace_in *r, double at, u64 requests)
{
	struct trace_clock *c = &r->clock;
	double part;

	if (!c->nr) {
		c->first = at;
		c->part = FIRST_PART;
	}
	for (part = part_of(c, at);
	     part >= SIM_CLOCK_PARTS || part < (double)c->nr - SIM_CLOCK_PARTS;
	     part = part_of(c, at))
		join_parts(c);
	if (part < 0) {
		begin_earlier(c, -part);
		part = 0;
	}
	c->requests[(u32)part] += requests;
	if (part >= c->nr)
		c->nr = part + 1;
}

/* A stage of requests that does not count after all. */
void trace_clock_clear(struct trace_in *r)
{
	r->clock = (struct trace_clock){ .ns = r->clock.ns };
}

/* The trace has the times that its reader saw, if these are different ones. */
int trace_clock_end(struct trace_in *r, struct trace *t)
{
	if (r->clock.nr < 2)
		return 0;
	t->clock = malloc(sizeof(*t->clock));
	if (!t->clock)
		return -ENOMEM;
	*t->clock = r->clock;
	return 0;
}
