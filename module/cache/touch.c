// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pages were touched, on their way to the policy. A read() that hits notes a
 * range on its CPU, under no lock that others wait for, and is done; the next miss
 * tells the policy of all that was noted, or the reader itself where a CPU's notes
 * are full. So the policy hears of every touch before it is asked for a victim, and
 * in order on each CPU.
 *
 * Interface:
 * hipec_touch_note()   pages were touched
 * hipec_touch_drain()  tell the policy
 * hipec_touch_work()   likewise, a while later
 */
#include <linux/percpu.h>

#include "cache.h"

/**
 * hipec_touch_note() - pages were touched, one after the other
 * @cache: cache
 * @pgno:  the first
 * @nr:    pages, 1 or more
 * @how:   likewise
 *
 * Context: any but interrupts.
 * Return: true if this CPU's notes are full: hipec_touch_drain() is owed. What does
 *         not fit is not heard of.
 */
bool hipec_touch_note(struct hipec_cache *cache, u32 pgno, u32 nr,
		      enum hipec_touch how)
{
	struct hipec_touches *t = get_cpu_ptr(cache->touches);
	struct hipec_touched *last;
	bool full;

	spin_lock(&t->lock);
	last = t->nr ? &t->range[t->nr - 1] : NULL;
	if (last && last->pgno + last->nr == pgno && last->how == how &&
	    last->nr + nr < HIPEC_SLOT_PAGES)
		last->nr += nr;
	else if (t->nr < HIPEC_MAX_TOUCHES)
		t->range[t->nr++] = (struct hipec_touched){ pgno, nr, how };
	full = t->nr >= HIPEC_MAX_TOUCHES / 2;
	spin_unlock(&t->lock);
	put_cpu_ptr(cache->touches);
	return full;
}

/* Tell the policy of what one CPU has noted; what comes meanwhile may wait. */
static void drain_one(struct hipec_cache *cache, struct hipec_touches *t)
{
	struct hipec_touched range[16];
	u32 most = HIPEC_MAX_TOUCHES, nr, i;

	do {
		spin_lock(&t->lock);
		nr = min_t(u32, t->nr, ARRAY_SIZE(range));
		memcpy(range, t->range, nr * sizeof(*range));
		t->nr -= nr;
		memmove(t->range, t->range + nr, t->nr * sizeof(*range));
		spin_unlock(&t->lock);
		for (i = 0; i < nr; i++)
			hipec_cache_touched(cache, range[i].pgno, range[i].nr,
					    range[i].how);
		most -= nr;
	} while (nr && most);
}

/**
 * hipec_touch_drain() - tell the policy of all that was touched
 * @cache: cache
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_touch_drain(struct hipec_cache *cache)
{
	int cpu;

	lockdep_assert_held(&cache->c->lock);
	for_each_possible_cpu(cpu) {
		struct hipec_touches *t = per_cpu_ptr(cache->touches, cpu);

		if (READ_ONCE(t->nr))
			drain_one(cache, t);
	}
}

/* Work: for those who could not tell. */
void hipec_touch_work(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, drain);

	mutex_lock(&cache->c->lock);
	hipec_touch_drain(cache);
	mutex_unlock(&cache->c->lock);
}
