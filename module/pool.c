// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool: frames that unprivileged containers share, and who gives one up.
 *
 * A container that was loaded with HIPEC_LOAD_SHARE starts with a few frames,
 * which are never taken from it, and gets more one by one: while the pool has
 * room and its user is below the quota they are allocated, so that each belongs
 * to the memory cgroup of its container's owner. When the pool is full, FIFO2-MR
 * (core/fifo2mr.c) finds the container that gives one up, by its own Replace. A
 * frame that changes hands goes back to the system and another is allocated.
 *
 * A victim that is dirty leaves when the washer has cleaned it. Frames that are
 * leaving do not count as held, up to a sixteenth of the pool.
 *
 * The manager asks for a page of a container whose lock it can have at once;
 * another's page it passes over, as if it had been referenced.
 *
 * Interface:
 * hipec_pool_init(), _exit()       the module's
 * hipec_pool_join(), _fill()       a container shares from now on, has its first frames
 * hipec_pool_leave()               it does no longer
 * hipec_pool_grow()                one frame more, by whose loss ever
 * hipec_pool_space()               frames that nobody would have to give up
 * hipec_pool_account()             a container's frames have changed
 * hipec_pool_came(), _left()       a page is live, is no longer
 * hipec_pool_spare(), _reclaim()   memory pressure
 */
#include <linux/moduleparam.h>
#include <linux/sched.h>

#include "internal.h"
#include "core/fifo2mr.h"
#include "core/recover.h"

#define MB_SHIFT (20 - PAGE_SHIFT)

static ulong pool_mb;
module_param(pool_mb, ulong, 0444);
MODULE_PARM_DESC(pool_mb, "MB of frames that unprivileged containers share; 0: a quarter of the memory");

static ulong quota_mb;
module_param(quota_mb, ulong, 0644);
MODULE_PARM_DESC(quota_mb, "MB of these that the containers of one user may hold; 0: all");

#define HIPEC_MAX_MEMBERS 1024

/* Of these, one user's: nobody keeps all others out. */
#define HIPEC_MAX_USER_MEMBERS 256

/* Under its lock but for what is atomic or says more. */
static struct {
	struct mutex lock;
	struct task_struct *holder;	/* of the lock; read without it */
	struct hipec_mr mr;		/* has memory from the first join on */
	struct hipec_container *member[HIPEC_MAX_MEMBERS + 1];
	u32 nr_members;			/* may be read without it */
	struct hipec_container *requester;	/* holds its own lock */
	bool asked;			/* a policy, for the page that goes now */
	u32 pgno;			/* that it wants a frame for */
	bool write;
	u32 came;			/* pages, so far */
	struct cpumask stale_cpus;	/* whose TLB may have bits that were reset */
	long max;			/* pages; invariant */
	long slack;			/* likewise */
	atomic_long_t nr;		/* frames held, but for those leaving */
	atomic_long_t leaving;
} pool = {
	.lock = __MUTEX_INITIALIZER(pool.lock),
};

/* Whether the caller holds the lock, so that others wait. Context: any. */
bool hipec_pool_held(void)
{
	return READ_ONCE(pool.holder) == current;
}

/* Pages come and go under the lock while a policy is asked: no deadlock then. */
static bool enter(void)
{
	if (hipec_pool_held())
		return false;
	mutex_lock(&pool.lock);
	WRITE_ONCE(pool.holder, current);
	return true;
}

static void leave(bool entered)
{
	if (!entered)
		return;
	WRITE_ONCE(pool.holder, NULL);
	mutex_unlock(&pool.lock);
}

static long quota(void)
{
	long nr = min_t(ulong, READ_ONCE(quota_mb), INT_MAX) << MB_SHIFT;

	return nr && nr < pool.max ? nr : pool.max;
}

/* Whoever may have the whole pool has others' frames when it is full. */
static bool at_quota(const struct hipec_user *u)
{
	long most = quota();

	return most < pool.max && atomic_long_read(&u->nr) >= most;
}

static bool has_room(void)
{
	long nr = atomic_long_read(&pool.nr);

	return nr < pool.max &&
	       nr + atomic_long_read(&pool.leaving) < pool.max + pool.slack;
}

/**
 * hipec_pool_account() - tell the pool what a container holds
 * @c: container; one that is privileged does not count
 *
 * Context: any that may change c->nr_frames and c->nr_surplus.
 */
void hipec_pool_account(struct hipec_container *c)
{
	long held = (long)c->nr_frames - c->nr_surplus - c->pool_held;
	long leaving = (long)c->nr_surplus - c->pool_leaving;

	if (!c->member)
		return;
	atomic_long_add(held, &pool.nr);
	atomic_long_add(held, &c->user->nr);
	atomic_long_add(leaving, &pool.leaving);
	c->pool_held += held;
	c->pool_leaving += leaving;
}

/**
 * hipec_pool_space() - frames that a container can get and nobody loses
 * @c: container that shares
 *
 * Context: expects c->lock; the answer is old when it is given.
 * Return: pages.
 */
u32 hipec_pool_space(struct hipec_container *c)
{
	long most = (long)c->nr_reserved - c->nr_frames;

	most = min(most, pool.max - atomic_long_read(&pool.nr));
	most = min(most, quota() - atomic_long_read(&c->user->nr));
	return max(most, 0l);
}

/*
 * The container @owner with its lock, if it can be had at once. That the
 * requester's lock is held already lockdep need not know: nobody waits here.
 */
static struct hipec_container *lock_member(u32 owner)
{
	struct hipec_container *c = pool.member[owner];

	if (c == pool.requester || mutex_trylock(&c->lock))
		return c;
	return NULL;
}

static void unlock_member(struct hipec_container *c)
{
	hipec_young_leave(c, &pool.stale_cpus);
	if (c != pool.requester)
		mutex_unlock(&c->lock);
}

static bool mr_referenced(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_container *c = lock_member(owner);
	bool pass;

	if (!c)
		return true;
	if (hipec_young_seen(c, h, HIPEC_PAGE_REF_POOL)) {
		hipec_recover_drop_kept(&c->recover, c->vm.page[h].pgno);
		pass = true;
	} else {
		/* Its last frames are its own to replace. */
		pass = c != pool.requester && c->pool_held <= HIPEC_POOL_MIN;
	}
	unlock_member(c);
	return pass;
}

static void mr_reset(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_container *c = lock_member(owner);

	if (!c)
		return;
	hipec_young_forget(c, h, HIPEC_PAGE_REF_POOL);
	unlock_member(c);
}

static void mr_ask(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_container *c;

	/* One of them for each page: others wait. */
	if (pool.asked)
		return;
	c = lock_member(owner);
	if (!c)
		return;
	pool.asked = !hipec_fifo2_rules(&c->vm);
	/* Without a policy the manager's choice stands. */
	if (!hipec_fifo2_rules(&c->vm) && c == pool.requester)
		hipec_room_ask(c, pool.pgno, pool.write);
	else if (!hipec_fifo2_rules(&c->vm))
		hipec_room_ask_for_other(c);
	unlock_member(c);
}

static void mr_take(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_container *c = lock_member(owner);
	u32 pgno;

	if (!c)
		return;
	pgno = c->vm.page[h].pgno;
	if (hipec_frame_evict(c, h, c == pool.requester))
		hipec_event_remove(c, pgno);
	unlock_member(c);
}

static void mr_moved(struct hipec_mr *mr, u32 owner, u32 kept, u32 gone)
{
	struct hipec_container *c = pool.member[owner];

	c->counters.moved++;
	/* FIFO2-MR has just seen that it is not referenced, AWST does not look. */
	if (mr->policy == HIPEC_MR_AWST)
		hipec_young_forget(c, kept, HIPEC_PAGE_REF_POOL);
	hipec_recover_add(&c->recover, c->vm.page[gone].pgno,
			  c->vm.page[kept].pgno);
}

static const struct hipec_mr_ops mr_ops = {
	.referenced = mr_referenced,
	.reset = mr_reset,
	.ask = mr_ask,
	.take = mr_take,
	.moved = mr_moved,
};

/* Have a page given up for @who. Return: whether one was. */
static bool reclaim(u32 who)
{
	pool.asked = false;
	return hipec_mr_reclaim(&pool.mr, who);
}

/*
 * Have frames given up until there is room, or @c got one of its own pages'.
 * Return: 1 if so; 0 if nobody can give any; -EAGAIN if somebody may soon.
 */
static int make_room(struct hipec_container *c)
{
	u32 before = c->nr_free + c->nr_laundry;

	while (hipec_mr_is_full(&pool.mr, c->member) || !has_room()) {
		/* Enough is leaving: more would not come sooner. */
		if (!hipec_mr_is_full(&pool.mr, c->member) &&
		    atomic_long_read(&pool.nr) < pool.max)
			return -EAGAIN;
		if (!reclaim(c->member))
			return pool.mr.passed ? -EAGAIN : 0;
		if (c->nr_free + c->nr_laundry > before)
			return 1;
	}
	return 1;
}

/**
 * hipec_pool_grow() - get one frame more
 * @c:     container that shares
 * @pgno:  page that it is for
 * @write: it is to be written to
 * @gfp:   how hard to try to allocate it
 *
 * From the system while there is room, else from whom FIFO2-MR chooses, which
 * may be @c itself.
 *
 * Context: process context; expects c->lock; may sleep.
 * Return: 1 if a frame is free now, or will be when the washer is done; 0 if @c
 *         shall replace pages of its own: it is at its limit, its user at the
 *         quota, or there is no memory; -EAGAIN if others' frames are leaving.
 */
int hipec_pool_grow(struct hipec_container *c, u32 pgno, bool write, gfp_t gfp)
{
	/* Frames that are leaving count: their pages are in the table still. */
	bool at_limit = c->nr_frames >= c->nr_reserved, entered;
	u32 had = c->nr_free + c->nr_laundry;
	int ret;

	lockdep_assert_held(&c->lock);
	/* At its limit a container replaces its own pages, AWST chooses which. */
	if (at_limit && pool.mr.policy != HIPEC_MR_AWST)
		return 0;
	if (at_quota(c->user) || hipec_cgroup_denied(c))
		return 0;
	entered = enter();
	if (at_limit && !hipec_mr_is_full(&pool.mr, c->member)) {
		leave(entered);
		return 0;
	}
	pool.requester = c;
	pool.pgno = pgno;
	pool.write = write;
	ret = make_room(c);
	hipec_young_flush_cpus(&pool.stale_cpus);
	if (ret == 1 && c->nr_free + c->nr_laundry > had) {
		leave(entered);
		return 1;
	}
	if (ret == 1 && at_limit)
		ret = 0;	/* its own page is leaving */
	if (ret == 1)
		atomic_long_inc(&pool.nr);	/* until it is allocated */
	leave(entered);
	if (ret != 1)
		return ret;
	ret = hipec_frame_add(c, gfp);
	atomic_long_dec(&pool.nr);
	return ret;
}

/* A page of @c is live. Context: expects c->lock. */
void hipec_pool_came(struct hipec_container *c, u32 h)
{
	bool entered;

	if (!c->member)
		return;
	entered = enter();
	c->vm.page[h].flags &= ~HIPEC_PAGE_REF_ALL;
	c->in_pool[h] = hipec_mr_add(&pool.mr, c->member, h);
	if (entered && ++pool.came % HIPEC_AGE_EVERY == 0 &&
	    atomic_long_read(&pool.nr) > pool.max / 2) {
		pool.requester = c;
		hipec_mr_age(&pool.mr);
		hipec_young_flush_cpus(&pool.stale_cpus);
	}
	hipec_recover_drop_gone(&c->recover, c->vm.page[h].pgno);
	leave(entered);
}

/* It is about to be live no more. Context: expects c->lock. */
void hipec_pool_left(struct hipec_container *c, u32 h)
{
	bool entered;
	u32 f;

	if (!c->member)
		return;
	if (hipec_page_live(&c->vm, h))
		hipec_revoke_gone(c, c->vm.page[h].pgno);
	if (!c->in_pool[h])
		return;
	entered = enter();
	f = c->in_pool[h];
	c->in_pool[h] = HIPEC_MR_NONE;
	hipec_mr_del(&pool.mr, f);
	hipec_recover_drop_kept(&c->recover, c->vm.page[h].pgno);
	leave(entered);
}

/**
 * hipec_pool_spare() - frames that memory pressure may take
 *
 * Context: any; the answer is old when it is given.
 * Return: pages, about.
 */
unsigned long hipec_pool_spare(void)
{
	long spare = atomic_long_read(&pool.nr) -
		     (long)HIPEC_POOL_MIN * READ_ONCE(pool.nr_members);

	return max(spare, 0l);
}

/*
 * For reclaim: the pool's lock, if it can be had at once. Containers' are only
 * tried under it, and none that joined ends.
 */
bool hipec_pool_try_enter(void)
{
	if (!mutex_trylock(&pool.lock))
		return false;
	WRITE_ONCE(pool.holder, current);
	pool.requester = NULL;
	return true;
}

void hipec_pool_leave_entered(void)
{
	hipec_young_flush_cpus(&pool.stale_cpus);
	leave(true);
}

/* Between these: have one page given up. Return: false if none can go now. */
bool hipec_pool_reclaim(void)
{
	return pool.mr.frame && reclaim(HIPEC_MR_NOBODY);
}

/* Find a number for @c. Under the lock. */
static int admit(struct hipec_container *c)
{
	unsigned long entries = pool.max + pool.slack + HIPEC_MAX_CLUSTER;
	u32 member;

	for (member = 1; member <= HIPEC_MAX_MEMBERS; member++)
		if (!pool.member[member])
			break;
	if (member > HIPEC_MAX_MEMBERS ||
	    c->user->nr_members == HIPEC_MAX_USER_MEMBERS)
		return -ENOSPC;
	if (!pool.mr.frame) {
		int ret = hipec_global_start(&pool.mr, &mr_ops, entries,
					     HIPEC_MAX_MEMBERS + 1);

		if (ret)
			return ret;
		pool.mr.most = HIPEC_MAX_LOOKS;
	}
	c->user->nr_members++;
	c->member = member;
	pool.member[member] = c;
	pool.nr_members++;
	hipec_mr_set_limits(&pool.mr, member, HIPEC_POOL_MIN, c->nr_reserved);
	return 0;
}

/**
 * hipec_pool_join() - let a container share the pool's frames
 * @c:   container with its user and limit, without tables; nobody else uses it
 * @log: told of a limit above the quota
 *
 * Before its tables are made: what is refused has cost nothing.
 *
 * Context: process context, may sleep.
 * Return: 0; -EDQUOT if its limit is above the user's quota; -ENOMEM; -ENOSPC if
 *         too many containers share, or too many of this user's.
 */
int hipec_pool_join(struct hipec_container *c, struct hipec_text *log)
{
	bool entered;
	int ret;

	if (c->nr_reserved > quota()) {
		hipec_text_num(log, c->nr_reserved);
		hipec_text_str(log, " frames are above the quota of user ");
		hipec_text_num(log, from_kuid_munged(current_user_ns(),
						     c->user->uid));
		hipec_text_str(log, ", which is ");
		hipec_text_num(log, quota());
		hipec_text_str(log, " (module parameters quota_mb and pool_mb)");
		return -EDQUOT;
	}
	entered = enter();
	ret = admit(c);
	leave(entered);
	return ret;
}

/**
 * hipec_pool_fill() - give a container that shares its tables and first frames
 * @c: container that has joined; nobody else uses it
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENOMEM if the machine, its cgroup or the pool does not give them.
 */
int hipec_pool_fill(struct hipec_container *c)
{
	u32 entries = hipec_vm_nr_pages(&c->policy, c->nr_reserved);
	u32 first = min_t(u32, c->nr_reserved, HIPEC_POOL_MIN);
	bool builtin = hipec_fifo2_is(&c->policy);
	int ret = 0;

	c->in_pool = hipec_table_alloc((entries + 1ul) * sizeof(*c->in_pool));
	if (!builtin)
		c->directory =
			hipec_table_alloc(hipec_shadow_bytes(c->nr_reserved));
	if (!c->in_pool || !(c->directory || builtin) || !hipec_recovery_init(c))
		return -ENOMEM;
	mutex_lock(&c->lock);
	while (!ret && c->nr_frames < first) {
		ret = hipec_pool_grow(c, HIPEC_NO_PGNO, false,
				      __GFP_RETRY_MAYFAIL);
		ret = ret == 1 ? 0 : -ENOMEM;
	}
	mutex_unlock(&c->lock);
	return ret;
}

/**
 * hipec_pool_leave() - a container shares no longer
 * @c: container without pages and frames; nothing if it did not join
 *
 * Context: process context, may sleep.
 */
void hipec_pool_leave(struct hipec_container *c)
{
	bool entered = enter();

	hipec_cgroup_leave(c);
	if (c->member) {
		c->nr_surplus = 0;
		hipec_pool_account(c);
		pool.member[c->member] = NULL;
		pool.nr_members--;
		c->user->nr_members--;
		c->member = 0;
	}
	leave(entered);
	kvfree(c->in_pool);
	c->in_pool = NULL;
	kvfree(c->recovery);
	c->recovery = NULL;
	kvfree(c->directory);
	c->directory = NULL;
}

/* Numbers of the pool, for HIPEC_IOC_QUERY. */
void hipec_pool_query(struct hipec_query *q)
{
	q->pool_frames = atomic_long_read(&pool.nr);
	q->pool_max = pool.max;
	q->quota = quota();
}

/* Context: process context. Return: 0; -EINVAL for a parameter out of range. */
int hipec_pool_init(void)
{
	/* Entries are counted in 32 bits. */
	pool.max = min_t(ulong, pool_mb, INT_MAX) << MB_SHIFT ?:
		   totalram_pages() / 4;
	pool.max = min_t(long, pool.max, INT_MAX / 2);
	pool.slack = pool.max / 16 + 1;
	return hipec_global_check();
}

void hipec_pool_exit(void)
{
	hipec_global_stop(&pool.mr);
}
