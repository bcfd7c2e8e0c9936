// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches: the pages that one fault brings in, and the cluster behind them that
 * is read ahead while the application works on them.
 *
 * What is read ahead holds frames that the policy does not see: it is told of
 * these pages when the first of them is touched. So a policy such as MRU, which
 * gives up what came in last, never gives up what was not used yet.
 *
 * Interface:
 * hipec_batch_size()   how many pages a miss shall bring in
 * hipec_batch_bind(), _read(), _show()   frames, data, PageFault
 * hipec_ahead_start()  begin to read the next cluster
 * hipec_ahead_find()   a fault came to it
 * hipec_ahead_drop()   nobody came, and its frames are wanted
 */
#include <linux/pagemap.h>

#include "internal.h"

/*
 * A cluster is read ahead into free frames at any time, but Replace is run for
 * one only when sequential misses have gone on for this many clusters: the
 * frames of a second cluster on the move are missing elsewhere, once a sweep.
 */
#define HIPEC_LONG_RUN 32

/**
 * hipec_batch_size() - pages to read for a miss
 * @r:   region
 * @vma: that faulted
 * @idx: page that is not resident
 *
 * A cluster if the page follows the last one read, up to the first page that is
 * in the table and within VMA, region and file; else one.
 *
 * Context: expects c->lock.
 * Return: 1 to c->cluster; 0 if @idx itself is not to be had.
 */
u32 hipec_batch_size(struct hipec_region *r, struct vm_area_struct *vma,
		     u32 idx)
{
	struct hipec_container *c = r->c;
	u32 most = min(c->cluster, c->member ? c->nr_reserved :
					       c->nr_frames - c->nr_surplus);
	u32 end = min_t(u64, hipec_io_pages(r),
			(u64)vma->vm_pgoff + vma_pages(vma));
	u32 nr = 0;

	if (idx != r->next_idx || vma->vm_flags & VM_RAND_READ)
		most = 1;
	while (nr < most && idx + nr < end &&
	       !hipec_page_find(&c->vm, r->start + idx + nr))
		nr++;
	return nr;
}

/**
 * hipec_batch_bind() - give free frames to the pages of a batch
 * @r: region
 * @b: batch with idx and nr set
 *
 * Context: expects c->lock, and as many free frames.
 */
void hipec_batch_bind(struct hipec_region *r, struct hipec_batch *b)
{
	struct hipec_container *c = r->c;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		b->h[i] = hipec_frame_bind(c, r, b->idx + i);
		b->folio[i] = c->frame[b->h[i]];
	}
	r->run = b->idx == r->next_idx ? r->run + b->nr : b->nr;
	r->next_idx = b->idx + b->nr;
}

/* Shorten @b to @nr pages, giving the frames of the others back. */
static void cut(struct hipec_container *c, struct hipec_batch *b, u32 nr)
{
	while (b->nr > nr) {
		b->nr--;
		c->nr_reading--;
		hipec_frame_unbind(c, b->h[b->nr]);
	}
}

/**
 * hipec_batch_read() - fill the frames of a batch
 * @r: region
 * @b: bound batch
 *
 * If a cluster cannot be read, its first page is tried alone: an error belongs
 * to one page. What is not read loses its frames.
 *
 * Context: expects c->lock, drops it over I/O.
 * Return: 0, with b->nr pages read; what hipec_read() returned, with none.
 */
int hipec_batch_read(struct hipec_region *r, struct hipec_batch *b)
{
	struct hipec_container *c = r->c;
	int ret;

	for (;;) {
		mutex_unlock(&c->lock);
		ret = hipec_read(r, b->idx, b->folio, b->nr);
		mutex_lock(&c->lock);
		c->counters.read_ios++;
		if (!ret) {
			c->counters.read_pages += b->nr;
			return 0;
		}
		c->counters.read_errors++;
		if (b->nr == 1) {
			cut(c, b, 0);
			return ret;
		}
		cut(c, b, 1);
	}
}

/**
 * hipec_batch_show() - tell the policy of the pages of a batch, in their order
 * @r:     region
 * @b:     batch that was read
 * @idx:   page that faulted
 * @write: the access was a write
 *
 * Each page keeps a reference, which the caller owns, until it is mapped: no
 * event, ours or another task's, can evict it before.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_batch_show(struct hipec_region *r, struct hipec_batch *b, u32 idx,
		      bool write)
{
	struct hipec_container *c = r->c;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		folio_get(b->folio[i]);
		c->vm.page[b->h[i]].flags &= ~HIPEC_PAGE_READING;
		c->nr_reading--;
		c->counters.pages_in++;
		hipec_page_show(&c->vm, b->h[i]);
		hipec_pool_came(c, b->h[i]);
		if (b->idx + i == idx)
			hipec_revoke_fault(c, r->start + b->idx + i);
		else
			hipec_revoke_ahead(c, r->start + b->idx + i);
		hipec_event_fault(c, r->start + b->idx + i,
				  write && b->idx + i == idx);
	}
}

/* Work: read what hipec_ahead_start() asked for. */
static void fill(struct work_struct *work)
{
	struct hipec_ahead *a = container_of(work, struct hipec_ahead, work);
	struct hipec_container *c = a->r->c;

	mutex_lock(&c->lock);
	/* On an error the pages are gone: the fault that comes reads again. */
	hipec_batch_read(a->r, &a->b);
	a->read = true;
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);
}

/* Make the region's batches, all of them unused. */
void hipec_ahead_init(struct hipec_region *r)
{
	struct hipec_ahead *a;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++) {
		a->r = r;
		INIT_WORK(&a->work, fill);
	}
}

/* Whether the cluster behind may be read now; its size, else 0. */
static u32 ahead_size(struct hipec_region *r, struct vm_area_struct *vma)
{
	struct hipec_container *c = r->c;
	u32 nr;

	/* One page is no sequence. */
	if (c->cluster == 1 || r->run == 1 || vma->vm_flags & VM_RAND_READ)
		return 0;
	nr = hipec_batch_size(r, vma, r->next_idx);
	if (nr > c->nr_free && r->run < (u64)HIPEC_LONG_RUN * c->cluster)
		return 0;
	return nr;
}

/**
 * hipec_ahead_start() - begin to read the cluster behind the last one
 * @r:     region whose last miss was sequential
 * @vma:   that faulted
 * @write: the access was a write
 *
 * Does nothing when there is no such cluster, no frame for it, or enough on its
 * way. The policy must not have been told yet of the batch that the fault is
 * about: it could give that up for what comes next.
 *
 * Context: expects c->lock.
 */
void hipec_ahead_start(struct hipec_region *r, struct vm_area_struct *vma,
		       bool write)
{
	struct hipec_ahead *a = r->ahead;
	u32 nr;

	while (a->b.nr)
		if (++a == r->ahead + HIPEC_NR_AHEAD)
			return;
	nr = ahead_size(r, vma);
	if (nr)
		nr = hipec_room_try(r->c, r->start + r->next_idx, write, nr);
	if (!nr)
		return;
	a->b.idx = r->next_idx;
	a->b.nr = nr;
	a->read = false;
	hipec_batch_bind(r, &a->b);
	queue_work(hipec_wq, &a->work);
}

/**
 * hipec_ahead_find() - the batch of a page that was, or is being, read ahead
 * @r:   region
 * @idx: page
 *
 * Context: expects c->lock.
 * Return: the batch; NULL if there is none.
 */
struct hipec_ahead *hipec_ahead_find(struct hipec_region *r, u32 idx)
{
	struct hipec_ahead *a;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++)
		if (idx - a->b.idx < a->b.nr)
			return a;
	return NULL;
}

/**
 * hipec_ahead_drop() - free the frames of what was read ahead
 * @r: region
 *
 * Context: expects c->lock.
 * Return: whether there was something to free.
 */
bool hipec_ahead_drop(struct hipec_region *r)
{
	struct hipec_ahead *a;
	bool dropped = false;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++) {
		if (!a->b.nr || !a->read)
			continue;
		cut(r->c, &a->b, 0);
		dropped = true;
	}
	return dropped;
}

/* Wait until nothing is being read ahead. Context: may sleep, no lock held. */
void hipec_ahead_flush(struct hipec_region *r)
{
	struct hipec_ahead *a;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++)
		flush_work(&a->work);
}
