// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users have taken: a file (file.c), a directory (dir.c), or what a cgroup's
 * processes open (open.c).
 *
 * Interface:
 * hipec_cache_attach()   take it
 * hipec_cache_detach()   let go of it, or of all
 */
#include <linux/file.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>

#include "cache.h"

/* The container has a cache: it was loaded so. */
static struct hipec_cache *loaded_cache_of(struct hipec_container *c)
{
	return smp_load_acquire(&c->loaded) ? c->cache : NULL;
}

/* Ticks for which a task that is about to take or let go of the same is waited for. */
#define MOST_TICKS 200

/* A file or directory: one that is being taken or let go of is no container's yet, or still. */
static int take_when_free(struct hipec_cache *cache, struct inode *inode, struct file *file,
			  struct hipec_take *a)
{
	u32 ticks;
	int ret;

	for (ticks = 0;; ticks++) {
		ret = S_ISDIR(inode->i_mode) ? hipec_dir_attach(cache, inode, &a->other) :
					       hipec_file_attach(cache, inode, file, a);
		if (ret != -EBUSY || a->other || ticks == MOST_TICKS ||
		    fatal_signal_pending(current))
			return ret;
		schedule_timeout_killable(1);
	}
}

static int take_file(struct hipec_cache *cache, struct file *file,
		     struct hipec_take *a)
{
	struct inode *inode = d_real_inode(file->f_path.dentry);

	a->refused = hipec_file_refusal(inode);
	if (a->refused)
		return -EOPNOTSUPP;
	if (!hipec_owns_file(file))
		return -EPERM;
	hipec_lockdep_teach(cache->c, inode);
	return take_when_free(cache, inode, file, a);
}

/**
 * hipec_cache_attach() - a file's folios are this container's to decide about
 * @c: container, in use
 * @a: from the user, checked for size and flags; what is `out` is set
 *
 * Folios that the file has are adopted; those beyond the budget are evicted. Of a
 * directory: the files that are made in it or moved there from now on, and those of
 * directories that are.
 *
 * Context: process context, may sleep; takes attach_lock and c->lock.
 * Return: 0; -EBADF if there is no such descriptor; -EINVAL if @c is no container of
 *         this kind; -EOPNOTSUPP for a file that cannot be taken, @a->refused says
 *         why; -EPERM if the caller does not own it; -EBUSY if a container has it,
 *         @a->other says which; -ENOSPC if @c has no page numbers left, -EDQUOT if its user
 *         has none; -ENOMEM.
 */
int hipec_cache_attach(struct hipec_container *c, struct hipec_take *a)
{
	struct hipec_cache *cache = loaded_cache_of(c);
	struct file *file;
	int ret;

	a->refused = HIPEC_REFUSED_NOT;
	a->other = 0;
	a->address = 0;
	if (!cache)
		return -EINVAL;
	if (a->flags & HIPEC_TAKE_CGROUP)
		return hipec_open_attach(cache, a);
	file = fget_raw(a->fd);
	if (!file)
		return -EBADF;
	ret = take_file(cache, file, a);
	if (!ret)
		WRITE_ONCE(cache->by_path, true);
	fput(file);
	return ret;
}

/**
 * hipec_cache_detach() - let go of a container's files
 * @c:  container, in use, or at its end
 * @fd: descriptor of one of them; -1: all
 *
 * Their entries have gone when it returns. The policy hears of that in the caller's time; if that
 * is killed, it does not.
 *
 * Context: process context, sleeps; takes attach_lock and c->lock.
 * Return: 0; -EINVAL if @c is no container of this kind; -EBADF; -ENOENT if it does
 *         not have the file.
 */
int hipec_cache_detach(struct hipec_container *c, int fd)
{
	struct hipec_cache *cache = loaded_cache_of(c);
	struct file *file = NULL;
	struct inode *inode = NULL;
	bool found;

	if (!cache)
		return -EINVAL;
	if (fd >= 0) {
		file = fget_raw(fd);
		if (!file)
			return -EBADF;
	}
	/* Cgroups and directories first: nothing new comes. */
	found = hipec_open_detach(cache, fd);
	if (file)
		inode = d_real_inode(file->f_path.dentry);
	found |= hipec_dir_detach(cache, inode);
	if (!inode)
		hipec_file_detach_all(cache);
	else if (!found)
		found = hipec_file_detach(cache, inode);
	if (!inode) {
		if (hipec_touch_may_deliver(cache))
			hipec_file_bury(cache);
		else
			mod_delayed_work(hipec_wq, &cache->bury, 0);
		/* And those that a worker is about to. */
		wait_var_event_killable(&cache->nr_graves, !atomic_read(&cache->nr_graves));
	}
	if (file)
		fput(file);
	return !file || found ? 0 : -ENOENT;
}
