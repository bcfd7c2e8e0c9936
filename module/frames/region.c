// SPDX-License-Identifier: GPL-2.0-only
/*
 * A region: a range of a backing file in a container, with a file of its own
 * that the application maps.
 *
 * Each region has an inode of a private pseudo file system, so that its VMAs
 * hang on a mapping of their own: unmapping and looking at referenced bits
 * then never meet another region's. Our frames are in no page cache.
 *
 * Owns hipec_claims_lock.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>

#include "../base/volume.h"
#include "../compat.h"
#include "frames.h"
#include "writeback.h"

#define HIPEC_FS_MAGIC 0x48495045

/* Regions of all containers: who reads and who writes which file. */
static DEFINE_MUTEX(hipec_claims_lock);
static LIST_HEAD(hipec_claims);

static struct vfsmount *fs_mount;
static int fs_users;

/*
 * sync(2) asks each file system twice, and waits at the second time: what is
 * written at the first is in the backing file when that is asked to wait.
 */
static int hipec_sync_fs(struct super_block *sb, int wait)
{
	return wait ? 0 : hipec_io_sync_all();
}

static const struct super_operations hipec_super_ops = {
	.statfs = simple_statfs,
	.sync_fs = hipec_sync_fs,
};

static int init_fs_context(struct fs_context *fc)
{
	struct pseudo_fs_context *ctx = init_pseudo(fc, HIPEC_FS_MAGIC);

	if (!ctx)
		return -ENOMEM;
	ctx->ops = &hipec_super_ops;
	/*
	 * As on a mount with noexec: the region's file hides whether the backing
	 * one may be executed, from its mount and from security modules.
	 */
	fc->s_iflags |= SB_I_NOEXEC;
	return 0;
}

/*
 * Pinned by each region while it lives, not by the module: the superblock holds
 * the module, so it can be unloaded exactly when the last region's file is gone.
 */
static struct file_system_type hipec_fs_type = {
	.name = "hipec",
	.owner = THIS_MODULE,
	.init_fs_context = init_fs_context,
	.kill_sb = kill_anon_super,
};

/*
 * One container may write a file, or any number read it; within one container,
 * what is written lies in one region only.
 */
static bool regions_conflict(const struct hipec_region *a, const struct hipec_region *b)
{
	loff_t a_end = a->offset + ((loff_t)a->nr << PAGE_SHIFT);
	loff_t b_end = b->offset + ((loff_t)b->nr << PAGE_SHIFT);

	if (hipec_backing(a) != hipec_backing(b) ||
	    !(a->writable || b->writable))
		return false;
	return a->c != b->c || (a->offset < b_end && b->offset < a_end);
}

static int claim_file(struct hipec_region *r)
{
	struct hipec_region *other;
	int ret = 0;

	mutex_lock(&hipec_claims_lock);
	list_for_each_entry(other, &hipec_claims, claim)
		if (regions_conflict(r, other))
			ret = -EBUSY;
	if (!ret)
		list_add(&r->claim, &hipec_claims);
	mutex_unlock(&hipec_claims_lock);
	return ret;
}

static void unclaim_file(struct hipec_region *r)
{
	mutex_lock(&hipec_claims_lock);
	list_del(&r->claim);
	mutex_unlock(&hipec_claims_lock);
}

/* Why @file cannot back a region, or 0. */
static int check_backing(struct file *file, bool writable)
{
	struct inode *inode = file_inode(file);
	const char *untested;

	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (S_ISFIFO(inode->i_mode) || S_ISSOCK(inode->i_mode))
		return -ESPIPE;
	if (!S_ISREG(inode->i_mode) && !S_ISBLK(inode->i_mode))
		return -ENODEV;
	if (!(file->f_mode & FMODE_READ))
		return -EACCES;
	if (writable && !(file->f_mode & FMODE_WRITE))
		return -EACCES;
	if (writable && (IS_APPEND(inode) || IS_IMMUTABLE(inode)))
		return -EPERM;
	untested = hipec_read_untested(file);
	if (!untested)
		return 0;
	pr_info_ratelimited("%s[%d]: no region: not tested on %s\n",
			    current->comm, task_pid_nr(current), untested);
	return -EOPNOTSUPP;
}

/* Size the region to the range, which must lie within the file. */
static int set_range(struct hipec_region *r, u64 offset, u64 length)
{
	u64 size = i_size_read(hipec_backing(r));
	u64 pages;

	if (offset & ~PAGE_MASK)
		return -EINVAL;
	if (offset >= size)
		return -ERANGE;
	if (!length)
		length = size - offset;
	/* To the end of the page in which the file ends. */
	if (length > round_up(size, PAGE_SIZE) - offset)
		return -ERANGE;
	pages = DIV_ROUND_UP_ULL(length, PAGE_SIZE);
	if (pages >= U32_MAX)
		return -EFBIG;
	r->offset = offset;
	r->nr = pages;
	return 0;
}

/* A region of @c that has any of @nr pages from @start on; NULL: none. */
static struct hipec_region *find_overlapping(struct hipec_container *c, u64 start,
					     u32 nr)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (r->start < start + nr && start < (u64)r->start + r->nr)
			return r;
	return NULL;
}

/*
 * Where @nr pages have room: behind all regions, so that addresses mean one file as
 * long as that is possible; else where the first of those were that are gone. Page
 * U32_MAX is none. Return: U64_MAX if there is no room.
 */
static u64 find_room(struct hipec_container *c, u32 nr)
{
	struct hipec_region *r;
	u64 start = 0;

	list_for_each_entry(r, &c->regions, link)
		start = max_t(u64, start, (u64)r->start + r->nr);
	if (start + nr <= U32_MAX)
		return start;
	for (start = 0; start + nr <= U32_MAX; start = (u64)r->start + r->nr) {
		r = find_overlapping(c, start, nr);
		if (!r)
			return start;
	}
	return U64_MAX;
}

/* Find the region a place among the addresses of its container. */
static int join_container(struct hipec_region *r)
{
	struct hipec_container *c = r->c;
	int ret = 0;
	u64 start;

	mutex_lock(&c->lock);
	start = find_room(c, r->nr);
	if (c->host != &hipec_frame_host)
		ret = -EINVAL;
	else if (start == U64_MAX)
		ret = -ENOSPC;
	if (!ret) {
		r->start = start;
		list_add_tail(&r->link, &c->regions);
		c->nr_regions++;
		hipec_record_region(c, r->start, r->nr, r->backing);
	}
	mutex_unlock(&c->lock);
	return ret;
}

/* Free the region's frames; its pages are mapped nowhere any more. */
static void leave_container(struct hipec_region *r)
{
	const unsigned int busy = HIPEC_PAGE_EVICT_PENDING | HIPEC_PAGE_WRITING;
	struct hipec_container *c = r->c;
	u32 h, pgno, lost = 0;

	mutex_lock(&c->lock);
	hipec_readahead_drop(r, false);
	for (h = 1; h <= c->core.vm.nr_pages; h++) {
		while (c->frames.frame[h] &&
		       c->frames.frame[h]->mapping == r->inode->i_mapping) {
			if (c->core.vm.page[h].flags & busy) {
				hipec_io_wait(c, TASK_UNINTERRUPTIBLE,
					      MAX_SCHEDULE_TIMEOUT);
				continue;
			}
			lost += folio_test_dirty(c->frames.frame[h]);
			pgno = c->core.vm.page[h].pgno;
			hipec_frame_unbind(c, h);
			hipec_core_remove(&c->core, pgno);
		}
		hipec_dirty_walk_pause(c, h);
	}
	hipec_page_forget_range(&c->core.vm, r->start, r->nr);
	list_del(&r->link);
	c->nr_regions--;
	mutex_unlock(&c->lock);
	if (lost)
		pr_err_ratelimited("%s[%d]: %u pages of '%pD' could not be written and are lost\n",
				   c->owner_comm, pid_nr(c->owner_pid), lost,
				   r->backing);
}

/*
 * Shared or private; who may write to the file was settled when the region was
 * attached, and what a private mapping writes never gets there.
 */
static int region_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct hipec_region *r = file->private_data;

	if (vma->vm_pgoff >= r->nr || vma_pages(vma) > r->nr - vma->vm_pgoff)
		return -ENXIO;
	/*
	 * MIXEDMAP: a fault maps the other pages of its cluster as well.
	 * DONTEXPAND: the mapping cannot grow beyond the region.
	 */
	vm_flags_set(vma, VM_DONTEXPAND | VM_MIXEDMAP);
	vma->vm_ops = &hipec_vm_ops;
	vma->vm_private_data = r;
	return 0;
}

static int region_fsync(struct file *file, loff_t start, loff_t end,
			int datasync)
{
	struct hipec_region *r = file->private_data;
	loff_t last = (loff_t)r->nr << PAGE_SHIFT;
	int err, err2;

	if (start >= last)
		return 0;
	end = min(end, last - 1);
	err = hipec_io_sync(r, start >> PAGE_SHIFT, end >> PAGE_SHIFT);
	err2 = vfs_fsync_range(r->backing, r->offset + start, r->offset + end,
			       datasync);
	err = err ? err : err2;
	/* Errors of writeback, each reported once. */
	err2 = file_check_and_advance_wb_err(file);
	return err ? err : err2;
}

/*
 * Whether the current task waits for a region's disk, and for its policy: its loader's does. Who was sent
 * the region, and the kernel's threads, which have others' files to put as well, do not.
 */
static bool waits_for_region(const struct hipec_region *r)
{
	const struct hipec_container *c = r->c;

	return !(current->flags & PF_KTHREAD) && (!c->bounded || uid_eq(current_uid(), c->owner_uid));
}

static int region_flush(struct file *file, fl_owner_t id)
{
	struct hipec_region *r = file->private_data;

	if (!waits_for_region(r)) {
		if (r->writable && atomic_read(&r->c->frames.nr_dirty))
			mod_delayed_work(hipec_wq, &r->c->frames.age, 0);
		return 0;
	}
	return hipec_io_sync(r, 0, r->nr - 1);
}

/*
 * Whether a device may store to a page of the region yet: a direct read that the
 * application did not wait for.
 */
static bool is_pinned(struct hipec_region *r)
{
	struct hipec_container *c = r->c;
	bool pinned = false;
	u32 h;

	if (!r->writable)
		return false;
	mutex_lock(&c->lock);
	for (h = 1; !pinned && h <= c->core.vm.nr_pages; h++) {
		pinned = c->frames.frame[h] &&
			 c->frames.frame[h]->mapping == r->inode->i_mapping &&
			 folio_maybe_dma_pinned(c->frames.frame[h]);
		hipec_dirty_walk_pause(c, h);
	}
	mutex_unlock(&c->lock);
	return pinned;
}

/* How often a region that ends looks for pins, jiffies. */
#define HIPEC_LOOK_FOR_PINS (HZ / 50 + 1)

/*
 * Put a backing file, which its disk may be waited for. fput() of a thread of the kernel would leave
 * it to a work that puts all others' as well.
 */
static void put_backing(struct file *file)
{
	if (current->flags & PF_KTHREAD)
		__fput_sync(file);
	else
		fput(file);
}

/* The region ends later, by a worker of its volume, which may wait for its disk. */
static void end_region_later(struct hipec_region *r, unsigned long ticks)
{
	queue_delayed_work(r->volume->end_wq, &r->end, ticks);
}

/*
 * The region, which nobody can map any more, ends; when its last pin has gone. Its volume is put
 * last, as that waits for this worker.
 */
static void end_region(struct work_struct *work)
{
	struct hipec_region *r = container_of(to_delayed_work(work),
					      struct hipec_region, end);
	struct hipec_volume *volume = r->volume;
	struct hipec_container *c = r->c;
	struct inode *inode = r->inode;
	bool pinned;

	hipec_readahead_close(r);
	/* Before: who unpins a page that was stored to has made it dirty. */
	pinned = is_pinned(r);
	hipec_io_sync(r, 0, r->nr - 1);
	if (pinned) {
		end_region_later(r, HIPEC_LOOK_FOR_PINS);
		return;
	}
	leave_container(r);
	hipec_writeback_put(r);
	unclaim_file(r);
	inode->i_private = NULL;
	put_backing(r->backing);
	hipec_hint_free(r);
	kfree(r);
	hipec_container_put(c);
	iput(inode);
	simple_release_fs(&fs_mount, &fs_users);
	hipec_volume_put(volume);
}

static int region_release(struct inode *inode, struct file *file)
{
	struct hipec_region *r = file->private_data;

	ihold(inode);
	if (waits_for_region(r))
		end_region(&r->end.work);
	else
		end_region_later(r, 0);
	return 0;
}

/* One command, by its number alone, as for the device. */
static long region_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hipec_hint a;
	u32 usize;
	int ret;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(HIPEC_IOC_HINT) ||
	    _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE) ||
	    _IOC_NR(cmd) != _IOC_NR(HIPEC_IOC_HINT))
		return -ENOTTY;
	ret = hipec_args_get(&a, sizeof(a), (void __user *)arg, &usize, 0);
	return ret ?: hipec_hint_set(file->private_data, &a);
}

static const struct file_operations region_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = region_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = region_mmap,
	.fsync = region_fsync,
	.flush = region_flush,
	.release = region_release,
	.llseek = noop_llseek,
};

/* The region's inode and file; on success the file owns @r. */
static struct file *region_file_new(struct hipec_region *r, const char *name)
{
	struct file *file;
	int ret = simple_pin_fs(&hipec_fs_type, &fs_mount, &fs_users);

	if (ret)
		return ERR_PTR(ret);
	r->inode = alloc_anon_inode(fs_mount->mnt_sb);
	if (IS_ERR(r->inode)) {
		file = ERR_CAST(r->inode);
		goto out_unpin;
	}
	r->inode->i_mapping->a_ops = &hipec_aops;
	r->inode->i_private = r;
	r->inode->i_size = (loff_t)r->nr << PAGE_SHIFT;
	__module_get(THIS_MODULE); /* fput() puts the owner of the fops */
	file = alloc_file_pseudo(r->inode, fs_mount, name,
				 r->writable ? O_RDWR : O_RDONLY,
				 &region_fops);
	if (IS_ERR(file)) {
		module_put(THIS_MODULE);
		goto out_iput;
	}
	file->private_data = r;
	return file;

out_iput:
	iput(r->inode);
out_unpin:
	simple_release_fs(&fs_mount, &fs_users);
	return file;
}

static struct file *open_backing(struct file *file, bool writable)
{
	int ret = check_backing(file, writable);

	if (ret)
		return ERR_PTR(ret);
	return dentry_open(&file->f_path,
			   (writable ? O_RDWR : O_RDONLY) | O_DIRECT |
			   O_LARGEFILE, current_cred());
}

/* Return: a region that nobody knows of yet, or an error. */
static struct hipec_region *region_new(struct hipec_container *c, const struct hipec_attach *args)
{
	struct hipec_region *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	struct file *file = fget(args->fd);
	int ret = -EBADF;

	if (!r || !file)
		goto out_free;
	r->c = c;
	r->writable = args->flags & HIPEC_ATTACH_WRITE;
	hipec_hint_init(r);
	r->backing = open_backing(file, r->writable);
	if (IS_ERR(r->backing)) {
		ret = PTR_ERR(r->backing);
		goto out_free;
	}
	ret = set_range(r, args->offset, args->length);
	if (ret) {
		fput(r->backing);
		goto out_free;
	}
	fput(file);
	hipec_read_init(r);
	INIT_DELAYED_WORK(&r->end, end_region);
	return r;

out_free:
	if (file)
		fput(file);
	ret = r ? ret : -ENOMEM;
	kfree(r);
	return ERR_PTR(ret);
}

/**
 * hipec_region_attach() - bind a range of a backing file to a container
 * @c:           container
 * @args:        from the user; its address is set
 * @region_file: gets the region's file, not yet installed
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -EBADF for no open descriptor; -EISDIR, -ESPIPE, -ENODEV for a
 *         directory, a pipe or socket, another kind of file; -EACCES if it is
 *         not open for reading, or for writing where that is asked; -EPERM to
 *         write an append-only or immutable file; -EOPNOTSUPP for a file
 *         system that regions are not tested on, which the kernel's log names;
 *         -EINVAL for an offset inside a page, or a container whose pages are the
 *         page cache's; -ERANGE for a range
 *         past the end; -EFBIG for 2^32 pages or more; -EBUSY if another
 *         container, or an overlapping region, has the file and one of the two
 *         writes; -ENODATA before a policy is loaded;
 *         -ENOSPC if the container's addresses are used up; -EDQUOT if its user has files
 *         on as many file systems as one may; -ENOMEM; what
 *         opening the file for direct I/O returned.
 */
int hipec_region_attach(struct hipec_container *c, struct hipec_attach *args,
			struct file **region_file)
{
	struct hipec_region *r = region_new(c, args);
	struct file *file;
	int ret;

	if (IS_ERR(r))
		return PTR_ERR(r);
	ret = -ENODATA;
	if (!smp_load_acquire(&c->loaded))
		goto out_free;
	r->volume = hipec_volume_get(hipec_backing(r), c->bounded ? c->user->uid : INVALID_UID);
	ret = PTR_ERR_OR_ZERO(r->volume);
	if (ret)
		goto out_free;
	ret = hipec_writeback_get(r);
	if (ret)
		goto out_volume;
	ret = claim_file(r);
	if (ret)
		goto out_writeback;
	ret = join_container(r);
	if (ret)
		goto out_unclaim;
	file = region_file_new(r, "hipec");
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto out_leave;
	}
	hipec_readahead_open(r);
	kref_get(&c->ref);
	args->address = (u64)r->start << PAGE_SHIFT;
	*region_file = file;
	return 0;

out_leave:
	mutex_lock(&c->lock);
	list_del(&r->link);
	c->nr_regions--;
	mutex_unlock(&c->lock);
out_unclaim:
	unclaim_file(r);
out_writeback:
	hipec_writeback_put(r);
out_volume:
	hipec_volume_put(r->volume);
out_free:
	fput(r->backing);
	kfree(r);
	return ret;
}
