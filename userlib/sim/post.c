// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a run asks of the disk, in its order: pages that are brought in and pages
 * that are written back. hipec trace play does it on a real one.
 */
#include <errno.h>

#include "../trace/reader.h"
#include "sim.h"

/* Of sim_note_read() and sim_note_write(). */
void sim_post_add(struct sim_post *p, u32 pgno, bool write)
{
	const struct trace_run run = { pgno, 1, write };

	/* There can be two for each access. */
	if (!p->ret && p->t.nr_accesses == SIM_MAX_ACCESSES)
		p->ret = -EOVERFLOW;
	if (!p->ret)
		p->ret = trace_add(NULL, &p->t, &run, NULL);
}
