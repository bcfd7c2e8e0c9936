/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Samples of a container's accesses: what HIPEC_IOC_SAMPLE's descriptor gives to
 * read, in entries of 32 bytes; a read gives whole ones.
 *
 * Sampled are pages: of one that is, all that the policy is told of. A context is
 * told before its first sample, the file of a point before the context; again now
 * and then, as what was told is not remembered for ever.
 */
#ifndef _UAPI_HIPEC_SAMPLE_H
#define _UAPI_HIPEC_SAMPLE_H

#include <linux/types.h>

enum hipec_sample_kind {
	HIPEC_SAMPLE_FAULT = 1,	/* a page was brought in */
	HIPEC_SAMPLE_SOFT,	/* a fault found its page */
	HIPEC_SAMPLE_HARVEST,	/* a page was touched since the last look */
	HIPEC_SAMPLE_LOST,	/* entries did not fit: there is a hole here */
	HIPEC_SAMPLE_POINT,	/* of a context */
	HIPEC_SAMPLE_FILE,	/* that points are in */
};

/*
 *          index           nr              what      more[0]     more[1]
 * FAULT    1: a write      page            context   events      0
 * SOFT     likewise
 * HARVEST  0               page            0         events      0
 * LOST     0               0               samples   0           0
 * POINT    which, from 0   points          context   its file    offset, bytes
 * FILE     bytes of id     bytes of path   its file  0           0
 *
 * events: so many of the first three kinds, of all pages, since sampling began, this
 * one included. A context that is not known any more has one POINT whose nr is 0.
 * Behind a FILE are entries that are bytes: its build id, its path (the end, at most
 * HIPEC_SAMPLE_MAX_PATH), zeros up to the next multiple of 32.
 */
struct hipec_sample_entry {
	__u16 kind;		/* HIPEC_SAMPLE_* */
	__u16 index;
	__u32 nr;
	__u64 what;
	__u64 more[2];
};

#define HIPEC_SAMPLE_MAX_ID 32
#define HIPEC_SAMPLE_MAX_PATH 255
#define HIPEC_SAMPLE_MAX_POINTS 16
#define HIPEC_SAMPLE_ALL (1ull << 32)	/* threshold: every page */

/* A page is sampled if this is less than the threshold. */
static inline __u32 hipec_sample_hash(__u32 page)
{
	page ^= page >> 16;
	page *= 0x85ebca6bu;
	page ^= page >> 13;
	page *= 0xc2b2ae35u;
	return page ^ page >> 16;
}

#endif /* _UAPI_HIPEC_SAMPLE_H */
