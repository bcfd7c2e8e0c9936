// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of policies and containers that are gone: the last of them, each
 * with its reason and its numbers at that moment. A ring of a fixed size, there
 * from the module's load to its end: what ends a policy may be a lack of memory.
 *
 * Interface:
 * hipec_log_note()  a policy, or its container, has ended
 * hipec_log_next()  what the caller may know
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "base.h"

static uint log_records = 64;
module_param(log_records, uint, 0444);
MODULE_PARM_DESC(log_records, "ends of policies and containers that are remembered, for hipec log; 0: none; at most 1024");

/**
 * struct record - an entry of the ring
 * @pid: that loaded; it keeps its numbers in all namespaces
 * @uid: likewise
 * @log: as told, but for what depends on who asks
 */
struct record {
	struct pid *pid;
	kuid_t uid;
	struct hipec_log log;
};

static DEFINE_SPINLOCK(lock);
static struct record *ring;	/* of nr_ring; record n is at (n - 1) % nr_ring */
static u32 nr_ring;
static u64 last;		/* number of the last record, under the lock */

/* Context: may sleep. Return: 0 or -ENOMEM. */
int hipec_log_init(void)
{
	log_records = min(log_records, 1024u);
	if (!log_records)
		return 0;
	ring = kvcalloc(log_records, sizeof(*ring), GFP_KERNEL);
	if (!ring)
		return -ENOMEM;
	nr_ring = log_records;
	return 0;
}

/* Nobody notes or asks any more. Context: may sleep. */
void hipec_log_exit(void)
{
	u32 i;

	for (i = 0; i < nr_ring; i++)
		put_pid(ring[i].pid);
	kvfree(ring);
}

/**
 * hipec_log_note() - a policy, or its container, has ended
 * @c:      container that has, or had, a policy, whose vm.exit says why
 * @closed: the container goes as well
 *
 * Context: process context; expects c->lock.
 */
void hipec_log_note(struct hipec_container *c, bool closed)
{
	struct pid *old;
	struct record *r;

	lockdep_assert_held(&c->lock);
	if (!nr_ring)
		return;
	spin_lock(&lock);
	r = &ring[last++ % nr_ring];
	old = r->pid;
	r->pid = get_pid(c->owner_pid);
	r->uid = c->owner_uid;
	r->log.seq = last;
	r->log.time = ktime_get_real_ns();
	r->log.lived = ktime_get_ns() - c->core.loaded_at;
	r->log.closed = closed;
	__hipec_container_status(c, &r->log.status);
	spin_unlock(&lock);
	put_pid(old);
}

/**
 * hipec_log_next() - the first record behind another that the caller may see
 * @a: with the number of that one, or 0; filled, but for its size
 *
 * Context: process context.
 * Return: 0; -ENOENT if there is none.
 */
int hipec_log_next(struct hipec_log *a)
{
	bool all = hipec_user_sees_all();
	u32 size = a->size;
	struct record *r;
	int ret = -ENOENT;
	u64 n;

	spin_lock(&lock);
	n = max(a->seq, last > nr_ring ? last - nr_ring : 0);
	for (; ret && n < last; n++) {
		r = &ring[n % nr_ring];
		if (!all && !uid_eq(r->uid, current_uid()))
			continue;
		*a = r->log;
		a->size = size;
		a->status.size = sizeof(a->status);
		a->status.pid = pid_vnr(r->pid);
		a->status.uid = from_kuid_munged(current_user_ns(), r->uid);
		ret = 0;
	}
	spin_unlock(&lock);
	return ret;
}
