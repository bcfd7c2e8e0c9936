// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns -> the arrays of a policy: a table of contexts with their partitions, and
 * what each partition is to know of its loop. The policy may read at any time.
 *
 * Interface: amp.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "amp.h"

/* What the arrays are to be. */
struct plan {
	s64 context[AMP_TABLE], part[AMP_TABLE];
	s64 size[AMP_PARTS], sweep[AMP_PARTS];
	u32 used;
};

/* Where @id is in a table, or would be; the table is never full. */
static u32 entry_of(const s64 *context, u64 id)
{
	u32 i = id % AMP_TABLE;

	while (context[i] && context[i] != (s64)id)
		i = (i + 1) % AMP_TABLE;
	return i;
}

/**
 * amp_feed_part() - the partition of a context, as a policy finds it
 * @a:       arrays
 * @context: looked for
 *
 * Return: partition, 0 if the context is not in the table.
 */
u32 amp_feed_part(const struct amp_arrays *a, u64 context)
{
	u32 i;

	if (!context)
		return 0;
	i = entry_of(a->context, context);
	return a->context[i] ? a->part[i] : 0;
}

static void add(struct plan *plan, u64 id, u32 part)
{
	u32 i = entry_of(plan->context, id);

	plan->context[i] = id;
	plan->part[i] = part;
	plan->used++;
}

static void add_loop(struct plan *plan, const struct amp_pattern *p, u32 part)
{
	add(plan, p->context, part);
	plan->size[part] = p->loop_size ? p->loop_size : 1;
	plan->sweep[part] = ceil(p->loop_time + 3 * p->loop_dev);
}

/* Large loops first. */
static int by_size(const void *a, const void *b)
{
	const struct amp_pattern *x = *(const struct amp_pattern **)a;
	const struct amp_pattern *y = *(const struct amp_pattern **)b;

	if (x->loop_size != y->loop_size)
		return x->loop_size < y->loop_size ? 1 : -1;
	return x->context < y->context ? -1 : x->context > y->context;
}

/*
 * The @nr largest loops: each keeps its partition. New ones get what is left, but none
 * that another has only just given up: the policy first takes its pages out.
 */
static void plan_loops(struct plan *plan, const struct amp_arrays *a,
		       const struct amp_pattern **loop, size_t nr)
{
	u32 part, next = 1;
	size_t i;

	for (i = 0; i < nr; i++) {
		part = amp_feed_part(a, loop[i]->context);
		if (part < 1 || part > AMP_LOOPS || plan->size[part])
			continue;
		add_loop(plan, loop[i], part);
		loop[i] = NULL;
	}
	for (i = 0; i < nr; i++) {
		if (!loop[i])
			continue;
		while (next <= AMP_LOOPS && (plan->size[next] || a->size[next]))
			next++;
		if (next > AMP_LOOPS)
			break;
		add_loop(plan, loop[i], next);
	}
}

static void put(s64 *element, s64 value)
{
	__atomic_store_n(element, value, __ATOMIC_RELEASE);
}

/* Who reads meanwhile finds a context where it was, where it is, or nowhere. */
static void write_plan(const struct amp_arrays *a, const struct plan *plan)
{
	u32 i;

	for (i = 0; i < AMP_TABLE; i++)
		if (a->context[i] != plan->context[i] ||
		    a->part[i] != plan->part[i])
			put(&a->part[i], 0);
	for (i = 0; i < AMP_PARTS; i++) {
		put(&a->size[i], plan->size[i]);
		put(&a->sweep[i], plan->sweep[i]);
	}
	for (i = 0; i < AMP_TABLE; i++)
		put(&a->context[i], plan->context[i]);
	for (i = 0; i < AMP_TABLE; i++)
		put(&a->part[i], plan->part[i]);
}

/**
 * amp_feed_copy() - the arrays of one policy -> those of another
 * @to:   somebody may be reading them
 * @from: nobody is writing to them
 */
void amp_feed_copy(const struct amp_arrays *to, const struct amp_arrays *from)
{
	struct plan plan;

	memcpy(plan.context, from->context, sizeof(plan.context));
	memcpy(plan.part, from->part, sizeof(plan.part));
	memcpy(plan.size, from->size, sizeof(plan.size));
	memcpy(plan.sweep, from->sweep, sizeof(plan.sweep));
	write_plan(to, &plan);
}

/**
 * amp_feed() - patterns -> the arrays of a policy
 * @a:  arrays, as the feed before left them; zero at first
 * @p:  patterns, each context once
 * @nr: of them
 *
 * The AMP_LOOPS largest loops get a partition each, and keep it as long as they are
 * among these. One-shot contexts share a partition: those that come first in @p.
 * All others are in no table.
 *
 * Context: any; somebody may be reading the arrays.
 */
void amp_feed(const struct amp_arrays *a, const struct amp_pattern *p, size_t nr)
{
	const struct amp_pattern **loop = calloc(nr + 1, sizeof(*loop));
	struct plan plan = { 0 };
	size_t i, nr_loops = 0;

	if (!loop)
		return;
	for (i = 0; i < nr; i++)
		if (p[i].kind == AMP_LOOPING)
			loop[nr_loops++] = &p[i];
	qsort(loop, nr_loops, sizeof(*loop), by_size);
	plan_loops(&plan, a, loop, nr_loops < AMP_LOOPS ? nr_loops : AMP_LOOPS);
	for (i = 0; i < nr && plan.used < AMP_FED; i++)
		if (p[i].kind == AMP_ONE_SHOT)
			add(&plan, p[i].context, AMP_ONE_SHOT_PART);
	write_plan(a, &plan);
	free(loop);
}
