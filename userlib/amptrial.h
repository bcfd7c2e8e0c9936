/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Partitions on trial: a loop found is no gain yet. The policy runs twice in the
 * simulator beside the real cache, on the same accesses: once without partitions, as
 * the default, and once with those of the patterns. The real cache gets them when the
 * second one has shown that they pay, and loses them when they do not.
 *
 * - A context that costs more than it saves in the trial is banned, for longer each
 *   time. What a page's absence costs is laid to the context that used the page last.
 * - The real cache is fed when the trial is ahead, and no more when it falls behind,
 *   or when the real cache itself is behind the default by AMP_DEBT of its misses.
 *
 * A clock of accesses noted. All numbers are of these: where only a part of the pages
 * is noted, by a hash of their numbers, @frames is to be that part of the frames.
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

#include "amp.h"
#include "simhost.h"

/* What is known of a context's faults. */
struct amp_account {
	u64 context;
	u64 accesses;
	u64 faults;		/* of the real cache */
	u64 default_faults;	/* of the default, in the simulator */
	u64 again, again_missed;	/* accesses to pages known, faults of the default */
	double balance;		/* what its partition costs, negative: saves */
	bool kept;		/* it had a partition when it was fed last */
	u64 banned;		/* until then; 0: never was */
	u64 ban;		/* for so long the last time */
};

struct amp_trial {
	struct sim base, with;
	struct sim_result base_r, with_r;
	struct amp_arrays to, real;	/* of the trial, and of the real cache */
	u32 frames;
	enum sim_mode mode;
	u64 now;		/* accesses noted */
	struct amp_account *account;	/* the first: of contexts not known */
	u32 nr_accounts;
	u16 *table;		/* of them, by context */
	struct amp_user *user;	/* of pages, by number */
	u32 nr_users, user_bits;
	struct amp_pattern *pattern;	/* fed last */
	size_t nr_patterns;
	double other;		/* what the partitions cost all other contexts */
	double score;		/* what they cost in the trial lately */
	double debt;		/* what they cost the real cache */
	bool used;		/* the real cache has them */
	u64 next;		/* when to look next */
	u64 wait, waits;	/* no more of it until then; for so long the last time */
	u64 uses;		/* times that it got them */
};

int amp_trial_open(struct amp_trial *t, const struct hipec_policy *p, u32 frames,
		   const struct amp_arrays *real, bool used,
		   enum sim_mode mode);
int amp_trial_note(struct amp_trial *t, u64 context, u32 page, bool missed);
int amp_trial_feed(struct amp_trial *t, const struct amp_pattern *p, size_t nr);
const struct amp_account *amp_trial_account(const struct amp_trial *t, u64 context);
void amp_trial_close(struct amp_trial *t);

#endif /* HIPEC_AMPTRIAL_H */
