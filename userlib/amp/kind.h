/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a detector keeps of a context, for amp.c, which fills it, and kind.c,
 * which judges.
 *
 * Interface:
 * amp_average() takes a value into an average
 * amp_judge()   a context -> its pattern
 * amp_dear()    its kind, as DEAR has it           dear.c
 */
#ifndef HIPEC_AMPKIND_H
#define HIPEC_AMPKIND_H

#include "amp.h"

/* An average, of all values or of the later ones. */
struct amp_mean {
	double sum, mean;
	u64 nr;
};

/* When a verdict is asked for. */
struct amp_now {
	u64 seq;	/* the last access of the whole stream */
	u64 shared;	/* limit below which blocks know that they are shared */
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
	bool judged;	/* and it stands, as nothing has come since */
	bool active;	/* in this period */
};

/* Take a value into an average. */
static inline void amp_average(const struct amp_params *p, struct amp_mean *m,
			       double value)
{
	m->nr++;
	if (p->form != AMP_EXPONENTIAL || m->nr <= p->horizon) {
		m->sum += value;
		m->mean = m->sum / m->nr;
	} else {
		m->mean += (value - m->mean) / p->horizon;
	}
}

void amp_judge(const struct amp_params *p, struct amp_context *c,
	       const struct amp_now *now, struct amp_pattern *out);
enum amp_kind amp_dear(const struct amp_params *p, const struct amp_context *c,
		       u64 now);
void amp_dear_gaps(const struct amp_params *p, struct amp_context *c);

#endif /* HIPEC_AMPKIND_H */
