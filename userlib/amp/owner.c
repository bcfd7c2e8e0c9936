// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who accessed a page last. What one context reads once another one may read again:
 * then it is not one-shot, whatever its own list says.
 *
 * A hash table of sampled pages; when it is half full, half of them go.
 *
 * Interface: owner.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "owner.h"

static struct amp_owned *place_of(struct amp_owned *owned, u32 bits, u64 page,
				  u64 hash)
{
	u32 mask = (1u << bits) - 1, i = hash & mask;

	while (owned[i].context && owned[i].page != page)
		i = (i + 1) & mask;
	return &owned[i];
}

/* Write the table anew, with what is below the limit. */
static int rewrite(struct amp_owners *o, u32 bits)
{
	struct amp_owned *new = calloc((size_t)1 << bits, sizeof(*new));
	size_t i, n = o->owned ? (size_t)1 << o->bits : 0;

	if (!new)
		return -ENOMEM;
	o->nr = 0;
	for (i = 0; i < n; i++) {
		const struct amp_owned *old = &o->owned[i];
		u64 hash = amp_hash(old->page);

		if (!old->context || !amp_sampled(hash, o->limit))
			continue;
		*place_of(new, bits, old->page, hash) = *old;
		o->nr++;
	}
	free(o->owned);
	o->owned = new;
	o->bits = bits;
	return 0;
}

static int make_room(struct amp_owners *o)
{
	if (o->owned && o->nr < 1u << (o->bits - 1))
		return 0;
	if (!o->owned || o->bits < AMP_OWNER_BITS)
		return rewrite(o, o->owned ? o->bits + 1 : 8);
	o->limit /= 2;
	return rewrite(o, o->bits);
}

/**
 * amp_owner_change() - an access
 * @o:       table; its limit is set, the rest is zero at first
 * @page:    accessed
 * @hash:    amp_hash() of it
 * @context: that it came from, not 0
 * @before:  gets the context that accessed it last, 0: not known
 *
 * Return: 0; -ENOMEM.
 */
int amp_owner_change(struct amp_owners *o, u64 page, u64 hash, u64 context,
		     u64 *before)
{
	struct amp_owned *owned;

	*before = 0;
	if (!amp_sampled(hash, o->limit))
		return 0;
	if (make_room(o))
		return -ENOMEM;
	owned = place_of(o->owned, o->bits, page, hash);
	*before = owned->context;
	if (*before == context)
		return 0;
	o->nr += !*before;
	*owned = (struct amp_owned){ page, context };
	return 0;
}

void amp_owner_free(struct amp_owners *o)
{
	free(o->owned);
	*o = (struct amp_owners){ 0 };
}
