// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inodes that a container had are put. The last reference to one without a name frees its blocks,
 * and the last one to a file system that was unmounted meanwhile writes what that has: both wait for
 * a disk. A user's task does so itself, as umount behind it expects; workers that all containers share
 * leave it to the volume's.
 *
 * Interface:
 * hipec_put_inode()
 */
#include <linux/fsnotify_backend.h>
#include <linux/sched.h>

#include "../base/volume.h"
#include "cache.h"
#include "put.h"

static void put_now(struct hipec_put *p)
{
	struct fsnotify_mark *mark = p->mark;

	if (p->inode)
		hipec_table_put_inode(p->inode);
	fsnotify_put_mark(mark);
}

/* Work: likewise. The volume is put last, since that waits for this worker. */
static void put_work(struct work_struct *work)
{
	struct hipec_put *p = container_of(work, struct hipec_put, work);
	struct hipec_volume *volume = p->volume;

	put_now(p);
	hipec_volume_put(volume);
}

/**
 * hipec_put_inode() - put a mark, and with it an inode
 * @p:      of which @mark and @inode are set
 * @volume: what the inode lies on; the caller has it
 *
 * Context: process context, sleeps; expects no lock of ours; waits for no disk in a thread of the
 * kernel. @p goes.
 */
void hipec_put_inode(struct hipec_put *p, struct hipec_volume *volume)
{
	if (!(current->flags & PF_KTHREAD)) {
		put_now(p);
		return;
	}
	hipec_volume_hold(volume);
	p->volume = volume;
	INIT_WORK(&p->work, put_work);
	queue_work(volume->end_wq, &p->work);
}
