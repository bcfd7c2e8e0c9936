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
	struct hipec_cfile *f;	/* under take_lock; NULL: it was let go */
};

static struct fsnotify_group *group;

/*
 * Page numbers for a file: behind those that were given last, so that nobody looks at
 * all files to take one more; from the lowest on if none are left there. Where that was in vain
 * it is not tried again before a file is let go, whose numbers are looked at first.
 * Context: expects take_lock. Return: 0; -ENOSPC; -ENOMEM.
 */
static int give_numbers(struct hipec_cache *cache, struct hipec_cfile *f)
{
	unsigned long slots = f->nr >> HIPEC_SLOT_SHIFT, most, first, used, i;
	const struct hipec_cfile *other;
	bool again = false;
	int ret = 0;

	if (cache->none_of && slots >= cache->none_of)
		return -ENOSPC;
	most = 1ul << (32 - HIPEC_SLOT_SHIFT);
	for (first = cache->next_slot;; first = hipec_slot_behind(other)) {
		if (first + slots >= most) {
			if (again) {
				cache->none_of = slots;
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
	for (i = 0; i < slots && !ret; i++)
		ret = xa_err(xa_store(&cache->slots, first + i, f, GFP_NOFS));
	if (ret)
		while (i--)
			xa_erase(&cache->slots, first + i);
	return ret;
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

/* So many files have ROOMY_PAGES page numbers at least: half of all that there are. */
#define ROOMY_FILES 32768u
#define ROOMY_PAGES 65536u

/* Room to grow to twice its size. */
static u32 numbers_of(const struct hipec_cache *cache, const struct inode *inode)
{
	u64 pages = DIV_ROUND_UP((u64)i_size_read(inode), PAGE_SIZE);
	u64 least = READ_ONCE(cache->c->nr_regions) < ROOMY_FILES ? ROOMY_PAGES : 1;

	return min_t(u64, round_up(max(2 * pages, least), HIPEC_SLOT_PAGES),
		     1u << 31);
}

/* Under take_lock. Return: 0; -EBUSY, -EOPNOTSUPP, -ENOSPC, -ENOMEM. */
static int enter(struct hipec_cache *cache, struct hipec_cfile *f,
		 struct hipec_take *a)
{
	struct hipec_cfile *other = hipec_file_find(f->inode);
	int ret;

	if (other) {
		a->other = other->cache->c->id;
		return -EBUSY;
	}
	/* Somebody else has a reason for it. */
	if (mapping_unevictable(f->inode->i_mapping)) {
		a->refused = HIPEC_REFUSED_CACHE;
		return -EOPNOTSUPP;
	}
	ret = give_numbers(cache, f);
	if (ret)
		return ret;
	ret = hipec_hooks_set(f->inode);
	if (ret) {
		mutex_lock(&cache->c->lock);
		take_numbers(f);
		mutex_unlock(&cache->c->lock);
		return ret;
	}
	hipec_file_add(f);
	mutex_lock(&cache->c->lock);
	list_add_tail(&f->link, &cache->files);
	cache->c->nr_regions++;
	mutex_unlock(&cache->c->lock);
	a->address = (u64)f->start << PAGE_SHIFT;
	return 0;
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
		     hipec_unmap(f, first, last + 1 - first)))
			invalidate_mapping_pages(mapping, first, last);
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

	f->cache = cache;
	f->inode = inode;
	f->nr = numbers_of(cache, inode);
	f->opened = a->flags & HIPEC_TAKE_CGROUP;
	f->mark = mark;
	atomic_set(&f->users, 1);
	INIT_WORK(&f->again, hipec_map_again);
	mark->f = f;

	nofs = memalloc_nofs_save();
	mutex_lock(&hipec_take_lock);
	ret = enter(cache, f, a);
	mutex_unlock(&hipec_take_lock);
	memalloc_nofs_restore(nofs);
	if (ret) {
		kfree(f);
		kfree(mark);
		return ret;
	}
	fsnotify_init_mark(&mark->mark, group);
	mark->mark.mask = FS_DELETE_SELF;	/* one without any holds no inode */
	ret = fsnotify_add_inode_mark(&mark->mark, inode, 0);
	if (ret) {
		mutex_lock(&hipec_take_lock);
		let_go(f);
		mutex_unlock(&hipec_take_lock);
		fsnotify_put_mark(&mark->mark);
		return ret;
	}
	f = hipec_file_get(inode);
	if (!f)
		return 0;	/* it has gone again */
	hipec_before_hear(f, file);
	hipec_pressure_join(cache);
	trim(f);
	mutex_lock(&cache->c->lock);
	f->writers = true;
	hipec_cache_keep_away(f);
	hipec_cache_search(f);
	mutex_unlock(&cache->c->lock);
	hipec_file_put(f);
	return 0;
}

/* Take @inode, by @file or NULL. Context and Return: as hipec_file_take_new(). */
int hipec_file_take(struct hipec_cache *cache, struct inode *inode, struct file *file,
		    struct hipec_take *a)
{
	struct hipec_cfile *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	struct hipec_mark *mark = kzalloc(sizeof(*mark), GFP_KERNEL_ACCOUNT);

	if (f && mark)
		return take(cache, inode, file, f, mark, a);
	kfree(f);
	kfree(mark);
	return -ENOMEM;
}

/**
 * hipec_file_take_new() - take a file that has come into a directory, or is opened
 * @cache: cache
 * @inode: regular file, held; its owner has been looked at
 * @flags: HIPEC_TAKE_CGROUP: it is opened, by a cgroup's process
 *
 * Context: process context, sleeps; expects admin_lock.
 * Return: as hipec_cache_take().
 */
int hipec_file_take_new(struct hipec_cache *cache, struct inode *inode, u32 flags)
{
	struct hipec_take a = { .flags = flags };

	lockdep_assert_held(&hipec_admin_lock);
	return hipec_file_refusal(inode) ? -EOPNOTSUPP :
		hipec_file_take(cache, inode, NULL, &a);
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
