// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the backing file for a fault, without ever waiting for the file's
 * lock (i_rwsem).
 *
 * A fault may hold mmap_lock; and where write() or direct I/O faults on its buffer,
 * the task holds the lock of a file as well, perhaps of this one. Whoever waits
 * for that lock in a fault closes a circle. So a direct read gives up rather
 * than wait, and what it gives up goes through the page cache, as the faults of
 * any other mapping do; the pages that it leaves there are dropped again.
 *
 * What the page cache has already, since the file was written or read a moment
 * ago, is copied, and the disk left alone. Not where the region is written to: its
 * pages go past the page cache, where an old one may outlive that.
 */
#include <linux/blkdev.h>
#include <linux/bvec.h>
#include <linux/pagemap.h>
#include <linux/uio.h>

#include "frames.h"

/*
 * File systems on which test/guest/test_guest.py runs the tests of data and of
 * locks, and how each is read. A cache beside the kernel's depends on how a file
 * system locks and fails, and no flag of it tells.
 */
static const struct tested {
	const char *name;
	enum hipec_read_way read;
} tested[] = {
	{ "ext4", HIPEC_READ_NOWAIT },
	{ "xfs", HIPEC_READ_NOWAIT },
	/* Its direct read takes i_rwsem, even where it shall not wait. */
	{ "btrfs", HIPEC_READ_CACHED },
	/* All of it is page cache: to read it takes no lock. */
	{ "tmpfs", HIPEC_READ_PLAIN },
};

static const struct tested *find_tested(const struct inode *inode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tested); i++)
		if (!strcmp(tested[i].name, inode->i_sb->s_type->name))
			return &tested[i];
	return NULL;
}

/**
 * hipec_read_untested() - what keeps a file from being a region's
 * @file: regular file or block device
 *
 * Return: the name of a file system that regions are not tested on, or of what is
 *         special of the file; NULL: nothing.
 */
const char *hipec_read_untested(const struct file *file)
{
	struct inode *inode = file_inode(file);

	if (S_ISREG(inode->i_mode) && find_tested(inode)) {
		if (inode->i_sb->s_flags & SB_KERNMOUNT)
			return "memfd";	/* or System V's shared memory */
		if (IS_DAX(inode))
			return "DAX";
	}
	if ((S_ISREG(inode->i_mode) && !find_tested(inode)) ||
	    !(file->f_mode & FMODE_CAN_ODIRECT))
		return inode->i_sb->s_type->name;
	return NULL;
}

/**
 * hipec_read_init() - choose how a region is read
 * @r: region with its backing file open, nothing of which is untested
 *
 * Reads of block devices take no lock. A read that shall not wait is refused if
 * the disk would split it.
 *
 * Context: process context.
 */
void hipec_read_init(struct hipec_region *r)
{
	struct inode *inode = hipec_backing(r);
	struct block_device *bdev = inode->i_sb->s_bdev;

	r->read_most = HIPEC_MAX_CLUSTER;
	r->read = HIPEC_READ_PLAIN;
	if (!S_ISREG(inode->i_mode))
		return;
	r->read = find_tested(inode)->read;
	if (r->read == HIPEC_READ_NOWAIT && !(r->backing->f_mode & FMODE_NOWAIT))
		r->read = HIPEC_READ_CACHED;
	if (bdev)
		r->read_most = clamp_t(u32, queue_max_sectors(bdev_get_queue(bdev)) >>
				       (PAGE_SHIFT - SECTOR_SHIFT),
				       1, HIPEC_MAX_CLUSTER);
}

static loff_t position_of_page(const struct hipec_region *r, u32 idx)
{
	return r->offset + ((loff_t)idx << PAGE_SHIFT);
}

/* Return: bytes; what the file system returned. */
static ssize_t read_piece(struct hipec_region *r, u32 idx,
			  struct folio **folio, u32 nr, bool nowait)
{
	struct bio_vec bv[HIPEC_MAX_CLUSTER] HIPEC_UNINITIALIZED;
	struct iov_iter iter;
	struct kiocb kiocb;
	u32 i;

	for (i = 0; i < nr; i++) {
		bv[i].bv_page = &folio[i]->page;
		bv[i].bv_len = PAGE_SIZE;
		bv[i].bv_offset = 0;
	}
	iov_iter_bvec(&iter, READ, bv, nr, (size_t)nr << PAGE_SHIFT);
	init_sync_kiocb(&kiocb, r->backing);
	kiocb.ki_pos = position_of_page(r, idx);
	if (nowait)
		kiocb.ki_flags |= IOCB_NOWAIT;
	return vfs_iocb_iter_read(r->backing, &kiocb, &iter);
}

static ssize_t read_direct(struct hipec_region *r, u32 idx,
			   struct folio **folio, u32 nr, bool nowait)
{
	u32 most = nowait ? r->read_most : nr, done, n;
	ssize_t got;

	for (done = 0; done < nr; done += n) {
		n = min(nr - done, most);
		got = read_piece(r, idx + done, folio + done, n, nowait);
		if (got < 0)
			return got;
		if (got < (ssize_t)n << PAGE_SHIFT)
			return ((ssize_t)done << PAGE_SHIFT) + got;
	}
	return (ssize_t)nr << PAGE_SHIFT;
}

/* How many bytes of the pages are in the file. */
static loff_t bytes_in_file(const struct hipec_region *r, u32 idx, u32 nr)
{
	loff_t left = i_size_read(hipec_backing(r)) - position_of_page(r, idx);

	return clamp_t(loff_t, left, 0, (loff_t)nr << PAGE_SHIFT);
}

/* Copy page @idx if the page cache has it. Return: whether it had. */
static bool copy_if_cached(struct hipec_region *r, u32 idx, struct folio *folio)
{
	struct page *page = find_get_page(r->backing->f_mapping,
					  position_of_page(r, idx) >> PAGE_SHIFT);
	bool whole;

	if (!page)
		return false;
	whole = PageUptodate(page) && !PageHWPoison(page);
	if (whole)
		copy_highpage(&folio->page, page);
	put_page(page);
	return whole;
}

/* Return: bytes of the file; what the file system returned. */
static ssize_t read_cached(struct hipec_region *r, u32 idx,
			   struct folio **folio, u32 nr)
{
	struct address_space *mapping = r->backing->f_mapping;
	pgoff_t first = position_of_page(r, idx) >> PAGE_SHIFT;
	struct file_ra_state ra = { .ra_pages = nr };
	bool was_there;
	u32 i;

	was_there = filemap_range_has_page(mapping, position_of_page(r, idx),
					   position_of_page(r, idx + nr) - 1);
	/* One read for all of them; they are waited for one by one. */
	page_cache_sync_readahead(mapping, &ra, r->backing, first, nr);
	for (i = 0; i < nr; i++) {
		struct folio *cached = read_mapping_folio(mapping, first + i,
							  r->backing);

		if (IS_ERR(cached))
			return PTR_ERR(cached);
		copy_highpage(&folio[i]->page,
			      folio_file_page(cached, first + i));
		folio_put(cached);
	}
	if (!was_there)
		invalidate_mapping_pages(mapping, first, first + nr - 1);
	return bytes_in_file(r, idx, nr);
}

/* Zero what lies behind the first @bytes of the pages. */
static void zero_behind(struct folio **folio, u32 nr, loff_t bytes)
{
	u32 i;

	for (i = bytes >> PAGE_SHIFT; i < nr; i++)
		folio_zero_segment(folio[i], i == bytes >> PAGE_SHIFT ?
				   offset_in_page(bytes) : 0, PAGE_SIZE);
}

/* Whether a read ended before its end and the file's. */
static bool too_short(struct hipec_region *r, u32 idx, ssize_t got,
		      ssize_t want)
{
	return got >= 0 && got < want &&
	       position_of_page(r, idx) + got < i_size_read(hipec_backing(r));
}

/* Read what the page cache does not have. Return: bytes; -errno. */
static ssize_t read_rest(struct hipec_region *r, u32 idx, struct folio **folio,
			 u32 nr)
{
	ssize_t want = (ssize_t)nr << PAGE_SHIFT, got = -EAGAIN;
	enum hipec_read_way way = READ_ONCE(r->read);

	if (way != HIPEC_READ_CACHED)
		got = read_direct(r, idx, folio, nr, way == HIPEC_READ_NOWAIT);
	/* Not every disk can tell that it would have to wait: never ask again. */
	if (way == HIPEC_READ_NOWAIT && got == -EOPNOTSUPP) {
		WRITE_ONCE(r->read, HIPEC_READ_CACHED);
		got = -EAGAIN;
	}
	if (way != HIPEC_READ_PLAIN &&
	    (got == -EAGAIN || too_short(r, idx, got, want)))
		got = read_cached(r, idx, folio, nr);
	return too_short(r, idx, got, want) ? -EIO : got;
}

/**
 * hipec_read_copies() - whether a page would be copied from the page cache
 * @r:   region
 * @idx: page
 *
 * Context: any; the answer is old when it is given.
 * Return: true if the page cache has it.
 */
bool hipec_read_copies(const struct hipec_region *r, u32 idx)
{
	void *entry = NULL;

	if (!r->writable)
		entry = xa_load(&r->backing->f_mapping->i_pages,
				position_of_page(r, idx) >> PAGE_SHIFT);
	return entry && !xa_is_value(entry);
}

/**
 * hipec_read() - read consecutive pages in one go
 * @r:     region
 * @idx:   first page
 * @folio: @nr frames
 * @nr:    pages, at most HIPEC_MAX_CLUSTER
 *
 * What lies behind the end of the file is zeroed.
 *
 * Context: process context, sleeps; expects no lock of ours. Takes no inode's
 *          lock, but of file systems that read directly without one.
 * Return: 0; -EIO on a short read; what the file system returned.
 */
int hipec_read(struct hipec_region *r, u32 idx, struct folio **folio, u32 nr)
{
	ssize_t got;
	u32 n = 0;

	while (!r->writable && n < nr && copy_if_cached(r, idx + n, folio[n]))
		n++;
	got = bytes_in_file(r, idx, n);
	if (n < nr) {
		ssize_t rest = read_rest(r, idx + n, folio + n, nr - n);

		if (rest < 0)
			return rest;
		got += rest;
	}
	zero_behind(folio, nr, got);
	return 0;
}
