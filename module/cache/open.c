// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that the processes of a cgroup open are taken, before they know their descriptor: so
 * their first access is heard. A hook of ftrace, which exists while such a policy does, sees
 * do_dentry_open() begin. It looks at the opener's cgroup, lets others pass, and has members take
 * the file on their way back from the system call, where they hold no lock (task_work_add()).
 *
 * What is code is left alone: a file that begins as a program or a library does, if its
 * first page is in the page cache; one that is not seen to be is let go as soon as
 * it is mapped to execute.
 *
 * Owns hook_lock.
 *
 * Interface:
 * hipec_open_attach()   take what a cgroup's processes open from now on
 * hipec_open_detach()   no more, of one cgroup or of all
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>

#include "cache.h"
#include "group.h"

static DEFINE_MUTEX(hook_lock);
static u32 nr_groups;			/* under hook_lock, as: */
static bool hooked;

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS

/* A file that was opened, until its opener has taken it. */
struct opened {
	struct callback_head work;
	struct file *file;
};

/* Whether its first page is there, and that of a program or a library. */
static bool is_code(struct inode *inode)
{
	struct folio *folio = filemap_get_folio(inode->i_mapping, 0);
	const Elf64_Ehdr *head;
	bool code = false;

	if (IS_ERR_OR_NULL(folio))
		return false;
	if (folio_test_uptodate(folio)) {
		head = kmap_local_folio(folio, 0);
		code = !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
		       (head->e_type == ET_EXEC || head->e_type == ET_DYN);
		kunmap_local(head);
	}
	folio_put(folio);
	return code;
}

/* Whether a group wants files of such a name. May sleep. */
static bool is_named(const struct hipec_cgroup *g, struct file *file)
{
	char *buffer, *path;
	const char *name, *last;
	bool found = false;

	if (!g->names)
		return true;
	buffer = kmalloc(PATH_MAX, GFP_KERNEL);
	path = buffer ? file_path(file, buffer, PATH_MAX) : NULL;
	if (!IS_ERR_OR_NULL(path)) {
		last = kbasename(path);
		for (name = g->names; *name && !found; name += strlen(name) + 1)
			found = glob_match(name, path) || glob_match(name, last);
	}
	kfree(buffer);
	return found;
}

/* Of a process that was in a group when it began to open @file. May sleep. */
static void take_opened(struct file *file)
{
	struct hipec_cgroup *g = hipec_group_get();
	struct hipec_container *c;
	int ret = 0;

	if (!g)
		return;
	c = g->cache->c;
	if ((g->all || uid_eq(file_inode(file)->i_uid, g->uid)) &&
	    !is_code(file_inode(file)) && is_named(g, file))
		ret = hipec_file_attach_new(g->cache, file_inode(file), file);
	if (ret == -EBUSY)	/* by another task, meanwhile */
		hipec_hooks_file(file);
	if (ret == -ENOSPC || ret == -EDQUOT)
		pr_warn_ratelimited("container %llu can have no more files: others are the kernel's\n",
				    c->id);
	hipec_group_put(g);
	hipec_container_put_later(c);
}

/* The opener is about to go back to its program, or ends. */
static void attach_opened_file(struct callback_head *work)
{
	struct opened *o = container_of(work, struct opened, work);

	/* It may have failed. */
	if (o->file->f_mode & FMODE_OPENED)
		take_opened(o->file);
	fput(o->file);
	kfree(o);
}

/* The hook. Context: process context; nothing that could sleep. */
static void notrace hook_dentry_open(unsigned long ip, unsigned long parent,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct file *file = (struct file *)ftrace_regs_get_argument(fregs, 0);
	struct inode *inode = hipec_opened_inode(file, (void *)
					ftrace_regs_get_argument(fregs, 1));
	struct hipec_cgroup *g;
	struct opened *o;

	if (file->f_flags & (O_PATH | __FMODE_EXEC) || !S_ISREG(inode->i_mode) ||
	    current->flags & PF_KTHREAD || hipec_hooks_has(inode))
		return;
	rcu_read_lock();
	g = hipec_group_of_current();
	o = g && i_size_read(inode) >= g->least ?
		kmalloc(sizeof(*o), GFP_NOWAIT | __GFP_NOWARN) : NULL;
	rcu_read_unlock();
	if (!o)
		return;
	o->file = get_file(file);
	init_task_work(&o->work, attach_opened_file);
	if (task_work_add(current, &o->work, TWA_RESUME)) {
		fput(file);	/* not the last reference */
		kfree(o);
	}
}

static struct ftrace_ops hook_ops = {
	.func = hook_dentry_open,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

static int register_open_hook(void)
{
	static char name[] = "do_dentry_open";
	int ret = ftrace_set_filter(&hook_ops, name, strlen(name), 1);

	return ret ?: register_ftrace_function(&hook_ops);
}

static void unregister_open_hook(void)
{
	unregister_ftrace_function(&hook_ops);
}

#else

static int register_open_hook(void)
{
	return -ENODEV;
}

static void unregister_open_hook(void)
{
}

#endif

/* Work: no group may want the hook any more. To end it takes a while. */
static void look_at_hook(struct work_struct *work)
{
	mutex_lock(&hook_lock);
	if (hooked && !nr_groups) {
		unregister_open_hook();
		hooked = false;
	}
	mutex_unlock(&hook_lock);
}

static DECLARE_WORK(hook_work, look_at_hook);

/* Context: expects hook_lock. Return: 0; -EBUSY, @other says whose it is. */
static int add_group(struct hipec_cgroup *new, u64 *other)
{
	struct hipec_cgroup *g = hipec_group_with(new->cgrp);

	if (g) {
		*other = g->cache->c->id;
		return -EBUSY;
	}
	if (nr_groups == HIPEC_MAX_CGROUPS)
		return -ENOSPC;
	if (!hooked && register_open_hook())
		return -EOPNOTSUPP;
	hipec_hooks_stay();	/* openers have works to do */
	hooked = true;
	nr_groups++;
	new->cache->nr_groups++;
	hipec_group_add(new);
	return 0;
}

/*
 * A cgroup of which the caller owns the directory. Another thread may put another file in the
 * descriptor's place: both looks are at one. Return: -EBADF; -EPERM.
 */
static struct cgroup *get_own(int fd)
{
	struct file *file = fget_raw(fd);
	struct cgroup *cgrp = ERR_PTR(-EBADF);

	if (!file)
		return cgrp;
	if (hipec_owns_file(file))
		cgrp = cgroup_get_from_fd(fd);
	else
		cgrp = ERR_PTR(-EPERM);
	if (!IS_ERR(cgrp) && file_inode(file)->i_private != cgrp->kn) {
		cgroup_put(cgrp);
		cgrp = ERR_PTR(-EBADF);
	}
	fput(file);
	return cgrp;
}

/* The caller's patterns, each with a 0 behind it. Return: 0; -E2BIG, -EINVAL, -EFAULT, -ENOMEM. */
static int get_names(struct hipec_cgroup *g, const struct hipec_take *a)
{
	if (!a->names_size)
		return 0;
	if (a->names_size > HIPEC_MAX_NAMES)
		return -E2BIG;
	g->names = hipec_memory_alloc(a->names_size + 1ul);
	if (!g->names)
		return -ENOMEM;
	if (copy_from_user(g->names, u64_to_user_ptr(a->names), a->names_size))
		return -EFAULT;
	if (strlen(g->names) != a->names_size || g->names[a->names_size - 1] != '\n' ||
	    *g->names == '\n' || strstr(g->names, "\n\n"))
		return -EINVAL;
	strreplace(g->names, '\n', 0);
	return 0;
}

/**
 * hipec_open_attach() - what a cgroup's processes open is a cache's
 * @cache: cache
 * @a:     of the user: the cgroup's directory, which the caller owns, and which files;
 *         gets the container that has the cgroup
 *
 * From now on, and what processes of cgroups within it open as well: regular files that
 * can be taken, and belong to the caller, or to any user if the caller has CAP_FOWNER.
 *
 * Context: process context, sleeps; takes hook_lock.
 * Return: 0; -EBADF if it is no cgroup, of version 2; -EPERM if it is another user's;
 *         -EINVAL, -E2BIG or -EFAULT for patterns that are none; -EBUSY if a container has it;
 *         -EOPNOTSUPP if the kernel has no hooks of functions, or another module has
 *         changed where this one goes; -ENOSPC if there are HIPEC_MAX_CGROUPS; -ENOMEM;
 *         -EINTR on a fatal signal.
 */
int hipec_open_attach(struct hipec_cache *cache, struct hipec_take *a)
{
	struct hipec_cgroup *g;
	struct cgroup *cgrp = get_own(a->fd);
	int ret;

	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp) == -EPERM ? -EPERM : -EBADF;
	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g) {
		cgroup_put(cgrp);
		return -ENOMEM;
	}
	g->cgrp = cgrp;
	refcount_set(&g->refs, 1);
	g->cache = cache;
	g->uid = current_fsuid();
	g->all = capable(CAP_FOWNER);
	g->least = a->least;
	/* A task that ends the hook has the lock for long. */
	ret = get_names(g, a) ?: mutex_lock_killable(&hook_lock);
	if (!ret) {
		ret = add_group(g, &a->other);
		mutex_unlock(&hook_lock);
	}
	if (ret)
		hipec_group_put(g);
	return ret;
}

/**
 * hipec_open_detach() - a cache takes no files of a cgroup any more
 * @cache: cache
 * @fd:    of the cgroup's directory; -1: of all
 *
 * Files that it has taken stay its own.
 *
 * Context: process context, sleeps; takes hook_lock.
 * Return: whether there was one.
 */
bool hipec_open_detach(struct hipec_cache *cache, int fd)
{
	struct cgroup *cgrp = fd < 0 ? NULL : cgroup_get_from_fd(fd);
	u32 nr = 0;

	if (IS_ERR(cgrp))
		return false;
	/* A task that ends the hook has the lock for long; not while there is a group. */
	if (!READ_ONCE(cache->nr_groups))
		goto out;
	mutex_lock(&hook_lock);
	nr = hipec_group_del(cache, cgrp);
	cache->nr_groups -= nr;
	nr_groups -= nr;
	mutex_unlock(&hook_lock);
	if (nr)
		queue_work(system_unbound_wq, &hook_work);
out:
	if (cgrp)
		cgroup_put(cgrp);
	return nr;
}
