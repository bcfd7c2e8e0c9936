// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pool of frames that simulators share. mixpool.h says more.
 */
#include <errno.h>
#include <stdlib.h>

#include "mixpool.h"

/**
 * mix_pool_init() - make a pool that nobody shares
 * @pool:     to fill; mix_pool_free() it, also after an error
 * @policy:   of its manager
 * @max:      frames, at least 1
 * @recovery: ill-advised decisions are reversed
 *
 * Return: 0; -ENOMEM.
 */
int mix_pool_init(struct mix_pool *pool, enum hipec_mr_policy policy, u32 max,
		  bool recovery)
{
	struct hipec_mr *mr = &pool->pool.mr;

	*pool = (struct mix_pool){
		.pool = {
			.ops = &sim_core_ops, .max = max, .slack = 1,
			.max_members = MIX_MAX_MEMBERS, .recovery = recovery,
		},
		.frame = calloc(max + MIX_MAX_MEMBERS + 1ul, sizeof(*pool->frame)),
		.owner = calloc(MIX_MAX_MEMBERS + 1, sizeof(*pool->owner)),
		.stamp = calloc(max + 1ul, sizeof(*pool->stamp)),
	};
	pool->pool.member = pool->member;
	if (!pool->frame || !pool->owner || !pool->stamp)
		return -ENOMEM;
	if (policy == HIPEC_MR_AWST)
		hipec_awst_init(mr, &hipec_pool_mr_ops, pool->frame, max,
				pool->stamp, pool->owner,
				MIX_MAX_MEMBERS + 1);
	else
		hipec_fifo2mr_init(mr, &hipec_pool_mr_ops, pool->frame, max + MIX_MAX_MEMBERS);
	mr->most = HIPEC_MAX_LOOKS;
	return 0;
}

void mix_pool_free(struct mix_pool *pool)
{
	free(pool->frame);
	free(pool->owner);
	free(pool->stamp);
}

static int make_tables(struct sim *s, bool recovery)
{
	u32 decisions = recovery ? hipec_pool_decisions(&s->core) : 0;
	u32 buckets = decisions / 2 + 1;

	s->core.in_pool = calloc(s->core.vm.nr_pages + 1ul, sizeof(u32));
	s->core.taken = calloc(hipec_pool_most_taken(&s->core), sizeof(u32));
	s->recovery = malloc(hipec_recover_size(decisions, buckets));
	if (!s->core.in_pool || !s->core.taken || !s->recovery)
		return -ENOMEM;
	hipec_recover_init(&s->core.recover, s->recovery, decisions, buckets);
	return 0;
}

/**
 * mix_pool_join() - let a simulator share the pool's frames
 * @pool: pool; the minima of all that share are no more than it has
 * @s:    opened with its limit as frames, not started; mix_pool_leave() frees what
 *        it has, also after an error
 * @min:  frames that nobody takes from it, 1 or more; it gets them now, by others'
 *        loss if the pool is full
 *
 * Return: 0; -ENOMEM; -ENOBUFS if others hold all with pages that Prefetch asked
 *         for, which cannot go.
 */
int mix_pool_join(struct mix_pool *pool, struct sim *s, u32 min)
{
	const struct hipec_demand d = {
		.pgno = HIPEC_NO_PGNO, .want = 1, .whom = &s->core,
	};
	u32 first = min < s->core.nr_reserved ? min : s->core.nr_reserved;
	u32 tries;
	int ret;

	s->core.nr_frames = s->core.nr_free = 0;
	ret = hipec_member_join(&pool->pool, &s->core, first) ?:
	      make_tables(s, pool->pool.recovery);
	/* Some are only passed over at first: each turn looks at others. */
	for (tries = 0; !ret && s->core.nr_frames < first; tries++) {
		if (tries > 2 * pool->pool.max)
			return -ENOBUFS;
		hipec_pool_grow(&s->core, &d, HIPEC_EFFORT_SOME);
	}
	return ret;
}

/**
 * mix_pool_leave() - a simulator shares no longer
 * @s: simulator, at its end; nothing if it does not share
 *
 * Its frames are free at once.
 */
void mix_pool_leave(struct sim *s)
{
	struct hipec_core *core = &s->core;
	u32 h;

	if (!core->pool)
		return;
	for (h = 1; core->in_pool && h <= core->vm.nr_pages; h++)
		if (core->in_pool[h])
			hipec_fifo2mr_del(&core->pool->mr, core->in_pool[h]);
	core->nr_frames = 0;
	hipec_member_leave(core);
	free(core->in_pool);
	free(core->taken);
	free(s->recovery);
}
