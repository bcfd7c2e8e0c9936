/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator's owner of frames, for sim.c, which brings pages in and has them
 * go, and host.c, which does what the policy asks of its host.
 *
 * Interface:
 * sim_open(), _close() a simulator without pages, and its end
 * sim_start()          Init, when it has its first frames
 * sim_tag()            what the next accesses bring along
 * sim_access()         an access, up to where it waits for the disk
 * sim_arrive()         what it waited for is there
 * sim_ask()            have the policy give a page up, for whomever
 * sim_remove()         Remove, for a page that was taken
 * sim_host             the host operations
 * sim_opened           NULL, or told of each machine before its first event
 * sim_wash()           write what an event has left to be written
 * sim_evict()          a live page gives its frame up
 * sim_unfetch()        a page that Prefetch brought in is none of those any more
 * sim_drop_fetched()   free what Prefetch brought in for nothing
 */
#ifndef HIPEC_SIMHOST_H
#define HIPEC_SIMHOST_H

#include "sim.h"
#include "ahead.h"
#include "watch.h"

/* Bits of a page. */
#define SIM_BIT_REF 0x1
#define SIM_BIT_MOD 0x2
#define SIM_BIT_MAPPED 0x4	/* the next touch is no fault */
#define SIM_BIT_WASH 0x8	/* on the list of pages to be written */
#define SIM_BIT_LAUNDRY 0x10	/* not live: its frame is free when written */
#define SIM_BIT_YOUNG 0x20	/* touched since the shadow asked */
#define SIM_BIT_POOL 0x40	/* touched since the pool asked */

/* Frames of nobody's page: Replace for another container. */
#define SIM_NO_PGNO UINT32_MAX

struct sim_member;
struct mix_disk;

/* A page that Prefetch has brought in and nobody has touched. */
struct sim_fetched {
	u32 h;
	u64 since;	/* pages shown to the policy by then */
	u64 due;	/* when it is there, ns */
};

struct sim {
	struct hipec_vm vm;	/* first, so that the host operations find the rest */
	enum sim_mode mode;
	u8 *bits;		/* by handle */
	u32 *wash, nr_wash;	/* handles of pages to be written */
	u32 nr_reserved;	/* frames at the start or, if it shares, at most */
	u32 nr_frames;		/* held, free or not */
	u32 nr_free;
	u32 nr_surplus;		/* of those held, to be given back when free */
	u32 pinned;		/* the page that is being accessed, or 0 */
	u32 harvested;		/* entry of the page table looked at last */
	u32 helped_in_a_row;
	struct sim_fetched fetched[HIPEC_MAX_PREFETCH];
	u32 nr_fetched;
	u64 nr_shown;		/* pages shown to the policy so far */
	u32 event;		/* that runs, or ran last */
	bool making_room;	/* what is free is promised */
	u64 nr_accesses;	/* so far, with the one under way */
	struct sim_result *r;
	struct sim_contract *contract;	/* NULL: none */
	struct sim_watch *watch;	/* NULL: nobody watches */
	struct hipec_shadow shadow;
	struct sim_ahead ahead;
	void *memory, *shared, *directory;
	size_t entries, memory_bytes;	/* of bits and wash; of memory */
	struct sim_member *member;	/* NULL: all frames are its own */
	struct mix_disk *disk;	/* NULL: it takes no time */
	u64 due;		/* when the page of a fault is there, ns */
	bool revocable;		/* the contract ends the policy */
};

static inline struct sim *sim_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct sim, vm), "vm comes first");
	return (struct sim *)vm;
}

/* Something becomes of a page. */
static inline void sim_watch_page(struct sim *s, u32 h, enum sim_fate fate)
{
	if (unlikely(s->watch && s->watch->page))
		s->watch->page(s->watch, s, h, fate);
}

extern const struct hipec_host_ops sim_host;
extern void (*sim_opened)(struct sim *s);

int sim_open(struct sim *s, const struct hipec_policy *p, u32 frames,
	     enum sim_mode mode, struct sim_result *r, struct sim_contract *c);
void sim_start(struct sim *s);
int sim_access(struct sim *s, u32 pgno, bool write, u32 *h);
void sim_arrive(struct sim *s, u32 h, bool write);
bool sim_ask(struct sim *s, u32 pgno, bool write);
void sim_remove(struct sim *s, u32 pgno);
void sim_close(struct sim *s);

bool sim_evict(struct sim *s, u32 h, bool keep, enum sim_fate why);
void sim_wash_all(struct sim *s);
void sim_unfetch(struct sim *s, u32 h);
bool sim_drop_fetched(struct sim *s, bool stale);

bool sim_watch_access(struct sim *s, u32 h, u32 pgno, bool write);

/* What the accesses from now on bring along. */
static inline void sim_tag(struct sim *s, struct sim_tag tag)
{
	s->vm.slot[HIPEC_SLOT_HINT] = tag.hint;
	s->vm.slot[HIPEC_SLOT_CONTEXT] = tag.context;
}

/* Whether the contract looks; it does so for good, if it does not revoke. */
static inline bool sim_watched(const struct sim *s)
{
	return s->contract && !(s->revocable && s->vm.exit.kind);
}

/* Between two events. */
static inline void sim_wash(struct sim *s)
{
	if (s->nr_wash)
		sim_wash_all(s);
}

#endif /* HIPEC_SIMHOST_H */
