/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program contexts: a number for the call stack that an access came from, the
 * same in each run of the same files, wherever these were loaded.
 *
 * A point is a return address, said by its file: FNV-1a (64 bits) over the bytes of
 * the file's build id, or of the last part of its name where it has none, and then
 * over the 8 bytes, little-endian, of the address's offset in the file. A context
 * is FNV-1a over the 8 bytes, little-endian, of each point, the innermost first. It
 * is never 0, which says that nothing is known: 1 stands for it.
 *
 * Where the access itself is, if that is known, comes first, as if it were one.
 *
 * Left out are code of no file, the C library, the loader and what records the
 * context; who calls has a limit of points, of which CONTEXT_DEPTH is the usual
 * one: with whole stacks a program that does all through one executor has a context
 * for each depth of it.
 *
 * Interface:
 * context_hash()     of a file, by its build id or name; begin with CONTEXT_NONE
 * context_add()      its offset, for a point; one more point of a stack, which begins
 *                    with CONTEXT_NONE
 * context_end()      the context
 * context_is_left_out()  by a file's name
 *
 * Source: Program Context Specific Buffer Caching with AMP, sections 3.1 and 3.3
 * (hashed return addresses); hash, files and limit are ours.
 */
#ifndef HIPEC_CONTEXT_HASH_H
#define HIPEC_CONTEXT_HASH_H

#include "../vm/port.h"

#define CONTEXT_NONE 0xcbf29ce484222325ull
#define CONTEXT_DEPTH 8
#define CONTEXT_MAX_DEPTH 64

static inline __u64 context_hash(__u64 hash, const void *bytes, __u32 n)
{
	const unsigned char *byte = bytes;

	while (n--)
		hash = (hash ^ *byte++) * 0x100000001b3ull;
	return hash;
}

static inline __u64 context_add(__u64 hash, __u64 point)
{
	unsigned char bytes[8];
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = point >> 8 * i;
	return context_hash(hash, bytes, 8);
}

/* @name: the last part of a file's name, ends with a zero: is it a part of the C library? */
static inline bool context_is_left_out(const char *name)
{
	static const char *const begins[] = { "libc-", "ld-" };
	static const char exact[] = "libc.so.6";
	__u32 i, n;

	for (n = 0; n < sizeof(exact) && name[n] == exact[n]; n++)
		;
	if (n == sizeof(exact))
		return true;
	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		for (n = 0; begins[i][n] && name[n] == begins[i][n]; n++)
			;
		if (!begins[i][n])
			return true;
	}
	return false;
}

/* @points: that were added. */
static inline __u64 context_end(__u64 hash, __u32 points)
{
	return !points ? 0 : hash ? hash : 1;
}

#endif /* HIPEC_CONTEXT_HASH_H */
