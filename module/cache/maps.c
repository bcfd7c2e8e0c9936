// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of maps that were touched, for policies with Access: of each read() they are told
 * anyway. Page tables are read in runs, which takes a fraction of what it takes to ask for
 * each page alone; the policy is told of those that were touched in the next few misses.
 *
 * Each miss earns page numbers that may be looked at: so many that each page is looked at
 * LOOKS times while as many come in as are live, however few of a file's pages these are,
 * up to a run for each miss.
 *
 * Interface:
 * hipec_maps_touched()  the engine's host: pages that were touched
 * hipec_maps_forget()   page numbers mean other pages
 */
#include <linux/bitmap.h>
#include <linux/pagemap.h>

#include "cache.h"

/* How often each page is looked at. */
#define LOOKS 8

/* Pages that the policy is told of before one Replace. */
#define MOST_TOLD 16

/* Files in which a run is looked for. */
#define MOST_FILES 8

/* More page numbers may be looked at: of a file of which few pages are there, more. */
static void earn_looks(struct hipec_maps *l, u32 nr_live)
{
	u32 share = l->round > nr_live ? l->round / max(nr_live, 1u) : 1;

	l->earned += LOOKS * min(share, HIPEC_RUN_PAGES / LOOKS);
	l->earned = min_t(s32, l->earned, HIPEC_RUN_PAGES);
}

/* The pages of a file that may be mapped. */
static u32 mapped_pages_of(const struct hipec_cfile *f)
{
	const struct address_space *mapping;
	u32 nr = 0;

	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	if (mapping && mapping_mapped((struct address_space *)mapping))
		nr = min_t(u64, f->nr, DIV_ROUND_UP((u64)i_size_read(f->inode), PAGE_SIZE));
	rcu_read_unlock();
	return nr;
}

/* The run that is looked at next: @nr pages from @idx on; NULL: none is found now. */
static struct hipec_cfile *next_run(struct hipec_cache *cache, u32 *idx, u32 *nr)
{
	struct hipec_maps *l = &cache->maps;
	struct hipec_cfile *f;
	unsigned long slot;
	u32 tries;

	for (tries = 0; tries < MOST_FILES; tries++) {
		slot = l->next >> HIPEC_SLOT_SHIFT;
		f = xa_find(&cache->slots, &slot, ULONG_MAX, HIPEC_SLOT_FILE);
		if (!f) {
			l->round = l->walked;
			l->walked = l->next = 0;
			continue;
		}
		*idx = max_t(u64, l->next, f->start) - f->start;
		if (*idx < mapped_pages_of(f)) {
			*nr = min(mapped_pages_of(f) - *idx,
				  HIPEC_RUN_PAGES - *idx % HIPEC_RUN_PAGES);
			l->next = (u64)f->start + *idx + *nr;
			return f;
		}
		l->next = (u64)f->start + f->nr;
	}
	return NULL;
}

/* The live entry of a page that was found touched; 0: there is none. */
static u32 live_at(struct hipec_cache *cache, u32 pgno)
{
	struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
	u32 h = f ? hipec_entry_at(f, pgno) : 0;

	return h && hipec_page_live(&cache->c->core.vm, h) ? h : 0;
}

/*
 * Look at a run, and move bits of page tables into the entries. Those of pages that are not
 * live stay for the code that evicts these pages. A bit that was not reset before was set
 * by a fault, which the policy knows.
 */
static void probe_mapped_run(struct hipec_cache *cache, struct hipec_cfile *f,
			     struct address_space *mapping, u32 idx, u32 nr)
{
	struct hipec_page *page = cache->c->core.vm.page;
	DECLARE_BITMAP(young, HIPEC_RUN_PAGES);
	DECLARE_BITMAP(seen, HIPEC_RUN_PAGES);	/* by the first page of their folio */
	struct hipec_maps *l = &cache->maps;
	u32 i, h, first;
	bool looked;

	bitmap_zero(young, HIPEC_RUN_PAGES);
	bitmap_zero(seen, HIPEC_RUN_PAGES);
	if (!hipec_young_range(cache->c, mapping, idx, nr, young))
		return;
	l->start = f->start + idx;
	for_each_set_bit(i, young, nr) {
		h = live_at(cache, l->start + i);
		if (!h) {
			__clear_bit(i, young);
			continue;
		}
		first = page[h].pgno - l->start;
		looked = page[h].flags & HIPEC_FOLIO_LOOKED;
		if (first >= nr || __test_and_set_bit(first, seen))
			continue;
		hipec_folio_found(&page[h], looked);
		if (looked) {
			__set_bit(first, l->told);
			l->nr_delivered++;
		}
	}
	hipec_young_reset(cache->c, mapping, idx, nr, young);
}

/* Look at the next run, if its file does not go. */
static void look_at_next(struct hipec_cache *cache)
{
	struct hipec_maps *l = &cache->maps;
	struct address_space *mapping;
	struct hipec_cfile *f;
	u32 idx, nr = 0;
	int in;

	f = next_run(cache, &idx, &nr);
	in = srcu_read_lock(cache->inodes);
	mapping = f ? hipec_mapping_of(f) : NULL;
	if (mapping)
		probe_mapped_run(cache, f, mapping, idx, nr);
	srcu_read_unlock(cache->inodes, in);
	l->walked += nr;
	l->earned -= f ? nr : HIPEC_RUN_PAGES;
}

/**
 * hipec_maps_touched() - the engine's host: pages of maps that were touched
 * @core: container of the page cache
 * @pgno: gets them
 *
 * Context: expects c->lock, between events; may sleep.
 * Return: how many there are.
 */
u32 hipec_maps_touched(struct hipec_core *core, u32 pgno[HIPEC_HARVEST])
{
	struct hipec_cache *cache = hipec_of_core(core)->cache;
	struct hipec_maps *l = &cache->maps;
	u32 n = 0, i, h;

	earn_looks(l, core->vm.nr_live);
	/* Looking waits for the locks of maps. */
	if (!l->nr_delivered && l->earned > 0 && !cache->in_reclaim)
		look_at_next(cache);
	for (i = 0; l->nr_delivered && n < MOST_TOLD; i++) {
		i = find_next_bit(l->told, HIPEC_RUN_PAGES, i);
		__clear_bit(i, l->told);
		l->nr_delivered--;
		h = live_at(cache, l->start + i);
		if (!h)
			continue;
		pgno[n++] = core->vm.page[h].pgno;
		hipec_event_access(cache->c, pgno[n - 1], false, false);
	}
	return n;
}

/* The page numbers of a file mean another one. Context: expects c->lock. */
void hipec_maps_forget(struct hipec_cache *cache)
{
	bitmap_zero(cache->maps.told, HIPEC_RUN_PAGES);
	cache->maps.nr_delivered = 0;
}
