/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Partitions on trial: a loop found is no gain yet. The policy runs twice in the
 * simulator beside the real cache, on the same accesses: once without partitions, as
 * the default, and once with those of the patterns. The real cache changes sides when
 * the other one has saved what the change may cost: the hits of the default lately,
 * one for each frame at most. It goes back also when it is itself as far behind.
 *
 * Having gone back it holds other pages than the default would, and ARC may keep a
 * part of a loop that it will not find again by itself. So the policy is told of the
 * pages that the default has in the simulator, and all others go first.
 *
 * A clock of accesses noted. All numbers are of these: where only a part of the pages
 * is noted, by a hash of their numbers, @frames is to be that part of the frames, and
 * @real->keep NULL, since of the others it is not known whether the default has them.
 *
 * Interface:
 * amp_trial_open(), _close()
 * amp_trial_note()     an access
 * amp_trial_feed()     patterns -> the trial, and the real cache if it is to have them
 * amp_trial_account()  what a context has saved
 *
 * Source: ours; the papers have no guard. AMP-READINGS, "What to expect".
 */
#ifndef HIPEC_AMPTRIAL_H
#define HIPEC_AMPTRIAL_H

#include "../amp/amp.h"
#include "host.h"

/* What is known of a context's faults. */
struct amp_account {
	u64 context;
	u64 faults;		/* of the real cache */
	u64 default_faults;	/* of the default, in the simulator */
};

struct amp_trial {
	struct sim base, with;
	struct sim_result base_r, with_r;
	struct amp_arrays to, real;	/* of the trial, and of the real cache */
	u32 frames;
	enum sim_mode mode;
	u64 now;		/* accesses noted */
	u64 next;		/* when to look next */
	struct amp_account *account;	/* the first: of contexts not known */
	u32 nr_accounts;
	u16 *table;		/* of them, by context */
	double hits;		/* of the default lately */
	bool used;		/* the real cache has the partitions */
	bool left;		/* it had, and has not */
	double dear;		/* times the stake to get them; twice as much after a loss */
	/* Faults, since the sum was least: */
	double ahead, behind;	/* that the partitions save and cost in the trial */
	double lag;		/* that they cost the real cache */
	double cost;		/* the same, since it has got them */
};

int amp_trial_open(struct amp_trial *t, const struct hipec_policy *p, u32 frames,
		   const struct amp_arrays *real, bool used,
		   enum sim_mode mode);
void amp_trial_note(struct amp_trial *t, u64 context, u32 page, bool missed);
void amp_trial_feed(struct amp_trial *t, const struct amp_pattern *p, size_t nr);
const struct amp_account *amp_trial_account(const struct amp_trial *t, u64 context);
void amp_trial_close(struct amp_trial *t);

#endif /* HIPEC_AMPTRIAL_H */
