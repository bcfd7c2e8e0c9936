// SPDX-License-Identifier: GPL-2.0-only
/*
 * What mlock() holds stays in memory, and mapped. Its maps are asked, before and behind
 * the unmapping of a victim; a victim that was locked in between is mapped again.
 *
 * Interface:
 * hipec_locked()     whether mlock() keeps pages in memory
 * hipec_unmap()      pages are unmapped that are to go
 * hipec_map_again()  work: what was unmapped though it is locked
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cache.h"

/* Whether a map has pages locked. Under i_mmap's lock. */
static bool some_locked(struct address_space *mapping, pgoff_t idx, pgoff_t last)
{
	struct rb_node *node;

	for (node = rb_first_cached(&mapping->i_mmap); node; node = rb_next(node)) {
		struct vm_area_struct *vma =
			rb_entry(node, struct vm_area_struct, shared.rb);

		if (vma->vm_pgoff > last)
			break;
		if (vma->vm_flags & VM_LOCKED && idx < vma->vm_pgoff + vma_pages(vma))
			return true;
		cond_resched();	/* a user may have many */
	}
	return false;
}

/**
 * hipec_locked() - whether somebody has pages of a file locked by mlock()
 * @mapping: of the file
 * @idx:     first page
 * @nr:      pages
 * @wait:    wait for the lock of the file's maps
 *
 * The maps are asked. The mark of a folio only hints: mlock() sets it on a large folio
 * where a map has all of it, and munlock() may clear it while others have it locked.
 *
 * Context: process context, may sleep; without @wait it waits for no lock.
 * Return: true: they are to stay; also if @wait is false and the lock is taken.
 */
bool hipec_locked(struct address_space *mapping, pgoff_t idx, u32 nr, bool wait)
{
	bool locked;

	if (!mapping_mapped(mapping))
		return false;
	if (wait)
		i_mmap_lock_read(mapping);
	else if (!i_mmap_trylock_read(mapping))
		return true;
	locked = some_locked(mapping, idx, idx + nr - 1);
	i_mmap_unlock_read(mapping);
	return locked;
}

/**
 * hipec_unmap() - unmap pages of a file that are to leave the page cache
 * @f:   file
 * @idx: first page; hipec_locked() was false of them
 * @nr:  pages
 *
 * An mlock() may come between that look and the unmapping. It brings in all that is not
 * mapped when it has set its flag, so a look behind the unmapping decides. What is
 * locked then stays in the page cache. But the mlock() may have found it mapped, and now
 * it is not: whatever takes unmapped pages away, as POSIX_FADV_DONTNEED does, would take
 * it. So it is mapped again, by a work, since this task may hold any lock that a fault
 * wants.
 *
 * Context: process context, may sleep.
 * Return: whether nobody has them locked; if not, the caller must not evict them.
 */
bool hipec_unmap(struct hipec_cfile *f, pgoff_t idx, u32 nr)
{
	struct address_space *mapping = f->inode->i_mapping;
	bool locked;

	/* For the work. A file that is let go needs no room. */
	if (!atomic_inc_not_zero(&f->users))
		return false;
	unmap_mapping_pages(mapping, idx, nr, false);
	locked = hipec_locked(mapping, idx, nr, true);
	if (!locked || !queue_work(hipec_wq, &f->again))
		hipec_file_put(f);
	return !locked;
}

/* A part of an address space that is locked. */
struct part {
	struct mm_struct *mm;
	unsigned long start, end;
};

/* Locked maps of a file; at most @most are written, with a reference. Return: how many. */
static u32 find_parts(struct address_space *mapping, struct part *part, u32 most)
{
	struct rb_node *node;
	u32 nr = 0;

	i_mmap_lock_read(mapping);
	for (node = rb_first_cached(&mapping->i_mmap); node; node = rb_next(node)) {
		struct vm_area_struct *vma =
			rb_entry(node, struct vm_area_struct, shared.rb);

		if (!(vma->vm_flags & VM_LOCKED))
			continue;
		if (nr < most && mmget_not_zero(vma->vm_mm))
			part[nr++] = (struct part){ vma->vm_mm, vma->vm_start, vma->vm_end };
		else if (!part)
			nr++;
	}
	i_mmap_unlock_read(mapping);
	return nr;
}

/* Addresses that are in no map, or in another file's by now, do no harm. */
static void fault_in(const struct part *part)
{
	unsigned long addr;
	bool unlocked;

	for (addr = part->start; addr < part->end; addr += PAGE_SIZE) {
		mmap_read_lock(part->mm);
		fixup_user_fault(part->mm, addr, FAULT_FLAG_REMOTE, &unlocked);
		mmap_read_unlock(part->mm);
		cond_resched();
	}
}

/* Work: maps of a file that are locked have all their pages mapped. */
void hipec_map_again(struct work_struct *work)
{
	struct hipec_cfile *f = container_of(work, struct hipec_cfile, again);
	struct address_space *mapping = f->inode->i_mapping;
	u32 i, nr = find_parts(mapping, NULL, 0);
	struct part *part = kvmalloc_array(nr, sizeof(*part), GFP_KERNEL | __GFP_NOFAIL);

	/* Those that come meanwhile bring in what they lock themselves. */
	nr = find_parts(mapping, part, nr);
	for (i = 0; i < nr; i++) {
		fault_in(&part[i]);
		mmput(part[i].mm);
	}
	kvfree(part);
	hipec_file_put(f);
}
