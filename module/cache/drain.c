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

static void drain_miss_before(struct hipec_cache *cache, const struct hipec_touches *mine,
			      const struct hipec_touched *touch);

/*
 * Whether the miss of a touch may be among the notes of another CPU, as the task moved in between.
 * Context: expects c->lock.
 */
static bool is_ahead_of_miss(struct hipec_cache *cache, const struct hipec_touched *touch)
{
	return !hipec_is_owed(touch->how) && atomic_read(&cache->owed) &&
	       !hipec_page_find(&cache->c->core.vm, touch->pgno);
}

/* The policy hears of one note. */
static void tell(struct hipec_cache *cache, const struct hipec_touched *touch)
{
	cache->c->core.context = touch->context;
	if (touch->how == HIPEC_BY_MISS || touch->how == HIPEC_BY_FILL)
		hipec_cache_missed(cache, touch->pgno, touch->nr, touch->how == HIPEC_BY_FILL);
	else
		hipec_cache_touched(cache, touch->pgno, touch->nr, touch->how);
	if (hipec_is_owed(touch->how))
		atomic_sub(touch->nr, &cache->owed);
}

/*
 * Tell the policy of what one CPU has noted, up to note @head; what comes meanwhile may wait. Each
 * note may be an event that takes its time: others run in between. @all: and of misses before these
 * on other CPUs. Return: false: the task has to end, and the rest is for the next one that drains.
 */
static bool drain_one(struct hipec_cache *cache, struct hipec_touches *t, u32 head, bool all)
{
	struct hipec_counters *counters = &cache->c->core.counters;
	u64 hits = READ_ONCE(t->hits);

	counters->hits += hits - t->told;
	t->told = hits;
	while ((s32)(head - t->tail) > 0) {
		struct hipec_touched range = t->range[t->tail % HIPEC_MAX_TOUCHES];

		if (range.how == HIPEC_BY_KNOWN) {
			u32 nr = cache->hear == HIPEC_HEAR_BITS ?
				set_bits(cache, t, t->tail, head) : 0;

			counters->hits += nr;
			if (nr) {
				smp_store_release(&t->tail, t->tail + nr);
				continue;
			}
			range.how = HIPEC_BY_READ;
			range.context = 0;
		}
		smp_store_release(&t->tail, t->tail + 1);
		if (all && unlikely(is_ahead_of_miss(cache, &range)))
			drain_miss_before(cache, t, &range);
		tell(cache, &range);
		if (!(t->tail % NOTES_AT_ONCE) && hipec_core_pause(&cache->c->core))
			return t->tail == head;
	}
	return true;
}

/* The miss of a touch that CPU @mine has noted is on another one: it comes first, and what is before. */
static void drain_miss_before(struct hipec_cache *cache, const struct hipec_touches *mine,
			      const struct hipec_touched *touch)
{
	unsigned int cpu;

	for_each_cpu(cpu, cache->noted) {
		struct hipec_touches *t = per_cpu_ptr(cache->touches, cpu);
		u32 head = smp_load_acquire(&t->head), i;

		for (i = t->tail; t != mine && i != head; i++) {
			const struct hipec_touched *r = &t->range[i % HIPEC_MAX_TOUCHES];

			if ((r->how == HIPEC_BY_MISS || r->how == HIPEC_BY_FILL) &&
			    touch->pgno - r->pgno < r->nr) {
				drain_one(cache, t, i + 1, false);
				return;
			}
		}
	}
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
	struct hipec_touches *t;
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
		t = per_cpu_ptr(cache->touches, cpu);
		if (drain_one(cache, t, smp_load_acquire(&t->head), true))
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
