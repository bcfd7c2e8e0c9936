/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which context accessed a page last, for a sample of the pages.
 *
 * Interface:
 * amp_owner_change()  an access: who did before?
 * amp_owner_free()    no page has an owner, and no memory is held
 */
#ifndef HIPEC_AMPOWNER_H
#define HIPEC_AMPOWNER_H

#include "list.h"

#define AMP_OWNER_BITS 16	/* the table grows up to 2^16 places of 16 bytes */

struct amp_owned {
	u64 page;
	u64 context;	/* 0: the place is empty */
};

struct amp_owners {
	struct amp_owned *owned;	/* a hash table of 2^bits */
	u32 bits, nr;
	u64 limit;	/* pages below it have owners */
};

int amp_owner_change(struct amp_owners *o, u64 page, u64 hash, u64 context,
		     u64 *before);
void amp_owner_free(struct amp_owners *o);

#endif /* HIPEC_AMPOWNER_H */
