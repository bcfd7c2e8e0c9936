// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors and maps that a file had before it was taken: they have the file system's
 * own tables, and nothing would be heard of their hits. They get the copies.
 *
 * The kernel has no list of an inode's open files, so the tables of the insiders' processes are
 * looked through, if anybody may have it open: of a file that is taken as it is opened, those in
 * the opener's cgroup. What is in none of them stays as it was: what strangers have open,
 * a file below an overlay that is read through that, one that io_uring registered, one
 * on its way from a process to another, and one that a loop device has.
 *
 * Interface:
 * hipec_before_hear()  they are heard of, as if they had been opened later
 */
#include <linux/cgroup.h>
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "cache.h"

/* Descriptors of a table that are looked at before others may run. */
#define LOOKS 4096

/* What is looked for in the tables of processes, and up to which descriptor. */
struct search {
	const struct inode *inode;
	unsigned int end;
	u32 found;
};

/* Holders of its names, of which the caller is one: who has it open is among them. */
static bool is_open(struct inode *inode)
{
	struct dentry *dentry;
	u32 holders = 0;

	spin_lock(&inode->i_lock);
	hlist_for_each_entry(dentry, &inode->i_dentry, d_u.d_alias)
		holders += d_count(dentry);
	spin_unlock(&inode->i_lock);
	return holders > 1;
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
	return hipec_is_insider(f->cache->c, t) &&
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
 * hipec_before_hear() - what has a file open is heard of
 * @f:    file that has just been taken, in use
 * @file: descriptor that it was taken by; NULL: none
 *
 * Context: process context, sleeps; the caller holds the inode.
 */
void hipec_before_hear(struct hipec_cfile *f, struct file *file)
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
