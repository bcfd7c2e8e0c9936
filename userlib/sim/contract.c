// SPDX-License-Identifier: GPL-2.0-only
/*
 * What revocation's contract says of a policy that the simulator runs. The module
 * would revoke it; here it goes on, so that it can be told what it costs.
 */
#include "../../module/core/core.h"
#include "sim.h"

/* By how many percent more is @a than @b? */
static double excess(u64 a, u64 b)
{
	double percent = b ? 100.0 * a / b - 100 : SIM_MAX_EXCESS;

	return percent < SIM_MAX_EXCESS ? percent : SIM_MAX_EXCESS;
}

/* The contract looks at the lower one of two estimates: contract.c. */
static double window_excess(const struct hipec_window *w)
{
	u64 most = w->standard + hipec_window_missed(w->late, w->unseen);
	double all = excess(w->faults, most << w->shift);
	double sampled = excess(w->sampled, most);

	return all < sampled ? all : sampled;
}

/**
 * sim_contract_begin() - nothing was said yet
 * @c: filled, but for its salt
 */
void sim_contract_begin(struct sim_contract *c)
{
	*c = (struct sim_contract){ .salt = c->salt, .worst = -100 };
}

/**
 * sim_contract_note() - note what the judge has to say of a window
 * @c:       what was noted
 * @w:       windows
 * @verdict: of the window that is closed
 * @faults:  so far
 */
void sim_contract_note(struct sim_contract *c, const struct hipec_windows *w,
		       enum hipec_verdict verdict, u64 faults)
{
	u32 n = w->contract->windows, i;
	double lowest;

	c->estimate += (u64)w->last.standard << w->last.shift;
	c->closed_estimate = c->estimate;
	c->watched += w->last.faults;
	c->recent[c->nr_windows++ % SIM_MAX_WINDOWS] = window_excess(&w->last);
	if (verdict == HIPEC_VERDICT_REVOKE && !c->revoked_at) {
		c->revoked_at = faults;
		c->revoked_in = c->nr_windows;
	}
	if (n > SIM_MAX_WINDOWS || c->nr_windows < n)
		return;
	lowest = c->recent[(c->nr_windows - n) % SIM_MAX_WINDOWS];
	for (i = c->nr_windows - n; i < c->nr_windows; i++)
		if (c->recent[i % SIM_MAX_WINDOWS] < lowest)
			lowest = c->recent[i % SIM_MAX_WINDOWS];
	if (lowest > c->worst)
		c->worst = lowest;
}

/**
 * sim_contract_end() - count what is in no closed window
 * @c:    what was noted
 * @core: container
 */
void sim_contract_end(struct sim_contract *c, const struct hipec_core *core)
{
	struct hipec_estimate sum = core->windows.sum;
	struct hipec_window open = core->windows.open;

	open.shift = core->windows.shift;
	hipec_estimate_add(&sum, &open);
	c->bounds = hipec_estimate_bounds(&sum);
	c->watched += open.faults;
	c->estimate += (u64)open.standard << open.shift;
	c->looks = core->judge ? core->judge->nr_looks : 0;
}
