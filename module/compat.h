/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that hipec builds for, and nothing else: each
 * entry gives an older kernel the name that the newest has. Callers never test
 * versions.
 */
#ifndef HIPEC_COMPAT_H
#define HIPEC_COMPAT_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify_backend.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

/*
 * v6.3: bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions").
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/*
 * v6.4: the VMA has a lock of its own; v6.6 has this helper for both.
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
static inline void release_fault_lock(struct vm_fault *vmf)
{
	mmap_read_unlock(vmf->vma->vm_mm);
}
#endif

/*
 * v6.4: FAULT_FLAG_VMA_LOCK: the fault has the VMA's lock, not mmap_lock.
 * Drop when 6.1 goes.
 */
static inline bool fault_holds_vma_lock(const struct vm_fault *vmf)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	return false;
#else
	return vmf->flags & FAULT_FLAG_VMA_LOCK;
#endif
}

/*
 * v6.4: vhost's workers are threads of a program, with this flag.
 * Drop when 6.1 goes.
 */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER 0
#endif

/*
 * v6.7: 12cd44023651 ("fs: rename inode i_atime and i_mtime fields"); v6.6 has the
 * field under its old name.
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct timespec64 inode_get_mtime(const struct inode *inode)
{
	return inode->i_mtime;
}
#endif

/*
 * v6.7: c42d50aefd17 ("mm: shrinker: add infrastructure for dynamically
 * allocating shrinker"). Before, registering may fail: then there is none.
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct shrinker *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (s)
		s->flags = flags;
	return s;
}

static inline void shrinker_register(struct shrinker *s)
{
	if (register_shrinker(s, "hipec-%s",
			      s->flags & SHRINKER_MEMCG_AWARE ? "cgroup" : "pool"))
		pr_warn("hipec: no memory to answer memory pressure with\n");
}

static inline void shrinker_free(struct shrinker *s)
{
	unregister_shrinker(s);
	kfree(s);
}
#endif

/*
 * v6.8: 0a97c01cd20b ("list_lru: allow explicit memcg and NUMA node selection").
 * Before, the plain names find both by the object.
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define list_lru_add_obj list_lru_add
#define list_lru_del_obj list_lru_del
#endif

/*
 * v6.8: 6ae654392bb5 ("fs: move kiocb_start_write() into
 * vfs_iocb_iter_write()"). Before, the caller has to.
 * Drop when 6.1 goes.
 */
static inline ssize_t hipec_iocb_iter_write(struct file *file,
					    struct kiocb *iocb,
					    struct iov_iter *iter)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	ssize_t ret;

	file_start_write(file);
	ret = vfs_iocb_iter_write(file, iocb, iter);
	file_end_write(file);
	return ret;
#else
	return vfs_iocb_iter_write(file, iocb, iter);
#endif
}

/*
 * By v6.12 leave_mm() has lost its argument.
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define hipec_leave_mm() leave_mm(smp_processor_id())
#else
#define hipec_leave_mm() leave_mm()
#endif

/*
 * v6.3: 01beba7957a2 ("fs: port inode_owner_or_capable() to mnt_idmap").
 * Drop when 6.1 goes.
 */
static inline bool hipec_owns_file(struct file *file)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	return inode_owner_or_capable(file_mnt_user_ns(file), file_inode(file));
#else
	return inode_owner_or_capable(file_mnt_idmap(file), file_inode(file));
#endif
}

/*
 * v6.5: 2cb1e08985e3 ("splice: Use filemap_splice_read() instead of
 * generic_file_splice_read()"). Before, splice_read() of a file system is
 * generic_file_splice_read(), and that calls read_iter().
 * Drop when 6.1 goes.
 */
static inline bool splice_reads_by_read_iter(const struct file_operations *ops)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return ops->splice_read == generic_file_splice_read;
#else
	return ops->splice_read == copy_splice_read;
#endif
}

/*
 * v6.2: 94d095ffa0e1 ("ftrace: abstract DYNAMIC_FTRACE_WITH_ARGS accesses").
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/*
 * The inode of do_dentry_open(@file, @second, ...).
 * v6.10: af58dc1f50c1 ("do_dentry_open(): kill inode argument"). Before, it is the
 * second one, and an overlay's file has another in its path.
 * Drop when 6.1 goes.
 */
static inline struct inode *hipec_opened_inode(const struct file *file,
					       void *second)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	return second;
#else
	return d_inode(file->f_path.dentry);
#endif
}

/*
 * v6.10: fsnotify's helpers take an inode, not the list of its marks.
 * Drop when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
static inline struct fsnotify_mark *fsnotify_find_inode_mark(struct inode *inode,
							     struct fsnotify_group *group)
{
	return fsnotify_find_mark(&inode->i_fsnotify_marks, group);
}
#endif

#endif /* HIPEC_COMPAT_H */
