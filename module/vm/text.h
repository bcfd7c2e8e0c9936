/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text into a buffer of fixed size, without libc: for the disassembler and the
 * verifier's log. What does not fit is cut; the text always ends with a zero.
 */
#ifndef HIPEC_VM_TEXT_H
#define HIPEC_VM_TEXT_H

#include "port.h"

struct hipec_text {
	char *buf;	/* may be NULL when size is 0 */
	size_t size;	/* bytes */
	size_t len;	/* bytes written, without the zero */
};

static inline void hipec_text_init(struct hipec_text *t, char *buf, size_t size)
{
	t->buf = buf;
	t->size = buf ? size : 0;
	t->len = 0;
	if (t->size)
		buf[0] = 0;
}

static inline void hipec_text_char(struct hipec_text *t, char c)
{
	if (t->len + 1 >= t->size)
		return;
	t->buf[t->len++] = c;
	t->buf[t->len] = 0;
}

static inline void hipec_text_str(struct hipec_text *t, const char *s)
{
	while (*s)
		hipec_text_char(t, *s++);
}


static inline void hipec_text_signed(struct hipec_text *t, s64 n)
{
	char digits[20];
	u64 rest = n < 0 ? -(u64)n : (u64)n;
	int i = 0;

	if (n < 0)
		hipec_text_char(t, '-');
	do {
		digits[i++] = '0' + rest % 10;
		rest /= 10;
	} while (rest);
	while (i)
		hipec_text_char(t, digits[--i]);
}

static inline void hipec_text_num(struct hipec_text *t, u32 n)
{
	hipec_text_signed(t, n);
}

static inline void hipec_text_hex(struct hipec_text *t, u32 n, int digits)
{
	hipec_text_str(t, "0x");
	while (digits--)
		hipec_text_char(t, "0123456789abcdef"[(n >> (4 * digits)) & 0xf]);
}

#endif /* HIPEC_VM_TEXT_H */
