// SPDX-License-Identifier: GPL-2.0-only
/*
 * What mlock() holds stays in memory. The file's maps are asked, before a victim is unmapped and
 * behind that: one that was locked in between is not evicted. It may have to be mapped again,
 * which its program's next touch does.
 *
 * Interface:
 * hipec_mlock_locked() whether mlock() keeps pages in memory
 * hipec_mlock_unmap()  pages are unmapped that are to go
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>

#include "cache.h"

/**
 * hipec_mlock_locked() - whether pages of a file are locked by mlock()
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
bool hipec_mlock_locked(struct address_space *mapping, pgoff_t idx, u32 nr, bool wait)
{
	struct vm_area_struct *vma;
	bool locked = false;

	if (!mapping_mapped(mapping))
		return false;
	if (wait)
		i_mmap_lock_read(mapping);
	else if (!i_mmap_trylock_read(mapping))
		return true;
	hipec_for_each_vma(vma, mapping, idx, idx + nr - 1) {
		locked = vma->vm_flags & VM_LOCKED;
		if (locked)
			break;
		cond_resched();	/* a user may have many */
	}
	i_mmap_unlock_read(mapping);
	return locked;
}

/**
 * hipec_mlock_unmap() - unmap pages of a file that are to leave the page cache
 * @mapping: of the file
 * @idx:     first page; hipec_mlock_locked() was false of them
 * @nr:      pages
 *
 * An mlock() may come between that look and the unmapping. It brings in all that is not
 * mapped when it has set its flag, so a look behind the unmapping decides.
 *
 * Context: process context, may sleep.
 * Return: whether none is locked; if not, the caller must not evict them.
 */
bool hipec_mlock_unmap(struct address_space *mapping, pgoff_t idx, u32 nr)
{
	unmap_mapping_pages(mapping, idx, nr, false);
	return !hipec_mlock_locked(mapping, idx, nr, true);
}
