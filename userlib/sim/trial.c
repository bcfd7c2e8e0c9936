// SPDX-License-Identifier: GPL-2.0-only
/*
 * Partitions on trial. Numbers that are not the paper's were chosen with the traces
 * of bench/amp/study.py and sixty mixes of bench/amp/mixes.py; docs/user/amp.md says what
 * they trade.
 *
 * Interface: trial.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"
#include "feed.h"

#define ACCOUNTS 1024		/* contexts that have one; all others share the first */
#define TABLE 4096

#define LOOK 1000		/* accesses from one look at the sums to the next */
#define LEAST 16		/* faults that are no evidence */
#define SHARE 0.01		/* of the frames: so many faults are evidence */
#define LATELY 4		/* times the frames, in accesses: half of the hits are forgotten */

static u32 account_of(struct amp_trial *t, u64 context)
{
	u32 i = amp_hash(context) % TABLE;

	if (!context)
		return 0;
	while (t->table[i] && t->account[t->table[i]].context != context)
		i = (i + 1) % TABLE;
	if (!t->table[i] && t->nr_accounts < ACCOUNTS) {
		t->table[i] = t->nr_accounts++;
		t->account[t->table[i]].context = context;
	}
	return t->table[i];
}

/* Return: whether it is a fault. */
static bool simulate(struct sim *s, u64 context, u32 page)
{
	u64 before = s->r->faults;
	u32 h;

	sim_tag(s, (struct trace_tag){ .context = context });
	if (sim_access(s, page, false, &h) > 0)
		sim_arrive(s, h, false);
	return s->r->faults != before;
}

/**
 * amp_trial_open() - begin
 * @t:      filled; amp_trial_close() it, also after an error
 * @p:      the policy of the real cache, one that is fed
 * @frames: of it, or the part of them that the noted pages are of all; 1 or more
 * @real:   its arrays
 * @used:   it is to get what is fed at once: what was learnt before is believed
 * @mode:   what it is told of hits
 *
 * Return: 0; -ENOMEM.
 */
int amp_trial_open(struct amp_trial *t, const struct hipec_policy *p, u32 frames,
		   const struct amp_arrays *real, bool used,
		   enum sim_mode mode)
{
	int ret;

	*t = (struct amp_trial){ .frames = frames, .real = *real, .used = used, .mode = mode,
				 .nr_accounts = 1,
				 .next = LOOK, .dear = 1 };
	t->account = calloc(ACCOUNTS, sizeof(*t->account));
	t->table = calloc(TABLE, sizeof(*t->table));
	ret = sim_open(&t->base, p, frames, t->mode, &t->base_r, NULL);
	ret = sim_open(&t->with, p, frames, t->mode, &t->with_r, NULL) ?: ret;
	if (ret || !t->account || !t->table)
		return -ENOMEM;
	sim_feed_arrays(&t->to, &t->with.core.vm);
	hipec_core_start(&t->base.core);
	hipec_core_start(&t->with.core);
	return 0;
}

void amp_trial_close(struct amp_trial *t)
{
	sim_close(&t->base);
	sim_close(&t->with);
	free(t->account);
	free(t->table);
}

/**
 * amp_trial_feed() - new patterns
 * @t:  trial
 * @p:  patterns
 * @nr: of them
 */
void amp_trial_feed(struct amp_trial *t, const struct amp_pattern *p, size_t nr)
{
	amp_feed(&t->to, p, nr);
	if (t->used)
		amp_feed_copy(&t->real, &t->to);
}

/*
 * What is at stake when the real cache changes sides: it holds other pages than the
 * side that it goes to, and may miss each one's next hit. Where the default has no
 * hits, as in a loop, that is nothing.
 */
static double stake(const struct amp_trial *t, double times)
{
	return fmax(LEAST, SHARE * t->frames) +
	       times * fmin(t->hits, t->frames);
}

static void use(struct amp_trial *t)
{
	t->used = true;
	t->behind = t->lag = t->cost = 0;
	if (t->real.keep)
		t->real.keep[0] = 0;
	amp_feed_copy(&t->real, &t->to);
}

/* A trial that was a loss makes the next one dearer. */
static void use_no_more(struct amp_trial *t)
{
	static const s64 zero[AMP_TABLE];
	const struct amp_arrays none = { (s64 *)zero, (s64 *)zero, (s64 *)zero,
					 (s64 *)zero, NULL };

	if (t->cost > 0)
		t->dear *= 2;
	t->used = false;
	t->left = true;
	t->ahead = 0;
	amp_feed_copy(&t->real, &none);
}

/* The real cache is to come to what the default holds. */
static void tell_pages(struct amp_trial *t)
{
	const struct hipec_vm *vm = &t->base.core.vm;
	s64 *keep = t->real.keep;
	u32 h, left = vm->nr_live;

	__atomic_store_n(&keep[0], 0, __ATOMIC_SEQ_CST);
	memset(keep + 1, 0, (AMP_KEEP - 1) * sizeof(*keep));
	for (h = 1; left; h++) {
		u32 page = vm->page[h].pgno;

		if (!hipec_page_live(vm, h))
			continue;
		left--;
		keep[1 + page / 32 % (AMP_KEEP - 1)] |= 1ll << page % 32;
	}
	__atomic_store_n(&keep[0], t->now, __ATOMIC_RELEASE);
}

static void look(struct amp_trial *t)
{
	double lost = fmax(t->behind, t->lag);

	t->next = t->now + LOOK;
	t->hits *= pow(0.5, (double)LOOK / t->frames / LATELY);
	if (t->used && lost >= stake(t, 1))
		use_no_more(t);
	else if (!t->used && t->ahead >= stake(t, t->dear) &&
		 t->with_r.faults < t->base_r.faults)
		use(t);
	if (!t->used && t->left && t->real.keep)
		tell_pages(t);
}

/* The sum of what comes since it was least. */
static void add(double *sum, int n)
{
	*sum = fmax(0, *sum + n);
}

/**
 * amp_trial_note() - an access
 * @t:       trial
 * @context: that it came from; 0: not known
 * @page:    accessed
 * @missed:  the real cache did not have it
 */
void amp_trial_note(struct amp_trial *t, u64 context, u32 page, bool missed)
{
	struct amp_account *a = &t->account[account_of(t, context)];
	int base = simulate(&t->base, context, page);
	int with = simulate(&t->with, context, page);

	a->faults += missed;
	a->default_faults += base;
	t->hits += !base;
	add(&t->ahead, base - with);
	add(&t->behind, with - base);
	add(&t->lag, (int)missed - base);
	t->cost += (int)missed - base;
	if (++t->now >= t->next)
		look(t);
}

/* What is known of a context; NULL: nothing. */
const struct amp_account *amp_trial_account(const struct amp_trial *t, u64 context)
{
	u32 i;

	for (i = 1; i < t->nr_accounts; i++)
		if (t->account[i].context == context)
			return &t->account[i];
	return NULL;
}
