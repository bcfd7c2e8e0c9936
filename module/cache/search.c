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
	int idx = srcu_read_lock(&hipec_inodes);
	struct address_space *mapping = hipec_mapping_of(f);
	struct folio_batch batch;
	u32 i;

	folio_batch_init(&batch);
	if (mapping)
		filemap_get_folios(mapping, next, f->nr - 1, &batch);
	found->nr = folio_batch_count(&batch);
	srcu_read_unlock(&hipec_inodes, idx);
	for (i = 0; i < found->nr; i++) {
		found->folio[i].idx = batch.folios[i]->index;
		found->folio[i].order = folio_order(batch.folios[i]);
		hipec_pressure_join_owner(f->cache, batch.folios[i]);
	}
	folio_batch_release(&batch);
	return found->nr;
}

/* Pages for which there is no entry go, if nobody uses them. */
static void drop_pages(struct hipec_cfile *f, pgoff_t first, pgoff_t last)
{
	int idx = srcu_read_lock(&hipec_inodes);
	struct address_space *mapping = hipec_mapping_of(f);

	if (mapping)
		invalidate_mapping_pages(mapping, first, last);
	srcu_read_unlock(&hipec_inodes, idx);
}

/* Entries for what was found; or it goes. */
static void search_batch(struct hipec_cfile *f, const struct found *found)
{
	struct hipec_cache *cache = f->cache;
	long left = hipec_pressure_left(cache, hipec_pressure_room(cache), found->nr);
	u32 i, idx, order;

	for (i = 0; i < found->nr && found->folio[i].idx < f->nr; i++) {
		idx = found->folio[i].idx;
		order = found->folio[i].order;
		if (!hipec_entry_find(cache, f->start + idx) &&
		    !hipec_cache_bring(cache, f, f->start + idx, order, left))
			drop_pages(f, idx, idx + (1u << order) - 1);
	}
	hipec_cache_settle(cache);
}

/**
 * hipec_cache_search() - all folios of a file get entries, or go
 * @f: file, in use
 *
 * Then it is lost no more, and the kernel's reclaim leaves it alone, if that may be: unless one is
 * lost meanwhile, or finds no room.
 *
 * Context: process context, sleeps; takes c->lock, for some folios at a time.
 */
void hipec_cache_search(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;
	struct found found;
	pgoff_t next = 0;

	mutex_lock(&cache->c->lock);
	/* One that is dead may have its numbers no more. */
	if (!f->dead)
		xa_clear_mark(&cache->slots, f->start >> HIPEC_SLOT_SHIFT, HIPEC_SLOT_LOST);
	mutex_unlock(&cache->c->lock);
	WRITE_ONCE(f->lost, false);
	smp_mb();	/* before folios are looked for: hipec_cache_lose() */
	while (find_folios(f, &next, &found)) {
		/* A worker goes on. */
		if (fatal_signal_pending(current)) {
			hipec_cache_lose(f, 0);
			return;
		}
		mutex_lock(&cache->c->lock);
		if (!f->dead)
			search_batch(f, &found);
		mutex_unlock(&cache->c->lock);
		cond_resched();
	}
	mutex_lock(&cache->c->lock);
	hipec_cache_keep_away(f);
	mutex_unlock(&cache->c->lock);
	hipec_cache_hand_over(f);
}

/* Work: files are lost. */
void hipec_cache_search_lost(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(to_delayed_work(work), struct hipec_cache, search);
	unsigned long slot = 0;
	struct hipec_cfile *f;

	while ((f = hipec_file_marked(cache, &slot, HIPEC_SLOT_LOST))) {
		hipec_cache_search(f);
		hipec_file_put(f);
		slot++;
	}
}

/* Entries of a dead file that are looked at before others may have the lock. */
#define FORGOTTEN_TOGETHER 64

/*
 * Some entries of a dead file go, from *@next on: its pages, or all entries that there are. *@any: one
 * was there. Return: whether there are more.
 */
static bool forget_some(struct hipec_cfile *f, bool by_page, u32 *next, bool *any)
{
	struct hipec_cache *cache = f->cache;
	struct hipec_vm *vm = &cache->c->core.vm;
	u32 most = by_page ? f->end : vm->reached, i, h;

	for (i = 0; i < FORGOTTEN_TOGETHER && *next < most; i++, ++*next) {
		hipec_victims_evict(cache);
		h = by_page ? hipec_page_find(vm, f->start + *next) : *next + 1;
		if (!(vm->page[h].flags & HIPEC_PAGE_FRAME) ||
		    vm->page[h].pgno - f->start >= f->nr)
			continue;
		*any = true;
		/* A task may be about to evict it, whose page is the kernel's now. */
		if (hipec_is_victim(cache, h))
			hipec_victim_finish(cache, h);
		else
			hipec_entry_drop(cache, h);
	}
	return *next < most;
}

/**
 * hipec_cache_forget() - no entry of a file is left
 * @f: file that is dead, so that it gets no other
 *
 * Context: process context, sleeps; takes c->lock, for some entries at a time.
 */
void hipec_cache_forget(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;
	struct hipec_vm *vm = &cache->c->core.vm;
	u32 next, moves;
	bool by_page, any;

	mutex_lock(&cache->c->lock);
	do {
		any = false;
		next = 0;
		moves = cache->moves;
		by_page = f->end < vm->reached;
		while (forget_some(f, by_page, &next, &any)) {
			mutex_unlock(&cache->c->lock);
			cond_resched();
			mutex_lock(&cache->c->lock);
		}
		/* One may have been moved to where this had been. */
	} while (any || moves != cache->moves);
	hipec_page_forget_evicted(vm);
	hipec_page_forget_range(vm, f->start, f->end);
	/* Of the events that ran meanwhile. */
	hipec_victims_evict(cache);
	hipec_cache_account(cache);
	hipec_cache_compact_later(cache);
	hipec_cache_hand_back(cache);
	mutex_unlock(&cache->c->lock);
}
