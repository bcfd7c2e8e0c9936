/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a detector keeps of a context, for amp.c, which fills it, and ampkind.c,
 * which judges.
 *
 * Interface:
 * amp_judge()  a context -> its pattern
 */
#ifndef HIPEC_AMPKIND_H
#define HIPEC_AMPKIND_H

#include "amp.h"

/* An average, of all values or of the later ones. */
struct amp_mean {
	double sum, mean;
	u64 nr;
};

struct amp_context {
	u64 id;
	u64 accesses, missed;
	u64 page;	/* accessed last */
	u64 last;	/* access of it */
	u64 limit;	/* Q */
	u64 since;	/* of DEAR: the access that ended the last period */
	struct amp_list list;
	struct amp_list before;	/* of DEAR: that of the last period */
	struct amp_mean r;	/* average reference recency */
	struct amp_mean time, square;	/* between two accesses of a block */
	struct amp_pattern pattern;	/* of the last verdict */
};

void amp_judge(const struct amp_params *p, struct amp_context *c,
	       struct amp_pattern *out);

#endif /* HIPEC_AMPKIND_H */
