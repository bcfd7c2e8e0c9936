// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of the module, which all containers share: of timers, of what ends where nobody shall
 * wait, and of what is waited for by who holds a container's lock. None of them waits for a disk:
 * works that may are volume.c's.
 *
 * Interface:
 * hipec_wq, hipec_end_wq, hipec_league_wq
 * hipec_grow_wq, hipec_volume_wq  their works take no lock of a container's
 * hipec_work_init(), _exit(), _drain()
 */
#include "base.h"

struct workqueue_struct *hipec_wq, *hipec_end_wq, *hipec_grow_wq, *hipec_league_wq, *hipec_volume_wq;

/* Context: process context, may sleep. Return: 0; -ENOMEM. */
int hipec_work_init(void)
{
	hipec_wq = alloc_workqueue("hipec", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!hipec_wq)
		return -ENOMEM;
	hipec_end_wq = alloc_workqueue("hipec-end", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!hipec_end_wq)
		goto no_end;
	hipec_grow_wq = alloc_workqueue("hipec-grow", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!hipec_grow_wq)
		goto no_grow;
	hipec_league_wq = alloc_workqueue("hipec-league", WQ_UNBOUND, 0);
	if (!hipec_league_wq)
		goto no_league;
	hipec_volume_wq = alloc_workqueue("hipec-volume", WQ_UNBOUND, 0);
	if (hipec_volume_wq)
		return 0;
	destroy_workqueue(hipec_league_wq);
no_league:
	destroy_workqueue(hipec_grow_wq);
no_grow:
	destroy_workqueue(hipec_end_wq);
no_end:
	destroy_workqueue(hipec_wq);
	return -ENOMEM;
}

/*
 * All containers have ended. Context: process context, sleeps; nobody has a descriptor, and so
 * nothing is queued but by what is.
 */
void hipec_work_drain(void)
{
	drain_workqueue(hipec_end_wq);
}

/* All work is done, and none comes. Context: process context, sleeps. */
void hipec_work_exit(void)
{
	rcu_barrier();	/* queues what waits for a grace period */
	destroy_workqueue(hipec_volume_wq);
	destroy_workqueue(hipec_league_wq);
	destroy_workqueue(hipec_grow_wq);
	destroy_workqueue(hipec_end_wq);
	destroy_workqueue(hipec_wq);
}
