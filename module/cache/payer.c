// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which memory cgroup pays for a page: that of the task which read it first, not the loader of the
 * container. A cgroup that is short gives up its own pages, and no other's. Where it pays for all of
 * a container, as is usual, those go that the built-in choice finds; else its pages are looked for,
 * entry by entry. Their share is known from a sample: a count would cost each miss and each victim
 * a look at a cgroup.
 *
 * Interface:
 * hipec_payer_pays()   whether it does, for a page
 * hipec_payer_share()  for how many of a container's
 * hipec_payer_begin(), _next(), _has_all()  look for these
 */
#include <linux/memcontrol.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "payer.h"

/* Entries that are looked at for a sample, used or not. */
#define LOOKS_OF_SAMPLE (4 * HIPEC_PAYER_SAMPLE)

/* Entries that reclaim looks at together, and of how many parts: a round is over in so many calls. */
#define LOOKS 8192
#define CALLS_OF_ROUND 64

/* Of these, entries before others may run. */
#define LOOKS_AT_ONCE 1024

/* The folio of an entry, with a reference; NULL: it has gone. Context: expects rcu_read_lock(). */
static struct folio *get_folio(struct hipec_cache *cache, u32 h)
{
	u32 pgno = cache->c->core.vm.page[h].pgno;
	struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
	struct address_space *mapping = hipec_mapping_of(f);
	struct folio *folio = mapping ? hipec_folio_at(mapping, pgno - f->start) : NULL;

	if (!folio || !folio_try_get(folio))
		return NULL;
	if (folio == hipec_folio_at(mapping, pgno - f->start))
		return folio;
	folio_put(folio);
	return NULL;
}

/* Whether an entry has a folio, and is no victim. */
static bool has_held_folio(const struct hipec_cache *cache, u32 h)
{
	return hipec_core_resident(&cache->c->core, h) ||
	       (cache->c->core.vm.page[h].flags & HIPEC_FOLIO_VICTIM && !hipec_is_victim(cache, h));
}

/* Which cgroup an entry's page is charged to: 1: @memcg, or one in it; 0: another; -1: it has gone. */
static int is_paid_by(struct hipec_cache *cache, u32 h, const struct mem_cgroup *memcg)
{
	int paid = 1;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *payer;
	struct folio *folio;

	rcu_read_lock();
	folio = get_folio(cache, h);
	payer = folio ? folio_memcg_rcu(folio) : NULL;
	paid = !folio ? -1 : payer && mem_cgroup_is_descendant(payer, (struct mem_cgroup *)memcg);
	if (folio)
		folio_put(folio);
	rcu_read_unlock();
#endif
	return paid;
}

/**
 * hipec_payer_pays() - whether a page is charged to a cgroup, or to one in it
 * @cache: cache
 * @h:     entry with a folio
 * @memcg: cgroup
 *
 * Context: expects c->lock.
 */
bool hipec_payer_pays(struct hipec_cache *cache, u32 h, const struct mem_cgroup *memcg)
{
	return is_paid_by(cache, h, memcg) > 0;
}

/**
 * hipec_payer_share() - how many of a container's pages a cgroup pays for
 * @cache: cache
 * @memcg: cgroup
 *
 * Context: expects c->lock.
 * Return: of HIPEC_PAYER_SAMPLE, about; all, if there are no pages.
 */
u32 hipec_payer_share(struct hipec_cache *cache, const struct mem_cgroup *memcg)
{
	u32 reached = cache->c->core.vm.reached, looks, seen = 0, paid = 0, h;
	int is_paid;

	for (looks = 0; reached && seen < HIPEC_PAYER_SAMPLE && looks < LOOKS_OF_SAMPLE; looks++) {
		h = 1 + reciprocal_scale(get_random_u32(), reached);
		is_paid = has_held_folio(cache, h) ? is_paid_by(cache, h, memcg) : -1;
		if (is_paid < 0)
			continue;
		seen++;
		paid += is_paid;
	}
	return seen ? paid * HIPEC_PAYER_SAMPLE / seen : HIPEC_PAYER_SAMPLE;
}

/**
 * hipec_payer_begin() - a cgroup's pages are looked for, as far as one call goes
 * @cache: cache
 * @payer: cgroup, and how far the search for it has come
 *
 * Context: expects c->lock, until it is over.
 */
void hipec_payer_begin(struct hipec_cache *cache, struct hipec_payer *payer)
{
	payer->left = max_t(u32, LOOKS, cache->c->core.vm.reached / CALLS_OF_ROUND);
}

/**
 * hipec_payer_next() - the next page that a cgroup pays for
 * @cache: cache
 * @payer: where it has come to; hipec_payer_begin() was called
 *
 * The search goes on where the last one has ended.
 *
 * Context: expects c->lock; may be rescheduled.
 * Return: entry with a folio, no victim; 0: there is none among those.
 */
u32 hipec_payer_next(struct hipec_cache *cache, struct hipec_payer *payer)
{
	u32 reached = cache->c->core.vm.reached;

	while (reached && payer->left) {
		if (!(--payer->left % LOOKS_AT_ONCE)) {
			cond_resched();
			if (fatal_signal_pending(current))
				break;
		}
		payer->looked++;
		payer->next = payer->next < reached ? payer->next + 1 : 1;
		if (has_held_folio(cache, payer->next) &&
		    hipec_payer_pays(cache, payer->next, payer->memcg))
			return payer->next;
	}
	return 0;
}

/* Whether all entries were looked at since the last page was given up. Context: expects c->lock. */
bool hipec_payer_has_all(const struct hipec_cache *cache, const struct hipec_payer *payer)
{
	return payer->looked >= cache->c->core.vm.reached;
}
