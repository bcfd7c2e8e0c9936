// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the policy of a cache is asked and told, and the life of an entry in place.
 *
 *	read, or found by a touch
 *	  |
 *	  v              first touch: PageFault
 *	ahead ---------------------------------------> live <---+-------------+
 *	  |                                             |       | touch:      |
 *	  |                   given up ahead of need,   |       | PageFault   |
 *	  | the oldest of     in a pool                 +----> named          | touch:
 *	  | too many                                    |       |             | PageFault,
 *	  |                   given up                  |       | taken       | and a hit
 *	  v                                             v       v             |
 *	victim <----------------------------------------+-------+             |
 *	  | | ^                                                               |
 *	  | | +---------------- tried again ----------------------+           |
 *	  | +------------------ cannot go ----------------------> refused ----+
 *	  v
 *	evicted in a run: the entry is free
 *
 * An entry is what the module knows of a folio, and it may be older than the truth: no folio is
 * held, so truncation, direct I/O, DONTNEED and the kernel's reclaim (where it has the file) drop
 * folios without a word. Each use looks the folio up, and an entry whose folio has gone is
 * dropped then, with Remove if the policy knew it. So an entry too many costs a page of the
 * budget until it is met. An entry too few would cost more: AS_UNEVICTABLE keeps reclaim away
 * from the whole file, so nothing could ever free the page. Wherever a page may have neither an
 * entry nor a note that brings one (touch.c), its file is lost, that is the kernel's, until a
 * search has given each page an entry (surrender.c, search.c).
 *
 * As in the paper and the simulator, Replace comes first, while the budget is reached; then the
 * page; PageFault comes with its first touch. What was read before its use waits ahead, and no
 * policy hears of it: mru would give up next what was read last. A quarter of the budget may be
 * ahead (or 32 pages, or twice a large read()); then the oldest goes, untouched, and that makes
 * the next windows narrower (window.c). Where readahead is always wrong, a policy has three
 * quarters of its memory, and reads so in FrameBudget.
 *
 * What is given up is no longer live at once, but evicted later, with others: one by one costs
 * twice as much. When that happens is to have no say in what a policy decides, or decisions would
 * depend on how many victims make a run. So a touch of a victim's page is a miss to the policy:
 * the entry is freed as if the page had gone, and another one begins its life; nothing is read of
 * the disk. (One that a task evicts at that moment has gone, or is refused and comes back:
 * PageFault in any case.) Between two drains fewer than 32 victims wait, and fewer than a 64th of
 * the budget, beyond it; in a pool none, as its other members count on free frames.
 * test_misses_in_place_are_the_simulator_s holds policies to that, to the miss.
 *
 * A victim that is dirty, under writeback, pinned or mlocked is refused, and not offered to the
 * policy again, which would give it up at each Replace. A policy counts on so much less
 * (offer_usable()). A miss tries as many again as it reads, two at least. If nothing can go, the
 * cache stays above its budget after ROUNDS attempts; reclaim, which finds nothing either, has
 * the files surrendered.
 *
 * Interface:
 * hipec_cache_touched()   pages were touched
 * hipec_cache_bring()     have folios given up for one that comes
 * hipec_cache_give()      have some given up that others want
 * hipec_cache_entry()     the entry of a page
 */
#include <linux/pagemap.h>
#include <linux/rcupdate.h>

#include "cache.h"
#include "clean.h"
#include "payer.h"
#include "../include/uapi/hipec_sample.h"

/* What the policy may count on rises at once if it is by more than one of so many parts, */
#define SUDDEN 4

/* else by a folio each time that so many came. */
#define RISE 16

/* Attempts to get below the budget, where folios cannot go. */
#define ROUNDS 4

/* Touches of one range that the policy is told of before others may run. */
#define TOUCHES_AT_ONCE 64

/*
 * What may be read ahead, and not touched, beside what the policy knows; pages. A large read()
 * that stays whole may have more: its pages are not to be evicted before they are copied.
 */
static u32 most_ahead(const struct hipec_cache *cache)
{
	return max3(hipec_core_held(&cache->c->core) / 4, 32u, 2 * READ_ONCE(cache->whole));
}

static noinline void touch_first_time(struct hipec_cache *cache, u32 h, bool write);

/*
 * The folio that was read first of those that were not touched; 0: there is none. One
 * that a fault of a neighbour has mapped has its bit set by that: once it is reset, and
 * if it is set again, the folio was touched.
 */
static u32 look_at_ahead(struct hipec_cache *cache)
{
	struct hipec_page *page = cache->c->core.vm.page;
	u32 most = cache->ahead.nr, h;

	while ((h = cache->ahead.head) && most--) {
		if (!hipec_bits_young(cache, h, true))
			break;
		hipec_core_settle(&cache->c->core);
		if (page[h].flags & HIPEC_FOLIO_AROUND) {
			page[h].flags &= ~HIPEC_FOLIO_AROUND;
			touch_first_time(cache, h, false);
			continue;
		}
		hipec_evict_list_del(cache, h);
		hipec_evict_list_add(cache, HIPEC_FOLIO_AHEAD, h);
		page[h].flags |= HIPEC_FOLIO_AROUND;
	}
	return h;
}

/* A folio that was not touched is given up. */
static void drop_untouched(struct hipec_cache *cache, u32 h)
{
	cache->c->core.counters.ahead_dropped += hipec_folio_pages(&cache->c->core.vm, h);
	hipec_evict_list_del(cache, h);
	hipec_evict_add_victim(cache, h, false);
	hipec_window_judge(cache, false);
}

/* The one that was read first is. */
static bool drop_first_ahead(struct hipec_cache *cache)
{
	u32 h = look_at_ahead(cache);

	if (h)
		drop_untouched(cache, h);
	return h;
}

/* Have one folio given up. Return: false if there is none that could be. */
static bool replace_one_folio(struct hipec_cache *cache, const struct hipec_demand *d)
{
	if (cache->ahead.pages > most_ahead(cache))
		return drop_first_ahead(cache);
	return hipec_core_replace_one(&cache->c->core, d) || drop_first_ahead(cache);
}

/*
 * What the policy may count on, in folios: the limit less what it does not know. A policy
 * that divides its frames, as LIRS does, would otherwise never fill the first part, and
 * have nothing in the second. What is read ahead comes and goes with each window: so
 * this falls at once, and rises slowly unless much has become free.
 */
static void offer_usable(struct hipec_cache *cache)
{
	struct hipec_core *core = &cache->c->core;
	u32 strange = cache->ahead.pages + cache->refused.pages;
	u32 usable = cache->limit - min(cache->limit, strange);
	u32 known = cache->held - min(cache->held, strange + core->nr_chosen);

	/* Some folios have several pages. */
	if (known > core->vm.nr_live && core->vm.nr_live)
		usable = div_u64((u64)usable * core->vm.nr_live, known);
	if (usable > cache->usable && usable - cache->usable <= usable / SUDDEN)
		usable = cache->usable + !(++cache->rises % RISE);
	cache->usable = usable;
	core->nr_withheld = hipec_core_held(core) - usable;
}

/* As room_for(), where @left is what the cgroup leaves; hipec_cache_account() is owed. */
static void make_cache_room(struct hipec_cache *cache, u32 pgno, bool write, u32 want, long left)
{
	struct hipec_core *core = &cache->c->core;
	const struct hipec_demand d = {
		.pgno = pgno, .write = write, .want = want, .whom = core,
	};
	u32 most = want + 2 * HIPEC_MAX_VICTIMS;

	if (unlikely(core->nr_taken))
		hipec_core_catch_up_some(core);
	if (core->pool) {
		hipec_bits_spare(cache);
		hipec_cache_grow(cache, &d);
	}
	hipec_columns_want(cache->c);
	hipec_cache_compact_later(cache);
	cache->limit = hipec_budget_limit(cache, left);
	if (unlikely(hipec_page_next_unused(&core->vm) > core->vm.nr_there))
		cache->limit = min(cache->limit, cache->held);
	offer_usable(cache);
	while (cache->held + want > cache->limit && most--)
		if (!replace_one_folio(cache, &d))
			break;
	hipec_core_settle(core);
}

/*
 * Have folios given up for @want pages, of which @pgno is the first; HIPEC_NO_PGNO: it is not known.
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 */
static void room_for(struct hipec_cache *cache, u32 pgno, bool write, u32 want)
{
	make_cache_room(cache, pgno, write, want,
			hipec_budget_left(cache, hipec_budget_room(cache), want));
	hipec_cache_account(cache);
}

/* As hipec_cache_settle(); victims are evicted by @evict. */
static __always_inline bool settle_by(struct hipec_cache *cache,
				      bool (*evict)(struct hipec_cache *cache))
{
	u32 round;

	if (!evict(cache))
		return false;
	for (round = 0; round < ROUNDS && cache->held > cache->limit; round++) {
		hipec_refused_retry(cache, 2);
		room_for(cache, HIPEC_NO_PGNO, false, 0);
		if (!evict(cache))
			return false;
	}
	if (hipec_refused_are_many(cache))
		hipec_clean_start_all(cache);
	return true;
}

static bool evict_all_locked(struct hipec_cache *cache)
{
	hipec_evict_victims_locked(cache);
	return true;
}

/**
 * hipec_cache_settle() - evict what was given up
 * @cache: cache
 *
 * Where folios cannot go, others are given up for them, a few times.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_cache_settle(struct hipec_cache *cache)
{
	settle_by(cache, evict_all_locked);
}

/**
 * hipec_cache_settle_unlocked() - the same, and others may go on while victims are evicted
 * @cache: cache; the caller uses one of its files
 *
 * Context: expects c->lock, which it drops and tries to take again; sleeps.
 * Return: whether the caller has it.
 */
bool hipec_cache_settle_unlocked(struct hipec_cache *cache)
{
	return settle_by(cache, hipec_evict_victims_unlocked);
}

/*
 * Have one folio given up without any event: what was read ahead first where that is much, what the
 * policy has named, or the built-in choice.
 */
static bool give_one(struct hipec_cache *cache)
{
	u32 ahead = cache->ahead.head;

	if (cache->ahead.pages <= most_ahead(cache) && hipec_pool_give(&cache->c->core, true))
		return true;
	if (!ahead || (cache->only && !hipec_payer_pays(cache, ahead, cache->only)))
		return false;
	drop_untouched(cache, ahead);
	return true;
}

/* An entry with a folio, and no victim, is given up. */
static bool give_this(struct hipec_cache *cache, u32 h)
{
	if (hipec_core_resident(&cache->c->core, h))
		return hipec_pool_give_page(&cache->c->core, h);
	if (!(cache->c->core.vm.page[h].flags & HIPEC_FOLIO_AHEAD))
		return false;
	drop_untouched(cache, h);
	return true;
}

/* As give_one(), of what a cgroup pays for, where that is not all. */
static bool give_paid(struct hipec_cache *cache, struct hipec_payer *payer)
{
	u32 h = hipec_payer_next(cache, payer);

	payer->seen |= h != 0;
	/* One that cannot go, as its policy has not been told of too many, is not the only one. */
	if (!h || !give_this(cache, h))
		return false;
	payer->looked = 0;
	payer->seen = false;
	return true;
}

/* As give_one(), where a cgroup pays for all. */
static bool give_own(struct hipec_cache *cache, const struct mem_cgroup *memcg)
{
	bool given;

	cache->only = memcg;
	given = give_one(cache);
	cache->only = NULL;
	return given;
}

/**
 * hipec_cache_give() - have folios evicted that others need more
 * @cache: cache
 * @payer: cgroup that needs it, and that is to pay for them; NULL: the machine does
 * @want:  pages
 *
 * No event runs: it is others' time. The policy is told when it makes room the next time.
 *
 * Context: expects c->lock; may sleep, but waits for nothing if cache->in_reclaim.
 * Return: pages that are free now.
 */
u32 hipec_cache_give(struct hipec_cache *cache, struct hipec_payer *payer, u32 want)
{
	struct hipec_core *core = &cache->c->core;
	u32 most = want + 2 * HIPEC_MAX_VICTIMS;
	u64 before = cache->freed;
	bool all;

	hipec_refused_retry(cache, HIPEC_MAX_VICTIMS);
	hipec_evict_victims(cache);
	all = !payer || hipec_payer_share(cache, payer->memcg) == HIPEC_PAYER_SAMPLE;
	/* What was given up before may be others'. */
	if (!all) {
		before = cache->freed;
		hipec_payer_begin(cache, payer);
	}
	while (cache->freed - before < want && most--) {
		if (!(all ? give_own(cache, payer ? payer->memcg : NULL) : give_paid(cache, payer)))
			break;
		if (cache->victims.nr >= HIPEC_MAX_VICTIMS ||
		    cache->freed - before + cache->victims.pages >= want)
			hipec_evict_victims(cache);
	}
	hipec_core_settle(core);
	hipec_evict_victims(cache);
	hipec_cache_account(cache);
	hipec_cache_compact_later(cache);
	hipec_cache_return(cache);
	return cache->freed - before;
}

/* The entry that begins with page @pgno, as hipec_cache_entry(). */
u32 hipec_cache_find_entry(struct hipec_cache *cache, u32 pgno)
{
	struct hipec_vm *vm = &cache->c->core.vm;
	u32 h = hipec_page_find(vm, pgno);

	if (h && unlikely(hipec_is_victim(cache, h))) {
		hipec_evict_victim_missed(cache, h);
		h = hipec_page_find(vm, pgno);
	}
	return h;
}

/* An entry, no victim, whose folio has gone by itself. */
void hipec_cache_drop_entry(struct hipec_cache *cache, u32 h)
{
	struct hipec_container *c = cache->c;
	bool live = hipec_page_live(&c->core.vm, h), held = hipec_core_resident(&c->core, h);
	u32 pgno = c->core.vm.page[h].pgno;

	hipec_evict_list_del(cache, h);
	cache->held -= hipec_folio_pages(&c->core.vm, h);
	hipec_core_unbind(&c->core, h, false);
	hipec_cache_account(cache);
	if (held)
		hipec_event_removed(c, pgno);
	if (live)
		hipec_core_remove(&c->core, pgno);
}

/*
 * Page @pgno has a folio that has no entry: it gets one, ahead of its first touch.
 * Return: 0 if the table is full, or there is no memory for it to grow.
 */
static u32 add_entry(struct hipec_cache *cache, struct hipec_cfile *f, u32 pgno,
		     u32 order)
{
	struct hipec_vm *vm = &cache->c->core.vm;
	u32 i, h;

	/* What is older than it, and behind its first page. */
	for (i = 1; f->orders && i < 1u << order; i++)
		if ((h = hipec_cache_find_entry(cache, pgno + i)))
			hipec_cache_drop_entry(cache, h);
	h = hipec_core_bind(&cache->c->core, pgno);
	if (!h && cache->victims.nr) {
		/* They have entries as long as they wait. */
		hipec_evict_victims_locked(cache);
		h = hipec_core_bind(&cache->c->core, pgno);
	}
	if (!h) {
		hipec_cache_lose(f, HZ);
		hipec_cache_account(cache);
		return 0;
	}
	f->orders = max(f->orders, order);
	f->end = max(f->end, pgno - f->start + 1);
	cache->large |= order;
	vm->page[h].flags |= order << HIPEC_FOLIO_ORDER_SHIFT;
	cache->held += 1u << order;
	hipec_evict_list_add(cache, HIPEC_FOLIO_AHEAD, h);
	hipec_cache_account(cache);
	return h;
}

/**
 * hipec_cache_bring() - folios are given up for one that comes, and it gets an entry
 * @cache: cache
 * @f:     file
 * @pgno:  first page of the folio, which has no entry
 * @order: of the folio
 * @left:  hipec_budget_left(), a moment ago
 *
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 * Return: handle; 0 if the table is full.
 */
u32 hipec_cache_bring(struct hipec_cache *cache, struct hipec_cfile *f, u32 pgno,
		      u32 order, long left)
{
	make_cache_room(cache, pgno, false, 1u << order, left);
	return add_entry(cache, f, pgno, order);
}

/* The order of the folio at an index; -1: there is none. */
int hipec_cache_order_at(const struct hipec_cfile *f, pgoff_t idx)
{
	struct address_space *mapping;
	struct folio *folio;
	int order = -1;

	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	folio = mapping ? hipec_folio_at(mapping, idx) : NULL;
	if (folio)
		order = folio_order(folio);
	rcu_read_unlock();
	return order;
}

/**
 * hipec_cache_entry() - the entry that has a page
 * @f:    file
 * @pgno: one of its page numbers
 *
 * Context: expects c->lock; may sleep.
 * Return: handle, of no victim, as such a page has gone to its policy; 0: none has.
 */
u32 hipec_cache_entry(struct hipec_cfile *f, u32 pgno)
{
	u32 h;

	/* Behind a smaller folio's there may be a larger one's, which has gone by itself. */
	while ((h = hipec_entry_at(f, pgno)) && unlikely(hipec_is_victim(f->cache, h)))
		hipec_evict_victim_missed(f->cache, h);
	return h;
}

/* A page was touched that came in by a write, or before the file was taken. */
static u32 adopt_page(struct hipec_cache *cache, struct hipec_cfile *f, u32 pgno,
		      bool write)
{
	int order = hipec_cache_order_at(f, pgno - f->start);
	u32 h;

	if (order < 0)
		return 0;
	pgno = f->start + round_down(pgno - f->start, 1u << order);
	/* Of a smaller folio, which was there before. */
	h = order ? hipec_cache_find_entry(cache, pgno) : 0;
	if (h)
		hipec_cache_drop_entry(cache, h);
	room_for(cache, pgno, write, 1u << order);
	hipec_evict_victims_many(cache);
	return add_entry(cache, f, pgno, order);
}

/* The first touch since it was read, or could not go. */
static noinline void touch_first_time(struct hipec_cache *cache, u32 h, bool write)
{
	struct hipec_container *c = cache->c;
	bool stayed = c->core.vm.page[h].flags & HIPEC_FOLIO_REFUSED;
	u32 pgno = c->core.vm.page[h].pgno;

	/* Reclaim may have taken this very page, which could not go: its Remove comes first. */
	hipec_core_catch_up(&c->core);
	hipec_evict_list_del(cache, h);
	hipec_core_activate(&c->core, h);
	hipec_event_added(c, pgno);
	if (stayed) {
		hipec_core_restored(&c->core, pgno, true);
		c->core.counters.hits++;
	} else {
		hipec_window_judge(cache, true);
		hipec_core_added(&c->core, pgno, false);
		c->core.counters.pages_in += hipec_folio_pages(&c->core.vm, h);
	}
	hipec_sample_note(c, HIPEC_SAMPLE_FAULT, pgno, write);
	hipec_core_fault(&c->core, h, write);
	hipec_event_access(c, pgno, write, !stayed);
}

static __always_inline bool is_write(enum hipec_touch how)
{
	return how == HIPEC_BY_WRITE || how == HIPEC_BY_STORE;
}

static __always_inline void touch_entry(struct hipec_cache *cache, u32 h, enum hipec_touch how)
{
	struct hipec_container *c = cache->c;
	struct hipec_page *page = &c->core.vm.page[h];
	bool write = is_write(how);
	u32 pgno = page->pgno;

	if (unlikely(page->flags & HIPEC_FOLIO_VICTIM)) {
		touch_first_time(cache, h, write);
	} else if (how == HIPEC_BY_AROUND && page->flags & HIPEC_FOLIO_AROUND) {
		return;
	} else if (hipec_page_live(&c->core.vm, h)) {
		c->core.counters.hits++;
		hipec_sample_note(c, HIPEC_SAMPLE_SOFT, pgno, write);
		if (unlikely(c->league) && hipec_league_is_orphan(&c->core, h))
			hipec_core_fault(&c->core, h, write);
		else
			hipec_core_access(&c->core, h, write);
		hipec_event_access(c, pgno, write, false);
	} else if (hipec_core_is_chosen(&c->core, h)) {
		c->core.counters.hits++;
		hipec_core_spare(&c->core, h, write);
		hipec_event_access(c, pgno, write, false);
	}
	if (page->pgno == pgno && hipec_page_live(&c->core.vm, h))
		page->flags |= HIPEC_FOLIO_REF |
			       (how == HIPEC_BY_AROUND ? HIPEC_FOLIO_AROUND : 0);
}

/**
 * hipec_cache_touched() - pages of a file were touched, one after the other
 * @cache: cache
 * @pgno:  the first; its file may have been let go
 * @nr:    pages
 * @how:   they were touched
 *
 * Context: expects c->lock; hipec_cache_settle() is owed; may sleep.
 */
void hipec_cache_touched(struct hipec_cache *cache, u32 pgno, u32 nr,
			 enum hipec_touch how)
{
	struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
	struct hipec_vm *vm = &cache->c->core.vm;
	u32 end = pgno + nr, first = pgno, h;

	while (f && pgno < end) {
		/* What a task that is killed has touched is not heard of; what it wrote is looked for. */
		if (pgno - first >= TOUCHES_AT_ONCE || (unlikely(cache->c->slice) && pgno != first)) {
			first = pgno;
			if (hipec_core_pause(&cache->c->core)) {
				if (how == HIPEC_BY_WRITE)
					hipec_cache_lose(f, 0);
				break;
			}
		}
		h = hipec_page_find(vm, pgno);
		if (unlikely(!h || hipec_is_victim(cache, h)))
			h = hipec_cache_entry(f, pgno) ?: adopt_page(cache, f, pgno, is_write(how));
		if (unlikely(!h)) {
			/* It has gone before the policy hears of it: the league plays it. */
			hipec_event_access(cache->c, pgno++, is_write(how), false);
			continue;
		}
		pgno = vm->page[h].pgno + hipec_folio_pages(vm, h);
		touch_entry(cache, h, how);
	}
	hipec_evict_victims_many(cache);
}
