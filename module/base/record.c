// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of live containers: the tracer of the machine (vm/tracer.h) into a ring, which
 * a descriptor of its own gives to read.
 *
 * The container writes, under its lock; whoever has the descriptor reads, without
 * it. What does not fit is dropped and counted: a full ring makes nobody wait. The
 * descriptor does not keep the container alive, and the recorder outlives it until
 * what it still holds was read.
 *
 * A record is of one policy. Where another takes its place the next record follows: the
 * descriptor is at its end once, and then gives that.
 *
 * Interface:
 * hipec_record_start()   a descriptor's file
 * hipec_record_region()  a region has come
 * hipec_record_swapped() another policy has
 * hipec_record_end()     there is nothing more to tell
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base.h"
#include "ring.h"

/**
 * struct hipec_recorder - one container's record on its way
 * @tracer:   of its machine
 * @listener: has the file
 * @begin: what comes before the ring, under its @read; NULL: it was read
 * @begin_size: bytes of it
 * @begin_at: bytes read of these
 * @ring:  what comes then
 * @then:  what the next record begins with, when @boundary has been read; NULL: there is
 *         none. The container sets it, the readers take it
 * @then_size: bytes of it
 * @boundary: of @ring: bytes up to now that are of the record before
 * @lost:  entries that did not fit since the last one that did; the container's
 *         until the ring has ended, then the readers'
 * @path:  of a region's file, under the container's lock
 */
struct hipec_recorder {
	struct hipec_tracer tracer;
	struct hipec_listener listener;
	void *begin;
	size_t begin_size, begin_at;
	struct hipec_ring ring;
	void *then;
	size_t then_size;
	u32 boundary;
	u64 lost;
	char path[PATH_MAX];
};

static void recorder_free(struct kref *ref)
{
	struct hipec_recorder *rec =
		container_of(ref, struct hipec_recorder, listener.ref);

	kvfree(rec->begin);
	kvfree(rec->then);
	hipec_ring_free(&rec->ring);
	kfree(rec);
}

/* An entry, and before it how many are missing. Return: false: no room. */
static bool write_entry(struct hipec_recorder *rec, const u8 *bytes, u32 nr)
{
	struct hipec_entry lost = { .nr = 0 };

	if (rec->lost) {
		hipec_tracer_entry_begin(&lost, HIPEC_RECORD_LOST);
		hipec_tracer_entry_number(&lost, rec->lost);
	}
	if (lost.nr + nr > hipec_ring_room(&rec->ring))
		return false;
	hipec_ring_write(&rec->ring, lost.byte, lost.nr);
	hipec_ring_write(&rec->ring, bytes, nr);
	rec->lost = 0;
	return true;
}

/* The machine's tracer. Context: expects the container's lock. */
static void record_entry(struct hipec_tracer *tracer, const u8 *entry, u32 nr)
{
	struct hipec_recorder *rec =
		container_of(tracer, struct hipec_recorder, tracer);

	if (!write_entry(rec, entry, nr))
		rec->lost++;
	else
		hipec_ring_wake(&rec->ring);
}

/**
 * hipec_record_region() - tell of a region, if somebody listens
 * @c:       container
 * @start:   its first page
 * @nr:      pages
 * @backing: its file
 *
 * Context: expects c->lock.
 */
void hipec_record_region(struct hipec_container *c, u32 start, u32 nr,
			 struct file *backing)
{
	struct hipec_recorder *rec = c->recorder;
	struct hipec_entry e;
	const char *name;
	size_t len;

	if (!rec)
		return;
	name = file_path(backing, rec->path, sizeof(rec->path));
	if (IS_ERR(name))
		name = "?";
	len = strlen(name);
	if (len > HIPEC_RECORD_MAX_NAME) {
		name += len - HIPEC_RECORD_MAX_NAME;
		len = HIPEC_RECORD_MAX_NAME;
	}
	hipec_tracer_entry_begin(&e, HIPEC_RECORD_REGION);
	hipec_tracer_entry_number(&e, start);
	hipec_tracer_entry_number(&e, nr);
	hipec_tracer_entry_number(&e, len);
	memcpy(e.byte + e.nr, name, len);
	record_entry(&rec->tracer, e.byte, e.nr + len);
}

/**
 * hipec_record_end() - end a container's record, if there is one
 * @c: container
 *
 * Context: process context; expects c->lock.
 */
void hipec_record_end(struct hipec_container *c)
{
	struct hipec_recorder *rec = c->recorder;

	lockdep_assert_held(&c->lock);
	if (!rec)
		return;
	/* By a swap the machine that it was on may be gone. */
	if (c->core.vm.tracer)
		hipec_tracer_close(&c->core.vm);
	c->recorder = NULL;
	hipec_ring_end(&rec->ring);
	hipec_ring_listener_put(&rec->listener);
}

/* What comes first. Return: bytes. */
static ssize_t read_begin(struct hipec_recorder *rec, char __user *buf,
			  size_t count)
{
	size_t nr = min(count, rec->begin_size - rec->begin_at);

	if (copy_to_user(buf, rec->begin + rec->begin_at, nr))
		return -EFAULT;
	rec->begin_at += nr;
	if (rec->begin_at == rec->begin_size) {
		kvfree(rec->begin);
		WRITE_ONCE(rec->begin, NULL);
	}
	return nr;
}

/* The record has ended, and the next begins. Context: expects @ring.read. */
static void begin_next_record(struct hipec_recorder *rec, void *then)
{
	rec->begin_size = rec->then_size;
	rec->begin_at = 0;
	WRITE_ONCE(rec->begin, then);
	/* From now on the container may set another. */
	smp_store_release(&rec->then, NULL);
}

/* What is there. Return: bytes; 0 at the end; -EAGAIN: nothing yet. */
static ssize_t read_record(struct hipec_ring *ring, char __user *buf,
			   size_t count)
{
	struct hipec_recorder *rec =
		container_of(ring, struct hipec_recorder, ring);
	/* Before the look at the ring: what was written before the end is read. */
	bool ended = hipec_ring_has_ended(ring);
	/* What is behind a boundary was written after that was set. */
	u32 nr = hipec_ring_filled(ring);
	void *then = smp_load_acquire(&rec->then);
	ssize_t ret;

	if (rec->begin)
		return read_begin(rec, buf, count);
	if (then) {
		nr = rec->boundary - ring->tail;
		if (!nr) {
			begin_next_record(rec, then);
			return 0;
		}
	}
	ret = hipec_ring_copy(ring, buf, min_t(size_t, count, nr));
	if (ret || !ended)
		return ret ?: -EAGAIN;
	if (!rec->lost)
		return 0;
	write_entry(rec, NULL, 0);	/* the ring is empty, and ours alone */
	return hipec_ring_copy(ring, buf, count);
}

static ssize_t record_read(struct file *file, char __user *buf, size_t count,
			   loff_t *pos)
{
	struct hipec_recorder *rec = file->private_data;

	return hipec_ring_read(&rec->ring, file, buf, count, read_record);
}

static __poll_t record_poll(struct file *file, poll_table *wait)
{
	struct hipec_recorder *rec = file->private_data;

	poll_wait(file, &rec->ring.wait, wait);
	return READ_ONCE(rec->begin) || READ_ONCE(rec->then) ||
	       hipec_ring_readable(&rec->ring) ?
		EPOLLIN | EPOLLRDNORM : 0;
}

/* It ends. Context: expects c->lock. */
static void end_record_of(struct hipec_container *c, struct hipec_listener *l)
{
	if (c->recorder && l == &c->recorder->listener)
		hipec_record_end(c);
}

static int record_release(struct inode *inode, struct file *file)
{
	struct hipec_recorder *rec = file->private_data;

	hipec_ring_listener_close(&rec->listener);
	return 0;
}

static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.read = record_read,
	.poll = record_poll,
	.release = record_release,
	.llseek = noop_llseek,
};

/* Memory for a record of @c that begins with @begin bytes, and nothing else yet. */
static struct hipec_recorder *recorder_new(struct hipec_container *c,
					   size_t begin, u32 size)
{
	struct hipec_recorder *rec = kzalloc(sizeof(*rec), GFP_KERNEL_ACCOUNT);

	if (!rec)
		return NULL;
	hipec_ring_listener_init(&rec->listener, c->id, end_record_of, recorder_free);
	rec->tracer.put = record_entry;
	rec->begin_size = begin;
	rec->begin = hipec_memory_alloc(rec->begin_size);
	if (!hipec_ring_init(&rec->ring, size) && rec->begin)
		return rec;
	hipec_ring_listener_put(&rec->listener);
	return NULL;
}

/* The container as it is: what a record begins with. */
static void snapshot_container(struct hipec_container *c, struct hipec_record_head *head)
{
	hipec_tracer_snapshot(&c->core.vm, c->core.nr_reserved, head);
	head->id = c->id;
	memcpy(head->comm, c->owner_comm, sizeof(head->comm));
}

/* From now on what happens is told. */
static void open_tracer(struct hipec_container *c, struct hipec_recorder *rec)
{
	hipec_tracer_open(&c->core.vm, &rec->tracer);
	if (c->host->tell)
		c->host->tell(c);
}

/**
 * hipec_record_swapped() - another policy has taken the place of a container's
 * @c:     container, between two events
 * @then:  *@then is kvmalloc()ed memory for what the next record begins with, or NULL;
 *         NULL if it was taken
 * @bytes: of it, by hipec_tracer_snapshot_size()
 *
 * Where nobody has read of the policy before that yet, or there is no memory, or no room
 * to tell of what was lost, the record ends.
 *
 * Context: process context; expects c->lock.
 */
void hipec_record_swapped(struct hipec_container *c, void **then, size_t bytes)
{
	struct hipec_recorder *rec = c->recorder;

	lockdep_assert_held(&c->lock);
	if (!rec)
		return;
	if (!*then || bytes != hipec_tracer_snapshot_size(&c->core.vm) ||
	    smp_load_acquire(&rec->then) || (rec->lost && !write_entry(rec, NULL, 0))) {
		hipec_record_end(c);
		return;
	}
	snapshot_container(c, *then);
	rec->then_size = bytes;
	rec->boundary = rec->ring.head;
	smp_store_release(&rec->then, *then);
	*then = NULL;
	open_tracer(c, rec);
	hipec_ring_wake(&rec->ring);
}

/* The container as it is, and what happens to it from now on. */
static int begin_record(struct hipec_container *c, struct hipec_recorder *rec)
{
	lockdep_assert_held(&c->lock);
	if (c->recorder && READ_ONCE(c->recorder->listener.is_closed))
		hipec_record_end(c);
	/* Or the policy was swapped just now: that, too, passes. */
	if (c->recorder || rec->begin_size != hipec_tracer_snapshot_size(&c->core.vm))
		return -EBUSY;
	snapshot_container(c, rec->begin);
	kref_get(&rec->listener.ref);
	c->recorder = rec;
	open_tracer(c, rec);
	return 0;
}

/**
 * hipec_record_start() - record a container from now on
 * @c:    container
 * @ring: bytes, a power of two from HIPEC_RECORD_MIN_RING to _MAX_RING; 0: default
 * @file: gets the file to read, not yet installed; its release ends the record
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -EINVAL for another @ring; -ENODATA before a policy is loaded; -EBUSY
 *         if the container is being recorded; -ENOMEM; -EINTR on a fatal signal; what making a
 *         file returned.
 */
int hipec_record_start(struct hipec_container *c, u32 ring, struct file **file)
{
	struct hipec_recorder *rec;
	size_t bytes = 0;
	int ret;

	if (hipec_ring_size(&ring))
		return -EINVAL;
	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (c->core.vm.policy)
		bytes = hipec_tracer_snapshot_size(&c->core.vm);
	mutex_unlock(&c->lock);
	if (!bytes)
		return -ENODATA;
	rec = recorder_new(c, bytes, ring);
	if (!rec)
		return -ENOMEM;
	*file = anon_inode_getfile("[hipec-record]", &record_fops, rec,
				   O_RDONLY);
	if (IS_ERR(*file)) {
		hipec_ring_listener_put(&rec->listener);
		return PTR_ERR(*file);
	}
	ret = mutex_lock_killable(&c->lock);
	if (!ret) {
		ret = begin_record(c, rec);
		mutex_unlock(&c->lock);
	}
	if (ret)
		fput(*file);
	return ret;
}
