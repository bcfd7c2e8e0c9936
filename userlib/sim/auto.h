/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --policy auto: a league of policies beside the one that runs, in the simulator.
 *
 * Interface:
 * sim_run_auto()  a trace through the league's choice
 * sim_swap()      another policy takes the place of the one that runs
 * sim_graft()     and goes on with what a machine of its own remembers
 */
#ifndef HIPEC_SIM_AUTO_H
#define HIPEC_SIM_AUTO_H

#include "../../module/core/league.h"
#include "sim.h"

#define SIM_MAX_SWITCHES 64	/* that are remembered */

/* Each had the fewest misses on some trace of bench/cost/auto.py, or is simple. */
#define SIM_LEAGUE "mru,arc,2q,s3-fifo,w-tinylfu,lirs,lru"

/* A league: its policies are given, the rest is filled. */
struct sim_auto {
	const struct hipec_policy *policy[HIPEC_LEAGUE_MAX];	/* the first one begins */
	u32 nr;
	u32 salt;
	u32 runs;		/* which team does at the end */
	u32 nr_switches;
	struct {
		u64 at;		/* access, from 1 */
		u32 to;
	} switches[SIM_MAX_SWITCHES];
	u64 misses[HIPEC_LEAGUE_MAX];	/* of the sample */
	u64 played;		/* accesses of the sample */
	u32 shift;		/* one page in 1 << shift is in it */
};

struct sim;
int sim_swap(struct sim *s, const struct hipec_policy *p);
int sim_graft(struct sim *s, struct hipec_candidate *t);
int sim_run_auto(struct sim_auto *a, const struct trace *trace, u32 frames,
		 struct sim_result *r);

#endif /* HIPEC_SIM_AUTO_H */
