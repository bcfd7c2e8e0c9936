// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapped victims leave their page tables together, with one flush of the TLB for all that a
 * VMA maps (base/clear.c). The page tables' references are put after it, and i_mmap_rwsem,
 * which munmap() wants, is held until then.
 *
 * Interface:
 * hipec_unmap_together()  unmap a file's victims
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/sched.h>

#include "cache.h"

/**
 * struct unmapping - victims that are unmapped
 * @mapping:    of their file
 * @victim:     in order
 * @nr:         victims
 * @careful:    bit of each that is not unmapped here
 * @nr_cleared: entries of the VMA at hand that are gone, and not flushed
 * @cleared:    folios that they mapped; the entries' references are ours
 */
struct unmapping {
	struct address_space *mapping;
	const struct hipec_victim *victim;
	u32 nr;
	u32 careful;
	u32 nr_cleared;
	struct folio *cleared[HIPEC_MAX_VICTIMS];
};

/* Victim @i, which the VMA may map at @addr. Context: under i_mmap_rwsem. */
static void clear_at(struct unmapping *u, u32 i, struct vm_area_struct *vma,
		     unsigned long addr)
{
	switch (hipec_clear_entry(u->mapping, vma, addr, &u->cleared[u->nr_cleared])) {
	case HIPEC_CLEARED_ENTRY:
		u->nr_cleared++;
		break;
	case HIPEC_CLEARED_NOT:
		u->careful |= BIT(i);
		break;
	case HIPEC_CLEARED_NOTHING:
		break;
	}
}

/* No CPU uses a translation of a cleared entry when this returns. */
static void flush(struct unmapping *u, struct mm_struct *mm)
{
	hipec_clear_flush_mm(mm);
	while (u->nr_cleared)
		folio_put(u->cleared[--u->nr_cleared]);
}

/* Victims that a VMA maps. Context: under i_mmap_rwsem; may sleep. */
static void unmap_from(struct unmapping *u, struct vm_area_struct *vma)
{
	pgoff_t first = vma->vm_pgoff, end = first + vma_pages(vma);
	const struct hipec_victim *v;
	bool special = hipec_clear_special(vma, VM_PFNMAP | VM_MIXEDMAP | VM_HUGETLB);
	u32 i;

	for (i = 0; i < u->nr; i++) {
		v = &u->victim[i];
		if (v->idx + v->nr <= first || v->idx >= end)
			continue;
		if (special || v->nr > 1)
			u->careful |= BIT(i);
		else
			clear_at(u, i, vma, vma->vm_start + ((v->idx - first) << PAGE_SHIFT));
	}
	if (u->nr_cleared)
		flush(u, vma->vm_mm);
}

/**
 * hipec_unmap_together() - unmap victims of a file, with one flush for each VMA
 * @victim: of one file, which is in use; in order
 * @nr:     victims
 *
 * Context: process context, may sleep.
 * Return: bit of each victim for which this does not do: some VMA that maps it has it
 * locked, or writable, or as a part of a large folio, or wants to be told. The others are
 * mapped no more, unless they are dirty or a fault has mapped them again.
 */
u32 hipec_unmap_together(const struct hipec_victim *victim, u32 nr)
{
	struct unmapping u = {
		.mapping = victim->f->inode->i_mapping, .victim = victim, .nr = nr,
	};
	u32 last = victim[nr - 1].idx + victim[nr - 1].nr - 1;
	struct rb_node *node;

	i_mmap_lock_read(u.mapping);
	for (node = rb_first_cached(&u.mapping->i_mmap); node; node = rb_next(node)) {
		struct vm_area_struct *vma =
			rb_entry(node, struct vm_area_struct, shared.rb);

		if (vma->vm_pgoff > last)
			break;
		unmap_from(&u, vma);
		cond_resched();	/* a user may have many */
	}
	i_mmap_unlock_read(u.mapping);
	return u.careful;
}
