/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which memory cgroup pays for a page: payer.c.
 */
#ifndef HIPEC_CACHE_PAYER_H
#define HIPEC_CACHE_PAYER_H

#include "cache.h"

/* Of entries that are looked at for a share. */
#define HIPEC_PAYER_SAMPLE 16

/**
 * struct hipec_payer - pages of a cache are looked for that a cgroup pays for
 * @memcg:  cgroup; as long as the caller that has set it holds it
 * @next:   entry that was looked at last
 * @looked: entries that were since a page was given up
 * @left:   entries that this call may look at still
 * @seen:   it has been seen to pay for one, since @looked was 0
 */
struct hipec_payer {
	const struct mem_cgroup *memcg;
	u32 next, looked, left;
	bool seen;
};

bool hipec_payer_pays(struct hipec_cache *cache, u32 h, const struct mem_cgroup *memcg);
u32 hipec_payer_share(struct hipec_cache *cache, const struct mem_cgroup *memcg);
void hipec_payer_begin(struct hipec_cache *cache, struct hipec_payer *payer);
u32 hipec_payer_next(struct hipec_cache *cache, struct hipec_payer *payer);
bool hipec_payer_has_all(const struct hipec_cache *cache, const struct hipec_payer *payer);

#endif /* HIPEC_CACHE_PAYER_H */
