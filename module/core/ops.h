/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam between the engine and the owner of frames and bits, its host: what the engine asks,
 * and with which words. core.h says which states a page has.
 */
#ifndef HIPEC_CORE_OPS_H
#define HIPEC_CORE_OPS_H

#include "../vm/port.h"
#include "contract.h"

struct hipec_core;
struct hipec_pool;

/* No page of a container: the frame is for another one, or the system. */
#define HIPEC_NO_PGNO (~0u)

/* Pages that are looked at, for Access, before each Replace. */
#define HIPEC_HARVEST 32

/* The readers of a page's referenced bit: what one resets stays set for the others. */
#define HIPEC_REF_POLICY 0x1
#define HIPEC_REF_POOL 0x2
#define HIPEC_REF_JUDGE 0x4
#define HIPEC_REF_ALL 0x7

/* Why a page loses its frame. */
enum hipec_evict_why {
	HIPEC_EVICT_FREED,	/* the policy gave it up, and its container keeps the frame */
	HIPEC_EVICT_RELEASED,	/* the policy gave it up, and the frame goes back */
	HIPEC_EVICT_ORPHAN,	/* it was on no queue of the policy */
	HIPEC_EVICT_TAKEN,	/* by the built-in choice, or the pool's */
	HIPEC_EVICT_LAST,	/* there is nothing else, even if it could not be written */
};

/* How hard to try for a frame more. */
enum hipec_effort {
	HIPEC_EFFORT_NONE,	/* what costs nothing; several at once, or fewer */
	HIPEC_EFFORT_SOME,	/* one; without waiting for others' memory */
	HIPEC_EFFORT_MOST,	/* one; it may wait */
};

/**
 * struct hipec_demand - what frames are wanted for
 * @pgno:  page that they are for; HIPEC_NO_PGNO: another container's page
 * @write: it is to be written to
 * @wait:  the caller can wait for writes and come again; else one frame is enough,
 *         and clean pages go that the policy did not choose
 * @want:  frames, 1 or more
 * @whom:  container that gets them; NULL: the system. Of another container's page the
 *         frame goes back to where it came from
 */
struct hipec_demand {
	u32 pgno;
	bool write;
	bool wait;
	u32 want;
	const struct hipec_core *whom;
};

/**
 * struct hipec_core_ops - what the engine asks of the owner of frames and bits
 * @referenced: whether live page @h was referenced since @who (one of HIPEC_REF_*)
 *	reset it. May sleep.
 * @reset: @h was not referenced, as @who has it; for the other readers it stays as it
 *	is. May sleep. What hardware still remembers is dealt with in @settle.
 * @is_clean: whether @h could go without being written: not dirty, and not being
 *	written. Called for live pages. NULL: all are.
 * @evict: live or named page @h loses its frame: unmapped everywhere, out of every cache.
 *	0: the frame is clean and mapped nowhere. The engine then calls @free;
 *	before that it may ask once more whether the page was referenced. -EINPROGRESS: it
 *	has to be written; the host has taken note, and calls hipec_core_cleaned() or
 *	_uncleaned() later, but not from here. -EBUSY: it cannot go now (pinned, locked,
 *	its last write failed and @why is not HIPEC_EVICT_LAST; or it was named, and was
 *	touched since where the host does not see that at once); it is as it was. Never
 *	waits for I/O or for a lock of a file. May sleep otherwise.
 * @name: live page @h is given up ahead. See to it that the host hears of a touch, and
 *	calls hipec_core_hit(); where it is dirty, begin to write it. False: it cannot go
 *	now. May sleep. NULL: it always can.
 * @free: the frame of @h, which is no page's any more, is free. @keep: it stays with
 *	the container; else it goes back. The engine has counted it already. NULL:
 *	frames are only counted.
 * @allocate: up to @nr frames more, as @effort says; the engine counts them. How many.
 *	A host whose memory cgroup has refused one may set core->denied. Called without
 *	the pool's lock. May sleep unless @effort is HIPEC_EFFORT_NONE. NULL: there are
 *	as many as are asked for.
 * @allowance: frames that the container's user may have more; 0 or less: none.
 *	NULL: any number.
 * @accounted: the frames that the container holds, less its surplus, have become
 *	@nr more. For the user's quota. Does not sleep. NULL: it is not counted.
 * @drop_ahead: free the frames of pages that were read ahead and were not
 *	touched; @stale: only those that have waited for HIPEC_STALE pages or for half
 *	the container's frames. True if there were any. Runs no event. NULL: never any.
 * @try_lock: the lock of another member of the pool, if it can be had at once.
 *	Never waits; false is "not now": the page is passed over, or is asked for at the next
 *	miss. With the pool's lock or @pin. NULL: all calls are serialised, and it always can.
 * @unlock: the engine is done with a member for now: drop its lock, but not the
 *	@requester's, which its caller has. With the pool's lock, its @leave makes resets
 *	visible to hardware. NULL together with @try_lock.
 * @enter: the lock of the pool, under which members' locks are only tried. False if
 *	the caller has it already; @leave gets the answer. NULL: as @try_lock.
 * @more: a page is about to need an entry of the pool's manager. May sleep. NULL: it has enough
 * @pin: until @unpin, which gets the answer, no member of the pool is freed. NULL: none is
 * @leave: make resets visible to hardware, and drop it if @entered. NULL together with @enter.
 * @settle: an event has ended, or pages have been looked at or have gone outside of
 *	events: deal with what hardware remembers of referenced bits that were reset;
 *	begin writes that were put off. Called only while core->unsettled, which the host
 *	sets; this clears it when all is done, and may leave some for later. May sleep. NULL: the host never sets it.
 * @pause: now and then in long loops: let others run. True if the task has to end. May
 *	sleep. NULL: no.
 * @run: run event @event as hipec_tracer_run() does, which is called if this is NULL.
 *	-EAGAIN: not now, and the policy is not told.
 * @late: an event was given up, and is counted. True: often is not too often, as it was
 *	the task that ended, say. NULL: never.
 * @refill: others took pages that the policy had named: have hipec_core_refill() called
 *	soon, in a task of the container's own. Called with the pool's lock or @pin, and perhaps
 *	not the container's. Does not sleep. NULL: none is named but at its own faults.
 * @ended: the policy has ended: vm.exit says why, in words too, and it still has its
 *	queues. Called once for each policy, never from within an event. NULL:
 *	the host need not know.
 * @window: a window of the contract is closed, core->windows.last; true: revoke the
 *	policy. Called between events. NULL: if @verdict is HIPEC_VERDICT_REVOKE.
 * @look: find up to HIPEC_HARVEST live pages that were touched and that the policy has
 *	not been told of; reset what says so. How many, with their numbers in @pgno. May
 *	sleep. NULL: those that are @referenced, a few entries before each Replace.
 * @touched: page @pgno was found referenced, and the policy is about to get Access for
 *	it. NULL: the host need not know.
 * @hint: what the application says about page @pgno; 0: nothing. Called only if the
 *	policy reads Hint. NULL: hints come with accesses, core->hint.
 * @now: the policy's Time, ns from any start on. NULL: 0.
 *
 * All are called with the container's lock held, the requester's and the giver's in the
 * case of a pool; but @try_lock, @enter and @leave, and @refill. None may run events of the
 * container, or give its frames a page. Those that may sleep do so only where the caller
 * of the engine may.
 */
struct hipec_core_ops {
	bool (*referenced)(struct hipec_core *core, u32 h, u32 who);
	void (*reset)(struct hipec_core *core, u32 h, u32 who);
	bool (*is_clean)(struct hipec_core *core, u32 h);
	int (*evict)(struct hipec_core *core, u32 h, enum hipec_evict_why why);
	bool (*name)(struct hipec_core *core, u32 h);
	void (*free)(struct hipec_core *core, u32 h, bool keep);
	u32 (*allocate)(struct hipec_core *core, u32 nr, enum hipec_effort effort);
	s64 (*allowance)(struct hipec_core *core);
	void (*accounted)(struct hipec_core *core, s64 nr);
	bool (*drop_ahead)(struct hipec_core *core, bool stale);
	bool (*try_lock)(struct hipec_core *core);
	void (*unlock)(struct hipec_core *core, bool requester);
	bool (*enter)(struct hipec_pool *pool);
	void (*more)(struct hipec_pool *pool);
	void (*leave)(struct hipec_pool *pool, bool entered);
	int (*pin)(void);
	void (*unpin)(int pin);
	void (*settle)(struct hipec_core *core);
	bool (*pause)(struct hipec_core *core);
	int (*run)(struct hipec_core *core, u32 event);
	bool (*late)(struct hipec_core *core);
	void (*refill)(struct hipec_core *core);
	void (*ended)(struct hipec_core *core);
	bool (*window)(struct hipec_core *core, enum hipec_verdict verdict);
	u32 (*look)(struct hipec_core *core, u32 pgno[HIPEC_HARVEST]);
	void (*touched)(struct hipec_core *core, u32 pgno);
	s64 (*hint)(struct hipec_core *core, u32 pgno);
	u64 (*now)(struct hipec_core *core);
};

#endif /* HIPEC_CORE_OPS_H */
