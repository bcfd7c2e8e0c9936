// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/hipec: one open is one container. Copies arguments in and out by the
 * rules of uapi/hipec.h and calls what does the work.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "cache/host.h"
#include "internal.h"

/* The verifier's log is one line. */
#define HIPEC_LOG_MAX 512

static int hipec_open(struct inode *inode, struct file *file)
{
	file->private_data = hipec_container_new();
	return file->private_data ? 0 : -ENOMEM;
}

/*
 * Its user waits for the end of what the container has. Others may close the descriptor as well: who was
 * sent it, or found it in a socket that is gone. A worker does it for them.
 */
static int hipec_release(struct inode *inode, struct file *file)
{
	struct hipec_container *c = file->private_data;

	if (smp_load_acquire(&c->loaded) && (current->flags & PF_KTHREAD ||
					     !uid_eq(c->owner_uid, current_uid()))) {
		hipec_cache_abandon(c);
		hipec_container_put_later(c);
		return 0;
	}
	hipec_cache_close(c);
	hipec_container_put(c);
	return 0;
}

static int put_args(void __user *uargs, u32 usize, const void *args,
		    size_t ksize)
{
	return copy_to_user(uargs, args, min_t(size_t, usize, ksize)) ?
		-EFAULT : 0;
}

static int ioctl_query(struct hipec_container *c, void __user *uargs)
{
	struct hipec_query q;
	u32 usize;
	int ret = hipec_args_get(&q, sizeof(q), uargs, &usize, 0);

	if (ret)
		return ret;
	q.abi_version = HIPEC_ABI_VERSION;
	q.image_version = HIPEC_IMAGE_VERSION;
	q.features = HIPEC_FEATURE_PRIVILEGED | HIPEC_FEATURE_POOL |
		HIPEC_FEATURE_BUILTIN | HIPEC_FEATURE_RECORD |
		HIPEC_FEATURE_SET_PARAM | HIPEC_FEATURE_HINT |
		HIPEC_FEATURE_SAMPLE | HIPEC_FEATURE_SWAP | HIPEC_FEATURE_LOG |
		HIPEC_FEATURE_IN_PLACE | HIPEC_FEATURE_LEAGUE;
	hipec_share_query(&q);
	q.frames = atomic_long_read(&hipec_nr_frames);
	q.containers = atomic_read(&hipec_nr_containers);
	return put_args(uargs, usize, &q, sizeof(q));
}

/* The words that belong to error @ret, at the user's @address. Return: 0; -EFAULT. */
static int put_log(u64 address, const struct hipec_text *log, int ret)
{
	if (!ret || !address || !log->size)
		return 0;
	return copy_to_user(u64_to_user_ptr(address), log->buf, log->len + 1) ? -EFAULT : 0;
}

/* A copy of the caller's image; NULL if it has none. */
static int get_image(u64 address, u32 size, void **image)
{
	*image = NULL;
	if (size > HIPEC_MAX_IMAGE)
		return -EINVAL;
	if (!address && !size)
		return 0;
	*image = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!*image)
		return -ENOMEM;
	if (!copy_from_user(*image, u64_to_user_ptr(address), size))
		return 0;
	kvfree(*image);
	return -EFAULT;
}

static int ioctl_load(struct hipec_container *c, void __user *uargs)
{
	char words[HIPEC_LOG_MAX];
	struct hipec_text log;
	struct hipec_load a;
	void *image;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, HIPEC_LOAD_SHARE |
				 HIPEC_LOAD_IN_PLACE | HIPEC_LOAD_KEEP |
				 HIPEC_LOAD_CONTRACT);

	if (ret)
		return ret;
	if (a.reserved)
		return -EINVAL;
	ret = get_image(a.image, a.image_size, &image);
	if (ret)
		return ret;
	hipec_text_init(&log, words, min_t(size_t, a.log_size, sizeof(words)));
	ret = hipec_container_load(c, &a, image, &log);
	if (!ret)
		return 0;
	kvfree(image);
	if (put_log(a.log, &log, ret) || put_args(uargs, usize, &a, sizeof(a)))
		return -EFAULT;
	return ret;
}

/* Own containers, all of them for the administrator; loaded ones only. */
static bool may_see(struct hipec_container *c)
{
	/* Without its lock: who asks for all would wait for the events of each. */
	return smp_load_acquire(&c->loaded) &&
	       (uid_eq(c->owner_uid, current_uid()) || hipec_user_sees_all());
}

/* The container that a caller of @c's means, with a reference; NULL: none. */
static struct hipec_container *get_visible(struct hipec_container *c, u64 id)
{
	if (!id) {
		kref_get(&c->ref);
		return c;
	}
	c = hipec_container_with(id);
	if (!c || may_see(c))
		return c;
	hipec_container_put_later(c);
	return NULL;
}

static int ioctl_swap(struct hipec_container *c, void __user *uargs)
{
	char words[HIPEC_LOG_MAX];
	struct hipec_text log;
	struct hipec_swap a;
	void *image;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	ret = get_image(a.image, a.image_size, &image);
	if (ret)
		return ret;
	c = get_visible(c, a.id);
	if (!c) {
		kvfree(image);
		return -ESRCH;
	}
	hipec_text_init(&log, words, min_t(size_t, a.log_size, sizeof(words)));
	ret = hipec_swap_policy(c, &a, image, &log);
	hipec_container_put_later(c);
	if (put_log(a.log, &log, ret) || put_args(uargs, usize, &a, sizeof(a)))
		return -EFAULT;
	return ret;
}

/*
 * Give the caller the descriptor @fd of @file, and @args, which say so; or what
 * @ret says, and then there is no file.
 */
static int install_descriptor(int fd, int ret, struct file *file, void __user *uargs,
			      u32 usize, const void *args, size_t ksize)
{
	if (!ret && put_args(uargs, usize, args, ksize)) {
		fput(file);
		ret = -EFAULT;
	}
	if (!ret)
		fd_install(fd, file);
	else if (fd >= 0)
		put_unused_fd(fd);
	return ret;
}

static int ioctl_attach(struct hipec_container *c, void __user *uargs)
{
	struct hipec_attach a;
	struct file *file = NULL;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, HIPEC_ATTACH_WRITE);

	if (ret)
		return ret;
	if (usize < sizeof(a))
		return -EINVAL; /* no place for the answer */
	a.region_fd = get_unused_fd_flags(O_CLOEXEC);
	ret = a.region_fd < 0 ? a.region_fd :
				hipec_region_attach(c, &a, &file);
	return install_descriptor(a.region_fd, ret, file, uargs, usize, &a, sizeof(a));
}

static int ioctl_status(struct hipec_container *c, void __user *uargs)
{
	struct hipec_status s;
	u32 usize;
	int ret = hipec_args_get(&s, sizeof(s), uargs, &usize, 0);

	if (ret)
		return ret;
	ret = hipec_status_get(c, &s);
	return ret ?: put_args(uargs, usize, &s, sizeof(s));
}

static int ioctl_operand(struct hipec_container *c, void __user *uargs)
{
	struct hipec_operand o;
	u32 usize;
	int ret = hipec_args_get(&o, sizeof(o), uargs, &usize, 0);

	if (ret)
		return ret;
	c = get_visible(c, o.id);
	if (!c)
		return -ESRCH;
	ret = hipec_status_operand(c, &o);
	hipec_container_put_later(c);
	return ret ?: put_args(uargs, usize, &o, sizeof(o));
}

static int ioctl_set_param(struct hipec_container *c, void __user *uargs)
{
	struct hipec_set_param a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	if (a.reserved)
		return -EINVAL;
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	ret = hipec_status_set_param(c, a.slot, a.value);
	hipec_container_put_later(c);
	return ret;
}

static int ioctl_revoke(struct hipec_container *c, void __user *uargs)
{
	struct hipec_revoke a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	ret = hipec_exit_administrative(c);
	hipec_container_put_later(c);
	return ret;
}

static int ioctl_why(struct hipec_container *c, void __user *uargs)
{
	struct hipec_why a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize,
				 HIPEC_WHY_BY_FILE);

	if (ret)
		return ret;
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	ret = hipec_why_page(c, &a);
	hipec_container_put_later(c);
	return ret ?: put_args(uargs, usize, &a, sizeof(a));
}

static int ioctl_record(struct hipec_container *c, void __user *uargs)
{
	struct hipec_record a;
	struct file *file = NULL;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	if (usize < sizeof(a))
		return -EINVAL; /* no place for the answer */
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	a.record_fd = get_unused_fd_flags(O_CLOEXEC);
	ret = a.record_fd < 0 ? a.record_fd :
				hipec_record_start(c, a.ring, &file);
	hipec_container_put_later(c);
	return install_descriptor(a.record_fd, ret, file, uargs, usize, &a, sizeof(a));
}

static int ioctl_sample(struct hipec_container *c, void __user *uargs)
{
	struct hipec_sample a;
	struct file *file = NULL;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	if (usize < sizeof(a))
		return -EINVAL; /* no place for the answer */
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	a.sample_fd = get_unused_fd_flags(O_CLOEXEC);
	ret = a.sample_fd < 0 ? a.sample_fd :
		hipec_sample_start(c, a.threshold, a.ring, &file);
	hipec_container_put_later(c);
	return install_descriptor(a.sample_fd, ret, file, uargs, usize, &a, sizeof(a));
}

static int ioctl_take(struct hipec_container *c, void __user *uargs)
{
	struct hipec_take a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, HIPEC_TAKE_CGROUP);

	if (ret)
		return ret;
	if (a.reserved)
		return -EINVAL;
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	ret = hipec_cache_attach(c, &a);
	hipec_container_put_later(c);
	return put_args(uargs, usize, &a, sizeof(a)) ?: ret;
}

static int ioctl_release(struct hipec_container *c, void __user *uargs)
{
	struct hipec_release a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	if (a.reserved || a.fd < -1)
		return -EINVAL;
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	ret = hipec_cache_detach(c, a.fd);
	if (!ret && a.fd < 0)
		hipec_cache_drop(c);
	/* Its loader may count on what it had; others do not end it in their time. */
	if (uid_eq(c->owner_uid, current_uid()))
		hipec_container_put(c);
	else
		hipec_container_put_later(c);
	return ret;
}

static int ioctl_join(struct hipec_container *c, void __user *uargs)
{
	char words[HIPEC_LOG_MAX];
	struct hipec_text log;
	struct hipec_join a;
	void *image;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	if (a.quarters > HIPEC_MAX_QUARTERS || a.quarters == HIPEC_LEAGUE_WHOLE ||
	    (a.quarters && a.image))
		return -EINVAL;
	ret = get_image(a.image, a.image_size, &image);
	if (ret)
		return ret;
	c = get_visible(c, a.id);
	if (!c) {
		kvfree(image);
		return -ESRCH;
	}
	hipec_text_init(&log, words, min_t(size_t, a.log_size, sizeof(words)));
	ret = hipec_league_join(c, &a, image, &log);
	hipec_container_put_later(c);
	if (put_log(a.log, &log, ret) || put_args(uargs, usize, &a, sizeof(a)))
		return -EFAULT;
	return ret;
}

static int ioctl_standing(struct hipec_container *c, void __user *uargs)
{
	struct hipec_standing a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (ret)
		return ret;
	c = get_visible(c, a.id);
	if (!c)
		return -ESRCH;
	ret = hipec_league_standing(c, &a);
	hipec_container_put_later(c);
	return ret ?: put_args(uargs, usize, &a, sizeof(a));
}

static int ioctl_next(struct hipec_container *c, void __user *uargs)
{
	struct hipec_container *next;
	struct hipec_status s;
	u32 usize;
	u64 id;
	int ret = hipec_args_get(&s, sizeof(s), uargs, &usize, 0);

	if (ret)
		return ret;
	id = s.id;
	while ((next = hipec_container_next(id)) && !may_see(next)) {
		id = next->id;
		hipec_container_put_later(next);
	}
	if (!next)
		return -ENOENT;
	ret = hipec_status_get(next, &s);
	hipec_container_put_later(next);
	return ret ?: put_args(uargs, usize, &s, sizeof(s));
}

static int ioctl_log(struct hipec_container *c, void __user *uargs)
{
	struct hipec_log a;
	u32 usize;
	int ret = hipec_args_get(&a, sizeof(a), uargs, &usize, 0);

	if (!ret)
		ret = hipec_log_next(&a);
	return ret ?: put_args(uargs, usize, &a, sizeof(a));
}

/* By number alone: the size in the command is the caller's business. */
static const struct {
	unsigned int cmd;
	int (*fn)(struct hipec_container *c, void __user *uargs);
} ioctls[] = {
	{ HIPEC_IOC_QUERY, ioctl_query },
	{ HIPEC_IOC_LOAD, ioctl_load },
	{ HIPEC_IOC_ATTACH, ioctl_attach },
	{ HIPEC_IOC_STATUS, ioctl_status },
	{ HIPEC_IOC_NEXT, ioctl_next },
	{ HIPEC_IOC_OPERAND, ioctl_operand },
	{ HIPEC_IOC_RECORD, ioctl_record },
	{ HIPEC_IOC_SET_PARAM, ioctl_set_param },
	{ HIPEC_IOC_SAMPLE, ioctl_sample },
	{ HIPEC_IOC_LOG, ioctl_log },
	{ HIPEC_IOC_SWAP, ioctl_swap },
	{ HIPEC_IOC_REVOKE, ioctl_revoke },
	{ HIPEC_IOC_WHY, ioctl_why },
	{ HIPEC_IOC_TAKE, ioctl_take },
	{ HIPEC_IOC_RELEASE, ioctl_release },
	{ HIPEC_IOC_JOIN, ioctl_join },
	{ HIPEC_IOC_STANDING, ioctl_standing },
};

static long hipec_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	size_t i;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(HIPEC_IOC_QUERY) ||
	    _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE))
		return -ENOTTY;
	for (i = 0; i < ARRAY_SIZE(ioctls); i++)
		if (_IOC_NR(ioctls[i].cmd) == _IOC_NR(cmd))
			return ioctls[i].fn(file->private_data,
					    (void __user *)arg);
	return -ENOTTY;
}

static int hipec_mmap(struct file *file, struct vm_area_struct *vma)
{
	return hipec_shared_mmap(file->private_data, vma);
}

/* Readable once the policy has ended; STATUS says why. */
static __poll_t hipec_poll(struct file *file, poll_table *wait)
{
	struct hipec_container *c = file->private_data;

	poll_wait(file, &c->ended, wait);
	return READ_ONCE(c->core.vm.exit.kind) ? EPOLLIN | EPOLLRDNORM : 0;
}

const struct file_operations hipec_dev_fops = {
	.owner = THIS_MODULE,
	.open = hipec_open,
	.release = hipec_release,
	.unlocked_ioctl = hipec_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = hipec_mmap,
	.poll = hipec_poll,
	.llseek = noop_llseek,
};
