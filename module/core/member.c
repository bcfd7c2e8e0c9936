// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the pool counts of a container, and the manager's entry of each of its live
 * pages. Which page goes when the pool is full is pool.c's.
 *
 * Interface:
 * hipec_pool_join(), _leave()     a container shares, no longer
 * hipec_pool_account()            its frames have changed
 * hipec_pool_space()              frames that it can get and nobody loses
 * hipec_pool_added(), _removed()  a page is live, is about to be live no more
 * hipec_pool_renamed()      a page has another entry
 * hipec_pool_lock(), _unlock()  the pool's lock
 */
#include "pool.h"

/**
 * hipec_pool_lock() - take the pool's lock
 * @pool: pool
 *
 * Pages come and go under the lock while a policy is asked.
 *
 * Context: expects at most members' locks; may sleep.
 * Return: false if the caller has it already. For hipec_pool_unlock().
 */
bool hipec_pool_lock(struct hipec_pool *pool)
{
	return !pool->ops->enter || pool->ops->enter(pool);
}

/* Drop it, unless it was the caller's before. */
void hipec_pool_unlock(struct hipec_pool *pool, bool entered)
{
	if (pool->ops->leave)
		pool->ops->leave(pool, entered);
}

/* Of hipec_pool_account(), of a container that shares. */
void __hipec_pool_account(struct hipec_core *core)
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
 * hipec_pool_space() - frames that a container can get and nobody loses
 * @core: container that shares
 *
 * Context: expects the container's lock; the answer is old when it is given.
 * Return: frames.
 */
u32 hipec_pool_space(struct hipec_core *core)
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

/* Bits of the container's own pages, which hipec_mr_age() has had reset. */
static void reset_later(struct hipec_core *core)
{
	u32 i;

	for (i = 0; i < core->nr_later; i++)
		core->ops->reset(core, core->later[i], HIPEC_REF_POOL);
	core->nr_later = 0;
	hipec_core_settle(core);
}

/*
 * Of hipec_pool_added(): now and then bits are reset ahead of need. Whatever is the
 * container's own is done before the pool's lock or behind it: nobody looks at its pages
 * without its own lock.
 */
void __hipec_pool_added(struct hipec_core *core, u32 h)
{
	struct hipec_pool *pool = core->pool;
	u32 f = core->vacant;
	bool entered;

	core->vacant = HIPEC_MR_NONE;
	hipec_recover_drop_evicted(&core->recover, core->vm.page[h].pgno);
	if (!f && pool->ops->more)
		pool->ops->more(pool);
	entered = hipec_pool_lock(pool);
	if (f)
		hipec_mr_renew(&pool->mr, f, h);
	else
		f = hipec_mr_add(&pool->mr, core->member, h);
	if (entered && ++pool->nr_added % HIPEC_AGE_EVERY == 0 &&
	    atomic_long_read(&pool->nr) > pool->max / 2) {
		pool->requester = core;
		pool->aging = true;
		hipec_mr_age(&pool->mr);
		pool->aging = false;
	}
	hipec_pool_unlock(pool, entered);
	core->in_pool[h] = f;
	if (core->nr_later)
		reset_later(core);
}

/*
 * Of hipec_pool_removed(). The first page that leaves has its entry kept: mostly a page comes in
 * its place, and both changes are one then. The manager passes over such an entry.
 */
void __hipec_pool_removed(struct hipec_core *core, u32 h)
{
	struct hipec_pool *pool = core->pool;
	u32 f = core->in_pool[h];
	bool entered;

	if (!f)
		return;
	core->in_pool[h] = HIPEC_MR_NONE;
	if (!core->vacant && !core->asked && pool->mr.policy == HIPEC_MR_FIFO2) {
		core->vacant = f;
	} else {
		entered = hipec_pool_lock(pool);
		hipec_mr_del(&pool->mr, f);
		hipec_pool_unlock(pool, entered);
	}
	hipec_recover_drop_kept(&core->recover, core->vm.page[h].pgno);
}

/* The entry that is vacant is so no more. Expects the container's lock and the pool's. */
void hipec_pool_forget(struct hipec_core *core)
{
	if (core->vacant)
		hipec_mr_forget(&core->pool->mr, core->vacant);
	core->vacant = HIPEC_MR_NONE;
}

/**
 * hipec_pool_renamed() - a page has another entry in the table of its container
 * @core: container that shares; no entry of the manager's is vacant (hipec_pool_forget())
 * @from: the entry before
 * @to:   the entry
 *
 * Context: expects the container's lock and the pool's.
 */
void hipec_pool_renamed(struct hipec_core *core, u32 from, u32 to)
{
	u32 f = core->in_pool[from];

	core->in_pool[from] = HIPEC_MR_NONE;
	core->in_pool[to] = f;
	if (f)
		core->pool->mr.frame[f].page = to;
}

/**
 * hipec_pool_join() - let a container share the pool's frames
 * @pool:       pool, with its manager
 * @core:       container with nr_reserved, and no frames or pages; its in_pool and
 *              recover are to be made before it gets any
 * @min_frames: that are its own once it has them
 *
 * Context: expects the pool's lock.
 * Return: 0; -ENOSPC if there are too many members.
 */
int hipec_pool_join(struct hipec_pool *pool, struct hipec_core *core,
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
	hipec_mr_set_limits(&pool->mr, member, min_frames, core->nr_reserved);
	return 0;
}

/**
 * hipec_pool_leave() - a container shares no longer
 * @core: container without pages and frames; nothing if it did not join
 *
 * Context: expects the pool's lock.
 */
void hipec_pool_leave(struct hipec_core *core)
{
	struct hipec_pool *pool = core->pool;

	if (!pool)
		return;
	hipec_pool_forget(core);
	core->nr_surplus = 0;
	hipec_pool_account(core);
	pool->member[core->member] = NULL;
	pool->nr_members--;
	while (pool->top && !pool->member[pool->top])
		pool->top--;
	core->member = 0;
	core->pool = NULL;
}
