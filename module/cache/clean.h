/* SPDX-License-Identifier: GPL-2.0-only */
/* Dirty files are written: clean.c. */
#ifndef HIPEC_CACHE_CLEAN_H
#define HIPEC_CACHE_CLEAN_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/workqueue.h>

struct hipec_cache;
struct hipec_volume;
struct inode;

/**
 * struct hipec_clean - what writes a cache's dirty files on a volume
 * @link:   cache->cleans, under cleans_lock
 * @users:  files and directories; more under that lock
 * @cache:  NULL: it goes, and this is freed by @work. Set under cleans_lock, RCU
 * @volume: invariant
 * @work:   writes, in the volume's workers
 */
struct hipec_clean {
	struct list_head link;
	atomic_t users;
	struct hipec_cache *cache;
	struct hipec_volume *volume;
	struct work_struct work;
};

struct hipec_clean *hipec_clean_get(struct hipec_cache *cache, const struct inode *inode);
void hipec_clean_start(struct hipec_clean *clean);
void hipec_clean_start_all(struct hipec_cache *cache);
void hipec_clean_end(struct hipec_cache *cache);

/* A file or directory uses it no more. Context: any. */
static inline void hipec_clean_put(struct hipec_clean *clean)
{
	atomic_dec(&clean->users);
}

#endif /* HIPEC_CACHE_CLEAN_H */
