// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors and maps that a file had before it was taken: they have the file system's
 * own tables, and nothing would be heard of their hits. They get the copies.
 *
 * The kernel has no list of an inode's open files, so the tables of the insiders' processes are
 * looked through, if it may be open: of a file that is taken as it is opened, those in
 * the opener's cgroup. What is in none of them stays as it was: what strangers have open,
 * a file below an overlay that is read through that, one that io_uring registered, one
 * on its way from a process to another, and one that a loop device has.
 *
 * Interface:
 * hipec_before_hook()  they are heard of, as if they had been opened later
 * hipec_before_hook_later()  the same, of a file that is taken as it comes into a directory
 */
#include <linux/cgroup.h>
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "cache.h"

/* Descriptors of a table that are looked at before others may run. */
#define LOOKS 4096

/* Names of a file of which the holders are counted. */
#define NAMES 1000

/* What is looked for in the tables of processes, and up to which descriptor. */
struct search {
	const struct inode *inode;
	unsigned int end;
	u32 found;
};

/*
 * Holders of its names, of which the caller is one: all tasks that have it open are among them. A
 * file may have millions of names, and no other task runs meanwhile: one with more than NAMES is
 * taken for open, and then looked for in vain at worst.
 */
static bool is_open(struct inode *inode)
{
	struct dentry *dentry;
	u32 holders = 0, names = 0;

	spin_lock(&inode->i_lock);
	hlist_for_each_entry(dentry, &inode->i_dentry, d_u.d_alias) {
		holders += d_count(dentry);
		if (holders > 1 || ++names > NAMES)
			break;
	}
	spin_unlock(&inode->i_lock);
	return holders > 1 || names > NAMES;
}

/* Return: the descriptor to go on with, if others may run before; 0. */
static int hear_file(const void *arg, struct file *file, unsigned int fd)
{
	struct search *s = (void *)arg;

	if (file_inode(file) == s->inode)
		s->found += hipec_hooks_file(file);
	return fd >= s->end ? fd + 1 : 0;
}

/* A table holds its files while its lock is held. */
static void hear_table(struct search *s, struct task_struct *t)
{
	int next = 0;

	do {
		s->end = next + LOOKS;
		task_lock(t);
		next = t->files ? iterate_fd(t->files, next, hear_file, s) : 0;
		task_unlock(t);
		cond_resched();
	} while (next && !fatal_signal_pending(current));
}

/* Whether a task's descriptors are heard of. Context: under rcu_read_lock(). */
static bool is_wanted(const struct hipec_cfile *f, struct task_struct *t)
{
	return hipec_user_is_insider(f->cache->c, t) &&
	       (!f->opened || cgroup_is_descendant(task_dfl_cgroup(t), task_dfl_cgroup(current)));
}

/* A task for each table; at most @most of them are written, and held. Return: how many. */
static u32 find_tables(const struct hipec_cfile *f, struct task_struct **table, u32 most)
{
	struct task_struct *process, *t;
	u32 nr = 0;

	rcu_read_lock();
	for_each_process_thread(process, t) {
		/* Most threads have their process's table. */
		if (!READ_ONCE(t->files) ||
		    (t != process && READ_ONCE(t->files) == READ_ONCE(process->files)) ||
		    !is_wanted(f, t))
			continue;
		if (nr < most)
			table[nr] = get_task_struct(t);
		nr++;
	}
	rcu_read_unlock();
	return nr;
}

/* Processes that come meanwhile have what others had before them. */
static u32 hear_files(const struct hipec_cfile *f)
{
	struct search s = { .inode = f->inode };
	u32 nr = find_tables(f, NULL, 0), i;
	struct task_struct **table = kvmalloc_array(nr, sizeof(*table), GFP_KERNEL_ACCOUNT |
						    __GFP_NORETRY | __GFP_NOWARN);

	if (!table)
		return 0;
	nr = min(nr, find_tables(f, table, nr));
	for (i = 0; i < nr; i++) {
		hear_table(&s, table[i]);
		put_task_struct(table[i]);
	}
	kvfree(table);
	return s.found;
}

/*
 * A map holds its file as long as it is in the tree. Return: a table that has no copy
 * yet; NULL: each map has its copy.
 */
static const struct vm_operations_struct *hear_maps(struct address_space *mapping, u32 *found)
{
	const struct vm_operations_struct *missing = NULL;
	struct rb_node *node;

	i_mmap_lock_read(mapping);
	for (node = rb_first_cached(&mapping->i_mmap); node && !missing; node = rb_next(node)) {
		struct vm_area_struct *vma =
			rb_entry(node, struct vm_area_struct, shared.rb);

		*found += hipec_hooks_file(vma->vm_file);
		if (!hipec_hooks_vma(vma))
			missing = vma->vm_ops;
		cond_resched();
	}
	i_mmap_unlock_read(mapping);
	return missing;
}

/**
 * hipec_before_hook() - what has a file open is heard of
 * @f:    file that has just been taken, in use
 * @file: descriptor that it was taken by; NULL: none
 *
 * Context: process context, sleeps; the caller holds the inode.
 */
void hipec_before_hook(struct hipec_cfile *f, struct file *file)
{
	struct address_space *mapping = f->inode->i_mapping;
	const struct vm_operations_struct *missing;
	u32 found = 0;

	if (file && file_inode(file) == f->inode)
		found += hipec_hooks_file(file) && !f->opened;
	if (is_open(f->inode))
		found += hear_files(f);
	/* A copy is made without the lock, which reclaim may want. */
	while (mapping_mapped(mapping) && (missing = hear_maps(mapping, &found)))
		if (!hipec_hooks_copy(missing))
			break;
	atomic_add(found, &f->cache->open_before);
}

/* What is owed on a task's way back. */
struct hearing {
	struct callback_head work;
	struct hipec_cfile *f;
};

/* Of the inode only the address is used: it may have gone. */
static void hear_on_the_way_back(struct callback_head *work)
{
	struct hearing *h = container_of(work, struct hearing, work);
	struct hipec_cache *cache = h->f->cache;

	atomic_add(hear_files(h->f), &cache->open_before);
	hipec_table_put(h->f);
	hipec_container_put_later(cache->c);
	kfree(h);
}

/**
 * hipec_before_hook_later() - as hipec_before_hook(), when the caller's call is over
 * @f: file that has come into a directory, in use, with its inode held
 *
 * The task that brings a file has the directory locked, and is in a section of fsnotify's, for
 * which each end of a mark waits: there no tables are looked through. The loader's task does that
 * on its way back; what other tasks bring keeps its descriptors as they are, and so do maps, which
 * may be many.
 *
 * Context: process context; does not wait.
 */
void hipec_before_hook_later(struct hipec_cfile *f)
{
	struct hipec_container *c = f->cache->c;
	struct hearing *h;

	if (mapping_mapped(f->inode->i_mapping))
		WRITE_ONCE(f->cache->mapped, true);
	/* The task's own user, not the one that an overlay acts as for it. */
	if (!uid_eq(task_uid(current), c->owner_uid) || !hipec_user_is_insider(c, current) ||
	    !is_open(f->inode))
		return;
	h = kmalloc(sizeof(*h), GFP_NOWAIT | __GFP_NOWARN);
	if (!h)
		return;
	kref_get(&c->ref);
	atomic_inc(&f->users);
	h->f = f;
	init_task_work(&h->work, hear_on_the_way_back);
	if (!task_work_add(current, &h->work, TWA_RESUME))
		return;
	hipec_table_put(f);	/* not the last reference, nor the container's */
	hipec_container_put_later(c);
	kfree(h);
}
