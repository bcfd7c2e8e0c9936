// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recency list of a detector: a hash table of blocks, each with its place in a
 * row that is in the order of the accesses.
 *
 * Interface: list.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

#define FIRST_BITS 6	/* one word of the map */
#define MAX_USES 0x3fffffff

static u32 nr_words(const struct amp_list *l)
{
	return 1u << (l->bits - 6);
}

/* Count @by more in word @word of the map. */
static void count(struct amp_list *l, u32 word, u32 by)
{
	for (word++; word <= nr_words(l); word += word & -word)
		l->tree[word - 1] += by;
}

static void take(struct amp_list *l, struct amp_block *b)
{
	b->place = l->next++;
	l->at[b->place] = b - l->block;
	l->map[b->place / 64] |= 1ull << b->place % 64;
	count(l, b->place / 64, 1);
}

static void leave(struct amp_list *l, const struct amp_block *b)
{
	l->map[b->place / 64] &= ~(1ull << b->place % 64);
	count(l, b->place / 64, -1u);
}

/* Blocks whose last access is older than that of the block at @place. */
static u32 position(const struct amp_list *l, u32 place)
{
	u32 word = place / 64, n;

	n = __builtin_popcountll(l->map[word] & ((1ull << place % 64) - 1));
	for (; word; word &= word - 1)
		n += l->tree[word - 1];
	return n;
}

/* Where @page is in the table, or would be. */
static struct amp_block *place_of(const struct amp_list *l, u64 page, u64 hash)
{
	u32 mask = (1u << l->bits) - 1, i = hash & mask;

	while (l->block[i].uses && l->block[i].page != page)
		i = (i + 1) & mask;
	return &l->block[i];
}

static int alloc(struct amp_list *l, u32 bits)
{
	size_t n = (size_t)1 << bits;

	*l = (struct amp_list){
		.bits = bits,
		.block = calloc(n, sizeof(*l->block)),
		.at = malloc(n * sizeof(*l->at)),
		.map = calloc(n / 64, sizeof(*l->map)),
		.tree = calloc(n / 64, sizeof(*l->tree)),
	};
	if (l->block && l->at && l->map && l->tree)
		return 0;
	amp_list_free(l);
	return -ENOMEM;
}

/* Write the list anew, in a table of 2^@bits, with what stays. */
static int rewrite(struct amp_list *l, u32 bits, u64 limit)
{
	struct amp_list new;
	u32 i;

	if (alloc(&new, bits))
		return -ENOMEM;
	for (i = 0; i < l->next; i++) {
		const struct amp_block *old = &l->block[l->at[i]];
		struct amp_block *b;
		u64 hash;

		if (!(l->map[i / 64] >> i % 64 & 1))
			continue;
		hash = amp_hash(old->page);
		if (!amp_sampled(hash, limit))
			continue;
		b = place_of(&new, old->page, hash);
		*b = *old;
		take(&new, b);
		new.nr++;
		new.nr_again += b->again;
	}
	amp_list_free(l);
	*l = new;
	return 0;
}

/* The row is full: blocks move down in it, in their order. */
static void renumber(struct amp_list *l)
{
	u32 i, nr = 0, words = nr_words(l);

	for (i = 0; i < l->next; i++) {
		if (!(l->map[i / 64] >> i % 64 & 1))
			continue;
		l->at[nr] = l->at[i];
		l->block[l->at[nr]].place = nr;
		nr++;
	}
	l->next = nr;
	memset(l->map, 0, words * sizeof(*l->map));
	memset(l->map, 0xff, nr / 64 * sizeof(*l->map));
	if (nr % 64)
		l->map[nr / 64] = (1ull << nr % 64) - 1;
	for (i = 0; i < words; i++)
		l->tree[i] = __builtin_popcountll(l->map[i]);
	for (i = 1; i <= words; i++)
		if (i + (i & -i) <= words)
			l->tree[i + (i & -i) - 1] += l->tree[i - 1];
}

/* The table is at most half full, and there is a place for one access more. */
static int make_room(struct amp_list *l)
{
	if (!l->block)
		return alloc(l, FIRST_BITS);
	if (l->nr >= 1u << (l->bits - 1))
		return rewrite(l, l->bits + 1, AMP_ALL);
	if (l->next == 1u << l->bits)
		renumber(l);
	return 0;
}

/**
 * amp_list_touch() - an access
 * @l:    list
 * @page: block
 * @hash: amp_hash() of it
 * @seq:  number of the access in the whole stream
 * @t:    filled: where the block was before it
 *
 * Return: 0; -ENOMEM.
 */
int amp_list_touch(struct amp_list *l, u64 page, u64 hash, u64 seq,
		   struct amp_touch *t)
{
	struct amp_block *b;

	if (make_room(l))
		return -ENOMEM;
	b = place_of(l, page, hash);
	*t = (struct amp_touch){ .block = b, .known = b->uses };
	if (t->known) {
		t->position = position(l, b->place);
		t->gap = seq - b->last;
		leave(l, b);
		l->nr_again += !b->again;
		b->again = 1;
	} else {
		b->page = page;
		b->first = seq;
		l->nr++;
	}
	take(l, b);
	b->uses += b->uses != MAX_USES;
	b->last = seq;
	return 0;
}

/* The block, or NULL. */
struct amp_block *amp_list_find(const struct amp_list *l, u64 page, u64 hash)
{
	struct amp_block *b;

	if (!l->block)
		return NULL;
	b = place_of(l, page, hash);
	return b->uses ? b : NULL;
}

/**
 * amp_list_drop() - forget blocks
 * @l:     list
 * @limit: those that are not sampled below this
 *
 * What stays keeps its order, in a table that is as small as it can be.
 *
 * Return: 0; -ENOMEM, and nothing is forgotten.
 */
int amp_list_drop(struct amp_list *l, u64 limit)
{
	u32 bits;

	if (!l->block || rewrite(l, l->bits, limit))
		return l->block ? -ENOMEM : 0;
	for (bits = FIRST_BITS; l->nr >= 1u << (bits - 1); bits++)
		;
	if (bits < l->bits)
		rewrite(l, bits, AMP_ALL);	/* it may stay as it is */
	return 0;
}

void amp_list_free(struct amp_list *l)
{
	free(l->block);
	free(l->at);
	free(l->map);
	free(l->tree);
	*l = (struct amp_list){ 0 };
}
