/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract of revocation: windows of what a policy brought in, and of what the default,
 * FIFO with a second chance (policies/fifo2.hp), would have; and what is known of that.
 *
 * Interface:
 * hipec_contract_window()       length of a window
 * hipec_contract_close_window() at the end of one: whether to revoke
 * hipec_estimate_add()          a window has been closed
 * hipec_estimate_bounds()       least and most that the default brought in
 */
#ifndef HIPEC_CORE_CONTRACT_H
#define HIPEC_CORE_CONTRACT_H

#include "sampling.h"

/*
 * A policy that in each of @windows successive windows of @frames faults for each
 * frame, and of @faults at least, costs its owner more than @excess percent more
 * faults than the default is revoked.
 */
struct hipec_contract {
	u32 excess;
	u32 windows;
	u32 frames;
	u32 faults;
};

extern const struct hipec_contract hipec_contract_default;

/* One of them. How much classes differ says how far off all together may be (estimate.c). */
struct hipec_window {
	u32 faults;	/* pages that came in */
	u32 sampled;	/* those of them that are sampled */
	u32 standard;	/* sampled pages that the default would have brought in */
	u32 shift;	/* each of which stands for 2^shift pages */
	u32 late;	/* of the default's, those that were seen late */
	u32 unseen;	/* and those that were not seen, but made up for */
	u32 class_sampled[HIPEC_CLASSES];	/* sampled, by class of the page */
	u32 class_standard[HIPEC_CLASSES];	/* standard, by class of the page */
};

/*
 * By how many too few the default's faults may be, of which so many were seen late, or were
 * not seen but made up for: one more for eight of those, three more for each of these.
 * Measured by bench/cost/interval.py.
 */
static inline u64 hipec_window_missed(u64 late, u64 unseen)
{
	return late / 8 + unseen * 3;
}

enum hipec_verdict {
	HIPEC_VERDICT_NONE,	/* the window goes on */
	HIPEC_VERDICT_GOOD,
	HIPEC_VERDICT_BAD,	/* but not for long enough */
	HIPEC_VERDICT_REVOKE,
};

/* Sums of windows; those of sampled pages are scaled. All zero: none yet. */
struct hipec_estimate {
	u64 faults;		/* pages that came in */
	u64 late, unseen;	/* of the default's, as in struct hipec_window */
	u64 sampled[HIPEC_CLASSES];	/* of faults, by the sample */
	u64 standard[HIPEC_CLASSES];	/* the default's */
	bool partial;		/* some window had not all pages sampled */
};

/* Pages that the default brought in; most is 0 if nothing is known. */
struct hipec_bounds {
	u64 least, most;
};

/**
 * struct hipec_windows - of one container
 * @contract: that its policy is held to
 * @shift:    one page in 1 << @shift is sampled
 * @frames:   of the container
 * @open, @last: the one under way, and the one before
 * @nr_bad:   the last so many closed ones in a row
 * @sum:      all closed ones
 */
struct hipec_windows {
	const struct hipec_contract *contract;
	u32 shift;
	u32 frames;
	struct hipec_window open, last;
	u32 nr_bad;
	struct hipec_estimate sum;
};

u64 hipec_contract_window(const struct hipec_contract *c, u32 frames);
enum hipec_verdict hipec_contract_close_window(struct hipec_windows *w);
void hipec_estimate_add(struct hipec_estimate *e, const struct hipec_window *w);
struct hipec_bounds hipec_estimate_bounds(const struct hipec_estimate *e);

#endif /* HIPEC_CORE_CONTRACT_H */
