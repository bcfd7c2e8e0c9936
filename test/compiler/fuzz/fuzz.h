/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzing of ampc in one process: texts are written or damaged, compiled at both
 * levels, and judged.
 *
 *   text.c    random numbers, texts that grow
 *   write.c   policies that use the whole language and must compile; write_expr.c
 *   damage.c  texts that may be anything
 *   judge.c   what must hold of every text
 *   main.c    the loop, and the process that watches it
 */
#ifndef FUZZ_COMPILER_H
#define FUZZ_COMPILER_H

#include "ampc.h"

struct text {
	char *s;
	size_t size, max;
};

/* text.c */
u64 random64(u64 *state);
u32 below(u64 *state, u32 n);
bool one_in(u64 *state, u32 n);
void text_set(struct text *t, const char *s, size_t size);
void text_insert(struct text *t, size_t at, const char *s, size_t size);
void text_delete(struct text *t, size_t at, size_t size);
__attribute__((format(printf, 2, 3)))
void text_printf(struct text *t, const char *fmt, ...);

/* write.c */
void write_policy(struct text *t, u64 *state);

/* damage.c */
void damage(struct text *t, const struct text *other, u64 *state);

/* judge.c */
struct verdict {
	bool is_accepted;	/* at -O1 */
	bool is_too_large;	/* only a limit of the image is in the way */
	bool is_unread;		/* its listing is longer than a text may be */
	size_t memory;		/* bytes that one compilation held at most */
};

const char *judge(const struct text *t, bool is_assembler, bool is_thorough,
		  struct verdict *v);

#endif /* FUZZ_COMPILER_H */
