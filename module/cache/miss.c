// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misses: folios are about to be read, and are noted (touch.c says why no event runs here). Where too
 * much is noted, the file is lost until a worker has caught up.
 *
 * Interface:
 * hipec_cache_read(), _read_folio()  folios are about to be read
 */
#include <linux/pagemap.h>

#include "cache.h"

static void note_miss(struct hipec_cfile *f, pgoff_t idx, u32 nr, enum hipec_touch how, u64 context)
{
	struct hipec_cache *cache = f->cache;

	if (idx + nr > f->nr || !hipec_touch_owe(cache, f->start + idx, nr, how, context)) {
		hipec_cache_lose(f, 0);
		return;
	}
	hipec_touch_missed(cache);
	hipec_deliver_missed(cache);
}

/**
 * hipec_cache_read() - folios are about to be read
 * @f:   file, in use
 * @idx: first page; all are in the page cache, and locked
 * @nr:  pages
 * @context: of the program that reads; 0: not known
 *
 * Context: process context; does not wait.
 */
void hipec_cache_read(struct hipec_cfile *f, pgoff_t idx, u32 nr, u64 context)
{
	note_miss(f, idx, nr, HIPEC_BY_MISS, context);
}

/**
 * hipec_cache_read_folio() - one folio is about to be read
 * @f:     file, in use
 * @folio: in the page cache, and locked
 * @context: of the program that reads; 0: not known
 *
 * One that has an entry is read again, as a part of it was not up to date.
 *
 * Context: process context; does not wait.
 */
void hipec_cache_read_folio(struct hipec_cfile *f, struct folio *folio, u64 context)
{
	note_miss(f, folio->index, folio_nr_pages(folio), HIPEC_BY_FILL, context);
}
