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
 * hipec_file_add(), _remove()        it is taken, no longer
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/wait_bit.h>

#include "cache.h"

DEFINE_MUTEX(hipec_admin_lock);	/* one that takes or releases at a time */
DEFINE_MUTEX(hipec_take_lock);

/*
 * By inode. They may be hundreds of thousands, and each read looks one up: so there is a list for
 * each 64 KB of the machine's memory, within bounds. Changed under take_lock.
 */
#define PAGES_A_LIST 16
#define LEAST_BITS 10
#define MOST_BITS 18

static struct hlist_head *files;
static unsigned int bits;

static struct hlist_head *inode_list(const struct inode *inode)
{
	return &files[hash_ptr(inode, bits)];
}

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

	hlist_for_each_entry_rcu(f, inode_list(inode), hash, lockdep_is_held(&hipec_take_lock))
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

/* It is found from now on. Context: expects take_lock. */
void hipec_file_add(struct hipec_cfile *f)
{
	hlist_add_head_rcu(&f->hash, inode_list(f->inode));
}

/* It is not, to those who begin to look after this. Context: expects take_lock. */
void hipec_file_remove(struct hipec_cfile *f)
{
	hlist_del_rcu(&f->hash);
}

/* Context: process context, may sleep. Return: 0; -ENOMEM. */
int hipec_files_init(void)
{
	bits = clamp_t(unsigned int, ilog2(totalram_pages() / PAGES_A_LIST + 1), LEAST_BITS,
		       MOST_BITS);
	files = kvcalloc(1ul << bits, sizeof(*files), GFP_KERNEL);
	return files ? 0 : -ENOMEM;
}

/* There are none, and nobody looks. Context: process context, may sleep. */
void hipec_files_exit(void)
{
	kvfree(files);
}
