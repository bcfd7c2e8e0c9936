// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches: the pages that one fault brings in.
 *
 * Interface:
 * hipec_batch_size()   how many pages of a sequence are to be had
 * hipec_batch_bind(), _cut()    they have frames, no longer
 * hipec_batch_read(), _activate()  data, PageFault
 */
#include <linux/pagemap.h>

#include "../include/uapi/hipec_sample.h"
#include "frames.h"

/**
 * hipec_batch_size() - pages to read
 * @r:    region
 * @vma:  that faulted
 * @idx:  page that is not resident
 * @most: pages, 1 or more
 *
 * Up to the first page that is in the table, or a cluster, and within VMA, region
 * and file; one where the application says that it jumps about.
 *
 * Context: expects c->lock.
 * Return: 1 to @most; 0 if @idx itself is not to be had.
 */
u32 hipec_batch_size(struct hipec_region *r, struct vm_area_struct *vma,
		     u32 idx, u32 most)
{
	struct hipec_container *c = r->c;
	u32 end = min_t(u64, hipec_io_pages(r),
			(u64)vma->vm_pgoff + vma_pages(vma));
	u32 nr = 0;

	if (vma->vm_flags & VM_RAND_READ)
		most = 1;
	most = min3(most, c->cluster, c->core.pool ? c->core.nr_reserved :
						  c->core.nr_frames - c->core.nr_surplus);
	while (nr < most && idx + nr < end &&
	       !hipec_page_find(&c->core.vm, r->start + idx + nr))
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
		b->folio[i] = c->frames.frame[b->h[i]];
	}
}

/**
 * hipec_batch_cut() - shorten a batch, giving the frames of the others back
 * @c:  container
 * @b:  bound batch
 * @nr: pages that it keeps
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_batch_cut(struct hipec_container *c, struct hipec_batch *b, u32 nr)
{
	while (b->nr > nr) {
		b->nr--;
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
	u64 context = c->core.context;
	int ret;

	for (;;) {
		mutex_unlock(&c->lock);
		ret = hipec_read(r, b->idx, b->folio, b->nr);
		mutex_lock(&c->lock);
		c->core.context = context;
		c->core.counters.read_ios++;
		if (!ret) {
			c->core.counters.read_pages += b->nr;
			return 0;
		}
		c->core.counters.read_errors++;
		if (b->nr == 1) {
			hipec_batch_cut(c, b, 0);
			return ret;
		}
		hipec_batch_cut(c, b, 1);
		wake_up_all(&c->wait);	/* who waits for one of the others */
	}
}

/**
 * hipec_batch_activate() - tell the policy of the pages of a batch, in their order
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
void hipec_batch_activate(struct hipec_region *r, struct hipec_batch *b, u32 idx,
			  bool write)
{
	struct hipec_container *c = r->c;
	struct hipec_core *core = &c->core;
	u32 i;

	c->frames.batches++;
	for (i = 0; i < b->nr; i++) {
		u32 pgno = r->start + b->idx + i, h = b->h[i];
		bool wanted = b->idx + i == idx;

		folio_get(b->folio[i]);
		core->vm.page[h].flags &= ~(HIPEC_PAGE_READING | HIPEC_PAGE_LOOKED);
		core->counters.pages_in++;
		if (wanted)
			hipec_tracer_note(&core->vm, HIPEC_RECORD_TOUCH, pgno,
				  write ? HIPEC_TOUCH_WRITE : 0);
		hipec_core_activate(core, h);
		hipec_event_added(c, pgno);
		hipec_core_added(core, pgno, !wanted);
		hipec_sample_note(c, HIPEC_SAMPLE_FAULT, pgno, write && wanted);
		hipec_core_fault(core, h, write && wanted);
		hipec_event_access(c, pgno, write && wanted, true);
	}
}
