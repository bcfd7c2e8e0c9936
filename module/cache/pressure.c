// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not there: a cgroup at its limit, and a machine that is short.
 *
 * The kernel's own reclaim leaves the files of a cache alone, so a limit below the
 * budget would be an OOM kill. First, a miss makes room before that: the budget is
 * never more than what its cgroup leaves (hipec_budget_limit()). Second, for what
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
#include "payer.h"

/* Tries in a row that free nothing before a cache's files are left to the kernel. */
#define SURRENDER_TRIES 3

/* Ticks for which a container is not asked that has no page of the cgroup's. */
#define NONE_TICKS HZ

/*
 * Of a cgroup and a cache. It lives as long as the container; or until its cgroup has gone, and reclaim
 * finds that the one above has another.
 */
struct hipec_cache_token {
	struct list_head link;
	struct hipec_cache *cache;
	u64 id;				/* of the cgroup that it was made for */
	struct hipec_payer payer;	/* by the reclaimer that has set cache->scanned */
	unsigned long none_until;	/* jiffies, until which it is passed over; no lock */
};

static struct kmem_cache *slab;
static struct shrinker *shrinker;
static struct list_lru tokens;
static bool ready;		/* tokens is */
static DEFINE_MUTEX(scan_lock);	/* a cache on the list does not go; held for a look at it */

/*
 * Pages that a cache is asked for: those that are held, or owed. A file may have others, which a file
 * system has read by itself, without a note: they can be surrendered.
 */
static unsigned long pages_to_ask_for(const struct hipec_cache *cache)
{
	return READ_ONCE(cache->held) + atomic_read(&cache->owed) +
	       (!READ_ONCE(cache->surrendered) && atomic_read(&cache->nr_files));
}

/* Whether @cache has nothing to be asked for: no pages, or the kernel has got them all. */
static bool is_spent(const struct hipec_cache *cache)
{
	return !pages_to_ask_for(cache) ||
	       (READ_ONCE(cache->surrendered) && READ_ONCE(cache->vain) > SURRENDER_TRIES);
}

/* Whether to ask @a rather than @b: a cache whose lock is held cannot be asked. */
static bool is_better(const struct hipec_cache *a, const struct hipec_cache *b)
{
	bool busy_a = mutex_is_locked(&a->c->lock), busy_b = mutex_is_locked(&b->c->lock);

	return busy_a != busy_b ? busy_b : READ_ONCE(a->held) > READ_ONCE(b->held);
}

struct find {
	struct hipec_cache_token *best;	/* of a cache that is not busy, and has most pages */
	u64 id;				/* of the cgroup whose list it is; 0: there are none */
	u64 round;			/* no other look has it */
	struct list_head spare;		/* tokens that are to go */
};

/*
 * Whether a token is of a cgroup below that has gone, and of a cache that has another such on this list.
 * As many cgroups as have come and gone would be looked through in each reclaim.
 */
static bool is_spare(const struct find *f, const struct hipec_cache_token *t)
{
	/* The reclaimer that has set @scanned may use it. */
	if (!f->id || t->id == f->id || READ_ONCE(t->cache->scanned))
		return false;
	if (t->cache->looked_at == f->round)
		return true;
	t->cache->looked_at = f->round;
	return false;
}

static enum lru_status probe_cache_token(struct list_head *item, struct list_lru_one *list,
					 spinlock_t *lock, void *arg)
{
	struct find *f = arg;
	struct hipec_cache_token *t = container_of(item, struct hipec_cache_token, link);

	if (is_spare(f, t)) {
		list_lru_isolate_move(list, item, &f->spare);
		return LRU_REMOVED;
	}
	/* One that ends gives all that it has. */
	if (kref_read(&t->cache->c->ref) && !is_spent(t->cache) && time_after_eq(jiffies, READ_ONCE(t->none_until)) &&
	    (!f->best || is_better(t->cache, f->best->cache)))
		f->best = t;
	return LRU_SKIP;
}

/* Context: expects scan_lock: a cache that was found on one node's list does not go. */
static struct hipec_cache_token *find_best_cache(struct mem_cgroup *memcg)
{
	static u64 round;
	struct find f = { .round = ++round, .spare = LIST_HEAD_INIT(f.spare) };
	struct hipec_cache_token *t, *next;
	int nid;

#ifdef CONFIG_MEMCG
	f.id = memcg ? cgroup_id(memcg->css.cgroup) : 0;
#endif

	lockdep_assert_held(&scan_lock);
	for_each_online_node(nid) {
		unsigned long nr = ULONG_MAX;

		list_lru_walk_one(&tokens, nid, memcg, probe_cache_token, &f, &nr);
	}
	list_for_each_entry_safe(t, next, &f.spare, link) {
		xa_erase(&t->cache->tokens, t->id);
		kmem_cache_free(slab, t);
	}
	return f.best;
}

/*
 * The token of @memcg whose cache is to give pages, with a reference to the container and cache->scanned
 * set. NULL: there is none; or @busy: another reclaimer has set that.
 */
static struct hipec_cache_token *get_best(struct mem_cgroup *memcg, bool *busy)
{
	struct hipec_cache_token *t;

	mutex_lock(&scan_lock);
	*busy = false;
	t = find_best_cache(memcg);
	if (t && !kref_get_unless_zero(&t->cache->c->ref))
		t = NULL;
	if (t && xchg(&t->cache->scanned, true)) {
		*busy = true;
		hipec_container_put_later(t->cache->c);
		t = NULL;
	}
	mutex_unlock(&scan_lock);
	return t;
}

/* A cache is valid as long as the lock of the list that it is on is held. */
static enum lru_status add_held(struct list_head *item, struct list_lru_one *list,
				spinlock_t *lock, void *held)
{
	*(unsigned long *)held += pages_to_ask_for(container_of(item, struct hipec_cache_token, link)->cache);
	return LRU_SKIP;
}

/* Pages of all caches of @memcg. */
static unsigned long held_in(struct mem_cgroup *memcg)
{
	unsigned long held = 0;
	int nid;

	for_each_online_node(nid) {
		unsigned long nr = ULONG_MAX;

		list_lru_walk_one(&tokens, nid, memcg, add_held, &held, &nr);
	}
	return held;
}

static unsigned long count_cache_pages(struct shrinker *s, struct shrink_control *sc)
{
	if (!smp_load_acquire(&ready) ||
	    (hipec_memory_room(sc->memcg) >= HIPEC_PRESSURE_ENOUGH && !hipec_budget_is_short()))
		return 0;
	return held_in(sc->memcg);
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

/*
 * Have a cache give pages up that @payer pays for; NULL: any cgroup does. No policy runs here.
 * Context: expects cache->scanned. Return: pages that are free now; 0 also if a task has the
 * container's lock.
 */
static unsigned long give_pages(struct hipec_cache *cache, struct hipec_payer *payer, u32 want,
				bool may_wait)
{
	unsigned long given;

	if (!mutex_trylock(&cache->c->lock))
		return 0;
	/* Unmapping may wait for locks that the caller has; what is mapped cannot go then. */
	cache->in_reclaim = !may_wait;
	given = hipec_cache_give(cache, payer,
				 may_wait ? want : min_t(u32, want, HIPEC_MAX_VICTIMS));
	cache->in_reclaim = false;
	mutex_unlock(&cache->c->lock);
	return given;
}

/* One try in a tick is counted: reclaimers side by side meet the lock that a miss has for a moment. */
static void note_vain(struct hipec_cache *cache)
{
	if (cache->vain_at != jiffies && cache->vain < SURRENDER_TRIES)
		WRITE_ONCE(cache->vain, cache->vain + 1);
	cache->vain_at = jiffies;
}

/*
 * Nothing was given. Where a search for a cgroup's pages goes on, that says nothing; where all entries
 * were looked at, and none is its, it is passed over for a while. Else the try was in vain: pages may
 * be there that cannot go, or have no entry yet. @looked: entries before.
 */
static void note_none(struct hipec_cache_token *t, struct hipec_payer *payer, u32 looked)
{
	if (!payer || payer->looked == looked || payer->seen || atomic_read(&t->cache->owed)) {
		note_vain(t->cache);
	} else if (hipec_payer_has_all(t->cache, payer)) {
		WRITE_ONCE(t->none_until, jiffies + NONE_TICKS);
		payer->looked = 0;
	}
}

/*
 * The same, or its files are the kernel's, if that was in vain too often. Context: expects
 * cache->scanned. Return: pages that are free now, or that reclaim finds on its lists.
 */
static unsigned long give_or_surrender(struct hipec_cache_token *t, struct hipec_payer *payer,
				       u32 want, bool may_wait)
{
	struct hipec_cache *cache = t->cache;
	u32 looked = payer ? payer->looked : 0;
	unsigned long given = 0;

	/* A miss has taken the files back. */
	if (cache->vain >= SURRENDER_TRIES && !READ_ONCE(cache->surrendered) &&
	    cache->vain_at != jiffies)
		WRITE_ONCE(cache->vain, 0);
	if (cache->vain < SURRENDER_TRIES) {
		given = give_pages(cache, payer, want, may_wait);
		if (given) {
			WRITE_ONCE(cache->vain, 0);
			return given;
		}
		note_none(t, payer, looked);
	}
	if (cache->vain < SURRENDER_TRIES)
		return 0;
	given = hipec_surrender_more(cache);
	WRITE_ONCE(cache->vain, given ? SURRENDER_TRIES : SURRENDER_TRIES + 1);
	return given;
}

static unsigned long scan_caches(struct shrinker *s, struct shrink_control *sc)
{
	long want = HIPEC_PRESSURE_ENOUGH - hipec_memory_room(sc->memcg);
	struct hipec_cache_token *t;
	struct hipec_cache *cache;
	unsigned long given = 0;
	bool whoever = !sc->memcg, busy;

	if (hipec_budget_is_short()) {
		want = max_t(long, want, sc->nr_to_scan);
		whoever = true;
	}
	if (want <= 0)
		return SHRINK_STOP;
	t = get_best(sc->memcg, &busy);
	/* What another reclaimer has it give is of use here as well. */
	if (!t)
		return busy ? wait_for_holder() : SHRINK_STOP;
	cache = t->cache;
	t->payer.memcg = sc->memcg;
	given = give_or_surrender(t, whoever ? NULL : &t->payer, min_t(long, want, 1024),
				  sc->gfp_mask & __GFP_FS);
	smp_store_release(&cache->scanned, false);	/* the token may go */
	hipec_container_put_later(cache->c);
	return given ?: wait_for_holder();
}

#ifdef CONFIG_MEMCG
/*
 * The token of @memcg is found by @id. What finds it is the container's, if its cgroup has memory
 * for that at once; else it is the cgroup's own that is to have folios: it must not be without one.
 */
static int find_by(struct hipec_cache *cache, struct mem_cgroup *memcg, u64 id,
		   struct hipec_cache_token *t, gfp_t gfp)
{
	int ret;

	set_active_memcg(cache->c->columns.memcg);
	ret = xa_insert(&cache->tokens, id, t, GFP_NOWAIT | __GFP_NOWARN);
	set_active_memcg(memcg);
	if (ret == -ENOMEM)
		ret = xa_insert(&cache->tokens, id, t, gfp);
	return ret;
}

/*
 * The cache is on @memcg's list, which the caller holds; NULL: there are no cgroups, and one token
 * is all processes'. Return: whether it is.
 */
static bool join_memcg(struct hipec_cache *cache, struct mem_cgroup *memcg, u64 id, gfp_t gfp)
{
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct hipec_cache_token *t;
	int ret = -ENOMEM;

	gfp |= GFP_NOFS | __GFP_NOWARN;
	t = kmem_cache_alloc_lru(slab, &tokens, gfp | __GFP_ACCOUNT);
	if (t) {
		*t = (struct hipec_cache_token){ .cache = cache, .id = id, .none_until = jiffies };
		INIT_LIST_HEAD(&t->link);
		ret = find_by(cache, memcg, id, t, gfp);
	}
	set_active_memcg(old);
	if (!ret)
		list_lru_add_obj(&tokens, &t->link);
	else if (t)
		kmem_cache_free(slab, t);
	return !ret || ret == -EBUSY;
}

/*
 * The cgroup that is charged for what the current task reads, as the kernel finds it: of a worker
 * of loop's, that of whose request it is. Context: expects rcu_read_lock().
 */
static struct mem_cgroup *charged_memcg(void)
{
	struct task_struct *owner = current;

	if (current->active_memcg)
		return current->active_memcg;
	if (current->mm)
		owner = rcu_dereference(current->mm->owner);
	return owner ? mem_cgroup_from_task(owner) : NULL;
}
#endif

/**
 * hipec_pressure_join() - the current task's cgroup is about to have folios
 * @cache: cache
 *
 * Context: process context; does not enter file systems; expects no lock of ours.
 * Return: false if there is no memory for that: only the kernel could take the folios.
 */
bool hipec_pressure_join(struct hipec_cache *cache)
{
	bool joined = true;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;
	u64 id;

	rcu_read_lock();
	memcg = charged_memcg();
	id = memcg ? cgroup_id(memcg->css.cgroup) : 0;
	rcu_read_unlock();
	if (!memcg || id == READ_ONCE(cache->last_memcg))
		return true;
	if (!xa_load(&cache->tokens, id)) {
		memcg = get_mem_cgroup_from_mm(NULL);
		if (memcg)
			id = cgroup_id(memcg->css.cgroup);
		joined = join_memcg(cache, memcg, id, 0);
		mem_cgroup_put(memcg);
	}
	if (joined)
		WRITE_ONCE(cache->last_memcg, id);
#endif
	return joined;
}

/**
 * hipec_pressure_join_owner() - the cgroup of a folio has it, not its reader's
 * @cache: cache
 * @folio: in the page cache; the caller holds it
 *
 * Context: as hipec_pressure_join().
 * Return: as hipec_pressure_join().
 */
bool hipec_pressure_join_owner(struct hipec_cache *cache, struct folio *folio)
{
	bool joined = true;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;
	u64 id = 0;

	rcu_read_lock();
	memcg = folio_memcg_rcu(folio);
	if (memcg)
		id = cgroup_id(memcg->css.cgroup);
	if (memcg && (xa_load(&cache->tokens, id) || !css_tryget(&memcg->css)))
		memcg = NULL;
	rcu_read_unlock();
	if (!memcg)
		return true;
	/* It is another task's cgroup: nothing there is killed for our token. */
	joined = join_memcg(cache, memcg, id, __GFP_NORETRY);
	mem_cgroup_put(memcg);
#endif
	return joined;
}

/* A cache goes. Context: process context, may sleep; expects no lock of ours. */
void hipec_pressure_leave(struct hipec_cache *cache)
{
	struct hipec_cache_token *t;
	unsigned long id = 0;

	do {
		mutex_lock(&scan_lock);
		t = xa_find(&cache->tokens, &id, ULONG_MAX, XA_PRESENT);
		if (t) {
			xa_erase(&cache->tokens, id);
			list_lru_del_obj(&tokens, &t->link);
			kmem_cache_free(slab, t);
		}
		mutex_unlock(&scan_lock);
		cond_resched();
	} while (t);
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
	shrinker->count_objects = count_cache_pages;
	shrinker->scan_objects = scan_caches;
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
