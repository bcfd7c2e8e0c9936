// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verdicts: AMP's by average reference recency, PCC's by counting, DEAR's by order.
 *
 * Interface: kind.h.
 */
#include <math.h>
#include <stdlib.h>

#include "kind.h"

/* Blocks that were accessed at most @span accesses before the last one. */
static u32 within(const struct amp_context *c, double span)
{
	const struct amp_list *lists[] = { &c->list, &c->before }, *l;
	u32 i, j, n = 0;

	for (j = 0; j < 2; j++) {
		l = lists[j];
		for (i = 0; i < l->next; i++) {
			const struct amp_block *b = &l->block[l->at[i]];

			if (!(l->map[i / 64] >> i % 64 & 1))
				continue;
			if (j && amp_list_find(&c->list, b->page, amp_hash(b->page)))
				continue;
			n += c->last - b->last <= span;
		}
	}
	return n;
}

static enum amp_kind by_recency(const struct amp_params *p,
				const struct amp_context *c)
{
	if (c->r.nr < p->least)
		return AMP_OTHER;
	if (c->r.mean < p->threshold)
		return AMP_LOOPING;
	return c->r.mean > p->clustered ? AMP_CLUSTERED : AMP_OTHER;
}

/* More blocks that came again than blocks that did not are a loop. */
static enum amp_kind by_counting(const struct amp_params *p,
				 const struct amp_list *l)
{
	u32 once = l->nr - l->nr_again;

	if (once < l->nr_again)
		return AMP_LOOPING;
	return once >= p->seq ? AMP_ONE_SHOT : AMP_OTHER;
}

/* Hardly a block was accessed again, by this context or by another, after a while. */
static bool is_one_shot(const struct amp_params *p, const struct amp_list *l,
			const struct amp_now *now)
{
	u32 i, n = 0, ripe = 0;

	for (i = 0; i < l->next; i++) {
		const struct amp_block *b = &l->block[l->at[i]];

		if (!(l->map[i / 64] >> i % 64 & 1) ||
		    !amp_sampled(amp_hash(b->page), now->shared) ||
		    now->seq - b->first < p->ripe)
			continue;
		ripe++;
		n += b->again | b->shared;
	}
	return ripe >= p->least && n < p->one_shot * ripe;
}

/* Estimates of a loop, from blocks that came again. */
static void measure(const struct amp_params *p, const struct amp_context *c,
		    struct amp_pattern *out)
{
	double rate = p->given * c->limit / AMP_ALL, var;

	out->rate = rate;
	out->blocks = c->list.nr;
	out->pages = llround(c->list.nr / rate);
	if (!c->time.nr)
		return;
	out->loop_time = c->time.mean;
	var = c->square.mean - c->time.mean * c->time.mean;
	out->loop_dev = var > 0 ? sqrt(var) : 0;
	out->loop_size = llround(within(c, out->loop_time + out->loop_dev) / rate);
}

/**
 * amp_judge() - a context -> its pattern
 * @p:   parameters
 * @c:   context
 * @now: when
 * @out: filled
 */
void amp_judge(const struct amp_params *p, struct amp_context *c,
	       const struct amp_now *now, struct amp_pattern *out)
{
	u64 seen;

	*out = (struct amp_pattern){
		.context = c->id, .accesses = c->accesses, .missed = c->missed,
		.r = c->r.nr ? c->r.mean : -1,
	};
	if (p->method == AMP_BY_DEAR)
		amp_dear_gaps(p, c);
	measure(p, c, out);
	if (p->method == AMP_BY_DEAR)
		out->kind = amp_dear(p, c, now->seq);
	else if (p->method == AMP_BY_PCC)
		out->kind = by_counting(p, &c->list);
	else if (is_one_shot(p, &c->list, now))
		out->kind = AMP_ONE_SHOT;
	else
		out->kind = by_recency(p, c);
	seen = out->kind == AMP_ONE_SHOT || p->method != AMP_BY_AMP ?
	       c->list.nr : c->r.nr;
	out->known = seen >= p->least;
	out->confidence = seen / (seen + 16.0);
}
