// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory is taken: files that are made in it or moved there are taken as they
 * come, and so are directories. A mark of fsnotify tells of them before the task that makes
 * one has it open, so its first access is heard. The command that takes the directory takes
 * what is there already behind it, one by one: so nothing is missed.
 *
 * The events come with the directory's i_rwsem held, in the time of the task that makes a file:
 * nothing is waited for there.
 *
 * Interface:
 * hipec_dir_attach()   take a directory
 * hipec_dir_detach()   let go of one, or of all; the files stay
 */
#include <linux/cred.h>
#include <linux/fsnotify_backend.h>
#include <linux/hashtable.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cache.h"
#include "clean.h"
#include "put.h"

/**
 * struct hipec_cdir - a directory that is taken
 * @mark:  of fsnotify: it holds the inode
 * @hash:  directories that are found, by their inodes; under dir_lock
 * @inode: invariant, and followed only while the mark holds it
 * @link:  cache->dirs, under dir_lock
 * @cache: whose it is; changed under dir_lock, RCU. NULL: it was let go, or is not found yet
 * @gone:  of its own accord, before it was found; under dir_lock
 * @uid:   user that took it: files of other users stay theirs
 * @all:   that user may have any file
 * @clean: of its volume, which new files have as well: theirs is not made as they come. Invariant
 * @put:   it is let go
 */
struct hipec_cdir {
	struct fsnotify_mark mark;
	struct hlist_node hash;
	const struct inode *inode;
	struct list_head link;
	struct hipec_cache *cache;
	bool gone;
	kuid_t uid;
	bool all;
	struct hipec_clean *clean;
	struct hipec_put put;
};

/*
 * Of all containers' directories: nothing is looked for under it, and its holder is not preempted.
 * An event takes it for a new directory alone: while one is handled, no mark of the machine is
 * freed.
 */
static DEFINE_SPINLOCK(dir_lock);
static DEFINE_HASHTABLE(dirs, 12);

static struct hipec_cdir *dir_of(struct fsnotify_mark *mark)
{
	return container_of(mark, struct hipec_cdir, mark);
}

/* The directory that is @inode; NULL: no container has it. Context: expects dir_lock. */
static struct hipec_cdir *find_dir(const struct inode *inode)
{
	struct hipec_cdir *d;

	lockdep_assert_held(&dir_lock);
	hash_for_each_possible(dirs, d, hash, (unsigned long)inode)
		if (d->inode == inode)
			return d;
	return NULL;
}

/* Context: expects dir_lock. */
static void forget_dir(struct hipec_cdir *d)
{
	lockdep_assert_held(&dir_lock);
	hash_del(&d->hash);
	list_del(&d->link);
	d->cache->nr_dirs--;
	WRITE_ONCE(d->cache, NULL);
}

/* It is found from now on, if it @has_mark. Return: 0; -EBUSY: it goes already, or @other has it. */
static int publish_dir(struct hipec_cdir *d, struct hipec_cache *cache, u64 *other, bool has_mark)
{
	const struct hipec_cdir *found;
	int ret = -EBUSY;

	spin_lock(&dir_lock);
	found = find_dir(d->inode);
	if (found) {
		*other = found->cache->c->id;
	} else if (has_mark && !d->gone) {
		WRITE_ONCE(d->cache, cache);
		hash_add(dirs, &d->hash, (unsigned long)d->inode);
		list_add_tail(&d->link, &cache->dirs);
		WRITE_ONCE(cache->nr_dirs, cache->nr_dirs + 1);
		ret = 0;
	}
	spin_unlock(&dir_lock);
	return ret;
}

/*
 * Watch @inode, which the caller holds, as @like. Return: 0; -EBUSY if it is watched,
 * @other says for whom; -ENOSPC; -EDQUOT; -ENOMEM.
 */
static int watch_inode(struct hipec_cache *cache, struct inode *inode,
		       const struct hipec_cdir *like, u64 *other)
{
	struct hipec_clean *clean;
	struct mem_cgroup *old;
	struct hipec_cdir *d;
	bool has_mark;
	int ret;

	*other = 0;
	if (READ_ONCE(cache->nr_dirs) >= HIPEC_MAX_DIRS)
		return -ENOSPC;
	/* The container's cgroup pays, not the task that makes a directory. */
	old = set_active_memcg(cache->c->columns.memcg);
	clean = hipec_clean_get(cache, inode);
	d = IS_ERR(clean) ? NULL :
	    kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	set_active_memcg(old);
	if (!d && !IS_ERR(clean))
		hipec_clean_put(clean);
	if (!d)
		return PTR_ERR_OR_ZERO(clean) ?: -ENOMEM;
	d->clean = clean;
	d->inode = inode;
	d->uid = like->uid;
	d->all = like->all;
	fsnotify_init_mark(&d->mark, cache->dir_marks);
	d->mark.mask = FS_CREATE | FS_MOVED_TO;
	ret = fsnotify_add_inode_mark(&d->mark, inode, 0);
	has_mark = !ret;
	/* One that this container has let go of may have its mark still. */
	if (!ret || ret == -EEXIST)
		ret = publish_dir(d, cache, other, has_mark);
	if (!ret)
		return 0;
	if (has_mark)
		fsnotify_destroy_mark(&d->mark, cache->dir_marks);
	hipec_clean_put(clean);
	fsnotify_put_mark(&d->mark);
	return ret;
}

/*
 * The cache that has a directory, its container held; NULL: none has it any more. One that ends lets go
 * of its directories, and waits for a grace period then.
 */
static struct hipec_cache *get_cache(const struct hipec_cdir *d)
{
	struct hipec_cache *cache;

	rcu_read_lock();
	cache = READ_ONCE(d->cache);
	if (cache && !kref_get_unless_zero(&cache->c->ref))
		cache = NULL;
	rcu_read_unlock();
	return cache;
}

static int dir_event(struct fsnotify_mark *mark, u32 mask, struct inode *inode,
		     struct inode *dir, const struct qstr *name, u32 cookie)
{
	struct hipec_cdir *d = dir_of(mark);
	struct hipec_cache *cache;
	u64 other;
	int ret = 0;

	if (!inode || !(mask & (FS_CREATE | FS_MOVED_TO)) ||
	    (!d->all && !uid_eq(inode->i_uid, d->uid)))
		return 0;
	cache = get_cache(d);
	if (!cache)
		return 0;
	if (S_ISDIR(inode->i_mode))
		watch_inode(cache, inode, d, &other);
	else if (S_ISREG(inode->i_mode))
		ret = hipec_file_attach_new(cache, inode, NULL);
	if (ret == -ENOSPC || ret == -EDQUOT)
		pr_warn_ratelimited("container %llu can have no more files: new ones are the kernel's\n",
				    cache->c->id);
	hipec_container_put_later(cache->c);
	return 0;
}

/* The inode goes, or hipec_dir_detach() was called. */
static void dir_goes(struct fsnotify_mark *mark, struct fsnotify_group *g)
{
	struct hipec_cdir *d = dir_of(mark);
	bool ours;

	spin_lock(&dir_lock);
	ours = d->cache;
	d->gone = true;
	/* The cache does not end before both are done. */
	if (ours) {
		forget_dir(d);
		hipec_clean_put(d->clean);
	}
	spin_unlock(&dir_lock);
	if (ours)
		fsnotify_put_mark(mark);
}

static void dir_free(struct fsnotify_mark *mark)
{
	kfree(dir_of(mark));
}

static const struct fsnotify_ops dir_ops = {
	.handle_inode_event = dir_event,
	.freeing_mark = dir_goes,
	.free_mark = dir_free,
};

/**
 * hipec_dir_attach() - files to come in a directory are a cache's
 * @cache: cache
 * @inode: directory, which the caller of the device owns; it is held
 * @other: gets the container that has it, or 0
 *
 * Context: process context, sleeps; expects no lock of ours.
 * Return: 0; -EBUSY if a container has it; -ENOSPC if @cache has HIPEC_MAX_DIRS;
 *         -ENOMEM.
 */
int hipec_dir_attach(struct hipec_cache *cache, struct inode *inode, u64 *other)
{
	const struct hipec_cdir like = {
		.uid = current_fsuid(), .all = capable(CAP_FOWNER),
	};

	return watch_inode(cache, inode, &like, other);
}

/* Let go of @inode, or of one; its mark is the caller's. Return: NULL: there is none. */
static struct hipec_cdir *forget_one(struct hipec_cache *cache, struct inode *inode)
{
	struct fsnotify_mark *mark = inode ? fsnotify_find_inode_mark(inode, cache->dir_marks) : NULL;
	struct hipec_cdir *d;

	spin_lock(&dir_lock);
	d = mark ? dir_of(mark) :
	    inode ? NULL : list_first_entry_or_null(&cache->dirs, struct hipec_cdir, link);
	if (d && d->cache == cache)
		forget_dir(d);
	else
		d = NULL;
	spin_unlock(&dir_lock);
	if (mark)
		fsnotify_put_mark(mark);	/* not the last reference, if it is returned */
	return d;
}

/**
 * hipec_dir_detach() - let go of a directory, or of all
 * @cache: cache
 * @inode: directory; NULL: all
 *
 * Context: process context, sleeps; expects no lock of ours.
 * Return: whether there was one.
 */
bool hipec_dir_detach(struct hipec_cache *cache, struct inode *inode)
{
	struct hipec_clean *clean;
	struct hipec_cdir *d;
	bool any = false;

	while ((!any || !inode) && (d = forget_one(cache, inode))) {
		any = true;
		fsnotify_destroy_mark(&d->mark, cache->dir_marks);
		d->put.mark = &d->mark;
		clean = d->clean;
		hipec_put_inode(&d->put, clean->volume);
		hipec_clean_put(clean);
	}
	return any;
}

/* Marks of a cache's directories, as of its files. Return: 0; -ENOMEM. */
int hipec_dir_begin(struct hipec_cache *cache)
{
	cache->dir_marks = fsnotify_alloc_group(&dir_ops, FSNOTIFY_GROUP_USER);
	return PTR_ERR_OR_ZERO(cache->dir_marks);
}
