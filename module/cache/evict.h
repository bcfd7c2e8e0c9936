/* SPDX-License-Identifier: GPL-2.0-only */
/* Folios that are to leave the page cache. */
#ifndef HIPEC_CACHE_EVICT_H
#define HIPEC_CACHE_EVICT_H

#include <linux/llist.h>
#include <linux/types.h>

struct address_space;
struct hipec_cache;
struct hipec_cfile;

/* Folios that are evicted together; tasks that do so at the same time, without the lock. */
#define HIPEC_MAX_VICTIMS 32
#define HIPEC_EVICTORS 4

/**
 * struct hipec_victim - a victim that is about to be evicted
 * @f:    its file
 * @idx:  first page there
 * @nr:   pages
 * @h:    its entry; 0: it is finished. Under c->lock
 * @gone: it is known to have gone
 */
struct hipec_victim {
	struct hipec_cfile *f;
	u32 idx;
	u32 nr;
	u32 h;
	bool gone;
};

/**
 * struct hipec_evicting - victims that a task evicts together
 * @link:   cache->evicting, while it does not hold c->lock; or cache->spare
 * @done:   cache->done, if it has evicted them and has not got the lock again
 * @nr:     victims
 * @pages:  of them
 * @victim: in the order of their pages
 */
struct hipec_evicting {
	struct list_head link;
	struct llist_node done;
	u32 nr;
	u32 pages;
	struct hipec_victim victim[HIPEC_MAX_VICTIMS];
};

/* What keeps a folio in the page cache. */
enum hipec_stay {
	HIPEC_STAY_NONE,	/* nothing: it is not there, or its file is let go */
	HIPEC_STAY_BUSY,	/* it is in use, or a batch of a CPU holds it */
	HIPEC_STAY_MAPPED,
	HIPEC_STAY_DIRTY,	/* or it is being written */
	HIPEC_STAY_LOCKED,	/* by mlock() */
};

/* evict.c */
void hipec_evict_list_add(struct hipec_cache *cache, u16 flags, u32 h);
void hipec_evict_list_del(struct hipec_cache *cache, u32 h);
void hipec_evict_add_victim(struct hipec_cache *cache, u32 h, bool live);
u32 hipec_evict_most(const struct hipec_cache *cache);
bool hipec_evict_wait(const struct hipec_cache *cache);
void hipec_evict_victims(struct hipec_cache *cache);
void hipec_evict_victims_locked(struct hipec_cache *cache);
void hipec_evict_victims_many(struct hipec_cache *cache);
bool hipec_evict_victims_unlocked(struct hipec_cache *cache);
void hipec_evict_finish(struct hipec_cache *cache);
void hipec_evict_finish_victim(struct hipec_cache *cache, u32 h);
void hipec_evict_victim_missed(struct hipec_cache *cache, u32 h);
enum hipec_stay hipec_evict_stay_of(const struct hipec_cfile *f, u32 idx);

/* refused.c */
void hipec_refused_retry(struct hipec_cache *cache, u32 most);
void hipec_refused_evictable(struct address_space *mapping);

#endif /* HIPEC_CACHE_EVICT_H */
