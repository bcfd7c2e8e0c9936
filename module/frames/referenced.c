// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a page was referenced: of each reader of that bit, as there are several who
 * reset it. Page tables are base/young.c's.
 *
 * Interface: the engine's host.
 * hipec_young_seen(), _forget()
 */
#include "frames.h"

/* Whether a live page was referenced since its last reset, or a policy set its bit. */
static bool is_referenced(struct hipec_container *c, struct folio *folio)
{
	if (folio_test_referenced(folio))
		return true;
	return folio_mapped(folio) &&
	       hipec_young_walk(c, folio->mapping, folio, false);
}

/* Reset that bit; hipec_core_settle() is owed. Return: whether it was set. */
static bool reset(struct hipec_container *c, struct folio *folio)
{
	bool young = folio_test_referenced(folio);

	folio_clear_referenced(folio);
	return (folio_mapped(folio) &&
		hipec_young_walk(c, folio->mapping, folio, true)) || young;
}

/**
 * hipec_young_seen() - the engine's host: whether a page was referenced
 * @core: container
 * @h:    page that has a frame
 * @who:  one of HIPEC_REF_*: since they reset it
 *
 * Context: expects the container's lock; may sleep.
 * Return: true if it was.
 */
bool hipec_young_seen(struct hipec_core *core, u32 h, u32 who)
{
	struct hipec_container *c = hipec_of_core(core);

	return core->vm.page[h].flags & who << HIPEC_PAGE_REF_SHIFT ||
	       is_referenced(c, c->frame[h]);
}

/**
 * hipec_young_forget() - the engine's host: reset the referenced bit for a reader
 * @core: container; hipec_core_settle() is owed to it
 * @h:    page that has a frame
 * @who:  one of HIPEC_REF_*
 *
 * Context: expects the container's lock; may sleep.
 */
void hipec_young_forget(struct hipec_core *core, u32 h, u32 who)
{
	struct hipec_container *c = hipec_of_core(core);
	u16 *flags = &core->vm.page[h].flags;

	if (reset(c, c->frame[h]))
		*flags |= (HIPEC_REF_ALL & ~who) << HIPEC_PAGE_REF_SHIFT;
	*flags &= ~(who << HIPEC_PAGE_REF_SHIFT);
}
