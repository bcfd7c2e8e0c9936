// SPDX-License-Identifier: GPL-2.0-only
/*
 * The referenced bits of a file's pages, in the page tables that map them.
 *
 * A stock kernel does not export folio_referenced(), and apply_to_existing_page_range()
 * takes a lock for each table and a call for each entry. So page tables are read here: a
 * file's mapping knows its VMAs; i_mmap_rwsem keeps these in the tree, and so their page
 * tables, and RCU the memory of those that go when pages are collapsed. No lock of a page
 * table is needed: a bit is reset by compare-and-exchange, which fails where the entry has
 * become another one. Nothing else is written to a page table: unmap_mapping_pages() does that.
 *
 * A CPU may keep a translation, with the bit set, in its TLB, and then does not
 * set the bit in memory again. No exported function flushes a page, so resets
 * are collected and every CPU that runs one of the mms is flushed once
 * (hipec_young_settle()).
 *
 * Interface:
 * hipec_young_walk()   look at all maps of a folio, or reset its bit
 * hipec_young_range()  which pages of a run were referenced
 * hipec_young_reset()  reset the bits of some of them
 * hipec_young_take()   the same at once, of pages that do not follow each other
 * hipec_young_settle(), _leave(), _flush()  CPUs notice
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/tlbflush.h>

#include "../compat.h"
#include "base.h"

/*
 * Events until all CPUs are told of resets: one for so many frames, but at most so many. The
 * CPU of a program's own fault is told of a single page at once (flush_first_page()).
 */
#define STALE_PART 64
#define MOST_STALE 128u

/**
 * struct walk - pages that are looked at: a run of them, or some
 * @nr:    pages
 * @first: index of the first
 * @idx:   index of each; NULL: they follow the first
 * @which: of these pages, those that are looked at; NULL: all
 * @young: gets those that were referenced; NULL: nobody wants to know
 * @reset: reset their bits
 * @copies: this VMA may have copies in the place of the file's pages: these have other
 *         frames, and their bits are none of ours
 * @found: whether a bit was set
 */
struct walk {
	u32 nr;
	pgoff_t first;
	const pgoff_t *idx;
	const unsigned long *which;
	unsigned long *young;
	bool reset;
	bool copies;
	bool found;
};

/* Whether an entry is that of a copy, or of the zero page. */
static bool is_copy(pte_t value)
{
	return pte_special(value) || PageAnon(pfn_to_page(pte_pfn(value)));
}

/* The entry of page @i had @value, whose bit is set. */
static __always_inline void note_young_entry(struct walk *w, u32 i, pte_t *entry, pte_t value)
{
	if (!pte_present(value) || (unlikely(w->copies) && is_copy(value)))
		return;
	w->found = true;
	if (w->young)
		__set_bit(i, w->young);
	/* Whoever has changed it since has taken care of its bit. */
	if (w->reset)
		(void)cmpxchg(&entry->pte, value.pte,
			      value.pte & ~(pteval_t)_PAGE_ACCESSED);
}

/* Pages @i to @end: @pte has the entry of the first. */
static void walk_table(struct walk *w, pte_t *pte, u32 i, u32 end)
{
	pte_t *entry = pte - i;

	for (; i < end; i++) {
		pte_t value = READ_ONCE(entry[i]);

		if (unlikely(value.pte & _PAGE_ACCESSED))
			note_young_entry(w, i, &entry[i], value);
	}
}

/* The same of those that somebody wants to have looked at. */
static void walk_some(struct walk *w, pte_t *pte, u32 i, u32 end)
{
	pte_t *entry = pte - i;

	for_each_set_bit_from(i, w->which, end) {
		pte_t value = READ_ONCE(entry[i]);

		if (value.pte & _PAGE_ACCESSED)
			note_young_entry(w, i, &entry[i], value);
	}
}

/* The entry that the page table of @addr hangs on; NULL: there is none. */
static pmd_t *pmd_of(struct mm_struct *mm, unsigned long addr)
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

/* Pages @i to @end, which are mapped from @addr on. */
static void walk_tables(struct walk *w, struct mm_struct *mm, unsigned long addr, u32 i,
			u32 end)
{
	u32 nr;

	for (; i < end; i += nr, addr += nr * PAGE_SIZE) {
		pmd_t *at = pmd_of(mm, addr), pmd;

		nr = min_t(u32, end - i, PTRS_PER_PTE - pte_index(addr));
		if (!at)
			continue;
		rcu_read_lock();
		pmd = READ_ONCE(*at);
		if (!pmd_present(pmd) || pmd_leaf(pmd))
			;	/* nothing, or one entry for all */
		else if (w->which)
			walk_some(w, pte_offset_kernel(&pmd, addr), i, i + nr);
		else
			walk_table(w, pte_offset_kernel(&pmd, addr), i, i + nr);
		rcu_read_unlock();
	}
}

/* Maps that one look goes through. */
#define MOST_MAPS 128

/* What a VMA maps of @nr pages from index @first on; the first is page @i. */
static void walk_run(struct walk *w, struct vm_area_struct *vma, u32 i,
		     pgoff_t first, u32 nr)
{
	pgoff_t from = max(first, vma->vm_pgoff);
	pgoff_t end = min(first + nr, vma->vm_pgoff + vma_pages(vma));

	if (from < end)
		walk_tables(w, vma->vm_mm, vma->vm_start +
			    ((from - vma->vm_pgoff) << PAGE_SHIFT),
			    i + (from - first), i + (end - first));
}

/*
 * The CPU has no translation of the first page of a run that the task itself maps: what it
 * touches next is seen. If the task moves to another CPU, that one may have a translation.
 */
static void flush_first_page(struct vm_area_struct *vma, pgoff_t first)
{
	pgoff_t idx = first - vma->vm_pgoff;

	if (idx < vma_pages(vma))
		asm volatile("invlpg (%0)" : : "r" (vma->vm_start + (idx << PAGE_SHIFT)) :
			     "memory");
}

/* What the VMA maps of a run, as walk_run(). Return: whether a page was referenced. */
static bool walk_vma(struct walk *w, struct hipec_container *c, struct vm_area_struct *vma,
		     u32 i, pgoff_t first, u32 nr)
{
	w->found = false;
	w->copies = READ_ONCE(vma->anon_vma);
	walk_run(w, vma, i, first, nr);
	if (!w->found || !w->reset)
		return w->found;
	if (w->nr == 1 && vma->vm_mm == current->mm)
		flush_first_page(vma, first);
	c->core.unsettled = true;
	cpumask_or(c->stale_cpus, c->stale_cpus, mm_cpumask(vma->vm_mm));
	return true;
}

/*
 * A file's pages, wherever they are mapped. Anybody who may read a file may map it as often as he
 * likes: what is mapped very often is taken for referenced, and the policy's time is not spent on it.
 * Context: expects c->lock; may sleep. Return: whether one was referenced.
 */
static bool walk_mapping(struct walk *w, struct hipec_container *c,
			 struct address_space *mapping)
{
	u32 nr = w->idx ? 1 : w->nr, i;
	struct vm_area_struct *vma;
	bool any = false;
	u32 most = MOST_MAPS;

	i_mmap_lock_read(mapping);
	for (i = 0; i < w->nr; i += nr) {
		pgoff_t first = w->idx ? w->idx[i] : w->first;

		hipec_for_each_vma(vma, mapping, first, first + nr - 1) {
			any |= walk_vma(w, c, vma, i, first, nr);
			cond_resched();	/* a user may have many */
			if (any && !w->reset && !w->young)
				break;
			if (!--most) {
				any = true;
				goto out;
			}
		}
	}
out:
	i_mmap_unlock_read(mapping);
	return any;
}

/**
 * hipec_young_walk() - look at every mapping of a folio, or reset its bit in all
 * @c:       container; of a reset hipec_core_settle() is owed to it
 * @mapping: of the folio
 * @folio:   that cannot go, not mapped by a whole page table
 * @reset:   reset the bits
 *
 * Context: expects c->lock; may sleep.
 * Return: whether a bit was set.
 */
bool hipec_young_walk(struct hipec_container *c, struct address_space *mapping,
		      struct folio *folio, bool reset)
{
	struct walk w = {
		.first = folio->index, .nr = folio_nr_pages(folio), .reset = reset,
	};

	return walk_mapping(&w, c, mapping);
}

/**
 * hipec_young_range() - which pages of a file were referenced
 * @c:       container
 * @mapping: of the file
 * @first:   index of the first page
 * @nr:      pages
 * @young:   bit of each, from bit 0 on; those of pages that were are set. Pages that are
 *           mapped by a whole page table are not looked at
 *
 * Context: expects c->lock; may sleep.
 * Return: whether one was.
 */
bool hipec_young_range(struct hipec_container *c, struct address_space *mapping,
		       pgoff_t first, u32 nr, unsigned long *young)
{
	struct walk w = { .first = first, .nr = nr, .young = young };

	return walk_mapping(&w, c, mapping);
}

/**
 * hipec_young_reset() - reset the bits of some pages of a file
 * @c:       container; hipec_core_settle() is owed to it
 * @mapping: of the file
 * @first:   index of the first page
 * @nr:      pages
 * @which:   of these, as hipec_young_range() has them
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_young_reset(struct hipec_container *c, struct address_space *mapping,
		       pgoff_t first, u32 nr, const unsigned long *which)
{
	struct walk w = { .first = first, .nr = nr, .which = which, .reset = true };

	walk_mapping(&w, c, mapping);
}

/**
 * hipec_young_take() - which of some pages of a file were referenced; their bits are reset
 * @c:       container; hipec_core_settle() is owed to it
 * @mapping: of the file
 * @idx:     index of each page
 * @nr:      pages, 64 at most
 *
 * Context: expects c->lock; may sleep.
 * Return: bit of each that was.
 */
u64 hipec_young_take(struct hipec_container *c, struct address_space *mapping,
		     const pgoff_t *idx, u32 nr)
{
	unsigned long young = 0;
	struct walk w = { .idx = idx, .nr = nr, .young = &young, .reset = true };

	walk_mapping(&w, c, mapping);
	return young;
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
	else if (!cpu_feature_enabled(X86_FEATURE_PTI) && !cpu_feature_enabled(X86_FEATURE_XENPV))
		native_write_cr3(__native_read_cr3());
	else
		__flush_tlb_all();
}

/**
 * hipec_young_flush_cpus() - CPUs do not remember referenced bits that were reset
 * @cpus: that may; empty then
 *
 * Context: interrupts are on.
 */
void hipec_young_flush_cpus(struct cpumask *cpus)
{
	if (cpumask_empty(cpus))
		return;
	on_each_cpu_mask(cpus, flush_or_leave, NULL, true);
	cpumask_clear(cpus);
}

/**
 * hipec_young_leave() - let somebody else make resets visible, with others
 * @c:    container
 * @cpus: those whose TLB that concerns are added
 *
 * Context: expects c->lock; who calls owes hipec_young_flush_cpus().
 * Return: whether there was any.
 */
bool hipec_young_leave(struct hipec_container *c, struct cpumask *cpus)
{
	if (!c->core.unsettled)
		return false;
	cpumask_or(cpus, cpus, c->stale_cpus);
	cpumask_clear(c->stale_cpus);
	c->core.unsettled = false;
	c->stale_events = 0;
	return true;
}

/**
 * hipec_young_flush() - make resets visible to the CPUs
 * @c: container
 *
 * Context: expects c->lock.
 */
void hipec_young_flush(struct hipec_container *c)
{
	hipec_young_flush_cpus(c->stale_cpus);
	c->core.unsettled = false;
	c->stale_events = 0;
}

/*
 * The engine's host: make resets visible to the CPUs, of several events at once. Until
 * then a CPU may not note a use of a page that was reset; the first few events of the time
 * between two looks at a page matter little. As hipec_core_settle().
 */
void hipec_young_settle(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);

	if (++c->stale_events < min(core->nr_frames / STALE_PART, MOST_STALE))
		return;
	hipec_young_flush(c);
}
