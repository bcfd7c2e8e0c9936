// SPDX-License-Identifier: GPL-2.0-only
/*
 * All pages of a file: they get entries when it is taken, or was lost, and have none any more when it
 * is let go.
 *
 * Interface:
 * hipec_cache_search()       all folios of a file get entries
 * hipec_cache_search_lost()  work: those of files that are lost
 * hipec_cache_forget()       a file goes
 */
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/sched/signal.h>

#include "cache.h"

/* Folios of a file, of which none is held. */
struct found {
	struct { u32 idx, order; } folio[PAGEVEC_SIZE];
	u32 nr;
};

/*
 * The next folios of a file from @next on. Each cgroup that has one charged is known, whoever reads
 * it: where that is short, its reclaim has to ask here. Context: may sleep; expects no lock of ours.
 */
static bool find_folios(struct hipec_cfile *f, pgoff_t *next, struct found *found)
{
	int idx = srcu_read_lock(f->cache->inodes);
	struct address_space *mapping = hipec_mapping_of(f);
	struct folio_batch batch;
	u32 i;

	folio_batch_init(&batch);
	if (mapping)
		filemap_get_folios(mapping, next, f->nr - 1, &batch);
	found->nr = folio_batch_count(&batch);
	srcu_read_unlock(f->cache->inodes, idx);
	for (i = 0; i < found->nr; i++) {
		found->folio[i].idx = batch.folios[i]->index;
		found->folio[i].order = folio_order(batch.folios[i]);
		if (!hipec_pressure_join_owner(f->cache, batch.folios[i]))
			hipec_cache_lose(f, HZ);
	}
	folio_batch_release(&batch);
	return found->nr;
}

/* Pages for which there is no entry go, if nobody uses them. */
static void drop_pages(struct hipec_cfile *f, pgoff_t first, pgoff_t last)
{
	int idx = srcu_read_lock(f->cache->inodes);
	struct address_space *mapping = hipec_mapping_of(f);

	if (mapping)
		invalidate_mapping_pages(mapping, first, last);
	srcu_read_unlock(f->cache->inodes, idx);
}

/* Entries for what was found; or it goes. */
static void search_batch(struct hipec_cfile *f, const struct found *found)
{
	struct hipec_cache *cache = f->cache;
	long left = hipec_budget_left(cache, hipec_budget_room(cache), found->nr);
	u32 i, idx, order;

	hipec_evict_victims(cache);
	for (i = 0; i < found->nr && found->folio[i].idx < f->nr; i++) {
		idx = found->folio[i].idx;
		order = found->folio[i].order;
		if (!hipec_cache_find_entry(cache, f->start + idx) &&
		    !hipec_cache_bring(cache, f, f->start + idx, order, left))
			drop_pages(f, idx, idx + (1u << order) - 1);
	}
	hipec_cache_settle(cache);
}

/*
 * A search begins, or goes on where a worker's slice had ended: then the file is the kernel's still, and
 * what was lost meanwhile is looked for in the next one. @next: the index to begin with. Return: false: a
 * worker did not have the lock.
 */
static bool begin_search(struct hipec_cfile *f, pgoff_t *next)
{
	struct hipec_cache *cache = f->cache;

	if (!hipec_event_worker_lock(cache->c))
		return false;
	/* One that is dead may have its numbers no more. */
	if (!f->dead)
		xa_clear_mark(&cache->slots, hipec_slot_of(f), HIPEC_SLOT_LOST);
	*next = f->searched;
	if (!*next)
		WRITE_ONCE(f->lost, false);
	mutex_unlock(&cache->c->lock);
	smp_mb();	/* before folios are looked for: hipec_cache_lose() */
	return true;
}

/* It has ended. Return: false: a worker did not have the lock. */
static bool end_search(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	if (!hipec_event_worker_lock(cache->c))
		return false;
	if (f->searched && READ_ONCE(f->lost))
		hipec_cache_lose(f, 0);
	WRITE_ONCE(f->searched, 0);
	hipec_cache_keep_away(f);
	mutex_unlock(&cache->c->lock);
	hipec_cache_hand_over(f);
	return true;
}

/*
 * Entries for what was found, in the task's time or a worker's slice, whose search goes on at @next when
 * that is over. Return: false: it is, or a worker did not have the lock.
 */
static bool search_found(struct hipec_cfile *f, const struct found *found, pgoff_t next,
			 unsigned long *end)
{
	struct hipec_container *c = f->cache->c;

	if (!hipec_event_worker_lock(c))
		return false;
	hipec_event_slice_of(c, end);
	if (!f->dead)
		search_batch(f, found);
	hipec_event_slice_end(c);
	if (current->flags & PF_KTHREAD)
		WRITE_ONCE(f->searched, next);
	mutex_unlock(&c->lock);
	return !hipec_event_slice_is_over(c, *end);
}

/* As hipec_cache_search(). */
static bool search_all(struct hipec_cfile *f, unsigned long *end)
{
	struct found found;
	pgoff_t next;

	if (!begin_search(f, &next))
		return false;
	while (find_folios(f, &next, &found)) {
		/* A worker goes on. */
		if (fatal_signal_pending(current)) {
			hipec_cache_lose(f, 0);
			return true;
		}
		if (!search_found(f, &found, next, end))
			return false;
		cond_resched();
	}
	return end_search(f);
}

/**
 * hipec_cache_search() - all folios of a file get entries, or go
 * @f:   file, in use
 * @end: jiffies, when a worker's slice is over; it is set where it is 0
 *
 * Then it is lost no more, and the kernel's reclaim leaves it alone, if that may be: unless one is
 * lost meanwhile, or finds no room. Where the policy has to make some, its events are in the task's
 * time, or in a slice of a worker's.
 *
 * Context: process context, sleeps; takes c->lock, for some folios at a time, for which a worker does
 * not wait.
 * Return: false: the slice is over, or somebody else has the lock, and a worker goes on later.
 */
bool hipec_cache_search(struct hipec_cfile *f, unsigned long *end)
{
	struct hipec_cache *cache = f->cache;
	bool all = search_all(f, end);

	if (!all)
		hipec_cache_search_later(f, hipec_rest_behind(cache->c, *end, &cache->rest.search));
	return all;
}

/* Work: files are lost. */
void hipec_cache_search_lost(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(to_delayed_work(work), struct hipec_cache, search);
	unsigned long slot = 0, end = 0, rest = hipec_rest_left(&cache->rest.search);
	struct hipec_cfile *f;
	bool over = false;

	if (rest) {
		queue_delayed_work(hipec_wq, &cache->search, rest);
		return;
	}
	while (!over && (f = hipec_table_marked(cache, &slot, HIPEC_SLOT_LOST))) {
		over = !hipec_cache_search(f, &end);
		hipec_table_put(f);
		slot++;
	}
}

/* Entries of a dead file that are looked at before others may have the lock. */
#define FORGOTTEN_TOGETHER 64

/*
 * Some entries of a dead file go: of its pages, or of all entries that there are, as f->goes says.
 * Return: whether there are more.
 */
static bool forget_some(struct hipec_cfile *f, unsigned long end)
{
	struct hipec_cache *cache = f->cache;
	struct hipec_vm *vm = &cache->c->core.vm;
	struct hipec_goes *g = &f->goes;
	u32 most = g->by_page ? f->end : vm->reached, i, h;

	for (i = 0; i < FORGOTTEN_TOGETHER && g->next < most; i++, g->next++) {
		/* The policy is to hear of this one, too. */
		if (hipec_event_slice_is_over(cache->c, end))
			break;
		hipec_evict_victims(cache);
		h = g->by_page ? hipec_page_find(vm, f->start + g->next) : g->next + 1;
		if (!(vm->page[h].flags & HIPEC_PAGE_FRAME) ||
		    vm->page[h].pgno - f->start >= f->nr)
			continue;
		g->any = true;
		/* A task may be about to evict it, whose page is the kernel's now. */
		if (hipec_is_victim(cache, h))
			hipec_evict_finish_victim(cache, h);
		else
			hipec_cache_drop_entry(cache, h);
	}
	return g->next < most;
}

/*
 * Others may have c->lock between some entries, and, where a worker finds that somebody has it, keep it.
 * Context: expects c->lock. Return: whether it is had again.
 */
static bool let_others_have(struct hipec_cache *cache, unsigned long end)
{
	hipec_event_slice_end(cache->c);
	mutex_unlock(&cache->c->lock);
	cond_resched();
	if (!hipec_event_worker_lock(cache->c))
		return false;
	hipec_event_slice_begin(cache->c, end);
	return true;
}

/*
 * No entry of the file is left, though entries may move meanwhile. Context: expects c->lock, drops it now
 * and then, and says in @has whether it is had still. Return: false: a worker goes on later.
 */
static bool forget_all(struct hipec_cfile *f, unsigned long end, bool *has)
{
	struct hipec_cache *cache = f->cache;
	struct hipec_goes *g = &f->goes;

	do {
		if (!g->next)
			*g = (struct hipec_goes){
				.moves = cache->moves, .by_page = f->end < cache->c->core.vm.reached,
			};
		while (forget_some(f, end)) {
			if (hipec_event_slice_is_over(cache->c, end))
				return false;
			*has = let_others_have(cache, end);
			if (!*has)
				return false;
		}
		g->next = 0;
		/* One may have been moved to where this had been. */
	} while (g->any || g->moves != cache->moves);
	return true;
}

/* Neither its page numbers, nor what was counted of it. Context: expects c->lock. */
static void forget_file(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	hipec_page_forget_evicted(&cache->c->core.vm);
	hipec_page_forget_range(&cache->c->core.vm, f->start, f->end);
	cache->c->core.counters.outgrown -= f->outgrown;
	WRITE_ONCE(f->outgrown, false);
	cache->last = NULL;
	hipec_maps_forget(cache);
	hipec_numbers_take(f);
}

/**
 * hipec_cache_forget() - no entry of a file is left, nor its page numbers
 * @f:   file that is dead, so that it gets no other
 * @end: as for hipec_cache_search()
 *
 * Context: process context, sleeps; takes c->lock, for some entries at a time, for which a worker does
 * not wait.
 * Return: false: the slice is over, or somebody else has the lock; the next call goes on.
 */
bool hipec_cache_forget(struct hipec_cfile *f, unsigned long *end)
{
	struct hipec_cache *cache = f->cache;
	bool done, has = hipec_event_worker_lock(cache->c);

	if (!has)
		return false;
	hipec_event_slice_of(cache->c, end);
	done = forget_all(f, *end, &has);
	if (!has)
		return false;
	hipec_event_slice_end(cache->c);
	/* Of the events that ran meanwhile. */
	hipec_evict_victims(cache);
	if (done)
		forget_file(f);
	hipec_cache_account(cache);
	hipec_cache_compact_later(cache);
	hipec_cache_return(cache);
	mutex_unlock(&cache->c->lock);
	return done;
}
