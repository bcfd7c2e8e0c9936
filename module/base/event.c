// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events in the kernel: how long they may take, in whose time, and what they know.
 * Which event comes when is the engine's (core/event.c).
 *
 * Interface, of the machine's host:
 * hipec_event_overtime()  the machine asks whether an event may go on
 * hipec_event_slice_begin(), _end()  what a worker may use of the time
 * hipec_event_worker_lock()     a container's lock, for which no worker waits
 * and of the engine's hosts, as struct hipec_core_ops has it:
 * hipec_event_run(), _late()         an event, and one that was given up
 * hipec_event_access(), _added(), _removed()  the league hears of a page
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

/* Whether a worker's time is over, or the container's: what would run goes on in nobody's time. */
static bool is_over(const struct hipec_container *c)
{
	return READ_ONCE(c->dying) || (c->slice && time_after(jiffies, c->slice));
}

/**
 * hipec_event_slice_begin() - a worker has so much time for events
 * @c:   container
 * @end: jiffies, from which on events are given up, and loops end
 *
 * No signal ends a worker, and its time is nobody's: who makes a call for itself has all that it
 * wants, and no slice.
 *
 * Context: expects c->lock.
 */
void hipec_event_slice_begin(struct hipec_container *c, unsigned long end)
{
	lockdep_assert_held(&c->lock);
	c->slice = current->flags & PF_KTHREAD ? end | 1 : 0;
}

/* It is over; before c->lock is dropped. Return: whether all of it was used. */
bool hipec_event_slice_end(struct hipec_container *c)
{
	bool used = c->slice && time_after(jiffies, c->slice);

	lockdep_assert_held(&c->lock);
	c->slice = 0;
	return used;
}

/* The same, of which *@end is the end; 0: it begins now that the lock is had. */
void hipec_event_slice_of(struct hipec_container *c, unsigned long *end)
{
	if (!*end)
		*end = (jiffies + HIPEC_SLICE) | 1;
	hipec_event_slice_begin(c, *end);
}

/* Whether the current task is a worker, and has had its slice. Context: any. */
bool hipec_event_slice_is_over(const struct hipec_container *c, unsigned long end)
{
	return current->flags & PF_KTHREAD && !READ_ONCE(c->dying) && time_after(jiffies, end);
}

/**
 * hipec_event_worker_lock() - a container's lock, for which no worker waits while an event runs
 * @c: container
 *
 * Containers of all users share the workers, and an event in its owner's time may take long: a worker
 * comes again. A task that makes the call for itself waits; killably, unless the container ends, whose
 * events end at their next look.
 *
 * Context: process context, sleeps.
 * Return: false if it is not had; nor by a task that is killed.
 */
bool hipec_event_worker_lock(struct hipec_container *c)
{
	if (current->flags & PF_KTHREAD)
		return mutex_trylock(&c->lock);
	if (!READ_ONCE(c->dying))
		return !mutex_lock_killable(&c->lock);
	mutex_lock(&c->lock);
	return true;
}

/*
 * ns of a clock that stands still while the current task waits for a CPU: else whoever keeps that busy
 * would have others' policies revoked. Where an event sleeps, the time is its own. A kernel that does not
 * count it (CONFIG_SCHED_INFO) has no such clock.
 */
static u64 own_time(void)
{
	u64 waited = 0;

#ifdef CONFIG_SCHED_INFO
	waited = current->sched_info.run_delay;
#endif
	return ktime_get_ns() - waited;
}

/**
 * hipec_event_overtime() - host operation: whether an event is over its time
 * @vm: machine in an event
 *
 * Each look lets others run, and ends the event of a task that is killed, or whose container ends. A
 * worker has a slice. PageFault, Init and Adopt run for the task that is here, until their fuel is
 * spent; all other events are given up when their quantum is over, and sooner those that run for
 * others alone. The time is the task's own: what others have had of its CPU does not count.
 *
 * Context: expects the container's lock; may sleep.
 * Return: true if the event shall end.
 * Source: hipec-1997, "Infinite strategy interpretation".
 */
bool hipec_event_overtime(struct hipec_vm *vm)
{
	struct hipec_container *c = hipec_of_vm(vm);
	bool others = c->for_others;
	u64 us = READ_ONCE(quantum_us);
	u64 now;

	cond_resched();
	now = own_time();
	if (is_over(c) || fatal_signal_pending(current))
		return true;
	if (others)
		us = min_t(u64, us, READ_ONCE(others_us));
	/* The clock is not read at the start of each event, but here. */
	if (!c->core.event_since) {
		c->core.event_since = now;
		return false;
	}
	/* Two clocks, of which one is slewed, may go backwards together. */
	if ((s64)(now - c->core.event_since) < (s64)(us * NSEC_PER_USEC))
		return false;
	if (others)
		return true;
	c->core.event_since = now;
	return c->core.event != HIPEC_EVENT_PAGEFAULT && c->core.event != HIPEC_EVENT_INIT &&
	       c->core.event != HIPEC_EVENT_ADOPT;
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
		return fatal_signal_pending(current) || is_over(c);	/* it is the task that ends */
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
		queue_delayed_work(hipec_wq, &c->refill, 0);
}

/* Context: expects c->lock. */
static void refill_for_others(struct hipec_container *c)
{
	hipec_event_slice_begin(c, jiffies + HIPEC_SLICE);
	c->late_for_others = false;
	c->asked_since = own_time();
	c->for_others = true;
	hipec_core_refill(&c->core);
	c->for_others = false;
	c->asked_since = 0;
	hipec_host_settle(c);
	c->late_for_others |= hipec_event_slice_end(c);
	c->others_wait = c->late_for_others ?
		min(2 * c->others_wait + 1, HIPEC_MAX_OTHERS_WAIT) : c->others_wait / 2;
	if (c->late_for_others)
		atomic_set(&c->others_skip, c->others_wait);
}

/* Work: the policy names pages, and hears of those that others took. */
void hipec_event_refill_work(struct work_struct *work)
{
	struct hipec_container *c =
		container_of(work, struct hipec_container, refill.work);

	if (!hipec_event_worker_lock(c)) {
		queue_delayed_work(hipec_wq, &c->refill, 1);
		return;
	}
	if (!c->loading && c->core.pool && !c->core.vm.exit.kind)
		refill_for_others(c);
	if (!c->loading && c->core.pool && c->host->spare)
		c->host->spare(c);
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);	/* it may have given up frames */
}

/* The engine's host: let others run. Return: whether the task has to end, or the container does. */
bool hipec_event_pause(struct hipec_core *core)
{
	cond_resched();
	return fatal_signal_pending(current) || is_over(hipec_of_core(core));
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
	if (c->league_since && hipec_sampling_has(&l->sample, pgno))
		l->now = ktime_get_ns() - c->league_since;
	l->has = clamp(hipec_core_usable(&c->core), 1u, l->sample.frames);
	hipec_league_access(l, pgno, write, missed);
	if (missed && c->core.beside)
		hipec_core_missed(&c->core, l);
	if (unlikely(l->next != l->runs || l->wanted != HIPEC_LEAGUE_NONE) && !c->dying)
		queue_work(hipec_league_wq, &c->change);
}

/* The engine's host: Time, ns. */
u64 hipec_event_now(struct hipec_core *core)
{
	return ktime_get_ns();
}
