// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors and maps that a file had before it was taken: they have the file system's
 * own tables, and nothing would be heard of their hits. They get the copies.
 *
 * The kernel has no list of an inode's open files, so the tables of all processes are
 * looked through, if anybody may have it open. What is in none of them stays as it was:
 * a file below an overlay that is read through that, one that io_uring registered, one
 * on its way from a process to another, and one that a loop device has.
 *
 * Interface:
 * hipec_before_hear()  they are heard of, as if they had been opened later
 */
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "cache.h"

/* What is looked for in the tables of processes. */
struct search {
	const struct inode *inode;
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

static int hear_file(const void *arg, struct file *file, unsigned int fd)
{
	struct search *s = (void *)arg;

	if (file_inode(file) == s->inode)
		s->found += hipec_hooks_file(file);
	return 0;
}

/* A table holds its files while its lock is held. */
static u32 hear_files(const struct inode *inode)
{
	struct search s = { .inode = inode };
	struct task_struct *process, *t;

	rcu_read_lock();
	for_each_process_thread(process, t) {
		task_lock(t);
		/* Most threads have their process's table. */
		if (t->files && (t == process || t->files != READ_ONCE(process->files)))
			iterate_fd(t->files, 0, hear_file, &s);
		task_unlock(t);
	}
	rcu_read_unlock();
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
 * Context: process context, sleeps; expects admin_lock.
 */
void hipec_before_hear(struct hipec_cfile *f, struct file *file)
{
	struct address_space *mapping = f->inode->i_mapping;
	const struct vm_operations_struct *missing;
	u32 found = 0;

	if (file && file_inode(file) == f->inode)
		found += hipec_hooks_file(file);
	if (is_open(f->inode))
		found += hear_files(f->inode);
	/* A copy is made without the lock, which reclaim may want. */
	while (mapping_mapped(mapping) && (missing = hear_maps(mapping, &found)))
		if (!hipec_hooks_copy(missing))
			break;
	mutex_lock(&f->cache->c->lock);
	f->cache->c->core.counters.open_before += found;
	mutex_unlock(&f->cache->c->lock);
}
