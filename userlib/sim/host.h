/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator's owner of frames. What goes and when is the engine's, module/core;
 * sim.c brings pages in, and host.c does what the engine and the policy ask of
 * their host.
 *
 * Interface:
 * sim_open(), _close() a simulator without pages, and its end
 * sim_tag()            what the next accesses bring along
 * sim_access()         an access, up to where it waits for the disk
 * sim_arrive()         what it waited for is there
 * sim_host, sim_core_ops  the host operations of the machine and of the engine
 * sim_watch_by()       somebody watches
 * sim_opened           NULL, or told of each machine before its first event
 * sim_unfetch()        a page that Prefetch brought in is none of those any more
 */
#ifndef HIPEC_SIMHOST_H
#define HIPEC_SIMHOST_H

#include "../../module/core/core.h"
#include "sim.h"
#include "ahead.h"
#include "watch.h"

/* Bits of a page, behind those of HIPEC_REF_*. */
#define SIM_BIT_MOD 0x8
#define SIM_BIT_MAPPED 0x10	/* the next touch is no fault */
#define SIM_BIT_WRITING 0x20	/* on the list of pages to be written */
#define SIM_BIT_EVICT_PENDING 0x40	/* not live: its frame is free when written */

struct mix_disk;
struct hipec_league;

/* A page that Prefetch has brought in and nobody has touched. */
struct sim_fetched {
	u32 h;
	u64 since;	/* pages shown to the policy by then */
	u64 due;	/* when it is there, ns */
};

struct sim {
	struct hipec_core core;	/* first, so that the engine's host finds the rest */
	enum sim_mode mode;
	u8 *bits;		/* by handle */
	u32 *to_write, nr_to_write;	/* handles of pages to be written */
	struct sim_fetched fetched[HIPEC_MAX_PREFETCH];
	u32 nr_fetched;
	bool running;		/* an event, and the watcher was told of its begin */
	u64 nr_shown;		/* pages shown to the policy so far */
	u64 nr_accesses;	/* so far, with the one under way */
	struct sim_result *r;
	struct sim_contract *contract;	/* NULL: none */
	struct sim_watch *watch;	/* NULL: nobody watches */
	struct sim_ahead ahead;
	void *memory, *shared;
	void *judge;		/* or nothing */
	void *recovery;		/* decisions, if it shares */
	size_t entries, memory_bytes;	/* of bits and to_write; of memory */
	struct mix_disk *disk;	/* NULL: it takes no time */
	u64 due;		/* when the page of a fault is there, ns */
	bool revocable;		/* the contract ends the policy */
	bool refill;		/* others took what it had named: it is to name more */
	struct hipec_league *league;	/* NULL: the policy was named */
};

static inline struct sim *sim_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct sim, core), "the engine comes first");
	return (struct sim *)vm;
}

/* The state of a page changes: tell the watcher. */
static inline void sim_watch_page(struct sim *s, u32 h, enum sim_fate fate)
{
	if (unlikely(s->watch && s->watch->page))
		s->watch->page(s->watch, s, h, fate);
}

extern const struct hipec_host_ops sim_host;
extern const struct hipec_core_ops sim_core_ops;
extern void (*sim_opened)(struct sim *s);

int sim_open(struct sim *s, const struct hipec_policy *p, u32 frames,
	     enum sim_mode mode, struct sim_result *r, struct sim_contract *c);
void sim_watch_by(struct sim *s, struct sim_watch *w);
int sim_access(struct sim *s, u32 pgno, bool write, u32 *h);
void sim_arrive(struct sim *s, u32 h, bool write);
void sim_close(struct sim *s);

void sim_unfetch(struct sim *s, u32 h);

bool sim_watch_access(struct sim *s, u32 h, u32 pgno, bool write);

/* What was counted until here does not count. */
static inline void sim_again(struct sim *s)
{
	sim_result_again(s->r);
	memset(&s->core.counters, 0, sizeof(s->core.counters));
	s->core.vm.nr_commands = s->core.vm.nr_events = 0;
}

/* What the accesses from now on bring along. */
static inline void sim_tag(struct sim *s, struct trace_tag tag)
{
	s->core.hint = tag.hint;
	s->core.context = tag.context;
}

#endif /* HIPEC_SIMHOST_H */
