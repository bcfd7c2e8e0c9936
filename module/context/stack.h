/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call stack of a program on x86-64, from what is in its memory: return
 * addresses through frame pointers where the code has them, and where it has not,
 * words of the stack that point behind a call.
 *
 * Nothing that is read is believed: whatever the memory holds, the walk ends within
 * the limits below. For user space and kernel; the host reads memory and knows what
 * is mapped.
 *
 * Interface:
 * hipec_stack_walk()     registers -> points
 * hipec_stack_context()  points -> the program context (context.h)
 * hipec_buildid_find()   of a file, from its beginning
 *
 * Source: Program Context Specific Buffer Caching with AMP, section 3.3; how the
 * stack is walked is ours.
 */
#ifndef HIPEC_CONTEXT_STACK_H
#define HIPEC_CONTEXT_STACK_H

#include "hash.h"

/* Limits of one walk. */
#define HIPEC_STACK_GAP 512	/* words from one return address to the next */
#define HIPEC_STACK_WORDS 1024	/* words that are looked at in scans */
#define HIPEC_STACK_STEPS 128	/* return addresses that are taken, or looked for */
#define HIPEC_STACK_READS 512	/* of code */
#define HIPEC_STACK_FRAME (1u << 20)	/* bytes from one frame to the next */
#define HIPEC_STACK_FUNCTION (1u << 18)	/* bytes of a function */

#define HIPEC_BUILD_ID_MAX 32	/* bytes that are taken of it */

#define HIPEC_STACK_BLOCK 16	/* words that are read at once */
#define HIPEC_STACK_RANGES 8	/* that are remembered */

/**
 * struct hipec_stack_map - executable mapping of a file, or what is none
 * @start:  address
 * @end:    address behind it
 * @offset: in the file, of @start, bytes
 * @file:   context_hash() of its build id, or of the last part of its name
 * @skip:   its points are left out
 * @code:   it is one; all but @start and @end are 0 if it is not
 */
struct hipec_stack_map {
	u64 start;
	u64 end;
	u64 offset;
	u64 file;
	bool skip;
	bool code;
};

/**
 * struct hipec_stack_ops - what a walk asks of its host
 * @words: HIPEC_STACK_BLOCK words from @at on, a multiple of their size; false: they
 *        are not all there
 * @code: eight bytes from @at on, lowest first, which need not be aligned; likewise
 * @map:  the mapping that @at is in, or some addresses around it where nothing is;
 *        @map is zeros before
 *
 * Addresses may be any number.
 */
struct hipec_stack_ops {
	bool (*words)(void *host, u64 at, u64 *words);
	bool (*code)(void *host, u64 at, u64 *bytes);
	void (*map)(void *host, u64 at, struct hipec_stack_map *map);
};

/*
 * @ip may be 0: then @bp is that of a function with a frame. @end: where the first
 * stack of the program begins, and no stack goes beyond; or 0.
 */
struct hipec_stack_regs {
	u64 ip;
	u64 bp;
	u64 sp;
	u64 end;
};

struct hipec_stack_point {
	u64 file;
	u64 offset;	/* bytes */
};

/**
 * struct hipec_stack - how a walk went
 * @nr:      points
 * @lead:    words from sp on that were scanned before the first frame
 * @frames:  return addresses that were found through frame pointers
 * @tail:    words that were scanned behind the last frame, or behind @lead
 * @steps, @words, @reads: work, as limited above
 */
struct hipec_stack {
	u32 nr;
	u32 lead;
	u32 frames;
	u32 tail;
	u32 steps;
	u32 words;
	u32 reads;
};

u32 hipec_stack_walk(const struct hipec_stack_ops *ops, void *host,
		     const struct hipec_stack_regs *regs,
		     struct hipec_stack_point *point, u32 depth,
		     struct hipec_stack *s);
u64 hipec_stack_context(const struct hipec_stack_point *point, u32 nr);
u32 hipec_buildid_find(const void *start, u32 size, u8 *id);

#endif /* HIPEC_CONTEXT_STACK_H */
