/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command text -> command words: the inverse of module/vm/disasm.c, driven by
 * the same syntax column. No command is named here or in asm.c.
 *
 * A line is `[label:] [command] [# comment]`. Mnemonics are the first word of
 * the table's syntax, in any case. Operands are names of slots as declared,
 * selectors by word, events by name or number, jump targets by number or
 * label, and `#N` for any raw byte (or, as a target, 16 bits); `-` is the
 * operand that a selector such as `inc` leaves out. `.word N` is a raw word.
 * A `#` that a digit follows is never a comment.
 *
 * Interface:
 * hipec_asm_init()   no names but those of the machine
 * hipec_asm_line()   one line -> one word
 * hipec_asm_event()  the lines of an event, with labels -> its words
 * hipec_asm_number() a number as all our text files write it
 * hipec_asm_range()  two of them, `1..9`
 * hipec_asm_flag()   a flag by its word
 */
#ifndef HIPEC_ASM_H
#define HIPEC_ASM_H

#include "../../module/vm/optable.h"

struct hipec_asm_label {
	const char *name;	/* not terminated */
	size_t len;		/* bytes */
	u32 target;		/* command, counted from 1 */
};

/* What names mean. NULL is no name. */
struct hipec_asm {
	const char *slot[HIPEC_NR_SLOTS];
	const char *event[HIPEC_NR_EVENTS];
	const struct hipec_asm_label *label;
	size_t nr_labels;
};

struct hipec_asm_source {
	const char *text;
	u32 line;		/* in its file, counted from 1 */
};

struct hipec_asm_error {
	u32 line;		/* as in the source; hipec_asm_line() sets 0 */
	char text[240];
};

void hipec_asm_init(struct hipec_asm *as);
int hipec_asm_line(const struct hipec_asm *as, const char *text, u32 *word,
		   struct hipec_asm_error *err);
int hipec_asm_event(const struct hipec_asm *as,
		    const struct hipec_asm_source *src, size_t nr_src,
		    u32 *words, u32 *lines, size_t max,
		    struct hipec_asm_error *err);
bool hipec_asm_number(const char *s, size_t len, s64 *n);
bool hipec_asm_range(const char *word, s64 *low, s64 *high);
u32 hipec_asm_flag(const char *word, const char *(*text)(u32 flag));

#endif /* HIPEC_ASM_H */
