// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a page was referenced: of each reader of that bit, as there are several who
 * reset it. Page tables are base/young.c's.
 *
 * Interface: the engine's host.
 * hipec_referenced_seen(), _forget(), _probe()
 */
#include "frames.h"

/* Whether a live page was referenced since its last reset, or a policy set its bit. */
static bool is_folio_referenced(struct hipec_container *c, struct folio *folio)
{
	if (folio_test_referenced(folio))
		return true;
	return folio_mapped(folio) &&
	       hipec_young_walk(c, folio->mapping, folio, false);
}

/* Reset that bit; hipec_core_settle() is owed. Return: whether it was set. */
static bool reset_folio_referenced(struct hipec_container *c, struct folio *folio)
{
	bool young = folio_test_referenced(folio);

	folio_clear_referenced(folio);
	return (folio_mapped(folio) &&
		hipec_young_walk(c, folio->mapping, folio, true)) || young;
}

/**
 * hipec_referenced_seen() - the engine's host: whether a page was referenced
 * @core: container
 * @h:    page that has a frame
 * @who:  one of HIPEC_REF_*: since they reset it
 *
 * Context: expects the container's lock; may sleep.
 * Return: true if it was.
 */
bool hipec_referenced_seen(struct hipec_core *core, u32 h, u32 who)
{
	struct hipec_container *c = hipec_of_core(core);

	return core->vm.page[h].flags & who << HIPEC_PAGE_REF_SHIFT ||
	       is_folio_referenced(c, c->frames.frame[h]);
}

/* The league hears of a touch, but for the first: that was a fault's, which it knows. */
static void was_touched(struct hipec_container *c, u32 h)
{
	struct hipec_page *page = &c->core.vm.page[h];

	if (page->flags & HIPEC_PAGE_LOOKED)
		hipec_event_access(c, page->pgno, false, false);
	page->flags |= HIPEC_PAGE_LOOKED;
}

/**
 * hipec_referenced_forget() - the engine's host: reset the referenced bit for a reader
 * @core: container; hipec_core_settle() is owed to it
 * @h:    page that has a frame
 * @who:  one of HIPEC_REF_*
 *
 * Context: expects the container's lock; may sleep.
 */
void hipec_referenced_forget(struct hipec_core *core, u32 h, u32 who)
{
	struct hipec_container *c = hipec_of_core(core);
	u16 *flags = &core->vm.page[h].flags;

	if (reset_folio_referenced(c, c->frames.frame[h]))
		*flags |= HIPEC_REF_ALL << HIPEC_PAGE_REF_SHIFT;
	if (*flags & who << HIPEC_PAGE_REF_SHIFT && who == HIPEC_REF_POLICY)
		was_touched(c, h);
	*flags &= ~(who << HIPEC_PAGE_REF_SHIFT);
}

/*
 * Of live pages @h to @end whose region is that of the first: those that were referenced
 * are put into @pgno, their bits reset. Return: how many pages were of that region.
 */
static u32 harvest_one_region(struct hipec_core *core, const u32 *h, u32 end, u32 *pgno, u32 *n)
{
	struct hipec_container *c = hipec_of_core(core);
	struct address_space *mapping = c->frames.frame[*h]->mapping;
	const u16 mine = HIPEC_REF_POLICY << HIPEC_PAGE_REF_SHIFT;
	pgoff_t idx[HIPEC_HARVEST];
	u64 young = 0;
	u32 nr, i;

	for (nr = 0; nr < end && c->frames.frame[h[nr]]->mapping == mapping; nr++)
		idx[nr] = c->frames.frame[h[nr]]->index;
	if (mapping && mapping_mapped(mapping))
		young = hipec_young_take(c, mapping, idx, nr);
	for (i = 0; i < nr; i++) {
		struct hipec_page *page = &core->vm.page[h[i]];
		struct folio *folio = c->frames.frame[h[i]];
		bool set = young >> i & 1 || folio_test_referenced(folio);

		if (!set && !(page->flags & mine))
			continue;
		folio_clear_referenced(folio);
		was_touched(c, h[i]);
		if (set)
			page->flags |= (HIPEC_REF_ALL << HIPEC_PAGE_REF_SHIFT) & ~mine;
		page->flags &= ~mine;
		pgno[(*n)++] = page->pgno;
		hipec_tracer_note(&core->vm, HIPEC_RECORD_TOUCH, h[i],
				  HIPEC_TOUCH_HARVESTED);
	}
	return nr;
}

/**
 * hipec_referenced_probe() - the engine's host: pages that were referenced, among the next few
 * @core: container; hipec_core_settle() is owed to it
 * @pgno: gets them
 *
 * As hipec_core_probe(), but page tables of a region are walked once for all.
 *
 * Context: expects the container's lock; may sleep.
 * Return: how many there are.
 */
u32 hipec_referenced_probe(struct hipec_core *core, u32 pgno[HIPEC_HARVEST])
{
	struct hipec_vm *vm = &core->vm;
	u32 handle[HIPEC_HARVEST], live = 0, n = 0, i;

	for (i = 0; i < HIPEC_HARVEST && i < vm->nr_pages; i++) {
		core->harvested = core->harvested % vm->nr_pages + 1;
		if (hipec_page_live(vm, core->harvested))
			handle[live++] = core->harvested;
	}
	for (i = 0; i < live;)
		i += harvest_one_region(core, handle + i, live - i, pgno, &n);
	return n;
}
