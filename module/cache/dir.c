// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory is taken: files that are made in it or moved there are taken as they
 * come, and so are directories. A mark of fsnotify tells of them before who makes one
 * has it open, so its first access is heard. What is there already is taken one by one
 * by whoever asks for the directory, after it: so nothing is missed.
 *
 * The events come with the directory's i_rwsem held, in the time of whoever makes a file: nothing is
 * waited for there.
 *
 * Interface:
 * hipec_dir_take()     take a directory
 * hipec_dir_release()  let go of one, or of all; the files stay
 */
#include <linux/cred.h>
#include <linux/fsnotify_backend.h>
#include <linux/hashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cache.h"

/**
 * struct hipec_cdir - a directory that is taken
 * @mark:  of fsnotify: it holds the inode
 * @hash:  of all directories, by inode; under dir_lock
 * @link:  cache->dirs, under dir_lock
 * @cache: whose it is; under dir_lock. NULL: it was let go, or is not found yet
 * @gone:  of its own accord, before it was found; under dir_lock
 * @inode: valid while it is taken
 * @uid:   who took it: files of others stay theirs
 * @all:   who took it may have any file
 */
struct hipec_cdir {
	struct fsnotify_mark mark;
	struct hlist_node hash;
	struct list_head link;
	struct hipec_cache *cache;
	bool gone;
	struct inode *inode;
	kuid_t uid;
	bool all;
};

static DEFINE_MUTEX(dir_lock);
static DEFINE_HASHTABLE(dirs, 10);
static struct fsnotify_group *group;

/* The container that has @inode; 0: none has. Context: expects dir_lock. */
static u64 owner_of(const struct inode *inode)
{
	struct hipec_cdir *d;

	hash_for_each_possible(dirs, d, hash, (unsigned long)inode)
		if (d->inode == inode)
			return d->cache->c->id;
	return 0;
}

/* Context: expects dir_lock. */
static void forget(struct hipec_cdir *d)
{
	hash_del(&d->hash);
	list_del(&d->link);
	d->cache->nr_dirs--;
	d->cache = NULL;
}

/* Context: expects dir_lock. */
static void publish(struct hipec_cdir *d, struct hipec_cache *cache)
{
	d->cache = cache;
	hash_add(dirs, &d->hash, (unsigned long)d->inode);
	list_add_tail(&d->link, &cache->dirs);
	cache->nr_dirs++;
}

/*
 * Watch @inode, which the caller holds, as @like. Return: 0; -EBUSY if it is watched,
 * @other says for whom; -ENOSPC; -ENOMEM.
 */
static int watch(struct hipec_cache *cache, struct inode *inode,
		 const struct hipec_cdir *like, u64 *other)
{
	struct mem_cgroup *old;
	struct hipec_cdir *d;
	bool done;
	int ret;

	if (READ_ONCE(cache->nr_dirs) >= HIPEC_MAX_DIRS)
		return -ENOSPC;
	/* The container's cgroup pays, not whoever makes a directory. */
	old = set_active_memcg(cache->c->columns.memcg);
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	set_active_memcg(old);
	if (!d)
		return -ENOMEM;
	d->inode = inode;
	d->uid = like->uid;
	d->all = like->all;
	fsnotify_init_mark(&d->mark, group);
	d->mark.mask = FS_CREATE | FS_MOVED_TO;
	ret = fsnotify_add_inode_mark(&d->mark, inode, 0);
	mutex_lock(&dir_lock);
	*other = owner_of(inode);
	done = !ret && !*other && !d->gone;
	if (done)
		publish(d, cache);
	mutex_unlock(&dir_lock);
	if (done)
		return 0;
	if (!ret)
		fsnotify_destroy_mark(&d->mark, group);
	fsnotify_put_mark(&d->mark);
	/* It goes already; or one that has just been let go of may have its mark still. */
	return !ret && !*other ? 0 : ret == -ENOMEM ? ret : -EBUSY;
}

static int dir_event(struct fsnotify_mark *mark, u32 mask, struct inode *inode,
		     struct inode *dir, const struct qstr *name, u32 cookie)
{
	struct hipec_cdir *d = container_of(mark, struct hipec_cdir, mark);
	struct hipec_cache *cache;
	u64 other;
	int ret = 0;

	if (!inode || !(mask & (FS_CREATE | FS_MOVED_TO)) ||
	    (!d->all && !uid_eq(inode->i_uid, d->uid)))
		return 0;
	/* While it has a container, that lets go of it before it ends. */
	mutex_lock(&dir_lock);
	cache = d->cache;
	if (cache && !kref_get_unless_zero(&cache->c->ref))
		cache = NULL;
	mutex_unlock(&dir_lock);
	if (!cache)
		return 0;
	if (S_ISDIR(inode->i_mode))
		watch(cache, inode, d, &other);
	else if (S_ISREG(inode->i_mode))
		ret = hipec_file_take_new(cache, inode, NULL);
	if (ret == -ENOSPC || ret == -EDQUOT)
		pr_warn_ratelimited("container %llu can have no more files: new ones are the kernel's\n",
				    cache->c->id);
	hipec_container_put_later(cache->c);
	return 0;
}

/* The inode goes, or hipec_dir_release() was called. */
static void dir_goes(struct fsnotify_mark *mark, struct fsnotify_group *g)
{
	struct hipec_cdir *d = container_of(mark, struct hipec_cdir, mark);
	bool ours;

	mutex_lock(&dir_lock);
	ours = d->cache;
	d->gone = true;
	if (ours)
		forget(d);
	mutex_unlock(&dir_lock);
	if (ours)
		fsnotify_put_mark(mark);
}

static void dir_free(struct fsnotify_mark *mark)
{
	kfree(container_of(mark, struct hipec_cdir, mark));
}

static const struct fsnotify_ops dir_ops = {
	.handle_inode_event = dir_event,
	.freeing_mark = dir_goes,
	.free_mark = dir_free,
};

/**
 * hipec_dir_take() - files to come in a directory are a cache's
 * @cache: cache
 * @inode: directory, which the caller of the device owns; it is held
 * @other: gets the container that has it, or 0
 *
 * Context: process context, sleeps; expects no lock of ours.
 * Return: 0; -EBUSY if a container has it; -ENOSPC if @cache has HIPEC_MAX_DIRS;
 *         -ENOMEM.
 */
int hipec_dir_take(struct hipec_cache *cache, struct inode *inode, u64 *other)
{
	const struct hipec_cdir like = {
		.uid = current_fsuid(), .all = capable(CAP_FOWNER),
	};

	return watch(cache, inode, &like, other);
}

/**
 * hipec_dir_release() - let go of a directory, or of all
 * @cache: cache
 * @inode: directory; NULL: all
 *
 * Context: process context, sleeps; expects no lock of ours.
 * Return: whether there was one.
 */
bool hipec_dir_release(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_cdir *d, *found;
	bool any = false;

	do {
		found = NULL;
		mutex_lock(&dir_lock);
		list_for_each_entry(d, &cache->dirs, link)
			if (!inode || d->inode == inode) {
				found = d;
				forget(d);
				break;
			}
		mutex_unlock(&dir_lock);
		if (!found)
			break;
		any = true;
		fsnotify_destroy_mark(&found->mark, group);
		fsnotify_put_mark(&found->mark);
	} while (!inode);
	return any;
}

int hipec_dir_init(void)
{
	group = fsnotify_alloc_group(&dir_ops, 0);
	return PTR_ERR_OR_ZERO(group);
}

/* All directories are let go. Context: process context, sleeps. */
void hipec_dir_exit(void)
{
	fsnotify_wait_marks_destroyed();
	fsnotify_put_group(group);
}
