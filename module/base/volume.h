/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Volumes: the file systems, and the disks, that files of a user's containers lie on. Each has workers
 * of its own: a disk that does not answer holds up its own works alone, and an event that goes on, or
 * what else keeps a container's lock, those of its own user.
 */
#ifndef HIPEC_BASE_VOLUME_H
#define HIPEC_BASE_VOLUME_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

/* Works of each of a volume's kinds that are under way at once; and of those that write files. */
#define HIPEC_VOLUME_WORKERS 64
#define HIPEC_VOLUME_WRITERS 8

/*
 * Volumes of one user, unless he has CAP_SYS_ADMIN: each has a thread of the kernel's, and in a
 * namespace of his own he mounts file systems.
 */
#define HIPEC_MAX_USER_VOLUMES 64

struct inode;

/**
 * struct hipec_volume - what files of a user's containers lie on
 * @link: volumes, under their lock
 * @of:   a file system's superblock, a disk's inode; invariant, never followed
 * @nr:   references, under that lock; 0: @free is about to end it, unless it is had again
 * @uid:  user whose containers it is for; INVALID_UID: those that CAP_SYS_ADMIN loaded, which are not
 *        counted; invariant
 * @wq:   workers of its I/O: writeback, reads ahead; invariant
 * @clean_wq: workers that write whole files, for long; invariant
 * @end_wq: workers of what ends there, which may wait for works of @wq; invariant
 * @free: ends it
 */
struct hipec_volume {
	struct list_head link;
	const void *of;
	u32 nr;
	kuid_t uid;
	struct workqueue_struct *wq, *clean_wq, *end_wq;
	struct work_struct free;
};

struct hipec_volume *hipec_volume_get(const struct inode *inode, kuid_t uid);
void hipec_volume_hold(struct hipec_volume *v);
void hipec_volume_put(struct hipec_volume *v);
void hipec_volume_drain(void);

#endif /* HIPEC_BASE_VOLUME_H */
