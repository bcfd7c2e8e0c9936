// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of readahead: as wide as what they bring is touched.
 *
 * Interface:
 * hipec_window_judge()  a folio that came was touched, or was not
 * hipec_window_set()    the next window of an open file
 * hipec_window_read()   a large read() goes part by part
 * hipec_window_forget() a file is let go, and its maps have the disk's windows again
 */
#include <linux/backing-dev-defs.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/uio.h>

#include "cache.h"

/* So many folios that came tell how wide windows are to be. */
#define LATELY 512

/* Pages of a window that is narrow; and one in 2^PROBES is so where they are single pages. */
#define NARROW 4u
#define PROBES 4
#define SINGLE 1u

/**
 * hipec_window_judge() - count a folio that was read
 * @cache:   cache
 * @touched: it was touched for the first time; or it is evicted untouched
 *
 * The kernel reads around each fault of a map, 32 pages by default. Where a program faults
 * here and there, less than a quarter of what comes beside the wanted page is touched: windows
 * become narrow, and single pages, but for probes, if that is so even then. They become wider
 * where more than three quarters are touched.
 *
 * Context: expects c->lock.
 */
void hipec_window_judge(struct hipec_cache *cache, bool touched)
{
	u64 requests = cache->c->core.counters.read_ios - cache->requests;
	u32 beside, window = cache->window;

	if (touched)
		cache->shown++;
	else
		cache->wasted++;
	if (cache->shown + cache->wasted < LATELY)
		return;
	beside = cache->shown - min_t(u64, cache->shown, requests);
	if (cache->wasted > beside * 3)
		WRITE_ONCE(cache->window, window ? SINGLE : NARROW);
	else if (beside > cache->wasted * 3)
		WRITE_ONCE(cache->window, window == SINGLE ? NARROW : 0);
	cache->shown = cache->wasted = 0;
	cache->requests += requests;
}

/* Pages that are read at once at most, so that four times as many are a part of the budget. */
static u32 widest_window(const struct hipec_cfile *f)
{
	const struct hipec_core *core = &f->cache->c->core;

	/* One that shares gets its frames as it reads. */
	return max((core->pool ? core->nr_reserved : core->nr_frames) / 16, NARROW);
}

/*
 * Of @rest bytes at @pos, those that are read at once. XFS holds a lock for each read(), so that
 * no read() sees half of a write(): its reads stay whole, and may have more ahead of their use.
 */
static size_t part_bytes(const struct inode *inode, loff_t pos, size_t rest)
{
	u32 most = inode->i_sb->s_bdi->io_pages;
	size_t bytes = rest;
	struct hipec_cfile *f;

	rcu_read_lock();
	f = hipec_table_find(inode);
	if (f && inode->i_sb->s_magic == XFS_SUPER_MAGIC)
		WRITE_ONCE(f->cache->whole, min_t(size_t, rest >> PAGE_SHIFT, most));
	else if (f)
		bytes = max_t(size_t, (size_t)widest_window(f) << PAGE_SHIFT, HIPEC_READ_AT_ONCE) -
			offset_in_page(pos);
	rcu_read_unlock();
	return min(bytes, rest);
}

/**
 * hipec_window_read() - read a lot, part by part
 * @iocb: of the read
 * @to:   where the bytes go
 * @read: reads one part, and says that it was touched
 *
 * The kernel reads as many pages as a read() wants, up to what the disk takes in one request,
 * before it copies the first. With more than a part of the budget, pages would go before they
 * are copied and be read again; and the policy would hear of them when all is over.
 *
 * Context: as read_iter().
 * Return: bytes; as read_iter() if there are none: a part that fails behind others ends it.
 */
ssize_t hipec_window_read(struct kiocb *iocb, struct iov_iter *to,
			  ssize_t (*read)(struct kiocb *iocb, struct iov_iter *to))
{
	size_t rest = iov_iter_count(to), part;
	int flags = iocb->ki_flags;
	ssize_t ret, done = 0;

	do {
		part = part_bytes(file_inode(iocb->ki_filp), iocb->ki_pos, rest);
		iov_iter_truncate(to, part);
		ret = read(iocb, to);
		iov_iter_reexpand(to, iov_iter_count(to) + rest - part);
		if (ret <= 0)
			break;
		done += ret;
		rest -= ret;
		/* A wait that has begun could not be taken back. */
		if (flags & IOCB_WAITQ)
			iocb->ki_flags |= IOCB_NOWAIT;
	} while (rest && ret == part);
	iocb->ki_flags = flags;
	return done ?: ret;
}

/**
 * hipec_window_set() - the next window of an open file fits the budget, and its use
 * @f:     file
 * @ra:    state of an open file of it; or NULL
 * @index: of the page that is read now
 *
 * Of a part of the budget four windows are read ahead, and not touched, at most. The kernel
 * itself reads nothing around faults where it has missed often: windows that are narrow
 * would have it do so for ever.
 *
 * Context: a reader of @f; takes no lock.
 */
void hipec_window_set(struct hipec_cfile *f, struct file_ra_state *ra, pgoff_t index)
{
	u32 window = READ_ONCE(f->cache->window), most = widest_window(f), now;

	if (!ra)
		return;
	if (window)
		most = window;
	if (window == SINGLE && !hash_long(index, PROBES))
		most = NARROW;
	now = ra->ra_pages;
	if (now == SINGLE || now == NARROW) {
		now = f->inode->i_sb->s_bdi->ra_pages;
		if (most > SINGLE)
			WRITE_ONCE(ra->mmap_miss, 0);
	}
	if (now > most)
		WRITE_ONCE(f->capped, true);
	ra->ra_pages = min(now, most);
}

/**
 * hipec_window_forget() - open files that are mapped have the disk's windows again
 * @mapping: of a file that is let go; the caller holds its inode
 *
 * Those that are not mapped are not found, and keep their own.
 *
 * Context: process context, may sleep.
 */
void hipec_window_forget(struct address_space *mapping)
{
	u32 usual = mapping->host->i_sb->s_bdi->ra_pages;
	struct rb_node *node;

	i_mmap_lock_read(mapping);
	for (node = rb_first_cached(&mapping->i_mmap); node; node = rb_next(node)) {
		struct file_ra_state *ra =
			&rb_entry(node, struct vm_area_struct, shared.rb)->vm_file->f_ra;

		if (ra->ra_pages < usual) {
			ra->ra_pages = usual;
			WRITE_ONCE(ra->mmap_miss, 0);
		}
		cond_resched();
	}
	i_mmap_unlock_read(mapping);
}
