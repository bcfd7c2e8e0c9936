/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine: which page gives its frame up. It runs a policy's events, makes
 * room, falls back to the built-in replacement, shares a pool of frames among
 * policies, reverses bad advice and measures a policy against the default one.
 *
 * A host owns frames and bits: the kernel's own frames (module/frames), the page
 * cache's folios (module/cache), the simulator's counted ones (userlib/sim). It
 * embeds struct hipec_core in what it calls a container, implements struct
 * hipec_core_ops, and calls the functions below. Here is no lock, no allocation, no
 * clock and no I/O.
 *
 * Names: @core is a container's engine, @h a handle of its page table, @pgno a page
 * counted from the container's start, @d a demand. Counts are in frames.
 *
 * The frames of a container, nr_frames of them, are
 *	free	 nr_free
 *	reading  nr_reading: a page is being brought into it, or was put aside
 *	live	 vm.nr_live: the policy may use it, and is asked for it
 *	pending  nr_pending: its page was given up and has to be written first
 *	named    nr_named: its page was given up ahead, and nobody has taken it yet
 * of which nr_surplus go back to where they came from when they are free next.
 *
 * Interface, each file needs those below it alone:
 * reclaim.c  free frames for a page
 * pool.c     frames that containers share: which of them gives one up
 * ask.c      have the policy give a page up
 * event.c    events of the policy: what they know, how they end
 * evict.c    a page loses its frame; the built-in choice
 * revoke.c   the policy is held against the default one
 * core.c     frames come and go, the policy ends
 * member.c   what the pool counts of a container
 * exchange.c what it tells the pool's manager
 */
#ifndef HIPEC_CORE_CORE_H
#define HIPEC_CORE_CORE_H

#include "../vm/fifo2.h"
#include "../vm/tracer.h"
#include "../include/uapi/hipec.h"
#include "contract.h"
#include "exchange.h"
#include "judge.h"
#include "recover.h"

struct hipec_core;
struct hipec_pool;

/* No page of a container: the frame is for somebody else. */
#define HIPEC_NO_PGNO (~0u)

/* So many Replace events in a row without a frame, and the policy is revoked. */
#define HIPEC_MAX_HELPED 1024

/* So many of one event given up one after the other, and it is revoked. */
#define HIPEC_MAX_LATE 16

/* Pages that are looked at, for Access, before each Replace. */
#define HIPEC_HARVEST 32

/* Fuel for all Adopt events of a swap together, in that of one event. */
#define HIPEC_ADOPT_FUEL 4

/* Writes of victims that may fail, one after the other, until a fault fails. */
#define HIPEC_MAX_LOST 16

/*
 * When so many other pages or batches came in since, nobody is expected any more for
 * what was read ahead: with few frames earlier, since more of them are held for
 * nothing.
 */
#define HIPEC_STALE 64

/* Frames of a container that shares which are its own, unless the host says another number. */
#define HIPEC_POOL_MIN 16

/* Pages that one fault may look at, or reset the bits of, for one frame. */
#define HIPEC_MAX_LOOKS 512

/* Pages that come in until bits are reset ahead, in a pool that is half full. */
#define HIPEC_AGE_EVERY 16

/* The readers of a page's referenced bit: what one resets stays set for the others. */
#define HIPEC_REF_POLICY 0x1
#define HIPEC_REF_POOL 0x2
#define HIPEC_REF_JUDGE 0x4
#define HIPEC_REF_ALL 0x7

/*
 * Pages that a policy names ahead, at most: as many as go while it is not asked, and few
 * enough that the policy has all but an eighth of its pages.
 */
#define HIPEC_MAX_NAMED 8

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
	HIPEC_EFFORT_SOME,	/* one; nobody waits for others' memory */
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
 *	0: the frame is clean and nobody else can reach it. The engine then calls @free;
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
 *	@nr more. For the user's quota. Does not sleep. NULL: nobody counts.
 * @drop_ahead: free the frames of pages that were read ahead and that nobody has
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
 *	nobody wants to know.
 * @window: a window of the contract is closed, core->windows.last; true: revoke the
 *	policy. Called between events. NULL: if @verdict is HIPEC_VERDICT_REVOKE.
 * @look: find up to HIPEC_HARVEST live pages that were touched and that the policy has
 *	not been told of; reset what says so. How many, with their numbers in @pgno. May
 *	sleep. NULL: those that are @referenced, a few entries before each Replace.
 * @touched: page @pgno was found referenced, and the policy is about to get Access for
 *	it. NULL: nobody wants to know.
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

/**
 * struct hipec_core - the engine's part of a container, under the container's lock
 * @vm:         the machine; first, so that its host finds the rest by it
 * @ops:        the host; invariant
 * @nr_reserved: most frames that it may hold; invariant after the load
 * @nr_frames:  held, free or not
 * @nr_free:    of these, that hold no page
 * @nr_surplus: of these, that go back when they are free
 * @nr_withheld: of what it may hold, that there is no room for now; the policy does not
 *              count on them. The host sets it
 * @nr_reading: pages that have a frame and are not live, yet or for now
 * @nr_pending: pages that were given up and have to be written first
 * @nr_named:   pages that were given up ahead
 * @pinned:     page that an event is about and that cannot go now; 0: none
 * @demand:     that is being answered by the policy; NULL: none, or it is answered
 * @making_room: free frames are promised
 * @naming:     the next page that is given up is named, for whoever wants a frame
 * @named_none: when it was asked for others last; it is not, before its own next page
 * @few_looks:  of the built-in choice that are left, and 1; 0: as many as there are pages
 * @few_passed: the same, of entries
 * @denied:     pages of its own that it replaces before it asks the host for a frame
 *              again: asking a memory cgroup that is full costs more than a page is
 *              worth; the host sets it
 * @unsettled:  there is something for the host's settle() to do; the host sets it
 * @pool_empty: a frame is about to leave another container: wait for it
 * @event:      that runs, or ran last
 * @event_since: ns, of the host, when it was first looked at; 0: it was not
 * @loaded_at:  of the host's clock
 * @context:    of the access under way; 0: not known, or there is none
 * @hint:       that it brings along, where a host has none for pages
 * @wants_time, @wants_hint, @wants_context: the policy reads it
 * @special:    one of these, or it shares, or the host runs its events
 * @exact:      the policy is told of every hit: nothing is harvested
 * @heard:      the host wants to know which pages were touched, whatever the policy does
 * @harvested:  entry of the page table that was looked at last, for Access
 * @late_event: event that was given up last
 * @late_in_a_row: times that it was, one after the other
 * @lost_in_a_row: pages given up that could not be written, one after the other;
 *              the host counts
 * @helped_in_a_row: Replace events without a frame, one after the other
 * @counters:   as reported
 * @windows:    of the contract
 * @judge:      the default policy beside it, in the host's memory; NULL: not watched
 * @watched_for_good: also when the policy has ended
 * @beside:     the default of its league is what @windows counts, and there is no judge
 * @pool:       that it shares; NULL: all its frames are its own
 * @member:     its number there; 0: likewise
 * @min_frames: which nobody takes from it
 * @in_pool:    the pool's entry of each live or named page, by handle; the host's memory
 * @exchange:   what it has of the pool's manager
 * @asked:      the pool's manager is told at once of pages that leave: it waits for one
 * @named:      pages given up ahead, the first of them first
 * @taken:      numbers of pages that others took and the policy did not name: it is told
 *              later. hipec_pool_most_taken(); the host's memory
 * @nr_taken:   how many they are
 * @pool_held:  frames less surplus, as the pool counts them
 * @pool_leaving: surplus, likewise
 * @recover:    decisions of the policy that may be reversed
 * @doubt:      how many were
 */
struct hipec_core {
	struct hipec_vm vm;
	const struct hipec_core_ops *ops;

	u32 nr_reserved;
	u32 nr_frames;
	u32 nr_free;
	u32 nr_surplus;
	u32 nr_withheld;
	u32 nr_reading;
	u32 nr_pending, nr_named;
	u32 pinned;
	const struct hipec_demand *demand;
	bool making_room, naming, named_none;
	u32 few_looks;
	u32 few_passed;
	u32 denied;
	bool unsettled, pool_empty;

	u32 event;
	u64 event_since;
	u64 loaded_at;
	u64 context;
	s64 hint;
	bool wants_time, wants_hint, wants_context;
	bool special;
	bool exact;
	bool heard;
	u32 harvested;
	u32 late_event;
	u32 late_in_a_row;
	u32 lost_in_a_row;
	u32 helped_in_a_row;
	struct hipec_counters counters;

	struct hipec_windows windows;
	struct hipec_judge *judge;
	bool watched_for_good, beside;

	struct hipec_pool *pool;
	u32 member;
	u32 min_frames;
	u32 *in_pool;
	struct hipec_exchange exchange;
	bool asked;
	u32 named[HIPEC_MAX_NAMED];
	u32 *taken;
	u32 nr_taken;
	u32 pool_held;
	u32 pool_leaving;
	struct hipec_recover recover;
	struct hipec_doubt doubt;
};

static inline struct hipec_core *hipec_core_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct hipec_core, vm), "vm comes first");
	return (struct hipec_core *)vm;
}

/* Frames that it holds, but for those that are leaving. */
static inline u32 hipec_core_held(const struct hipec_core *core)
{
	return core->nr_frames - core->nr_surplus;
}

/*
 * Of these, what a policy has room in; it knows that as FrameBudget. One at least: a page is
 * about to come where it asks, and policies divide their frames.
 */
static inline u32 hipec_core_usable(const struct hipec_core *core)
{
	u32 held = hipec_core_held(core), no_room = core->nr_withheld + core->nr_named;

	return held > no_room ? held - no_room : 1;
}

/* Whether page @h was given up ahead, and nobody has taken it. */
static inline bool hipec_core_is_named(const struct hipec_core *core, u32 h)
{
	u32 i;

	for (i = 0; i < core->nr_named; i++)
		if (core->named[i] == h)
			return true;
	return false;
}

/* Whether a touch of page @h is none of a page that has to be brought in. */
static inline bool hipec_core_resident(const struct hipec_core *core, u32 h)
{
	return hipec_page_live(&core->vm, h) || hipec_core_is_named(core, h);
}

/* Whether the policy is there and has event @event. */
static inline bool hipec_core_has_event(const struct hipec_core *core, u32 event)
{
	return !core->vm.exit.kind && hipec_vm_has_event(&core->vm, event);
}

/* In a long loop: others may run. Return: whether the task has to end. */
static inline bool hipec_core_pause(struct hipec_core *core)
{
	return core->ops->pause && core->ops->pause(core);
}

/* Between events, pages have gone or were looked at. */
static inline void hipec_core_settle(struct hipec_core *core)
{
	if (unlikely(core->unsettled))
		core->ops->settle(core);
}

/* core.c: frames come and go; hipec_core_request() is the machine's host operation */
void hipec_core_init(struct hipec_core *core, const struct hipec_core_ops *ops,
		     u32 nr_reserved, u32 nr_frames);
void hipec_core_lost(struct hipec_core *core, u32 h);
void hipec_core_show(struct hipec_core *core, u32 h);
u32 hipec_core_grow(struct hipec_core *core, u32 nr, enum hipec_effort effort);
bool hipec_core_shrink(struct hipec_core *core);
u64 hipec_core_request(struct hipec_vm *vm, u64 nr);
bool hipec_core_may_fetch(const struct hipec_core *core);
void hipec_core_cleaned(struct hipec_core *core, u32 h);
void hipec_core_put_aside(struct hipec_core *core);
bool hipec_core_end(struct hipec_core *core, u32 kind);
void hipec_core_ended(struct hipec_core *core);

/**
 * hipec_core_bind_in_event() - give a free frame to a page that has none
 * @core: container with a free frame, maybe while an event runs
 * @pgno: page
 *
 * It is not live: its frame holds nothing yet.
 *
 * Context: expects the lock.
 * Return: handle; 0 if what the policy let go in this event has all entries.
 */
static inline u32 hipec_core_bind_in_event(struct hipec_core *core, u32 pgno)
{
	u32 h = hipec_page_add_in_event(&core->vm, pgno);

	if (h) {
		core->nr_free--;
		core->nr_reading++;
	}
	return h;
}

/**
 * hipec_core_bind() - the same, between two events
 * @core: container with a free frame
 * @pgno: page
 *
 * Context: expects the lock.
 * Return: handle; 0 if there is no entry, which cannot be.
 */
static inline u32 hipec_core_bind(struct hipec_core *core, u32 pgno)
{
	hipec_page_forget_evicted(&core->vm);
	return hipec_core_bind_in_event(core, pgno);
}

/* revoke.c */
void hipec_core_watch(struct hipec_core *core, u32 salt);
void hipec_core_watch_again(struct hipec_core *core);
void __hipec_core_came_in(struct hipec_core *core, u32 pgno, bool ahead);
void hipec_core_leaving(struct hipec_core *core, u32 h);
void hipec_core_came_back(struct hipec_core *core, u32 pgno, bool touched);
void hipec_core_touched(struct hipec_core *core, u32 pgno);

/**
 * hipec_core_came_in() - a page came in
 * @core:  container
 * @pgno:  live page
 * @ahead: nobody wanted it yet
 *
 * At the end of a window the policy may end: not from within an event. To be called
 * before PageFault, whose end makes resets of bits visible.
 *
 * Context: expects the lock; may sleep.
 */
static inline void hipec_core_came_in(struct hipec_core *core, u32 pgno, bool ahead)
{
	if (core->judge)
		__hipec_core_came_in(core, pgno, ahead);
}

/* evict.c; hipec_core_evict_page() is the machine's host operation */
bool hipec_core_evict(struct hipec_core *core, u32 h, bool keep,
		      enum hipec_evict_why why);
void hipec_core_unbind(struct hipec_core *core, u32 h, bool lost);
void hipec_core_uncleaned(struct hipec_core *core, u32 h);
bool hipec_core_evict_orphan(struct hipec_core *core, bool keep, u32 *pgno);
bool hipec_core_evict_any(struct hipec_core *core, bool keep, u32 *pgno);
bool hipec_core_evict_soon(struct hipec_core *core, bool keep, u32 *pgno);
bool hipec_core_evict_clean(struct hipec_core *core, u32 *pgno);
bool hipec_core_take_named(struct hipec_core *core, bool keep);
void hipec_core_unname(struct hipec_core *core, u32 h);
void hipec_core_unname_all(struct hipec_core *core);
bool hipec_core_evict_page(struct hipec_vm *vm, u32 h, bool keep);

/* event.c */
void hipec_core_wants(struct hipec_core *core);
void hipec_core_start(struct hipec_core *core);
int hipec_core_adopt(struct hipec_core *core, const struct hipec_vm *old);
void hipec_core_fault(struct hipec_core *core, u32 h, bool write);
void hipec_core_replace(struct hipec_core *core, const struct hipec_demand *d);
void __hipec_core_access(struct hipec_core *core, u32 h, bool write);
void __hipec_core_harvest(struct hipec_core *core);
void hipec_core_remove(struct hipec_core *core, u32 pgno);
void hipec_core_timer(struct hipec_core *core);
void hipec_core_spare(struct hipec_core *core, u32 h, bool write);
void __hipec_core_catch_up(struct hipec_core *core);
void hipec_core_catch_up_some(struct hipec_core *core);
/* Remove for what others took. Context: expects the lock; between events; may sleep. */
static inline void hipec_core_catch_up(struct hipec_core *core)
{
	if (unlikely(core->nr_taken))
		__hipec_core_catch_up(core);
}

/**
 * hipec_core_harvest() - Access for pages that were found referenced
 * @core: container
 *
 * Looks at some entries of the page table, goes on behind them the next time, and
 * resets the bits that it finds: before each Replace a policy that wants to know
 * gets to know a few of the pages that were used.
 *
 * Context: expects the lock; may sleep.
 */
static inline void hipec_core_harvest(struct hipec_core *core)
{
	if (!core->exact &&
	    (core->heard || hipec_core_has_event(core, HIPEC_EVENT_ACCESS)))
		__hipec_core_harvest(core);
}

/* A live page was touched. Context: expects the lock; may sleep. */
static inline void hipec_core_access(struct hipec_core *core, u32 h, bool write)
{
	u32 pgno = core->vm.page[h].pgno;

	if (unlikely(core->judge) && hipec_sampling_has(&core->judge->sample, pgno))
		hipec_core_touched(core, pgno);
	if (hipec_core_has_event(core, HIPEC_EVENT_ACCESS))
		__hipec_core_access(core, h, write);
}

/**
 * hipec_core_look() - find pages that were referenced, among the next few
 * @core:       container
 * @referenced: of its host
 * @reset:      likewise
 * @pgno:       gets them
 *
 * A host with nothing to do but read an array has it as @look, with functions that the
 * compiler sees: calls for each page would cost more than the rest of a miss.
 *
 * Context: expects the lock; may sleep.
 * Return: how many there are.
 */
static __always_inline u32
hipec_core_look(struct hipec_core *core,
		bool (*referenced)(struct hipec_core *core, u32 h, u32 who),
		void (*reset)(struct hipec_core *core, u32 h, u32 who),
		u32 pgno[HIPEC_HARVEST])
{
	struct hipec_vm *vm = &core->vm;
	u32 h = core->harvested, i, n = 0;

	for (i = 0; i < HIPEC_HARVEST && i < vm->nr_pages; i++) {
		h = h < vm->nr_pages ? h + 1 : h % vm->nr_pages + 1;
		if (!hipec_page_live(vm, h) ||
		    !referenced(core, h, HIPEC_REF_POLICY))
			continue;
		reset(core, h, HIPEC_REF_POLICY);
		pgno[n++] = vm->page[h].pgno;
		hipec_tracer_note(vm, HIPEC_RECORD_TOUCH, h, HIPEC_TOUCH_HARVESTED);
	}
	core->harvested = h;
	return n;
}

/* The same of a resident one, which lives again if it was named. */
static inline void hipec_core_hit(struct hipec_core *core, u32 h, bool write)
{
	if (likely(hipec_page_live(&core->vm, h)))
		hipec_core_access(core, h, write);
	else
		hipec_core_spare(core, h, write);
}

/* ask.c */
bool hipec_core_ask(struct hipec_core *core, const struct hipec_demand *d);
void hipec_core_name(struct hipec_core *core, const struct hipec_demand *d, u32 most);
void hipec_core_refill(struct hipec_core *core);
u32 hipec_core_most_named(const struct hipec_core *core);

/* reclaim.c */
bool hipec_core_replace_one(struct hipec_core *core, const struct hipec_demand *d);
u32 hipec_core_try_room(struct hipec_core *core, const struct hipec_demand *d);
int hipec_core_make_room(struct hipec_core *core, const struct hipec_demand *d);

#endif /* HIPEC_CORE_CORE_H */
