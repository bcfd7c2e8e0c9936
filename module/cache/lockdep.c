// SPDX-License-Identifier: GPL-2.0-only
/*
 * No task waits for a policy while it has locks of the kernel's that other tasks want. A kernel
 * with lockdep asserts this: it is told that such locks may be taken while a policy runs, that is,
 * under the lock of a container of this kind. From then on it reports each task that waits for that
 * lock with one of them held. A task that only tries it is not reported.
 *
 * Interface:
 * hipec_lockdep_init()   a container's lock is one of these
 * hipec_lockdep_teach()  a file or directory is attached
 */
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/sched/mm.h>

#include "cache.h"

#ifdef CONFIG_LOCKDEP

static struct lock_class_key policy_runs;

/* Context: @c is not in use yet. */
void hipec_lockdep_init(struct hipec_container *c)
{
	lockdep_set_class(&c->lock, &policy_runs);
}

/**
 * hipec_lockdep_teach() - the holder of a file's or directory's lock waits for no policy
 * @c:     container that takes it
 * @inode: held
 *
 * Context: process context, sleeps; expects no lock.
 */
void hipec_lockdep_teach(struct hipec_container *c, struct inode *inode)
{
	mutex_lock(&c->lock);
	inode_lock(inode);
	inode_unlock(inode);
	if (S_ISDIR(inode->i_mode)) {
		inode_lock_nested(inode, I_MUTEX_PARENT);
		inode_unlock(inode);
	} else {
		/* A read() or fault that reads has it, and the locks of pages. */
		filemap_invalidate_lock(inode->i_mapping);
		filemap_invalidate_unlock(inode->i_mapping);
	}
	fs_reclaim_acquire(GFP_KERNEL);
	fs_reclaim_release(GFP_KERNEL);
	mutex_unlock(&c->lock);
}

#else

void hipec_lockdep_init(struct hipec_container *c)
{
}

void hipec_lockdep_teach(struct hipec_container *c, struct inode *inode)
{
}

#endif
