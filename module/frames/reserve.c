// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reservation of a container, all at its load: frames that nobody takes.
 *
 * Interface:
 * hipec_frames_load()     a container gets its frames
 * hipec_frames_reserve()  all of them, or none
 */
#include <linux/sched/signal.h>

#include "frames.h"

/* Pages that a process needs beside its reservation: half a MB. */
#define HIPEC_PROCESS_PAGES 128

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

/*
 * Reserved frames never leave their cgroup: where they and the tables are nearly all
 * that it may have, the process itself is next to be killed, for a page table.
 */
static int reserve_all(struct hipec_container *c, u32 nr, struct hipec_text *log)
{
	u32 entries = hipec_vm_nr_pages(&c->policy, nr);
	u64 tables = hipec_columns_bytes(&c->policy, c->host->row, entries) +
		     hipec_vm_table_size(&c->policy, 0);
	u64 beside = DIV_ROUND_UP_ULL(tables, PAGE_SIZE) + HIPEC_PROCESS_PAGES;
	int ret = hipec_frames_reserve(c, nr, beside);

	if (ret == -ENOMEM) {
		hipec_text_num(log, nr);
		hipec_text_str(log, " frames, ");
		hipec_text_num(log, beside - HIPEC_PROCESS_PAGES);
		hipec_text_str(log, " pages of tables and ");
		hipec_text_num(log, HIPEC_PROCESS_PAGES);
		hipec_text_str(log, " for the process are more than the memory cgroup, or the machine, has left");
	}
	return ret;
}

/**
 * hipec_frames_load() - a container's frames, and whom they are charged to
 * @c:   container that is being loaded; its policy is parsed, and it has joined the pool if it shares
 * @nr:  pages; of one that shares, which gets them later, the most that it gets
 * @log: gets what there is too little of
 *
 * Context: process context, may sleep; nobody else uses @c.
 * Return: 0; -ENOMEM if there is not enough memory; -EINTR on a fatal signal.
 */
int hipec_frames_load(struct hipec_container *c, u32 nr, struct hipec_text *log)
{
	int ret = hipec_cgroup_join(c, c->core.pool);

	return ret || c->core.pool ? ret : reserve_all(c, nr, log);
}
