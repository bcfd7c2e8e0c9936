// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which member of a pool gives a frame up when the pool is full: the host of
 * FIFO2-MR and AWST. pool.h says what a pool is.
 *
 * Interface:
 * hipec_pool_grow()     one frame more, by whose loss ever
 * hipec_pool_ask()      a policy gives a page up, while others wait
 * hipec_pool_recover()  an ill-advised decision is reversed
 * hipec_pool_spare(), _reclaim()  memory pressure
 */
#include "pool.h"

static struct hipec_pool *pool_of(struct hipec_mr *mr)
{
	static_assert(!offsetof(struct hipec_pool, mr), "mr comes first");
	return (struct hipec_pool *)mr;
}

/* Member @owner with its lock, if it can be had at once. The requester's is held. */
static struct hipec_core *lock_member(struct hipec_pool *pool, u32 owner)
{
	struct hipec_core *core = pool->member[owner];

	if (core == pool->requester || !core->ops->try_lock ||
	    core->ops->try_lock(core))
		return core;
	return NULL;
}

static void unlock_member(struct hipec_pool *pool, struct hipec_core *core)
{
	if (core->ops->unlock)
		core->ops->unlock(core, core == pool->requester);
}

static bool mr_referenced(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner);
	bool pass;

	if (!core)
		return true;
	if (core->ops->referenced(core, h, HIPEC_REF_POOL)) {
		hipec_recover_drop_kept(&core->recover, core->vm.page[h].pgno);
		pass = true;
	} else {
		/* Its last frames are its own to replace. */
		pass = core != pool->requester &&
		       core->pool_held <= core->min_frames;
	}
	unlock_member(pool, core);
	return pass;
}

static void mr_reset(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner);

	if (!core)
		return;
	core->ops->reset(core, h, HIPEC_REF_POOL);
	unlock_member(pool, core);
}

/**
 * hipec_pool_ask() - have a member's policy give a page up, while others wait
 * @core: member; nothing without a policy
 * @d:    what for
 *
 * Context: expects the member's lock and the pool's; may sleep.
 */
void hipec_pool_ask(struct hipec_core *core, const struct hipec_demand *d)
{
	if (hipec_fifo2_rules(&core->vm))
		return;
	core->pool->asked = true;
	if (core->ops->may_ask && !core->ops->may_ask(core))
		return;
	hipec_core_ask(core, d);
	if (core->ops->asked)
		core->ops->asked(core);
}

/* Without a policy the manager's choice stands. */
static void mr_ask(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = pool->asked ? NULL : lock_member(pool, owner);
	const struct hipec_demand other = {
		.pgno = HIPEC_NO_PGNO, .want = 1, .whom = pool->requester,
	};

	(void)h;
	if (!core)
		return;
	hipec_pool_ask(core, core == pool->requester ? pool->demand : &other);
	unlock_member(pool, core);
}

static void mr_take(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner);
	u32 pgno;

	if (!core)
		return;
	pgno = core->vm.page[h].pgno;
	if (hipec_core_evict(core, h, core == pool->requester,
			     HIPEC_EVICT_TAKEN))
		hipec_core_remove(core, pgno);
	unlock_member(pool, core);
}

static void mr_moved(struct hipec_mr *mr, u32 owner, u32 kept, u32 gone)
{
	struct hipec_core *core = pool_of(mr)->member[owner];

	core->counters.moved++;
	/* FIFO2-MR has just seen that it is not referenced, AWST does not look. */
	if (mr->policy == HIPEC_MR_AWST)
		core->ops->reset(core, kept, HIPEC_REF_POOL);
	hipec_recover_add(&core->recover, core->vm.page[gone].pgno,
			  core->vm.page[kept].pgno);
}

const struct hipec_mr_ops hipec_pool_mr_ops = {
	.referenced = mr_referenced,
	.reset = mr_reset,
	.ask = mr_ask,
	.take = mr_take,
	.moved = mr_moved,
};

/* Have a page given up for member @who. Return: whether one was. */
static bool reclaim(struct hipec_pool *pool, u32 who)
{
	pool->asked = false;
	return hipec_mr_reclaim(&pool->mr, who);
}

static bool has_room(const struct hipec_pool *pool)
{
	long nr = atomic_long_read(&pool->nr);

	return nr < pool->max &&
	       nr + atomic_long_read(&pool->leaving) < pool->max + pool->slack;
}

/*
 * Have frames given up until there is room, or @core got one of its own pages'.
 * Return: 1 if so; 0 if nobody can give any; -EAGAIN if somebody may soon.
 */
static int make_room(struct hipec_pool *pool, struct hipec_core *core)
{
	u32 before = core->nr_free + core->nr_pending;

	while (hipec_mr_is_full(&pool->mr, core->member) || !has_room(pool)) {
		/* Enough is leaving: more would not come sooner. */
		if (!hipec_mr_is_full(&pool->mr, core->member) &&
		    atomic_long_read(&pool->nr) < pool->max)
			return -EAGAIN;
		if (!reclaim(pool, core->member))
			return pool->mr.passed ? -EAGAIN : 0;
		if (core->nr_free + core->nr_pending > before)
			return 1;
	}
	return 1;
}

/* As make_room(), but what the pool has for @core is promised to it. */
static int find_frame(struct hipec_core *core, const struct hipec_demand *d,
		      bool at_limit)
{
	struct hipec_pool *pool = core->pool;
	u32 had = core->nr_free + core->nr_pending;
	bool entered = hipec_pool_lock(pool);
	int ret = 0;

	if (!at_limit || hipec_mr_is_full(&pool->mr, core->member)) {
		pool->requester = core;
		pool->demand = d;
		ret = make_room(pool, core);
	}
	if (ret == 1 && core->nr_free + core->nr_pending <= had) {
		/* At its limit its own page is leaving. */
		ret = at_limit ? 0 : 2;
		if (ret)
			atomic_long_add(1, &pool->nr);
	}
	hipec_pool_unlock(pool, entered);
	return ret;
}

/**
 * hipec_pool_grow() - get one frame more
 * @core:   container that shares
 * @d:      what it is for
 * @effort: to make for its allocation
 *
 * From the system while there is room, else from whom the manager chooses, which may
 * be @core itself.
 *
 * Context: expects the container's lock; takes the pool's; may sleep.
 * Return: 1 if a frame is free now, or will be when it is written; 0 if @core shall
 *         replace pages of its own: it is at its limit, its user at the quota, or
 *         there is no memory; -EAGAIN if others' frames are leaving.
 */
int hipec_pool_grow(struct hipec_core *core, const struct hipec_demand *d,
		    enum hipec_effort effort)
{
	struct hipec_pool *pool = core->pool;
	/* Frames that are leaving count: their pages are in the table still. */
	bool at_limit = core->nr_frames >= core->nr_reserved;
	int ret;

	/* At its limit a container replaces its own pages, AWST chooses which. */
	if (at_limit && pool->mr.policy != HIPEC_MR_AWST)
		return 0;
	if (core->ops->allowance && core->ops->allowance(core) <= 0)
		return 0;
	if (core->denied) {
		core->denied--;
		return 0;
	}
	ret = find_frame(core, d, at_limit);
	if (ret != 2)
		return ret;
	ret = hipec_core_grow(core, 1, effort);
	atomic_long_add(-1, &pool->nr);	/* find_frame() counted it already */
	return ret;
}

/**
 * hipec_pool_recover() - reverse the decision that a page should go, if it was bad
 * @core: container that shares
 * @pgno: page that faulted and has no frame
 *
 * The policy gave it up in place of another one, which has not been referenced
 * since: that one goes.
 *
 * Context: expects the container's lock; may sleep.
 * Source: hipec-1997, "Implementation" and Figure 5.
 */
void hipec_pool_recover(struct hipec_core *core, u32 pgno)
{
	u32 kept, h;

	if (!READ_ONCE(core->pool->recovery) ||
	    !hipec_recover_find(&core->recover, pgno, &kept))
		return;
	hipec_recover_drop_evicted(&core->recover, pgno);
	h = hipec_page_find(&core->vm, kept);
	if (!h || !hipec_page_live(&core->vm, h) ||
	    core->ops->referenced(core, h, HIPEC_REF_POOL))
		return;
	if (!hipec_core_evict(core, h, true, HIPEC_EVICT_TAKEN))
		return;
	core->counters.recovered++;
	hipec_core_remove(core, kept);
}

/**
 * hipec_pool_spare() - frames that memory pressure may take
 * @pool: pool
 *
 * Context: the answer is old when it is given.
 * Return: frames, about.
 */
long hipec_pool_spare(const struct hipec_pool *pool)
{
	long spare = atomic_long_read(&pool->nr) -
		     (long)HIPEC_POOL_MIN * READ_ONCE(pool->nr_members);

	return spare > 0 ? spare : 0;
}

/**
 * hipec_pool_reclaim() - have one page given up for the system
 * @pool: pool, whose requester is NULL
 *
 * Context: expects the pool's lock; may sleep as members' hosts may.
 * Return: false if none can go now.
 */
bool hipec_pool_reclaim(struct hipec_pool *pool)
{
	return pool->mr.frame && reclaim(pool, HIPEC_MR_NOBODY);
}
