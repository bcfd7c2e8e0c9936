// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dirty files are written, where much of a cache could not go, or its policy asks for that.
 *
 * A disk may not answer for long. So workers of the files' volume do it, by one work for all files
 * that a cache has there, and nobody waits for them. A container ends without: its works find that
 * it has gone, once their disk lets them, and free themselves. One that looks for files uses the
 * cache in sections of RCU, or has a file of it in use; who ends the cache waits for both, and not
 * for I/O.
 *
 * Interface:
 * hipec_clean_get()    what writes a file; hipec_clean_put()
 * hipec_clean_start(), _start_all()  it begins; all files of a cache are written
 * hipec_clean_end()    a cache goes
 *
 * Owns cleans_lock.
 */
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "../base/volume.h"
#include "cache.h"
#include "clean.h"

static DEFINE_SPINLOCK(cleans_lock);

/*
 * Hold the inode of a file that is to be written: umount waits until that is done, as it does for the
 * kernel's own. Context: in cache->inodes. Return: NULL: it goes, or its file system is about to.
 */
static struct inode *hold_to_write(const struct hipec_cfile *f)
{
	struct super_block *sb = f->inode->i_sb;

	if (!down_read_trylock(&sb->s_umount))
		return NULL;
	if (!(sb->s_flags & SB_ACTIVE) || READ_ONCE(f->dead)) {
		up_read(&sb->s_umount);
		return NULL;
	}
	ihold(f->inode);
	return f->inode;
}

/* The first file from slot @slot on, in use; NULL: there is none, or its cache has gone. */
static struct hipec_cfile *next_file(struct hipec_clean *clean, unsigned long *slot)
{
	struct hipec_cfile *f = NULL;
	struct hipec_cache *cache;

	rcu_read_lock();
	cache = READ_ONCE(clean->cache);
	if (cache)
		f = hipec_table_marked(cache, slot, HIPEC_SLOT_FILE);
	rcu_read_unlock();
	return f;
}

/*
 * The inode of the first file from slot @slot on that has dirty folios, held; @slot is moved behind
 * that file. Return: NULL: there is none.
 */
static struct inode *next_dirty(struct hipec_clean *clean, unsigned long *slot)
{
	struct inode *inode = NULL;
	struct hipec_cfile *f;
	int idx;

	while (!inode && (f = next_file(clean, slot))) {
		idx = srcu_read_lock(f->cache->inodes);
		*slot = hipec_slot_of(f) + 1;
		if (f->clean == clean && hipec_mapping_of(f) &&
		    mapping_tagged(f->inode->i_mapping, PAGECACHE_TAG_DIRTY))
			inode = hold_to_write(f);
		srcu_read_unlock(f->cache->inodes, idx);
		hipec_table_put(f);
		cond_resched();
	}
	return inode;
}

/* Whether the cache has gone, and this is the last that the work does. */
static bool is_last_run(struct hipec_clean *clean)
{
	bool last;

	spin_lock(&cleans_lock);
	last = !clean->cache && !work_pending(&clean->work);
	spin_unlock(&cleans_lock);
	return last;
}

/* Work: begin to write what is dirty. The inode may go with its last reference, which is I/O, too. */
static void clean_work(struct work_struct *work)
{
	struct hipec_clean *clean = container_of(work, struct hipec_clean, work);
	struct hipec_volume *volume = clean->volume;
	unsigned long slot = 0;
	struct inode *inode;

	while ((inode = next_dirty(clean, &slot))) {
		struct super_block *sb = inode->i_sb;

		filemap_flush(inode->i_mapping);
		iput(inode);
		up_read(&sb->s_umount);
	}
	if (!is_last_run(clean))
		return;
	kfree(clean);
	hipec_volume_put(volume);
}

/* It is found no more, and frees itself. Context: expects cleans_lock. */
static void end_clean(struct hipec_clean *clean)
{
	list_del(&clean->link);
	WRITE_ONCE(clean->cache, NULL);
	queue_work(clean->volume->clean_wq, &clean->work);
}

/* Those go whose volume has no file of a cache any more. */
static void end_unused(struct hipec_cache *cache)
{
	struct hipec_clean *clean, *next;

	spin_lock(&cleans_lock);
	list_for_each_entry_safe(clean, next, &cache->cleans, link)
		if (!atomic_read(&clean->users))
			end_clean(clean);
	spin_unlock(&cleans_lock);
}

/*
 * What writes a cache's files on @of, with one more user; else @new, which may be NULL, does from now on.
 */
static struct hipec_clean *find_or_add_clean(struct hipec_cache *cache, const void *of,
					     struct hipec_clean *new)
{
	struct hipec_clean *clean, *found = NULL;

	spin_lock(&cleans_lock);
	list_for_each_entry(clean, &cache->cleans, link)
		if (clean->volume->of == of)
			found = clean;
	if (!found && new) {
		list_add(&new->link, &cache->cleans);
		found = new;
	}
	if (found)
		atomic_inc(&found->users);
	spin_unlock(&cleans_lock);
	return found;
}

/* One that is in no list yet. Return: as hipec_clean_get(). */
static struct hipec_clean *new_clean(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_clean *clean = kzalloc(sizeof(*clean), GFP_KERNEL_ACCOUNT | __GFP_NORETRY |
					    __GFP_NOWARN);
	const struct hipec_container *c = cache->c;
	struct hipec_volume *volume;

	if (!clean)
		return ERR_PTR(-ENOMEM);
	volume = hipec_volume_get(inode, c->bounded ? c->user->uid : INVALID_UID);
	if (IS_ERR(volume)) {
		kfree(clean);
		return ERR_CAST(volume);
	}
	clean->cache = cache;
	clean->volume = volume;
	INIT_WORK(&clean->work, clean_work);
	return clean;
}

/**
 * hipec_clean_get() - what writes a file
 * @cache: cache
 * @inode: regular file or directory, held
 *
 * Without a user it stays until another one is made: else workers would be made for each file that
 * comes and goes.
 *
 * Context: process context, may sleep; its cgroup pays (set_active_memcg()); takes cleans_lock.
 * Return: valid until hipec_clean_put(); -EDQUOT as hipec_volume_get(); -ENOMEM.
 */
struct hipec_clean *hipec_clean_get(struct hipec_cache *cache, const struct inode *inode)
{
	struct hipec_clean *clean = find_or_add_clean(cache, inode->i_sb, NULL), *new;

	if (clean)
		return clean;
	end_unused(cache);	/* a user's are counted, until they have ended */
	new = new_clean(cache, inode);
	if (IS_ERR(new))
		return new;
	clean = find_or_add_clean(cache, inode->i_sb, new);
	if (clean != new) {
		hipec_volume_put(new->volume);
		kfree(new);
	}
	return clean;
}

/* Dirty files that it is for are written. Context: any; uses one of its files. */
void hipec_clean_start(struct hipec_clean *clean)
{
	queue_work(clean->volume->clean_wq, &clean->work);
}

/* All dirty files of a cache are. Context: any; its container is in use. Takes cleans_lock. */
void hipec_clean_start_all(struct hipec_cache *cache)
{
	struct hipec_clean *clean;

	spin_lock(&cleans_lock);
	list_for_each_entry(clean, &cache->cleans, link)
		hipec_clean_start(clean);
	spin_unlock(&cleans_lock);
}

/**
 * hipec_clean_end() - a cache goes
 * @cache: without a file; nobody begins to write what it has
 *
 * Works that look for files may do so until a grace period of RCU has passed.
 *
 * Context: any; takes cleans_lock.
 */
void hipec_clean_end(struct hipec_cache *cache)
{
	struct hipec_clean *clean, *next;

	spin_lock(&cleans_lock);
	list_for_each_entry_safe(clean, next, &cache->cleans, link)
		end_clean(clean);
	spin_unlock(&cleans_lock);
}
