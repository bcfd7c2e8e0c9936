// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that a cache holds, and how many it may hold.
 *
 * Interface:
 * hipec_cache_account()   for the engine, and for hooks that note touches
 * hipec_budget_room(), _left()  what a cgroup leaves, and with what others have
 * hipec_budget_limit()  the budget, or that
 * hipec_budget_is_short()  the machine has no memory
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "cache.h"
#include "payer.h"

/* Pages that a cgroup shall have left: less, and a miss makes room in it. */
#define MARGIN 256

/* Of a budget: pages of other files in its cgroup that a miss does not displace. */
#define OTHERS_OF_BUDGET 8

/* The machine is short if less than one of so many parts is available. */
#define SHORT_PART 32

/* Pages that come in with what was known of a cgroup's files before. */
#define MOST_OF_LOOKS 31

static enum hipec_notify of_which_touches(const struct hipec_cache *cache)
{
	const struct hipec_core *core = &cache->c->core;

	if (!cache->quiet || cache->ahead.nr || cache->refused.nr ||
	    cache->c->sampler || core->pool || hipec_fifo2_rules(&core->vm))
		return cache->bits && !cache->c->sampler && !cache->c->league ?
			HIPEC_NOTIFY_BITS : HIPEC_NOTIFY_ALL;
	if (!core->judge && !cache->c->league)
		return HIPEC_NOTIFY_NONE;
	/* A large folio is known by the number of its first page. */
	return cache->large ? HIPEC_NOTIFY_ALL : HIPEC_NOTIFY_SAMPLED;
}

/**
 * hipec_cache_account() - the engine's count of frames is as many pages as are held
 * @cache: cache
 *
 * A folio is one page to the engine, whatever its size; and what comes in beyond the
 * budget is surplus, until as much has gone. And whether touches are noted.
 *
 * To be called after each change of what is held.
 *
 * Context: expects c->lock.
 */
void hipec_cache_account(struct hipec_cache *cache)
{
	struct hipec_core *core = &cache->c->core;
	u32 budget = min(hipec_core_held(core), core->nr_reserved);
	enum hipec_notify notify;

	core->nr_frames = max(budget, cache->held);
	core->nr_surplus = core->nr_frames - budget;
	core->nr_free = core->nr_frames - cache->held;
	hipec_member_account(core);
	notify = of_which_touches(cache);
	if (cache->notify != notify)	/* all readers look at it */
		WRITE_ONCE(cache->notify, notify);
}

/* Whether @memcg pays for most pages of the cache; that changes slowly. */
static void note_payer(struct hipec_cache *cache, const struct mem_cgroup *memcg)
{
	if (cache->payer == memcg && time_before(jiffies, cache->payer_until))
		return;
	cache->payer = memcg;
	cache->payer_until = jiffies + HZ / 4;
	cache->payer_pays = hipec_payer_share(cache, memcg) >= HIPEC_PAYER_SAMPLE / 2;
}

/*
 * Pages of other files in @memcg that the kernel's reclaim is to take before the cache gives up
 * its own: another file that is read once would take all of the budget otherwise. If
 * pages of the cache may be on the kernel's lists too, all of them are taken to be.
 */
static long left_by_others(struct hipec_cache *cache, struct mem_cgroup *memcg, u32 budget,
			   u32 nr)
{
	long others;

	/* Each node and zone has a number of its own: too many to add up at each miss. */
	cache->group_looks -= nr;
	if (cache->group != memcg || cache->group_looks < 0) {
		cache->group = memcg;
		cache->group_files = hipec_memory_files(memcg);
		note_payer(cache, hipec_memory_short(memcg));
		cache->group_looks = MOST_OF_LOOKS;
	}
	others = cache->group_files - budget / OTHERS_OF_BUDGET;
	if (READ_ONCE(cache->on_lists))
		others -= cache->held;
	/* Pages of the cache that others pay for are of no use there: reclaim takes its own, if it must. */
	return cache->payer_pays ? max(others, 0l) : LONG_MAX;
}

/* Whether the machine is short of memory. Context: any. */
bool hipec_budget_is_short(void)
{
	return si_mem_available() < totalram_pages() / SHORT_PART;
}

/* Pages that the current task's cgroup leaves; in a worker, the owner's. Context: any. */
long hipec_budget_room(const struct hipec_cache *cache)
{
	long left;

	if (current->flags & PF_KTHREAD)
		return hipec_memory_room(cache->c->columns.memcg);
	rcu_read_lock();
	left = hipec_memory_room(mem_cgroup_from_task(current));
	rcu_read_unlock();
	return left;
}

/**
 * hipec_budget_left() - pages that a cache may have in its cgroup
 * @cache: cache
 * @room:  hipec_budget_room(), a moment ago
 * @nr:    pages that are to come in
 *
 * Context: expects c->lock; for what the current task brings in.
 * Return: @room, and what others have that goes first, if it is needed.
 */
long hipec_budget_left(struct hipec_cache *cache, long room, u32 nr)
{
	long budget = hipec_core_held(&cache->c->core);
	struct mem_cgroup *memcg;
	long others;

	if (likely(room >= budget) || current->flags & PF_KTHREAD)
		return room;
	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	others = memcg ? left_by_others(cache, memcg, budget, nr) : 0;
	rcu_read_unlock();
	return room + min(others, LONG_MAX / 2);
}

/**
 * hipec_budget_limit() - pages that a cache may hold now
 * @cache: cache
 * @left:  hipec_budget_left(), a moment ago
 *
 * Context: expects c->lock.
 * Return: the budget, or less.
 */
u32 hipec_budget_limit(const struct hipec_cache *cache, long left)
{
	u32 budget = hipec_core_held(&cache->c->core);

	if (likely(left >= (long)budget))
		return budget;
	/* Victims are no longer held, but charged until they are evicted. */
	left += cache->victims.pages + cache->nr_evicting;
	return clamp_t(long, cache->held + left - MARGIN, min(budget, 32u),
		       budget);
}
