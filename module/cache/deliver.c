// SPDX-License-Identifier: GPL-2.0-only
/*
 * What read() and write() have touched is noted, and the policy told of it: by the task that made
 * the call, if it is for that, or else by a worker.
 *
 * Interface:
 * hipec_deliver_soon()              of all that is noted, as this task leaves the kernel
 * hipec_deliver_missed()            or with what comes soon
 * hipec_deliver_read(), _written()  pages were read, or written
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "cache.h"

/* Where in the program a call comes from, and that its pages were touched. */
static noinline bool note_with_context(struct inode *inode, u64 first, u32 nr)
{
	struct hipec_cfile *f;
	u64 context;
	bool full = false;

	rcu_read_lock();
	f = hipec_table_find(inode);
	if (f) {
		context = hipec_context_of_call(&f->cache->c->contexts);
		full = hipec_touch_note(f->cache, f->start + first, nr, HIPEC_BY_READ, context);
	}
	rcu_read_unlock();
	return full;
}

/* Slots of cache->deliverers that a task may have. */
#define SLOTS_OF_TASK 4

/* Of a task, which is to tell a container's policy: by its id, as the task may be on its way for long. */
struct teller {
	struct callback_head work;
	u64 id;
};

/* A slot that the current task may have, and that has @what; NULL: there is none. */
static struct task_struct **find_deliverer(struct hipec_cache *cache,
					   const struct task_struct *what)
{
	u32 first = hash_ptr(current, ilog2(HIPEC_MAX_DELIVERERS)), i;

	for (i = 0; i < SLOTS_OF_TASK; i++) {
		struct task_struct **slot = &cache->deliverers[(first + i) % HIPEC_MAX_DELIVERERS];

		if (READ_ONCE(*slot) == what)
			return slot;
	}
	return NULL;
}

/* The current task is to tell, and a slot is its own. Return: whether it was not so before. */
static bool take_slot(struct hipec_cache *cache)
{
	struct task_struct **slot = find_deliverer(cache, current) ? NULL :
				    find_deliverer(cache, NULL);

	return slot && !cmpxchg(slot, NULL, current);
}

/* It is not any more. */
static void leave_slot(struct hipec_cache *cache)
{
	struct task_struct **slot = find_deliverer(cache, current);

	if (slot)
		WRITE_ONCE(*slot, NULL);
}

/* The task is about to go back to its program, or ends: it holds no lock. */
static void tell_on_the_way_back(struct callback_head *work)
{
	struct teller *t = container_of(work, struct teller, work);
	struct hipec_container *c;

	rcu_read_lock();
	c = xa_load(&hipec_containers, t->id);
	if (c && !kref_get_unless_zero(&c->ref))
		c = NULL;
	rcu_read_unlock();
	kfree(t);
	if (!c)
		return;
	leave_slot(c->cache);
	/* A task that ends has no time for it: a worker does it. */
	if (!fatal_signal_pending(current) && !(current->flags & PF_EXITING) &&
	    !cpumask_empty(c->cache->noted) && hipec_touch_lock(c->cache))
		hipec_drain_and_evict(c->cache);
	hipec_container_put_later(c);
}

/* The current task tells, on its way back, if it may, and does not so already. */
static void ask_task(struct hipec_cache *cache)
{
	struct teller *t;

	if (!hipec_touch_may_deliver(cache) || !take_slot(cache))
		return;
	t = kmalloc(sizeof(*t), GFP_NOWAIT | __GFP_NOWARN);
	if (t) {
		t->id = cache->c->id;
		init_task_work(&t->work, tell_on_the_way_back);
		if (!task_work_add(current, &t->work, TWA_RESUME))
			return;
		kfree(t);
	}
	leave_slot(cache);
}

/**
 * hipec_deliver_missed() - as hipec_deliver_soon(), of pages that are owed, or with what comes soon
 * @cache: as there
 *
 * Context: any but interrupts.
 */
void hipec_deliver_missed(struct hipec_cache *cache)
{
	if (!hipec_touch_can_wait(cache))
		hipec_deliver_soon(cache);
	else if (!delayed_work_pending(&cache->drain))
		hipec_touch_later(cache);
}

/**
 * hipec_deliver_soon() - the policy is to be told of what is noted, as this task leaves the kernel
 * @cache: cache; the caller uses one of its files, or is in a section of RCU
 *
 * By the task itself, if the policy is for it. A worker sees to what it leaves, or if its call takes
 * long.
 *
 * Context: any but interrupts.
 */
void hipec_deliver_soon(struct hipec_cache *cache)
{
	ask_task(cache);
	hipec_touch_later(cache);
}

/* A CPU's notes are half @full; or a part of a call is over, and the policy is told @now of misses. */
static noinline void deliver_notes(struct inode *inode, bool full, bool now)
{
	struct hipec_cfile *f = hipec_table_get(inode);

	if (!f)
		return;
	if (!now)
		hipec_deliver_soon(f->cache);
	else if (!full && (!atomic_read(&f->cache->owed) || hipec_touch_can_wait(f->cache)))
		;	/* there were none, or few */
	else if (hipec_touch_lock(f->cache))
		hipec_drain_and_evict(f->cache);
	else
		hipec_touch_later(f->cache);
	hipec_table_put(f);
}

/**
 * hipec_deliver_read() - pages of a file were read
 * @inode: of the file
 * @first: page
 * @last:  page
 * @now:   a part of a call: the policy is told of its misses now, and not as the task leaves the
 *         kernel
 *
 * Context: process context, may sleep; with @now it expects no lock that others want.
 */
void hipec_deliver_read(struct inode *inode, u64 first, u64 last, bool now)
{
	bool full = false, wanted = false;
	struct hipec_cfile *f;

	preempt_disable();	/* also a reader of RCU */
	f = hipec_table_find(inode);
	if (f && last < f->nr) {
		wanted = hipec_cache_wants_context(f->cache);
		if (likely(!wanted))
			full = hipec_touch_note(f->cache, f->start + first,
						last - first + 1, HIPEC_BY_READ, 0);
	}
	preempt_enable();
	if (unlikely(wanted))
		full = note_with_context(inode, first, last - first + 1);
	if (likely(!full && !now))
		return;
	deliver_notes(inode, full, now);
}

/**
 * hipec_deliver_written() - pages of a file were written
 * @inode: of the file
 * @first: page
 * @last:  page
 *
 * Some may be new, and have no entry before the policy hears of them.
 *
 * Context: process context; waits for nothing, since its file system cannot be frozen meanwhile.
 */
void hipec_deliver_written(struct inode *inode, u64 first, u64 last)
{
	struct hipec_cfile *f = hipec_table_get(inode);
	struct hipec_cache *cache;
	u64 context = 0;

	if (!f)
		return;
	cache = f->cache;
	if (hipec_cache_wants_context(cache))
		context = hipec_context_of_call(&cache->c->contexts);
	if (last < f->nr && hipec_touch_owe(cache, f->start + first, last - first + 1,
					    HIPEC_BY_WRITE, context))
		hipec_deliver_missed(cache);
	else
		hipec_cache_lose(f, 0);
	hipec_table_put(f);
}
