/* SPDX-License-Identifier: GPL-2.0-only */
/* An inode that a container had is put: put.c. */
#ifndef HIPEC_CACHE_PUT_H
#define HIPEC_CACHE_PUT_H

#include <linux/workqueue.h>

struct fsnotify_mark;
struct hipec_volume;
struct inode;

/**
 * struct hipec_put - an inode's mark that is put, and more
 * @mark:   which holds the inode, and goes with its last reference; it has this in it
 * @inode:  of hipec_table_hold_inode(); NULL: none
 * @volume: whose workers put them
 * @work:   puts them
 */
struct hipec_put {
	struct fsnotify_mark *mark;
	struct inode *inode;
	struct hipec_volume *volume;
	struct work_struct work;
};

void hipec_put_inode(struct hipec_put *p, struct hipec_volume *volume);

#endif /* HIPEC_CACHE_PUT_H */
