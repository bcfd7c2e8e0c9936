// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of the module: of timers, and of regions that end where nobody shall wait.
 * Those of I/O are frames/volume.c's.
 *
 * Interface:
 * hipec_wq, hipec_end_wq
 * hipec_work_init(), _exit()
 */
#include "base.h"

struct workqueue_struct *hipec_wq, *hipec_end_wq;

/* Context: process context, may sleep. Return: 0; -ENOMEM. */
int hipec_work_init(void)
{
	hipec_wq = alloc_workqueue("hipec", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!hipec_wq)
		return -ENOMEM;
	hipec_end_wq = alloc_workqueue("hipec-end", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (hipec_end_wq)
		return 0;
	destroy_workqueue(hipec_wq);
	return -ENOMEM;
}

/* All work is done, and none comes. Context: process context, sleeps. */
void hipec_work_exit(void)
{
	destroy_workqueue(hipec_end_wq);
	destroy_workqueue(hipec_wq);
}
