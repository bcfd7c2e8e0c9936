/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a member of a large pool has of its manager's, so that it takes the pool's lock once for
 * several pages: entries whose pages have left, pages that came, and pages that are to be looked
 * at when it wants a frame. exchange.c.
 */
#ifndef HIPEC_CORE_EXCHANGE_H
#define HIPEC_CORE_EXCHANGE_H

#include "fifo2mr.h"

/* Of each, at most. A pool has so many of all members' as a 128th of its frames. */
#define HIPEC_TOGETHER 16
#define HIPEC_TOGETHER_PART 128

/* Pages whose bits are reset without the pool's lock. */
#define HIPEC_RESETS 32

/* What the manager is to make of an entry. */
enum hipec_fifo2mr_use {
	HIPEC_ENTRY_NEW,	/* it finds one */
	HIPEC_ENTRY_RENEWED,	/* its page has left, where it is */
	HIPEC_ENTRY_ISOLATED,	/* the same, and this member has isolated it */
	HIPEC_ENTRY_STAYS,	/* its page is another one, where it is */
};

/* Entry @f, and the page that has it now. */
struct hipec_mr_entry {
	u32 f, page;
	enum hipec_fifo2mr_use use;
};

/**
 * struct hipec_exchange - under the member's lock
 * @vacant:    entries whose pages have left, for the next that come
 * @added:     pages that the manager has not been told of; in_pool has HIPEC_ADDED and the place
 *             here
 * @isolated:  the manager's next victims; the first @nr_passed were passed over, those from
 *             @at to @nr_isolated have not been looked at
 * @busy:      others of these, whose members' locks could not be had: once more at the next miss
 * @reset:     pages whose bits are about to be reset
 * @picked:    page that is to go now, or another one in its place; 0: none
 */
struct hipec_exchange {
	struct hipec_mr_entry vacant[HIPEC_TOGETHER];
	struct hipec_mr_entry added[HIPEC_TOGETHER];
	struct hipec_mr_page isolated[HIPEC_TOGETHER];
	struct hipec_mr_page busy[HIPEC_TOGETHER];
	struct hipec_mr_page reset[HIPEC_RESETS];
	u32 nr_vacant, nr_added;
	u32 nr_passed, at, nr_isolated, nr_busy;
	u32 picked;
};

/* Of in_pool: the page came since the manager was told. */
#define HIPEC_ADDED 0x80000000u

#endif /* HIPEC_CORE_EXCHANGE_H */
