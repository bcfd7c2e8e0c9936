// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of files that are taken.
 *
 * Owns admin_lock, and take_lock, which is taken under it, or alone where an inode
 * goes. Under take_lock those who use a file are waited for; nothing is allocated
 * there that could have the kernel drop inodes.
 *
 * Interface:
 * hipec_file_find(), _get(), _put()  the file of an inode
 * hipec_file_add()                   it is taken
 */
#include <linux/hashtable.h>
#include <linux/wait_bit.h>

#include "cache.h"

DEFINE_MUTEX(hipec_admin_lock);	/* one that takes or releases at a time */
DEFINE_MUTEX(hipec_take_lock);
static DEFINE_HASHTABLE(files, 10);	/* changed under take_lock */

/**
 * hipec_file_find() - the file of an inode, if it is taken
 * @inode: inode
 *
 * Context: under rcu_read_lock(), or take_lock.
 * Return: valid as long as that is held; NULL.
 */
struct hipec_cfile *hipec_file_find(const struct inode *inode)
{
	struct hipec_cfile *f;

	hash_for_each_possible_rcu(files, f, hash, (unsigned long)inode,
				   lockdep_is_held(&hipec_take_lock))
		if (f->inode == inode)
			return f;
	return NULL;
}

/**
 * hipec_file_get() - the same, to be used until hipec_file_put()
 * @inode: inode
 *
 * Return: file, whose container does not go meanwhile; NULL.
 */
struct hipec_cfile *hipec_file_get(const struct inode *inode)
{
	struct hipec_cfile *f;

	rcu_read_lock();
	f = hipec_file_find(inode);
	if (f && !atomic_inc_not_zero(&f->users))
		f = NULL;
	rcu_read_unlock();
	return f;
}

void hipec_file_put(struct hipec_cfile *f)
{
	if (atomic_dec_and_test(&f->users))
		wake_up_var(&f->users);
}

/* It is found from now on, until hash_del_rcu(). Context: expects take_lock. */
void hipec_file_add(struct hipec_cfile *f)
{
	hash_add_rcu(files, &f->hash, (unsigned long)f->inode);
}
