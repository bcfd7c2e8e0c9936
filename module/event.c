// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a container's policy: when they run, what they know, how long they
 * may take.
 *
 * Interface:
 * hipec_event_init()      Init, once
 * hipec_event_adopt()     Init and Adopt, of a policy that takes another's place
 * hipec_event_fault()     PageFault, for a page that was brought in
 * hipec_event_replace()   Replace, for a frame
 * hipec_event_access()    Access, for a soft fault
 * hipec_event_harvest()   Access, for pages found referenced
 * hipec_event_remove()    Remove, for a page that left
 * hipec_event_timer()     Timer
 * hipec_event_overtime()  the machine asks whether an event may go on
 */
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "include/uapi/hipec_sample.h"
#include "cache/host.h"
#include "internal.h"

/* The time quantum of hipec-1997, which had the scheduler's. */
static uint quantum_us = 10000;
module_param(quantum_us, uint, 0644);
MODULE_PARM_DESC(quantum_us, "microseconds that one event may take");

/*
 * Under the pool's lock, which all others' faults and reclaim wait for. A fault that
 * reads takes about as long on a fast disk.
 */
static uint others_us = 200;
module_param(others_us, uint, 0644);
MODULE_PARM_DESC(others_us, "microseconds that a policy may take for one page while other containers wait for it");

/* Commands between two looks at the clock, for them. */
#define HIPEC_OTHERS_POLL 128

/* Pages for which a policy that is late for others is not asked, at most. */
#define HIPEC_MAX_PASSES 1024u

/**
 * hipec_event_overtime() - host operation: whether an event is over its time
 * @vm: machine in an event
 *
 * PageFault, Init and Adopt run for the task that is here: it alone pays, by
 * being scheduled like any other, until its fuel is spent or it is killed. All
 * other events are given up, and sooner while others wait: under the pool's lock.
 *
 * Context: expects the container's lock; may sleep.
 * Return: true if the event shall end.
 * Source: hipec-1997, "Infinite strategy interpretation".
 */
bool hipec_event_overtime(struct hipec_vm *vm)
{
	struct hipec_container *c = hipec_of_vm(vm);
	bool others = hipec_pool_held();
	u64 now = ktime_get_ns();
	u64 us = READ_ONCE(quantum_us);

	if (others)
		us = min_t(u64, us, READ_ONCE(others_us));
	/* The clock is not read at the start of each event, but here. */
	if (!c->event_since) {
		c->event_since = now;
		return false;
	}
	if (now - c->event_since < us * NSEC_PER_USEC)
		return false;
	if (others)
		return true;
	c->event_since = now;
	if (c->event != HIPEC_EVENT_PAGEFAULT && c->event != HIPEC_EVENT_INIT &&
	    c->event != HIPEC_EVENT_ADOPT)
		return true;
	cond_resched();
	return fatal_signal_pending(current);
}

/* It was late while others waited: it is not asked for a while, then longer. */
static void pass_over(struct hipec_container *c)
{
	c->pass_next = clamp(c->pass_next * 8, 8u, HIPEC_MAX_PASSES);
	c->passes = c->pass_next;
	c->passed = true;
}

/* The last event was given up: once is the policy's loss, often its end. */
static void note_late(struct hipec_container *c)
{
	struct hipec_exit *e = &c->vm.late;
	struct hipec_text text;

	hipec_text_init(&text, e->message, sizeof(e->message));
	hipec_exit_explain(&c->policy, e, &text);
	c->counters.late++;
	if (hipec_pool_held()) {
		pass_over(c);
		return;
	}
	if (fatal_signal_pending(current))
		return;		/* it was the task that ended */
	if (c->event != c->late_event)
		c->late_in_a_row = 0;
	c->late_event = c->event;
	if (++c->late_in_a_row == HIPEC_MAX_LATE)
		hipec_exit(c, HIPEC_EXIT_LATE);
}

/*
 * Run an event that the policy has; @free: frames it may count on. Owes
 * hipec_young_flush(). Return: as hipec_vm_run(); nobody has been told.
 */
static int start(struct hipec_container *c, u32 event, u32 free)
{
	struct hipec_vm *vm = &c->vm;

	lockdep_assert_held(&c->lock);
	c->event = event;
	c->event_since = c->asked_since;
	vm->poll = hipec_pool_held() ? HIPEC_OTHERS_POLL : HIPEC_POLL;
	vm->slot[HIPEC_SLOT_FREE_COUNT] = free;
	vm->queue[HIPEC_QUEUE_FREE].count = free;
	vm->slot[HIPEC_SLOT_FRAME_BUDGET] = c->nr_frames - c->nr_surplus +
		(c->member ? hipec_pool_space(c) : 0);
	vm->slot[HIPEC_SLOT_RESIDENT_COUNT] = vm->nr_live;
	if (c->wants_time)
		vm->slot[HIPEC_SLOT_TIME] = ktime_get_ns() - c->loaded_at;
	return hipec_tap_run(vm, event);
}

/* The same, with what follows from how it ended. */
static void run(struct hipec_container *c, u32 event, u32 free)
{
	struct hipec_vm *vm = &c->vm;
	int ret = start(c, event, free);

	hipec_young_flush(c);
	if (ret == -ECANCELED)
		hipec_exit_command(c);
	else if (ret)
		note_late(c);
	else if (event == c->late_event)
		c->late_in_a_row = 0;
	if (WARN_ON_ONCE(vm->nr_live > (c->cache ? vm->nr_pages :
						   c->nr_frames)))
		hipec_exit(c, HIPEC_EXIT_BROKEN);
}

/*
 * An access brings its context along, and what it is the cause of has it too; but
 * what another container wants, or a page's end, is not the fault's.
 */
static u64 context_of(const struct hipec_container *c, u32 event, u32 pgno)
{
	return event == HIPEC_EVENT_REMOVE || pgno == HIPEC_NO_PGNO ?
		0 : c->context;
}

/* What an event about a page knows. */
static void tell_page(struct hipec_container *c, u32 event, u32 pgno,
		      bool write)
{
	c->vm.slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << PAGE_SHIFT;
	c->vm.slot[HIPEC_SLOT_FAULT_KIND] = write;
	c->vm.slot[HIPEC_SLOT_HINT] =
		c->wants_hint && event != HIPEC_EVENT_REMOVE ?
		hipec_hint_get(c, pgno) : 0;
	c->vm.slot[HIPEC_SLOT_CONTEXT] = context_of(c, event, pgno);
}

/* While others wait, who was late is passed over. */
static bool may_run(const struct hipec_container *c)
{
	return !c->passed || !hipec_pool_held();
}

/* Run an event about a page, if the policy is there and has it. */
static void run_for_page(struct hipec_container *c, u32 event, u32 pgno,
			 bool write, u32 free)
{
	if (c->vm.exit.kind || !hipec_vm_has_event(&c->vm, event) || !may_run(c))
		return;
	tell_page(c, event, pgno, write);
	run(c, event, free);
}

/* What the policy wants to know. Context: expects c->lock. */
void hipec_event_wants(struct hipec_container *c)
{
	c->wants_time = hipec_policy_reads(&c->policy, HIPEC_SLOT_TIME);
	c->wants_hint = hipec_policy_reads(&c->policy, HIPEC_SLOT_HINT);
	c->wants_context = hipec_policy_reads(&c->policy, HIPEC_SLOT_CONTEXT);
}

/* Tell a policy that it is there. Context: expects c->lock; may sleep. */
void hipec_event_init(struct hipec_container *c)
{
	hipec_event_wants(c);
	c->loaded_at = ktime_get_ns();
	if (hipec_vm_has_event(&c->vm, HIPEC_EVENT_INIT))
		run(c, HIPEC_EVENT_INIT, c->nr_free);
}

/* Show a page that was there before to the policy. */
static int adopt(struct hipec_container *c, u32 h)
{
	hipec_page_show(&c->vm, h);
	if (!hipec_vm_has_event(&c->vm, HIPEC_EVENT_ADOPT))
		return 0;
	tell_page(c, HIPEC_EVENT_ADOPT, c->vm.page[h].pgno, false);
	return start(c, HIPEC_EVENT_ADOPT, c->nr_free);
}

/**
 * hipec_event_adopt() - a policy gets the pages of the one before
 * @c:   container with a machine without pages, whose host refuses what would
 *       change which pages hold frames
 * @old: the machine before, not changed
 *
 * Init, as there are no pages yet; then one page after the other, each live before
 * its own Adopt, in the order in which they would fall to the built-in replacement.
 * Nobody is told of an end.
 *
 * Context: expects c->lock; may sleep.
 * Return: 0; -ECANCELED if the policy has ended, with vm.exit set; -EINTR on a
 *         fatal signal.
 */
int hipec_event_adopt(struct hipec_container *c, const struct hipec_vm *old)
{
	struct hipec_vm *vm = &c->vm;
	u64 context = c->context, most;
	u32 h = 0;
	int ret = 0;

	c->context = 0;
	hipec_event_wants(c);
	c->loaded_at = ktime_get_ns();
	if (hipec_vm_has_event(vm, HIPEC_EVENT_INIT))
		ret = start(c, HIPEC_EVENT_INIT, c->nr_free);
	hipec_vm_inherit(vm, old);
	most = vm->nr_commands +
	       HIPEC_ADOPT_FUEL * max(vm->fuel, 64ull * vm->nr_pages);
	while (!ret && (h = hipec_vm_next_live(old, h))) {
		ret = adopt(c, h);
		if (!ret && vm->nr_commands > most) {
			hipec_vm_end(vm, HIPEC_EXIT_FUEL);
			vm->exit.event = HIPEC_EVENT_ADOPT;
			ret = -ECANCELED;
		}
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	hipec_young_flush(c);
	c->context = context;
	return ret == -ETIMEDOUT ? -EINTR : ret;
}

/**
 * hipec_event_fault() - tell the policy of a page that was brought in
 * @c:     container
 * @pgno:  live page, on the fallback queue or where the policy has its ghost
 * @write: the access that faulted was a write
 *
 * Context: expects c->lock; may sleep.
 * Source: hipec-1997, "Application-specific caching strategies".
 */
void hipec_event_fault(struct hipec_container *c, u32 pgno, bool write)
{
	hipec_sample_note(c, HIPEC_SAMPLE_FAULT, pgno, write);
	run_for_page(c, HIPEC_EVENT_PAGEFAULT, pgno, write, c->nr_free);
}

/**
 * hipec_event_replace() - ask the policy for a frame
 * @c:     container
 * @pgno:  page that it is for; HIPEC_NO_PGNO: another container's
 * @write: it is to be written to
 *
 * All free frames are promised to the fault that asks, so none is counted.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_event_replace(struct hipec_container *c, u32 pgno, bool write)
{
	run_for_page(c, HIPEC_EVENT_REPLACE, pgno, write, 0);
}

/* A resident page was touched. Context: expects c->lock; may sleep. */
void hipec_event_access(struct hipec_container *c, u32 pgno, bool write)
{
	run_for_page(c, HIPEC_EVENT_ACCESS, pgno, write, c->nr_free);
}

/**
 * hipec_event_harvest() - Access for pages that were found referenced
 * @c: container
 *
 * Looks at some entries of the page table, goes on behind them the next time,
 * and resets the bits that it finds: before each Replace a policy that wants to
 * know gets to know a few of the pages that were used.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_event_harvest(struct hipec_container *c)
{
	u32 pgno[HIPEC_HARVEST], n = 0, i;
	u64 context = c->context;

	if (c->vm.exit.kind || !hipec_vm_has_event(&c->vm, HIPEC_EVENT_ACCESS))
		return;
	for (i = 0; i < min_t(u32, HIPEC_HARVEST, c->vm.nr_pages); i++) {
		u32 h = c->harvested = c->harvested % c->vm.nr_pages + 1;

		if (!hipec_page_live(&c->vm, h) ||
		    !hipec_young_seen(c, h, HIPEC_PAGE_REF_POLICY))
			continue;
		hipec_young_forget(c, h, HIPEC_PAGE_REF_POLICY);
		pgno[n++] = c->vm.page[h].pgno;
		hipec_tap(&c->vm, HIPEC_RECORD_TOUCH, h, HIPEC_TOUCH_HARVESTED);
	}
	hipec_young_flush(c);
	c->context = 0;	/* who touched them is not known */
	for (i = 0; i < n; i++) {
		if (!hipec_page_find(&c->vm, pgno[i]))
			continue;
		hipec_sample_note(c, HIPEC_SAMPLE_HARVEST, pgno[i], false);
		hipec_event_access(c, pgno[i], false);
	}
	c->context = context;
}

/**
 * hipec_event_remove() - tell the policy of a page that it did not give up
 * @c:    container
 * @pgno: page that has left
 *
 * Until the event ends the policy may remember it.
 *
 * Context: expects c->lock; may sleep.
 */
void hipec_event_remove(struct hipec_container *c, u32 pgno)
{
	run_for_page(c, HIPEC_EVENT_REMOVE, pgno, false, c->nr_free);
	hipec_page_forget_gone(&c->vm);
}

/* Work: run Timer, and again after the policy's period. */
void hipec_event_timer(struct work_struct *work)
{
	struct hipec_container *c =
		container_of(work, struct hipec_container, timer.work);

	mutex_lock(&c->lock);
	/* By a swap it may be another policy's, which has none. */
	if (!c->vm.exit.kind && hipec_vm_has_event(&c->vm, HIPEC_EVENT_TIMER)) {
		c->vm.slot[HIPEC_SLOT_HINT] = 0;
		c->vm.slot[HIPEC_SLOT_CONTEXT] = 0;
		run(c, HIPEC_EVENT_TIMER, c->nr_free);
		if (c->cache)
			hipec_cache_settle(c->cache);
		hipec_event_timer_start(c);
	}
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);	/* it may have given up frames */
}

/* Begin a policy's next period, if it has any. Context: expects c->lock. */
void hipec_event_timer_start(struct hipec_container *c)
{
	if (hipec_vm_has_event(&c->vm, HIPEC_EVENT_TIMER))
		queue_delayed_work(hipec_wq, &c->timer,
				   msecs_to_jiffies(c->policy.image->timer_ms));
}
