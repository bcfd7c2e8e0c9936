// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios leave the page cache. Victims are collected and evicted in runs, which costs
 * half of one by one. invalidate_mapping_pages() does it: it only tries locks, and
 * leaves alone what is dirty, being written, mapped or in use. So nothing that was
 * written can be lost here: it is what any POSIX_FADV_DONTNEED does.
 *
 * Interface:
 * hipec_folios_add(), _del()   an entry is put on a list, or taken off
 * hipec_victim_add()           an entry is to be evicted
 * hipec_victims_evict()        evict them
 * hipec_refused_retry()        look at those again that could not go
 * hipec_refused_clean()        work: write them
 * hipec_evictable_again()      folios of a file that is let go
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/rcupdate.h>
#include <linux/swap.h>

#include "cache.h"

static struct hipec_folios *list_of(struct hipec_cache *cache, u16 flags)
{
	if (flags == HIPEC_FOLIO_VICTIM)
		return &cache->victims;
	return flags == HIPEC_FOLIO_AHEAD ? &cache->ahead : &cache->refused;
}

/**
 * hipec_folios_add() - put an entry on a list
 * @cache: cache
 * @flags: HIPEC_FOLIO_AHEAD, _REFUSED or _VICTIM: the list
 * @h:     entry with a folio, on none of them
 *
 * Context: expects c->lock.
 */
void hipec_folios_add(struct hipec_cache *cache, u16 flags, u32 h)
{
	struct hipec_folios *list = list_of(cache, flags);
	struct hipec_vm *vm = &cache->c->core.vm;

	vm->page[h].flags |= flags;
	cache->links[h] = (struct hipec_links){ .prev = list->tail };
	if (list->tail)
		cache->links[list->tail].next = h;
	else
		list->head = h;
	list->tail = h;
	list->nr++;
	list->pages += hipec_folio_pages(vm, h);
}

/* Take an entry off its list, if any. Context: expects c->lock. */
void hipec_folios_del(struct hipec_cache *cache, u32 h)
{
	u16 flags = cache->c->core.vm.page[h].flags & HIPEC_FOLIO_VICTIM;
	struct hipec_folios *list = list_of(cache, flags);
	u32 next = cache->links[h].next, prev = cache->links[h].prev;

	if (!flags)
		return;
	cache->c->core.vm.page[h].flags &= ~flags;
	if (prev)
		cache->links[prev].next = next;
	else
		list->head = next;
	if (next)
		cache->links[next].prev = prev;
	else
		list->tail = prev;
	list->nr--;
	list->pages -= hipec_folio_pages(&cache->c->core.vm, h);
}

/**
 * hipec_victim_add() - an entry's folio is to be evicted
 * @cache: cache
 * @h:     entry with a folio, on no list; it is no longer counted as held
 * @live:  it was live
 *
 * Context: expects c->lock; hipec_victims_evict() is owed.
 */
void hipec_victim_add(struct hipec_cache *cache, u32 h, bool live)
{
	struct hipec_page *page = &cache->c->core.vm.page[h];

	/* The shadow asks once more. */
	page->flags &= ~(HIPEC_FOLIO_REF | HIPEC_FOLIO_AROUND) |
		       HIPEC_REF_SHADOW << HIPEC_FOLIO_REF_SHIFT;
	page->flags |= live ? HIPEC_FOLIO_PENDING : 0;
	hipec_folios_add(cache, HIPEC_FOLIO_VICTIM, h);
	cache->held -= hipec_folio_pages(&cache->c->core.vm, h);
}

static bool goes_before(const struct hipec_victim *a,
			const struct hipec_victim *b)
{
	return a->f->start + a->idx < b->f->start + b->idx;
}

/* They are few, and often in order. */
static void sort_victims(struct hipec_cache *cache, u32 nr)
{
	struct hipec_victim v;
	u32 i, j;

	for (i = 1; i < nr; i++) {
		v = cache->victim[i];
		for (j = i; j && goes_before(&v, &cache->victim[j - 1]); j--)
			cache->victim[j] = cache->victim[j - 1];
		cache->victim[j] = v;
	}
}

/* What keeps a folio in the page cache. */
enum stay {
	STAY_GONE,	/* nothing: it is not there */
	STAY_BUSY,	/* somebody uses it, or a batch of a CPU holds it */
	STAY_MAPPED,
	STAY_DIRTY,	/* or it is being written */
	STAY_LOCKED,	/* by mlock() */
};

static enum stay find_stay(struct address_space *mapping, u32 idx)
{
	enum stay stay = STAY_BUSY;
	struct folio *folio;

	rcu_read_lock();
	folio = hipec_folio_at(mapping, idx);
	if (!folio)
		stay = STAY_GONE;
	else if (folio_test_mlocked(folio))
		stay = STAY_LOCKED;
	else if (folio_test_dirty(folio) || folio_test_writeback(folio))
		stay = STAY_DIRTY;
	else if (folio_mapped(folio))
		stay = STAY_MAPPED;
	rcu_read_unlock();
	return stay;
}

/*
 * Unmap the mapped victims of a run, of which no page was locked just now. Return: whether
 * another try is worth it.
 */
static bool prepare_again(struct hipec_cache *cache, struct hipec_victim *v,
			  u32 nr)
{
	struct address_space *mapping = v->f->inode->i_mapping;
	bool again = false, locked = false;
	u32 i, from = 0, to = 0;

	for (i = 0; i < nr; i++) {
		enum stay stay = find_stay(mapping, v[i].idx);

		again |= stay == STAY_BUSY;
		/* Unmapping may wait for locks of file systems. */
		if (stay != STAY_MAPPED || cache->in_reclaim)
			continue;
		again = true;
		if (from != to && v[i].idx != to) {
			locked |= !hipec_unmap(v->f, from, to - from);
			from = to;
		}
		if (from == to)
			from = v[i].idx;
		to = v[i].idx + v[i].nr;
	}
	if (from != to)
		locked |= !hipec_unmap(v->f, from, to - from);
	return again && !locked;
}

/* Victims that follow each other in their file. Return: whether all are known to have gone. */
static bool evict_run(struct hipec_cache *cache, struct hipec_victim *v, u32 nr)
{
	struct address_space *mapping = v->f->inode->i_mapping;
	u32 last = v[nr - 1].idx + v[nr - 1].nr - 1, pages = last + 1 - v->idx, i;

	if (hipec_locked(mapping, v->idx, pages, !cache->in_reclaim)) {
		for (i = 0; nr > 1 && i < nr; i++)
			evict_run(cache, &v[i], 1);
		return false;
	}
	if (invalidate_mapping_pages(mapping, v->idx, last) == pages)
		return true;
	/* The first try also empties this CPU's batches. */
	if (prepare_again(cache, v, nr))
		invalidate_mapping_pages(mapping, v->idx, last);
	return false;
}

/* A victim's entry is free if it has @gone, or on the list of refused ones. */
static void finish_victim(struct hipec_cache *cache, const struct hipec_victim *v,
			  bool gone)
{
	struct hipec_core *core = &cache->c->core;
	bool pending = core->vm.page[v->h].flags & HIPEC_FOLIO_PENDING;

	core->vm.page[v->h].flags &= ~(HIPEC_FOLIO_PENDING | HIPEC_FOLIO_REF |
				       HIPEC_FOLIO_LOOKED);
	if (!gone && find_stay(v->f->inode->i_mapping, v->idx) != STAY_GONE) {
		cache->held += v->nr;
		hipec_folios_add(cache, HIPEC_FOLIO_REFUSED, v->h);
		if (pending)
			hipec_core_put_aside(core);
		else
			core->counters.refused++;
		return;
	}
	cache->freed += v->nr;
	core->counters.evictions += v->nr - pending;
	if (pending)
		hipec_core_cleaned(core, v->h);
	else
		hipec_core_unbind(core, v->h, false);
}

/* The first victims are on their list no more. Return: how many. */
static u32 take_victims(struct hipec_cache *cache)
{
	struct hipec_vm *vm = &cache->c->core.vm;
	u32 nr, h;

	for (nr = 0; nr < HIPEC_MAX_VICTIMS && (h = cache->victims.head); nr++) {
		struct hipec_cfile *f = hipec_cfile_of(cache, vm->page[h].pgno);

		cache->victim[nr] = (struct hipec_victim){
			.f = f, .idx = vm->page[h].pgno - f->start, .h = h,
			.nr = hipec_folio_pages(vm, h),
		};
		hipec_folios_del(cache, h);
	}
	return nr;
}

/**
 * hipec_victims_evict() - evict the victims
 * @cache: cache
 *
 * Those that cannot go are on the list of refused ones then, and held.
 *
 * Context: expects c->lock, and not from within an event; may sleep, but waits for no
 * lock of a folio.
 */
void hipec_victims_evict(struct hipec_cache *cache)
{
	struct hipec_victim *v = cache->victim;
	u32 i, first, nr;
	bool gone;

	lockdep_assert_held(&cache->c->lock);
	while ((nr = take_victims(cache))) {
		sort_victims(cache, nr);
		for (first = 0, i = 1; i <= nr; i++) {
			if (i < nr && v[i].f == v[first].f &&
			    v[i].idx == v[i - 1].idx + v[i - 1].nr)
				continue;
			gone = evict_run(cache, &v[first], i - first);
			while (first < i)
				finish_victim(cache, &v[first++], gone);
		}
		hipec_cache_account(cache);
	}
}

/**
 * hipec_refused_retry() - look again at folios that could not go
 * @cache: cache
 * @most:  entries to look at
 *
 * Those that can go now are victims; hipec_victims_evict() is owed.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_refused_retry(struct hipec_cache *cache, u32 most)
{
	struct hipec_vm *vm = &cache->c->core.vm;

	for (most = min(most, cache->refused.nr); most; most--) {
		u32 h = cache->refused.head, pgno = vm->page[h].pgno;
		struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
		enum stay stay = find_stay(f->inode->i_mapping, pgno - f->start);

		hipec_folios_del(cache, h);
		if (stay == STAY_DIRTY || stay == STAY_LOCKED)
			hipec_folios_add(cache, HIPEC_FOLIO_REFUSED, h);
		else
			hipec_victim_add(cache, h, false);
	}
}

/* A file with dirty folios that is behind @start, in use; NULL: there is no more. */
static struct hipec_cfile *next_dirty(struct hipec_cache *cache, u64 start)
{
	struct hipec_cfile *f, *found = NULL;

	mutex_lock(&cache->c->lock);
	list_for_each_entry(f, &cache->files, link)
		if (f->start >= start && (!found || f->start < found->start) &&
		    mapping_tagged(f->inode->i_mapping, PAGECACHE_TAG_DIRTY))
			found = f;
	if (found && !atomic_inc_not_zero(&found->users))
		found = NULL;
	mutex_unlock(&cache->c->lock);
	return found;
}

/* Work: begin to write what is dirty. */
void hipec_refused_clean(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, clean);
	struct hipec_cfile *f;
	u64 start = 0;

	while ((f = next_dirty(cache, start))) {
		filemap_flush(f->inode->i_mapping);
		start = (u64)f->start + f->nr;
		hipec_file_put(f);
	}
}

/**
 * hipec_evictable_again() - the kernel may reclaim a file's folios again
 * @mapping: whose flag is clear; the inode is held
 *
 * Those that reclaim met while it was set are on a list that it does not look at.
 *
 * Context: process context, may sleep.
 */
void hipec_evictable_again(struct address_space *mapping)
{
	struct folio_batch batch;
	pgoff_t next = 0;

	folio_batch_init(&batch);
	while (filemap_get_folios(mapping, &next, ULONG_MAX, &batch)) {
		check_move_unevictable_folios(&batch);
		folio_batch_release(&batch);
		cond_resched();
	}
}
