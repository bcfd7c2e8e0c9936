// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a policy and the engine ask of their host: the bits of a folio, and that it goes.
 *
 * Interface:
 * hipec_cache_machine     the machine's host
 * hipec_cache_ops      the engine's
 * hipec_bits_young()  the referenced bit in page tables
 * hipec_bits_spare()  named pages whose maps were used live again
 */
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "cache.h"
#include "clean.h"
#include "payer.h"

static struct hipec_cache *cache_of_vm(struct hipec_vm *vm)
{
	return hipec_of_vm(vm)->cache;
}

/*
 * The folio of an entry, with a reference, if it is mapped anywhere; NULL: it is not.
 * One that is mapped by whole page tables cannot be looked at page by page.
 * Context: in cache->inodes.
 */
static struct folio *get_mapped(struct hipec_cache *cache, u32 h,
				struct address_space **mapping)
{
	u32 pgno = cache->c->core.vm.page[h].pgno;
	struct hipec_cfile *f = hipec_cfile_of(cache, pgno);
	struct folio *folio;

	*mapping = hipec_mapping_of(f);
	if (!*mapping || !mapping_mapped(*mapping))
		return NULL;
	rcu_read_lock();
	folio = hipec_folio_at(*mapping, pgno - f->start);
	if (folio && (!folio_mapped(folio) || folio_test_pmd_mappable(folio) ||
		      !folio_try_get(folio)))
		folio = NULL;
	rcu_read_unlock();
	return folio;
}

/**
 * hipec_bits_young() - whether page tables have a folio's referenced bit set
 * @cache: cache; of a reset hipec_core_settle() is owed to its container
 * @h:     entry with a folio
 * @reset: reset the bits
 *
 * Context: expects c->lock; may sleep.
 * Return: whether they had; false in reclaim and of a task that is killed, as neither looks.
 */
bool hipec_bits_young(struct hipec_cache *cache, u32 h, bool reset)
{
	u16 *flags = &cache->c->core.vm.page[h].flags;
	struct address_space *mapping;
	struct folio *folio;
	bool young = false;
	int idx;

	/* Looking waits for the locks of maps; a task that is killed looks no more. */
	if (cache->in_reclaim || fatal_signal_pending(current))
		return false;
	idx = srcu_read_lock(cache->inodes);
	folio = get_mapped(cache, h, &mapping);
	if (folio) {
		young = hipec_young_walk(cache->c, mapping, folio, reset);
		*flags |= reset ? HIPEC_FOLIO_LOOKED : 0;
		folio_put(folio);
	} else {
		*flags &= ~HIPEC_FOLIO_LOOKED;
	}
	srcu_read_unlock(cache->inodes, idx);
	return young;
}

/* Move the bit of page tables into the entry. */
static void harvest_entry(struct hipec_cache *cache, u32 h)
{
	struct hipec_page *page = &cache->c->core.vm.page[h];
	bool looked = page->flags & HIPEC_FOLIO_LOOKED;

	if (hipec_bits_young(cache, h, true))
		hipec_folio_found(page, looked);
}

static bool is_entry_referenced(struct hipec_cache *cache, u32 h, u32 who)
{
	const u16 *flags = &cache->c->core.vm.page[h].flags;

	if (*flags & who << HIPEC_FOLIO_REF_SHIFT)
		return true;
	if (who != HIPEC_REF_JUDGE)
		return hipec_bits_young(cache, h, false);
	harvest_entry(cache, h);
	return *flags & who << HIPEC_FOLIO_REF_SHIFT;
}

/* Reset what @who sees; for others it stays as it is. */
static void reset_entry_referenced(struct hipec_cache *cache, u32 h, u32 who)
{
	harvest_entry(cache, h);
	cache->c->core.vm.page[h].flags &= ~(who << HIPEC_FOLIO_REF_SHIFT);
}

static bool cache_get_ref(struct hipec_vm *vm, u32 h)
{
	return is_entry_referenced(cache_of_vm(vm), h, HIPEC_REF_POLICY);
}

static void cache_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	if (on)
		vm->page[h].flags |= HIPEC_REF_POLICY << HIPEC_FOLIO_REF_SHIFT;
	else
		reset_entry_referenced(cache_of_vm(vm), h, HIPEC_REF_POLICY);
}

static bool cache_get_mod(struct hipec_vm *vm, u32 h)
{
	struct hipec_cfile *f = hipec_cfile_of(cache_of_vm(vm), vm->page[h].pgno);
	struct address_space *mapping;
	struct folio *folio;
	bool dirty;

	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	folio = mapping ? hipec_folio_at(mapping, vm->page[h].pgno - f->start) : NULL;
	dirty = folio && folio_test_dirty(folio);
	rcu_read_unlock();
	return dirty;
}

static bool cache_flush_page(struct hipec_vm *vm, u32 h)
{
	if (!cache_get_mod(vm, h))
		return false;
	hipec_clean_start(hipec_cfile_of(cache_of_vm(vm), vm->page[h].pgno)->clean);
	return true;
}

/* What is dirty is so by a write. */
static bool cache_set_mod(struct hipec_vm *vm, u32 h)
{
	return cache_get_mod(vm, h);
}

/* A page is mapped by a fault near it only. */
static bool cache_map_page(struct hipec_vm *vm, u32 h)
{
	int idx = srcu_read_lock(cache_of_vm(vm)->inodes);
	struct address_space *mapping;
	struct folio *folio = get_mapped(cache_of_vm(vm), h, &mapping);

	if (folio)
		folio_put(folio);
	srcu_read_unlock(cache_of_vm(vm)->inodes, idx);
	return folio;
}

static bool cache_unmap_page(struct hipec_vm *vm, u32 h)
{
	struct hipec_cache *cache = cache_of_vm(vm);
	struct address_space *mapping;
	struct folio *folio;
	int idx;

	/* Unmapping waits for the locks of maps. */
	if (cache->in_reclaim)
		return false;
	idx = srcu_read_lock(cache_of_vm(vm)->inodes);
	folio = get_mapped(cache, h, &mapping);
	if (folio) {
		if (!hipec_mlock_locked(mapping, folio->index, folio_nr_pages(folio), true))
			hipec_mlock_unmap(mapping, folio->index, folio_nr_pages(folio));
		folio_put(folio);
		vm->page[h].flags &= ~(HIPEC_FOLIO_AROUND | HIPEC_FOLIO_LOOKED);
	}
	srcu_read_unlock(cache_of_vm(vm)->inodes, idx);
	return folio;
}

static u32 cache_prefetch_pages(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	return 0;
}

const struct hipec_host_ops hipec_cache_machine = {
	.evict = hipec_core_evict_page,
	.flush = cache_flush_page,
	.ref = cache_get_ref,
	.mod = cache_get_mod,
	.set_ref = cache_set_ref,
	.set_mod = cache_set_mod,
	.map = cache_map_page,
	.unmap = cache_unmap_page,
	.request = hipec_core_request,
	.prefetch = cache_prefetch_pages,
	.overtime = hipec_event_overtime,
};

static bool folio_referenced(struct hipec_core *core, u32 h, u32 who)
{
	return is_entry_referenced(hipec_of_core(core)->cache, h, who);
}

static void folio_reset(struct hipec_core *core, u32 h, u32 who)
{
	reset_entry_referenced(hipec_of_core(core)->cache, h, who);
}

/*
 * It goes with others, soon; or is put aside. A page that was named, and whose map was used
 * since, stays: its policy is told when it makes room the next time.
 */
static int folio_evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	struct hipec_container *c = hipec_of_core(core);

	if (unlikely(!hipec_page_live(&core->vm, h)) && hipec_bits_young(c->cache, h, false))
		return -EBUSY;
	if (unlikely(c->cache->only) && !hipec_payer_pays(c->cache, h, c->cache->only))
		return -EBUSY;
	hipec_event_removed(c, core->vm.page[h].pgno);
	hipec_evict_add_victim(c->cache, h, true);
	return -EINPROGRESS;
}

/* Maps keep it; from now on their bits say whether it is wanted after all. */
static bool folio_name(struct hipec_core *core, u32 h)
{
	reset_entry_referenced(hipec_of_core(core)->cache, h, HIPEC_REF_ALL & ~HIPEC_REF_JUDGE);
	return true;
}

/* Whether some file may be mapped; of many files not all are looked at. */
static bool maybe_mapped(const struct hipec_cache *cache)
{
	const struct hipec_cfile *f;
	bool maybe = false;
	u32 most = 8;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &cache->files, link) {
		maybe = !most-- || mapping_mapped(f->inode->i_mapping);
		if (maybe)
			break;
	}
	rcu_read_unlock();
	return maybe;
}

/* What others had it give up goes before its lock is dropped. */
static void unlock_member(struct hipec_core *core, bool requester)
{
	if (!requester)
		hipec_evict_victims(hipec_of_core(core)->cache);
	hipec_share_unlock_member(core, requester);
}

/**
 * hipec_bits_spare() - pages that the policy named, and whose maps were used, live again
 * @cache: cache that shares
 *
 * Of each read() the engine hears anyway.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_bits_spare(struct hipec_cache *cache)
{
	struct hipec_core *core = &cache->c->core;
	u32 named[HIPEC_MAX_CHOSEN], nr = core->nr_chosen, i;

	if (!nr || !maybe_mapped(cache))
		return;
	memcpy(named, core->chosen, sizeof(named));
	for (i = 0; i < nr; i++)
		if (hipec_core_is_chosen(core, named[i]) &&
		    hipec_bits_young(cache, named[i], false))
			hipec_core_spare(core, named[i], false);
}

#define FOLIO_OPS			\
	HIPEC_CORE_OPS,			\
	.referenced = folio_referenced,	\
	.reset = folio_reset,		\
	.evict = folio_evict,		\
	.look = hipec_maps_touched

const struct hipec_core_ops hipec_cache_ops = {
	FOLIO_OPS,
};

const struct hipec_core_ops hipec_cache_shared_ops = {
	FOLIO_OPS,
	HIPEC_SHARED_OPS,
	.name = folio_name,
	.unlock = unlock_member,
};
