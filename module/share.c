// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's pool: frames that unprivileged containers share (core/pool.c). Its lock
 * is base/share.c's.
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
 * hipec_share_query()              its numbers
 */
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "internal.h"

static ulong pool_mb;
module_param(pool_mb, ulong, 0444);
MODULE_PARM_DESC(pool_mb, "MB of frames that unprivileged containers share; 0: a quarter of the memory");

static uint recovery_buckets;
module_param(recovery_buckets, uint, 0644);
MODULE_PARM_DESC(recovery_buckets, "buckets of the recovery table of each container loaded from now on; 0: a quarter of its frames, of 131,072 at most");

#define HIPEC_MAX_BUCKETS (1u << 20)
/* Ticks that a load waits for the first frames, while other containers' are leaving. */
#define HIPEC_FILL_TICKS (HZ / 2)
/* Of these, one user's: nobody keeps all others out. */
#define HIPEC_MAX_USER_MEMBERS 256

/* Find a number for @c. Under the lock. */
static int admit_member(struct hipec_container *c)
{
	struct hipec_pool *pool = &hipec_share_pool;
	unsigned long entries = pool->max + pool->slack + HIPEC_MAX_CLUSTER +
				HIPEC_TOGETHER * HIPEC_MAX_MEMBERS;
	struct hipec_mr_frame *frame;
	u32 nr;
	int ret;

	if (c->user->nr_members == HIPEC_MAX_USER_MEMBERS)
		return -ENOSPC;
	if (!pool->mr.frame) {
		ret = hipec_entries_make(entries, &frame, &nr);
		if (ret)
			return ret;
		hipec_fifo2mr_init(&pool->mr, &hipec_pool_mr_ops, frame, nr);
		pool->mr.most = HIPEC_MAX_LOOKS;
	}
	ret = hipec_member_join(pool, &c->core, HIPEC_POOL_MIN);
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

	if (c->core.nr_reserved > hipec_share_quota()) {
		hipec_text_num(log, c->core.nr_reserved);
		hipec_text_str(log, " frames are above the quota of user ");
		hipec_text_num(log, from_kuid_munged(current_user_ns(),
						     c->user->uid));
		hipec_text_str(log, ", which is ");
		hipec_text_num(log, hipec_share_quota());
		hipec_text_str(log, " (module parameters quota_mb and pool_mb)");
		return -EDQUOT;
	}
	entered = hipec_exchange_lock(&hipec_share_pool);
	ret = admit_member(c);
	hipec_exchange_unlock(&hipec_share_pool, entered);
	return ret;
}

/*
 * Half as many decisions as it has frames, 14 bytes a frame with chains of two, up to
 * HIPEC_MAX_DECISIONS. Figure 5 has 64 buckets for regions of any size.
 */
static bool make_recovery(struct hipec_container *c)
{
	u32 decisions = READ_ONCE(hipec_share_pool.recovery) ?
		hipec_pool_decisions(&c->core) : 0;
	u32 wish = READ_ONCE(recovery_buckets);
	u32 buckets = wish ? min(wish, HIPEC_MAX_BUCKETS) : decisions / 2 + 1;

	c->recovery = hipec_memory_alloc(hipec_recover_size(decisions, buckets));
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
	u32 first = min_t(u32, c->core.nr_reserved, HIPEC_POOL_MIN);
	int ret = 1, ticks = 0;

	c->core.taken =
		hipec_memory_alloc(hipec_pool_most_taken(&c->core) * sizeof(*c->core.taken));
	if (!c->core.taken || !make_recovery(c))
		return -ENOMEM;
	while (ret > 0 && c->core.nr_frames < first) {
		mutex_lock(&c->lock);
		ret = hipec_pool_grow(&c->core, &d, HIPEC_EFFORT_MOST);
		mutex_unlock(&c->lock);
		/* The container that is to give one runs its policy, or writes its page. */
		if (ret == -EAGAIN && ticks++ < HIPEC_FILL_TICKS &&
		    !fatal_signal_pending(current)) {
			schedule_timeout_killable(1);
			ret = 1;
		}
	}
	return ret > 0 ? 0 : -ENOMEM;
}

/**
 * hipec_share_leave() - a container shares no longer
 * @c: container without pages and frames; nothing if it did not join
 *
 * Context: process context, sleeps; takes c->lock and the pool's.
 */
void hipec_share_leave(struct hipec_container *c)
{
	bool shared = c->core.pool, entered;

	mutex_lock(&c->lock);
	entered = hipec_exchange_lock(&hipec_share_pool);
	hipec_cgroup_leave(c);
	if (shared) {
		hipec_member_leave(&c->core);
		c->user->nr_members--;
	}
	hipec_exchange_unlock(&hipec_share_pool, entered);
	c->core.in_pool = NULL;
	mutex_unlock(&c->lock);
	if (shared)
		hipec_share_wait_for_pins();
	kvfree(c->core.taken);
	c->core.taken = NULL;
	kvfree(c->recovery);
	c->recovery = NULL;
}

/* Numbers of the pool, for HIPEC_IOC_QUERY. */
void hipec_share_query(struct hipec_query *q)
{
	q->pool_frames = atomic_long_read(&hipec_share_pool.nr);
	q->pool_max = hipec_share_pool.max;
	q->quota = hipec_share_quota();
}

/* Context: process context. */
void hipec_share_init(void)
{
	struct hipec_pool *pool = &hipec_share_pool;

	pool->ops = &hipec_shared_frame_ops;
	/* Entries are counted in 32 bits. */
	pool->max = min_t(ulong, pool_mb, INT_MAX) << HIPEC_MB_SHIFT ?:
		    totalram_pages() / 4;
	pool->max = min_t(long, pool->max, INT_MAX / 2);
	pool->slack = pool->max / 16 + 1;
}

void hipec_share_exit(void)
{
	hipec_entries_free();
}
