// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of revocation: what it promises, and verdicts on windows.
 */
#include "contract.h"

/*
 * Chosen by bench/cost/revoke/table.py, all policies on 17 traces, 3,354 runs:
 *
 * excess   Measured as the contract does, in each of four successive windows, a
 *          policy that costs at most 5 % more than the default reached +16.0 %,
 *          one that costs 40 % more had +40.7 % at least. Between the two; for a
 *          sample of one page in 8 of 4096 frames the measure itself varies by
 *          2 % (standard deviation, 100 salts), by 6 % where the pages are
 *          a little more than the frames and all are alike.
 * frames   In as many faults as it has frames a container changes all its pages:
 *          a window must be longer than the change from one working set to the
 *          next, which is dear for any policy.
 * windows  What an unlucky sample or one change of phase makes of a window it must
 *          not make of all. With four, a policy that is bad from the start was
 *          revoked after 14 faults for each frame at most.
 * faults   Or a container of a few frames would be judged by a handful.
 */
const struct hipec_contract hipec_contract_default = {
	.excess = 25,
	.windows = 4,
	.frames = 2,
	.faults = 512,
};

/* Whether @a is more than @b and the contract's excess. */
static bool exceeds_bound(const struct hipec_contract *c, u64 a, u64 b)
{
	return a * 100 > b * (100 + c->excess);
}

/*
 * Two estimates, and both must say so. Of all faults against the sampled ones of
 * the default, scaled: wrong by a few percent if more or fewer pages were sampled
 * than there should be. Of sampled faults alone: right to a fault for a policy
 * that does much what the default does, but wrong if few pages have most faults
 * and happen to be sampled. Both are taken as high as the judge may have missed
 * faults of the default: it sees touches of dropped pages late, and of a policy
 * that hits many of these in a row it believes that the default would have, too.
 */
static bool is_bad(const struct hipec_contract *c,
		   const struct hipec_window *w)
{
	u64 most = w->standard + hipec_window_missed(w->late, w->unseen);

	return exceeds_bound(c, w->faults, most << w->shift) && exceeds_bound(c, w->sampled, most);
}

/**
 * hipec_contract_window() - length of a window
 * @c:      contract
 * @frames: of the container
 *
 * Return: faults.
 */
u64 hipec_contract_window(const struct hipec_contract *c, u32 frames)
{
	u64 faults = (u64)c->frames * frames;

	return faults < c->faults ? c->faults : faults;
}

/**
 * hipec_contract_close_window() - judge a policy, if a window has ended
 * @w: windows
 *
 * To be asked after each page that came in. A policy that costs too much from some
 * fault on is revoked before windows + 1 windows have gone by, the one that is under
 * way included. last has the counts of the closed window.
 *
 * Context: any, serialised by the host.
 * Return: HIPEC_VERDICT_NONE within a window; else what it says.
 * Source: ours; hipec-1997 leaves the thresholds open ("Ill-advised
 *         applications").
 */
enum hipec_verdict hipec_contract_close_window(struct hipec_windows *w)
{
	const struct hipec_contract *c = w->contract;

	if (w->open.faults < hipec_contract_window(c, w->frames))
		return HIPEC_VERDICT_NONE;
	w->open.shift = w->shift;
	w->last = w->open;
	memset(&w->open, 0, sizeof(w->open));
	hipec_estimate_add(&w->sum, &w->last);
	if (!is_bad(c, &w->last)) {
		w->nr_bad = 0;
		return HIPEC_VERDICT_GOOD;
	}
	w->nr_bad++;
	return w->nr_bad < c->windows ? HIPEC_VERDICT_BAD : HIPEC_VERDICT_REVOKE;
}
