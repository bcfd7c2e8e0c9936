// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pages were touched, on their way to the policy. A read() that hits notes a
 * range on its CPU, under no lock, and is done; the next miss tells the policy of all that
 * was noted, or the reader itself where a CPU's notes are full, or where it missed. So the
 * policy hears of every touch before it is asked for a victim, and in order on each CPU;
 * and what it evicts when a page comes has gone before the reader reads on. Where nobody
 * wants to know, hits are counted and nothing else.
 *
 * Interface:
 * hipec_touch_note()   pages were touched
 * hipec_touch_missed() the reader will have to tell
 * hipec_touch_fault()  a page was touched, and others mapped with it
 * hipec_touch_drain()  tell the policy
 * hipec_touch_drain_all()  and count all hits
 * hipec_touch_work()   likewise, a while later
 * hipec_touch_wants()  the policy is another one
 */
#include <linux/percpu.h>

#include "cache.h"

/* Notes that the policy is told of before others may run. */
#define NOTES_AT_ONCE 64

/* A range is noted; what does not fit is not. Not to be preempted. */
static __always_inline void add(struct hipec_cache *cache, struct hipec_touches *t,
				u32 pgno, u32 nr, enum hipec_touch how, u64 context)
{
	/* What is at the tail has been read before it is written over. */
	u32 head = t->head, pending = head - smp_load_acquire(&t->tail);

	if (pending >= HIPEC_MAX_TOUCHES)
		return;
	t->range[head % HIPEC_MAX_TOUCHES] = (struct hipec_touched){
		.pgno = pgno, .nr = nr, .how = how, .context = context,
	};
	smp_store_release(&t->head, head + 1);
	if (unlikely(!pending))
		cpumask_set_cpu(smp_processor_id(), cache->noted);
}

/*
 * Whether the shadow of the default policy, or the league, samples one of these pages. A
 * swap may be under way: a touch more or less is nothing then.
 */
static bool is_sampled(const struct hipec_cache *cache, u32 pgno, u32 nr)
{
	const struct hipec_league *l = READ_ONCE(cache->c->league);
	const struct hipec_core *core = &cache->c->core;

	for (; nr; nr--, pgno++)
		if ((core->directory && hipec_shadow_sampled(&core->shadow, pgno)) ||
		    (l && hipec_league_sampled(l, pgno)))
			return true;
	return false;
}

/*
 * Whether there is so much that somebody should tell the policy. While that is done, a
 * note may be taken for one of many and not make its CPU known: here it does.
 */
static bool is_full(struct hipec_cache *cache, const struct hipec_touches *t)
{
	if (likely(t->head - READ_ONCE(t->tail) < HIPEC_MAX_TOUCHES / 2))
		return false;
	cpumask_set_cpu(smp_processor_id(), cache->noted);
	return true;
}

/* As hipec_touch_note(); @quiet: nobody wants to know of these. */
static __always_inline bool note(struct hipec_cache *cache, u32 pgno, u32 nr,
				 enum hipec_touch how, u64 context, bool quiet)
{
	struct hipec_touches *t = get_cpu_ptr(cache->touches);
	bool full = false;

	if (quiet && !t->missed) {
		t->hits += nr;
		goto out;
	}
	add(cache, t, pgno, nr, how, context);
	full = is_full(cache, t) || t->missed;
	t->missed = false;
out:
	put_cpu_ptr(cache->touches);
	return full;
}

/* Apart, so that others do not pay for it. */
static noinline bool note_sampled(struct hipec_cache *cache, u32 pgno, u32 nr,
				  enum hipec_touch how, u64 context)
{
	return note(cache, pgno, nr, how, context, !is_sampled(cache, pgno, nr));
}

/**
 * hipec_touch_note() - pages were touched, one after the other
 * @cache: cache
 * @pgno:  the first
 * @nr:    pages, 1 or more
 * @how:   likewise
 * @context: of the program; 0: not known
 *
 * Context: any but interrupts.
 * Return: true if this CPU's notes are full, or something was read for them:
 *         hipec_touch_drain() is owed. What does not fit is not heard of.
 */
bool hipec_touch_note(struct hipec_cache *cache, u32 pgno, u32 nr,
		      enum hipec_touch how, u64 context)
{
	enum hipec_hear hear = READ_ONCE(cache->hear);

	if (unlikely(hear == HIPEC_HEAR_SAMPLED))
		return note_sampled(cache, pgno, nr, how, context);
	if (hear == HIPEC_HEAR_BITS && nr == 1 && how == HIPEC_BY_READ && !context &&
	    !raw_cpu_read(cache->touches->missed)) {
		context = hipec_columns_peek(cache->c, pgno);
		how = context ? HIPEC_BY_KNOWN : how;
	}
	return note(cache, pgno, nr, how, context, hear == HIPEC_HEAR_NONE);
}

/**
 * hipec_touch_missed() - pages are about to be read, for a touch
 * @cache: cache
 *
 * Context: any but interrupts.
 */
void hipec_touch_missed(struct hipec_cache *cache)
{
	get_cpu_ptr(cache->touches)->missed = true;
	put_cpu_ptr(cache->touches);
}

/**
 * hipec_touch_fault() - a fault touched a page, and mapped those behind it
 * @cache: cache
 * @pgno:  page
 * @nr:    pages behind it that are mapped
 * @context: of the program; 0: not known
 *
 * These are noted when this CPU's next fault is among them, or right behind: its reader
 * has come as far. Before that, nobody may have used them, and a policy that evicts
 * what was touched last would evict what is wanted next.
 *
 * Context: any but interrupts.
 * Return: as hipec_touch_note().
 */
bool hipec_touch_fault(struct hipec_cache *cache, u32 pgno, u32 nr, u64 context)
{
	struct hipec_touches *t = get_cpu_ptr(cache->touches);
	u32 come;
	bool full;

	come = pgno - t->mapped;
	if (come && come <= t->nr_mapped)
		add(cache, t, t->mapped, come, HIPEC_BY_AROUND, 0);
	add(cache, t, pgno, 1, HIPEC_BY_READ, context);
	t->mapped = pgno + 1;
	t->nr_mapped = nr;
	full = is_full(cache, t);
	put_cpu_ptr(cache->touches);
	return full;
}

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
		hipec_cache_touched(cache, range.pgno, range.nr, range.how);
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
 * Context: expects c->lock; may sleep.
 */
void hipec_touch_drain(struct hipec_cache *cache)
{
	u64 context = cache->c->core.context;
	unsigned int cpu;

	lockdep_assert_held(&cache->c->lock);
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

/* The same, and what was counted without a note. Context: expects c->lock; may sleep. */
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

/* Work: for those who could not tell. */
void hipec_touch_work(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, drain);

	mutex_lock(&cache->c->lock);
	hipec_touch_drain(cache);
	mutex_unlock(&cache->c->lock);
}
