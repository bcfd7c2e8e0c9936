// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pages were touched, or come, on their way to the policy: a log for each CPU, which the
 * holder of the container's lock delivers.
 *
 *	CPU 0   read()  hit  hit  miss             CPU 1   write()  fault
 *	          |     note a range, no lock                 |
 *	          v                                           v
 *	ring   [ . . . . . . ]  tail..head         ring   [ . . . . ]      256 ranges each
 *	          |                                           |
 *	          +---------- the least time first -----------+
 *	                              |        hipec_drain_touches(), under c->lock
 *	                              v
 *	       hit: Access, bits      miss: Replace, an entry ahead      first touch: PageFault
 *
 * Notes are delivered by the task that missed, or found its CPU's ring half full, as it goes back
 * to its program (deliver.c); by a large read() between two parts; or by a worker, 200 ms later, at
 * once where the task is a stranger or much is owed. Each tries the lock, and delivers what all
 * CPUs have noted. One that does not get it goes on: the holder, or the next one, has the note.
 *
 * Why not ask the policy at the miss? A task that reads pages has their folios locked, and
 * perhaps a pipe, an address space or a ring of io_uring. A policy may run for milliseconds. If
 * the task waited for the lock there, others that want those things would wait for a policy that
 * is not theirs. A note takes no lock, and the policy still hears of each touch before it is
 * asked for the next victim: for one reader, which always gets the lock, that is the order of its
 * touches. So each decision is the simulator's (test_misses_in_place_are_the_simulator_s). Many
 * misses of one tick may be delivered together (hipec_touch_can_wait()): what is touched
 * meanwhile is noted behind them.
 *
 * A page that was noted as a miss is owed: it is in memory, without an entry, and AS_UNEVICTABLE
 * may keep reclaim away from it. So what is owed is bounded. Beyond a 64th of the budget, 32 at
 * least, insiders wait for the lock, killably; beyond 16 times that (4,096 pages of one call,
 * where none is owed), or where the ring is full, no miss is noted, and the file is the kernel's
 * to reclaim until a search has caught up (hipec_cache_lose()).
 *
 * What if it is wrong?
 *
 * A hit is lost, as the ring was full: the policy thinks a page colder than it is, once.
 *
 * Clocks of CPUs differ: two notes change places. A touch that comes before its miss finds the
 * folio without an entry and gives it one; the miss then finds an entry that it takes for an
 * older folio's, drops it with Remove, and begins another. The policy sees a page leave and come
 * once too often, and nothing else.
 *
 * The folio has gone when its note is delivered: the miss makes no entry, and the touch is heard
 * by the record and the league alone. Notes of a file that is dead come to nothing.
 *
 * The mask @noted misses a note that comes while its ring is delivered: it waits until a miss
 * follows it there, the ring is half full, or all hits are counted (hipec_drain_all()).
 *
 * Where a policy is quiet (no Ref, no Access, all folios live) and no judge, league, sampler or
 * pool wants touches, hits are counted and nothing else: see enum hipec_notify.
 *
 * Interface:
 * hipec_touch_note()   pages were touched
 * hipec_touch_owe()    pages come, and the policy is not asked now
 * hipec_touch_may_deliver()  whether it may be, by this task
 * hipec_touch_can_wait()  whether it may be later, with what comes
 * hipec_touch_last()   a page may be wanted still
 * hipec_touch_lock()   the container's lock, for that
 * hipec_touch_later()  a worker does it
 * hipec_touch_missed() the next touch is one that missed, and is noted in any case
 * hipec_touch_fault()  a page was touched, and others mapped with it
 */
#include <linux/percpu.h>

#include "cache.h"
#include "group.h"

/* Owed until tasks wait: one of so many pages of the budget, and so many at least. */
#define OWED_PART 64
#define OWED_LEAST 32u
/* At most: so many times as much; a worker is in a hurry from so many times on. */
#define OWED_MOST 16
#define OWED_HURRY 2
/* By one call, where nothing is owed. */
#define OWED_AT_ONCE 4096

/* A range is noted. Not to be preempted. Return: false if it does not fit. */
static __always_inline bool add_touched_range(struct hipec_cache *cache, struct hipec_touches *t,
					      u32 pgno, u32 nr, enum hipec_touch how, u64 context)
{
	/* What is at the tail has been read before it is written over. */
	u32 head = t->head, pending = head - smp_load_acquire(&t->tail);

	if (pending >= HIPEC_MAX_TOUCHES)
		return false;
	t->range[head % HIPEC_MAX_TOUCHES] = (struct hipec_touched){
		.pgno = pgno, .nr = nr, .how = how, .context = context, .at = get_cycles(),
	};
	if (unlikely(hipec_is_owed(how)))
		atomic_add(nr, &cache->owed);
	smp_store_release(&t->head, head + 1);
	if (unlikely(!pending || hipec_is_owed(how)))
		cpumask_set_cpu(smp_processor_id(), cache->noted);
	return true;
}

/*
 * Whether one of these pages is of the sample of the judge, or the league. A
 * swap may be under way: a touch more or less is nothing then.
 */
static bool is_sampled(const struct hipec_cache *cache, u32 pgno, u32 nr)
{
	const struct hipec_league *l = READ_ONCE(cache->c->league);
	const struct hipec_judge *j;
	bool has = false;

	preempt_disable();	/* the judge is freed behind an RCU grace period */
	j = READ_ONCE(cache->c->core.judge);
	for (; nr && !has; nr--, pgno++)
		has = (j && hipec_sampling_has(&j->sample, pgno)) ||
		      (l && hipec_sampling_has(&l->sample, pgno));
	preempt_enable();
	return has;
}

/*
 * Whether there is so much that the policy should be told. While that is done, a
 * note may be taken for one of many and not make its CPU known: here it does.
 */
static bool is_full(struct hipec_cache *cache, const struct hipec_touches *t)
{
	if (likely(t->head - READ_ONCE(t->tail) < HIPEC_MAX_TOUCHES / 2))
		return false;
	cpumask_set_cpu(smp_processor_id(), cache->noted);
	return true;
}

/* Whether one of these pages may be a victim's, which its policy has given up. */
static bool is_waiting(const struct hipec_cache *cache, u32 pgno, u32 nr)
{
	if (!READ_ONCE(cache->victims.nr))
		return false;
	for (; nr; nr--, pgno++)
		if (test_bit(pgno % HIPEC_WAITING_MARKS, cache->waiting))
			return true;
	return false;
}

/* As hipec_touch_note(); @quiet: these are to be counted alone. */
static __always_inline bool note_touched_range(struct hipec_cache *cache, u32 pgno, u32 nr,
					       enum hipec_touch how, u64 context, bool quiet)
{
	struct hipec_touches *t = get_cpu_ptr(cache->touches);
	bool full = false;

	/* A task may have missed on another CPU. */
	if (quiet && !t->missed && !atomic_read(&cache->owed) && !is_waiting(cache, pgno, nr)) {
		t->hits += nr;
		goto out;
	}
	add_touched_range(cache, t, pgno, nr, how, context);
	full = is_full(cache, t);
	t->missed = false;
out:
	put_cpu_ptr(cache->touches);
	return full;
}

/* Apart, so that others do not pay for it. */
static noinline bool note_sampled(struct hipec_cache *cache, u32 pgno, u32 nr,
				  enum hipec_touch how, u64 context)
{
	return note_touched_range(cache, pgno, nr, how, context, !is_sampled(cache, pgno, nr));
}

/**
 * hipec_touch_note() - pages were touched, one after the other
 * @cache: cache
 * @pgno:  the first
 * @nr:    pages, 1 or more
 * @how:   they were touched
 * @context: of the program; 0: not known
 *
 * Context: any but interrupts.
 * Return: true if this CPU's notes are half full: the policy is to be told. What does not fit is not
 *         heard of.
 */
bool hipec_touch_note(struct hipec_cache *cache, u32 pgno, u32 nr,
		      enum hipec_touch how, u64 context)
{
	enum hipec_notify notify = READ_ONCE(cache->notify);

	if (unlikely(notify == HIPEC_NOTIFY_SAMPLED))
		return note_sampled(cache, pgno, nr, how, context);
	if (notify == HIPEC_NOTIFY_BITS && nr == 1 && how == HIPEC_BY_READ && !context &&
	    !raw_cpu_read(cache->touches->missed)) {
		context = hipec_columns_peek(cache->c, pgno);
		how = context ? HIPEC_BY_KNOWN : how;
	}
	return note_touched_range(cache, pgno, nr, how, context, notify == HIPEC_NOTIFY_NONE);
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
 * hipec_touch_can_wait() - whether the policy may be told with what comes
 * @cache: cache, of which pages are owed
 *
 * To deliver many costs little more than one, and decides the same (hipec_evict_victim_missed()), but
 * where page tables are looked at, which change meanwhile: there @batch is 0.
 *
 * Context: any.
 * Return: whether few are owed, and it was told in this tick.
 */
bool hipec_touch_can_wait(const struct hipec_cache *cache)
{
	const struct hipec_touches *t = raw_cpu_ptr(cache->touches);

	return atomic_read(&cache->owed) < READ_ONCE(cache->batch) &&
	       READ_ONCE(cache->delivered_at) == jiffies &&
	       READ_ONCE(t->head) - READ_ONCE(t->tail) < HIPEC_MAX_TOUCHES / 2;
}

static u32 most_owed(const struct hipec_cache *cache)
{
	return max(READ_ONCE(cache->limit) / OWED_PART, OWED_LEAST);
}

/* Whether the next touches on this CPU may not be noted. Of another one, that matters little. */
static bool is_nearly_full(const struct hipec_cache *cache)
{
	const struct hipec_touches *t = raw_cpu_ptr(cache->touches);

	return READ_ONCE(t->head) - READ_ONCE(t->tail) >= HIPEC_MAX_TOUCHES / 4 * 3;
}

/* Whether the last faults on a CPU were of one of these pages. */
static bool is_last(const struct hipec_touches *t, u32 pgno, u32 nr)
{
	u32 i;

	for (i = 0; i < HIPEC_LAST_FAULTS; i++)
		if (READ_ONCE(t->fault[i]) - 1 - pgno < nr)
			return true;
	return false;
}

/**
 * hipec_touch_last() - whether the last faults on this CPU were of one of these pages
 * @cache: cache
 * @pgno:  the first
 * @nr:    pages
 *
 * A task that has just had a fault may be at the same instruction still, and have had others before
 * for it. A worker looks at all CPUs.
 *
 * Context: any.
 */
bool hipec_touch_last(const struct hipec_cache *cache, u32 pgno, u32 nr)
{
	unsigned int cpu;

	if (likely(!(current->flags & PF_KTHREAD)))
		return is_last(raw_cpu_ptr(cache->touches), pgno, nr);
	for_each_online_cpu(cpu)
		if (is_last(per_cpu_ptr(cache->touches, cpu), pgno, nr))
			return true;
	return false;
}

/**
 * hipec_touch_lock() - a container's lock, to tell its policy what is noted
 * @cache: cache
 *
 * Context: process context, sleeps where much is owed or noted; the caller holds no folio's lock.
 * Return: whether the caller has it; it is no use to ask again.
 */
bool hipec_touch_lock(struct hipec_cache *cache)
{
	struct mutex *lock = &cache->c->lock;

	if (!hipec_touch_may_deliver(cache))
		return false;
	if (likely(atomic_read(&cache->owed) <= most_owed(cache) && !is_nearly_full(cache)))
		return mutex_trylock(lock);
	return !mutex_lock_killable(lock);
}

/**
 * hipec_touch_may_deliver() - whether the current task may have the policy decide
 * @cache: cache
 *
 * Context: any.
 * Return: false in reclaim, and of a task that the policy is not for: where cgroups alone were
 *         attached, by another user than the task's, a task in none of them.
 */
bool hipec_touch_may_deliver(const struct hipec_cache *cache)
{
	const struct hipec_container *c = cache->c;

	if (current->flags & PF_MEMALLOC || !hipec_user_is_insider(c, current))
		return false;
	/* Not as whom a file system acts for it. */
	return uid_eq(current_real_cred()->uid, c->owner_uid) || READ_ONCE(cache->by_path) ||
	       !READ_ONCE(cache->nr_groups) || hipec_group_has_current(cache);
}

/**
 * hipec_touch_later() - a worker tells the policy, if no task does before
 * @cache: cache
 *
 * A task that the policy is for tells it soon, on its way back to its program. A worker between the
 * two would have the lock when that task wants it, which had to leave the next miss to a worker as
 * well; and it evicts on another CPU, from where folios that have just been read cannot go, as they
 * are in a batch of the reader's. So it comes a while later then, and goes if a task has told
 * meanwhile; unless so much is owed or noted that the task's next pages might not be.
 *
 * Context: any.
 */
void hipec_touch_later(struct hipec_cache *cache)
{
	bool much = atomic_read(&cache->owed) > OWED_HURRY * most_owed(cache);

	if (unlikely(hipec_rest_left(&cache->rest.drain)))
		return;
	if (hipec_touch_may_deliver(cache) && !much && !is_nearly_full(cache)) {
		queue_delayed_work(hipec_wq, &cache->drain, HIPEC_TELL_LATER);
		return;
	}
	WRITE_ONCE(cache->hurry, true);
	mod_delayed_work(hipec_wq, &cache->drain, 0);
}

/**
 * hipec_touch_owe() - pages come, and the policy is to hear of it later
 * @cache: cache
 * @pgno:  the first
 * @nr:    pages
 * @how:   HIPEC_BY_MISS, _FILL or _WRITE
 * @context: of the program; 0: not known
 *
 * Context: any but interrupts.
 * Return: false if so many are owed that it is not noted.
 */
bool hipec_touch_owe(struct hipec_cache *cache, u32 pgno, u32 nr, enum hipec_touch how,
		     u64 context)
{
	u32 owed = atomic_read(&cache->owed);
	bool fits;

	if (owed ? owed + nr > OWED_MOST * most_owed(cache) : nr > OWED_AT_ONCE)
		return false;
	fits = add_touched_range(cache, get_cpu_ptr(cache->touches), pgno, nr, how, context);
	put_cpu_ptr(cache->touches);
	return fits;
}

/**
 * hipec_touch_fault() - a fault touched a page, and mapped those behind it
 * @cache: cache
 * @pgno:  page
 * @nr:    pages behind it that are mapped
 * @context: of the program; 0: not known
 *
 * These are noted when this CPU's next fault is among them, or right behind: its reader
 * has come as far. Before that, they may be unused, and a policy that evicts
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
		add_touched_range(cache, t, t->mapped, come, HIPEC_BY_AROUND, 0);
	add_touched_range(cache, t, pgno, 1, HIPEC_BY_READ, context);
	WRITE_ONCE(t->fault[t->nr_faults++ % HIPEC_LAST_FAULTS], pgno + 1);
	t->mapped = pgno + 1;
	t->nr_mapped = nr;
	full = is_full(cache, t);
	put_cpu_ptr(cache->touches);
	return full;
}
