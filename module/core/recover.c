// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recovery table: two hashes over the same entries, which also are in the
 * order of their age. recover.h says what it is for.
 *
 * Source: paper, Figure 5 and "Page frame reclamation". The paper has 64 buckets
 * for whatever the region's size; here the host says how many.
 */
#include "recover.h"

static_assert(sizeof(struct hipec_recover_entry) == HIPEC_RECOVER_ENTRY,
	      "metadata per entry");

static u32 *bucket_of(struct hipec_recover *r, enum hipec_recover_side side,
		      u32 page)
{
	u32 hash = (page ^ r->salt) * 2654435761u;

	hash ^= hash >> 16;
	hash *= 2246822519u;
	return &r->bucket[side][(u64)hash * r->nr_buckets >> 32];
}

/**
 * hipec_recover_size() - memory that a table needs beside struct hipec_recover
 * @nr:         entries, below 2^32 - 1
 * @nr_buckets: 1 or more; as many as entries make all functions O(1)
 *
 * Return: bytes.
 */
size_t hipec_recover_size(u32 nr, u32 nr_buckets)
{
	return ((size_t)nr + 1) * sizeof(struct hipec_recover_entry) +
	       (size_t)nr_buckets * HIPEC_RECOVER_NR_SIDES * sizeof(u32);
}

/**
 * hipec_recover_init() - make an empty table
 * @r:          to fill
 * @memory:     hipec_recover_size() bytes, aligned for u32, not initialised; the
 *              host frees it
 * @nr:         entries; 0 for a table that remembers nothing
 * @nr_buckets: as given to hipec_recover_size()
 *
 * Context: @r is not in use yet.
 */
void hipec_recover_init(struct hipec_recover *r, void *memory, u32 nr,
			u32 nr_buckets)
{
	memset(r, 0, sizeof(*r));
	r->entry = memory;
	r->bucket[HIPEC_RECOVER_EVICTED] = (u32 *)(r->entry + nr + 1);
	r->bucket[HIPEC_RECOVER_KEPT] = r->bucket[HIPEC_RECOVER_EVICTED] + nr_buckets;
	r->nr = nr;
	r->nr_buckets = nr_buckets;
	hipec_recover_clear(r);
}

/**
 * hipec_recover_clear() - forget everything
 * @r: table
 *
 * Context: any, serialised by the host. Time is linear in the buckets.
 */
void hipec_recover_clear(struct hipec_recover *r)
{
	memset(r->bucket[0], 0,
	       (size_t)r->nr_buckets * HIPEC_RECOVER_NR_SIDES * sizeof(u32));
	r->nr_used = 0;
	r->nr_touched = 0;
	r->unused = 0;
	r->oldest = 0;
	r->newest = 0;
}

static void unchain_entry(struct hipec_recover *r, enum hipec_recover_side side, u32 e)
{
	u32 *link = bucket_of(r, side, r->entry[e].page[side]);

	for (r->compared++; *link != e; r->compared++)
		link = &r->entry[*link].chain[side];
	*link = r->entry[e].chain[side];
}

/* An entry that is on no chain any more. */
static void free_recover_entry(struct hipec_recover *r, u32 e)
{
	struct hipec_recover_entry *entry = &r->entry[e];

	if (entry->older)
		r->entry[entry->older].newer = entry->newer;
	else
		r->oldest = entry->newer;
	if (entry->newer)
		r->entry[entry->newer].older = entry->older;
	else
		r->newest = entry->older;
	entry->newer = r->unused;
	r->unused = e;
	r->nr_used--;
}

/* Drop what has @page at @side. */
static void drop_entries_of_page(struct hipec_recover *r, enum hipec_recover_side side, u32 page)
{
	u32 *link = bucket_of(r, side, page), e;

	while ((e = *link)) {
		r->compared++;
		if (r->entry[e].page[side] != page) {
			link = &r->entry[e].chain[side];
			continue;
		}
		*link = r->entry[e].chain[side];
		unchain_entry(r, !side, e);
		free_recover_entry(r, e);
	}
}

static u32 take_recover_entry(struct hipec_recover *r)
{
	u32 e = r->oldest;

	if (r->nr_used == r->nr) {
		unchain_entry(r, HIPEC_RECOVER_EVICTED, e);
		unchain_entry(r, HIPEC_RECOVER_KEPT, e);
		free_recover_entry(r, e);
	}
	e = r->unused;
	if (e)
		r->unused = r->entry[e].newer;
	else
		e = ++r->nr_touched;
	r->nr_used++;
	return e;
}

/**
 * hipec_recover_add() - a page went by the policy's wish
 * @r:    table
 * @evicted: the page, which is in no entry as evicted: hipec_recover_drop_evicted() was
 *        called when it last came in
 * @kept: the one that the manager had chosen; it may be in several entries
 *
 * A full table forgets its oldest entry.
 *
 * Context: any, serialised by the host.
 */
void hipec_recover_add(struct hipec_recover *r, u32 evicted, u32 kept)
{
	const u32 page[] = { evicted, kept };
	struct hipec_recover_entry *entry;
	u32 e, side, *bucket;

	if (!r->nr)
		return;
	e = take_recover_entry(r);
	entry = &r->entry[e];
	for (side = 0; side < HIPEC_RECOVER_NR_SIDES; side++) {
		bucket = bucket_of(r, side, page[side]);
		entry->page[side] = page[side];
		entry->chain[side] = *bucket;
		*bucket = e;
	}
	entry->older = r->newest;
	entry->newer = 0;
	if (r->newest)
		r->entry[r->newest].newer = e;
	else
		r->oldest = e;
	r->newest = e;
}

/**
 * hipec_recover_find() - which page was kept for one that faults
 * @r:    table
 * @evicted: page that faults
 * @kept: gets the page in whose place it went
 *
 * Context: any, serialised by the host.
 * Return: false if the table does not know it.
 */
bool hipec_recover_find(struct hipec_recover *r, u32 evicted, u32 *kept)
{
	u32 e = *bucket_of(r, HIPEC_RECOVER_EVICTED, evicted);

	for (; e; e = r->entry[e].chain[HIPEC_RECOVER_EVICTED]) {
		r->compared++;
		if (r->entry[e].page[HIPEC_RECOVER_EVICTED] == evicted) {
			*kept = r->entry[e].page[HIPEC_RECOVER_KEPT];
			return true;
		}
	}
	return false;
}

/**
 * hipec_recover_drop_evicted() - a page came back
 * @r:    table
 * @evicted: it
 *
 * Context: any, serialised by the host.
 */
void hipec_recover_drop_evicted(struct hipec_recover *r, u32 evicted)
{
	drop_entries_of_page(r, HIPEC_RECOVER_EVICTED, evicted);
}

/**
 * hipec_recover_drop_kept() - a page was referenced, or left
 * @r:    table
 * @kept: it
 *
 * Whatever went instead of it was well chosen, or can be set right no more.
 *
 * Context: any, serialised by the host. Time is linear in the entries that go.
 */
void hipec_recover_drop_kept(struct hipec_recover *r, u32 kept)
{
	drop_entries_of_page(r, HIPEC_RECOVER_KEPT, kept);
}

/**
 * hipec_recover_doubt_moved() - a page went that the policy had chosen, not the manager
 * @d: of the policy
 *
 * Context: any, serialised by the host.
 */
void hipec_recover_doubt_moved(struct hipec_doubt *d)
{
	if (++d->moved == HIPEC_DOUBT_OF) {
		d->moved /= 2;
		d->reversed /= 2;
	}
	if (++d->well % HIPEC_DOUBT_STEP == 0)
		d->wait /= 2;
}

/**
 * hipec_recover_doubt_reversed() - that was ill-advised, and was set right
 * @d: of the policy
 *
 * Context: any, serialised by the host.
 * Source: ours; hipec-1997 reverses decisions, however many there are.
 */
void hipec_recover_doubt_reversed(struct hipec_doubt *d)
{
	d->reversed++;
	if (d->moved < HIPEC_DOUBT_FIRST || 8 * d->reversed <= 7 * d->moved)
		return;
	d->well = 0;
	d->wait = d->wait < HIPEC_DOUBT_MAX ? 2 * d->wait + 1 : HIPEC_DOUBT_MAX;
	d->passes = d->wait;
}
