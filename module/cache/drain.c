// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy is told of what was noted (touch.c).
 *
 * Interface:
 * hipec_drain_touches()    tell it
 * hipec_drain_all()        and count all hits
 * hipec_drain_and_evict()  and evict what it gives up
 * hipec_drain_work()       both, by a worker
 * hipec_drain_wants()      the policy is another one
 */
#include <linux/percpu.h>

#include "cache.h"

/* Notes that the policy is told of before others may run. */
#define NOTES_AT_ONCE 64

/* Notes of the future, in cycles, are of a clock that has begun anew, as behind a suspend. */
#define CLOCK_AHEAD (1ull << 32)

/*
 * Set the bits of pages whose entries were looked up when they were touched, and tell the
 * judge, from note @tail up to the end of the ring, or one whose entry is another's now, or of which more is to be
 * done. Return: notes.
 */
static noinline u32 set_bits(struct hipec_cache *cache, const struct hipec_touches *t, u32 tail,
			     u32 head)
{
	struct hipec_core *core = &cache->c->core;
	const u32 reached = core->vm.reached;
	struct hipec_page *page = core->vm.page;
	const struct hipec_touched *first = &t->range[tail % HIPEC_MAX_TOUCHES], *range = first;
	const struct hipec_touched *end = min(first + (head - tail), t->range + HIPEC_MAX_TOUCHES);

	for (; range != end; range++) {
		u32 h = range->context;
		struct hipec_page *touched = &page[h];

		if (range->how != HIPEC_BY_KNOWN || h > reached || touched->pgno != range->pgno ||
		    (touched->flags & (HIPEC_PAGE_LIVE | HIPEC_FOLIO_VICTIM)) != HIPEC_PAGE_LIVE)
			break;
		hipec_core_access(core, h, false);
		touched->flags |= HIPEC_FOLIO_REF;
	}
	return range - first;
}

/* The policy hears of one note. */
static void deliver_touch(struct hipec_cache *cache, const struct hipec_touched *touch)
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
 * Tell the policy of what one CPU has noted, up to note @head. Each note may be an event that takes
 * its time: others run in between. Return: false: the task has to end, and the rest is for the next
 * one that drains.
 */
static bool drain_one(struct hipec_cache *cache, struct hipec_touches *t, u32 head)
{
	struct hipec_counters *counters = &cache->c->core.counters;

	while ((s32)(head - t->tail) > 0) {
		struct hipec_touched range = t->range[t->tail % HIPEC_MAX_TOUCHES];

		if (range.how == HIPEC_BY_KNOWN) {
			u32 nr = cache->notify == HIPEC_NOTIFY_BITS ?
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
		deliver_touch(cache, &range);
		if ((!(t->tail % NOTES_AT_ONCE) || range.nr > 1 || unlikely(cache->c->slice)) &&
		    hipec_core_pause(&cache->c->core))
			return false;
	}
	return true;
}

/* When the next note of @t was made. */
static u64 time_of_next(const struct hipec_touches *t)
{
	return t->range[t->tail % HIPEC_MAX_TOUCHES].at;
}

/* Of what a CPU has noted nothing more is told now; the rest is the next one's. */
static void leave_cpu_notes(struct hipec_cache *cache, unsigned int cpu)
{
	const struct hipec_touches *t = per_cpu_ptr(cache->touches, cpu);

	cpumask_clear_cpu(cpu, cache->told);
	if (t->tail != t->end)
		cpumask_set_cpu(cpu, cache->noted);
}

/*
 * The CPU that noted first of what is to be told; NULL: there is none. *@until: when another one
 * noted, of those before @now.
 */
static struct hipec_touches *find_first(struct hipec_cache *cache, u64 now, u64 *until)
{
	struct hipec_touches *first = NULL, *t;
	unsigned int cpu;
	u64 at;

	*until = now;
	for_each_cpu(cpu, cache->told) {
		t = per_cpu_ptr(cache->touches, cpu);
		at = time_of_next(t);
		if (t->tail == t->end || (at > now && at - now < CLOCK_AHEAD)) {
			leave_cpu_notes(cache, cpu);
		} else if (!first || at < time_of_next(first)) {
			*until = first ? time_of_next(first) : now;
			first = t;
		} else {
			*until = min(*until, at);
		}
	}
	return first;
}

/* Notes that are to be told of @t before others: those up to time @until, and one at least. */
static u32 end_of_run(const struct hipec_touches *t, u64 until)
{
	u32 end = t->tail + 1;

	while (end != t->end && t->range[end % HIPEC_MAX_TOUCHES].at <= until)
		end++;
	return end;
}

/* What CPUs have noted by now is to be told; hits that are no notes are counted. */
static void begin_drain(struct hipec_cache *cache)
{
	struct hipec_counters *counters = &cache->c->core.counters;
	struct hipec_touches *t;
	unsigned int cpu;
	u64 hits;

	for_each_cpu(cpu, cache->noted) {
		cpumask_clear_cpu(cpu, cache->noted);
		smp_mb__after_atomic();
		t = per_cpu_ptr(cache->touches, cpu);
		t->end = smp_load_acquire(&t->head);
		hits = READ_ONCE(t->hits);
		counters->hits += hits - t->told;
		t->told = hits;
		cpumask_set_cpu(cpu, cache->told);
	}
}

/**
 * hipec_drain_touches() - tell the policy of what was touched
 * @cache: cache
 *
 * All of it, in the order of time; but for what other CPUs are noting now, and in a task that is
 * killed for what the next one finds.
 *
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 */
void hipec_drain_touches(struct hipec_cache *cache)
{
	u64 context = cache->c->core.context, now, until;
	struct hipec_touches *t;
	unsigned int cpu;

	lockdep_assert_held(&cache->c->lock);
	WRITE_ONCE(cache->delivered_at, jiffies);
	WRITE_ONCE(cache->batch,
		   cache->quiet || !READ_ONCE(cache->mapped) ? hipec_evict_most(cache) : 0);
	if (unlikely(!llist_empty(&cache->done)))
		hipec_evict_finish(cache);
	if (cpumask_empty(cache->noted))
		return;
	now = get_cycles();
	begin_drain(cache);
	while ((t = find_first(cache, now, &until)) && drain_one(cache, t, end_of_run(t, until)))
		;
	for_each_cpu(cpu, cache->told)
		leave_cpu_notes(cache, cpu);
	cache->c->core.context = context;
	hipec_cache_account(cache);
}

/* As hipec_drain_touches(), and what was counted without a note. */
void hipec_drain_all(struct hipec_cache *cache)
{
	cpumask_copy(cache->noted, cpu_possible_mask);
	hipec_drain_touches(cache);
}

/**
 * hipec_drain_wants() - see what the policy wants to know, from now on
 * @cache: cache, whose policy is new
 *
 * Context: expects c->lock.
 */
void hipec_drain_wants(struct hipec_cache *cache)
{
	const struct hipec_policy *p = cache->c->core.vm.policy;

	cache->bits = !hipec_vm_has_event(&cache->c->core.vm, HIPEC_EVENT_ACCESS);
	cache->quiet = cache->bits && !hipec_needs_has_op(p, HIPEC_OP_REF);
	hipec_cache_account(cache);
}

/* @has: the caller has c->lock still, and drops it. */
static void unlock_told(struct hipec_cache *cache, bool has)
{
	if (has) {
		cache->c->core.context = 0;
		mutex_unlock(&cache->c->lock);
	}
}

/**
 * hipec_drain_and_evict() - tell the policy of what was touched, and evict what it gives up
 * @cache: cache, which does not end meanwhile
 *
 * Context: expects c->lock, which it drops; sleeps.
 */
void hipec_drain_and_evict(struct hipec_cache *cache)
{
	hipec_drain_touches(cache);
	unlock_told(cache, hipec_cache_settle_unlocked(cache));
}

/* Whether there is anything to tell, or to finish. */
static bool has_notes(const struct hipec_cache *cache)
{
	return !cpumask_empty(cache->noted) || !llist_empty(&cache->done);
}

/*
 * The policy is told by a worker, which has the lock, and decides, for a slice. Return: whether it
 * took all of that.
 */
static bool tell_for_a_slice(struct hipec_cache *cache)
{
	hipec_event_slice_begin(cache->c, jiffies + HIPEC_SLICE);
	hipec_drain_touches(cache);
	/* What follows is in no slice, and to evict. */
	if (cache->held > cache->limit || hipec_refused_are_many(cache))
		hipec_cache_settle(cache);
	return hipec_event_slice_end(cache->c);
}

/*
 * Work: for tasks that could not tell, or have not. No task pays for its time: so after a slice
 * that a policy takes whole, the worker rests ten times as long, however urgent, and what is not
 * told by then is the kernel's. It waits for no lock, since containers of all users share the
 * workers.
 */
void hipec_drain_work(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, drain.work);
	unsigned long rest = hipec_rest_left(&cache->rest.drain);
	bool hurry;

	if (rest) {
		queue_delayed_work(hipec_wq, &cache->drain, rest);
		return;
	}
	hurry = xchg(&cache->hurry, false);
	if (!hurry && time_before(jiffies, READ_ONCE(cache->delivered_at) + HIPEC_TELL_LATER)) {
		if (has_notes(cache))
			queue_delayed_work(hipec_wq, &cache->drain, HIPEC_TELL_LATER);
		return;
	}
	if (!mutex_trylock(&cache->c->lock)) {
		WRITE_ONCE(cache->hurry, true);
		queue_delayed_work(hipec_wq, &cache->drain, 1);
		return;
	}
	if (tell_for_a_slice(cache)) {
		hipec_rest_begin(&cache->rest.drain);
		queue_delayed_work(hipec_wq, &cache->drain, HIPEC_REST);
	}
	unlock_told(cache, hipec_evict_victims_unlocked(cache));
}
