// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory cgroups: whose frames are whose, and what a cgroup at its limit gets back.
 *
 * All frames of a container are charged to the cgroup of the task that loaded
 * it, whoever faults. So one token on a list of that cgroup stands for all of a
 * container's frames, and they cost nothing each. When the cgroup, or one that
 * it is in, is at its limit, reclaim asks here, and the containers of that cgroup
 * that share give frames up: who has most first, by its policy. Never what is
 * reserved, nor the first frames of each.
 *
 * As in shrink.c all locks of ours are only tried. Dirty frames are charged
 * until writeback is done, and who needs memory does not try for long: so they
 * are waited for, a moment.
 *
 * Interface:
 * hipec_cgroup_init(), _exit()   the module's
 * hipec_cgroup_join(), _leave()  a container's frames are charged to a cgroup
 */
#include <linux/list_lru.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>

#include "../compat.h"
#include "frames.h"

/* How long one scan waits for writeback, jiffies. */
#define HIPEC_MOMENT (HZ / 10)

/* Frames that the largest container gives before a cgroup's containers are compared again. */
#define HIPEC_GIVEN_TOGETHER 8

/**
 * struct hipec_token - a container that shares, on its cgroup's list
 * @link: tokens
 * @c:    valid while the token is on the list
 * @busy: number of the scan that could not have a page of it, under the pool's
 *        lock
 */
struct hipec_token {
	struct list_head link;
	struct hipec_container *c;
	u64 busy;
};

static struct kmem_cache *cache;
static struct shrinker *shrinker;
static struct list_lru tokens;
static bool ready;		/* tokens is */

/* Under the pool's lock. */
static u64 scans;

/* Frames that it may lose. Any context: old when it is told. */
static u32 spare_frames_of(const struct hipec_container *c)
{
	u32 held = READ_ONCE(c->core.pool_held);

	return held > HIPEC_POOL_MIN ? held - HIPEC_POOL_MIN : 0;
}

/* What a walk over a cgroup's tokens finds. */
struct find {
	unsigned long spare;	/* frames, of all */
	unsigned long leaving;	/* frames, likewise */
	struct hipec_token *most;	/* that is not busy */
};

static enum lru_status probe_frames_token(struct list_head *item, struct list_lru_one *list,
					  spinlock_t *lock, void *arg)
{
	struct hipec_token *t = container_of(item, struct hipec_token, link);
	struct find *f = arg;
	u32 has = spare_frames_of(t->c);

	f->spare += has;
	f->leaving += READ_ONCE(t->c->core.pool_leaving);
	if (has && t->busy != scans && (!f->most || has > spare_frames_of(f->most->c)))
		f->most = t;
	return LRU_SKIP;
}

/* The token found is valid under the pool's lock. */
static struct find find_richest(struct shrink_control *sc)
{
	unsigned long nr = ULONG_MAX;
	struct find f = { 0 };

	list_lru_walk_one(&tokens, sc->nid, sc->memcg, probe_frames_token, &f, &nr);
	return f;
}

/*
 * Nobody gives while there is room for what reclaim is after, SWAP_CLUSTER_MAX:
 * then it is not this cgroup's limit that is the matter. It tells of no
 * progress, as reclaim does not count what is given here, and would ask for all.
 */
static unsigned long count_cgroup_frames(struct shrinker *s, struct shrink_control *sc)
{
	if (!(sc->gfp_mask & __GFP_FS) || !smp_load_acquire(&ready) ||
	    hipec_memory_room(sc->memcg) >= SWAP_CLUSTER_MAX)
		return 0;
	return find_richest(sc).spare;
}

/*
 * Have a container give a frame up; no policy runs here. Under the pool's lock.
 * Return: frames that left, or are about to.
 */
static u32 give_one_frame(struct hipec_container *c)
{
	struct hipec_core *core = &c->core;
	u32 had;

	if (!mutex_trylock(&c->lock))
		return 0;
	had = core->pool_held;
	if (!hipec_frame_shed(c))
		hipec_pool_give(core, false);
	had -= min(had, core->pool_held);
	hipec_share_unlock_member(core, false);
	return had;
}

/* Have frames given up for @want pages. Return: frames. */
static unsigned long give_cgroup_frames(struct shrink_control *sc, long want)
{
	unsigned long given = 0, tries;
	struct find f;
	u32 n = 0;

	if (!hipec_share_try_lock())
		return 0;
	scans++;
	for (tries = 0; want > 0 && tries < sc->nr_to_scan; tries++) {
		if (tries % HIPEC_GIVEN_TOGETHER == 0 || !n || !spare_frames_of(f.most->c))
			f = find_richest(sc);
		if (!f.most)
			break;
		n = give_one_frame(f.most->c);
		if (!n)
			f.most->busy = scans;
		given += n;
		want -= n;
	}
	hipec_share_unlock();
	return given;
}

/*
 * What leaves is waited for, once it is enough; but whom reclaim serves may hold
 * a lock that writeback needs: so not for long, and not by those who can do
 * without, as our own faults.
 */
static unsigned long scan_cgroup_frames(struct shrinker *s, struct shrink_control *sc)
{
	long want = SWAP_CLUSTER_MAX - hipec_memory_room(sc->memcg) - find_richest(sc).leaving;
	unsigned long given = give_cgroup_frames(sc, want);
	unsigned long leaving = find_richest(sc).leaving;

	if (leaving && hipec_memory_room(sc->memcg) <= 0 &&
	    !(sc->gfp_mask & __GFP_NORETRY) && !current_is_kswapd() &&
	    !fatal_signal_pending(current))
		given += wait_event_timeout(hipec_frames_gave,
					    hipec_memory_room(sc->memcg) > 0 ||
					    find_richest(sc).leaving < leaving,
					    HIPEC_MOMENT) != 0;
	return given ?: SHRINK_STOP;
}

/**
 * hipec_cgroup_join() - charge a container's frames to the caller's cgroup
 * @c:     container without frames
 * @share: its cgroup's limit may take them
 *
 * Context: process context, may sleep; nobody else uses @c.
 * Return: 0; -ENOMEM.
 */
int hipec_cgroup_join(struct hipec_container *c, bool share)
{
	struct hipec_token *t;

	c->core.denied = 0;
	c->frames.cgroup = get_mem_cgroup_from_mm(current->mm);
	if (!share)
		return 0;
	t = kmem_cache_alloc_lru(cache, &tokens, GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	INIT_LIST_HEAD(&t->link);
	t->c = c;
	t->busy = 0;
	c->frames.token = t;
	list_lru_add_obj(&tokens, &t->link);
	return 0;
}

/**
 * hipec_cgroup_leave() - forget a container's cgroup
 * @c: container without frames; nothing if it did not join
 *
 * Context: process context; expects the pool's lock.
 */
void hipec_cgroup_leave(struct hipec_container *c)
{
	if (c->frames.token) {
		list_lru_del_obj(&tokens, &c->frames.token->link);
		kmem_cache_free(cache, c->frames.token);
		c->frames.token = NULL;
	}
	mem_cgroup_put(c->frames.cgroup);
	c->frames.cgroup = NULL;
}

/**
 * hipec_cgroup_init() - answer the pressure in cgroups from now on
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM.
 */
int hipec_cgroup_init(void)
{
	cache = KMEM_CACHE(hipec_token, SLAB_ACCOUNT);
	if (!cache)
		return -ENOMEM;
	shrinker = shrinker_alloc(SHRINKER_MEMCG_AWARE, "hipec-cgroup");
	if (!shrinker)
		goto no_shrinker;
	shrinker->count_objects = count_cgroup_frames;
	shrinker->scan_objects = scan_cgroup_frames;
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
	kmem_cache_destroy(cache);
	return -ENOMEM;
}

/* No more. Context: process context, sleeps until a scan that runs is over. */
void hipec_cgroup_exit(void)
{
	shrinker_free(shrinker);
	list_lru_destroy(&tokens);
	kmem_cache_destroy(cache);
}
