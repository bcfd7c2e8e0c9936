// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables become as short as what a container holds: where many pages have left, a worker moves
 * others to their entries (vm/compact.c), and has the rest freed (base/columns.c). It moves as
 * many as have left, at most, and drops the lock between a few of them.
 *
 * Interface:
 * hipec_cache_compact()  the worker; hipec_cache_compact_later() wants it
 */
#include "cache.h"

/* The lock is held for so many entries. */
#define TOGETHER 256

/* The list of entry @to, and the entries beside it there, know it by the number @from. */
static void rename_on_list(struct hipec_cache *cache, u32 from, u32 to)
{
	u16 flags = cache->c->core.vm.page[to].flags & HIPEC_FOLIO_VICTIM;
	struct hipec_folios *list = flags == HIPEC_FOLIO_AHEAD ? &cache->ahead : &cache->refused;
	struct hipec_links *links = cache->c->links;

	if (!flags)
		return;
	links[to] = links[from];
	if (links[to].prev)
		links[links[to].prev].next = to;
	else
		list->head = to;
	if (links[to].next)
		links[links[to].next].prev = to;
	else
		list->tail = to;
}

/*
 * The table uses one entry less. Return: false if none is unused, or a task that evicts the page
 * has the number of the last one.
 */
static bool drop_one(struct hipec_cache *cache)
{
	struct hipec_core *core = &cache->c->core;
	struct hipec_vm *vm = &core->vm;
	u32 last = vm->reached, to = vm->unused;
	u16 flags = vm->page[last].flags;

	if (!to || (flags & HIPEC_FOLIO_VICTIM) == HIPEC_FOLIO_VICTIM)
		return false;
	if (flags & HIPEC_PAGE_USED) {
		hipec_compact_move(vm, last, to);
		cache->moves++;
		rename_on_list(cache, last, to);
		if (core->pool)
			hipec_exchange_renamed(core, last, to);
	}
	hipec_compact_drop_last(vm);
	return true;
}

/* A few of them. Context: expects c->lock. Return: whether there may be more. */
static bool drop_some(struct hipec_cache *cache)
{
	struct hipec_core *core = &cache->c->core;
	bool entered = false;
	u32 i;

	hipec_columns_hold(cache->c);
	hipec_event_slice_begin(cache->c, jiffies + HIPEC_SLICE);
	hipec_core_catch_up_some(core);
	hipec_evict_victims(cache);
	if (hipec_event_slice_end(cache->c) && !cache->ended) {
		queue_delayed_work(hipec_wq, &cache->compact, HIPEC_REST);
		return false;
	}
	/* A record has the numbers that entries have. */
	if (core->vm.tracer)
		return false;
	if (core->pool) {
		entered = hipec_exchange_lock(core->pool);
		hipec_exchange_forget(core);
	}
	for (i = 0; i < TOGETHER && drop_one(cache); i++)
		;
	if (core->pool)
		hipec_exchange_unlock(core->pool, entered);
	return i == TOGETHER;
}

/* Work: tables get shorter. */
void hipec_cache_compact(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(to_delayed_work(work), struct hipec_cache,
						 compact);
	bool more = true;

	while (more) {
		/* Containers of all users share the workers: none waits for an event. */
		if (!mutex_trylock(&cache->c->lock)) {
			queue_delayed_work(hipec_wq, &cache->compact, HZ / 10);
			return;
		}
		more = drop_some(cache);
		if (!more) {
			hipec_columns_cut(cache->c);
			hipec_cache_compact_later(cache);
		}
		mutex_unlock(&cache->c->lock);
		cond_resched();
	}
}
