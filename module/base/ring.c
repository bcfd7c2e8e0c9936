// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of bytes from a container to whoever reads a descriptor: records and
 * samples. The container writes, under its lock; readers read, without it. Nobody
 * waits for room.
 *
 * Interface:
 * hipec_ring_size()      a caller's wish
 * hipec_ring_init(), _free()
 * hipec_ring_room(), _write(), _wake(), _end()   the container's side
 * hipec_ring_has_ended(), _filled(), _readable(), _copy(), _read()   readers'
 * hipec_ring_listener_init(), _put(), _close()   who has the descriptor
 */
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "base.h"
#include "ring.h"

/**
 * hipec_ring_size() - a caller's wish
 * @size: bytes, a power of two from HIPEC_RECORD_MIN_RING to _MAX_RING; 0 becomes
 *        the default
 *
 * Return: 0; -EINVAL for another @size.
 */
int hipec_ring_size(u32 *size)
{
	if (!*size)
		*size = HIPEC_RECORD_DEFAULT_RING;
	return is_power_of_2(*size) && *size >= HIPEC_RECORD_MIN_RING &&
	       *size <= HIPEC_RECORD_MAX_RING ? 0 : -EINVAL;
}

/**
 * hipec_ring_init() - make a ring, of zeros
 * @ring: to fill
 * @size: bytes, as hipec_ring_size() leaves it
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int hipec_ring_init(struct hipec_ring *ring, u32 size)
{
	mutex_init(&ring->read);
	init_waitqueue_head(&ring->wait);
	ring->size = size;
	ring->bytes = hipec_memory_alloc(size);
	return ring->bytes ? 0 : -ENOMEM;
}

/* Context: nobody reads or writes it; may sleep. */
void hipec_ring_free(struct hipec_ring *ring)
{
	kvfree(ring->bytes);
}

/* Context: the one who writes. Return: bytes that may be written. */
u32 hipec_ring_room(struct hipec_ring *ring)
{
	/* Readers are done with what they have passed. */
	return ring->size - (ring->head - smp_load_acquire(&ring->tail));
}

/* Whoever calls is the only one who writes, and has seen that there is room. */
void hipec_ring_write(struct hipec_ring *ring, const void *bytes, u32 nr)
{
	u32 at = ring->head & (ring->size - 1);
	u32 first = min(nr, ring->size - at);

	memcpy(ring->bytes + at, bytes, first);
	memcpy(ring->bytes, bytes + first, nr - first);
	/* The bytes before the number that tells of them: readers acquire it. */
	smp_store_release(&ring->head, ring->head + nr);
}

/* Tell readers that there is something. Context: the one who writes. */
void hipec_ring_wake(struct hipec_ring *ring)
{
	if (wq_has_sleeper(&ring->wait))
		wake_up_interruptible(&ring->wait);
}

/* Nothing is written any more but by readers. Context: the one who writes. */
void hipec_ring_end(struct hipec_ring *ring)
{
	smp_store_release(&ring->ended, true);
	wake_up_interruptible(&ring->wait);
}

/* What was written before the end is seen behind this. */
bool hipec_ring_has_ended(struct hipec_ring *ring)
{
	return smp_load_acquire(&ring->ended);
}

/* Context: expects @ring->read. Return: bytes that are there, or more by now. */
u32 hipec_ring_filled(struct hipec_ring *ring)
{
	return smp_load_acquire(&ring->head) - ring->tail;
}

/* Whether a reader need not wait. */
bool hipec_ring_readable(struct hipec_ring *ring)
{
	return hipec_ring_has_ended(ring) ||
	       smp_load_acquire(&ring->head) != READ_ONCE(ring->tail);
}

/* Context: expects @ring->read. Return: bytes, 0 if there are none; -EFAULT. */
ssize_t hipec_ring_copy(struct hipec_ring *ring, char __user *buf,
			size_t count)
{
	u32 at = ring->tail & (ring->size - 1);
	u32 nr = hipec_ring_filled(ring);
	u32 first;

	lockdep_assert_held(&ring->read);
	nr = min_t(size_t, nr, count);
	first = min(nr, ring->size - at);
	if (copy_to_user(buf, ring->bytes + at, first) ||
	    copy_to_user(buf + first, ring->bytes, nr - first))
		return -EFAULT;
	smp_store_release(&ring->tail, ring->tail + nr);
	return nr;
}

/**
 * hipec_ring_read() - read(), which waits
 * @ring:  ring
 * @file:  that is read
 * @buf:   gets bytes
 * @count: at most so many
 * @some:  gives what there is; -EAGAIN: nothing yet
 *
 * Context: process context, may sleep.
 * Return: what @some returned; -EAGAIN if the file does not block; -ERESTARTSYS
 *         when a signal came.
 */
ssize_t hipec_ring_read(struct hipec_ring *ring, struct file *file,
			char __user *buf, size_t count,
			ssize_t (*some)(struct hipec_ring *ring,
					char __user *buf, size_t count))
{
	ssize_t ret;

	if (!count)
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&ring->read))
			return -ERESTARTSYS;
		ret = some(ring, buf, count);
		mutex_unlock(&ring->read);
		if (ret != -EAGAIN || file->f_flags & O_NONBLOCK)
			return ret;
		if (wait_event_interruptible(ring->wait,
					     hipec_ring_readable(ring)))
			return -ERESTARTSYS;
	}
}

/* It is told no more, by a container that the caller has locked, and holds: both end. */
static void end_locked(struct hipec_container *c, struct hipec_listener *l)
{
	l->end(c, l);
	mutex_unlock(&c->lock);
	hipec_container_put_later(c);
}

/* Work: the descriptor was closed while somebody had the container's lock. */
static void close_later(struct work_struct *work)
{
	struct hipec_listener *l = container_of(work, struct hipec_listener, closed);
	struct hipec_container *c = hipec_container_with(l->id);

	if (c) {
		mutex_lock(&c->lock);
		end_locked(c, l);
	}
	hipec_ring_listener_put(l);
}

/* Context: any. @id is of the container, and there is one reference. */
void hipec_ring_listener_init(struct hipec_listener *l, u64 id,
			      void (*end)(struct hipec_container *c, struct hipec_listener *l),
			      void (*free)(struct kref *ref))
{
	kref_init(&l->ref);
	INIT_WORK(&l->closed, close_later);
	l->id = id;
	l->end = end;
	l->free = free;
}

/* Context: process context, may sleep. */
void hipec_ring_listener_put(struct hipec_listener *l)
{
	kref_put(&l->ref, l->free);
}

/**
 * hipec_ring_listener_close() - a descriptor is closed
 * @l: listener; the descriptor's reference goes
 *
 * Whoever closes it, and be it one on its way to somebody, waits for no event.
 *
 * Context: process context, may sleep; expects no lock of ours.
 */
void hipec_ring_listener_close(struct hipec_listener *l)
{
	struct hipec_container *c = hipec_container_with(l->id);

	WRITE_ONCE(l->is_closed, true);
	if (c && !mutex_trylock(&c->lock)) {
		queue_work(hipec_end_wq, &l->closed);
		hipec_container_put_later(c);
		return;
	}
	if (c)
		end_locked(c, l);
	hipec_ring_listener_put(l);
}
