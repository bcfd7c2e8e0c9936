// SPDX-License-Identifier: GPL-2.0-only
/*
 * The referenced bit of a folio, in the page tables that map it.
 *
 * A stock kernel exports neither folio_referenced() nor a page-table walk by
 * folio. What it exports is enough: a file's mapping knows its VMAs, and
 * apply_to_existing_page_range() visits one address of one of them.
 *
 * A CPU may keep a translation, with the bit set, in its TLB, and then does not
 * set the bit in memory again. No exported function flushes a page, so resets
 * are collected and every CPU that runs one of the mms is flushed once, when
 * the event that reset them ends (hipec_young_settle()).
 */
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/smp.h>
#include <asm/tlbflush.h>

#include "base.h"

struct walk {
	unsigned long pfn;
	unsigned long nr;
	bool reset;
	bool young;
};

static int visit(pte_t *pte, unsigned long addr, void *data)
{
	struct walk *w = data;

	if (!pte_present(*pte) || pte_pfn(*pte) - w->pfn >= w->nr ||
	    !pte_young(*pte))
		return 0;
	w->young = true;
	if (w->reset)
		clear_bit(_PAGE_BIT_ACCESSED, (unsigned long *)&pte->pte);
	return 0;
}

/**
 * hipec_young_walk() - look at every mapping of a folio, or reset its bit in all
 * @c:       container; of a reset hipec_core_settle() is owed to it
 * @mapping: of the folio
 * @folio:   that cannot go, not mapped by a whole page table
 * @reset:   reset the bits
 *
 * i_mmap_rwsem keeps the VMAs in the tree and their page tables alive, so no
 * mmap_lock is needed. There are few VMAs: a plain walk of the tree is enough. A
 * private one may have a copy in the page's place: that is another frame, and its bit
 * is none of ours.
 *
 * Context: expects c->lock; may sleep.
 * Return: whether a bit was set.
 */
bool hipec_young_walk(struct hipec_container *c, struct address_space *mapping,
		      struct folio *folio, bool reset)
{
	struct walk w = {
		.pfn = folio_pfn(folio), .nr = folio_nr_pages(folio),
		.reset = reset,
	};
	pgoff_t first, last, from, to;
	bool young = false;
	struct rb_node *node;

	first = folio->index;
	last = first + w.nr - 1;
	i_mmap_lock_read(mapping);
	for (node = rb_first_cached(&mapping->i_mmap); node;
	     node = rb_next(node)) {
		struct vm_area_struct *vma =
			rb_entry(node, struct vm_area_struct, shared.rb);

		cond_resched();	/* "few" is the user's word */
		from = max(first, vma->vm_pgoff);
		to = min(last, vma->vm_pgoff + vma_pages(vma) - 1);
		if (from > to)
			continue;
		w.young = false;
		apply_to_existing_page_range(vma->vm_mm, vma->vm_start +
			((from - vma->vm_pgoff) << PAGE_SHIFT),
			(to - from + 1) << PAGE_SHIFT, visit, &w);
		if (!w.young)
			continue;
		young = true;
		if (!reset)
			break;
		c->core.unsettled = true;
		cpumask_or(c->stale_cpus, c->stale_cpus,
			   mm_cpumask(vma->vm_mm));
	}
	i_mmap_unlock_read(mapping);
	return young;
}

static void flush_this_cpu(void *unused)
{
	__flush_tlb_all();
}

/**
 * hipec_young_leave() - let somebody else make resets visible, with others
 * @c:    container
 * @cpus: those whose TLB that concerns are added
 *
 * Context: expects c->lock; who calls owes hipec_young_flush_cpus().
 */
void hipec_young_leave(struct hipec_container *c, struct cpumask *cpus)
{
	if (!c->core.unsettled)
		return;
	cpumask_or(cpus, cpus, c->stale_cpus);
	cpumask_clear(c->stale_cpus);
	c->core.unsettled = false;
}

/* Make resets visible to @cpus, and forget them. Context: interrupts are on. */
void hipec_young_flush_cpus(struct cpumask *cpus)
{
	if (cpumask_empty(cpus))
		return;
	on_each_cpu_mask(cpus, flush_this_cpu, NULL, true);
	cpumask_clear(cpus);
}

/* The engine's host: make resets visible to the CPUs. As hipec_core_settle(). */
void hipec_young_settle(struct hipec_core *core)
{
	hipec_young_flush_cpus(hipec_of_core(core)->stale_cpus);
	core->unsettled = false;
}
