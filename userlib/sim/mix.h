/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several applications on one machine, as in the profiler of hipec-1997: a trace
 * and a policy each, one processor in time slices, one disk, and a pool of frames
 * under a global policy. What a policy is told and decides is the simulator's.
 *
 * Time is in ns from the start, and nothing is random: the same mix is the same
 * again. docs/user/sim.md says what happens when.
 *
 * Interface:
 * mix_run()    applications, in their order, up to the end of the last one
 */
#ifndef HIPEC_MIX_H
#define HIPEC_MIX_H

#include "mixpool.h"

#define MIX_MAX_APPS MIX_MAX_MEMBERS
#define MIX_MAX_NS (1ull << 50)	/* of one time that is given: 13 days */
#define MIX_MAX_SAMPLES 10000
#define MIX_MAX_FRAMES (1u << 20)	/* of the machine: 4 GiB */

struct mix_machine {
	u32 frames;
	u64 slice_ns;
	u64 gap_ns;		/* from the start of one to that of the next */
	u64 sample_ns;		/* from one sample to the next; 0: none */
	u64 moment_ns;		/* from one moment that watchers are told of to the next */
	u64 read_ns[2], write_ns[2];	/* as of struct mix_disk */
	enum hipec_mr_policy global;
	enum sim_mode mode;
	bool recovery, revocation;
};

/* Names of enum hipec_mr_policy, in its order. */
#define MIX_GLOBALS(X) X(FIFO2, "fifo2-mr") X(AWST, "awst")

static inline const char *mix_global_name(const struct mix_machine *m)
{
	static const char *const names[] = {
#define X(id, text) [HIPEC_MR_##id] = text,
		MIX_GLOBALS(X)
#undef X
	};

	return names[m->global];
}

/* What is given of an application. */
struct mix_app {
	const char *name;
	const char *source;	/* of the trace, as it was written */
	struct policy *policy;
	struct trace *trace;
	u32 reserved;		/* frames of its own; 0: it shares */
	u32 min, max;		/* if it shares */
	u64 start_ns, cpu_ns;	/* CPU of an access */
	struct sim_watch *watch;	/* NULL, or who watches it */
};

/* What came of it. */
struct mix_row {
	const struct mix_app *app;
	struct sim_result r;
	struct sim_contract contract;
	u64 read_pages;
	u64 began, ended;
	u64 cpu, disk_wait, cpu_wait;	/* which are all the time that it took */
	u64 moved, recovered, given;
	u32 most_frames;	/* that it held at a time */
};

/* What the applications hold at some time, in the order of the rows. */
struct mix_sample {
	u64 at;
	u32 *frames;
};

struct mix_result {
	struct mix_row *row;	/* in the order of submission */
	u32 nr;
	u64 elapsed, idle;	/* until the last has ended; of that, the CPU idle */
	u64 disk_busy, disk_reads, disk_writes, disk_sequential;
	struct mix_sample *sample;
	u32 nr_samples;
};

int mix_run(const struct mix_machine *m, struct mix_app *const *app, u32 nr,
	    struct mix_result *result);
void mix_result_free(struct mix_result *result);

#endif /* HIPEC_MIX_H */
