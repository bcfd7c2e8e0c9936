// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VMAs that map some pages of a file. A file's mapping has all of them in an interval tree,
 * whose search the kernel does not export: so that search is instantiated here. It only reads.
 *
 * Interface:
 * hipec_vma_first(), _next()  and hipec_for_each_vma(), of base.h
 */
#include <linux/fs.h>
#include <linux/interval_tree_generic.h>
#include <linux/mm.h>

#include "base.h"

/* As mm/interval_tree.c has them. */
#define FIRST(vma) ((vma)->vm_pgoff)
#define LAST(vma) ((vma)->vm_pgoff + vma_pages(vma) - 1)

INTERVAL_TREE_DEFINE(struct vm_area_struct, shared.rb, unsigned long, shared.rb_subtree_last,
		     FIRST, LAST, static __maybe_unused, vmas)

/**
 * hipec_vma_first() - the first VMA that maps one of some pages
 * @mapping: of their file
 * @first:   page
 * @last:    page, not before it
 *
 * Context: i_mmap_rwsem of the mapping is held.
 * Return: the VMA; NULL: there is none.
 */
struct vm_area_struct *hipec_vma_first(struct address_space *mapping, pgoff_t first, pgoff_t last)
{
	return vmas_iter_first(&mapping->i_mmap, first, last);
}

/* The one behind @vma, with the same pages as there. */
struct vm_area_struct *hipec_vma_next(struct vm_area_struct *vma, pgoff_t first, pgoff_t last)
{
	return vmas_iter_next(vma, first, last);
}
