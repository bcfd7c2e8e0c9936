// SPDX-License-Identifier: GPL-2.0-only
/*
 * Partitions on trial. Numbers that are not the paper's were chosen with the traces
 * of bench/ampstudy.py; docs/amp.md says what they trade.
 *
 * Interface: amptrial.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "amptrial.h"
#include "simfeed.h"

#define ACCOUNTS 1024		/* contexts that have one; all others share the first */
#define TABLE 4096
#define USER_BITS 12		/* pages at first, as a power of two */
#define MOST_USER_BITS 21	/* with more of them all are forgotten */

#define LOOK 1000		/* accesses from one look at the sums to the next */
#define LEAST 16		/* faults that are no evidence */
#define SHARE 0.01		/* of the frames: so many faults are evidence */
#define DEBT 0.01		/* of the default's faults: the real cache may be behind */
#define LATELY 20		/* times the frames: the last faults */
#define ON 0.01			/* of these: what the trial must save, and at least */
#define ENOUGH 0.1		/* of the frames */
#define FORGIVE 20		/* times the frames, in accesses: half a debt is forgotten */
#define CREDIT 0.02		/* of the frames: it may be ahead */
#define GAINS 4			/* times the evidence: a context's balance at best */
#define WORTH 0.5		/* of a loop's accesses that the default misses at least */
#define LONG 2			/* times the frames: accesses of a one-shot context */
#define BAN 8			/* times the frames, in accesses: the first one */
#define WAIT 2

/* Who used a page last. */
struct amp_user {
	u32 page;		/* and one; 0: nobody's */
	u16 account;
};

/* Faults that say something. */
static double evidence(const struct amp_trial *t)
{
	return fmax(LEAST, SHARE * t->frames);
}

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

static struct amp_user *place_of(struct amp_user *user, u32 bits, u32 page)
{
	u32 mask = (1u << bits) - 1, i = amp_hash(page) & mask;

	while (user[i].page && user[i].page != page + 1)
		i = (i + 1) & mask;
	return &user[i];
}

/* Room for twice as many pages, or for all anew. */
static int grow(struct amp_trial *t)
{
	u32 bits = t->user_bits + 1, i;
	struct amp_user *user;

	if (bits > MOST_USER_BITS) {
		memset(t->user, 0, sizeof(*t->user) << t->user_bits);
		t->nr_users = 0;
		return 0;
	}
	user = calloc((size_t)1 << bits, sizeof(*user));
	if (!user)
		return -ENOMEM;
	for (i = 0; i < 1u << t->user_bits; i++)
		if (t->user[i].page)
			*place_of(user, bits, t->user[i].page - 1) = t->user[i];
	free(t->user);
	t->user = user;
	t->user_bits = bits;
	return 0;
}

/* Account @who uses the page. Return: who did before; -1: nobody; -ENOMEM. */
static int use(struct amp_trial *t, u32 page, u32 who)
{
	struct amp_user *u;
	int before;

	if (t->nr_users * 2 >= 1u << t->user_bits && grow(t))
		return -ENOMEM;
	u = place_of(t->user, t->user_bits, page);
	before = u->page ? u->account : -1;
	t->nr_users += !u->page;
	*u = (struct amp_user){ page + 1, who };
	return before;
}

static void simulate(struct sim *s, u64 context, u32 page)
{
	u32 h;

	sim_tag(s, (struct sim_tag){ .context = context });
	if (sim_access(s, page, false, &h) > 0)
		sim_arrive(s, h, false);
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
 * Context: any.
 * Return: 0; -ENOMEM.
 */
int amp_trial_open(struct amp_trial *t, const struct hipec_policy *p, u32 frames,
		   const struct amp_arrays *real, bool used,
		   enum sim_mode mode)
{
	int ret;

	*t = (struct amp_trial){ .frames = frames, .real = *real, .used = used, .mode = mode,
				 .nr_accounts = 1, .user_bits = USER_BITS,
				 .next = LOOK };
	t->account = calloc(ACCOUNTS, sizeof(*t->account));
	t->table = calloc(TABLE, sizeof(*t->table));
	t->user = calloc(1u << USER_BITS, sizeof(*t->user));
	ret = sim_open(&t->base, p, frames, t->mode, &t->base_r, NULL);
	ret = sim_open(&t->with, p, frames, t->mode, &t->with_r, NULL) ?: ret;
	if (ret || !t->account || !t->table || !t->user)
		return -ENOMEM;
	sim_feed_arrays(&t->to, &t->with.vm);
	sim_start(&t->base);
	sim_start(&t->with);
	return 0;
}

void amp_trial_close(struct amp_trial *t)
{
	sim_close(&t->base);
	sim_close(&t->with);
	free(t->account);
	free(t->table);
	free(t->user);
	free(t->pattern);
}

/* An access cost one fault more, or less, than in the default. */
static void charge(struct amp_trial *t, struct amp_account *who, int cost)
{
	double most = evidence(t);

	if (who->context && amp_feed_part(&t->to, who->context))
		who->balance = fmax(who->balance + cost, -GAINS * most);
	else
		t->other = fmax(t->other + cost, -most);
}

/*
 * Is the context worth a partition? A loop, if it has one, or if the default does not
 * serve it; one that uses its pages once, if it did so for long: all first rounds of
 * loops look the same.
 */
static bool is_worth(const struct amp_trial *t, const struct amp_account *a,
		     enum amp_kind kind)
{
	if (t->used && !t->now)
		return true;	/* an earlier run says so */
	if (kind == AMP_ONE_SHOT)
		return amp_feed_part(&t->to, a->context) ||
		       a->accesses > (u64)LONG * t->frames;
	return kind == AMP_LOOPING &&
	       (amp_feed_part(&t->to, a->context) ||
		(a->again >= LEAST && a->again_missed > WORTH * a->again));
}

/* The patterns as they may be used: others than those are the default's. */
static int feed_trial(struct amp_trial *t)
{
	struct amp_pattern *p = malloc((t->nr_patterns + 1) * sizeof(*p));
	size_t i, n = 0;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < t->nr_patterns; i++) {
		struct amp_account *a;

		p[n] = t->pattern[i];
		a = &t->account[account_of(t, p[n].context)];
		a->kept = a->context && a->banned <= t->now &&
			  is_worth(t, a, p[n].kind);
		n += a->kept;
	}
	amp_feed(&t->to, p, n);
	free(p);
	if (t->used)
		amp_feed_copy(&t->real, &t->to);
	return 0;
}

/**
 * amp_trial_feed() - new patterns
 * @t:  trial
 * @p:  patterns; copied
 * @nr: of them
 *
 * Context: any.
 * Return: 0; -ENOMEM, and the ones before stay.
 */
int amp_trial_feed(struct amp_trial *t, const struct amp_pattern *p, size_t nr)
{
	struct amp_pattern *copy = malloc((nr + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, p, nr * sizeof(*copy));
	free(t->pattern);
	t->pattern = copy;
	t->nr_patterns = nr;
	return feed_trial(t);
}

static void ban(struct amp_trial *t, struct amp_account *a)
{
	a->ban = a->ban ? 4 * a->ban : (u64)BAN * t->frames;
	a->banned = t->now + a->ban;
	a->balance = 0;
}

/* Look for contexts whose partitions do not pay. Return: whether there was one. */
static bool ban_some(struct amp_trial *t)
{
	struct amp_account *a, *least = NULL;
	double gains = 0;
	bool any = false;

	for (a = t->account + 1; a < t->account + t->nr_accounts; a++) {
		if (!amp_feed_part(&t->to, a->context))
			continue;
		if (a->balance > evidence(t)) {
			ban(t, a);
			any = true;
			continue;
		}
		gains += fmin(0, a->balance);
		if (!least || a->balance > least->balance)
			least = a;
	}
	if (any || !least || t->other + gains <= evidence(t))
		return any;
	ban(t, least);
	t->other = 0;
	return true;
}

/* Faults of the default, the last ones at most. */
static double lately(const struct amp_trial *t)
{
	return fmin(t->base_r.faults, (double)LATELY * t->frames);
}

/* How far the real cache may be behind the default, faults. */
static double most_debt(const struct amp_trial *t)
{
	return fmax(LEAST, DEBT * lately(t));
}

static void use_or_not(struct amp_trial *t)
{
	static const s64 zero[AMP_TABLE];
	const struct amp_arrays none = { (s64 *)zero, (s64 *)zero, (s64 *)zero,
					 (s64 *)zero };

	if (!t->used) {
		if (t->score >= -fmax(ENOUGH * t->frames, lately(t) * ON) || t->debt >= most_debt(t) / 2 ||
		    t->now < t->wait)
			return;
		t->used = true;
		t->uses++;
		amp_feed_copy(&t->real, &t->to);
		return;
	}
	if (t->score <= evidence(t) / 2 && t->debt <= most_debt(t) - 0.5 * fmin(t->score, 0))
		return;
	t->used = false;
	amp_feed_copy(&t->real, &none);
	if (t->debt > most_debt(t)) {
		t->waits = t->waits ? 2 * t->waits : (u64)WAIT * t->frames;
		t->wait = t->now + t->waits;
	}
}

static int look(struct amp_trial *t)
{
	t->next = t->now + LOOK;
	t->score *= pow(0.5, (double)LOOK / t->frames);
	t->debt *= pow(0.5, (double)LOOK / t->frames / FORGIVE);
	use_or_not(t);
	return ban_some(t) ? feed_trial(t) : 0;
}

/**
 * amp_trial_note() - an access
 * @t:       trial
 * @context: that it came from; 0: not known
 * @page:    accessed
 * @missed:  the real cache did not have it
 *
 * Context: any.
 * Return: 0; -ENOMEM.
 */
int amp_trial_note(struct amp_trial *t, u64 context, u32 page, bool missed)
{
	u64 base = t->base_r.faults, with = t->with_r.faults;
	u32 who = account_of(t, context);
	struct amp_account *a = &t->account[who];
	int before = use(t, page, who);

	if (before < -1)
		return before;
	simulate(&t->base, context, page);
	simulate(&t->with, context, page);
	base = t->base_r.faults - base;
	with = t->with_r.faults - with;
	a->accesses++;
	a->faults += missed;
	a->default_faults += base;
	if (before >= 0) {
		a->again++;
		a->again_missed += base;
		if (a->again > 2ull * t->frames) {
			a->again /= 2;
			a->again_missed /= 2;
		}
		charge(t, &t->account[before], (int)with - (int)base);
	}
	t->score += (double)with - base;
	t->debt = fmax(t->debt + missed - base, -CREDIT * t->frames);
	return ++t->now < t->next ? 0 : look(t);
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
