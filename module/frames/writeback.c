// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writeback: writes pages to the backing file, what was given up first, and
 * with a page those next to it that are to be written as well. Past the page
 * cache.
 *
 * A page is WRITING while it is written, so page_mkwrite waits: what reaches the
 * disk is one state of the page. A write waits for the file's lock, which others
 * hold when they fault: whoever writes holds no lock of ours, nor a folio's.
 *
 * Interface:
 * hipec_writeback_get(), _put()  a region has a work for its volume
 * hipec_writeback_page()         a page and its neighbours
 * hipec_writeback_start(), _start_all()  have a worker do so
 */
#include <linux/bvec.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "../base/volume.h"
#include "../compat.h"
#include "frames.h"
#include "writeback.h"

/* A page in writeback. */
struct written {
	struct folio *folio;
	u32 h;
	bool unmap;	/* it was given up: nobody shall write to it any more */
	int ret;	/* 1: to be written, or written; 0: it was clean; -errno */
};

/* Consecutive pages of one region, which keep their frames as they are WRITING. */
struct load {
	struct hipec_region *r;
	u32 nr, nr_ios;
	struct written page[HIPEC_MAX_CLUSTER];
};

/*
 * Write the bytes of consecutive folios that lie within the file.
 * Return: 1; -errno.
 */
static int write_folios(struct hipec_region *r, struct written *w, u32 nr)
{
	loff_t pos = r->offset + folio_pos(w->folio);
	loff_t left = i_size_read(hipec_backing(r)) - pos;
	struct bio_vec bv[HIPEC_MAX_CLUSTER];
	const struct cred *saved;
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t bytes, ret;
	u32 i;

	/* The file was cut: as with any mapping, what lay behind is lost. */
	if (left <= 0)
		return 1;
	bytes = min_t(loff_t, left, (loff_t)nr << PAGE_SHIFT);
	for (i = 0; i < nr; i++) {
		bv[i].bv_page = &w[i].folio->page;
		bv[i].bv_len = min_t(ssize_t, bytes - i * PAGE_SIZE, PAGE_SIZE);
		bv[i].bv_offset = 0;
	}
	iov_iter_bvec(&iter, WRITE, bv, nr, bytes);
	init_sync_kiocb(&kiocb, r->backing);
	kiocb.ki_pos = pos;
	/*
	 * The last page of a file that ends inside it: direct I/O writes whole
	 * blocks only and would make the file longer.
	 */
	if (bytes % PAGE_SIZE)
		kiocb.ki_flags &= ~IOCB_DIRECT;
	/*
	 * By the right of who attached the file: a worker has root's, which goes past
	 * quotas, takes the blocks kept for root, and leaves set-user-ID bits.
	 */
	saved = override_creds(r->backing->f_cred);
	ret = hipec_iocb_iter_write(r->backing, &kiocb, &iter);
	revert_creds(saved);
	if (ret < 0)
		return ret;
	if (ret != bytes)
		return -EIO;
	/* What went through the page cache can still fail, and be lost there. */
	return filemap_write_and_wait_range(r->backing->f_mapping, pos,
					    pos + bytes - 1) ?: 1;
}

/* Pages that the file has as a whole go in one write: of @nr, so many do; or 1. */
static u32 in_one_write(struct hipec_region *r, struct written *w, u32 nr)
{
	loff_t left = i_size_read(hipec_backing(r)) - r->offset -
		      folio_pos(w->folio);

	return clamp_t(loff_t, left >> PAGE_SHIFT, 1, nr);
}

/*
 * Write dirty pages that follow each other, some of them. What fails as a whole is
 * tried page by page: only what the disk refuses is lost. Return: pages.
 */
static u32 write_some(struct load *l, struct written *w, u32 nr)
{
	u32 n = in_one_write(l->r, w, nr), i;
	int ret = write_folios(l->r, w, n);

	l->nr_ios++;
	for (i = 0; i < n; i++) {
		if (ret < 0 && n > 1) {
			w[i].ret = write_folios(l->r, w + i, 1);
			l->nr_ios++;
		} else {
			w[i].ret = ret;
		}
		if (w[i].ret < 0) {
			/* Dirty again, and noted for the next fsync. */
			folio_mark_dirty(w[i].folio);
			mapping_set_error(w[i].folio->mapping, w[i].ret);
		}
	}
	return n;
}

/*
 * Write-protect first, take the dirty mark second: in the other order a store
 * between the two is lost. Return: whether the page was dirty.
 */
static bool take_dirty(struct hipec_region *r, const struct written *w)
{
	struct folio *folio = w->folio;
	bool dirty;

	folio_lock(folio);
	if (w->unmap && folio_mapped(folio))
		unmap_mapping_range(folio->mapping, folio_pos(folio),
				    PAGE_SIZE, 0);
	if (folio_mkclean(folio))
		folio_mark_dirty(folio);
	dirty = folio_test_clear_dirty(folio);
	folio_unlock(folio);
	if (dirty)
		atomic_dec(&r->c->frames.nr_dirty);
	return dirty;
}

/* Write those pages back that are dirty. */
static void clean_cluster(struct load *l)
{
	u32 i, n;

	for (i = 0; i < l->nr; i++)
		l->page[i].ret = take_dirty(l->r, &l->page[i]);
	for (i = 0; i < l->nr; i += n) {
		for (n = 0; i + n < l->nr && l->page[i + n].ret; n++)
			;
		n = n ? write_some(l, &l->page[i], n) : 1;
	}
}

/* Whether page @h is to be written, and is not being written. */
static bool waits_for_write(const struct hipec_container *c, u32 h)
{
	u32 flags = c->core.vm.page[h].flags;

	if (!h || flags & HIPEC_PAGE_WRITING)
		return false;
	return flags & HIPEC_PAGE_EVICT_PENDING ||
	       (flags & HIPEC_PAGE_FLUSH && hipec_core_resident(&c->core, h));
}

static void add_to_cluster(struct hipec_container *c, struct load *l, u32 h)
{
	struct folio *folio = c->frames.frame[h];

	l->page[l->nr++] = (struct written){
		.folio = folio, .h = h,
		.unmap = c->core.vm.page[h].flags & HIPEC_PAGE_EVICT_PENDING,
	};
	c->core.vm.page[h].flags |= HIPEC_PAGE_WRITING;
	hipec_dirty_del(c, h);
	folio_get(folio);
}

/* Page @h, and those around it that wait. */
static void gather_cluster(struct hipec_container *c, struct load *l, u32 h)
{
	u32 pgno = c->core.vm.page[h].pgno, first = pgno, end;

	l->r = hipec_region_of(c->frames.frame[h]);
	l->nr = l->nr_ios = 0;
	while (first > l->r->start && pgno - first < HIPEC_MAX_CLUSTER - 1 &&
	       waits_for_write(c, hipec_page_find(&c->core.vm, first - 1)))
		first--;
	end = first + min_t(u32, l->r->nr - (first - l->r->start),
			    HIPEC_MAX_CLUSTER);
	for (; first < end; first++) {
		u32 next = first == pgno ? h : hipec_page_find(&c->core.vm, first);

		if (first > pgno && !waits_for_write(c, next))
			break;
		add_to_cluster(c, l, next);
	}
}

/*
 * A page that was given up has been through writeback: free its frame, or,
 * if it is dirty still or pinned, let it live again where the built-in
 * replacement finds it.
 */
static void finish_pending(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frames.frame[h];

	list_del(&folio->lru);
	c->core.vm.page[h].flags &= ~(HIPEC_PAGE_EVICT_PENDING |
				      HIPEC_REF_ALL << HIPEC_PAGE_REF_SHIFT);
	folio_lock(folio);
	if (folio_test_dirty(folio))
		folio_unlock(folio);
	else if (hipec_frame_detach(c, h)) {
		hipec_core_cleaned(&c->core, h);
		return;
	}
	hipec_core_uncleaned(&c->core, h);
	hipec_event_added(c, c->core.vm.page[h].pgno);
}

/* A page comes out of writeback. */
static void finish_written_page(struct hipec_container *c, const struct written *w)
{
	folio_put(w->folio);
	c->core.vm.page[w->h].flags &= ~(HIPEC_PAGE_WRITING | HIPEC_PAGE_FAILED);
	if (w->ret < 0)
		c->core.vm.page[w->h].flags |= HIPEC_PAGE_FAILED;
	c->core.counters.written_pages += w->ret > 0;
	c->core.counters.write_errors += w->ret < 0;
	if (w->ret > 0)
		c->core.lost_in_a_row = 0;
	else if (w->ret < 0 && w->unmap)
		c->core.lost_in_a_row++;
	if (w->unmap)
		finish_pending(c, w->h);
	else if (c->core.vm.page[w->h].flags & HIPEC_PAGE_EVICT_PENDING)
		/* Given up while it was being written: once more, unmapped. */
		hipec_writeback_start(hipec_region_of(c->frames.frame[w->h]));
}

/**
 * hipec_writeback_page() - write a page back if it is dirty, and those that wait around it
 * @c: container
 * @h: page with a frame, not WRITING
 *
 * Around it are the pages before and behind it in its region that were given up
 * or are on the list @flush, without a gap; HIPEC_MAX_CLUSTER in all.
 *
 * Context: process context; expects c->lock, drops it meanwhile.
 * Return: 0; -errno of the first page that could not be written, which is dirty
 *         again, with the error noted for the next fsync.
 */
int hipec_writeback_page(struct hipec_container *c, u32 h)
{
	struct load l;
	int err = 0;
	u32 i;

	gather_cluster(c, &l, h);
	mutex_unlock(&c->lock);
	clean_cluster(&l);
	mutex_lock(&c->lock);
	c->core.counters.write_ios += l.nr_ios;
	for (i = 0; i < l.nr; i++) {
		if (l.page[i].ret < 0 && !err)
			err = l.page[i].ret;
		finish_written_page(c, &l.page[i]);
	}
	wake_up_all(&c->wait);
	return err;
}

/* The next page to clean: what faults wait for first. 0: none. */
static u32 next_to_write(const struct hipec_writeback *w)
{
	struct hipec_container *c = w->c;
	struct folio *folio, *next;
	u32 h;

	list_for_each_entry(folio, &w->evict_pending, lru) {
		h = hipec_frame_page(c, folio);
		if (waits_for_write(c, h))
			return h;
	}
	list_for_each_entry_safe(folio, next, &w->flush, lru) {
		h = hipec_frame_page(c, folio);
		if (waits_for_write(c, h))
			return h;
		hipec_dirty_del(c, h);
	}
	return 0;
}

/* Work: clean what was given up or flushed, on one volume. */
static void writeback_work(struct work_struct *work)
{
	struct hipec_writeback *w = container_of(work, struct hipec_writeback, work);
	struct hipec_container *c = w->c;
	u32 h;

	mutex_lock(&c->lock);
	if (test_and_clear_bit(0, &c->frames.flush_all)) {
		hipec_dirty_flush(c);
		hipec_writeback_start_all(c);
	}
	while ((h = next_to_write(w)))
		hipec_writeback_page(c, h);
	mutex_unlock(&c->lock);
}

/* The writeback of a container's regions on a volume. Context: expects c->lock. */
static struct hipec_writeback *find_writeback(struct hipec_container *c,
					      const struct hipec_volume *v)
{
	struct hipec_region *r;

	lockdep_assert_held(&c->lock);
	list_for_each_entry(r, &c->regions, link)
		if (r->volume == v)
			return r->writeback;
	return NULL;
}

/**
 * hipec_writeback_get() - have a writeback work for a region
 * @r: region with its volume, in no list yet
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENOMEM.
 */
int hipec_writeback_get(struct hipec_region *r)
{
	struct hipec_writeback *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	struct hipec_container *c = r->c;

	if (!new)
		return -ENOMEM;
	new->c = c;
	new->volume = r->volume;
	INIT_LIST_HEAD(&new->evict_pending);
	INIT_LIST_HEAD(&new->flush);
	INIT_WORK(&new->work, writeback_work);
	mutex_lock(&c->lock);
	r->writeback = find_writeback(c, r->volume) ?: new;
	r->writeback->nr++;
	mutex_unlock(&c->lock);
	if (r->writeback != new)
		kfree(new);
	return 0;
}

/**
 * hipec_writeback_put() - a region needs no writeback work any more
 * @r: region without frames, in no list any more
 *
 * Context: process context, sleeps; takes c->lock. Not from writeback itself.
 */
void hipec_writeback_put(struct hipec_region *r)
{
	struct hipec_writeback *w = r->writeback;
	bool last;

	mutex_lock(&w->c->lock);
	last = !--w->nr;
	mutex_unlock(&w->c->lock);
	if (!last)
		return;
	cancel_work_sync(&w->work);
	kfree(w);
}

/**
 * hipec_writeback_start() - have pages cleaned that were given up or flushed
 * @r: region of such a page; those of its volume are cleaned
 *
 * Context: any; the region does not end meanwhile.
 */
void hipec_writeback_start(struct hipec_region *r)
{
	queue_work(r->writeback->volume->wq, &r->writeback->work);
}

/**
 * hipec_writeback_start_all() - the same on all volumes
 * @c: container
 *
 * Context: expects c->lock.
 */
void hipec_writeback_start_all(struct hipec_container *c)
{
	struct hipec_region *r;

	lockdep_assert_held(&c->lock);
	list_for_each_entry(r, &c->regions, link)
		hipec_writeback_start(r);
}
