// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios leave the page cache. Victims are collected and evicted in runs, which costs
 * half of one by one. invalidate_mapping_pages() does it: it only tries locks, and
 * leaves alone what is dirty, being written, mapped or in use. So nothing that was
 * written can be lost here: it is what any POSIX_FADV_DONTNEED does.
 *
 * Interface:
 * hipec_evict_list_add(), _list_del()  an entry is put on a list, or taken off
 * hipec_evict_add_victim()       an entry is to be evicted
 * hipec_evict_wait(), _most()  whether they may stay a while, and how many
 * hipec_evict_victims(), _locked(), _many()  evict them
 * hipec_evict_victims_unlocked(), _finish()  and have others go on meanwhile
 * hipec_evict_finish_victim()  one, at once
 * hipec_evict_victim_missed()  one that is wanted
 * hipec_evict_stay_of()        what keeps a folio
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/rcupdate.h>
#include <linux/swap.h>

#include "cache.h"

/* Victims that wait are at most one of so many pages of the budget. */
#define WAITING_PART 64

/* So many go, whatever is noted. */
#define MANY_VICTIMS (4 * HIPEC_MAX_VICTIMS)

static struct hipec_folios *list_of(struct hipec_cache *cache, u16 flags)
{
	if (flags == HIPEC_FOLIO_VICTIM)
		return &cache->victims;
	return flags == HIPEC_FOLIO_AHEAD ? &cache->ahead : &cache->refused;
}

/* Pages of an entry with these flags. */
static __always_inline u32 pages_of_flags(u16 flags)
{
	return 1u << ((flags & HIPEC_FOLIO_ORDER) >> HIPEC_FOLIO_ORDER_SHIFT);
}

/* Entry @h, with so many pages, is the last on a list. */
static __always_inline void list_append(struct hipec_folios *list, struct hipec_links *links, u32 h,
					u32 pages)
{
	u32 tail = list->tail;

	links[h] = (struct hipec_links){ .prev = tail };
	if (tail)
		links[tail].next = h;
	else
		list->head = h;
	list->tail = h;
	list->nr++;
	list->pages += pages;
}

/**
 * hipec_evict_list_add() - put an entry on a list
 * @cache: cache
 * @flags: HIPEC_FOLIO_AHEAD, _REFUSED or _VICTIM: the list
 * @h:     entry with a folio, on none of them
 *
 * Context: expects c->lock.
 */
void hipec_evict_list_add(struct hipec_cache *cache, u16 flags, u32 h)
{
	struct hipec_page *page = &cache->c->core.vm.page[h];

	page->flags |= flags;
	list_append(list_of(cache, flags), cache->c->links, h, pages_of_flags(page->flags));
}

/* Take an entry off its list, if any. Context: expects c->lock. */
void hipec_evict_list_del(struct hipec_cache *cache, u32 h)
{
	u16 flags = cache->c->core.vm.page[h].flags & HIPEC_FOLIO_VICTIM;
	struct hipec_folios *list = list_of(cache, flags);
	u32 next = cache->c->links[h].next, prev = cache->c->links[h].prev;

	if (!flags)
		return;
	cache->c->core.vm.page[h].flags &= ~flags;
	if (prev)
		cache->c->links[prev].next = next;
	else
		list->head = next;
	if (next)
		cache->c->links[next].prev = prev;
	else
		list->tail = prev;
	list->nr--;
	list->pages -= hipec_folio_pages(&cache->c->core.vm, h);
}

/* Marks of victims that wait, which are found without the lock. */
static void mark_waiting(struct hipec_cache *cache, u32 pgno, u32 pages)
{
	for (; pages; pages--, pgno++)
		__set_bit(pgno % HIPEC_WAITING_MARKS, cache->waiting);
}

/**
 * hipec_evict_add_victim() - an entry's folio is to be evicted
 * @cache: cache
 * @h:     entry with a folio, on no list; it is no longer counted as held
 * @live:  it was live
 *
 * Context: expects c->lock; hipec_evict_victims() is owed.
 */
void hipec_evict_add_victim(struct hipec_cache *cache, u32 h, bool live)
{
	struct hipec_page *page = &cache->c->core.vm.page[h];
	u32 pages = pages_of_flags(page->flags);

	/* The judge asks once more. */
	page->flags = (page->flags & (~(HIPEC_FOLIO_REF | HIPEC_FOLIO_AROUND) |
				      HIPEC_REF_JUDGE << HIPEC_FOLIO_REF_SHIFT)) |
		      (live ? HIPEC_FOLIO_PENDING : 0) | HIPEC_FOLIO_VICTIM;
	list_append(&cache->victims, cache->c->links, h, pages);
	mark_waiting(cache, page->pgno, pages);
	cache->held -= pages;
}

/* Handles, with their page numbers above them, in order. They are few. */
static void sort_keys(u64 *key, u32 nr)
{
	u32 i, j;
	u64 k;

	for (i = 1; i < nr; i++) {
		k = key[i];
		for (j = i; j && k < key[j - 1]; j--)
			key[j] = key[j - 1];
		key[j] = k;
	}
}

/* What keeps page @idx of a file in the page cache. Context: any. */
enum hipec_stay hipec_evict_stay_of(const struct hipec_cfile *f, u32 idx)
{
	struct address_space *mapping;
	enum hipec_stay stay = HIPEC_STAY_BUSY;
	struct folio *folio;

	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	folio = mapping ? hipec_folio_at(mapping, idx) : NULL;
	if (!folio)
		stay = HIPEC_STAY_NONE;
	else if (folio_test_mlocked(folio))
		stay = HIPEC_STAY_LOCKED;
	else if (folio_test_dirty(folio) || folio_test_writeback(folio))
		stay = HIPEC_STAY_DIRTY;
	else if (folio_mapped(folio))
		stay = HIPEC_STAY_MAPPED;
	rcu_read_unlock();
	return stay;
}

/*
 * Unmap the mapped victims of a run, of which no page was locked just now. Return: whether
 * none is locked by now.
 */
static bool unmap_run(const struct hipec_victim *v, u32 nr)
{
	struct address_space *mapping = v->f->inode->i_mapping;
	bool locked = false;
	u32 i, from = 0, to = 0;

	for (i = 0; i < nr; i++) {
		if (hipec_evict_stay_of(v->f, v[i].idx) != HIPEC_STAY_MAPPED)
			continue;
		if (from != to && v[i].idx != to) {
			locked |= !hipec_mlock_unmap(mapping, from, to - from);
			from = to;
		}
		if (from == to)
			from = v[i].idx;
		to = v[i].idx + v[i].nr;
	}
	if (from != to)
		locked |= !hipec_mlock_unmap(mapping, from, to - from);
	return !locked;
}

static bool any_busy(const struct hipec_victim *v, u32 nr)
{
	for (; nr; nr--, v++)
		if (hipec_evict_stay_of(v->f, v->idx) == HIPEC_STAY_BUSY)
			return true;
	return false;
}

/*
 * Victims that follow each other in their file. Return: whether
 * all are known to have gone.
 */
static bool invalidate_run(const struct hipec_victim *v, u32 nr)
{
	struct address_space *mapping = v->f->inode->i_mapping;
	u32 last = v[nr - 1].idx + v[nr - 1].nr - 1;

	if (invalidate_mapping_pages(mapping, v->idx, last) == last + 1 - v->idx)
		return true;
	/* That has also emptied this CPU's batches. */
	if (any_busy(v, nr))
		invalidate_mapping_pages(mapping, v->idx, last);
	return false;
}

/*
 * The same where some may be mapped. @wait: locks of file systems may be waited for, as
 * unmapping does.
 */
static bool evict_mapped(const struct hipec_victim *v, u32 nr, bool wait)
{
	struct address_space *mapping = v->f->inode->i_mapping;
	u32 pages = v[nr - 1].idx + v[nr - 1].nr - v->idx, i;

	if (hipec_mlock_locked(mapping, v->idx, pages, wait)) {
		for (i = 0; nr > 1 && i < nr; i++)
			evict_mapped(&v[i], 1, wait);
		return false;
	}
	/* A try with what is mapped would put it into a batch, and empty all of this CPU's. */
	if (wait && !unmap_run(v, nr))
		return false;
	return invalidate_run(v, nr);
}

/*
 * Victims that follow each other. Those of a file that is let go are the kernel's. An inode waits
 * for no more than this.
 */
static bool evict_run(struct hipec_victim *v, u32 nr, bool wait)
{
	int idx = srcu_read_lock(v->f->cache->inodes);
	struct address_space *mapping = hipec_mapping_of(v->f);
	bool gone = false;

	if (mapping)
		gone = mapping_mapped(mapping) ? evict_mapped(v, nr, wait) : invalidate_run(v, nr);
	srcu_read_unlock(v->f->cache->inodes, idx);
	return gone;
}

/* Evict them all. Needs no lock, if their files are in use. */
static void evict_victims(struct hipec_evicting *e, bool wait)
{
	struct hipec_victim *v = e->victim;
	u32 i, first = 0;
	bool gone;

	for (i = 1; i <= e->nr; i++) {
		if (i < e->nr && v[i].f == v[first].f && v[i].idx == v[i - 1].idx + v[i - 1].nr)
			continue;
		gone = evict_run(&v[first], i - first, wait);
		while (first < i)
			v[first++].gone = gone;
	}
}

/* A victim's entry is free if it has @gone, or on the list of refused ones. */
static void finish_one(struct hipec_cache *cache, struct hipec_victim *v, bool gone)
{
	struct hipec_core *core = &cache->c->core;
	u16 *flags = &core->vm.page[v->h].flags;
	bool pending = *flags & HIPEC_FOLIO_PENDING;

	*flags &= ~(HIPEC_FOLIO_PENDING | HIPEC_FOLIO_REF | HIPEC_FOLIO_LOOKED |
		    HIPEC_FOLIO_VICTIM);
	if (!gone && hipec_evict_stay_of(v->f, v->idx) != HIPEC_STAY_NONE) {
		cache->held += v->nr;
		hipec_evict_list_add(cache, HIPEC_FOLIO_REFUSED, v->h);
		if (pending)
			hipec_core_refuse(core);
		else
			core->counters.refused++;
	} else {
		cache->freed += v->nr;
		core->counters.evictions += v->nr - pending;
		if (pending)
			hipec_core_cleaned(core, v->h);
		else
			hipec_core_unbind(core, v->h, false);
	}
	v->h = 0;
}

static void finish_victims(struct hipec_cache *cache, struct hipec_evicting *e)
{
	u32 i;

	for (i = 0; i < e->nr; i++)
		if (e->victim[i].h)
			finish_one(cache, &e->victim[i], e->victim[i].gone);
	hipec_cache_account(cache);
}

/* The victim that is entry @h. */
static struct hipec_victim victim_of(struct hipec_cache *cache, u32 h)
{
	const struct hipec_page *page = &cache->c->core.vm.page[h];
	struct hipec_cfile *f = hipec_cfile_of(cache, page->pgno);

	return (struct hipec_victim){
		.f = f, .idx = page->pgno - f->start, .h = h, .nr = pages_of_flags(page->flags),
	};
}

/*
 * The first victims are on their list no more; @spare: but for those that have the page of the
 * last fault here, of which one may be older than the truth. An instruction may need that page
 * and the one that comes, as a load across their border does: it would never end, if a policy
 * gave up each for the other. Return: whether there are any.
 */
static bool take_victims(struct hipec_cache *cache, struct hipec_evicting *e, bool spare)
{
	struct hipec_links *links = cache->c->links;
	struct hipec_page *page = cache->c->core.vm.page;
	bool all = cache->victims.nr <= HIPEC_MAX_VICTIMS;
	struct hipec_folios kept = { 0 };
	u64 key[HIPEC_MAX_VICTIMS];
	u32 h, next, i;

	e->nr = e->pages = 0;
	for (h = cache->victims.head; h && e->nr < HIPEC_MAX_VICTIMS; h = next) {
		u32 pgno = page[h].pgno, pages = pages_of_flags(page[h].flags);

		next = links[h].next;
		if (spare && unlikely(hipec_touch_last(cache, pgno, pages))) {
			if (all)
				list_append(&kept, links, h, pages);
			continue;
		}
		key[e->nr++] = (u64)pgno << 32 | h;
		e->pages += pages;
		if (all)
			continue;
		hipec_evict_list_del(cache, h);
		page[h].flags |= HIPEC_FOLIO_VICTIM;
	}
	if (all) {
		cache->victims = kept;
		bitmap_zero(cache->waiting, HIPEC_WAITING_MARKS);
		for (h = kept.head; h; h = links[h].next)
			mark_waiting(cache, page[h].pgno, pages_of_flags(page[h].flags));
	}
	sort_keys(key, e->nr);
	for (i = 0; i < e->nr; i++)
		e->victim[i] = victim_of(cache, key[i]);
	return e->nr;
}

/**
 * hipec_evict_most() - pages that a cache may have beyond its budget, as several go together
 * @cache: cache
 *
 * policy.c says why victims wait.
 *
 * Context: expects c->lock.
 */
u32 hipec_evict_most(const struct hipec_cache *cache)
{
	const struct hipec_core *core = &cache->c->core;

	return core->pool ? 0 : min_t(u32, HIPEC_MAX_VICTIMS, hipec_core_held(core) / WAITING_PART);
}

/* Whether victims are to wait for others. Context: expects c->lock. */
bool hipec_evict_wait(const struct hipec_cache *cache)
{
	return !cache->victims.nr || cache->victims.nr < hipec_evict_most(cache);
}

/**
 * hipec_evict_victims() - evict the victims
 * @cache: cache
 *
 * Those that cannot go are on the list of refused ones then, and held.
 *
 * Context: expects c->lock, and not from within an event; may sleep, but waits for no
 * lock of a folio.
 */
void hipec_evict_victims(struct hipec_cache *cache)
{
	lockdep_assert_held(&cache->c->lock);
	while (take_victims(cache, &cache->own, false)) {
		evict_victims(&cache->own, !cache->in_reclaim);
		finish_victims(cache, &cache->own);
	}
}

/* Files of victims are in use. Context: expects c->lock: as long as they have entries, they are. */
static void get_files(const struct hipec_evicting *e)
{
	u32 i;

	for (i = 0; i < e->nr; i++)
		if (!i || e->victim[i].f != e->victim[i - 1].f)
			atomic_inc(&e->victim[i].f->users);
}

static void put_files(const struct hipec_evicting *e)
{
	u32 i;

	for (i = 0; i < e->nr; i++)
		if (!i || e->victim[i].f != e->victim[i - 1].f)
			hipec_table_put(e->victim[i].f);
}

/* Victims that a task has evicted without the lock. Context: expects c->lock. */
static void finish_unlocked(struct hipec_cache *cache, struct hipec_evicting *e)
{
	cache->nr_evicting -= e->pages;
	list_del(&e->link);
	finish_victims(cache, e);
	put_files(e);
}

/* Those of tasks that did not get the lock again. Context: expects c->lock; may sleep. */
void hipec_evict_finish(struct hipec_cache *cache)
{
	struct hipec_evicting *e, *next;

	lockdep_assert_held(&cache->c->lock);
	llist_for_each_entry_safe(e, next, llist_del_all(&cache->done), done) {
		finish_unlocked(cache, e);
		list_add(&e->link, &cache->spare);
	}
}

/* As hipec_evict_victims(), but for pages that an instruction may be at. */
void hipec_evict_victims_locked(struct hipec_cache *cache)
{
	while (take_victims(cache, &cache->own, true)) {
		evict_victims(&cache->own, true);
		finish_victims(cache, &cache->own);
	}
}

/*
 * The same, if they are many, while the policy is told: of a victim's page a touch may be noted that
 * it has not heard of, and is a miss then, but for one that is not there.
 */
void hipec_evict_victims_many(struct hipec_cache *cache)
{
	if (cache->victims.nr >= (cache->c->core.pool ? HIPEC_MAX_VICTIMS : MANY_VICTIMS))
		hipec_evict_victims_locked(cache);
}

/**
 * hipec_evict_victims_unlocked() - evict the victims, and drop the lock meanwhile
 * @cache: cache; the caller uses one of its files
 *
 * What takes longest in a miss is to evict, and other tasks need not wait for that. A task
 * that finds a victim's entry meanwhile finishes it. The page of the last fault on this CPU
 * stays a victim until the next miss, and so may those that are mapped, for longer
 * (hipec_evict_wait()).
 *
 * The caller may have pages locked that other tasks want: where another has the lock behind
 * that, what was evicted is left to the lock's next holder.
 *
 * Context: expects c->lock, and not from within an event; sleeps. All that it guards may
 * be another when it returns.
 * Return: whether the caller has the lock.
 */
bool hipec_evict_victims_unlocked(struct hipec_cache *cache)
{
	struct hipec_container *c = cache->c;
	u64 context = c->core.context;
	struct hipec_evicting *e;

	if (hipec_evict_wait(cache))
		return true;
	e = list_first_entry_or_null(&cache->spare, struct hipec_evicting, link);
	if (!e) {
		hipec_evict_victims_locked(cache);
		return true;
	}
	list_del(&e->link);
	while (take_victims(cache, e, true)) {
		get_files(e);
		list_add(&e->link, &cache->evicting);
		cache->nr_evicting += e->pages;
		c->core.context = 0;
		mutex_unlock(&c->lock);
		evict_victims(e, true);
		if (!mutex_trylock(&c->lock)) {
			llist_add(&e->done, &cache->done);
			hipec_touch_later(cache);
			return false;
		}
		c->core.context = context;
		finish_unlocked(cache, e);
	}
	list_add(&e->link, &cache->spare);
	return true;
}

/* The victim that a task evicts now; NULL: entry @h waits. */
static struct hipec_victim *find_evicting(struct hipec_cache *cache, u32 h)
{
	struct hipec_evicting *e;
	u32 i;

	list_for_each_entry(e, &cache->evicting, link)
		for (i = 0; i < e->nr; i++)
			if (e->victim[i].h == h)
				return &e->victim[i];
	return NULL;
}

/**
 * hipec_evict_finish_victim() - an entry is a victim no more
 * @cache: cache
 * @h:     victim
 *
 * It is free, or on the list of refused ones, whether the task that evicts it has come so
 * far or not. If that evicts the folio later, the entry is one whose folio has gone by
 * itself.
 *
 * Context: expects c->lock, and not from within an event; may sleep.
 */
void hipec_evict_finish_victim(struct hipec_cache *cache, u32 h)
{
	struct hipec_victim *v = find_evicting(cache, h);

	if (v) {
		finish_one(cache, v, false);
		hipec_cache_account(cache);
	} else {
		hipec_evict_victims(cache);
	}
}

/**
 * hipec_evict_victim_missed() - a victim's page is wanted, before it was evicted
 * @cache: cache
 * @h:     victim
 *
 * To its policy it has gone, and comes again, though nothing is read (policy.c). One that a task
 * evicts now may have gone.
 *
 * Context: expects c->lock, and not from within an event.
 */
void hipec_evict_victim_missed(struct hipec_cache *cache, u32 h)
{
	struct hipec_victim *now = find_evicting(cache, h), waiting = victim_of(cache, h);

	if (!now)
		hipec_evict_list_del(cache, h);
	finish_one(cache, now ?: &waiting, !now);
	hipec_cache_account(cache);
}
