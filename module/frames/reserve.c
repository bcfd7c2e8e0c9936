// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reservation of a container, all at its load: frames that nobody takes.
 *
 * Interface:
 * hipec_frames_reserve()
 */
#include <linux/sched/signal.h>

#include "frames.h"

static int grow_to_reserved(struct hipec_container *c, u64 nr)
{
	while (c->core.nr_frames < nr) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!hipec_core_grow(&c->core, 1, HIPEC_EFFORT_MOST))
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

/**
 * hipec_frames_reserve() - get all frames of a container
 * @c:      container that has none
 * @nr:     pages
 * @beside: pages that must be left when it has them
 *
 * All or nothing, without the OOM killer: a budget that the machine or the
 * caller's memory cgroup cannot give is refused. What must be left is taken as well
 * and given back, as only reclaim knows how much there is.
 *
 * Context: process context, may sleep; takes c->lock; @c is not shared yet.
 * Return: 0; -ENOMEM if there is not enough memory; -EINTR on a fatal signal.
 */
int hipec_frames_reserve(struct hipec_container *c, u32 nr, u64 beside)
{
	int ret;

	if (nr + beside > si_mem_available())
		return -ENOMEM;
	mutex_lock(&c->lock);
	ret = grow_to_reserved(c, nr + beside);
	if (ret)
		hipec_frames_free(c);
	while (c->core.nr_frames > nr)
		hipec_frame_shed(c);
	mutex_unlock(&c->lock);
	return ret;
}
