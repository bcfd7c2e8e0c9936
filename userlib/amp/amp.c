// SPDX-License-Identifier: GPL-2.0-only
/*
 * The detector: for each context a recency list, averages over it, and a verdict.
 *
 * The paper doubles Q "when |L| drops below N_L/2 and Q > Q_0"; below Q_0 is meant,
 * else it would never come back to it. It is looked at when a period ends: after a
 * halving |L| is about N_L/2, and would be below it half of the time.
 *
 * Interface: amp.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "owner.h"

const char *const amp_kind_names[AMP_NR_KINDS] = {
#define X(name, text) [AMP_##name] = text,
	AMP_KINDS(X)
#undef X
};

const char *const amp_method_names[AMP_NR_METHODS] = {
#define X(name, text) [AMP_BY_##name] = text,
	AMP_METHODS(X)
#undef X
};

struct amp_detector {
	struct amp_params params;
	struct amp_context *context;
	u32 nr;
	struct amp_owners owners;
	u32 *table, bits;	/* of their numbers, from 1, by id */
	u64 seq;	/* the last access */
};

/* The paper's values where it has them; all blocks are sampled. */
void amp_params_init(struct amp_params *p)
{
	*p = (struct amp_params){
		.method = AMP_BY_AMP, .form = AMP_CUMULATIVE,
		.threshold = 0.4, .clustered = 0.6, .one_shot = 0.02,
		.limit = AMP_ALL, .horizon = 1024, .contexts = 1024, .least = 1,
		.given = 1, .group = 10, .seq = 100,
	};
}

/**
 * amp_new() - make a detector
 * @params: copied
 *
 * Return: the detector, amp_free() it; NULL: no memory.
 */
struct amp_detector *amp_new(const struct amp_params *params)
{
	struct amp_detector *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->params = *params;
	d->owners.limit = params->limit;
	d->bits = 4;
	while (1u << d->bits < 2 * params->contexts)
		d->bits++;
	d->context = calloc(params->contexts, sizeof(*d->context));
	d->table = calloc((size_t)1 << d->bits, sizeof(*d->table));
	if (d->context && d->table)
		return d;
	amp_free(d);
	return NULL;
}

static u32 *place_of(const struct amp_detector *d, u64 id)
{
	u32 mask = (1u << d->bits) - 1, i = amp_hash(id) & mask;

	while (d->table[i] && d->context[d->table[i] - 1].id != id)
		i = (i + 1) & mask;
	return &d->table[i];
}

/* The context, or NULL if there is no room for one more. */
static struct amp_context *find(struct amp_detector *d, u64 id)
{
	u32 *place = place_of(d, id);
	struct amp_context *c;

	if (*place)
		return &d->context[*place - 1];
	if (d->nr == d->params.contexts)
		return NULL;
	c = &d->context[d->nr++];
	*c = (struct amp_context){ .id = id, .limit = d->params.limit };
	*place = d->nr;
	return c;
}

/* The paper's R of an access to a block that is in the list. */
static double recency(const struct amp_list *l, const struct amp_touch *t)
{
	return l->nr > 1 ? (double)t->position / (l->nr - 1) : 0.5;
}

/* What another context accessed last, this one does again. */
static int change_owner(struct amp_detector *d, u64 page, u64 hash, u64 context)
{
	struct amp_block *b;
	u64 before;
	u32 *place;

	if (amp_owner_change(&d->owners, page, hash, context, &before))
		return -ENOMEM;
	if (!before || before == context)
		return 0;
	place = place_of(d, before);
	if (!*place)
		return 0;
	b = amp_list_find(&d->context[*place - 1].list, page, hash);
	if (b) {
		b->shared = 1;
		d->context[*place - 1].judged = false;
	}
	return 0;
}

/**
 * amp_note() - an access
 * @d:       detector
 * @context: that it came from; of 0, which is not known, nothing is noted
 * @page:    accessed
 * @seq:     its number, higher than that of the one before
 * @missed:  it was a fault
 *
 * Return: 0; -ENOMEM, and the access is not noted.
 */
int amp_note(struct amp_detector *d, u64 context, u64 page, u64 seq, bool missed)
{
	struct amp_context *c;
	struct amp_touch t;
	u64 hash;

	d->seq = seq;
	if (!context)
		return 0;
	c = find(d, context);
	if (!c)
		return 0;	/* there was no room for it */
	c->accesses++;
	c->missed += missed;
	c->last = seq;
	c->judged = false;
	c->active = true;
	if (d->params.merge && c->accesses > 1 && c->page == page)
		return 0;
	c->page = page;
	hash = amp_hash(page);
	if (change_owner(d, page, hash, context))
		return -ENOMEM;
	if (!amp_sampled(hash, c->limit))
		return 0;
	if (amp_list_touch(&c->list, page, hash, seq, &t))
		return -ENOMEM;
	if (t.known) {
		double gap = t.gap;

		amp_average(&d->params, &c->r, recency(&c->list, &t));
		amp_average(&d->params, &c->time, gap);
		amp_average(&d->params, &c->square, gap * gap);
	}
	if (d->params.most && c->list.nr > d->params.most) {
		c->limit /= 2;
		return amp_list_drop(&c->list, c->limit);
	}
	return 0;
}

/* The period ends: what is old goes, and Q may grow again. */
static void end_period(const struct amp_detector *d, struct amp_context *c)
{
	const struct amp_params *p = &d->params;

	if (p->method == AMP_BY_DEAR) {
		amp_list_free(&c->before);
		c->before = c->list;
		c->list = (struct amp_list){ 0 };
		c->since = d->seq;
	} else if (p->fresh) {
		amp_list_free(&c->list);
	}
	if (c->list.nr < p->most / 2 && c->limit < p->limit)
		c->limit *= 2;
	if (p->form == AMP_PERIODIC)
		c->r = c->time = c->square = (struct amp_mean){ 0 };
}

/* Whether time alone changes nothing: some blocks may have to grow ripe. */
static bool is_final(const struct amp_params *p, const struct amp_context *c,
		     const struct amp_now *now)
{
	return p->method != AMP_BY_AMP || p->form == AMP_PERIODIC ||
	       now->seq - c->last >= p->ripe;
}

/* The verdict of a context that did nothing stands. */
static void judge(const struct amp_detector *d, struct amp_context *c,
		  const struct amp_now *now)
{
	if (c->judged)
		return;
	amp_judge(&d->params, c, now, &c->pattern);
	if (c->active)
		end_period(d, c);
	c->active = false;
	c->judged = is_final(&d->params, c, now);
}

/* Busy ones first, so that the order tells something. */
static int by_accesses(const void *a, const void *b)
{
	const struct amp_pattern *x = a, *y = b;

	if (x->accesses != y->accesses)
		return x->accesses < y->accesses ? 1 : -1;
	return x->context < y->context ? -1 : x->context > y->context;
}

/* Make room for new contexts: of those not seen for longest, a quarter goes. */
static void make_room(struct amp_detector *d)
{
	u32 go = d->params.contexts / 4 + 1, i, n;

	if (d->nr < d->params.contexts)
		return;
	while (go-- && d->nr) {
		for (i = n = 0; i < d->nr; i++)
			if (d->context[i].last < d->context[n].last)
				n = i;
		amp_list_free(&d->context[n].list);
		amp_list_free(&d->context[n].before);
		d->context[n] = d->context[--d->nr];
	}
	memset(d->table, 0, sizeof(*d->table) << d->bits);
	for (i = 0; i < d->nr; i++)
		*place_of(d, d->context[i].id) = i + 1;
}

/**
 * amp_detect() - what the contexts do, and the end of a period
 * @d:   detector
 * @p:   filled: the contexts with most accesses, in this order
 * @max: patterns of @p
 *
 * Return: patterns filled.
 */
size_t amp_detect(struct amp_detector *d, struct amp_pattern *p, size_t max)
{
	struct amp_pattern *all = calloc(d->nr + 1, sizeof(*all));
	size_t nr = d->nr < max ? d->nr : max;
	struct amp_now now = { d->seq, d->owners.limit };
	u32 i;

	if (!all)
		return 0;
	for (i = 0; i < d->nr; i++) {
		judge(d, &d->context[i], &now);
		all[i] = d->context[i].pattern;
	}
	qsort(all, d->nr, sizeof(*all), by_accesses);
	memcpy(p, all, nr * sizeof(*p));
	free(all);
	make_room(d);
	return nr;
}

void amp_free(struct amp_detector *d)
{
	u32 i;

	for (i = 0; d && i < d->nr; i++) {
		amp_list_free(&d->context[i].list);
		amp_list_free(&d->context[i].before);
	}
	if (d) {
		amp_owner_free(&d->owners);
		free(d->context);
		free(d->table);
	}
	free(d);
}
