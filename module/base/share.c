// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's pool: its lock, and the quotas of those who share it. Who joins, and with
 * what, is module/share.c's.
 *
 * Interface:
 * hipec_share_pool                 for memory pressure
 * hipec_share_locked(), _try_lock(), _unlock()  the pool's lock
 * hipec_share_try_member(), _unlock_member(), _enter(), _leave_lock(), _allowance(),
 * _accounted(), _pin(), _unpin()  the engine's host
 * hipec_share_wait_for_pins()    before a container is freed
 * hipec_share_quota()
 */
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/srcu.h>

#include "base.h"

static ulong quota_mb;
module_param(quota_mb, ulong, 0644);
MODULE_PARM_DESC(quota_mb, "MB of these that the containers of one user may hold; 0: all");

static struct hipec_core *member[HIPEC_MAX_MEMBERS + 1];

/* Its host, and its manager's memory, come from share.c. */
struct hipec_pool hipec_share_pool = {
	.member = member,
	.max_members = HIPEC_MAX_MEMBERS,
	.recovery = true,
	.most_together = HIPEC_TOGETHER,
};

/* For experiments: what it is worth is seen without it. */
module_param_named(recovery, hipec_share_pool.recovery, bool, 0644);
MODULE_PARM_DESC(recovery, "reverse decisions of policies that turn out to be bad; N: let them stand");

DEFINE_STATIC_SRCU(members);
static DEFINE_MUTEX(lock);
static struct task_struct *holder;	/* of the lock; read without it */
static struct cpumask stale_cpus;	/* under it: whose TLB may have bits that were reset */
static bool stale;			/* under it: there may be such a CPU */

/* Whether the caller holds the pool's lock, so that others wait. */
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
	if (stale) {
		hipec_young_flush_cpus(&stale_cpus);
		stale = false;
	}
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

/*
 * The engine's host: the pool, the cgroup or another member is done with a member for now. Who
 * has the pool's lock makes its resets visible with others'.
 */
void hipec_share_unlock_member(struct hipec_core *core, bool requester)
{
	struct hipec_container *c = hipec_of_core(core);

	if (hipec_share_locked())
		stale |= hipec_young_leave(c, &stale_cpus);
	else
		hipec_core_settle(core);
	if (!requester)
		mutex_unlock(&c->lock);
}

/* The engine's host: until hipec_share_unpin() no container that shares is freed. */
int hipec_share_pin(void) __acquires(&members)
{
	return srcu_read_lock(&members);
}

void hipec_share_unpin(int pin) __releases(&members)
{
	srcu_read_unlock(&members, pin);
}

/* Whoever has found a container by its number in the pool has let go of it. Sleeps. */
void hipec_share_wait_for_pins(void)
{
	synchronize_srcu(&members);
}

/* Frames that the containers of one user may hold. */
long hipec_share_quota(void)
{
	long nr = min_t(ulong, READ_ONCE(quota_mb), INT_MAX) << HIPEC_MB_SHIFT;

	return nr && nr < hipec_share_pool.max ? nr : hipec_share_pool.max;
}

/*
 * The engine's host: frames that a container's user may have more. Whoever may have the
 * whole pool has others' frames when it is full.
 */
s64 hipec_share_allowance(struct hipec_core *core)
{
	long most = hipec_share_quota();

	if (most == hipec_share_pool.max)
		return most;
	return most - atomic_long_read(&hipec_of_core(core)->user->nr);
}

/* The engine's host: a container holds @nr frames more. */
void hipec_share_accounted(struct hipec_core *core, s64 nr)
{
	atomic_long_add(nr, &hipec_of_core(core)->user->nr);
}
