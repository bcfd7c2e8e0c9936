/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop closed: samples of a live container -> detector -> trial -> the arrays that
 * its policy shares. Whoever has the container's descriptor runs it; faults never
 * wait for it.
 *
 * Of mapped pages the module sees faults, and bits of pages that were touched. The
 * first such bit after a fault is of this fault, and is no access. A later one is an
 * access by the context that the page had last, at the time it was seen.
 *
 * Interface:
 * amp_loop_open(), _close()
 * amp_loop_take()    bytes of samples, in pieces of any size
 * amp_loop_attach()  to a container: makes the descriptor to wait for
 * amp_loop_serve()   read what is there
 * amp_loop_state()   what was learnt, for the next run
 */
#ifndef HIPEC_AMPLOOP_H
#define HIPEC_AMPLOOP_H

#include "../../sim/trial.h"
#include "../../../module/include/uapi/hipec_sample.h"

#define AMP_LOOP_FRAMES 16384	/* are as many as are simulated */
#define AMP_LOOP_TEXT 12	/* entries of a file's text, at most */

struct amp_loop {
	struct amp_arrays to;
	struct amp_params params;
	struct amp_detector *detector;
	struct amp_trial trial;
	struct amp_state state;	/* as read, then as found */
	struct amp_pattern *pattern;	/* SIM_FEED_MOST */
	size_t nr;
	u32 frames;		/* of the container */
	double rate;		/* share of the pages that is sampled */
	u64 every, next;	/* events of a period; that end this one */
	u64 seq;		/* events */
	u64 lost, samples, feeds, restarts;
	struct amp_seen *seen;	/* by page: who used it last */
	u32 nr_seen, seen_bits;

	struct hipec_sample_entry group[1 + AMP_LOOP_TEXT];
	u32 in_group, bytes;	/* entries that there are to be, bytes there are */

	int fd;			/* -1: not attached */
	struct { s64 *at; size_t nr; } shared[5];
};

int amp_loop_open(struct amp_loop *l, const struct hipec_policy *p, u32 frames,
		  const struct amp_arrays *to, struct amp_state *hints);
int amp_loop_take(struct amp_loop *l, const void *bytes, size_t nr);
int amp_loop_attach(struct amp_loop *l, int device, const struct hipec_policy *p,
		    u32 frames, struct amp_state *hints);
int amp_loop_serve(struct amp_loop *l);
int amp_loop_state(struct amp_loop *l);
void amp_loop_close(struct amp_loop *l);

#endif /* HIPEC_AMPLOOP_H */
