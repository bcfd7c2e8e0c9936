// SPDX-License-Identifier: GPL-2.0-only
/*
 * DEAR's verdict: of the blocks of the last period, are those that were accessed
 * more recently accessed again later (a loop), or sooner (clustered)?
 *
 * Blocks are sorted by their last access and cut into groups; the groups' mean
 * distance to the next access has to be in order throughout. The papers do not say
 * what they take for order, nor what a block counts that is not accessed again:
 * here no step may go the wrong way, and it counts the whole period.
 *
 * Interface: kind.h.
 *
 * Source: An Implementation Study of a Detection-Based Adaptive Block Replacement
 * Scheme, as AMP's section 4.1 uses it.
 */
#include "kind.h"

/* The order of the groups' means, the most recently accessed group first. */
struct order {
	double sum, before;
	u32 nr, groups;
	bool rises, falls;	/* somewhere */
};

static void end_group(struct order *o)
{
	double mean = o->sum / o->nr;

	if (o->groups) {
		o->rises |= mean > o->before;
		o->falls |= mean < o->before;
	}
	o->before = mean;
	o->groups++;
	o->sum = o->nr = 0;
}

/**
 * amp_dear() - DEAR's verdict on a context
 * @p:   parameters
 * @c:   context, before its period ends
 * @now: the access that ends it
 *
 * Return: what it does; other if there was no period before.
 */
enum amp_kind amp_dear(const struct amp_params *p, const struct amp_context *c,
		       u64 now)
{
	const struct amp_list *l = &c->before;
	struct order o = { 0 };
	u32 i, again = 0;

	for (i = l->next; i--;) {
		const struct amp_block *b = &l->block[l->at[i]], *next;

		if (!(l->map[i / 64] >> i % 64 & 1))
			continue;
		next = amp_list_find(&c->list, b->page, amp_hash(b->page));
		again += next || b->again;
		o.sum += (next ? next->first : now) - c->since;
		if (++o.nr == p->group)
			end_group(&o);
	}
	if (!l->nr)
		return AMP_OTHER;
	if (again < p->one_shot * l->nr)
		return AMP_ONE_SHOT;
	if (o.nr && !o.groups)
		end_group(&o);
	if (o.falls == o.rises)
		return AMP_OTHER;
	return o.falls ? AMP_LOOPING : AMP_CLUSTERED;
}

/**
 * amp_dear_gaps() - distances between accesses of a block in successive periods
 * @p: parameters
 * @c: context, before its period ends; its averages get them
 *
 * The period's own list knows of none from before it.
 */
void amp_dear_gaps(const struct amp_params *p, struct amp_context *c)
{
	const struct amp_list *l = &c->before;
	u32 i;

	for (i = 0; i < l->next; i++) {
		const struct amp_block *b = &l->block[l->at[i]], *next;
		double gap;

		if (!(l->map[i / 64] >> i % 64 & 1))
			continue;
		next = amp_list_find(&c->list, b->page, amp_hash(b->page));
		if (!next)
			continue;
		gap = next->first - b->last;
		amp_average(p, &c->time, gap);
		amp_average(p, &c->square, gap * gap);
	}
}
