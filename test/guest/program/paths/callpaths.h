/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that lead to one load: calls_frames.c has them with frame pointers,
 * calls_scan.c without, each from what this header defines if CALLS is.
 */
#ifndef HIPEC_TEST_CALLPATHS_H
#define HIPEC_TEST_CALLPATHS_H

#include <stddef.h>

/* @one and @two call the same function, which loads a byte from @p. */
struct calls {
	void (*one)(const volatile unsigned char *p);
	void (*two)(const volatile unsigned char *p);
	void (*deep)(const volatile unsigned char *p, int calls);
	void (*copy)(const volatile unsigned char *p);	/* by memcpy() */
	long (*read)(int file, void *to, long offset);	/* 4,096 bytes, by pread() */
};

extern const struct calls calls_frames, calls_scan;

#ifdef CALLS
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone)) static

/* Behind a call, so that it is none of the last thing that a function does. */
#define BEHIND __asm__ volatile("" ::: "memory")

NOINLINE void load(const volatile unsigned char *p)
{
	(void)*p;
	BEHIND;
}

NOINLINE void one(const volatile unsigned char *p)
{
	load(p);
	BEHIND;
}

NOINLINE void two(const volatile unsigned char *p)
{
	load(p);
	BEHIND;
}

NOINLINE void deep(const volatile unsigned char *p, int calls)
{
	if (calls > 1)
		deep(p, calls - 1);
	else
		load(p);
	BEHIND;
}

NOINLINE void copy(const volatile unsigned char *p)
{
	static unsigned char to[256];
	void *(*volatile function)(void *, const void *, size_t) = memcpy;

	function(to, (const void *)p, sizeof(to));
	BEHIND;
}

NOINLINE long read_page(int file, void *to, long offset)
{
	long got = pread(file, to, 4096, offset);

	BEHIND;
	return got;
}

const struct calls CALLS = { one, two, deep, copy, read_page };
#endif

#endif /* HIPEC_TEST_CALLPATHS_H */
