// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec_vmtest.ko: the VM core of the kernel on a fake host, for test/vm/cases. No
 * part of hipec.ko; load it in test guests only.
 *
 * Interface: /dev/hipec_vmtest, mode 0600. One write() is one case, the bytes
 * of struct hipec_vmcase_head and what follows; read() gives its text.
 *
 * Lock it owns: vmtest_file.lock, of one open file; nothing is shared.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fakehost.h"
#include "vmcase.h"

struct vmtest_file {
	struct mutex lock;
	char *text;		/* HIPEC_VMCASE_MAX_TEXT bytes */
	size_t len;		/* bytes of the last case's outcome */
	size_t pos;		/* of it, read so far */
};

static int vmtest_open(struct inode *inode, struct file *file)
{
	struct vmtest_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return -ENOMEM;
	f->text = kvmalloc(HIPEC_VMCASE_MAX_TEXT, GFP_KERNEL_ACCOUNT);
	if (!f->text) {
		kfree(f);
		return -ENOMEM;
	}
	mutex_init(&f->lock);
	file->private_data = f;
	return stream_open(inode, file);
}

static int vmtest_release(struct inode *inode, struct file *file)
{
	struct vmtest_file *f = file->private_data;

	mutex_destroy(&f->lock);
	kvfree(f->text);
	kfree(f);
	return 0;
}

/* Run the case in @bytes; its text replaces the one before. */
static int vmtest_run(struct vmtest_file *f, const void *bytes, size_t size)
{
	struct hipec_vmcase c;
	struct hipec_text out;
	void *memory;
	int ret;

	lockdep_assert_held(&f->lock);
	hipec_text_init(&out, f->text, HIPEC_VMCASE_MAX_TEXT);
	ret = hipec_vmcase_parse(&c, bytes, size, &out);
	if (ret < 0)
		return ret;
	if (!ret) {
		memory = kvzalloc(hipec_vmcase_memory(&c), GFP_KERNEL_ACCOUNT);
		if (!memory)
			return -ENOMEM;
		ret = hipec_vmcase_run(&c, memory, &out);
		kvfree(memory);
		if (ret)
			return ret;
	}
	f->len = out.len;
	return 0;
}

/**
 * vmtest_write() - run one case
 * @file: open file
 * @buf:  the case
 * @size: bytes
 * @ppos: not used, the file is a stream
 *
 * Context: Process context, sleeps. Takes the file's lock.
 * Return: @size; -EFBIG if a case cannot be as long; -EINVAL if it is
 *         malformed; -ENOMEM; -EFAULT; -ERESTARTSYS. There is nothing to read
 *         after an error.
 */
static ssize_t vmtest_write(struct file *file, const char __user *buf,
			    size_t size, loff_t *ppos)
{
	struct vmtest_file *f = file->private_data;
	void *bytes;
	int ret;

	if (size > HIPEC_VMCASE_MAX_SIZE)
		return -EFBIG;
	bytes = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!bytes)
		return -ENOMEM;
	ret = -EFAULT;
	if (copy_from_user(bytes, buf, size))
		goto out_free;
	ret = mutex_lock_interruptible(&f->lock);
	if (ret) {
		ret = -ERESTARTSYS;
		goto out_free;
	}
	f->len = 0;
	f->pos = 0;
	ret = vmtest_run(f, bytes, size);
	mutex_unlock(&f->lock);
out_free:
	kvfree(bytes);
	return ret ? ret : size;
}

/**
 * vmtest_read() - the outcome of the last case
 * @file: open file
 * @buf:  gets the text
 * @size: bytes of @buf
 * @ppos: not used, the file is a stream
 *
 * Context: Process context, sleeps. Takes the file's lock.
 * Return: bytes read, 0 at the end of the text; -EFAULT; -ERESTARTSYS.
 */
static ssize_t vmtest_read(struct file *file, char __user *buf, size_t size,
			   loff_t *ppos)
{
	struct vmtest_file *f = file->private_data;
	ssize_t ret;

	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	ret = min(size, f->len - f->pos);
	if (copy_to_user(buf, f->text + f->pos, ret))
		ret = -EFAULT;
	else
		f->pos += ret;
	mutex_unlock(&f->lock);
	return ret;
}

static const struct file_operations vmtest_fops = {
	.owner = THIS_MODULE,
	.open = vmtest_open,
	.release = vmtest_release,
	.read = vmtest_read,
	.write = vmtest_write,
};

static struct miscdevice vmtest_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hipec_vmtest",
	.mode = 0600,
	.fops = &vmtest_fops,
};

module_misc_device(vmtest_device);

MODULE_DESCRIPTION("hipec VM core on a fake host, for tests only");
MODULE_LICENSE("GPL");
