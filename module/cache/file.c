// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file is taken: its container's policy decides which of its folios go. A mark of
 * fsnotify holds the inode, and tells when it goes: by umount, or because the file is
 * neither open any more nor has a name. So no file is held open.
 *
 * A file that is let go is found no more, and its inode may go at once: unlink() waits
 * for no policy. Its entries are forgotten later, by a work of its container (hipec_file_bury()).
 *
 * Interface:
 * hipec_file_refusal()   why a file is not taken
 * hipec_file_attach()    take it
 * hipec_file_attach_new()  take one that has come into a directory, or is opened
 * hipec_file_detach()    let go of one
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
#include "clean.h"
#include "put.h"

/* Holds an inode for a file that is taken; lives on for a while after it. */
struct hipec_mark {
	struct fsnotify_mark mark;
	struct hipec_cfile *f;	/* under attach_lock; NULL: it was let go, or is not found yet */
	struct srcu_struct *inodes;	/* is waited for before the inode goes */
	bool gone;		/* under attach_lock: of its own accord, before it was found */
	bool waited;		/* by the task that has let the file go */
	struct hipec_put put;	/* with the inode, by the task that lets the file go */
};

/*
 * A file is found no more. Context: expects attach_lock. cache->inodes is to be waited for before
 * its inode goes, and bury_soon() is owed.
 */
static void let_go(struct hipec_cfile *f)
{
	struct hipec_container *c = f->cache->c;

	lockdep_assert_held(&hipec_attach_lock);
	hipec_hooks_restore(f->inode);
	hipec_table_remove(f);
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

	/* Another task may bury it, and its container end behind a grace period. */
	rcu_read_lock();
	add_grave(f);
	queue_delayed_work(hipec_wq, &cache->bury, 0);
	rcu_read_unlock();
}

/* Nothing is left of a file; @end: as hipec_cache_forget(). Return: false: a worker goes on later. */
static bool bury_file(struct hipec_cfile *f, unsigned long *end)
{
	struct hipec_cache *cache = f->cache;

	if (!hipec_cache_forget(f, end))
		return false;
	smp_store_release(&f->buried, true);
	smp_mb();	/* before waiters are looked for */
	wake_up_var(&f->buried);
	if (atomic_dec_and_test(&cache->nr_graves))
		wake_up_var(&cache->nr_graves);
	hipec_table_put(f);
	return true;
}

/*
 * Nothing is left of files that were let go. A worker, for which the policy hears of each page, does it
 * in slices. Context: process context, sleeps.
 */
void hipec_file_bury(struct hipec_cache *cache)
{
	unsigned long end = 0;
	struct hipec_cfile *f, *next;
	bool over = false;

	llist_for_each_entry_safe(f, next, llist_del_all(&cache->graves), grave) {
		over = over || !bury_file(f, &end);
		if (over)
			llist_add(&f->grave, &cache->graves);
	}
	if (over)
		queue_delayed_work(hipec_wq, &cache->bury,
				   hipec_rest_behind(cache->c, end, &cache->rest.bury));
}

/* Work: the same. The policy of a container that ends hears of nothing. */
void hipec_file_bury_work(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(to_delayed_work(work), struct hipec_cache, bury);
	unsigned long rest = hipec_rest_left(&cache->rest.bury);

	/* Nor are many graves looked at in vain. */
	if (!rest && mutex_is_locked(&cache->c->lock))
		rest = 1;
	if (rest == 1 || (rest && !READ_ONCE(cache->c->dying)))
		queue_delayed_work(hipec_wq, &cache->bury, rest);
	else
		hipec_file_bury(cache);
}

/*
 * The inode goes, or the mark was destroyed. unlink() has the directory locked: nothing is waited
 * for but tasks that look at the inode just now.
 */
static void mark_goes(struct fsnotify_mark *m, struct fsnotify_group *g)
{
	struct hipec_mark *mark = container_of(m, struct hipec_mark, mark);
	struct hipec_cfile *f;

	mutex_lock(&hipec_attach_lock);
	f = mark->f;
	mark->gone = true;
	if (f)
		let_go(f);
	mutex_unlock(&hipec_attach_lock);
	/* Another task may have let it go just now. */
	if (!READ_ONCE(mark->waited))
		synchronize_srcu_expedited(mark->inodes);
	if (!f)
		return;
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
 * All that may fail, while the file is not found yet.
 * Context: expects attach_lock. Return: 0; -EBUSY, -EOPNOTSUPP, -ENOMEM.
 */
static int make_ready(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_cfile *other = hipec_table_find(f->inode);

	lockdep_assert_held(&hipec_attach_lock);
	if (other) {
		a->other = other->cache->c->id;
		return -EBUSY;
	}
	/* A file system or driver has a reason for it. */
	if (mapping_unevictable(f->inode->i_mapping)) {
		a->refused = HIPEC_REFUSED_CACHE;
		return -EOPNOTSUPP;
	}
	return hipec_hooks_set(f->inode);
}

/*
 * The file is found from now on. Context: expects attach_lock. Return: 1; 0: its inode goes
 * already; -EBUSY: another task has taken it meanwhile.
 */
static int publish_file(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_cfile *other = hipec_table_find(f->inode);
	struct hipec_container *c = f->cache->c;
	int ret;

	lockdep_assert_held(&hipec_attach_lock);
	if (other) {
		a->other = other->cache->c->id;
		return -EBUSY;
	}
	if (f->mark->gone)
		return 0;
	/* The copies are there; if it was taken in between, its tables have been given back. */
	ret = hipec_hooks_set(f->inode);
	if (ret)
		return ret;
	f->mark->f = f;
	WRITE_ONCE(f->dead, false);
	hipec_table_add(f);
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

	fsnotify_init_mark(&mark->mark, f->cache->file_marks);
	mark->mark.mask = FS_DELETE_SELF;	/* one without any holds no inode */
	ret = fsnotify_add_inode_mark(&mark->mark, f->inode, 0);
	mutex_lock(&hipec_attach_lock);
	/* One that this container has just let go of may have its mark still. */
	done = ret == -EEXIST ? -EBUSY : ret ?: publish_file(f, a);
	if (done <= 0 && !hipec_table_find(f->inode))
		hipec_hooks_restore(f->inode);
	mutex_unlock(&hipec_attach_lock);
	if (done > 0)
		return done;
	if (!ret)
		fsnotify_destroy_mark(&mark->mark, f->cache->file_marks);
	fsnotify_put_mark(&mark->mark);
	return done;
}

/*
 * A file may have much more in memory than the budget. What is too much goes before its
 * folios get entries, from its first page on, as it would then: all misses of the
 * container wait for c->lock, and so they wait for no more than a budget's entries. A
 * batch with a page that is locked by mlock() is left to the policy.
 */
static void trim_file(struct hipec_cfile *f)
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
		    (!hipec_mlock_locked(mapping, first, last + 1 - first, true) &&
		     hipec_mlock_unmap(mapping, first, last + 1 - first)))
			invalidate_mapping_pages(mapping, first, last);
		cond_resched();
	}
}

/* Tables, while the file is not found yet. Return: 0; as hipec_cache_attach(). */
static int prepare_file(struct hipec_cfile *f, struct hipec_take *a)
{
	unsigned int nofs = memalloc_nofs_save();
	int ret;

	mutex_lock(&hipec_attach_lock);
	ret = make_ready(f, a);
	mutex_unlock(&hipec_attach_lock);
	memalloc_nofs_restore(nofs);
	return ret;
}

/*
 * Take @inode, which the caller holds, by @file or NULL, with what was allocated for it. Whether it
 * gets its entries @now, or by a worker: a task that makes or opens a file waits for no policy.
 */
static int attach_inode(struct hipec_cache *cache, struct inode *inode, struct file *file,
			struct hipec_cfile *f, struct hipec_mark *mark,
			struct hipec_take *a, bool now)
{
	struct hipec_clean *clean;
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
	clean = hipec_clean_get(cache, inode);
	f->clean = clean;
	mark->inodes = cache->inodes;
	atomic_set(&f->users, 2);	/* with the caller */
	ret = PTR_ERR_OR_ZERO(clean) ?: hipec_numbers_give(f, now);
	if (ret) {
		if (!IS_ERR(clean))
			hipec_clean_put(clean);
		kfree(mark);
		kfree(f);
		return ret;
	}
	/* It is found by its numbers from now on, and not by its inode. */
	atomic_inc(&cache->nr_files);
	ret = prepare_file(f, a);
	if (ret)
		kfree(mark);
	else
		ret = mark_and_publish(f, a);
	if (ret <= 0) {
		bury_soon(f);
		hipec_table_put(f);
		return ret;
	}
	if (file)
		hipec_before_hook(f, file);
	else
		hipec_before_hook_later(f);
	if (now) {
		trim_file(f);
		hipec_cache_search(f, &(unsigned long){ 0 });
	} else if (READ_ONCE(inode->i_mapping->nrpages)) {
		hipec_cache_lose(f, 0);
	} else {
		/* What comes is heard of. */
		WRITE_ONCE(f->lost, false);
	}
	hipec_table_put(f);
	return 0;
}

/*
 * Take @inode, by @file or NULL. The container's cgroup pays, not the task that makes the file.
 * Context and Return: as hipec_file_attach_new().
 */
static int charge_and_take(struct hipec_cache *cache, struct inode *inode, struct file *file,
			   struct hipec_take *a, bool now)
{
	/* A task that makes a file waits for no OOM killer in that cgroup. */
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	struct mem_cgroup *old;
	struct hipec_cfile *f;
	struct hipec_mark *mark;
	int ret = -ENOMEM;

	hipec_pressure_join(cache);	/* if not, each miss tries */
	old = set_active_memcg(cache->c->columns.memcg);
	f = kzalloc(sizeof(*f), gfp);
	mark = kzalloc(sizeof(*mark), gfp);
	if (f && mark) {
		ret = attach_inode(cache, inode, file, f, mark, a, now);
	} else {
		kfree(f);
		kfree(mark);
	}
	set_active_memcg(old);
	return ret;
}

/*
 * Take @inode, by @file. Context: process context, sleeps; expects no lock of ours. Return: as
 * hipec_cache_attach().
 */
int hipec_file_attach(struct hipec_cache *cache, struct inode *inode, struct file *file,
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
 * hipec_file_attach_new() - take a file that has come into a directory, or is opened
 * @cache: cache, whose container the caller holds
 * @inode: regular file, held; its owner has been looked at
 * @file:  by which a cgroup's process has opened it; NULL: it came into a directory
 *
 * Context: process context, sleeps; expects no lock of ours. It waits for no task that runs a
 * policy.
 * Return: as hipec_cache_attach().
 */
int hipec_file_attach_new(struct hipec_cache *cache, struct inode *inode, struct file *file)
{
	struct hipec_take a = { .flags = file ? HIPEC_TAKE_CGROUP : 0 };

	return hipec_file_refusal(inode) ? -EOPNOTSUPP :
		charge_and_take(cache, inode, file, &a, false);
}

/*
 * A file is let go by a task that may wait. Context: expects attach_lock. Return: false: another
 * one lets it go.
 */
static bool begin_release(struct hipec_cfile *f)
{
	if (f->dead)
		return false;
	f->mark->put.inode = hipec_table_hold_inode(f);
	let_go(f);
	return true;
}

/* It ends, behind a grace period. The file is in use; a burial is owed. */
static void end_release(struct hipec_cfile *f)
{
	struct hipec_mark *mark = f->mark;
	struct inode *inode = mark->put.inode;

	if (inode && f->capped)
		hipec_window_forget(inode->i_mapping);
	if (inode)
		hipec_refused_evictable(inode->i_mapping);
	add_grave(f);
	WRITE_ONCE(mark->waited, true);
	fsnotify_destroy_mark(&mark->mark, f->cache->file_marks);
	mark->put.mark = &mark->mark;
	hipec_put_inode(&mark->put, f->clean->volume);
}

/* Let a file go, if no other task does. A burial is owed. Return: whether this one has. */
static bool release_file(struct hipec_cfile *f)
{
	bool done;

	mutex_lock(&hipec_attach_lock);
	done = begin_release(f);
	mutex_unlock(&hipec_attach_lock);
	if (!done)
		return false;
	synchronize_srcu_expedited(f->cache->inodes);
	end_release(f);
	return true;
}

/* Files that wait for one grace period. */
#define RELEASED_TOGETHER 32

/* Some files of @cache are let go, if there are any. Return: whether there were. */
static bool release_some(struct hipec_cache *cache)
{
	struct hipec_cfile *released[RELEASED_TOGETHER], *f, *next;
	u32 nr = 0, i;

	mutex_lock(&hipec_attach_lock);
	list_for_each_entry_safe(f, next, &cache->files, link) {
		if (nr == RELEASED_TOGETHER)
			break;
		atomic_inc(&f->users);
		begin_release(f);	/* none of these is dead */
		released[nr++] = f;
	}
	mutex_unlock(&hipec_attach_lock);
	if (!nr)
		return false;
	synchronize_srcu_expedited(cache->inodes);
	for (i = 0; i < nr; i++) {
		end_release(released[i]);
		hipec_table_put(released[i]);
	}
	return true;
}

/* All files of @cache are let go; hipec_file_bury() is owed. Context: process context, sleeps. */
void hipec_file_detach_all(struct hipec_cache *cache)
{
	while (release_some(cache))
		cond_resched();
}

/* The file of @cache that is @inode, in use. Return: NULL: there is none. */
static struct hipec_cfile *get_file_of(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_cfile *f;

	mutex_lock(&hipec_attach_lock);
	f = hipec_table_find(inode);
	if (f && f->cache == cache)
		atomic_inc(&f->users);
	else
		f = NULL;
	mutex_unlock(&hipec_attach_lock);
	return f;
}

/*
 * Let the file of @cache go that is @inode, and its entries. Return: whether it was there. Context:
 * process context, sleeps; expects no lock of ours.
 */
bool hipec_file_detach(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_cfile *f = get_file_of(cache, inode);
	bool done;

	if (!f)
		return false;
	done = release_file(f);
	if (done) {
		/* A worker may have it. */
		if (hipec_touch_may_deliver(cache))
			hipec_file_bury(cache);
		else
			queue_delayed_work(hipec_wq, &cache->bury, 0);
		wait_var_event_killable(&f->buried, smp_load_acquire(&f->buried));
	}
	hipec_table_put(f);
	return done;
}

/* Work: files turned out to be code; they are let go. */
void hipec_file_code(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, code);
	unsigned long slot = 0;
	struct hipec_cfile *f;

	while ((f = hipec_table_marked(cache, &slot, HIPEC_SLOT_CODE))) {
		if (READ_ONCE(f->code))
			release_file(f);
		hipec_table_put(f);
		slot++;
	}
	queue_delayed_work(hipec_wq, &cache->bury, hipec_rest_left(&cache->rest.bury));
}

/*
 * Marks of a cache's files. Each has a group of its own: a group has a mutex, which is held over
 * allocations, and which unlink() and umount take for each mark. Return: 0; -ENOMEM.
 */
int hipec_file_begin(struct hipec_cache *cache)
{
	cache->file_marks = fsnotify_alloc_group(&mark_ops, FSNOTIFY_GROUP_USER);
	return PTR_ERR_OR_ZERO(cache->file_marks);
}
