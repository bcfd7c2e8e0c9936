// SPDX-License-Identifier: GPL-2.0-only
/*
 * What revocation's contract says of a policy that the simulator runs. The module
 * would revoke it; here it goes on, so that it can be told what it costs.
 */
#include "sim.h"

/* By how many percent more is @a than @b? */
static double excess(u64 a, u64 b)
{
	double percent = b ? 100.0 * a / b - 100 : SIM_MAX_EXCESS;

	return percent < SIM_MAX_EXCESS ? percent : SIM_MAX_EXCESS;
}

/* The contract looks at the lower one of two estimates: contract.c. */
static double window_excess(const struct hipec_shadow_window *w)
{
	double all = excess(w->faults, (u64)w->shadow << w->shift);
	double sampled = excess(w->sampled, w->shadow);

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
 * sim_contract_note() - note what the shadow has to say of a window
 * @c:       what was noted
 * @s:       shadow
 * @verdict: of the window that is closed
 * @faults:  so far
 */
void sim_contract_note(struct sim_contract *c, const struct hipec_shadow *s,
		       enum hipec_shadow_verdict verdict, u64 faults)
{
	u32 n = s->contract->windows, i;
	double lowest;

	c->estimate += (u64)s->last.shadow << s->last.shift;
	c->closed_estimate = c->estimate;
	c->watched += s->last.faults;
	hipec_estimate_add(&c->sums, &s->last);
	c->recent[c->nr_windows++ % SIM_MAX_WINDOWS] = window_excess(&s->last);
	if (verdict == HIPEC_SHADOW_REVOKE && !c->revoked_at) {
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
 * @c: what was noted
 * @s: shadow
 */
void sim_contract_end(struct sim_contract *c, const struct hipec_shadow *s)
{
	struct hipec_shadow_window open = s->window;

	open.shift = s->shift;
	hipec_estimate_add(&c->sums, &open);
	c->bounds = hipec_estimate_bounds(&c->sums);
	c->watched += open.faults;
	c->estimate += (u64)open.shadow << open.shift;
	c->looks = s->nr_looks;
}
