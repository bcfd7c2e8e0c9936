/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace does, whatever the policy: how unequal its pages are, and how far back the
 * last access to a page is.
 *
 * Interface:
 * profile_pattern_make(), _free()
 */
#ifndef HIPEC_PROFILE_PATTERN_H
#define HIPEC_PROFILE_PATTERN_H

#include "profile.h"

#define PROFILE_RANKS 512	/* of pages, thinned out: enough for 2^26 of them */
#define PROFILE_CLASSES 28	/* of reuse: the first access, then powers of two of frames */
#define PROFILE_ZIPF_PAGES 10	/* fewer say nothing of a law */
#define PROFILE_ZIPF_LEAST 20	/* accesses to a page, for its rank to mean something */

/* Pages by their accesses, most first, up to a rank. */
struct profile_rank {
	u32 rank;	/* from 1 */
	u32 accesses;	/* to that page */
	u64 sum;	/* to all up to it */
};

/* The law of Zipf that is nearest: @first / rank^@skew accesses. */
struct profile_zipf {
	u32 pages;	/* that it was fitted to; 0: they are too few */
	u64 accesses;	/* to these */
	double skew, error, first;
	double misfit;	/* most that a sum of shares is off by, 0 to 1 */
};

struct profile_pattern {
	struct profile_rank rank[PROFILE_RANKS];
	u32 nr_ranks;
	struct profile_zipf zipf;
	u32 (*reuse)[PROFILE_CLASSES];	/* accesses, by bin */
	u32 nr_classes;			/* that have any */
};

int profile_pattern_make(struct profile_pattern *p, const struct profile_map *m);
void profile_pattern_free(struct profile_pattern *p);

#endif /* HIPEC_PROFILE_PATTERN_H */
