/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pieces of random policies, for generate.c and mutate.c.
 */
#ifndef HIPEC_FUZZ_GENERATE_H
#define HIPEC_FUZZ_GENERATE_H

#include "program.h"

#define FUZZ_LEAST_ARRAY 3	/* elements; an index below is always good */

/* Commands on their way into an event. */
struct fuzz_gen {
	struct fuzz_program *p;
	u32 e;				/* row of the event */
	u32 word[128];
	u32 nr;
	u32 careless;			/* percent of commands without a page in hand */
	u8 counter, limit, zero;	/* slots of integers, for loops */
	u8 index, little;		/* and for arrays */
};

void fuzz_gen_block(struct fuzz_gen *g, struct fuzz_program *p, u32 e, u32 nr);
s64 fuzz_gen_value(struct fuzz_rng *r);
void fuzz_gen_operand(struct fuzz_program *p, u8 type);
u8 fuzz_gen_type(struct fuzz_rng *r);
u32 fuzz_gen_event(struct fuzz_rng *r);

#endif /* HIPEC_FUZZ_GENERATE_H */
