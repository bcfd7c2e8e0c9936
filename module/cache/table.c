// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of files that are taken.
 *
 * Owns take_lock, under which files come and go. Nobody waits there: unlink() takes it, with
 * locks of the file system held.
 *
 * An inode may go at any time, and its file is @dead then. Who has the file open may use
 * its inode; others look at its memory under rcu_read_lock(), or hold it in hipec_inodes, in
 * which nobody waits for a container's lock or a disk (hipec_mapping_of()).
 *
 * Interface:
 * hipec_file_find(), _get(), _put()  the file of an inode
 * hipec_file_marked()                one that somebody is to look at
 * hipec_inode_hold(), _put()         an inode, by who waits
 * hipec_file_add(), _remove()        it is taken, no longer
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/wait_bit.h>

#include "cache.h"

DEFINE_MUTEX(hipec_take_lock);
DEFINE_SRCU(hipec_inodes);

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
 * Context: any. The inode may go meanwhile, unless the caller has it open.
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

/* Context: any. */
void hipec_file_put(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	if (!atomic_dec_and_test(&f->users))
		return;
	kfree_rcu(f, rcu);
	/* The last one's container may go now. */
	rcu_read_lock();
	if (atomic_dec_and_test(&cache->nr_files))
		wake_up_var(&cache->nr_files);
	rcu_read_unlock();
}

/**
 * hipec_file_marked() - a file of which the slot has a mark, to be used until hipec_file_put()
 * @cache: cache
 * @slot:  where to begin to look; its slot
 * @mark:  HIPEC_SLOT_LOST or _CODE
 *
 * Context: any.
 * Return: file; NULL: there is none.
 */
struct hipec_cfile *hipec_file_marked(struct hipec_cache *cache, unsigned long *slot,
				      xa_mark_t mark)
{
	struct hipec_cfile *f;

	rcu_read_lock();
	for (f = xa_find(&cache->slots, slot, ULONG_MAX, mark);
	     f && !atomic_inc_not_zero(&f->users);
	     f = xa_find_after(&cache->slots, slot, ULONG_MAX, mark))
		;
	rcu_read_unlock();
	return f;
}

/**
 * hipec_inode_hold() - hold the inode of a file, and its file system
 * @f: file
 *
 * The inode alone would keep it from being evicted when its file system is unmounted.
 *
 * Context: in hipec_inodes, or expects take_lock; does not sleep.
 * Return: the inode; NULL: it goes.
 */
struct inode *hipec_inode_hold(const struct hipec_cfile *f)
{
	struct inode *inode = f->inode;

	if (READ_ONCE(f->dead) || !atomic_inc_not_zero(&inode->i_sb->s_active))
		return NULL;
	ihold(inode);
	return inode;
}

/* Context: process context, sleeps: it may be the last reference. Expects no lock of ours. */
void hipec_inode_put(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;

	iput(inode);
	deactivate_super(sb);
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
