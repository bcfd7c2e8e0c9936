/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recency list: blocks ordered by their last access, which tells where in that
 * order a block is without walking it, and keeps only blocks whose hash is below a
 * limit.
 *
 * Each access takes the next place of a row of places; the row's bits say which
 * places are some block's last access, and a Fenwick tree over its words counts
 * them. A full row is written anew, without its holes. So an access costs
 * O(log |L|), and memory is at most 12 places a block.
 *
 * Interface:
 * amp_hash()         block -> 64 bits; the upper half is what is sampled by
 * amp_sampled()      whether a block is below a limit
 * amp_list_touch()   an access
 * amp_list_find()    a block that is in the list
 * amp_list_drop()    forget blocks
 * amp_list_free()    the list is empty again, and holds no memory
 */
#ifndef HIPEC_AMPLIST_H
#define HIPEC_AMPLIST_H

#include <stdbool.h>

#include "../../module/vm/port.h"

#define AMP_ALL (1ull << 32)	/* limit below which all blocks are */

/* A block of the list; one without uses is an empty place of the table. */
struct amp_block {
	u64 page;
	u64 first, last;	/* access of it, in accesses of the whole stream */
	u32 place;
	u32 uses : 30;	/* accesses of it */
	u32 again : 1;	/* more than one */
	u32 shared : 1;	/* another context accessed it since */
};

struct amp_list {
	struct amp_block *block;	/* a hash table of 2^bits */
	u32 *at;	/* by place, index into the table */
	u64 *map;	/* by place, whether it is a block's */
	u32 *tree;	/* of Fenwick's, over the words of the map */
	u32 bits;
	u32 nr;		/* blocks, |L| */
	u32 nr_again;	/* of them */
	u32 next;	/* place */
};

/* Where an access found its block. */
struct amp_touch {
	struct amp_block *block;
	bool known;	/* it was in the list */
	u32 position;	/* from 0, the oldest; if it was known */
	u64 gap;	/* accesses of the whole stream since its last one */
};

static inline u64 amp_hash(u64 page)
{
	page = (page ^ page >> 33) * 0xff51afd7ed558ccdull;
	page = (page ^ page >> 33) * 0xc4ceb9fe1a85ec53ull;
	return page ^ page >> 33;
}

static inline bool amp_sampled(u64 hash, u64 limit)
{
	return hash >> 32 < limit;
}

int amp_list_touch(struct amp_list *l, u64 page, u64 hash, u64 seq,
		   struct amp_touch *t);
struct amp_block *amp_list_find(const struct amp_list *l, u64 page, u64 hash);
int amp_list_drop(struct amp_list *l, u64 limit);
void amp_list_free(struct amp_list *l);

#endif /* HIPEC_AMPLIST_H */
