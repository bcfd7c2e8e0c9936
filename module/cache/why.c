// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a page of a file that is taken stands.
 *
 * Interface:
 * hipec_cache_why(), hipec_cache_path()
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>

#include "cache.h"

/* The file that has byte @w->offset of @file, or, where there is none, that address. */
static struct hipec_cfile *file_of(struct hipec_cache *cache, const struct file *file,
				   const struct hipec_why *w)
{
	u64 pgno = w->offset >> PAGE_SHIFT;
	struct hipec_cfile *f;

	if (!file)
		return pgno > U32_MAX ? NULL : hipec_numbers_of(cache, pgno);
	/* A task that lets go of one of this cache's waits for the caller's lock. */
	rcu_read_lock();
	f = hipec_table_find(file->f_mapping->host);
	if (f && (f->cache != cache || pgno >= f->nr))
		f = NULL;
	rcu_read_unlock();
	return f;
}

/* What the page cache has of an entry's folio. */
static u32 look_at_folio(struct hipec_cfile *f, u32 idx)
{
	struct address_space *mapping;
	struct folio *folio;
	u32 state = 0;

	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	folio = mapping ? hipec_folio_at(mapping, idx) : NULL;
	if (folio) {
		state |= folio_test_dirty(folio) ? HIPEC_WHY_DIRTY : 0;
		state |= folio_test_writeback(folio) ? HIPEC_WHY_WRITING : 0;
		state |= folio_mapped(folio) ? HIPEC_WHY_MAPPED : 0;
		state |= folio_test_mlocked(folio) ? HIPEC_WHY_PINNED : 0;
	}
	rcu_read_unlock();
	return state;
}

static u32 state_of(struct hipec_cfile *f, u32 pgno, u32 h)
{
	struct hipec_vm *vm = &f->cache->c->core.vm;
	u32 state = 0;

	if (hipec_page_live(vm, h)) {
		state = HIPEC_WHY_RESIDENT;
		if (vm->host->ref(vm, h))
			state |= HIPEC_WHY_REFERENCED;
	} else if (vm->page[h].flags & HIPEC_FOLIO_REFUSED ||
		   hipec_core_is_chosen(&f->cache->c->core, h)) {
		state = HIPEC_WHY_LEAVING;
	} else if (vm->page[h].flags & HIPEC_FOLIO_AHEAD) {
		state = HIPEC_WHY_AHEAD;
	} else if (vm->page[h].flags & HIPEC_PAGE_GHOST) {
		return HIPEC_WHY_GHOST;
	}
	return state | look_at_folio(f, pgno - f->start);
}

static struct inode *hold_inode(struct hipec_cfile *f)
{
	int idx = srcu_read_lock(f->cache->inodes);
	struct inode *inode = hipec_table_hold_inode(f);

	srcu_read_unlock(f->cache->inodes, idx);
	return inode;
}

/**
 * hipec_cache_why() - where a page of a file that is taken stands
 * @c:    container of this kind
 * @file: that w->offset is a byte of; NULL: it is an address in the container
 * @w:    filled, but for its place on a queue
 * @h:    gets the entry that has it, if its place is to be told; 0: there is none
 * @inode: gets the file's, held with its file system, for hipec_cache_path(); NULL where
 *        that is being unmounted
 *
 * The policy is told first of what was touched up to now, as for its status, if it is for the caller.
 *
 * Context: process context; expects c->lock; may sleep.
 * Return: 0; -ENXIO if none of its files has the page.
 */
int hipec_cache_why(struct hipec_container *c, const struct file *file,
		    struct hipec_why *w, u32 *h, struct inode **inode)
{
	struct hipec_cfile *f = file_of(c->cache, file, w);
	u32 pgno = w->offset >> PAGE_SHIFT, found;

	if (!f || f->dead)
		return -ENXIO;
	if (hipec_user_is_insider(c, current))
		hipec_host_deliver(c);
	pgno += file ? f->start : 0;
	w->address = (u64)pgno << PAGE_SHIFT;
	w->start = (u64)f->start << PAGE_SHIFT;
	w->length = (u64)f->nr << PAGE_SHIFT;
	w->file_offset = w->address - w->start;
	*inode = hold_inode(f);
	if (*inode && w->file_offset >= i_size_read(*inode))
		w->state |= HIPEC_WHY_BEHIND;
	hipec_evict_victims(c->cache);
	found = hipec_cache_entry(f, pgno) ?:
		hipec_page_find_named(&c->core.vm, pgno);
	if (found)
		w->state |= state_of(f, pgno, found);
	*h = found;
	return 0;
}

/**
 * hipec_cache_path() - how a file in place is called, and it is put
 * @inode: of hipec_cache_why(); NULL: none
 * @path:  room for PATH_MAX bytes
 *
 * The last reference to a file that has no name any more lets go of it, and that takes
 * attach_lock and its container's: so there is none here under a lock.
 *
 * Context: process context, sleeps; expects no lock of ours.
 * Return: as far as it goes from the root of its file system, in @path; -ENOENT if there is no
 *         name; -ENAMETOOLONG.
 */
const char *hipec_cache_path(struct inode *inode, char *path)
{
	const char *name = ERR_PTR(-ENOENT);
	struct dentry *dentry;

	if (!inode)
		return name;
	dentry = d_find_any_alias(inode);
	if (dentry)
		name = dentry_path_raw(dentry, path, PATH_MAX);
	dput(dentry);
	hipec_table_put_inode(inode);
	return name;
}
