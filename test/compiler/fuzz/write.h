/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy while it is written: write.c has its statements and declarations,
 * write_expr.c its expressions.
 */
#ifndef FUZZ_WRITE_H
#define FUZZ_WRITE_H

#include "fuzz.h"

#define NR_LABELS 4	/* of an event */

struct writer {
	struct text *out;
	u64 *state;
	u32 nr_vars, nr_consts, nr_pages, nr_queues, nr_fields;
	u32 nr_arrays, nr_shared, nr_groups;	/* of integers, of queues */
	u32 length[8];		/* of arrays */
	u32 event;		/* number among the policy's own; -1: the host's */
	u32 nr_users;
	u32 loops, left;	/* around; statements still to come */
	bool no_none;		/* what is written must be a page */
	bool is_used[NR_LABELS], is_set[NR_LABELS];
};

#define put(w, ...) text_printf((w)->out, __VA_ARGS__)

static inline u32 pick(struct writer *w, u32 n)
{
	return below(w->state, n);
}

/* write_expr.c */
void write_page_name(struct writer *w, u32 i);
void write_queue_name(struct writer *w, u32 i);
bool write_condition(struct writer *w, u32 depth);
void write_effect(struct writer *w, u32 depth);

#endif /* FUZZ_WRITE_H */
