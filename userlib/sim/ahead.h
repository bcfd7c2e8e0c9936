/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the next accesses need, into the processor's cache beforehand: of a large
 * page table all else would be waiting for memory. A trace is known, so this
 * looks SIM_AHEAD accesses ahead at the bucket, nearer at the entry, and nearer
 * still at its neighbours on the queue. What it sees may be old by then.
 */
#ifndef HIPEC_SIMAHEAD_H
#define HIPEC_SIMAHEAD_H

#include "../../module/vm/bucket.h"
#include "sim.h"

#define SIM_AHEAD 16		/* a power of two */
#define SIM_AHEAD_SMALL 4096	/* entries that stay in the cache by themselves */

struct sim_ahead {
	size_t run;		/* of the trace, the next to look at */
	u32 i;			/* page of it */
	u32 at;			/* of pgno[], the next to be written */
	u32 pgno[SIM_AHEAD];
	const u8 *bits;		/* by handle; NULL: there is nothing to gain */
};

/* Entry of the page table that is first in the bucket of @pgno; may be 0. */
static __always_inline u32 sim_ahead_first(const struct hipec_vm *vm, u32 pgno)
{
	return *hipec_bucket_of(vm, pgno);
}

static __always_inline void sim_ahead_step(struct sim_ahead *a,
					   const struct hipec_vm *vm,
					   const struct trace *t)
{
	u32 h;

	if (!a->bits || a->run == t->nr_runs)
		return;
	a->pgno[a->at] = t->run[a->run].pgno + a->i;
	__builtin_prefetch(hipec_bucket_of(vm, a->pgno[a->at]));
	h = sim_ahead_first(vm, a->pgno[(a->at - SIM_AHEAD / 3) % SIM_AHEAD]);
	__builtin_prefetch(&vm->page[h]);
	__builtin_prefetch(&a->bits[h]);
	h = sim_ahead_first(vm, a->pgno[(a->at - 2 * SIM_AHEAD / 3) % SIM_AHEAD]);
	__builtin_prefetch(&vm->page[vm->page[h].prev]);
	__builtin_prefetch(&vm->page[vm->page[h].next]);
	a->at = (a->at + 1) % SIM_AHEAD;
	if (++a->i == t->run[a->run].nr) {
		a->i = 0;
		a->run++;
	}
}

/* @bits: of the host, by handle. */
static inline void sim_ahead_begin(struct sim_ahead *a,
				   const struct hipec_vm *vm, const u8 *bits,
				   const struct trace *t)
{
	u32 i;

	*a = (struct sim_ahead){ 0 };
	if (vm->nr_pages < SIM_AHEAD_SMALL)
		return;
	a->bits = bits;
	for (i = 0; i < SIM_AHEAD - 1; i++)
		sim_ahead_step(a, vm, t);
}

#endif /* HIPEC_SIMAHEAD_H */
