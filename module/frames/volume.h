/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Volumes: the file system, or the disk, that files of regions lie on. Each has
 * workers of its own, so one that does not answer holds up its own I/O alone. A
 * container writes back to a volume by one writeback work, whatever regions it has there.
 */
#ifndef HIPEC_FRAMES_VOLUME_H
#define HIPEC_FRAMES_VOLUME_H

#include <linux/workqueue.h>

/* Washers and reads ahead that a volume has under way at once. */
#define HIPEC_VOLUME_WORKERS 64

/* Of these, reads ahead of one container, on all of its volumes. */
#define HIPEC_MAX_FILLING 16

struct hipec_container;
struct hipec_region;

/**
 * struct hipec_volume - what files of regions lie on
 * @link: volumes, under their lock
 * @of:   a file system's superblock, a disk's inode; invariant
 * @nr:   writeback works that it has, under that lock
 * @wq:   its workers; invariant
 * @free: ends it
 */
struct hipec_volume {
	struct list_head link;
	const void *of;
	u32 nr;
	struct workqueue_struct *wq;
	struct work_struct free;
};

/**
 * struct hipec_writeback - what writes a container's pages back to a volume
 * @c:      invariant
 * @volume: invariant
 * @nr:     regions that it is for, under c->lock
 * @work:   runs hipec_writeback_work()
 */
struct hipec_writeback {
	struct hipec_container *c;
	struct hipec_volume *volume;
	u32 nr;
	struct work_struct work;
};

/* volume.c */
int hipec_writeback_get(struct hipec_region *r);
void hipec_writeback_put(struct hipec_region *r);

/* writeback.c: writeback */
int hipec_writeback_page(struct hipec_container *c, u32 h);
void hipec_writeback_work(struct work_struct *work);
void hipec_writeback_start(struct hipec_region *r);
void hipec_writeback_start_all(struct hipec_container *c);

#endif /* HIPEC_FRAMES_VOLUME_H */
