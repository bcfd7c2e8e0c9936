/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of bytes from a container to whoever reads a descriptor: ring.c.
 */
#ifndef HIPEC_MODULE_RING_H
#define HIPEC_MODULE_RING_H

#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/wait.h>

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

#endif /* HIPEC_MODULE_RING_H */
