// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's pool: frames that unprivileged containers share (core/pool.c), with its
 * lock, its size and its users' quotas.
 *
 * A container that was loaded with HIPEC_LOAD_SHARE starts with a few frames, which
 * are never taken from it, and gets more one by one: while the pool has room and its
 * user is below the quota they are allocated, so that each belongs to the memory
 * cgroup of its container's owner.
 *
 * Interface:
 * hipec_share_init(), _exit()      the module's
 * hipec_share_join(), _fill()      a container shares from now on, has its first frames
 * hipec_share_leave()              it does no longer
 * hipec_share_locked(), _try_lock(), _unlock()  the pool's lock
 * hipec_share_try_member(), _unlock_member(), _enter(), _leave_lock(), _allowance(),
 * _accounted()                     the engine's host
 * hipec_share_pool                 for memory pressure
 * hipec_share_query()              its numbers
 */
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "internal.h"

#define MB_SHIFT (20 - PAGE_SHIFT)

static ulong pool_mb;
module_param(pool_mb, ulong, 0444);
MODULE_PARM_DESC(pool_mb, "MB of frames that unprivileged containers share; 0: a quarter of the memory");

static ulong quota_mb;
module_param(quota_mb, ulong, 0644);
MODULE_PARM_DESC(quota_mb, "MB of these that the containers of one user may hold; 0: all");

static uint recovery_buckets;
module_param(recovery_buckets, uint, 0644);
MODULE_PARM_DESC(recovery_buckets, "buckets of the recovery table of each container loaded from now on; 0: a quarter of its frames");

#define HIPEC_MAX_BUCKETS (1u << 20)
#define HIPEC_MAX_MEMBERS 1024

/* Of these, one user's: nobody keeps all others out. */
#define HIPEC_MAX_USER_MEMBERS 256

static struct hipec_core *member[HIPEC_MAX_MEMBERS + 1];

/* Its manager has memory from the first join on. */
struct hipec_pool hipec_share_pool = {
	.ops = &hipec_shared_frame_ops,
	.member = member,
	.max_members = HIPEC_MAX_MEMBERS,
	.recovery = true,
};

/* For experiments: what it is worth is seen without it. */
module_param_named(recovery, hipec_share_pool.recovery, bool, 0644);
MODULE_PARM_DESC(recovery, "reverse decisions of policies that turn out to be bad; N: let them stand");

static DEFINE_MUTEX(lock);
static struct task_struct *holder;	/* of the lock; read without it */
static struct cpumask stale_cpus;	/* under it: whose TLB may have bits that were reset */

/* Whether the caller holds the pool's lock, so that others wait. Context: any. */
bool hipec_share_locked(void)
{
	return READ_ONCE(holder) == current;
}

/*
 * The engine's host: take the pool's lock. Pages come and go under it while a policy is
 * asked: no deadlock then. Return: false if the caller has it already.
 */
bool hipec_share_enter(struct hipec_pool *pool)
{
	if (hipec_share_locked())
		return false;
	mutex_lock(&lock);
	WRITE_ONCE(holder, current);
	return true;
}

/* The engine's host: make resets visible, and drop the lock if it was @entered. */
void hipec_share_leave_lock(struct hipec_pool *pool, bool entered)
{
	hipec_young_flush_cpus(&stale_cpus);
	if (!entered)
		return;
	WRITE_ONCE(holder, NULL);
	mutex_unlock(&lock);
}

/*
 * For reclaim: the pool's lock, if it can be had at once. Containers' are only tried
 * under it, and none that joined ends.
 */
bool hipec_share_try_lock(void)
{
	if (!mutex_trylock(&lock))
		return false;
	WRITE_ONCE(holder, current);
	hipec_share_pool.requester = NULL;
	return true;
}

void hipec_share_unlock(void)
{
	hipec_share_leave_lock(&hipec_share_pool, true);
}

/*
 * The engine's host: a member's lock, if it can be had at once. That the requester's is
 * held already lockdep need not know: nobody waits here.
 */
bool hipec_share_try_member(struct hipec_core *core)
{
	return mutex_trylock(&hipec_of_core(core)->lock);
}

/* The engine's host: the pool, or the cgroup, is done with a member for now. */
void hipec_share_unlock_member(struct hipec_core *core, bool requester)
{
	struct hipec_container *c = hipec_of_core(core);

	hipec_young_leave(c, &stale_cpus);
	if (!requester)
		mutex_unlock(&c->lock);
}

static long quota(void)
{
	long nr = min_t(ulong, READ_ONCE(quota_mb), INT_MAX) << MB_SHIFT;

	return nr && nr < hipec_share_pool.max ? nr : hipec_share_pool.max;
}

/*
 * The engine's host: frames that a container's user may have more. Whoever may have the
 * whole pool has others' frames when it is full.
 */
s64 hipec_share_allowance(struct hipec_core *core)
{
	long most = quota();

	if (most == hipec_share_pool.max)
		return most;
	return most - atomic_long_read(&hipec_of_core(core)->user->nr);
}

/* The engine's host: a container holds @nr frames more. */
void hipec_share_accounted(struct hipec_core *core, s64 nr)
{
	atomic_long_add(nr, &hipec_of_core(core)->user->nr);
}

/* Find a number for @c. Under the lock. */
static int admit(struct hipec_container *c)
{
	struct hipec_pool *pool = &hipec_share_pool;
	unsigned long entries = pool->max + pool->slack + HIPEC_MAX_CLUSTER;
	int ret = 0;

	if (c->user->nr_members == HIPEC_MAX_USER_MEMBERS)
		return -ENOSPC;
	if (!pool->mr.frame) {
		ret = hipec_global_start(&pool->mr, &hipec_pool_mr_ops, entries,
					 HIPEC_MAX_MEMBERS + 1);
		pool->mr.most = HIPEC_MAX_LOOKS;
	}
	if (!ret)
		ret = hipec_pool_join(pool, &c->core, HIPEC_POOL_MIN);
	c->user->nr_members += !ret;
	return ret;
}

/**
 * hipec_share_join() - let a container share the pool's frames
 * @c:   container with its user and limit, without tables; nobody else uses it
 * @log: told of a limit above the quota
 *
 * Before its tables are made: what is refused has cost nothing.
 *
 * Context: process context, may sleep.
 * Return: 0; -EDQUOT if its limit is above the user's quota; -ENOMEM; -ENOSPC if
 *         too many containers share, or too many of this user's.
 */
int hipec_share_join(struct hipec_container *c, struct hipec_text *log)
{
	bool entered;
	int ret;

	if (c->core.nr_reserved > quota()) {
		hipec_text_num(log, c->core.nr_reserved);
		hipec_text_str(log, " frames are above the quota of user ");
		hipec_text_num(log, from_kuid_munged(current_user_ns(),
						     c->user->uid));
		hipec_text_str(log, ", which is ");
		hipec_text_num(log, quota());
		hipec_text_str(log, " (module parameters quota_mb and pool_mb)");
		return -EDQUOT;
	}
	entered = hipec_pool_lock(&hipec_share_pool);
	ret = admit(c);
	hipec_pool_unlock(&hipec_share_pool, entered);
	return ret;
}

/*
 * Half as many decisions as it has frames, 14 bytes a frame with chains of two. Figure 5
 * has 64 buckets for regions of any size.
 */
static bool make_recovery(struct hipec_container *c)
{
	u32 decisions = READ_ONCE(hipec_share_pool.recovery) ?
		hipec_pool_decisions(&c->core) : 0;
	u32 wish = READ_ONCE(recovery_buckets);
	u32 buckets = wish ? min(wish, HIPEC_MAX_BUCKETS) : decisions / 2 + 1;

	c->recovery = hipec_table_alloc(hipec_recover_size(decisions, buckets));
	if (!c->recovery)
		return false;
	hipec_recover_init(&c->core.recover, c->recovery, decisions, buckets);
	c->core.recover.salt = get_random_u32();
	return true;
}

/**
 * hipec_share_fill() - give a container that shares its tables and first frames
 * @c: container that has joined; nobody else uses it
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENOMEM if the machine, its cgroup or the pool does not give them.
 */
int hipec_share_fill(struct hipec_container *c)
{
	const struct hipec_demand d = {
		.pgno = HIPEC_NO_PGNO, .want = 1, .whom = &c->core,
	};
	u32 entries = hipec_container_entries(c, &c->policy, c->core.nr_reserved);
	u32 first = min_t(u32, c->core.nr_reserved, HIPEC_POOL_MIN);
	int ret = 1;

	c->core.in_pool =
		hipec_table_alloc((entries + 1ul) * sizeof(*c->core.in_pool));
	if (!c->core.in_pool || !make_recovery(c))
		return -ENOMEM;
	mutex_lock(&c->lock);
	while (ret == 1 && c->core.nr_frames < first)
		ret = hipec_pool_grow(&c->core, &d, HIPEC_EFFORT_MOST);
	mutex_unlock(&c->lock);
	return ret == 1 ? 0 : -ENOMEM;
}

/**
 * hipec_share_leave() - a container shares no longer
 * @c: container without pages and frames; nothing if it did not join
 *
 * Context: process context, may sleep.
 */
void hipec_share_leave(struct hipec_container *c)
{
	bool entered = hipec_pool_lock(&hipec_share_pool);

	hipec_cgroup_leave(c);
	if (c->core.pool) {
		hipec_pool_leave(&c->core);
		c->user->nr_members--;
	}
	hipec_pool_unlock(&hipec_share_pool, entered);
	kvfree(c->core.in_pool);
	c->core.in_pool = NULL;
	kvfree(c->recovery);
	c->recovery = NULL;
}

/* Numbers of the pool, for HIPEC_IOC_QUERY. */
void hipec_share_query(struct hipec_query *q)
{
	q->pool_frames = atomic_long_read(&hipec_share_pool.nr);
	q->pool_max = hipec_share_pool.max;
	q->quota = quota();
}

/* Context: process context. Return: 0; -EINVAL for a parameter out of range. */
int hipec_share_init(void)
{
	struct hipec_pool *pool = &hipec_share_pool;

	/* Entries are counted in 32 bits. */
	pool->max = min_t(ulong, pool_mb, INT_MAX) << MB_SHIFT ?:
		    totalram_pages() / 4;
	pool->max = min_t(long, pool->max, INT_MAX / 2);
	pool->slack = pool->max / 16 + 1;
	return hipec_global_check();
}

void hipec_share_exit(void)
{
	hipec_global_stop(&hipec_share_pool.mr);
}
