// SPDX-License-Identifier: GPL-2.0-only
/*
 * A container of the page cache's folios: its memory, its life.
 *
 * Interface:
 * hipec_cache_host     this kind, and how a container becomes one of it, and ends
 * hipec_cache_close()  all its files are let go; _abandon(): soon
 * hipec_cache_keep(), _drop()  it lives on when its descriptor is closed
 * hipec_cache_init(), _exit()  the module's
 */
#include <linux/fsnotify_backend.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "cache.h"
#include "clean.h"

static uint cache_percent = 50;
module_param(cache_percent, uint, 0644);
MODULE_PARM_DESC(cache_percent, "percent of the machine's memory that policies of the page cache may hold together");

/* Budgets of all containers of this kind, pages. */
static atomic_long_t budgets = ATOMIC_LONG_INIT(0);

/*
 * Entries beside the budget: victims, a 64th of it at most, windows of read-ahead that come
 * before others go, and folios that cannot go. At 32 bytes an entry all are less than 0.8 %
 * of a large budget.
 */
static u32 slack_of_budget(u32 nr)
{
	return 1024 + nr / 56;
}

/* Entries of the machine's table for a budget of @nr pages. */
static u32 cache_entries(const struct hipec_policy *p, u32 nr)
{
	return hipec_vm_nr_pages(p, nr) + slack_of_budget(nr);
}

static int reserve_budget(u32 nr)
{
	unsigned long most = totalram_pages() / 100 *
			     min(READ_ONCE(cache_percent), 100u);

	if (atomic_long_add_return(nr, &budgets) <= most)
		return 0;
	atomic_long_sub(nr, &budgets);
	return -ENOSPC;
}

static int alloc_touches(struct hipec_cache *cache)
{
	cache->touches = alloc_percpu_gfp(struct hipec_touches, GFP_KERNEL_ACCOUNT);
	if (!cache->touches ||
	    !zalloc_cpumask_var(&cache->noted, GFP_KERNEL_ACCOUNT) ||
	    !zalloc_cpumask_var(&cache->told, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	return 0;
}

/**
 * hipec_cache_close() - the descriptor of a container is closed
 * @c: container; nothing if it lives on, or is of another kind
 *
 * A task that makes a file in its directory, say, may use it for a moment longer: what it has goes
 * now, and its policy is told no more.
 *
 * Context: process context, sleeps; expects no lock of ours.
 */
void hipec_cache_close(struct hipec_container *c)
{
	hipec_cache_abandon(c);
	if (c->cache && !READ_ONCE(c->cache->kept))
		hipec_cache_detach(c, -1);
}

/* The same, soon, by a worker: a task that tells its policy of much stops. Context: any. */
void hipec_cache_abandon(struct hipec_container *c)
{
	if (c->cache && !READ_ONCE(c->cache->kept))
		WRITE_ONCE(c->dying, true);
}

/*
 * What queues its works goes first: files, and the token that reclaim finds. Others that work for the
 * container come later still: its timer, its league and members that want frames of the pool. Without a
 * file they could queue @compact alone, so that is told.
 */
static void end_cache(struct hipec_container *c)
{
	struct hipec_cache *cache = c->cache;

	if (!cache)	/* it could not be loaded */
		return;
	hipec_cache_detach(c, -1);
	/* Files that other tasks had let go just before; and tasks in the middle of a miss. */
	wait_var_event(&cache->nr_files, !atomic_read(&cache->nr_files));
	hipec_pressure_leave(cache);
	mutex_lock(&c->lock);
	cache->ended = true;
	mutex_unlock(&c->lock);
	hipec_clean_end(cache);
	/* Hits that found a file just before that; and searches for one that is dirty. */
	synchronize_rcu();
	cancel_delayed_work_sync(&cache->drain);
	cancel_work_sync(&cache->code);		/* queues the next one */
	cancel_delayed_work_sync(&cache->bury);
	cancel_delayed_work_sync(&cache->search);
	cancel_delayed_work_sync(&cache->compact);
}

/* The group ends with its last mark. */
static void put_marks(struct fsnotify_group *group)
{
	if (!IS_ERR_OR_NULL(group))
		fsnotify_put_group(group);
}

/* The container has ended, or could not be loaded. */
static void free_cache(struct hipec_container *c)
{
	struct hipec_cache *cache = c->cache;

	if (!cache)
		return;
	if (c->locked)
		atomic_long_sub(c->core.nr_reserved, &budgets);
	WARN_ON_ONCE(cache->held);
	WARN_ON_ONCE(delayed_work_pending(&cache->compact));
	put_marks(cache->file_marks);
	put_marks(cache->dir_marks);
	free_percpu(cache->touches);
	free_cpumask_var(cache->noted);
	free_cpumask_var(cache->told);
	xa_destroy(&cache->slots);
	kfree(cache);
	c->cache = NULL;
}

/*
 * A container that is being loaded decides about the page cache from now on. Where several would have
 * more together than their part of the machine's memory: -ENOSPC.
 */
static int load_cache(struct hipec_container *c, u32 nr, struct hipec_text *log)
{
	struct hipec_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL_ACCOUNT);
	int ret = !cache ? -ENOMEM : c->core.pool ? 0 : reserve_budget(nr), i;

	if (ret) {
		kfree(cache);
		return ret;
	}
	if (!c->core.pool) {
		c->core.nr_frames = c->core.nr_free = nr;
		/* One that shares has it made in share.c; both are freed there. */
		c->core.taken = kcalloc(hipec_pool_most_taken(&c->core), sizeof(*c->core.taken),
					GFP_KERNEL_ACCOUNT);
	}
	c->cache = cache;
	cache->c = c;
	cache->inodes = hipec_table_inodes_of(c->user->uid);
	hipec_lockdep_init(c);
	cache->limit = c->core.nr_frames;
	cache->rest.drain = cache->rest.search = cache->rest.bury = jiffies;
	INIT_LIST_HEAD(&cache->files);
	init_llist_head(&cache->graves);
	mutex_init(&cache->slots_lock);
	INIT_LIST_HEAD(&cache->dirs);
	INIT_LIST_HEAD(&cache->cleans);
	INIT_LIST_HEAD(&cache->evicting);
	INIT_LIST_HEAD(&cache->spare);
	init_llist_head(&cache->done);
	for (i = 0; i < HIPEC_EVICTORS; i++)
		list_add(&cache->evictors[i].link, &cache->spare);
	xa_init_flags(&cache->slots, XA_FLAGS_ACCOUNT);
	xa_init_flags(&cache->tokens, XA_FLAGS_ACCOUNT);
	INIT_DELAYED_WORK(&cache->drain, hipec_drain_work);
	INIT_DELAYED_WORK(&cache->search, hipec_cache_search_lost);
	INIT_DELAYED_WORK(&cache->compact, hipec_cache_compact);
	INIT_WORK(&cache->code, hipec_file_code);
	INIT_DELAYED_WORK(&cache->bury, hipec_file_bury_work);
	ret = c->core.pool || c->core.taken ? alloc_touches(cache) : -ENOMEM;
	ret = ret ?: hipec_file_begin(cache) ?: hipec_dir_begin(cache);
	if (ret)
		free_cache(c);
	return ret;
}

static void deliver_all_touches(struct hipec_container *c)
{
	hipec_drain_all(c->cache);
	hipec_evict_victims(c->cache);
	c->core.counters.open_before = atomic_read(&c->cache->open_before);
}

/* The same by a work, if it is of this kind. Context: any. */
void hipec_cache_deliver_later(struct hipec_container *c)
{
	if (!c->cache)
		return;
	WRITE_ONCE(c->cache->hurry, true);
	mod_delayed_work(hipec_wq, &c->cache->drain, 0);
}

static void notify_wants(struct hipec_container *c)
{
	hipec_drain_wants(c->cache);
}

static u32 count_held_pages(const struct hipec_container *c)
{
	return c->cache->held;
}

static void settle_container(struct hipec_container *c)
{
	hipec_cache_settle(c->cache);
}

static void give_surplus(struct hipec_container *c)
{
	if (!c->core.vm.nr_live && (c->core.nr_surplus || !hipec_member_space(&c->core)))
		hipec_cache_give(c->cache, NULL, HIPEC_MAX_VICTIMS);
}

static void place_links(struct hipec_container *c, void *own)
{
	c->links = own;
}

/* Those without a page are counted, and nothing else. */
static void drop_frames(struct hipec_container *c)
{
	c->core.nr_frames = c->core.nr_free = c->core.nr_surplus = 0;
}

const struct hipec_host hipec_cache_host = {
	.in_place = true,
	.grows = true,
	.ref_shift = HIPEC_FOLIO_REF_SHIFT,
	.row = sizeof(struct hipec_links),
	.machine = &hipec_cache_machine,
	.engine = &hipec_cache_ops,
	.shared = &hipec_cache_shared_ops,
	.entries = cache_entries,
	.load = load_cache,
	.place = place_links,
	.end = end_cache,
	.drop = drop_frames,
	.unload = free_cache,
	.resident = count_held_pages,
	.wants = notify_wants,
	.deliver = deliver_all_touches,
	.settle = settle_container,
	.spare = give_surplus,
};

/*
 * It lives until hipec_cache_drop(), and the module with it: while that goes, no task
 * could open a file that is taken. Context: @c is in use, by a descriptor.
 */
void hipec_cache_keep(struct hipec_container *c)
{
	__module_get(THIS_MODULE);
	kref_get(&c->ref);
	WRITE_ONCE(c->cache->kept, true);
}

/**
 * hipec_cache_drop() - a container that was kept lives no longer than its users
 * @c: container, in use; nothing if it was not kept
 *
 * Context: process context, may sleep; expects no lock of ours; the caller holds the
 * module.
 */
void hipec_cache_drop(struct hipec_container *c)
{
	if (!smp_load_acquire(&c->loaded) || !c->cache || !xchg(&c->cache->kept, false))
		return;
	hipec_container_put(c);
	module_put(THIS_MODULE);
}

/**
 * hipec_cache_init() - files may be taken from now on
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM.
 */
int hipec_cache_init(void)
{
	int ret = hipec_table_init();

	if (ret)
		return ret;
	ret = hipec_pressure_init();
	if (ret)
		hipec_table_exit();
	return ret;
}

/**
 * hipec_cache_exit() - no file will be taken any more
 *
 * None ever was, or the module would stay (hooks.c).
 *
 * Context: process context, sleeps; there is no container.
 */
void hipec_cache_exit(void)
{
	fsnotify_wait_marks_destroyed();
	rcu_barrier();
	hipec_table_exit();
	hipec_pressure_exit();
}
