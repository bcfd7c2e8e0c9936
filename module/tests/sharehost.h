/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool, and members that are hosts of corehost.h.
 *
 * Interface:
 * hipec_sharers_new()   a pool that nobody shares
 * hipec_sharer_new()    a member, started, with its first frames
 * hipec_sharer_compact()  its table is as short as what it holds
 * hipec_sharers_expect_entries()  the manager's entries are those of the members' pages
 */
#ifndef HIPEC_TESTS_SHAREHOST_H
#define HIPEC_TESTS_SHAREHOST_H

#include "corehost.h"

#define SHARERS 3

struct hipec_sharers {
	struct hipec_pool pool;
	struct hipec_core *member[SHARERS + 1];
	struct hipec_mr_frame frame[OWNER_PAGES];
	u8 used[OWNER_PAGES], isolated[OWNER_PAGES];	/* each entry, by members */
};

struct hipec_sharers *hipec_sharers_new(struct kunit *test, u32 max);
struct hipec_owner *hipec_sharer_new(struct kunit *test, struct hipec_sharers *w, u32 frames,
				     u32 min);
u32 hipec_sharer_compact(struct hipec_owner *o);
void hipec_sharers_expect_entries(struct kunit *test, struct hipec_sharers *w);

#endif /* HIPEC_TESTS_SHAREHOST_H */
