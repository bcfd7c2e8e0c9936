/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations and words -> the bytes of a compiled policy, as the uapi header
 * lays it out. Checks nothing: a test may want an image that is refused.
 *
 * Interface:
 * hipec_mkimage()	build the bytes
 */
#ifndef HIPEC_MKIMAGE_H
#define HIPEC_MKIMAGE_H

#include "../../module/vm/optable.h"

struct hipec_mkimage {
	const char *name;
	struct {
		const char *name;	/* NULL: none */
		u8 type, flags;
		u16 key;
		s64 value, low, high;
	} slot[HIPEC_SLOT_SYSTEM];
	u32 nr_slots;
	struct {
		const char *name;
		u32 number;
		const u32 *words;	/* the magic first */
		const u32 *lines;	/* as many, or NULL */
		u32 nr;
	} event[HIPEC_NR_EVENTS];
	u32 nr_events;
	bool with_lines;
	bool is_dense;		/* every name is there: no empty one in front */
	u32 ghosts, timer_ms;	/* as in the header */
	bool says_needs;	/* @needs, else what the policy uses */
	u32 needs;
	u8 source_hash[HIPEC_HASH_SIZE];
};

int hipec_mkimage(const struct hipec_mkimage *m, void **bytes, size_t *size);

#endif /* HIPEC_MKIMAGE_H */
