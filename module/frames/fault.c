// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on a region.
 *
 * Life of a fault: a page that is resident is handed out (soft fault). Else the
 * fault takes free frames, by Replace where there are none, binds them to the
 * page and, when misses are sequential, to those behind it (batch.c); reads them
 * in one go without any lock of ours, and the next ones ahead (readahead.c); shows
 * them to the policy, one PageFault each; maps the others around; and returns its
 * own page locked, so that the core installs the PTE while eviction cannot have it.
 * Where a fault has mmap_lock, which other threads want, it drops that before the read and
 * comes again for the rest.
 *
 * In a private mapping the core maps our pages read-only, and copies a page that
 * is written to: here, from the page that we return, if it was not mapped; else
 * without a word to us. The copies are the core's alone.
 */
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/sched/task_stack.h>

#include "../compat.h"
#include "../context/context.h"
#include "../include/uapi/hipec_sample.h"
#include "frames.h"
#include "writeback.h"

/*
 * Whether the page is to be written to. What a private mapping writes to is a
 * copy of it, so to us and to the policy that is a read.
 */
static bool is_write_fault(const struct vm_fault *vmf)
{
	return vmf->flags & FAULT_FLAG_WRITE && vmf->vma->vm_flags & VM_SHARED;
}

/* Address of page @idx of the region in @vma. */
static unsigned long address_of(const struct vm_area_struct *vma, pgoff_t idx)
{
	return vma->vm_start + ((idx - vma->vm_pgoff) << PAGE_SHIFT);
}

/*
 * Whether page @i of @b can be mapped in @vma; then it is locked. Only another
 * task that maps it can hold the lock: skip.
 */
static bool may_map(const struct vm_area_struct *vma,
		    const struct hipec_batch *b, u32 i)
{
	pgoff_t idx = b->idx + i;

	return idx >= vma->vm_pgoff && address_of(vma, idx) < vma->vm_end &&
	       folio_trylock(b->folio[i]);
}

/*
 * Map locked pages; where there is something already, a copy say, it stays.
 *
 * x86 maps pages as referenced. To reset that afterwards would be too late where
 * another thread touches one at once: its CPU remembers that the bit is set. So
 * they are mapped as of a VMA whose pages are not referenced at first.
 */
static void map_pages(const struct vm_area_struct *vma, unsigned long addr,
		      struct folio **folio, u32 nr)
{
	struct vm_area_struct old = *vma;
	struct page *page[HIPEC_MAX_CLUSTER] HIPEC_UNINITIALIZED;
	unsigned long left = nr;
	u32 i;

	pgprot_val(old.vm_page_prot) &= ~_PAGE_ACCESSED;
	for (i = 0; i < nr; i++)
		page[i] = &folio[i]->page;
	while (left && vm_insert_pages(&old, addr + ((nr - left) << PAGE_SHIFT),
				       page + nr - left, &left) == -EBUSY)
		left--;
	for (i = 0; i < nr; i++)
		folio_unlock(folio[i]);
}

/*
 * Map the pages of @b other than the one that faulted, not referenced yet, and
 * drop the references that hipec_batch_activate() took. Return: the folio of that
 * page, with its reference.
 */
static struct folio *map_around(struct vm_fault *vmf, struct hipec_batch *b)
{
	struct vm_area_struct *vma = vmf->vma;
	u32 own = vmf->pgoff - b->idx, i, nr;

	for (i = 0; i < b->nr; i += nr + 1) {
		for (nr = 0; i + nr < b->nr && i + nr != own &&
			     may_map(vma, b, i + nr); nr++)
			;
		if (nr)
			map_pages(vma, address_of(vma, b->idx + i),
				  b->folio + i, nr);
	}
	for (i = 0; i < b->nr; i++)
		if (i != own)
			folio_put(b->folio[i]);
	return b->folio[own];
}

/* How long a fault of the kernel's own waits, jiffies. */
#define HIPEC_FAULT_TIMEOUT (5 * HZ)

/*
 * Whether the fault is the kernel's own: of write() or direct I/O, say, from or
 * to a region, which may hold a file's lock that writeback waits for.
 */
static bool of_kernel(const struct vm_fault *vmf)
{
	return !(vmf->flags & FAULT_FLAG_USER);
}

/* Whether the fault may drop its lock and come again: the kernel's own, once. */
static bool may_come_again(const struct vm_fault *vmf)
{
	return (vmf->flags & FAULT_FLAG_ALLOW_RETRY) &&
	       !(of_kernel(vmf) && vmf->flags & FAULT_FLAG_TRIED);
}

/* Whether page @h is given up or written just now. Expects c->lock. */
static bool is_in_writeback(const struct hipec_container *c, u32 h)
{
	return c->core.vm.page[h].flags & (HIPEC_PAGE_WRITING | HIPEC_PAGE_EVICT_PENDING);
}

/* Whether it is writeback that the fault waits for. Expects c->lock. */
static bool for_writeback(struct hipec_region *r, const struct vm_fault *vmf)
{
	struct hipec_container *c = r->c;
	u32 h = hipec_page_find(&c->core.vm, r->start + vmf->pgoff);

	return h ? is_in_writeback(c, h) : c->core.nr_pending;
}

/*
 * Wait for a page, or any, but not long where it is another container that is waited for: nobody
 * wakes us then. Return: timeout that is left, or as hipec_io_wait().
 */
static long await_io(struct hipec_container *c, u32 pgno, long timeout)
{
	long slice = c->core.pool_empty ? min(timeout, HZ / 50 + 1) : timeout;
	long left = hipec_io_wait_for(c, pgno, TASK_KILLABLE, slice);

	if (left < 0 || timeout == MAX_SCHEDULE_TIMEOUT)
		return left < 0 ? left : timeout;
	return timeout - slice + left;
}

/*
 * Wait for the page to be read or cleaned; if it is in no table, for some page of the
 * container. Expects c->lock and drops it.
 *
 * The read or the writeback may wait for the inode's lock, and that lock's holder for
 * mmap_lock: so drop mmap_lock, or the VMA's, before the wait, where the core lets us.
 * The holder may also be this task, or one that waits for it: so a fault of the
 * kernel's own fails after a while; write() then writes less, or returns EFAULT.
 *
 * Return: 0 to look the page up again; VM_FAULT_RETRY, with the lock dropped;
 * VM_FAULT_SIGBUS.
 */
static vm_fault_t wait_for_io(struct hipec_region *r, struct vm_fault *vmf,
			      long *timeout)
{
	struct hipec_container *c = r->c;
	struct file *file = NULL;
	u32 pgno;

	if (for_writeback(r, vmf) && of_kernel(vmf) && hipec_io_would_deadlock(r)) {
		mutex_unlock(&c->lock);
		return VM_FAULT_SIGBUS;
	}
	if (may_come_again(vmf)) {
		if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT) {
			mutex_unlock(&c->lock);
			return VM_FAULT_RETRY;
		}
		/* Without the lock the VMA may go, and all that hangs on it. */
		file = get_file(vmf->vma->vm_file);
		release_fault_lock(vmf);
	}
	pgno = r->start + vmf->pgoff;
	*timeout = await_io(c, hipec_page_find(&c->core.vm, pgno) ? pgno : HIPEC_NO_PGNO, *timeout);
	mutex_unlock(&c->lock);
	if (file) {
		fput(file);
		return VM_FAULT_RETRY;
	}
	return *timeout > 0 ? 0 : VM_FAULT_SIGBUS;
}

/*
 * The fault fails for a reason that the application cannot see: say it.
 * Return: VM_FAULT_SIGBUS.
 */
static vm_fault_t fail_fault(const struct vm_fault *vmf, int err, const char *why)
{
	if (!fatal_signal_pending(current))
		pr_warn_ratelimited("%s[%d]: fault on page %lu of a region fails: %s (%d)\n",
				    current->comm, current->pid, vmf->pgoff, why,
				    err);
	return VM_FAULT_SIGBUS;
}

/* How long a fault sleeps, jiffies, for pages that are pinned while none is served. */
#define HIPEC_MOMENT HZ

/* And a program's, after another one's moment was over. */
#define HIPEC_GRACE (HZ / 10)

/**
 * struct pins - a fault waits until a page is no longer pinned
 * @served: faults that the container had served when it was looked at last
 * @moment: jiffies that it sleeps yet, unless another one is served
 * @all:    jiffies that it sleeps yet, whatever happens
 */
struct pins {
	u32 served;
	u32 moment, all;
};

/*
 * Every page is pinned. Faults pin the page that they are about to map or to
 * copy, so with as many threads as frames this happens and is over at once:
 * wait a moment, unless no fault is served for a while. It may not be over where the
 * waiting tasks have pinned the pages themselves: after one fault times out, the
 * kernel's own, of direct I/O for example, fail at once until some fault succeeds. A
 * program's fault would be its end, and a worker may be about to let the pages go: it
 * has a tenth of its moment whatever happened to others. Count sleeps, not elapsed time:
 * the holder of a pin may not have been scheduled. Expects c->lock and drops it.
 * Return: 0 to look the page up again; VM_FAULT_SIGBUS.
 */
static vm_fault_t wait_for_pins(struct hipec_container *c,
				const struct vm_fault *vmf, struct pins *pins)
{
	long left = -ETIME;
	bool over;

	if (pins->served != c->frames.served) {
		pins->served = c->frames.served;
		pins->moment = HIPEC_MOMENT;
	}
	over = !pins->moment || !pins->all;
	if (over)
		c->frames.last_timeout = c->frames.served;
	if (!over && (c->frames.last_timeout != c->frames.served ||
		      (!of_kernel(vmf) && pins->moment > HIPEC_MOMENT - HIPEC_GRACE)))
		left = hipec_io_wait(c, TASK_KILLABLE, 1);
	if (!left) {
		pins->moment--;
		pins->all--;
	}
	mutex_unlock(&c->lock);
	return left < 0 ? fail_fault(vmf, -ENOMEM, "all pages are pinned") : 0;
}

/*
 * The batch @b holds the page that faulted and was read: show it to the policy
 * and map it. Expects c->lock and drops it.
 */
static vm_fault_t finish_read_fault(struct hipec_region *r, struct vm_fault *vmf,
				    struct hipec_batch *b)
{
	struct hipec_container *c = r->c;

	hipec_batch_activate(r, b, vmf->pgoff, is_write_fault(vmf));
	c->frames.served++;
	mutex_unlock(&c->lock);
	hipec_io_wake(c, r->start + b->idx, b->nr);
	vmf->page = &map_around(vmf, b)->page;
	lock_page(vmf->page);
	return VM_FAULT_LOCKED | VM_FAULT_MAJOR;
}

/*
 * Whether the fault is to read without mmap_lock: other threads that begin, or map memory,
 * would wait for the disk, and behind them all that fault. A VMA's lock is waited for by few.
 * Only once: others may have taken the frames when it comes again. (mmap() with MAP_POPULATE
 * does not say that it has been here before: see hipec_readahead_leave().)
 */
static bool reads_unlocked(const struct vm_fault *vmf)
{
	return fault_flag_allow_retry_first(vmf->flags) &&
	       !(vmf->flags & FAULT_FLAG_RETRY_NOWAIT) && !fault_holds_vma_lock(vmf) &&
	       atomic_read(&vmf->vma->vm_mm->mm_users) > 1;
}

/*
 * Read @b into place @a without mmap_lock. An error is met again by the fault that comes
 * again, with its lock. Expects c->lock and drops it.
 */
static vm_fault_t read_unlocked(struct hipec_region *r, struct vm_fault *vmf,
				struct hipec_ahead *a, struct hipec_batch *b)
{
	/* Without the lock the VMA may go, and all that hangs on it. */
	struct file *file = get_file(vmf->vma->vm_file);
	struct hipec_container *c = r->c;
	u32 pgno = r->start + b->idx, nr = b->nr;

	release_fault_lock(vmf);
	hipec_batch_read(r, b);
	hipec_readahead_left(a, b);
	mutex_unlock(&c->lock);
	hipec_io_wake(c, pgno, nr);
	fput(file);
	return VM_FAULT_RETRY | VM_FAULT_MAJOR;
}

/* A number for what all registers of the task are, and which task it is. */
static u64 state_of_task(void)
{
	const struct pt_regs *r = task_pt_regs(current);
	const unsigned long word[] = {
		r->ip, r->sp, r->ax, r->bx, r->cx, r->dx, r->si, r->di, r->bp, r->r8,
		r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, current->pid,
	};
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(word); i++)
		sum = rol64(sum, 7) + word[i];
	return sum;
}

/*
 * An instruction may need two pages that are not there. If the policy gives the first up
 * for the second, and so on, it never ends: so the first stays until the second is there.
 * It is the one missed last, by a task whose registers have not changed since. Expects
 * c->lock. Return: its folio, with a reference, or NULL.
 */
static struct folio *needed_as_well(const struct hipec_container *c, u64 state, u32 pgno)
{
	u32 h;

	if (!state || state != c->frames.last_state || c->frames.last_miss == pgno)
		return NULL;
	h = hipec_page_find(&c->core.vm, c->frames.last_miss);
	if (!h || !hipec_core_resident(&c->core, h))
		return NULL;
	folio_get(c->frames.frame[h]);
	return c->frames.frame[h];
}

/*
 * A page that is in no table. Expects c->lock and drops it.
 * Return: 0 to look it up again.
 */
static vm_fault_t handle_miss(struct hipec_region *r, struct vm_fault *vmf, u64 state,
			      long *timeout, struct pins *pins)
{
	/* The kernel's own fault waits once, as the policy wants it. */
	bool wait = !of_kernel(vmf) || (may_come_again(vmf) &&
					!hipec_io_would_deadlock(r));
	bool write = is_write_fault(vmf);
	struct hipec_container *c = r->c;
	struct hipec_demand d = {
		.pgno = r->start + vmf->pgoff, .write = write, .wait = wait,
		.whom = &c->core,
	};
	struct folio *needed = needed_as_well(c, state, d.pgno);
	/* Who jumps about makes no sequences. */
	bool jumps = vmf->vma->vm_flags & VM_RAND_READ;
	struct hipec_batch b HIPEC_UNINITIALIZED;
	struct hipec_ahead *left = NULL;
	int ret;

	d.want = jumps ? 1 : hipec_batch_size(r, vmf->vma, vmf->pgoff,
					      hipec_readahead_window(r, vmf->pgoff)) ?: 1;
	ret = hipec_core_make_room(&c->core, &d);
	if (needed)
		folio_put(needed);
	if (ret == -EAGAIN)
		return wait_for_io(r, vmf, timeout);
	if (ret == -ENOMEM)
		return wait_for_pins(c, vmf, pins);
	if (ret < 0) {
		mutex_unlock(&c->lock);
		return fail_fault(vmf, ret, "victims cannot be written");
	}
	c->frames.last_miss = d.pgno;
	c->frames.last_state = state;
	c->core.counters.faults++;
	b.idx = vmf->pgoff;
	b.nr = ret;
	hipec_batch_bind(r, &b);
	if (!jumps)
		hipec_readahead_start(r, hipec_readahead_note(r, b.idx, b.nr), vmf->vma, write);
	if (reads_unlocked(vmf))
		left = hipec_readahead_leave(r, &b);
	if (left)
		return read_unlocked(r, vmf, left, &b);
	ret = hipec_batch_read(r, &b);
	if (!ret)
		return finish_read_fault(r, vmf, &b);
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);
	return fail_fault(vmf, ret, "the page cannot be read");
}

/*
 * The first fault on a batch that was, or is being, read ahead, or that a fault left. Expects
 * c->lock and drops it. Return: 0 to look the page up again.
 */
static vm_fault_t handle_first_touch(struct hipec_region *r, struct vm_fault *vmf,
				     struct hipec_ahead *a, long *timeout)
{
	struct hipec_container *c = r->c;
	struct hipec_batch b HIPEC_UNINITIALIZED;

	hipec_readahead_start(r, a->s, vmf->vma, is_write_fault(vmf));
	if (!a->read)
		return wait_for_io(r, vmf, timeout);
	if (!hipec_readahead_is_left(a)) {
		c->core.counters.faults++;
		c->core.counters.ahead_faults++;
	}
	hipec_readahead_take(a, &b);
	return finish_read_fault(r, vmf, &b);
}

/* A hit on page @h. Expects c->lock and drops it. 0: look it up again. */
static vm_fault_t handle_hit(struct hipec_region *r, struct vm_fault *vmf, u32 h)
{
	struct hipec_container *c = r->c;
	struct folio *folio = c->frames.frame[h];

	/* The reference keeps it from being given up in the event. */
	folio_get(folio);
	c->core.counters.soft_faults++;
	c->core.vm.page[h].flags &= ~HIPEC_PAGE_LOOKED;
	hipec_tracer_note(&c->core.vm, HIPEC_RECORD_TOUCH, r->start + vmf->pgoff,
		  HIPEC_TOUCH_RESIDENT | (is_write_fault(vmf) ? HIPEC_TOUCH_WRITE : 0));
	hipec_sample_note(c, HIPEC_SAMPLE_SOFT, r->start + vmf->pgoff,
			  is_write_fault(vmf));
	if (unlikely(c->league) && hipec_page_live(&c->core.vm, h) &&
	    hipec_league_is_orphan(&c->core, h))
		hipec_core_fault(&c->core, h, is_write_fault(vmf));
	else
		hipec_core_hit(&c->core, h, is_write_fault(vmf));
	hipec_event_access(c, r->start + vmf->pgoff, is_write_fault(vmf), false);
	c->frames.served++;
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
	long timeout = of_kernel(vmf) ? HIPEC_FAULT_TIMEOUT : MAX_SCHEDULE_TIMEOUT;
	struct pins pins = { .all = HIPEC_FAULT_TIMEOUT, .moment = HIPEC_MOMENT };
	u64 state = of_kernel(vmf) ? 0 : state_of_task();
	vm_fault_t ret = 0;
	u64 context = c->core.wants_context || READ_ONCE(c->sampler) ?
		hipec_context(&c->contexts, vmf) : 0;

	while (!ret) {
		struct hipec_ahead *a;
		u32 h;

		if (vmf->pgoff >= hipec_io_pages(r))
			return VM_FAULT_SIGBUS;
		if (mutex_lock_killable(&c->lock))
			return VM_FAULT_SIGBUS;
		c->core.context = context;
		h = hipec_page_find(&c->core.vm, r->start + vmf->pgoff);
		if (h && is_write_fault(vmf) && is_in_writeback(c, h))
			ret = wait_for_io(r, vmf, &timeout);
		else if (h && hipec_core_resident(&c->core, h))
			ret = handle_hit(r, vmf, h);
		else if (!h)
			ret = handle_miss(r, vmf, state, &timeout, &pins);
		else if ((a = hipec_readahead_find(r, vmf->pgoff)))
			ret = handle_first_touch(r, vmf, a, &timeout);
		else
			ret = wait_for_io(r, vmf, &timeout);
	}
	return ret;
}

/*
 * Writeback has the page @h. Whose fault this is the core does not say here, so
 * who may wait for how long is not known: wait a moment, then unmap the page, and
 * the next fault on it is hipec_fault(). Expects c->lock and drops it.
 */
static vm_fault_t wait_for_page_writeback(struct vm_fault *vmf,
				  struct hipec_container *c, u32 h)
{
	long timeout = HZ / 50 + 1;

	while (timeout > 0 && is_in_writeback(c, h))
		timeout = hipec_io_wait(c, TASK_KILLABLE, timeout);
	mutex_unlock(&c->lock);
	if (!timeout)
		unmap_mapping_range(vmf->vma->vm_file->f_mapping,
				    (loff_t)vmf->pgoff << PAGE_SHIFT,
				    PAGE_SIZE, 0);
	return timeout < 0 ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

static vm_fault_t hipec_page_mkwrite(struct vm_fault *vmf)
{
	struct hipec_region *r = vmf->vma->vm_private_data;
	struct folio *folio = page_folio(vmf->page);
	struct hipec_container *c = r->c;
	vm_fault_t ret = VM_FAULT_LOCKED;
	u32 h;

	if (mutex_lock_killable(&c->lock))
		return VM_FAULT_SIGBUS;
	h = hipec_page_find(&c->core.vm, r->start + vmf->pgoff);
	if (!h || c->frames.frame[h] != folio)
		ret = VM_FAULT_NOPAGE;	/* evicted meanwhile: fault again */
	else if (vmf->pgoff >= hipec_io_pages(r) ||
		 IS_IMMUTABLE(hipec_backing(r)))
		ret = VM_FAULT_SIGBUS;	/* the file was cut, or frozen as it is */
	else if (is_in_writeback(c, h))
		return wait_for_page_writeback(vmf, c, h);
	else if (folio_lock_killable(folio))
		ret = VM_FAULT_SIGBUS;
	else {
		/*
		 * The core does so only when the page can be written to already,
		 * and another thread's fsync would miss what is written first.
		 */
		folio_mark_dirty(folio);
		hipec_tracer_note(&c->core.vm, HIPEC_RECORD_TOUCH, r->start + vmf->pgoff,
			  HIPEC_TOUCH_RESIDENT | HIPEC_TOUCH_WRITE);
	}
	mutex_unlock(&c->lock);
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

/*
 * munmap: start to write back what may have been written here. mmap_lock is held
 * for writing, so no I/O here.
 */
static void hipec_vma_close(struct vm_area_struct *vma)
{
	struct hipec_region *r = vma->vm_private_data;
	struct hipec_container *c = r->c;

	if (!(vma->vm_flags & VM_SHARED) || !atomic_read(&c->frames.nr_dirty))
		return;
	set_bit(0, &c->frames.flush_all);
	hipec_writeback_start(r);
}

const struct vm_operations_struct hipec_vm_ops = {
	.fault = hipec_fault,
	.page_mkwrite = hipec_page_mkwrite,
	.map_pages = hipec_map_pages,
	.close = hipec_vma_close,
};
