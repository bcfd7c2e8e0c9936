// SPDX-License-Identifier: GPL-2.0-only
/*
 * A container with frames and a file, for KUnit; and what main.c is to the
 * module, since these suites are linked without it. See kunit_world.h.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../base/volume.h"
#include "kunit_world.h"

/*
 * A case runs in a thread of the kernel, which has no memory to account frames
 * to. The task that loads this module has, and waits for all cases.
 */
static struct mm_struct *loader_mm;

int hipec_world_suite_init(struct kunit_suite *suite)
{
	loader_mm = current->mm;
	return loader_mm ? 0 : -EINVAL;
}

int hipec_world_init(struct kunit *test)
{
	struct hipec_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	if (!w)
		return -ENOMEM;
	w->test = test;
	w->frames_before = atomic_long_read(&hipec_nr_frames);
	test->priv = w;
	return 0;
}

void hipec_world_exit(struct kunit *test)
{
	struct hipec_world *w = test->priv;

	if (!w)
		return;
	/* Of a case that was given up: another thread, so lockdep will complain. */
	hipec_world_unlock(w);
	/* At once: a thread of the kernel puts files later, from a work. */
	if (w->region) {
		__fput_sync(w->region);
		hipec_volume_drain();
	}
	if (w->backing)
		__fput_sync(w->backing);
	if (w->c)
		hipec_container_put(w->c);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&hipec_nr_frames),
			w->frames_before);
}

/**
 * hipec_world_fifo() - a policy that queues what comes and gives up nothing
 * @test:  case
 * @queue: gets the queue's slot
 */
static struct hipec_kit *hipec_world_fifo(struct kunit *test, u8 *queue)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit);

	*queue = hipec_kit_queue(kit);
	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, *queue, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	return kit;
}

static int load(struct hipec_world *w, struct hipec_kit *kit, u32 frames)
{
	const struct hipec_image *image = hipec_kit_image(kit);
	struct hipec_load args = {
		.image_size = image->image_size, .frames = frames, .cluster = 1,
	};
	struct hipec_text log;
	void *copy = kvmalloc(image->image_size, GFP_KERNEL);
	int ret;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, image, image->image_size);
	hipec_text_init(&log, NULL, 0);
	kthread_use_mm(loader_mm);
	ret = hipec_container_load(w->c, &args, copy, &log);
	kthread_unuse_mm(loader_mm);
	if (ret)
		kvfree(copy);
	return ret;
}

static int fill_file(struct file *file, u32 pages)
{
	loff_t pos = 0;
	u64 word;
	u32 i;

	for (i = 0; i < pages; i++) {
		word = 1000 + i;
		pos = (loff_t)i << PAGE_SHIFT;
		if (kernel_write(file, &word, sizeof(word), &pos) !=
		    sizeof(word))
			return -EIO;
	}
	return vfs_truncate(&file->f_path, (loff_t)pages << PAGE_SHIFT);
}

static int attach(struct hipec_world *w)
{
	struct hipec_attach args = { .flags = HIPEC_ATTACH_WRITE };
	int ret;

	args.fd = get_unused_fd_flags(O_CLOEXEC);
	if (args.fd < 0)
		return args.fd;
	fd_install(args.fd, get_file(w->backing));
	ret = hipec_region_attach(w->c, &args, &w->region);
	close_fd(args.fd);
	return ret;
}

/**
 * hipec_world_new() - load a policy, attach a file, writable, in clusters of 1
 * @test:   case
 * @kit:    policy
 * @frames: of the container
 * @pages:  of the file
 */
struct hipec_world *hipec_world_new(struct kunit *test, struct hipec_kit *kit,
				    u32 frames, u32 pages)
{
	struct hipec_world *w = test->priv;
	struct file *file;

	w->c = hipec_container_new();
	KUNIT_ASSERT_NOT_NULL(test, w->c);
	KUNIT_ASSERT_EQ(test, load(w, kit, frames), 0);
	file = filp_open("/tmp", O_TMPFILE | O_RDWR | O_LARGEFILE, 0600);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	w->backing = file;
	KUNIT_ASSERT_EQ(test, fill_file(file, pages), 0);
	KUNIT_ASSERT_EQ(test, attach(w), 0);
	w->r = w->region->private_data;
	return w;
}

void hipec_world_lock(struct hipec_world *w)
{
	mutex_lock(&w->c->lock);
	w->locked = true;
}

void hipec_world_unlock(struct hipec_world *w)
{
	if (w->locked)
		mutex_unlock(&w->c->lock);
	w->locked = false;
}

/**
 * hipec_world_bring_in() - read a page into a free frame, tell the policy
 * @w:   world, locked, with a free frame
 * @idx: page that is not resident
 *
 * Return: its handle.
 */
u32 hipec_world_bring_in(struct hipec_world *w, u32 idx)
{
	struct hipec_batch b = { .idx = idx, .nr = 1 };

	KUNIT_ASSERT_GT(w->test, w->c->core.nr_free, 0);
	hipec_batch_bind(w->r, &b);
	KUNIT_ASSERT_EQ(w->test, hipec_batch_read(w->r, &b), 0);
	hipec_batch_activate(w->r, &b, idx, false);
	folio_put(b.folio[0]);	/* a fault would keep it until it is mapped */
	return b.h[0];
}

/**
 * hipec_world_resident() - hipec_world_new() of hipec_world_fifo(), some pages in it
 * @test:   case
 * @frames: of the container
 * @pages:  of the file
 * @nr:     of them, the first, that are resident
 *
 * Return: a world, locked.
 */
struct hipec_world *hipec_world_resident(struct kunit *test, u32 frames,
					 u32 pages, u32 nr)
{
	struct hipec_world *w;
	u32 idx;
	u8 q;

	w = hipec_world_new(test, hipec_world_fifo(test, &q), frames, pages);
	hipec_world_lock(w);
	for (idx = 0; idx < nr; idx++)
		hipec_world_bring_in(w, idx);
	return w;
}

/* What the file has now at the start of a page, past all our frames. */
u64 hipec_world_word(struct hipec_world *w, u32 idx)
{
	loff_t pos = (loff_t)idx << PAGE_SHIFT;
	u64 word = 0;

	KUNIT_EXPECT_EQ(w->test, kernel_read(w->backing, &word, sizeof(word),
					     &pos), (ssize_t)sizeof(word));
	return word;
}

static int __init world_module_init(void)
{
	int ret = hipec_work_init();

	if (ret)
		return ret;
	ret = hipec_log_init();
	if (ret) {
		hipec_work_exit();
		return ret;
	}
	hipec_debugfs_init();
	hipec_share_init();	/* the pool has its host from there */
	return 0;
}

static void __exit world_module_exit(void)
{
	hipec_share_exit();
	hipec_debugfs_exit();
	hipec_work_exit();
	hipec_log_exit();
}

module_init(world_module_init);
module_exit(world_module_exit);
