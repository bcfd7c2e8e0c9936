// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of files that are taken.
 *
 * Owns attach_lock, under which files come and go. No task waits there: unlink() takes it, with
 * locks of the file system held.
 *
 * An inode may go at any time, and its file is @dead then. A task that has the file open may use
 * its inode; others look at its memory under rcu_read_lock(), or hold it in cache->inodes, in
 * which no task waits for a container's lock or a disk (hipec_mapping_of()).
 *
 * Interface:
 * hipec_table_find(), _get(), _put() the file of an inode
 * hipec_table_marked()               one that is to be looked at
 * hipec_table_hold_inode(), _put_inode()  an inode, by a caller that may wait
 * hipec_table_add(), _remove()       it is taken, no longer
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/wait_bit.h>

#include "cache.h"
#include "clean.h"

DEFINE_MUTEX(hipec_attach_lock);

/*
 * Of users, by a hash: a task that lets a file go waits for all that use an inode of its domain
 * just now, and that may be a while, in a cgroup that is throttled.
 */
#define DOMAIN_BITS 4

static struct srcu_struct domains[1 << DOMAIN_BITS];

/*
 * By inode. They may be hundreds of thousands, and each read looks one up: so there is a list for
 * each 64 KB of the machine's memory, within bounds. Changed under attach_lock.
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
 * hipec_table_find() - the file of an inode, if it is taken
 * @inode: inode
 *
 * Context: under rcu_read_lock(), or attach_lock.
 * Return: valid as long as that is held; NULL.
 */
struct hipec_cfile *hipec_table_find(const struct inode *inode)
{
	struct hipec_cfile *f;

	hlist_for_each_entry_rcu(f, inode_list(inode), hash, lockdep_is_held(&hipec_attach_lock))
		if (f->inode == inode)
			return f;
	return NULL;
}

/**
 * hipec_table_get() - the same, to be used until hipec_table_put()
 * @inode: inode
 *
 * Context: any. The inode may go meanwhile, unless the caller has it open.
 * Return: file, whose container does not go meanwhile; NULL.
 */
struct hipec_cfile *hipec_table_get(const struct inode *inode)
{
	struct hipec_cfile *f;

	rcu_read_lock();
	f = hipec_table_find(inode);
	if (f && !atomic_inc_not_zero(&f->users))
		f = NULL;
	rcu_read_unlock();
	return f;
}

/*
 * One by one: by kfree_rcu() a worker frees some 500 at once, with their charges, 240 us in which
 * others wait that sync() waits for.
 */
static void free_file(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct hipec_cfile, rcu));
}

/* Context: any. */
void hipec_table_put(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	if (!atomic_dec_and_test(&f->users))
		return;
	hipec_clean_put(f->clean);
	call_rcu(&f->rcu, free_file);
	/* The last one's container may go now. */
	rcu_read_lock();
	if (atomic_dec_and_test(&cache->nr_files))
		wake_up_var(&cache->nr_files);
	rcu_read_unlock();
}

/**
 * hipec_table_marked() - a file whose entry has a mark, to be used until hipec_table_put()
 * @cache: cache
 * @slot:  where to begin to look; the last of its own
 * @mark:  HIPEC_SLOT_*
 *
 * Context: any.
 * Return: file; NULL: there is none.
 */
struct hipec_cfile *hipec_table_marked(struct hipec_cache *cache, unsigned long *slot,
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
 * hipec_table_hold_inode() - hold the inode of a file, and its file system
 * @f: file
 *
 * The inode alone would keep it from being evicted when its file system is unmounted.
 *
 * Context: in cache->inodes, or expects attach_lock; does not sleep.
 * Return: the inode; NULL: it goes.
 */
struct inode *hipec_table_hold_inode(const struct hipec_cfile *f)
{
	struct inode *inode = f->inode;

	if (READ_ONCE(f->dead) || !atomic_inc_not_zero(&inode->i_sb->s_active))
		return NULL;
	ihold(inode);
	return inode;
}

/* Context: process context, sleeps: it may be the last reference. Expects no lock of ours. */
void hipec_table_put_inode(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;

	iput(inode);
	deactivate_super(sb);
}

/* Which domain is for the files of @uid's containers. Context: any. */
struct srcu_struct *hipec_table_inodes_of(kuid_t uid)
{
	return &domains[hash_32(__kuid_val(uid), DOMAIN_BITS)];
}

/* It is found from now on. Context: expects attach_lock. */
void hipec_table_add(struct hipec_cfile *f)
{
	hlist_add_head_rcu(&f->hash, inode_list(f->inode));
}

/* It is not, to look-ups that begin after this. Context: expects attach_lock. */
void hipec_table_remove(struct hipec_cfile *f)
{
	hlist_del_rcu(&f->hash);
}

/* The first @nr of them are no more. */
static void end_domains(u32 nr)
{
	while (nr)
		cleanup_srcu_struct(&domains[--nr]);
}

static int begin_domains(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(domains); i++) {
		int ret = init_srcu_struct(&domains[i]);

		if (ret) {
			end_domains(i);
			return ret;
		}
	}
	return 0;
}

/* Context: process context, may sleep. Return: 0; -ENOMEM. */
int hipec_table_init(void)
{
	int ret = begin_domains();

	if (ret)
		return ret;
	bits = clamp_t(unsigned int, ilog2(totalram_pages() / PAGES_A_LIST + 1), LEAST_BITS,
		       MOST_BITS);
	files = kvcalloc(1ul << bits, sizeof(*files), GFP_KERNEL);
	if (files)
		return 0;
	end_domains(ARRAY_SIZE(domains));
	return -ENOMEM;
}

/* There are none, and none is looked up. Context: process context, may sleep. */
void hipec_table_exit(void)
{
	kvfree(files);
	end_domains(ARRAY_SIZE(domains));
}
