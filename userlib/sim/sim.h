/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: a trace through a policy, or through a built-in reference, at a
 * number of frames. A policy runs on the VM core of module/vm and on the engine of
 * module/core, as in the module, one page a fault: the same decisions.
 *
 * Names: @t a trace; @pgno and @id are its pages, as trace/memory.h says.
 *
 * Interface:
 * sim_run_policy()           a trace through a policy
 * sim_run_watched()          the same, and watch.h says who watches
 * sim_contract_begin(), _note(), _end()  what revocation's contract says of it
 * sim_run_reference()        a trace through lru, fifo, clock, opt, opt-reads or default
 */
#ifndef HIPEC_SIM_H
#define HIPEC_SIM_H

#include "../../module/core/contract.h"
#include "../policy/policy.h"
#include "../trace/memory.h"

#define SIM_MAX_FRAMES (1u << 30)	/* 4 TiB, as in the kernel */
#define SIM_MAX_ENTRIES INT32_MAX	/* of a page table: frames and ghosts */

/* A hit sets the bits of its page, as hardware does; and runs Access. */
#define SIM_MODES(X) X(MAPPED, "mapped") X(EXACT, "exact")

enum sim_mode {
#define X(id, text) SIM_##id,
	SIM_MODES(X)
#undef X
	SIM_NR_MODES
};

struct sim_result {
	/* Counts; behind the warm runs they begin again. */
	u64 faults;
	u64 read_misses;	/* of the faults */
	u64 writes;		/* of the accesses */
	u64 written;		/* pages written back */
	u64 commands, events;
	u64 evictions;
	u64 refused, helped, forgotten;	/* as in struct hipec_counters */
	u64 ahead_faults, ahead_pages, ahead_dropped;	/* likewise */
	u64 ahead_reads;	/* of ahead_faults */
	/* No counts. */
	u64 most_commands;	/* of one access, and all that it led to */
	struct hipec_exit exit;	/* kind is not 0: the policy has ended */
	u64 ended_at;		/* access at which it did, from 1 */
	s64 slot[HIPEC_NR_SLOTS];	/* of the machine, at the end */
	u64 done;		/* accesses, for other threads to see; the last field */
	struct sim_post *post;	/* but for these, which are given, or NULL */
	struct sim_feed *feed;
	int (*run)(struct hipec_vm *vm, u32 event); /* native code; NULL: it is interpreted */
};

/* What a run asks of the disk. */
struct sim_post {
	struct trace t;
	bool whole_writes;	/* a write miss reads nothing */
	int ret;		/* 0, or why it is not complete */
};

void sim_post_add(struct sim_post *p, u32 pgno, bool write);

/* A page is brought in, to be written at once if @write. */
static inline void sim_note_read(const struct sim_result *r, u32 pgno, bool write)
{
	if (r->post && !(write && r->post->whole_writes))
		sim_post_add(r->post, pgno, false);
}

static inline void sim_note_write(const struct sim_result *r, u32 pgno)
{
	if (r->post)
		sim_post_add(r->post, pgno, true);
}

/* Accesses between two looks of another thread; a power of two. */
#define SIM_PROGRESS 65536

/* Nothing is done yet; others may be looking. */
static inline void sim_result_begin(struct sim_result *r)
{
	memset(r, 0, offsetof(struct sim_result, done));
	__atomic_store_n(&r->done, 0, __ATOMIC_RELAXED);
}

/* What was counted until here does not count. */
static inline void sim_result_again(struct sim_result *r)
{
	memset(r, 0, offsetof(struct sim_result, exit));
}

/* Tell others how many accesses are done. */
static inline void sim_progress_note(struct sim_result *r, u64 done)
{
	if (!(done % SIM_PROGRESS))
		__atomic_store_n(&r->done, done, __ATOMIC_RELAXED);
}

/* What a reference tells of a page, by its id, and in which access, from 1. */
enum sim_tell {
	SIM_TELL_FAULT,
	SIM_TELL_IN,	/* it holds a frame */
	SIM_TELL_OUT,	/* and no longer */
};

struct sim_teller {
	void (*tell)(struct sim_teller *teller, u64 access, u32 id,
		     enum sim_tell what);
};

#define SIM_MAX_WINDOWS 16	/* of the contract, in succession */
#define SIM_MAX_EXCESS 9999	/* percent */

/* What revocation's contract says of a policy, which goes on all the same. */
struct sim_contract {
	u32 salt;		/* given: says which pages are sampled */
	u32 nr_windows;		/* closed ones */
	u64 watched;		/* faults of the policy, and of these */
	u64 estimate;		/* the default's, as the judge has it */
	u64 closed_estimate;	/* of these, in closed windows */
	struct hipec_bounds bounds;	/* of the default's; set at the end */
	double worst;		/* percent of excess at which it would be revoked */
	u64 looks;		/* at referenced bits */
	u64 revoked_at;		/* fault at which it is; 0: never */
	u32 revoked_in;		/* window, from 1 */
	double recent[SIM_MAX_WINDOWS];	/* excess of the last ones */
};

int sim_run_policy(const struct hipec_policy *p, const struct trace *t,
		   u32 frames, enum sim_mode mode, struct sim_result *r,
		   struct sim_contract *c);
struct sim_watch;
int sim_run_watched(const struct hipec_policy *p, const struct trace *t,
		    u32 frames, enum sim_mode mode, struct sim_result *r,
		    struct sim_contract *c, struct sim_watch *w);
void sim_contract_begin(struct sim_contract *c);
void sim_contract_note(struct sim_contract *c, const struct hipec_windows *w,
		       enum hipec_verdict verdict, u64 faults);
struct hipec_core;
void sim_contract_end(struct sim_contract *c, const struct hipec_core *core);
int sim_run_reference(enum policy_reference ref, struct trace *t, u32 frames,
		      struct sim_result *r, struct sim_teller *teller);

#endif /* HIPEC_SIM_H */
