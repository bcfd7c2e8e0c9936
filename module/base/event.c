// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events in the kernel: how long they may take, in whose time, and what they know.
 * Which event comes when is the engine's (core/event.c).
 *
 * Interface, of the machine's host:
 * hipec_event_overtime()  the machine asks whether an event may go on
 * and of the engine's hosts, as struct hipec_core_ops has it:
 * hipec_event_run(), _late()         an event, and one that was given up
 * hipec_event_access(), _came_in(), _left()  the league hears of a page
 * hipec_event_refill()               pages are to be named for others
 * hipec_event_pause(), _touched(), _now()
 * and of a container: hipec_event_refill_work()
 */
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "../include/uapi/hipec_sample.h"
#include "base.h"

/* The time quantum of hipec-1997, which had the scheduler's. */
static uint quantum_us = 10000;
module_param(quantum_us, uint, 0644);
MODULE_PARM_DESC(quantum_us, "microseconds that one event may take");

/*
 * In the worker that has pages named for others. Nobody waits for it, but it takes a CPU
 * that others may want: not for longer than a fault that reads from a fast disk.
 */
static uint others_us = 200;
module_param(others_us, uint, 0644);
MODULE_PARM_DESC(others_us, "microseconds that a policy may take to name pages for other containers, when it does so for them alone");

/* Commands between two looks at the clock, for them. */
#define HIPEC_OTHERS_POLL 128
/* Requests that a policy misses, at most, after it was late for others. */
#define HIPEC_MAX_OTHERS_WAIT 1023u

/**
 * hipec_event_overtime() - host operation: whether an event is over its time
 * @vm: machine in an event
 *
 * PageFault, Init and Adopt run for the task that is here: it alone pays, by
 * being scheduled like any other, until its fuel is spent or it is killed. All
 * other events are given up, and sooner those that run for others alone.
 *
 * Context: expects the container's lock; may sleep.
 * Return: true if the event shall end.
 * Source: hipec-1997, "Infinite strategy interpretation".
 */
bool hipec_event_overtime(struct hipec_vm *vm)
{
	struct hipec_container *c = hipec_of_vm(vm);
	bool others = c->for_others;
	u64 now = ktime_get_ns();
	u64 us = READ_ONCE(quantum_us);

	if (others)
		us = min_t(u64, us, READ_ONCE(others_us));
	/* The clock is not read at the start of each event, but here. */
	if (!c->core.event_since) {
		c->core.event_since = now;
		return false;
	}
	if (now - c->core.event_since < us * NSEC_PER_USEC)
		return false;
	if (others)
		return true;
	c->core.event_since = now;
	if (c->core.event != HIPEC_EVENT_PAGEFAULT && c->core.event != HIPEC_EVENT_INIT &&
	    c->core.event != HIPEC_EVENT_ADOPT)
		return true;
	cond_resched();
	return fatal_signal_pending(current);
}

/**
 * hipec_event_run() - the engine's host: run an event
 * @core:  container
 * @event: that its policy has
 *
 * For others alone it is more often looked at; and who was late for them runs no more. No
 * event runs under the pool's lock, for which others wait.
 *
 * Context: expects the container's lock; may sleep.
 * Return: as hipec_vm_run(); -EAGAIN if it was not run.
 */
int hipec_event_run(struct hipec_core *core, u32 event)
{
	struct hipec_container *c = hipec_of_core(core);
	bool others = c->for_others;

	lockdep_assert_held(&c->lock);
	WARN_ON_ONCE(hipec_share_locked());
	if (c->late_for_others && others)
		return -EAGAIN;
	core->event_since = c->asked_since;
	core->vm.poll = others ? HIPEC_OTHERS_POLL : HIPEC_POLL;
	return hipec_tracer_run(&core->vm, event);
}

/**
 * hipec_event_late() - the engine's host: an event was given up
 * @core: container
 *
 * A policy that was late for others runs nothing more for them in this run, and misses the
 * next request, then 3 requests, 7 and so on.
 *
 * Context: expects the container's lock.
 * Return: true if that shall not end the policy, however often it happens.
 */
bool hipec_event_late(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);

	if (!c->for_others)
		return fatal_signal_pending(current);	/* it is the task that ends */
	c->late_for_others = true;
	return true;
}

/**
 * hipec_event_refill() - the engine's host: have pages named for others, soon
 * @core: container that shares
 *
 * Context: expects the pool's lock or hipec_share_pin(); does not sleep.
 */
void hipec_event_refill(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);

	if (atomic_dec_if_positive(&c->others_skip) < 0)
		queue_work(hipec_wq, &c->refill);
}

/* Context: expects c->lock. */
static void refill(struct hipec_container *c)
{
	c->late_for_others = false;
	c->asked_since = ktime_get_ns();
	c->for_others = true;
	hipec_core_refill(&c->core);
	c->for_others = false;
	c->asked_since = 0;
	c->others_wait = c->late_for_others ?
		min(2 * c->others_wait + 1, HIPEC_MAX_OTHERS_WAIT) : c->others_wait / 2;
	if (c->late_for_others)
		atomic_set(&c->others_skip, c->others_wait);
	if (c->kind->settle)
		c->kind->settle(c);
}

/* Work: the policy names pages, and hears of those that others took. */
void hipec_event_refill_work(struct work_struct *work)
{
	struct hipec_container *c =
		container_of(work, struct hipec_container, refill);

	mutex_lock(&c->lock);
	if (!c->loading && c->core.pool && !c->core.vm.exit.kind)
		refill(c);
	if (!c->loading && c->core.pool && c->kind->spare)
		c->kind->spare(c);
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);	/* it may have given up frames */
}

/* The engine's host: let others run. Return: whether the task has to end, or the container does. */
bool hipec_event_pause(struct hipec_core *core)
{
	cond_resched();
	return fatal_signal_pending(current) || READ_ONCE(hipec_of_core(core)->dying);
}

/* The engine's host: whoever samples accesses wants to know. */
void hipec_event_touched(struct hipec_core *core, u32 pgno)
{
	hipec_sample_note(hipec_of_core(core), HIPEC_SAMPLE_HARVEST, pgno, false);
}

/*
 * As hipec_event_access(). A worker does what follows, which allocates memory and runs
 * many events. When the policy that runs has ended, the league has too.
 */
void __hipec_event_access(struct hipec_container *c, u32 pgno, bool write, bool missed)
{
	struct hipec_league *l = c->league;

	lockdep_assert_held(&c->lock);
	if (c->core.vm.exit.kind) {
		WRITE_ONCE(c->league, NULL);
		c->core.heard = false;
		return;
	}
	if (c->league_since && hipec_league_sampled(l, pgno))
		l->now = ktime_get_ns() - c->league_since;
	l->has = clamp(hipec_core_usable(&c->core), 1u, l->frames);
	hipec_league_access(l, pgno, write, missed);
	if (missed && c->core.beside)
		hipec_core_missed(&c->core, l);
	if (unlikely(l->next != l->runs || l->wanted != HIPEC_LEAGUE_NONE) && !c->dying)
		queue_work(system_unbound_wq, &c->change);
}

/* The engine's host: Time, ns. */
u64 hipec_event_now(struct hipec_core *core)
{
	return ktime_get_ns();
}
