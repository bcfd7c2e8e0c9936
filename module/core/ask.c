// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a policy give a page up: Replace, with what belongs to it.
 */
#include "core.h"

/* Ask the policy. Return: whether it gave a page up. */
static bool ask_policy(struct hipec_core *core, const struct hipec_demand *d)
{
	u64 before = core->counters.evictions;

	/* All that it knows of is being read or written, or cannot go. */
	if (core->vm.nr_live == core->vm.queue[HIPEC_QUEUE_FALLBACK].count)
		return false;
	hipec_core_harvest(core);
	hipec_core_replace(core, d);
	if (core->counters.evictions != before) {
		core->helped_in_a_row = 0;
		return true;
	}
	if (core->vm.exit.kind)
		return false;
	core->counters.helped++;
	if (++core->helped_in_a_row == HIPEC_MAX_HELPED)
		hipec_core_end(core, HIPEC_EXIT_NO_VICTIM);
	return false;
}

/**
 * hipec_core_ask() - have the policy give a page up
 * @core: container whose policy has not ended
 * @d:    what for; the frame stays with the container if it is @d->whom
 *
 * A page that the policy has forgotten goes first.
 *
 * Context: expects the lock, and the pool's if @core is not @d->whom; may sleep.
 * Return: whether a page has gone.
 */
bool hipec_core_ask(struct hipec_core *core, const struct hipec_demand *d)
{
	bool gone = true;
	u32 victim;

	core->demand = d;
	if (!core->vm.queue[HIPEC_QUEUE_FALLBACK].count ||
	    !hipec_core_evict_orphan(core, d->whom == core, &victim)) {
		gone = ask_policy(core, d);
	} else {
		core->counters.forgotten++;
		hipec_core_remove(core, victim);
	}
	core->demand = NULL;
	return gone;
}
