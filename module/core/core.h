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
 * STATES OF A PAGE. The table has all of them; a word of it means nothing else in the engine and
 * its hosts. docs/internals/words.md has the meanings, test/docs/test_words.py holds both pages
 * against the code.
 *
 *	state     flags of its entry        list or queue           counted in               seen by
 *	free      none: a frame, no page    frames.free             nr_free                  policy
 *	reading   HIPEC_PAGE_READING        r->ahead                nr_reading, nr_ahead     host
 *	ahead     HIPEC_FOLIO_AHEAD         cache->ahead            nr_reading, held         host
 *	live      HIPEC_PAGE_LIVE           a policy's queue        vm.nr_live               all
 *	orphan    HIPEC_PAGE_LIVE           HIPEC_QUEUE_FALLBACK    vm.nr_live               engine
 *	chosen    HIPEC_PAGE_FRAME          core->chosen            nr_chosen                engine
 *	pending   HIPEC_PAGE_EVICT_PENDING  c->evict_pending        nr_pending               host
 *	victim    HIPEC_FOLIO_VICTIM        cache->victims          victims.nr, .pages       host
 *	evicting  HIPEC_FOLIO_VICTIM        cache->evicting, ->own  nr_evicting              host
 *	refused   HIPEC_FOLIO_REFUSED       cache->refused          nr_reading, held         host
 *	taken     none: a number, no frame  core->taken             nr_taken                 engine
 *	evicted   HIPEC_PAGE_EVICTED        HIPEC_QUEUE_EVICTED     queue[].count            policy
 *	ghost     HIPEC_PAGE_GHOST          a policy's queue        vm.nr_ghosts             policy
 *	isolated  HIPEC_MR_ISOLATED         exchange.isolated       nr_isolated, nr_busy     pool
 *	surplus   none: any frame           none                    nr_surplus               engine
 *
 * HIPEC_FOLIO_* and cache-> are of files in place (cache/cache.h), READING, EVICT_PENDING, c->, r->
 * and frames. of frames of our own (frames/frames.h, base/base.h). Each entry that has a frame has
 * HIPEC_PAGE_FRAME. The lock is the container's, but for HIPEC_MR_ISOLATED: the pool's; and the
 * marks of victims (cache->waiting) are read without a lock.
 *
 * An orphan is a live page that the policy keeps nowhere, or was never told of (where the built-in
 * replacement rules there is none: that queue is its active one). What is evicted may be remembered
 * until the event ends, and is a ghost then; either may have a frame: its page is pending or
 * chosen, or comes again. An isolated page is live or chosen. A surplus frame goes back when one is
 * free next.
 *
 * With frames of our own, nr_frames is the sum of nr_free, nr_reading, vm.nr_live, nr_pending and
 * nr_chosen, as module/tests/corehost.c asserts. In place it is the budget, or what is held if that
 * is more: cache->held has the pages (not folios) of all entries but victims. A victim counts in
 * nr_pending if it was live or chosen (HIPEC_FOLIO_PENDING), else in nr_reading still, until it has
 * gone or is refused.
 *
 * Of whole files in place; all are read without a lock, and in each the kernel's own reclaim has
 * the file:
 *	lost	    f->lost, HIPEC_SLOT_LOST: a page may have no entry, and a search is owed
 *	outgrown    f->outgrown: it is larger than its page numbers
 *	surrendered cache->surrendered: all files, since reclaim got nothing in three tries
 *	dead	    f->dead: it is let go, and its entries go (cache->graves)
 *
 * Two words for one state: "forgotten" (counters.forgotten, which is ABI) for orphan. One word for
 * two: nr_reading counts what is ahead or refused as well; cache->nr_taken counts slots of page
 * numbers.
 *
 * Interface, each file needs those below it alone:
 * ops.h      what the engine asks of its host
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
#include "ops.h"
#include "recover.h"

struct hipec_core;
struct hipec_pool;

/* So many Replace events in a row without a frame, and the policy is revoked. */
#define HIPEC_MAX_HELPED 1024

/* So many of one event given up one after the other, and it is revoked. */
#define HIPEC_MAX_LATE 16

/* Fuel for all Adopt events of a swap together, in that of one event. */
#define HIPEC_ADOPT_FUEL 4

/* Writes of victims that may fail, one after the other, until a fault fails. */
#define HIPEC_MAX_LOST 16

/*
 * When so many other pages or batches came in since, what was read ahead is no longer
 * expected to be touched: with few frames earlier, since more of them are held for
 * nothing.
 */
#define HIPEC_STALE 64

/* Frames of a container that shares which are its own, unless the host says another number. */
#define HIPEC_POOL_MIN 16

/* Pages that one fault may look at, or reset the bits of, for one frame. */
#define HIPEC_MAX_LOOKS 512

/* Pages that come in until bits are reset ahead, in a pool that is half full. */
#define HIPEC_AGE_EVERY 16

/*
 * Pages that a policy names ahead, at most: as many as go while it is not asked, and few
 * enough that the policy has all but an eighth of its pages.
 */
#define HIPEC_MAX_CHOSEN 8

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
 * @nr_chosen:  pages that were given up ahead
 * @pinned:     page that an event is about and that cannot go now; 0: none
 * @demand:     that is being answered by the policy; NULL: none, or it is answered
 * @making_room: free frames are promised
 * @naming:     the next page that is given up is named, and its frame the next taker's
 * @chosen_none: when it was asked for others last; it is not, before its own next page
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
 * @member:     its number there; 0: it shares none
 * @min_frames: which no other member takes from it
 * @in_pool:    the pool's entry of each live or named page, by handle; the host's memory
 * @exchange:   what it has of the pool's manager
 * @asked:      the pool's manager is told at once of pages that leave: it waits for one
 * @chosen:     pages given up ahead, the first of them first
 * @taken:      numbers of pages that others took and the policy did not name: it is told
 *              later. hipec_pool_most_taken(); the host's memory
 * @nr_taken:   how many they are
 * @pool_held:  frames less surplus, as the pool counts them
 * @pool_leaving: surplus, as the pool counts it
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
	u32 nr_pending, nr_chosen;
	u32 pinned;
	const struct hipec_demand *demand;
	bool making_room, naming, chosen_none;
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
	u32 chosen[HIPEC_MAX_CHOSEN];
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
	u32 held = hipec_core_held(core), no_room = core->nr_withheld + core->nr_chosen;

	return held > no_room ? held - no_room : 1;
}

/* Whether page @h was given up ahead, and is not taken yet. */
static inline bool hipec_core_is_chosen(const struct hipec_core *core, u32 h)
{
	u32 i;

	for (i = 0; i < core->nr_chosen; i++)
		if (core->chosen[i] == h)
			return true;
	return false;
}

/* Whether a touch of page @h is none of a page that has to be brought in. */
static inline bool hipec_core_resident(const struct hipec_core *core, u32 h)
{
	return hipec_page_live(&core->vm, h) || hipec_core_is_chosen(core, h);
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
void hipec_core_activate(struct hipec_core *core, u32 h);
u32 hipec_core_grow(struct hipec_core *core, u32 nr, enum hipec_effort effort);
bool hipec_core_shrink(struct hipec_core *core);
u64 hipec_core_request(struct hipec_vm *vm, u64 nr);
bool hipec_core_may_fetch(const struct hipec_core *core);
void hipec_core_cleaned(struct hipec_core *core, u32 h);
void hipec_core_refuse(struct hipec_core *core);
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
void __hipec_core_added(struct hipec_core *core, u32 pgno, bool ahead);
void hipec_core_removing(struct hipec_core *core, u32 h);
void hipec_core_restored(struct hipec_core *core, u32 pgno, bool touched);
void hipec_core_touched(struct hipec_core *core, u32 pgno);

/**
 * hipec_core_added() - a page came in
 * @core:  container
 * @pgno:  live page
 * @ahead: it was not wanted yet
 *
 * At the end of a window the policy may end: not from within an event. To be called
 * before PageFault, whose end makes resets of bits visible.
 *
 * Context: expects the lock; may sleep.
 */
static inline void hipec_core_added(struct hipec_core *core, u32 pgno, bool ahead)
{
	if (core->judge)
		__hipec_core_added(core, pgno, ahead);
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
bool hipec_core_take_chosen(struct hipec_core *core, bool keep);
void hipec_core_unchoose(struct hipec_core *core, u32 h);
void hipec_core_unchoose_all(struct hipec_core *core);
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
 * hipec_core_probe() - find pages that were referenced, among the next few
 * @core:       container
 * @referenced: of its host
 * @reset:      of its host
 * @pgno:       gets them
 *
 * A host with nothing to do but read an array has it as @look, with functions that the
 * compiler sees: calls for each page would cost more than the rest of a miss.
 *
 * Context: expects the lock; may sleep.
 * Return: how many there are.
 */
static __always_inline u32
hipec_core_probe(struct hipec_core *core,
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
void hipec_core_choose(struct hipec_core *core, const struct hipec_demand *d, u32 most);
void hipec_core_refill(struct hipec_core *core);
u32 hipec_core_most_chosen(const struct hipec_core *core);

/* reclaim.c */
bool hipec_core_replace_one(struct hipec_core *core, const struct hipec_demand *d);
u32 hipec_core_try_room(struct hipec_core *core, const struct hipec_demand *d);
int hipec_core_make_room(struct hipec_core *core, const struct hipec_demand *d);

#endif /* HIPEC_CORE_CORE_H */
