// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file is taken: its container's policy decides which of its folios go. A mark of
 * fsnotify holds the inode, and tells when it goes: by umount, or because nobody has
 * the file any more and it has no name. So no file is held open.
 *
 * A file that is let go is found no more, and its inode may go at once: whoever unlinks it waits
 * for no policy. Its entries are forgotten later, by a work of its container (hipec_file_bury()).
 *
 * Interface:
 * hipec_file_refusal()   why a file is not taken
 * hipec_file_take()      take it
 * hipec_file_take_new()  take one that has come into a directory, or is opened
 * hipec_file_release()   let go of one
 * hipec_file_code()      work: let go of those that turned out to be code
 * hipec_file_bury()      nothing is left of those that were let go
 */
#include <linux/fsnotify_backend.h>
#include <linux/hashtable.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "cache.h"

/* Holds an inode for a file that is taken; lives on for a while after it. */
struct hipec_mark {
	struct fsnotify_mark mark;
	struct hipec_cfile *f;	/* under take_lock; NULL: it was let go, or is not found yet */
	bool gone;		/* under take_lock: of its own accord, before it was found */
};

static struct fsnotify_group *group;

/*
 * Nobody finds a file any more. Context: expects take_lock. hipec_inodes is to be waited for before
 * its inode goes, and bury_soon() is owed.
 */
static void let_go(struct hipec_cfile *f)
{
	struct hipec_container *c = f->cache->c;

	lockdep_assert_held(&hipec_take_lock);
	hipec_hooks_restore(f->inode);
	hipec_file_remove(f);
	list_del_rcu(&f->link);
	WRITE_ONCE(c->nr_regions, c->nr_regions - 1);
	WRITE_ONCE(f->dead, true);
	smp_mb();	/* before the flag is cleared: hipec_cache_keep_away() */
	mapping_clear_unevictable(f->inode->i_mapping);
	f->mark->f = NULL;
}

/* Context: any. The file, which is dead, is not the caller's any more; a burial is owed. */
static void add_grave(struct hipec_cfile *f)
{
	atomic_inc(&f->cache->nr_graves);
	llist_add(&f->grave, &f->cache->graves);
}

/* The same, and a worker does that. */
static void bury_soon(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	/* Somebody else may bury it, and its container end behind a grace period. */
	rcu_read_lock();
	add_grave(f);
	queue_work(hipec_wq, &cache->bury);
	rcu_read_unlock();
}

/* Nothing is left of a file. */
static void bury(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	hipec_cache_forget(f);
	mutex_lock(&cache->c->lock);
	cache->c->core.counters.outgrown -= f->outgrown;
	WRITE_ONCE(f->outgrown, false);
	cache->last = NULL;
	hipec_maps_forget(cache);
	hipec_numbers_take(f);
	mutex_unlock(&cache->c->lock);
	smp_store_release(&f->buried, true);
	wake_up_var(&f->buried);
	if (atomic_dec_and_test(&cache->nr_graves))
		wake_up_var(&cache->nr_graves);
	hipec_file_put(f);
}

/* Nothing is left of files that were let go. Context: process context, sleeps. */
void hipec_file_bury(struct hipec_cache *cache)
{
	struct hipec_cfile *f, *next;

	llist_for_each_entry_safe(f, next, llist_del_all(&cache->graves), grave)
		bury(f);
}

/* Work: likewise. */
void hipec_file_bury_work(struct work_struct *work)
{
	hipec_file_bury(container_of(work, struct hipec_cache, bury));
}

static void drop_mark(struct hipec_mark *mark)
{
	fsnotify_destroy_mark(&mark->mark, group);
	fsnotify_put_mark(&mark->mark);
}

/*
 * The inode goes, or drop_mark() was called. Whoever unlinks it has the directory locked: nothing is
 * waited for but those who look at the inode just now.
 */
static void mark_goes(struct fsnotify_mark *m, struct fsnotify_group *g)
{
	struct hipec_mark *mark = container_of(m, struct hipec_mark, mark);
	struct hipec_cfile *f;

	mutex_lock(&hipec_take_lock);
	f = mark->f;
	mark->gone = true;
	if (f)
		let_go(f);
	mutex_unlock(&hipec_take_lock);
	if (!f)
		return;
	synchronize_srcu_expedited(&hipec_inodes);
	bury_soon(f);
	fsnotify_put_mark(m);
}

static void mark_free(struct fsnotify_mark *m)
{
	kfree(container_of(m, struct hipec_mark, mark));
}

static int mark_event(struct fsnotify_mark *m, u32 mask, struct inode *inode,
		      struct inode *dir, const struct qstr *name, u32 cookie)
{
	return 0;
}

static const struct fsnotify_ops mark_ops = {
	.handle_inode_event = mark_event,
	.freeing_mark = mark_goes,
	.free_mark = mark_free,
};

/* Why a file is not taken: HIPEC_REFUSED_*. */
u32 hipec_file_refusal(const struct inode *inode)
{
	const struct address_space_operations *ops = inode->i_mapping->a_ops;

	if (!S_ISREG(inode->i_mode) && !S_ISDIR(inode->i_mode))
		return HIPEC_REFUSED_KIND;
	if (IS_DAX(inode))
		return HIPEC_REFUSED_DAX;
	if (IS_SWAPFILE(inode))
		return HIPEC_REFUSED_SWAP;
	if (inode->i_sb->s_magic == TMPFS_MAGIC)
		return HIPEC_REFUSED_TMPFS;
	if (inode->i_sb->s_magic == OVERLAYFS_SUPER_MAGIC)
		return HIPEC_REFUSED_OVERLAY;
	if (inode->i_sb->s_magic != EXT4_SUPER_MAGIC &&
	    inode->i_sb->s_magic != XFS_SUPER_MAGIC &&
	    inode->i_sb->s_magic != BTRFS_SUPER_MAGIC)
		return HIPEC_REFUSED_FILE_SYSTEM;
	if (S_ISDIR(inode->i_mode))
		return HIPEC_REFUSED_NOT;
	if (!ops->readahead || !ops->read_folio || !inode->i_fop->read_iter)
		return HIPEC_REFUSED_CACHE;
	return HIPEC_REFUSED_NOT;
}

/*
 * All that may fail, and nobody finds the file yet.
 * Context: expects take_lock. Return: 0; -EBUSY, -EOPNOTSUPP, -ENOMEM.
 */
static int make_ready(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_cfile *other = hipec_file_find(f->inode);

	lockdep_assert_held(&hipec_take_lock);
	if (other) {
		a->other = other->cache->c->id;
		return -EBUSY;
	}
	/* Somebody else has a reason for it. */
	if (mapping_unevictable(f->inode->i_mapping)) {
		a->refused = HIPEC_REFUSED_CACHE;
		return -EOPNOTSUPP;
	}
	return hipec_hooks_set(f->inode);
}

/*
 * The file is found from now on. Context: expects take_lock. Return: 1; 0: its inode goes already;
 * -EBUSY: somebody else has taken it meanwhile.
 */
static int publish(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_cfile *other = hipec_file_find(f->inode);
	struct hipec_container *c = f->cache->c;
	int ret;

	lockdep_assert_held(&hipec_take_lock);
	if (other) {
		a->other = other->cache->c->id;
		return -EBUSY;
	}
	if (f->mark->gone)
		return 0;
	/* The copies are there; whoever took it in between has given its tables back. */
	ret = hipec_hooks_set(f->inode);
	if (ret)
		return ret;
	f->mark->f = f;
	WRITE_ONCE(f->dead, false);
	hipec_file_add(f);
	list_add_tail_rcu(&f->link, &f->cache->files);
	WRITE_ONCE(c->nr_regions, c->nr_regions + 1);
	a->address = (u64)f->start << PAGE_SHIFT;
	return 1;
}

/* The inode has a mark, and the file is found. Return: 1; 0: it goes already; an errno. */
static int mark_and_publish(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_mark *mark = f->mark;
	int ret, done;

	fsnotify_init_mark(&mark->mark, group);
	mark->mark.mask = FS_DELETE_SELF;	/* one without any holds no inode */
	ret = fsnotify_add_inode_mark(&mark->mark, f->inode, 0);
	mutex_lock(&hipec_take_lock);
	/* One that another container, or this one, has just let go of may have its mark still. */
	done = ret == -EEXIST ? -EBUSY : ret ?: publish(f, a);
	if (done <= 0 && !hipec_file_find(f->inode))
		hipec_hooks_restore(f->inode);
	mutex_unlock(&hipec_take_lock);
	if (done > 0)
		return done;
	if (!ret)
		fsnotify_destroy_mark(&mark->mark, group);
	fsnotify_put_mark(&mark->mark);
	return done;
}

/*
 * A file may have much more in memory than the budget. What is too much goes before its
 * folios get entries, from its first page on, as it would then: all misses of the
 * container wait for c->lock, and so they wait for no more than a budget's entries. A
 * batch of which somebody has a page locked is left to the policy.
 */
static void trim(struct hipec_cfile *f)
{
	struct address_space *mapping = f->inode->i_mapping;	/* the caller holds it */
	struct folio_batch batch;
	pgoff_t next = 0, first, last = 0;
	long more;
	u32 i;

	folio_batch_init(&batch);
	for (;;) {
		more = READ_ONCE(mapping->nrpages) - hipec_core_held(&f->cache->c->core);
		if (more <= 0 || fatal_signal_pending(current) || !filemap_get_folios(mapping, &next, f->nr - 1, &batch))
			break;
		first = batch.folios[0]->index;
		for (i = 0; i < folio_batch_count(&batch) && more > 0; i++) {
			more -= folio_nr_pages(batch.folios[i]);
			last = folio_next_index(batch.folios[i]) - 1;
		}
		folio_batch_release(&batch);
		if (!mapping_mapped(mapping) ||
		    (!hipec_locked(mapping, first, last + 1 - first, true) &&
		     hipec_unmap(mapping, first, last + 1 - first)))
			invalidate_mapping_pages(mapping, first, last);
		cond_resched();
	}
}

/* Tables, and nobody finds the file yet. Return: 0; as hipec_cache_take(). */
static int prepare(struct hipec_cfile *f, struct hipec_take *a)
{
	unsigned int nofs = memalloc_nofs_save();
	int ret;

	mutex_lock(&hipec_take_lock);
	ret = make_ready(f, a);
	mutex_unlock(&hipec_take_lock);
	memalloc_nofs_restore(nofs);
	return ret;
}

/*
 * Take @inode, which the caller holds, by @file or NULL, with what was allocated for it. Whether it
 * gets its entries @now, or by a worker: whoever makes or opens a file waits for nobody.
 */
static int take(struct hipec_cache *cache, struct inode *inode, struct file *file,
		struct hipec_cfile *f, struct hipec_mark *mark,
		struct hipec_take *a, bool now)
{
	int ret;

	f->cache = cache;
	f->inode = inode;
	f->nr = hipec_numbers_for(cache, inode);
	f->opened = a->flags & HIPEC_TAKE_CGROUP;
	f->large = mapping_large_folio_support(inode->i_mapping);
	f->writers = true;
	f->lost = true;		/* until it is searched */
	f->dead = true;		/* until it is published */
	f->mark = mark;
	atomic_set(&f->users, 2);	/* with the caller */
	ret = hipec_numbers_give(f);
	if (ret) {
		kfree(mark);
		kfree(f);
		return ret;
	}
	/* It is found by its numbers from now on, if not as anybody's. */
	atomic_inc(&cache->nr_files);
	ret = prepare(f, a);
	if (ret)
		kfree(mark);
	else
		ret = mark_and_publish(f, a);
	if (ret <= 0) {
		bury_soon(f);
		hipec_file_put(f);
		return ret;
	}
	hipec_before_hear(f, file);
	hipec_pressure_join(cache);
	if (now) {
		trim(f);
		hipec_cache_search(f);
	} else if (READ_ONCE(inode->i_mapping->nrpages)) {
		hipec_cache_lose(f, 0);
	} else {
		/* What comes is heard of. */
		WRITE_ONCE(f->lost, false);
	}
	hipec_file_put(f);
	return 0;
}

/*
 * Take @inode, by @file or NULL. The container's cgroup pays, not whoever makes the file.
 * Context and Return: as hipec_file_take_new().
 */
static int charge_and_take(struct hipec_cache *cache, struct inode *inode, struct file *file,
			   struct hipec_take *a, bool now)
{
	/* Whoever makes a file waits for no OOM killer in that cgroup. */
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	struct mem_cgroup *old = set_active_memcg(cache->c->columns.memcg);
	struct hipec_cfile *f = kzalloc(sizeof(*f), gfp);
	struct hipec_mark *mark = kzalloc(sizeof(*mark), gfp);
	int ret = -ENOMEM;

	if (f && mark) {
		ret = take(cache, inode, file, f, mark, a, now);
	} else {
		kfree(f);
		kfree(mark);
	}
	set_active_memcg(old);
	return ret;
}

/*
 * Take @inode, by @file. Context: process context, sleeps; expects no lock of ours. Return: as
 * hipec_cache_take().
 */
int hipec_file_take(struct hipec_cache *cache, struct inode *inode, struct file *file,
		    struct hipec_take *a)
{
	int ret = charge_and_take(cache, inode, file, a, true);

	if (ret != -ENOSPC && ret != -EDQUOT)
		return ret;
	/* Files that have gone may have their page numbers still. */
	hipec_file_bury(cache);
	wait_var_event_killable(&cache->nr_graves, !atomic_read(&cache->nr_graves));
	return charge_and_take(cache, inode, file, a, true);
}

/**
 * hipec_file_take_new() - take a file that has come into a directory, or is opened
 * @cache: cache, whose container the caller holds
 * @inode: regular file, held; its owner has been looked at
 * @file:  by which a cgroup's process has opened it; NULL: it came into a directory
 *
 * Context: process context, sleeps; expects no lock of ours. It waits for nobody who runs a policy.
 * Return: as hipec_cache_take().
 */
int hipec_file_take_new(struct hipec_cache *cache, struct inode *inode, struct file *file)
{
	struct hipec_take a = { .flags = file ? HIPEC_TAKE_CGROUP : 0 };

	return hipec_file_refusal(inode) ? -EOPNOTSUPP :
		charge_and_take(cache, inode, file, &a, false);
}

/* Let a file go, if nobody else does. A burial is owed. Return: whether this one has. */
static bool release(struct hipec_cfile *f)
{
	struct hipec_mark *mark = NULL;
	struct inode *inode = NULL;

	mutex_lock(&hipec_take_lock);
	if (!f->dead) {
		mark = f->mark;
		inode = hipec_inode_hold(f);
		let_go(f);
	}
	mutex_unlock(&hipec_take_lock);
	if (!mark)
		return false;
	synchronize_srcu(&hipec_inodes);
	if (inode) {
		if (f->capped)
			hipec_window_forget(inode->i_mapping);
		hipec_evictable_again(inode->i_mapping);
		hipec_inode_put(inode);
	}
	add_grave(f);
	drop_mark(mark);
	return true;
}

/* A file of @cache: that of @inode, or any, in use. Return: NULL: there is none. */
static struct hipec_cfile *get_file_of(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_cfile *f;

	mutex_lock(&hipec_take_lock);
	if (inode)
		f = hipec_file_find(inode);
	else
		f = list_first_entry_or_null(&cache->files, struct hipec_cfile, link);
	if (f && f->cache == cache)
		atomic_inc(&f->users);
	else
		f = NULL;
	mutex_unlock(&hipec_take_lock);
	return f;
}

/*
 * Let a file of @cache go: that of @inode, and its entries, or any, and hipec_file_bury() is owed.
 * Return: whether there was one. Context: process context, sleeps; expects no lock of ours.
 */
bool hipec_file_release(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_cfile *f = get_file_of(cache, inode);
	bool done;

	if (!f)
		return false;
	done = release(f);
	if (done && inode) {
		/* A worker may have it. */
		if (hipec_touch_may_tell(cache))
			hipec_file_bury(cache);
		else
			queue_work(hipec_wq, &cache->bury);
		wait_var_event_killable(&f->buried, smp_load_acquire(&f->buried));
	}
	hipec_file_put(f);
	return done || !inode;
}

/* Work: files turned out to be code; they are let go. */
void hipec_file_code(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, code);
	unsigned long slot = 0;
	struct hipec_cfile *f;

	while ((f = hipec_file_marked(cache, &slot, HIPEC_SLOT_CODE))) {
		if (READ_ONCE(f->code))
			release(f);
		hipec_file_put(f);
		slot++;
	}
	hipec_file_bury(cache);
}

int hipec_file_init(void)
{
	int ret = hipec_files_init();

	if (ret)
		return ret;
	group = fsnotify_alloc_group(&mark_ops, 0);
	if (!IS_ERR(group))
		return 0;
	hipec_files_exit();
	return PTR_ERR(group);
}

/* All files are let go. Context: process context, sleeps. */
void hipec_file_exit(void)
{
	fsnotify_wait_marks_destroyed();
	fsnotify_put_group(group);
	rcu_barrier();
	hipec_files_exit();
}
