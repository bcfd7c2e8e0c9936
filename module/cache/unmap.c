// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapped victims leave their page tables together. unmap_mapping_pages() flushes the TLB
 * in each call, of all CPUs that run the program, and victims that follow each other are
 * few where pages are touched in no order: each would be an interrupt for them all.
 *
 * The kernel's own reclaim flushes once for many pages (try_to_unmap_one()), by functions
 * that no module has. This file does the same for the plainest entries: of small folios
 * that are clean, mapped to be read, in a VMA that is not locked. The caller does the
 * others with unmap_mapping_pages().
 *
 * A CPU may read a page by an old translation until the flush. So the page tables'
 * references are put after it; i_mmap_rwsem, which munmap() wants, is held until then;
 * and mm->tlb_flush_batched has mprotect(), mremap() and their like flush first. None can
 * write: a processor that sets a dirty bit reads the entry again.
 *
 * Interface:
 * hipec_unmap_together()  unmap a file's victims
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/userfaultfd_k.h>
#include <asm/tlbflush.h>

#include "../compat.h"
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

/*
 * Whether somebody is to be told of each page that a VMA loses, or it has pages of no file.
 * A notifier is registered with i_mmap_rwsem held (mm_take_all_locks()).
 */
static bool is_special(struct vm_area_struct *vma)
{
	return mm_has_notifiers(vma->vm_mm) || userfaultfd_armed(vma) ||
	       vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP | VM_HUGETLB);
}

/* Victim @i, which @pte may map. Context: under the page table's lock. */
static void clear_entry(struct unmapping *u, u32 i, struct vm_area_struct *vma,
			unsigned long addr, pte_t *pte)
{
	struct mm_struct *mm = vma->vm_mm;
	pte_t value = READ_ONCE(*pte);
	struct folio *folio;

	if (!pte_present(value) || pte_special(value))
		return;
	folio = page_folio(pfn_to_page(pte_pfn(value)));
	if (folio->mapping != u->mapping)
		return;		/* a copy */
	/* It would not go. */
	if (folio_test_dirty(folio) || folio_test_writeback(folio))
		return;
	/* mlock() sets the VMA's flag before it takes this lock to look at the entry. */
	if (folio_test_large(folio) || folio_test_mlocked(folio) || pte_write(value) ||
	    pte_dirty(value) || pte_uffd_wp(value) || READ_ONCE(vma->vm_flags) & VM_LOCKED) {
		u->careful |= BIT(i);
		return;
	}
	ptep_get_and_clear(mm, addr, pte);
	mm_tlb_flush_pending_add(mm);
	if (atomic_add_negative(-1, &folio->_mapcount))
		__lruvec_stat_mod_folio(folio, NR_FILE_MAPPED, -1);
	mm_file_page_unmapped(mm);
	u->cleared[u->nr_cleared++] = folio;
}

/* Victim @i, which the VMA may map at @addr. Context: under i_mmap_rwsem. */
static void clear_at(struct unmapping *u, u32 i, struct vm_area_struct *vma,
		     unsigned long addr)
{
	pmd_t *at = hipec_pmd_of(vma->vm_mm, addr), pmd;
	spinlock_t *lock;

	if (!at)
		return;
	rcu_read_lock();
	pmd = READ_ONCE(*at);
	if (pmd_present(pmd) && !pmd_leaf(pmd)) {
		lock = pte_lockptr(vma->vm_mm, &pmd);
		spin_lock(lock);
		/* A table that has been replaced maps nothing. */
		if (pmd_same(pmd, READ_ONCE(*at)))
			clear_entry(u, i, vma, addr, pte_offset_kernel(&pmd, addr));
		spin_unlock(lock);
	} else if (pmd_present(pmd)) {
		u->careful |= BIT(i);
	}
	rcu_read_unlock();
}

/*
 * Where programs and kernel have one page table, writing its address flushes what is the
 * program's. An idle CPU has an mm only until it needs another, and is asked no more when
 * it has none.
 */
static void flush_or_leave(void *unused)
{
	if (is_idle_task(current))
		hipec_leave_mm();
	else if (cpu_feature_enabled(X86_FEATURE_PTI) || cpu_feature_enabled(X86_FEATURE_XENPV))
		__flush_tlb_all();
	else
		native_write_cr3(__native_read_cr3());
}

/* No CPU uses a translation of a cleared entry when this returns. */
static void flush(struct unmapping *u, struct mm_struct *mm)
{
	/* CPUs that run it later compare this number with theirs; a full barrier. */
	atomic64_inc_return(&mm->context.tlb_gen);
	on_each_cpu_mask(mm_cpumask(mm), flush_or_leave, NULL, true);
	while (u->nr_cleared)
		folio_put(u->cleared[--u->nr_cleared]);
}

/* Victims that a VMA maps. Context: under i_mmap_rwsem; may sleep. */
static void unmap_from(struct unmapping *u, struct vm_area_struct *vma)
{
	pgoff_t first = vma->vm_pgoff, end = first + vma_pages(vma);
	const struct hipec_victim *v;
	bool special = is_special(vma);
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
