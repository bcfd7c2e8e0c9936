/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A detector beside a simulation: it is told of each access, and every so often its
 * patterns go into the arrays of the policy, if that declares them.
 *
 * Interface:
 * sim_feed_arrays()       the arrays of a policy that wants to be fed        arrays.c
 * sim_feed_wants()        whether a policy has the arrays
 * sim_feed_params()       what the detector goes by                          feed.c
 * sim_feed_begin()        when the machine is there
 * sim_feed_note()         an access
 * sim_feed_end()          patterns of the whole run
 * sim_feed_hints()        what was known before, among patterns
 */
#ifndef HIPEC_SIMFEED_H
#define HIPEC_SIMFEED_H

#include "../amp/amp.h"
#include "sim.h"

#define SIM_FEED_EVERY 5000	/* accesses of a period */
#define SIM_FEED_MOST 1024	/* contexts */

/* What is asked of all rows. */
struct sim_feed_job {
	bool off;		/* nothing is fed */
	bool unguarded;		/* what is found is fed, whether it pays or not */
	enum amp_method method;
	u64 every;		/* accesses of a period; 0: SIM_FEED_EVERY */
	const char *file;	/* of hints, or NULL */
	struct amp_pattern *hints;	/* read from it */
	size_t nr_hints;
};

/* One run's. */
struct sim_feed {
	const struct sim_feed_job *job;	/* given, as in struct sim_result */
	struct amp_detector *detector;
	struct amp_arrays to;
	u64 every;
	u64 next;		/* access that ends the period */
	struct amp_pattern *pattern;	/* SIM_FEED_MOST */
	size_t nr;
	u64 fed;		/* times */
	struct amp_trial *trial;	/* NULL: they go into the arrays at once */
};

void sim_feed_arrays(struct amp_arrays *a, const struct hipec_vm *vm);
void sim_feed_params(enum amp_method method, struct amp_params *p);
bool sim_feed_wants(const struct hipec_policy *p);
int sim_feed_begin(struct sim_feed *f, struct hipec_vm *vm, u32 frames);
int sim_feed_note(struct sim_feed *f, u64 context, u32 pgno, u64 seq,
		  bool missed);
void sim_feed_hints(const struct amp_pattern *hint, size_t nr,
		    struct amp_pattern *p, size_t *n);
void sim_feed_end(struct sim_feed *f);
void sim_feed_free(struct sim_feed *f);

#endif /* HIPEC_SIMFEED_H */
