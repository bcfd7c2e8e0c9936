/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reuse distances of a trace, and what lru makes of them with any memory, in one pass.
 *
 * Interface:
 * trace_stack_open(), _close()  pages by their last access
 * trace_stack_distance()        an access, and how far back the one before it is
 * trace_lru()                   a trace through lru with many sizes
 */
#ifndef HIPEC_TRACE_REUSE_H
#define HIPEC_TRACE_REUSE_H

#include "memory.h"

/* Last accesses to pages, in the order of time; a Fenwick tree counts them. */
struct trace_stack {
	u32 *last;	/* by page, its place; 0: not accessed yet */
	u32 *id;	/* by place, its page + 1; 0: none any more */
	u32 *count;	/* by place: the tree */
	u32 places;
	u32 now;	/* place that was given out last */
	u32 live;	/* places with a page */
};

int trace_stack_open(struct trace_stack *s, u32 nr_pages);
void trace_stack_close(struct trace_stack *s);
bool trace_stack_distance(struct trace_stack *s, u32 id, u32 *d);

/* Counts of one size, behind the warm runs. */
struct trace_lru {
	u32 frames;	/* given */
	u64 faults, read_misses, evictions, written;
};

int trace_lru(const struct trace *t, struct trace_lru *size, size_t nr);

#endif /* HIPEC_TRACE_REUSE_H */
