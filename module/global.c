// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which global policy the pool's manager runs, and the manager's memory: of the
 * pool, in no cgroup, from the first container that shares until the module goes.
 *
 * Interface:
 * hipec_global_check()   at the module's load: is there such a policy?
 * hipec_global_start(), _stop()   the manager
 */
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "internal.h"
#include "core/fifo2mr.h"

static const char *const names[] = {
	[HIPEC_MR_FIFO2] = "fifo2-mr",
	[HIPEC_MR_AWST] = "awst",
};

static char *global = "fifo2-mr";
module_param(global, charp, 0444);
MODULE_PARM_DESC(global, "whose page goes when the pool is full: fifo2-mr (the default), or awst, first in first out between a min and a max for each container");

/**
 * hipec_global_check() - whether the parameter names a policy
 *
 * Context: process context.
 * Return: 0; -EINVAL.
 */
int hipec_global_check(void)
{
	if (match_string(names, ARRAY_SIZE(names), global) >= 0)
		return 0;
	pr_err("global is '%s', not fifo2-mr or awst\n", global);
	return -EINVAL;
}

/**
 * hipec_global_start() - make a manager without pages
 * @mr:        to fill
 * @ops:       its host
 * @most:      pages that may be in; there are entries for a few first
 * @nr_owners: containers, numbered from 0
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM, with @mr as it was.
 */
int hipec_global_start(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
		       u32 most, u32 nr_owners)
{
	bool awst = !strcmp(global, names[HIPEC_MR_AWST]);
	struct hipec_mr_owner *owner =
		awst ? vzalloc(nr_owners * sizeof(*owner)) : NULL;
	struct hipec_mr_frame *frame;
	u64 *stamp;
	u32 nr;

	if ((awst && !owner) || hipec_entries_make(most, awst, &frame, &stamp, &nr)) {
		vfree(owner);
		return -ENOMEM;
	}
	if (awst)
		hipec_mr_init_awst(mr, ops, frame, nr, stamp, owner, nr_owners);
	else
		hipec_mr_init(mr, ops, frame, nr);
	return 0;
}

/* Free its memory, if it has any. Context: process context, may sleep. */
void hipec_global_stop(struct hipec_mr *mr)
{
	hipec_entries_free();
	vfree(mr->owner);
}
