// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints: what the application says about pages of a region, for its policy to read
 * in Hint. The kernel does nothing with them.
 *
 * One byte for each page, in chunks that are there from the first hint in them on
 * until the region ends: at most a 4096th of what the region is of its file, charged
 * to the cgroup of who hints. A region without hints costs nothing.
 *
 * Interface:
 * hipec_hint_init(), hipec_hint_free()  a region's hints
 * hipec_hint_set()  pages have a hint from now on
 * hipec_hint_of()   what a page has
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "frames.h"

/* Pages that one chunk has the hints of: a chunk is a page itself. */
#define HIPEC_HINT_SHIFT 12
#define HIPEC_HINT_PAGES (1u << HIPEC_HINT_SHIFT)

void hipec_hint_init(struct hipec_region *r)
{
	xa_init_flags(&r->hints, XA_FLAGS_ACCOUNT);
}

/* Context: nobody else has @r. */
void hipec_hint_free(struct hipec_region *r)
{
	unsigned long i;
	u8 *chunk;

	xa_for_each(&r->hints, i, chunk)
		kfree(chunk);
	xa_destroy(&r->hints);
}

/* Have chunk @i; without any lock, since a chunk that is there stays. */
static int need_chunk(struct hipec_region *r, u32 i)
{
	u8 *chunk;
	void *old;

	if (xa_load(&r->hints, i))
		return 0;
	chunk = kzalloc(HIPEC_HINT_PAGES, GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return -ENOMEM;
	old = xa_cmpxchg(&r->hints, i, NULL, chunk, GFP_KERNEL_ACCOUNT);
	if (!old)
		return 0;
	kfree(chunk);	/* somebody was faster, or there is no memory */
	return xa_err(old);
}

/* The hint of pages within one chunk. */
static int set_piece(struct hipec_region *r, u32 idx, u32 nr, u8 hint)
{
	u32 i = idx >> HIPEC_HINT_SHIFT;
	u8 *chunk;
	int ret = hint ? need_chunk(r, i) : 0;

	if (ret)
		return ret;
	mutex_lock(&r->c->lock);
	chunk = xa_load(&r->hints, i);
	if (chunk)	/* else all of them have none */
		memset(chunk + (idx & (HIPEC_HINT_PAGES - 1)), hint, nr);
	mutex_unlock(&r->c->lock);
	return 0;
}

/**
 * hipec_hint_set() - pages have a hint from now on
 * @r: region
 * @a: from the user; its size and flags have been looked at
 *
 * Where it fails, pages before the one it came to have the hint already.
 *
 * Context: process context, may sleep; takes the container's lock, again for every
 *          4096 pages.
 * Return: 0; -EINVAL for a hint above HIPEC_HINT_MAX, and for an offset or length
 *         inside a page; -ERANGE past the region's end; -ENOMEM; -EINTR on a fatal
 *         signal.
 */
int hipec_hint_set(struct hipec_region *r, const struct hipec_hint *a)
{
	u64 size = (u64)r->nr << PAGE_SHIFT;
	u64 length = a->length;
	u32 idx, end, piece;
	int ret = 0;

	if (a->hint > HIPEC_HINT_MAX || a->reserved ||
	    (a->offset | length) & ~PAGE_MASK)
		return -EINVAL;
	if (a->offset >= size || length > size - a->offset)
		return -ERANGE;
	if (!length)
		length = size - a->offset;
	idx = a->offset >> PAGE_SHIFT;
	end = idx + (length >> PAGE_SHIFT);
	for (; !ret && idx < end; idx += piece) {
		piece = min(end - idx,
			    HIPEC_HINT_PAGES - (idx & (HIPEC_HINT_PAGES - 1)));
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = set_piece(r, idx, piece, a->hint);
		cond_resched();
	}
	return ret;
}

/**
 * hipec_hint_of() - the engine's host: the hint of a page
 * @core: container
 * @pgno: page
 *
 * Context: expects the container's lock.
 * Return: 0 if there is none.
 */
s64 hipec_hint_of(struct hipec_core *core, u32 pgno)
{
	struct hipec_container *c = hipec_of_core(core);
	struct hipec_region *r;
	u8 *chunk;
	u32 idx;

	lockdep_assert_held(&c->lock);
	list_for_each_entry(r, &c->regions, link) {
		idx = pgno - r->start;
		if (idx >= r->nr)
			continue;
		chunk = xa_load(&r->hints, idx >> HIPEC_HINT_SHIFT);
		return chunk ? chunk[idx & (HIPEC_HINT_PAGES - 1)] : 0;
	}
	return 0;
}
