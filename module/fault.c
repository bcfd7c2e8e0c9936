// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on a region.
 *
 * Life of a fault: a page that is resident is handed out (soft fault). Else the
 * fault takes free frames, by Replace where there are none, binds them to the
 * page and, when misses are sequential, to those behind it; reads them in one
 * go without any lock of ours; shows them to the policy, one PageFault each;
 * maps the others around; and returns its own page locked, so that the core
 * installs the PTE while eviction cannot have it.
 */
#include <linux/pagemap.h>

#include "internal.h"

/* Pages that one fault brings in: consecutive, the one that faulted first. */
struct batch {
	u32 idx;
	u32 nr;
	u32 h[HIPEC_MAX_CLUSTER];
	struct folio *folio[HIPEC_MAX_CLUSTER];
};

/*
 * Pages to read for a miss on @idx: a cluster if it follows the last one read,
 * up to the first page that is resident and within VMA, region and file.
 */
static u32 cluster_size(struct hipec_region *r, struct vm_area_struct *vma,
			u32 idx)
{
	struct hipec_container *c = r->c;
	u32 most = min(c->cluster, c->nr_frames - c->nr_surplus);
	u32 end = min_t(u64, hipec_io_pages(r),
			(u64)vma->vm_pgoff + vma_pages(vma));
	u32 nr = 1;

	if (idx != r->next_idx || vma->vm_flags & VM_RAND_READ)
		return 1;
	while (nr < most && idx + nr < end &&
	       !hipec_page_find(&c->vm, r->start + idx + nr))
		nr++;
	return nr;
}

static void batch_bind(struct hipec_region *r, struct batch *b)
{
	struct hipec_container *c = r->c;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		b->h[i] = hipec_frame_bind(c, r, b->idx + i);
		b->folio[i] = c->frame[b->h[i]];
	}
	r->next_idx = b->idx + b->nr;
}

/* Shorten @b to @nr pages, giving the frames of the others back. */
static void batch_cut(struct hipec_container *c, struct batch *b, u32 nr)
{
	while (b->nr > nr) {
		b->nr--;
		c->nr_reading--;
		hipec_frame_unbind(c, b->h[b->nr]);
	}
}

/*
 * Fill the frames of @b, dropping c->lock meanwhile. If a cluster cannot be
 * read, the page that faulted is tried alone: an error belongs to one page.
 */
static int batch_read(struct hipec_region *r, struct batch *b)
{
	struct hipec_container *c = r->c;
	int ret;

	for (;;) {
		mutex_unlock(&c->lock);
		ret = hipec_io_read(r, b->idx, b->folio, b->nr);
		mutex_lock(&c->lock);
		c->counters.read_ios++;
		if (!ret) {
			c->counters.read_pages += b->nr;
			return 0;
		}
		c->counters.read_errors++;
		if (b->nr == 1) {
			batch_cut(c, b, 0);
			return ret;
		}
		batch_cut(c, b, 1);
	}
}

/*
 * Show the pages to the policy. Each keeps a reference until it is mapped, so
 * that no event, ours or another task's, can evict it before.
 */
static void batch_show(struct hipec_region *r, struct batch *b, bool write)
{
	struct hipec_container *c = r->c;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		folio_get(b->folio[i]);
		c->vm.page[b->h[i]].flags &= ~HIPEC_PAGE_READING;
		c->nr_reading--;
		c->counters.pages_in++;
		hipec_page_show(&c->vm, b->h[i]);
		hipec_container_page_fault(c, r->start + b->idx + i,
					   write && !i);
	}
}

/* Map the pages behind the one that faulted, not referenced yet. */
static void batch_map_around(struct vm_fault *vmf, struct batch *b)
{
	unsigned long addr = vmf->address & PAGE_MASK;
	u32 i;

	for (i = 1; i < b->nr; i++) {
		struct folio *folio = b->folio[i];

		/* Only another task that maps it can hold the lock: skip. */
		if (folio_trylock(folio)) {
			vm_insert_page(vmf->vma, addr + i * PAGE_SIZE,
				       &folio->page);
			folio_unlock(folio);
		}
		folio_put(folio);
	}
	if (b->nr > 1)
		hipec_young_reset_range(vmf->vma, addr + PAGE_SIZE, b->nr - 1);
}

/* A miss on @idx. Expects c->lock and drops it. 0: look the page up again. */
static vm_fault_t miss(struct hipec_region *r, struct vm_fault *vmf, u32 idx)
{
	bool write = vmf->flags & FAULT_FLAG_WRITE;
	struct hipec_container *c = r->c;
	struct batch b = { .idx = idx };
	int ret = -EDEADLK;

	if (!hipec_io_would_deadlock(r))
		ret = hipec_container_make_room(c, r->start + idx, write,
						cluster_size(r, vmf->vma, idx));
	if (ret <= 0) {
		mutex_unlock(&c->lock);
		return ret ? VM_FAULT_SIGBUS : 0;
	}
	c->counters.faults++;
	b.nr = ret;
	batch_bind(r, &b);
	ret = batch_read(r, &b);
	if (!ret)
		batch_show(r, &b, write);
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);
	if (ret)
		return VM_FAULT_SIGBUS;
	batch_map_around(vmf, &b);
	folio_lock(b.folio[0]);
	vmf->page = &b.folio[0]->page;
	return VM_FAULT_LOCKED | VM_FAULT_MAJOR;
}

/* A hit on page @h. Expects c->lock and drops it. 0: look it up again. */
static vm_fault_t hit(struct hipec_region *r, struct vm_fault *vmf, u32 h)
{
	struct hipec_container *c = r->c;
	struct folio *folio = c->frame[h];

	folio_get(folio);
	c->counters.soft_faults++;
	mutex_unlock(&c->lock);
	if (folio_lock_killable(folio)) {
		folio_put(folio);
		return VM_FAULT_SIGBUS;
	}
	if (folio->mapping != r->inode->i_mapping ||
	    folio->index != vmf->pgoff) {
		folio_unlock(folio);
		folio_put(folio);
		return 0;
	}
	vmf->page = &folio->page;
	return VM_FAULT_LOCKED;
}

/*
 * On a fatal signal the answer is SIGBUS: the task dies anyway, and a fault of
 * the kernel's own (copy_from_user()) gets EFAULT; VM_FAULT_NOPAGE would make it
 * fault again for ever.
 */
static vm_fault_t hipec_fault(struct vm_fault *vmf)
{
	struct hipec_region *r = vmf->vma->vm_private_data;
	struct hipec_container *c = r->c;
	vm_fault_t ret = 0;

	while (!ret) {
		u32 h;

		if (vmf->pgoff >= hipec_io_pages(r))
			return VM_FAULT_SIGBUS;
		if (mutex_lock_killable(&c->lock))
			return VM_FAULT_SIGBUS;
		h = hipec_page_find(&c->vm, r->start + vmf->pgoff);
		if (!h) {
			ret = miss(r, vmf, vmf->pgoff);
		} else if (hipec_page_live(&c->vm, h)) {
			ret = hit(r, vmf, h);
		} else {
			/* Being read by another fault, or on its way out. */
			if (!hipec_io_wait(c, TASK_KILLABLE))
				ret = VM_FAULT_SIGBUS;
			mutex_unlock(&c->lock);
		}
	}
	return ret;
}

static vm_fault_t hipec_page_mkwrite(struct vm_fault *vmf)
{
	struct hipec_region *r = vmf->vma->vm_private_data;
	struct folio *folio = page_folio(vmf->page);
	vm_fault_t ret = VM_FAULT_LOCKED;

	/* While it is written back, its writer holds the lock. */
	if (folio_lock_killable(folio))
		return VM_FAULT_SIGBUS;
	if (folio->mapping != r->inode->i_mapping)
		ret = VM_FAULT_NOPAGE;	/* evicted meanwhile: fault again */
	else if (vmf->pgoff >= hipec_io_pages(r))
		ret = VM_FAULT_SIGBUS;	/* the file was cut */
	if (ret != VM_FAULT_LOCKED)
		folio_unlock(folio);
	return ret;
}

/*
 * Nothing to do: only a VMA whose ops have map_pages gets faults under its own
 * lock instead of mmap_lock, and mapping around is done by the fault.
 */
static vm_fault_t hipec_map_pages(struct vm_fault *vmf, pgoff_t start,
				  pgoff_t end)
{
	return 0;
}

/* munmap: start to write back. mmap_lock is held for writing, so no I/O here. */
static void hipec_vma_close(struct vm_area_struct *vma)
{
	struct hipec_region *r = vma->vm_private_data;
	struct hipec_container *c = r->c;

	if (!atomic_read(&c->nr_dirty))
		return;
	set_bit(0, &c->flush_all);
	queue_work(hipec_wq, &c->wash);
}

const struct vm_operations_struct hipec_vm_ops = {
	.fault = hipec_fault,
	.page_mkwrite = hipec_page_mkwrite,
	.map_pages = hipec_map_pages,
	.close = hipec_vma_close,
};
