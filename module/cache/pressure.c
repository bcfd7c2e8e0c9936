// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not there: a cgroup at its limit, and a machine that is short.
 *
 * The kernel's own reclaim leaves the files of a cache alone, so a limit below the
 * budget would be an OOM kill. First, a miss makes room before that: the budget is
 * never more than what its cgroup leaves (hipec_pressure_limit()). Second, for what
 * others in the cgroup allocate, reclaim asks here: a token on a list of each cgroup
 * that reads or writes stands for the cache's folios.
 *
 * As in frames/cgroup.c, all locks of ours are only tried in reclaim.
 *
 * Interface:
 * hipec_pressure_init(), _exit()   the module's
 * hipec_pressure_join(), _leave()  a cgroup has folios of a cache; a cache goes
 */
#include <linux/cgroup.h>
#include <linux/list_lru.h>
#include <linux/memcontrol.h>
#include <linux/nodemask.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "cache.h"

/* Reclaim in a cgroup stops as soon as it has so many. */
#define ENOUGH 128

/* The machine is short if less than one of so many parts is available. */
#define SHORT_PART 32

struct hipec_cache_token {
	struct list_head link;
	struct hipec_cache *cache;
};

static struct kmem_cache *slab;
static struct shrinker *shrinker;
static struct list_lru tokens;
static bool ready;		/* tokens is */
static DEFINE_MUTEX(scan_lock);	/* a cache on the list does not go */

static bool is_short(void)
{
	return si_mem_available() < totalram_pages() / SHORT_PART;
}

/* Whether to ask @a rather than @b: a cache whose lock is held cannot be asked. */
static bool is_better(const struct hipec_cache *a, const struct hipec_cache *b)
{
	bool busy_a = mutex_is_locked(&a->c->lock), busy_b = mutex_is_locked(&b->c->lock);

	return busy_a != busy_b ? busy_b : READ_ONCE(a->held) > READ_ONCE(b->held);
}

struct find {
	unsigned long held;
	struct hipec_cache *best;	/* not busy, and with most pages */
};

static enum lru_status look(struct list_head *item, struct list_lru_one *list,
			    spinlock_t *lock, void *arg)
{
	struct find *f = arg;
	struct hipec_cache *cache =
		container_of(item, struct hipec_cache_token, link)->cache;

	f->held += READ_ONCE(cache->held);
	if (!f->best || is_better(cache, f->best))
		f->best = cache;
	return LRU_SKIP;
}

/* The cache is valid under scan_lock. */
static struct find find(struct mem_cgroup *memcg)
{
	struct find f = { 0 };
	int nid;

	for_each_online_node(nid) {
		unsigned long nr = ULONG_MAX;

		list_lru_walk_one(&tokens, nid, memcg, look, &f, &nr);
	}
	return f;
}

static unsigned long count(struct shrinker *s, struct shrink_control *sc)
{
	if (!smp_load_acquire(&ready) ||
	    (hipec_memcg_room(sc->memcg) >= ENOUGH && !is_short()))
		return 0;
	return find(sc->memcg).held;
}

/*
 * Another task holds the lock, mostly to evict. Reclaim that frees nothing some 16 times in a
 * row calls the OOM killer: so give that task a tick.
 */
static unsigned long wait_for_holder(void)
{
	if (!current_is_kswapd())
		schedule_timeout_killable(1);
	return SHRINK_STOP;
}

static unsigned long scan(struct shrinker *s, struct shrink_control *sc)
{
	long want = ENOUGH - hipec_memcg_room(sc->memcg);
	struct hipec_cache *cache;
	unsigned long given;

	if (is_short())
		want = max_t(long, want, sc->nr_to_scan);
	if (want <= 0)
		return SHRINK_STOP;
	if (!mutex_trylock(&scan_lock))
		return wait_for_holder();
	cache = find(sc->memcg).best;
	if (!cache || !mutex_trylock(&cache->c->lock)) {
		mutex_unlock(&scan_lock);
		return cache ? wait_for_holder() : SHRINK_STOP;
	}
	/* Unmapping may wait for locks that the caller has. */
	cache->in_reclaim = !(sc->gfp_mask & __GFP_FS);
	given = hipec_cache_give(cache, min_t(long, want, 1024));
	cache->in_reclaim = false;
	mutex_unlock(&cache->c->lock);
	mutex_unlock(&scan_lock);
	return given ?: SHRINK_STOP;
}

/**
 * hipec_pressure_join() - the current task's cgroup is about to have folios
 * @cache: cache
 *
 * Context: process context; does not enter file systems; expects no lock of ours.
 */
void hipec_pressure_join(struct hipec_cache *cache)
{
#ifdef CONFIG_MEMCG
	struct hipec_cache_token *t;
	struct mem_cgroup *memcg, *old;
	u64 id;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	id = memcg ? cgroup_id(memcg->css.cgroup) : 0;
	rcu_read_unlock();
	if (!memcg || id == READ_ONCE(cache->last_memcg))
		return;
	if (xa_load(&cache->tokens, id)) {
		WRITE_ONCE(cache->last_memcg, id);
		return;
	}
	memcg = get_mem_cgroup_from_mm(current->mm);
	id = cgroup_id(memcg->css.cgroup);
	old = set_active_memcg(memcg);
	t = kmem_cache_alloc_lru(slab, &tokens,
				 GFP_NOFS | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(old);
	if (t) {
		INIT_LIST_HEAD(&t->link);
		t->cache = cache;
		if (xa_insert(&cache->tokens, id, t, GFP_NOFS | __GFP_NOWARN))
			kmem_cache_free(slab, t);
		else
			list_lru_add_obj(&tokens, &t->link);
	}
	mem_cgroup_put(memcg);
#endif
}

/* A cache goes. Context: process context, may sleep; expects no lock of ours. */
void hipec_pressure_leave(struct hipec_cache *cache)
{
	struct hipec_cache_token *t;
	unsigned long id;

	mutex_lock(&scan_lock);
	xa_for_each(&cache->tokens, id, t) {
		list_lru_del_obj(&tokens, &t->link);
		kmem_cache_free(slab, t);
	}
	mutex_unlock(&scan_lock);
	xa_destroy(&cache->tokens);
}

/**
 * hipec_pressure_init() - answer memory pressure from now on
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM.
 */
int hipec_pressure_init(void)
{
	slab = KMEM_CACHE(hipec_cache_token, SLAB_ACCOUNT);
	if (!slab)
		return -ENOMEM;
	shrinker = shrinker_alloc(SHRINKER_MEMCG_AWARE, "hipec-cache");
	if (!shrinker)
		goto no_shrinker;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
	/* In this order: its number, which the list needs, may come late. */
	shrinker_register(shrinker);
	if (list_lru_init_memcg(&tokens, shrinker))
		goto no_list;
	smp_store_release(&ready, true);
	return 0;

no_list:
	shrinker_free(shrinker);
no_shrinker:
	kmem_cache_destroy(slab);
	return -ENOMEM;
}

/* No more. Context: process context, sleeps until a scan that runs is over. */
void hipec_pressure_exit(void)
{
	shrinker_free(shrinker);
	list_lru_destroy(&tokens);
	kmem_cache_destroy(slab);
}
