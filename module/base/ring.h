/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of bytes from a container to whoever reads a descriptor, and who that is: ring.c.
 */
#ifndef HIPEC_BASE_RING_H
#define HIPEC_BASE_RING_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct hipec_container;

/**
 * struct hipec_ring - bytes on their way
 * @wait:  readers
 * @read:  one reader at a time
 * @bytes: invariant
 * @size:  of them, a power of two; invariant
 * @head:  bytes written up to now, by the container
 * @tail:  bytes read of these, by readers
 * @ended: the container tells no more
 */
struct hipec_ring {
	wait_queue_head_t wait;
	struct mutex read;
	u8 *bytes;
	u32 size;
	u32 head;
	u32 tail;
	bool ended;
};

/**
 * struct hipec_listener - who has a container's record, or samples, by a descriptor
 * @ref:       one of the descriptor, one of the container
 * @id:        of the container; invariant, as @end and @free
 * @closed:    work: the descriptor was closed
 * @is_closed: likewise; no lock
 * @end:       the container tells no more, if it tells this one; called under its lock
 * @free:      nobody has it
 */
struct hipec_listener {
	struct kref ref;
	u64 id;
	struct work_struct closed;
	bool is_closed;
	void (*end)(struct hipec_container *c, struct hipec_listener *l);
	void (*free)(struct kref *ref);
};

void hipec_ring_listener_init(struct hipec_listener *l, u64 id,
			      void (*end)(struct hipec_container *c, struct hipec_listener *l),
			      void (*free)(struct kref *ref));
void hipec_ring_listener_put(struct hipec_listener *l);
void hipec_ring_listener_close(struct hipec_listener *l);

int hipec_ring_size(u32 *size);
int hipec_ring_init(struct hipec_ring *ring, u32 size);
void hipec_ring_free(struct hipec_ring *ring);
u32 hipec_ring_room(struct hipec_ring *ring);
void hipec_ring_write(struct hipec_ring *ring, const void *bytes, u32 nr);
void hipec_ring_wake(struct hipec_ring *ring);
void hipec_ring_end(struct hipec_ring *ring);
bool hipec_ring_has_ended(struct hipec_ring *ring);
u32 hipec_ring_filled(struct hipec_ring *ring);
bool hipec_ring_readable(struct hipec_ring *ring);
ssize_t hipec_ring_copy(struct hipec_ring *ring, char __user *buf,
			size_t count);
ssize_t hipec_ring_read(struct hipec_ring *ring, struct file *file,
			char __user *buf, size_t count,
			ssize_t (*some)(struct hipec_ring *ring,
					char __user *buf, size_t count));

#endif /* HIPEC_BASE_RING_H */
