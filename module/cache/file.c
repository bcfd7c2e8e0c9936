// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file is taken: its container's policy decides which of its folios go. A mark of
 * fsnotify holds the inode, and tells when it goes: by umount, or because nobody has
 * the file any more and it has no name. So no file is held open.
 *
 * Interface:
 * hipec_file_refusal()   why a file is not taken
 * hipec_file_take()      take it
 * hipec_file_take_new()  take one that has come into a directory, or is opened
 * hipec_file_release()   let go of one
 * hipec_file_code()      work: let go of those that turned out to be code
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
 * All who let files go wait for take_lock: memory for more slots than these, which have 147 KB of
 * nodes, is not waited for. A cgroup over its memory.high would have each batch of pages sleep.
 */
#define MANY_SLOTS 16384

/*
 * Page numbers for a file: behind those that were given last, so that nobody looks at
 * all files to take one more; from the lowest on if none are left there. Where that was in vain
 * it is not tried again before a file is let go, whose numbers are looked at first.
 * They are kept free for it: touches of a file that had them before find none.
 * Context: expects take_lock. Return: 0; -ENOSPC; -EDQUOT; -ENOMEM.
 */
static int give_numbers(struct hipec_cache *cache, struct hipec_cfile *f)
{
	unsigned long slots = f->nr >> HIPEC_SLOT_SHIFT, most, first, used, i;
	gfp_t gfp = slots > MANY_SLOTS ? GFP_NOWAIT | __GFP_NOWARN :
					 GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN;
	const struct hipec_cfile *other;
	bool again = false;
	int ret = 0;

	if (cache->none_of && slots >= cache->none_of)
		return -ENOSPC;
	if (!hipec_user_take_numbers(cache->c, f->nr))
		return -EDQUOT;
	most = 1ul << (32 - HIPEC_SLOT_SHIFT);
	for (first = cache->next_slot;; first = hipec_slot_behind(other)) {
		if (first + slots >= most) {
			if (again) {
				cache->none_of = slots;
				hipec_user_return_numbers(cache->c, f->nr);
				return -ENOSPC;
			}
			again = true;
			first = 0;
		}
		used = first;
		other = xa_find(&cache->slots, &used, first + slots - 1, XA_PRESENT);
		if (!other)
			break;
	}
	cache->next_slot = first + slots;
	f->start = first << HIPEC_SLOT_SHIFT;
	for (i = 0; i < slots && !ret; i++) {
		ret = xa_reserve(&cache->slots, first + i, gfp);
		if (!(i % 1024))
			cond_resched();
	}
	if (ret) {
		while (i--)
			xa_release(&cache->slots, first + i);
		hipec_user_return_numbers(cache->c, f->nr);
	}
	return ret;
}

/* What give_numbers() kept free is not needed. Context: expects take_lock. */
static void release_numbers(struct hipec_cfile *f)
{
	u32 slots = f->nr >> HIPEC_SLOT_SHIFT, i;

	for (i = 0; i < slots; i++)
		xa_release(&f->cache->slots, (f->start >> HIPEC_SLOT_SHIFT) + i);
	hipec_user_return_numbers(f->cache->c, f->nr);
}

/* The file is found by its numbers from now on. Context: expects take_lock. */
static void use_numbers(struct hipec_cfile *f)
{
	u32 slots = f->nr >> HIPEC_SLOT_SHIFT, i;
	void *old;

	for (i = 0; i < slots; i++) {
		old = xa_store(&f->cache->slots, (f->start >> HIPEC_SLOT_SHIFT) + i, f, GFP_NOFS);
		WARN_ON_ONCE(xa_is_err(old));
		if (!(i % 1024))
			cond_resched();
	}
}

/* Context: expects c->lock, since touches of a file before may still look for it. */
static void take_numbers(struct hipec_cfile *f)
{
	u32 slots = f->nr >> HIPEC_SLOT_SHIFT, i;

	lockdep_assert_held(&f->cache->c->lock);
	f->cache->last = NULL;
	if (f->cache->none_of)
		f->cache->next_slot = f->start >> HIPEC_SLOT_SHIFT;
	f->cache->none_of = 0;
	hipec_maps_forget(f->cache);
	for (i = 0; i < slots; i++)
		xa_erase(&f->cache->slots, (f->start >> HIPEC_SLOT_SHIFT) + i);
	hipec_user_return_numbers(f->cache->c, f->nr);
}

/*
 * Everything but its mark. Those who use it do not wait for us: they hold nothing that
 * is taken here. Return: its mark.
 */
static struct hipec_mark *let_go(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;
	struct inode *inode = f->inode;
	struct hipec_mark *mark = f->mark;

	lockdep_assert_held(&hipec_take_lock);
	hipec_hooks_restore(inode);
	hipec_file_remove(f);
	if (!atomic_dec_and_test(&f->users))
		wait_var_event(&f->users, !atomic_read(&f->users));
	mutex_lock(&cache->c->lock);
	hipec_cache_forget(f);
	cache->c->core.counters.outgrown -= f->outgrown;
	take_numbers(f);
	list_del(&f->link);
	cache->c->nr_regions--;
	mutex_unlock(&cache->c->lock);
	hipec_window_forget(f);
	mapping_clear_unevictable(inode->i_mapping);
	hipec_evictable_again(inode->i_mapping);
	mark->f = NULL;
	kfree_rcu(f, rcu);
	return mark;
}

static void drop_mark(struct hipec_mark *mark)
{
	fsnotify_destroy_mark(&mark->mark, group);
	fsnotify_put_mark(&mark->mark);
}

/* The inode goes, or drop_mark() was called. */
static void mark_goes(struct fsnotify_mark *m, struct fsnotify_group *g)
{
	struct hipec_mark *mark = container_of(m, struct hipec_mark, mark);
	bool ours;

	mutex_lock(&hipec_take_lock);
	ours = mark->f;
	mark->gone = true;
	if (ours)
		let_go(mark->f);
	mutex_unlock(&hipec_take_lock);
	if (ours)
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
 * So many files have ROOMY_PAGES page numbers at least: half of all that there are, and of what
 * their user may have.
 */
#define ROOMY_FILES 32768u
#define ROOMY_PAGES 65536u

/* Room to grow to twice its size. */
static u32 numbers_of(const struct hipec_cache *cache, const struct inode *inode)
{
	u64 pages = DIV_ROUND_UP((u64)i_size_read(inode), PAGE_SIZE);
	bool roomy = READ_ONCE(cache->c->nr_regions) < ROOMY_FILES &&
		     hipec_user_has_numbers(cache->c);
	u64 least = roomy ? ROOMY_PAGES : 1;

	return min_t(u64, round_up(max(2 * pages, least), HIPEC_SLOT_PAGES),
		     1u << 31);
}

/*
 * All that may fail, and nobody finds the file yet.
 * Context: expects take_lock. Return: 0; -EBUSY, -EOPNOTSUPP, -ENOSPC, -EDQUOT, -ENOMEM.
 */
static int make_ready(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_cfile *other = hipec_file_find(f->inode);
	int ret;

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
	ret = give_numbers(f->cache, f);
	if (ret)
		return ret;
	ret = hipec_hooks_set(f->inode);
	if (ret)
		release_numbers(f);
	return ret;
}

/*
 * The file is found from now on: whoever lets go of it waits for its users, and RCU frees it.
 * Context: expects take_lock. Return: false if its inode goes already.
 */
static bool publish(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_cache *cache = f->cache;

	lockdep_assert_held(&hipec_take_lock);
	if (f->mark->gone)
		return false;
	f->mark->f = f;
	use_numbers(f);
	hipec_file_add(f);
	mutex_lock(&cache->c->lock);
	list_add_tail(&f->link, &cache->files);
	cache->c->nr_regions++;
	mutex_unlock(&cache->c->lock);
	a->address = (u64)f->start << PAGE_SHIFT;
	return true;
}

/* The inode has a mark, and the file is found. Return: 1; 0: it goes already; an errno. */
static int mark_and_publish(struct hipec_cfile *f, struct hipec_take *a)
{
	struct hipec_mark *mark = f->mark;
	bool done = false;
	int ret;

	fsnotify_init_mark(&mark->mark, group);
	mark->mark.mask = FS_DELETE_SELF;	/* one without any holds no inode */
	ret = fsnotify_add_inode_mark(&mark->mark, f->inode, 0);
	mutex_lock(&hipec_take_lock);
	if (!ret)
		done = publish(f, a);
	if (!done) {
		hipec_hooks_restore(f->inode);
		release_numbers(f);
	}
	mutex_unlock(&hipec_take_lock);
	if (done)
		return 1;
	if (!ret)
		fsnotify_destroy_mark(&mark->mark, group);
	fsnotify_put_mark(&mark->mark);
	return ret;
}

/*
 * A file may have much more in memory than the budget. What is too much goes before its
 * folios get entries, from its first page on, as it would then: all misses of the
 * container wait for c->lock, and so they wait for no more than a budget's entries. A
 * batch of which somebody has a page locked is left to the policy.
 */
static void trim(struct hipec_cfile *f)
{
	struct address_space *mapping = f->inode->i_mapping;
	struct folio_batch batch;
	pgoff_t next = 0, first, last = 0;
	long more;
	u32 i;

	folio_batch_init(&batch);
	for (;;) {
		more = READ_ONCE(mapping->nrpages) - hipec_core_held(&f->cache->c->core);
		if (more <= 0 || !filemap_get_folios(mapping, &next, f->nr - 1, &batch))
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

/*
 * Each cgroup that has folios of a file charged is known, whoever reads them: where it is short, its
 * reclaim has to ask here.
 */
static void join_owners(struct hipec_cfile *f)
{
	struct folio_batch batch;
	pgoff_t next = 0;
	u32 i;

	folio_batch_init(&batch);
	while (filemap_get_folios(f->inode->i_mapping, &next, f->nr - 1, &batch)) {
		for (i = 0; i < folio_batch_count(&batch); i++)
			hipec_pressure_join_owner(f->cache, batch.folios[i]);
		folio_batch_release(&batch);
		cond_resched();
	}
}

/*
 * Take @inode, which the caller holds, by @file or NULL, with what was allocated for it.
 */
static int take(struct hipec_cache *cache, struct inode *inode, struct file *file,
		struct hipec_cfile *f, struct hipec_mark *mark,
		struct hipec_take *a)
{
	unsigned int nofs;
	int ret;

	lockdep_assert_held(&hipec_admin_lock);
	f->cache = cache;
	f->inode = inode;
	f->nr = numbers_of(cache, inode);
	f->opened = a->flags & HIPEC_TAKE_CGROUP;
	f->mark = mark;
	atomic_set(&f->users, 1);

	nofs = memalloc_nofs_save();
	mutex_lock(&hipec_take_lock);
	ret = make_ready(f, a);
	mutex_unlock(&hipec_take_lock);
	memalloc_nofs_restore(nofs);
	if (ret) {
		kfree(mark);
		kfree(f);
		return ret;
	}
	ret = mark_and_publish(f, a);
	if (ret <= 0) {
		kfree(f);
		return ret;
	}
	f = hipec_file_get(inode);
	if (!f)
		return 0;	/* it has gone again */
	hipec_before_hear(f, file);
	hipec_pressure_join(cache);
	trim(f);
	join_owners(f);
	mutex_lock(&cache->c->lock);
	f->writers = true;
	hipec_cache_keep_away(f);
	hipec_cache_search(f);
	mutex_unlock(&cache->c->lock);
	hipec_file_put(f);
	return 0;
}

/*
 * Take @inode, by @file or NULL. The container's cgroup pays, not whoever makes the file.
 * Context and Return: as hipec_file_take_new().
 */
int hipec_file_take(struct hipec_cache *cache, struct inode *inode, struct file *file,
		    struct hipec_take *a)
{
	/* Whoever makes a file waits for no OOM killer in that cgroup. */
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	struct mem_cgroup *old = set_active_memcg(cache->c->columns.memcg);
	struct hipec_cfile *f = kzalloc(sizeof(*f), gfp);
	struct hipec_mark *mark = kzalloc(sizeof(*mark), gfp);
	int ret = -ENOMEM;

	if (f && mark) {
		ret = take(cache, inode, file, f, mark, a);
	} else {
		kfree(f);
		kfree(mark);
	}
	set_active_memcg(old);
	return ret;
}

/**
 * hipec_file_take_new() - take a file that has come into a directory, or is opened
 * @cache: cache
 * @inode: regular file, held; its owner has been looked at
 * @file:  by which a cgroup's process has opened it; NULL: it came into a directory
 *
 * Context: process context, sleeps; expects admin_lock.
 * Return: as hipec_cache_take().
 */
int hipec_file_take_new(struct hipec_cache *cache, struct inode *inode, struct file *file)
{
	struct hipec_take a = { .flags = file ? HIPEC_TAKE_CGROUP : 0 };

	lockdep_assert_held(&hipec_admin_lock);
	return hipec_file_refusal(inode) ? -EOPNOTSUPP :
		hipec_file_take(cache, inode, file, &a);
}

/*
 * Let a file of @cache go: that of @inode, or any. Return: whether there was one.
 * Context: process context, sleeps; expects admin_lock.
 */
bool hipec_file_release(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_cfile *f;
	struct hipec_mark *mark = NULL;

	mutex_lock(&hipec_take_lock);
	if (inode) {
		f = hipec_file_find(inode);
		if (f && f->cache != cache)
			f = NULL;
	} else {
		/* Files come and go under both locks. */
		f = list_first_entry_or_null(&cache->files, struct hipec_cfile,
					     link);
	}
	if (f)
		mark = let_go(f);
	mutex_unlock(&hipec_take_lock);
	if (mark)
		drop_mark(mark);
	return mark;
}

/* Work: files turned out to be code; they are let go. */
void hipec_file_code(struct work_struct *work)
{
	struct hipec_cache *cache = container_of(work, struct hipec_cache, code);
	struct hipec_mark *mark;
	struct hipec_cfile *f;

	mutex_lock(&hipec_admin_lock);
	do {
		mark = NULL;
		mutex_lock(&hipec_take_lock);
		list_for_each_entry(f, &cache->files, link)
			if (READ_ONCE(f->code)) {
				mark = let_go(f);
				break;
			}
		mutex_unlock(&hipec_take_lock);
		if (mark)
			drop_mark(mark);
	} while (mark);
	mutex_unlock(&hipec_admin_lock);
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
