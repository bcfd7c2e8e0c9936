// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backing file: direct writes, the washer that cleans frames, and write-back
 * for msync, fsync and close. All past the page cache.
 *
 * A page is WRITING while it is written, so page_mkwrite waits: what reaches the
 * disk is one state of the page. A write waits for the file's lock, which others
 * hold when they fault: whoever writes holds no lock of ours, nor a folio's.
 */
#include <linux/bvec.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "compat.h"
#include "internal.h"

struct workqueue_struct *hipec_wq;

/**
 * hipec_io_would_deadlock() - whether the washer waits for this very task
 * @r: region
 *
 * write(backing, region) holds the file's i_rwsem when it faults on its source.
 * If the fault waited for the washer, it would wait for itself.
 *
 * Context: any.
 * Return: true if current holds the inode's lock for writing.
 */
bool hipec_io_would_deadlock(struct hipec_region *r)
{
	const unsigned long reader_owned = 1, flags = 7;
	unsigned long owner =
		atomic_long_read(&hipec_backing(r)->i_rwsem.owner);

	return !(owner & reader_owned) &&
	       (owner & ~flags) == (unsigned long)current;
}

/**
 * hipec_io_pages() - pages of a region that its file has now
 * @r: region
 *
 * Context: any.
 * Return: 0 to r->nr.
 */
u32 hipec_io_pages(struct hipec_region *r)
{
	loff_t size = i_size_read(hipec_backing(r)) - r->offset;

	if (size <= 0)
		return 0;
	return min_t(u64, r->nr, DIV_ROUND_UP_ULL(size, PAGE_SIZE));
}

/* Write the bytes of a folio that lie within the file. */
static int write_folio(struct hipec_region *r, struct folio *folio)
{
	struct inode *inode = hipec_backing(r);
	loff_t pos = r->offset + folio_pos(folio);
	loff_t left = i_size_read(inode) - pos;
	struct bio_vec bv = { .bv_page = &folio->page };
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t ret;

	/* The file was cut: as with any mapping, what lay behind is lost. */
	if (left <= 0)
		return 0;
	bv.bv_len = min_t(loff_t, left, PAGE_SIZE);
	iov_iter_bvec(&iter, WRITE, &bv, 1, bv.bv_len);
	init_sync_kiocb(&kiocb, r->backing);
	kiocb.ki_pos = pos;
	/*
	 * The last page of a file that ends inside it: direct I/O writes whole
	 * blocks only and would make the file longer.
	 */
	if (bv.bv_len != PAGE_SIZE)
		kiocb.ki_flags &= ~IOCB_DIRECT;
	ret = hipec_iocb_iter_write(r->backing, &kiocb, &iter);
	if (ret < 0)
		return ret;
	return ret == bv.bv_len ? 0 : -EIO;
}

/*
 * Write one page back if it is dirty; @unmap: it was given up, nobody shall
 * write to it any more.
 *
 * Write-protect first, take the dirty mark second: in the other order a store
 * between the two is lost.
 *
 * The page is WRITING, so it keeps its frame.
 *
 * Return: 1 if it was written, 0 if it was clean, -errno, with the page dirty
 * again and the error noted for the next fsync.
 */
static int clean(struct hipec_region *r, struct folio *folio, bool unmap)
{
	bool dirty;
	int ret;

	folio_lock(folio);
	if (unmap && folio_mapped(folio))
		unmap_mapping_range(folio->mapping, folio_pos(folio),
				    PAGE_SIZE, 0);
	if (folio_mkclean(folio))
		folio_mark_dirty(folio);
	dirty = folio_test_clear_dirty(folio);
	folio_unlock(folio);
	if (!dirty)
		return 0;
	atomic_dec(&r->c->nr_dirty);
	ret = write_folio(r, folio);
	if (ret) {
		folio_mark_dirty(folio);
		mapping_set_error(folio->mapping, ret);
	}
	return ret ? ret : 1;
}

/**
 * hipec_io_wait() - wait until some page's I/O ends
 * @c:       container
 * @state:   TASK_KILLABLE or TASK_UNINTERRUPTIBLE
 * @timeout: jiffies, or MAX_SCHEDULE_TIMEOUT
 *
 * Context: expects c->lock, drops it while asleep.
 * Return: jiffies that are left, as schedule_timeout(); -EINTR if a fatal signal
 *         came, in TASK_KILLABLE.
 */
long hipec_io_wait(struct hipec_container *c, unsigned int state, long timeout)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(&c->wait, &wait, state);
	mutex_unlock(&c->lock);
	if (!(state == TASK_KILLABLE && fatal_signal_pending(current)))
		timeout = schedule_timeout(timeout);
	finish_wait(&c->wait, &wait);
	mutex_lock(&c->lock);
	if (state == TASK_KILLABLE && fatal_signal_pending(current))
		return -EINTR;
	return timeout;
}

/*
 * A page that was given up has been through the washer: free its frame, or,
 * if it is dirty still or pinned, let it live again where the built-in
 * replacement finds it.
 */
static void finish_laundry(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frame[h];

	list_del(&folio->lru);
	c->nr_laundry--;
	c->vm.page[h].flags &= ~HIPEC_PAGE_LAUNDRY;
	folio_lock(folio);
	if (folio_test_dirty(folio))
		folio_unlock(folio);
	else if (hipec_frame_release(c, h))
		return;
	/* What a policy remembers is a page without a frame: it was wrong. */
	hipec_page_forget(&c->vm, h);
	hipec_page_show(&c->vm, h);
	hipec_pool_came(c, h);
}

/* Clean page @h, dropping c->lock meanwhile. Return: as clean(). */
static int wash_page(struct hipec_container *c, u32 h)
{
	struct folio *folio = c->frame[h];
	bool unmap = c->vm.page[h].flags & HIPEC_PAGE_LAUNDRY;
	int ret;

	c->vm.page[h].flags |= HIPEC_PAGE_WRITING;
	folio_get(folio);
	mutex_unlock(&c->lock);
	ret = clean(hipec_region_of(folio), folio, unmap);
	mutex_lock(&c->lock);
	folio_put(folio);
	c->vm.page[h].flags &= ~(HIPEC_PAGE_WRITING | HIPEC_PAGE_FAILED);
	if (ret < 0)
		c->vm.page[h].flags |= HIPEC_PAGE_FAILED;
	c->counters.written_pages += ret > 0;
	c->counters.write_errors += ret < 0;
	if (ret > 0)
		c->lost_in_a_row = 0;
	else if (ret < 0 && unmap)
		c->lost_in_a_row++;
	/* Given up only while it was being written: once more, unmapped. */
	if (unmap)
		finish_laundry(c, h);
	wake_up_all(&c->wait);
	return ret;
}

/* The next page to clean: what faults wait for first. 0: none. */
static u32 next_to_wash(struct hipec_container *c)
{
	unsigned long nr = c->vm.nr_pages + 1ul;
	struct folio *folio;
	unsigned long bit;
	u32 h;

	list_for_each_entry(folio, &c->laundry, lru) {
		h = hipec_frame_page(c, folio);
		if (!(c->vm.page[h].flags & HIPEC_PAGE_WRITING))
			return h;
	}
	for_each_set_bit(bit, c->flush, nr) {
		__clear_bit(bit, c->flush);
		if (hipec_page_live(&c->vm, bit) &&
		    !(c->vm.page[bit].flags & HIPEC_PAGE_WRITING))
			return bit;
	}
	return 0;
}

/**
 * hipec_io_wash() - clean what was given up or flushed
 * @work: of a container
 *
 * Context: workqueue.
 */
void hipec_io_wash(struct work_struct *work)
{
	struct hipec_container *c =
		container_of(work, struct hipec_container, wash);
	u32 h;

	mutex_lock(&c->lock);
	if (test_and_clear_bit(0, &c->flush_all))
		for (h = 1; h <= c->vm.nr_pages; h++)
			if (hipec_page_live(&c->vm, h) &&
			    folio_test_dirty(c->frame[h]))
				__set_bit(h, c->flush);
	while ((h = next_to_wash(c)))
		wash_page(c, h);
	mutex_unlock(&c->lock);
}

/**
 * hipec_io_sync() - write the dirty pages of a range back and wait
 * @r:     region
 * @first: first page
 * @last:  last page
 *
 * Context: process context, sleeps; takes c->lock.
 * Return: 0; the first write error.
 */
int hipec_io_sync(struct hipec_region *r, u32 first, u32 last)
{
	const unsigned int busy = HIPEC_PAGE_LAUNDRY | HIPEC_PAGE_WRITING;
	struct hipec_container *c = r->c;
	int err = 0, ret;
	u32 h;

	mutex_lock(&c->lock);
	for (h = 1; h <= c->vm.nr_pages; h++) {
		while (c->frame[h] &&
		       c->frame[h]->mapping == r->inode->i_mapping &&
		       c->frame[h]->index >= first &&
		       c->frame[h]->index <= last) {
			if (c->vm.page[h].flags & busy) {
				hipec_io_wait(c, TASK_UNINTERRUPTIBLE,
					      MAX_SCHEDULE_TIMEOUT);
				continue;
			}
			/* Once: an application may dirty it for ever. */
			if (folio_test_dirty(c->frame[h])) {
				ret = wash_page(c, h);
				if (ret < 0 && !err)
					err = ret;
			}
			break;
		}
	}
	/* What was given up while it was written here is still to be cleaned. */
	if (c->nr_laundry)
		queue_work(hipec_wq, &c->wash);
	mutex_unlock(&c->lock);
	return err;
}

static bool hipec_dirty_folio(struct address_space *mapping,
			      struct folio *folio)
{
	struct hipec_region *r = mapping->host->i_private;

	/* Called under page table locks: flags and counts only. */
	if (folio_test_set_dirty(folio))
		return false;
	atomic_inc(&r->c->nr_dirty);
	return true;
}

const struct address_space_operations hipec_aops = {
	.dirty_folio = hipec_dirty_folio,
};
