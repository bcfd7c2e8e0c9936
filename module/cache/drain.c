// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy is told of what was noted (touch.c).
 *
 * Interface:
 * hipec_touch_drain()      tell it
 * hipec_touch_drain_all()  and count all hits
 * hipec_touch_told()       and evict what it gives up
 * hipec_touch_work()       likewise, by a worker
 * hipec_touch_wants()      the policy is another one
 */
#include <linux/percpu.h>

#include "cache.h"

/* Notes that the policy is told of before others may run. */
#define NOTES_AT_ONCE 64

/*
 * Set the bits of pages whose entries were looked up when they were touched, from note @tail
 * up to the end of the ring, or one whose entry is another's now, or of which more is to be
 * done. Return: notes.
 */
static noinline u32 set_bits(struct hipec_cache *cache, const struct hipec_touches *t, u32 tail,
			     u32 head)
{
	const u32 reached = cache->c->core.vm.reached;
	struct hipec_page *page = cache->c->core.vm.page;
	const struct hipec_touched *first = &t->range[tail % HIPEC_MAX_TOUCHES], *range = first;
	const struct hipec_touched *end = min(first + (head - tail), t->range + HIPEC_MAX_TOUCHES);

	for (; range != end; range++) {
		u32 h = range->context;
		struct hipec_page *touched = &page[h];

		if (range->how != HIPEC_BY_KNOWN || h > reached || touched->pgno != range->pgno ||
		    (touched->flags & (HIPEC_PAGE_LIVE | HIPEC_FOLIO_VICTIM)) != HIPEC_PAGE_LIVE)
			break;
		touched->flags |= HIPEC_FOLIO_REF;
	}
	return range - first;
}

/*
 * Tell the policy of what one CPU has noted; what comes meanwhile may wait. Each note may be
 * an event that takes its time: others run in between. Return: false: the task has to end, and
 * the rest is for the next one that drains.
 */
static bool drain_one(struct hipec_cache *cache, struct hipec_touches *t)
{
	u32 head = smp_load_acquire(&t->head), tail = t->tail;
	struct hipec_counters *counters = &cache->c->core.counters;
	u64 hits = READ_ONCE(t->hits);

	counters->hits += hits - t->told;
	t->told = hits;
	while (tail != head) {
		struct hipec_touched range = t->range[tail % HIPEC_MAX_TOUCHES];

		if (range.how == HIPEC_BY_KNOWN) {
			u32 nr = cache->hear == HIPEC_HEAR_BITS ?
				set_bits(cache, t, tail, head) : 0;

			counters->hits += nr;
			tail += nr;
			if (nr) {
				smp_store_release(&t->tail, tail);
				continue;
			}
			range.how = HIPEC_BY_READ;
			range.context = 0;
		}
		smp_store_release(&t->tail, ++tail);
		cache->c->core.context = range.context;
		if (range.how == HIPEC_BY_MISS || range.how == HIPEC_BY_FILL)
			hipec_cache_missed(cache, range.pgno, range.nr,
					   range.how == HIPEC_BY_FILL);
		else
			hipec_cache_touched(cache, range.pgno, range.nr, range.how);
		if (hipec_is_owed(range.how))
			atomic_sub(range.nr, &cache->owed);
		if (!(tail % NOTES_AT_ONCE) && hipec_core_pause(&cache->c->core))
			return tail == head;
	}
	return true;
}

/**
 * hipec_touch_drain() - tell the policy of what was touched
 * @cache: cache
 *
 * All of it, but for what other CPUs are noting now, and in a task that is killed for what
 * the next one finds.
 *
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 */
void hipec_touch_drain(struct hipec_cache *cache)
{
	u64 context = cache->c->core.context;
	unsigned int cpu;

	lockdep_assert_held(&cache->c->lock);
	WRITE_ONCE(cache->tells, cache->tells + 1);
	if (unlikely(!llist_empty(&cache->done)))
		hipec_victims_finish(cache);
	if (cpumask_empty(cache->noted))
		return;
	for_each_cpu(cpu, cache->noted) {
		cpumask_clear_cpu(cpu, cache->noted);
		smp_mb__after_atomic();
		if (drain_one(cache, per_cpu_ptr(cache->touches, cpu)))
			continue;
		cpumask_set_cpu(cpu, cache->noted);
		break;
	}
	cache->c->core.context = context;
	hipec_cache_account(cache);
}

/* The same, and what was counted without a note. Context: likewise. */
void hipec_touch_drain_all(struct hipec_cache *cache)
{
	cpumask_copy(cache->noted, cpu_possible_mask);
	hipec_touch_drain(cache);
}

/**
 * hipec_touch_wants() - see what the policy wants to know, from now on
 * @cache: cache, whose policy is new
 *
 * Context: expects c->lock.
 */
void hipec_touch_wants(struct hipec_cache *cache)
{
	const struct hipec_policy *p = cache->c->core.vm.policy;

	cache->bits = !hipec_vm_has_event(&cache->c->core.vm, HIPEC_EVENT_ACCESS);
	cache->deaf = cache->bits && !hipec_policy_has_op(p, HIPEC_OP_REF);
	hipec_cache_account(cache);
}

/**
 * hipec_touch_told() - tell the policy of what was touched, and evict what it gives up
 * @cache: cache, which does not end meanwhile
 *
 * Context: expects c->lock, which it drops; sleeps.
 */
void hipec_touch_told(struct hipec_cache *cache)
{
	hipec_touch_drain(cache);
	if (hipec_cache_settle_unlocked(cache)) {
		cache->c->core.context = 0;
		mutex_unlock(&cache->c->lock);
	}
}

/* Whether there is anything to tell, or to finish. */
static bool has_notes(const struct hipec_cache *cache)
{
	return !cpumask_empty(cache->noted) || !llist_empty(&cache->done);
}

/* Work: for tasks that could not tell, or have not. */
void hipec_touch_work(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, drain.work);
	bool hurry = xchg(&cache->hurry, false);
	u32 tells = READ_ONCE(cache->tells);

	if (!hurry && tells != cache->tells_seen) {
		cache->tells_seen = tells;
		if (has_notes(cache))
			queue_delayed_work(hipec_wq, &cache->drain, HIPEC_TELL_LATER);
		return;
	}
	mutex_lock(&cache->c->lock);
	hipec_touch_told(cache);
}
