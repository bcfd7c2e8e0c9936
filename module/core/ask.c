// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a policy give a page up: Replace, with what belongs to it. For others it does so
 * ahead, in tasks of its own container: they take what it has named.
 *
 * Interface:
 * hipec_core_ask()         a page goes now
 * hipec_core_choose()      pages are given up ahead
 * hipec_core_refill()      so that there are enough of them again
 * hipec_core_most_chosen()  of a container that shares
 */
#include "core.h"

/* Ask the policy. Return: whether it gave a page up. */
static bool ask_policy(struct hipec_core *core, const struct hipec_demand *d)
{
	u64 before = core->counters.evictions + core->nr_chosen;

	/* All that it knows of is being read or written, or cannot go. */
	if (core->vm.nr_live == core->vm.queue[HIPEC_QUEUE_FALLBACK].count)
		return false;
	hipec_core_harvest(core);
	hipec_core_replace(core, d);
	if (core->counters.evictions + core->nr_chosen != before) {
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
 * Context: expects the lock, and not the pool's; may sleep.
 * Return: whether a page has gone, or was named.
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

/**
 * hipec_core_most_chosen() - how many pages a container is to have named
 * @core: container that shares
 *
 * None where no page of its may be taken.
 *
 * Context: expects the lock, or the pool's: then the answer is old when it is given.
 * Return: pages.
 */
u32 hipec_core_most_chosen(const struct hipec_core *core)
{
	u32 held = hipec_core_held(core);
	u32 spare = held > core->min_frames ? held - core->min_frames : 0;

	return spare / 8 < HIPEC_MAX_CHOSEN ? (spare + 7) / 8 : HIPEC_MAX_CHOSEN;
}

/**
 * hipec_core_choose() - have the policy give pages up ahead
 * @core: container
 * @d:    what for
 * @most: so that there are so many, HIPEC_MAX_CHOSEN at most; fewer if it gives none
 *
 * Context: expects the lock, and not the pool's; may sleep.
 */
void hipec_core_choose(struct hipec_core *core, const struct hipec_demand *d, u32 most)
{
	u32 tries;

	for (tries = 0; tries < most && core->nr_chosen < most; tries++) {
		if (hipec_fifo2_rules(&core->vm))
			break;
		core->naming = true;
		if (!hipec_core_ask(core, d))
			tries = most;
		core->naming = false;
	}
}

/**
 * hipec_core_refill() - have a policy name pages for others, and hear what they took
 * @core: container that shares
 *
 * For a task that no other one waits for. A policy that names none is left alone until its own
 * container wants a frame.
 *
 * Context: expects the lock, and not the pool's; may sleep.
 */
void hipec_core_refill(struct hipec_core *core)
{
	const struct hipec_demand d = { .pgno = HIPEC_NO_PGNO, .want = 1 };

	if (core->vm.exit.kind)
		return;
	hipec_core_catch_up(core);
	hipec_core_choose(core, &d, hipec_core_most_chosen(core));
	core->chosen_none = !core->nr_chosen;
}
