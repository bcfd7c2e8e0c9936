// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the pool counts of a container. Which page goes when the pool is full is pool.c's.
 *
 * Interface:
 * hipec_member_join(), _leave()   a container shares, no longer
 * hipec_member_account()          its frames have changed
 * hipec_member_space()            frames that it can get and no other loses
 */
#include "pool.h"

/* Of hipec_member_account(), of a container that shares. */
void __hipec_member_account(struct hipec_core *core)
{
	struct hipec_pool *pool = core->pool;
	s64 held = (s64)hipec_core_held(core) - core->pool_held;
	s64 leaving = (s64)core->nr_surplus - core->pool_leaving;

	if (!(held | leaving))
		return;
	atomic_long_add(held, &pool->nr);
	atomic_long_add(leaving, &pool->leaving);
	if (core->ops->accounted)
		core->ops->accounted(core, held);
	core->pool_held += held;
	core->pool_leaving += leaving;
}

/**
 * hipec_member_space() - frames that a container can get and no other loses
 * @core: container that shares
 *
 * Context: expects the container's lock; the answer is old when it is given.
 * Return: frames.
 */
u32 hipec_member_space(struct hipec_core *core)
{
	const struct hipec_pool *pool = core->pool;
	s64 most = (s64)core->nr_reserved - core->nr_frames;
	s64 room = pool->max - atomic_long_read(&pool->nr);

	if (room < most)
		most = room;
	if (core->ops->allowance) {
		room = core->ops->allowance(core);
		if (room < most)
			most = room;
	}
	return most > 0 ? most : 0;
}

/**
 * hipec_member_join() - let a container share the pool's frames
 * @pool:       pool, with its manager
 * @core:       container with nr_reserved, and no frames or pages; its in_pool and
 *              recover are to be made before it gets any
 * @min_frames: that are its own once it has them
 *
 * Context: expects the pool's lock.
 * Return: 0; -ENOSPC if there are too many members.
 */
int hipec_member_join(struct hipec_pool *pool, struct hipec_core *core,
		      u32 min_frames)
{
	u32 member;

	for (member = 1; member <= pool->top; member++)
		if (!pool->member[member])
			break;
	if (member > pool->max_members)
		return -ENOSPC;
	core->pool = pool;
	core->member = member;
	core->min_frames = min_frames;
	pool->member[member] = core;
	pool->nr_members++;
	if (member > pool->top)
		pool->top = member;
	hipec_exchange_together(pool);
	hipec_fifo2mr_set_limits(&pool->mr, member, min_frames, core->nr_reserved);
	return 0;
}

/**
 * hipec_member_leave() - a container shares no longer
 * @core: container without pages and frames; nothing if it did not join
 *
 * Context: expects the pool's lock.
 */
void hipec_member_leave(struct hipec_core *core)
{
	struct hipec_pool *pool = core->pool;

	if (!pool)
		return;
	hipec_exchange_return(core);
	core->nr_surplus = 0;
	hipec_member_account(core);
	pool->member[core->member] = NULL;
	pool->nr_members--;
	hipec_exchange_together(pool);
	while (pool->top && !pool->member[pool->top])
		pool->top--;
	core->member = 0;
	core->pool = NULL;
}
