// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages leave page tables without a flush for each. unmap_mapping_pages() flushes the TLB
 * in each call, of all CPUs that run the program: where pages are touched in no order, that
 * is an interrupt for them all, for each page that is evicted.
 *
 * The kernel's own reclaim flushes once for many pages (try_to_unmap_one()), by functions
 * that no module has. This file does the same for the plainest entries: of small folios
 * that are clean, mapped to be read, in a VMA that is not locked. The caller does the
 * others with unmap_mapping_pages().
 *
 * Another CPU may read a page by an old translation until the flush, which the caller owes;
 * none can write: a processor that sets a dirty bit reads the entry again. Until then
 * mm->tlb_flush_batched has munmap(), mprotect(), mremap() and their like flush first.
 *
 * Interface:
 * hipec_pmd_of()       the entry that a page table hangs on
 * hipec_clear_own()    the task that had a bit reset sees that
 * hipec_clear_here()   whether the task that clears an entry uses it no more
 * hipec_clear_special() whether the entries of a VMA are for others
 * hipec_clear_entry()  the entry of one page in one VMA
 * hipec_clear_told()   CPUs that run the program later, know of it
 * hipec_clear_flush(), _flush_mm()  those that run it now, too
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/userfaultfd_k.h>
#include <asm/tlbflush.h>

#include "../compat.h"
#include "base.h"

/**
 * hipec_pmd_of() - the entry that a page table hangs on
 * @mm:   of a VMA
 * @addr: within it
 *
 * Context: i_mmap_rwsem of the VMA's file is held, so its page tables are not freed.
 * Return: the entry of @addr; NULL: there is none.
 */
pmd_t *hipec_pmd_of(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	if (pgd_none(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	return pud_none(*pud) || pud_leaf(*pud) ? NULL : pmd_offset(pud, addr);
}

/* The CPU has no translation of an address of the program that it runs. */
static void forget(unsigned long addr)
{
	asm volatile("invlpg (%0)" : : "r" (addr) : "memory");
}

/**
 * hipec_clear_own() - the CPU has no translation of an entry of the task's own
 * @vma:   of the task
 * @first: index of a page in its file
 * @nr:    pages; of many, nothing is done
 *
 * For one whose bit was reset: what the task touches next is seen.
 *
 * Context: any; if the task moves to another CPU, that one may have a translation.
 */
void hipec_clear_own(struct vm_area_struct *vma, pgoff_t first, u32 nr)
{
	pgoff_t idx = first - vma->vm_pgoff;

	if (nr == 1 && idx < vma_pages(vma))
		forget(vma->vm_start + (idx << PAGE_SHIFT));
}

/* Of an entry that is present. Context: under the page table's lock. */
static enum hipec_cleared clear(struct address_space *mapping, struct vm_area_struct *vma,
				unsigned long addr, pte_t *pte, struct folio **folio)
{
	pte_t value = READ_ONCE(*pte);

	if (!pte_present(value) || pte_special(value))
		return HIPEC_CLEARED_NOTHING;
	*folio = page_folio(pfn_to_page(pte_pfn(value)));
	if ((*folio)->mapping != mapping)
		return HIPEC_CLEARED_NOTHING;		/* a copy */
	/* It would not go. */
	if (folio_test_dirty(*folio) || folio_test_writeback(*folio))
		return HIPEC_CLEARED_NOTHING;
	/* mlock() sets the VMA's flag before it takes this lock to look at the entry. */
	if (folio_test_large(*folio) || folio_test_mlocked(*folio) || pte_write(value) ||
	    pte_dirty(value) || pte_uffd_wp(value) || READ_ONCE(vma->vm_flags) & VM_LOCKED)
		return HIPEC_CLEARED_NOT;
	ptep_get_and_clear(vma->vm_mm, addr, pte);
	if (vma->vm_mm == current->mm)
		forget(addr);
	mm_tlb_flush_pending_add(vma->vm_mm);
	if (atomic_add_negative(-1, &(*folio)->_mapcount))
		__lruvec_stat_mod_folio(*folio, NR_FILE_MAPPED, -1);
	mm_file_page_unmapped(vma->vm_mm);
	return HIPEC_CLEARED_ENTRY;
}

/**
 * hipec_clear_here() - whether the task that clears an entry of its own uses it no more
 *
 * Where programs have a page table beside the kernel's, it may, like others.
 *
 * Context: any.
 */
bool hipec_clear_here(void)
{
	return !cpu_feature_enabled(X86_FEATURE_PTI) && !cpu_feature_enabled(X86_FEATURE_XENPV);
}

/**
 * hipec_clear_special() - whether the entries of a VMA are not to be cleared here
 * @vma:   of a file
 * @flags: of VMAs that are not
 *
 * Somebody is to be told of each page that it loses, or it has pages of no file. A notifier
 * is registered with i_mmap_rwsem held (mm_take_all_locks()).
 *
 * Context: i_mmap_rwsem of the file is held.
 */
bool hipec_clear_special(const struct vm_area_struct *vma, unsigned long flags)
{
	return mm_has_notifiers(vma->vm_mm) || userfaultfd_armed((struct vm_area_struct *)vma) ||
	       vma->vm_flags & flags;
}

/**
 * hipec_clear_entry() - clear the entry that maps a page
 * @mapping: of the page's file
 * @vma:     of that file, which is not special
 * @addr:    of the page in it
 * @folio:   gets the folio that was mapped; the entry's reference is the caller's
 *
 * Context: i_mmap_rwsem of the file is held. hipec_clear_told() and hipec_clear_flush() are
 * owed if it was cleared.
 * Return: HIPEC_CLEARED_NOT: it is one for unmap_mapping_pages(); _NOTHING: there is none
 * whose folio could go; _ENTRY: it is clear.
 */
enum hipec_cleared hipec_clear_entry(struct address_space *mapping, struct vm_area_struct *vma,
				     unsigned long addr, struct folio **folio)
{
	enum hipec_cleared ret = HIPEC_CLEARED_NOTHING;
	pmd_t *at = hipec_pmd_of(vma->vm_mm, addr), pmd;
	spinlock_t *lock;

	if (!at)
		return ret;
	rcu_read_lock();
	pmd = READ_ONCE(*at);
	if (pmd_present(pmd) && !pmd_leaf(pmd)) {
		lock = pte_lockptr(vma->vm_mm, &pmd);
		spin_lock(lock);
		/* A table that has been replaced maps nothing. */
		if (pmd_same(pmd, READ_ONCE(*at)))
			ret = clear(mapping, vma, addr, pte_offset_kernel(&pmd, addr), folio);
		spin_unlock(lock);
	} else if (pmd_present(pmd)) {
		ret = HIPEC_CLEARED_NOT;
	}
	rcu_read_unlock();
	return ret;
}

/**
 * hipec_clear_told() - CPUs that run a program from now on have no old translations
 * @mm:   of which entries were cleared
 * @cpus: those that run it now, which hipec_clear_flush() is for, are added
 *
 * A CPU that switches to it compares this number with its own.
 *
 * Context: any.
 */
void hipec_clear_told(struct mm_struct *mm, struct cpumask *cpus)
{
	atomic64_inc_return(&mm->context.tlb_gen);	/* a full barrier */
	cpumask_or(cpus, cpus, mm_cpumask(mm));
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
	else if (hipec_clear_here())
		native_write_cr3(__native_read_cr3());
	else
		__flush_tlb_all();
}

/**
 * hipec_clear_flush() - no CPU uses a translation of a cleared entry when this returns
 * @cpus: that may; empty then
 *
 * Nor do they remember referenced bits that were reset.
 *
 * Context: interrupts are on.
 */
void hipec_clear_flush(struct cpumask *cpus)
{
	if (cpumask_empty(cpus))
		return;
	on_each_cpu_mask(cpus, flush_or_leave, NULL, true);
	cpumask_clear(cpus);
}

/**
 * hipec_clear_flush_mm() - the same of one program
 * @mm: of which entries were cleared
 *
 * Context: interrupts are on.
 */
void hipec_clear_flush_mm(struct mm_struct *mm)
{
	atomic64_inc_return(&mm->context.tlb_gen);
	on_each_cpu_mask(mm_cpumask(mm), flush_or_leave, NULL, true);
}
