// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers that come again from their seed, and texts that grow. */
#include <stdlib.h>

#include "fuzz.h"

/* splitmix64 */
u64 random64(u64 *state)
{
	u64 x = (*state += 0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* A number from 0 to @n - 1; 0 if @n is. */
u32 below(u64 *state, u32 n)
{
	return n ? random64(state) % n : 0;
}

bool one_in(u64 *state, u32 n)
{
	return !below(state, n);
}

static void reserve(struct text *t, size_t size)
{
	if (size <= t->max)
		return;
	t->max = 2 * size;
	t->s = realloc(t->s, t->max);
	if (!t->s)
		abort();
}

void text_set(struct text *t, const char *s, size_t size)
{
	reserve(t, size);
	if (size)
		memcpy(t->s, s, size);
	t->size = size;
}

/* Put @size bytes in front of byte @at; @s is no part of @t. */
void text_insert(struct text *t, size_t at, const char *s, size_t size)
{
	if (!size)
		return;
	reserve(t, t->size + size);
	memmove(t->s + at + size, t->s + at, t->size - at);
	memcpy(t->s + at, s, size);
	t->size += size;
}

void text_delete(struct text *t, size_t at, size_t size)
{
	if (!size)
		return;
	memmove(t->s + at, t->s + at + size, t->size - at - size);
	t->size -= size;
}

/* Append. */
void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	reserve(t, t->size + n + 1);
	va_start(ap, fmt);
	vsnprintf(t->s + t->size, n + 1, fmt, ap);
	va_end(ap);
	t->size += n;
}
