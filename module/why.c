// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a page stands: whether it holds a frame, on which queue of the policy it is,
 * and where there; or what is still known of it if it does not.
 *
 * Interface:
 * hipec_why_page()
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "cache/host.h"
#include "internal.h"

static struct hipec_region *region_of(struct hipec_container *c, u64 address)
{
	u64 pgno = address >> PAGE_SHIFT;
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (pgno >= r->start && pgno - r->start < r->nr)
			return r;
	return NULL;
}

/* The first region that has byte @offset of @file; its address to @address. */
static struct hipec_region *region_of_file(struct hipec_container *c,
					   const struct file *file, u64 offset,
					   u64 *address)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link) {
		if (hipec_backing(r) != file->f_mapping->host ||
		    offset < r->offset ||
		    (offset - r->offset) >> PAGE_SHIFT >= r->nr)
			continue;
		*address = ((u64)r->start << PAGE_SHIFT) + offset - r->offset;
		return r;
	}
	return NULL;
}

/* The slot that stands for queue @q of the policy, and which of an array it is. */
static void find_slot_of_queue(const struct hipec_container *c, u32 q,
			       struct hipec_why *w)
{
	const struct hipec_policy *p = &c->policy;
	u32 i;

	for (i = HIPEC_SLOT_POLICY; i < p->image->nr_operands; i++) {
		u8 type = p->operand[i].type;
		const struct hipec_array *a;

		if (type == HIPEC_TYPE_QUEUE && c->core.vm.slot[i] == q)
			break;
		if (type != HIPEC_TYPE_QUEUES)
			continue;
		a = &c->core.vm.array[c->core.vm.slot[i]];
		if (q - a->first < a->nr) {
			w->index = q - a->first;
			break;
		}
	}
	if (WARN_ON_ONCE(i == p->image->nr_operands))
		return;
	w->slot = i;
	strscpy_pad(w->queue, hipec_image_policy_name(p, p->operand[i].name),
		    sizeof(w->queue));
}

static void find_place(struct hipec_container *c, u32 h, struct hipec_why *w)
{
	u32 q = c->core.vm.page[h].queue;

	if (!(c->core.vm.page[h].flags & (HIPEC_PAGE_LIVE | HIPEC_PAGE_GHOST)))
		return;
	w->nr = c->core.vm.queue[q].count;
	for (h = c->core.vm.page[h].prev; h; h = c->core.vm.page[h].prev) {
		w->place++;
		cond_resched();
	}
	w->on = HIPEC_WHY_ON_POLICY;
	if (q == HIPEC_QUEUE_FALLBACK)
		w->on = HIPEC_WHY_ON_FALLBACK;
	else if (q == c->core.vm.nr_queues - 1)
		w->on = HIPEC_WHY_ON_BUILTIN;
	else
		find_slot_of_queue(c, q, w);
}

/* Of a page that holds a frame which the policy may use. */
static u32 look_at_frame(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frames.frame[h];
	u16 flags = c->core.vm.page[h].flags;
	u32 state = HIPEC_WHY_RESIDENT;

	if (folio_test_dirty(folio))
		state |= HIPEC_WHY_DIRTY;
	if (hipec_referenced_seen(&c->core, h, HIPEC_REF_POLICY))
		state |= HIPEC_WHY_REFERENCED;
	if (folio_mapped(folio))
		state |= HIPEC_WHY_MAPPED;
	if (flags & HIPEC_PAGE_WRITING)
		state |= HIPEC_WHY_WRITING;
	else if (folio_ref_count(folio) != 2 + atomic_read(&folio->_mapcount))
		state |= HIPEC_WHY_PINNED;
	if (flags & HIPEC_PAGE_FAILED)
		state |= HIPEC_WHY_FAILED;
	return state;
}

static u32 look_at_page(struct hipec_container *c, struct hipec_region *r,
			u32 pgno, u32 h)
{
	u16 flags = c->core.vm.page[h].flags;
	struct hipec_ahead *a;
	u32 state = 0;

	if (flags & HIPEC_PAGE_LIVE)
		return look_at_frame(c, h);
	if (flags & HIPEC_PAGE_GHOST)
		state |= HIPEC_WHY_GHOST;
	if (flags & HIPEC_PAGE_EVICT_PENDING || hipec_core_is_chosen(&c->core, h))
		state |= HIPEC_WHY_LEAVING;
	if (!(flags & HIPEC_PAGE_READING))
		return state;
	a = hipec_readahead_find(r, pgno - r->start);
	if (!a || !a->read)
		state |= HIPEC_WHY_READING;
	return a ? state | HIPEC_WHY_AHEAD : state;
}

/* What there is to say of page @pgno of @r. */
static void explain_page(struct hipec_container *c, struct hipec_region *r, u32 pgno,
			 struct hipec_why *w)
{
	u32 h = hipec_page_find(&c->core.vm, pgno) ?:
		hipec_page_find_named(&c->core.vm, pgno);
	u32 kept;

	if (pgno - r->start >= hipec_io_pages(r))
		w->state |= HIPEC_WHY_BEHIND;
	if (h) {
		w->state |= look_at_page(c, r, pgno, h);
		find_place(c, h, w);
	}
	if (c->core.pool && !(w->state & HIPEC_WHY_RESIDENT) &&
	    hipec_recover_find(&c->core.recover, pgno, &kept)) {
		w->state |= HIPEC_WHY_INSTEAD;
		w->instead = (u64)kept << PAGE_SHIFT;
	}
}

/* What a page's file is named by: held, until the container's lock is not. */
struct named {
	struct inode *inode;	/* in place */
	struct file *backing;	/* of a region */
};

static int why_in_place(struct hipec_container *c, const struct file *file,
			struct hipec_why *w, struct named *n)
{
	u32 h;
	int ret = hipec_cache_why(c, file, w, &h, &n->inode);

	if (!ret && h)
		find_place(c, h, w);
	return ret;
}

/* Under the lock. @file: NULL: by address. */
static int explain_under_lock(struct hipec_container *c, const struct file *file,
			      struct hipec_why *w, struct named *n)
{
	struct hipec_region *r;
	u64 address = w->offset;

	if (!c->core.vm.policy)
		return -ENODATA;
	if (c->host->in_place)
		return why_in_place(c, file, w, n);
	r = file ? region_of_file(c, file, w->offset, &address) :
		   region_of(c, address);
	if (!r)
		return -ENXIO;
	w->address = round_down(address, PAGE_SIZE);
	w->start = (u64)r->start << PAGE_SHIFT;
	w->length = (u64)r->nr << PAGE_SHIFT;
	w->file_offset = r->offset + w->address - w->start;
	n->backing = get_file(r->backing);
	explain_page(c, r, w->address >> PAGE_SHIFT, w);
	return 0;
}

/* Name the file, and put it. Context: as hipec_cache_path(). @path: room for PATH_MAX bytes. */
static void name_why_file(struct named *n, char *path, struct hipec_why *w)
{
	const char *name = n->backing ? file_path(n->backing, path, PATH_MAX) :
					hipec_cache_path(n->inode, path);
	size_t len;

	if (IS_ERR(name))
		name = "?";
	len = strlen(name);
	if (len >= sizeof(w->file))
		name += len - sizeof(w->file) + 1;
	strscpy_pad(w->file, name, sizeof(w->file));
	if (n->backing)
		fput(n->backing);
}

/* As hipec_why_page(). @path: room for the file's. */
static int why_named(struct hipec_container *c, const struct file *file, char *path,
		     struct hipec_why *w)
{
	struct named n = { 0 };
	int ret;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	ret = explain_under_lock(c, file, w, &n);
	mutex_unlock(&c->lock);
	if (!ret)
		name_why_file(&n, path, w);
	return ret;
}

/**
 * hipec_why_page() - where a page stands
 * @c: container
 * @w: from the user, checked for size and flags; what is `out` is set
 *
 * Nothing changes by it, not even a referenced bit.
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENODATA before a policy is loaded; -ENXIO if no region or file of @c has
 *         the page; -EBADF if there is no such descriptor; -ENOMEM.
 */
int hipec_why_page(struct hipec_container *c, struct hipec_why *w)
{
	struct file *file = NULL;
	char *path;
	int ret;

	memset_startat(w, 0, state);
	if (w->flags & HIPEC_WHY_BY_FILE) {
		file = fget(w->fd);
		if (!file)
			return -EBADF;
	}
	ret = -ENOMEM;
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (path)
		ret = why_named(c, file, path, w);
	kfree(path);
	if (file)
		fput(file);
	return ret;
}
