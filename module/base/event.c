// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events in the kernel: how long they may take, in whose time, and what they know.
 * Which event comes when is the engine's (core/event.c).
 *
 * Interface, of the machine's host:
 * hipec_event_overtime()  the machine asks whether an event may go on
 * and of the engine's hosts, as struct hipec_core_ops has it:
 * hipec_event_run(), _late()         an event, and one that was given up
 * hipec_event_may_ask(), _asked()    a policy, while others wait
 * hipec_event_pause(), _touched(), _now()
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
	bool others = hipec_share_locked();
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
 * Under the pool's lock more often looked at; and who was late there is passed over.
 *
 * Context: expects the container's lock; may sleep.
 * Return: as hipec_vm_run(); -EAGAIN if it was not run.
 */
int hipec_event_run(struct hipec_core *core, u32 event)
{
	struct hipec_container *c = hipec_of_core(core);
	bool others = hipec_share_locked();

	lockdep_assert_held(&c->lock);
	if (c->passed && others)
		return -EAGAIN;
	core->event_since = c->asked_since;
	core->vm.poll = others ? HIPEC_OTHERS_POLL : HIPEC_POLL;
	return hipec_tracer_run(&core->vm, event);
}

/**
 * hipec_event_late() - the engine's host: an event was given up
 * @core: container
 *
 * Who was late while others waited is not asked for a while, then longer.
 *
 * Context: expects the container's lock.
 * Return: true if that shall not end the policy, however often it happens.
 */
bool hipec_event_late(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);

	if (!hipec_share_locked())
		return fatal_signal_pending(current);	/* it is the task that ends */
	c->pass_next = clamp(c->pass_next * 8, 8u, HIPEC_MAX_PASSES);
	c->passes = c->pass_next;
	c->passed = true;
	return true;
}

/**
 * hipec_event_may_ask() - the engine's host: ask a policy while others wait?
 * @core: container whose policy has not ended
 *
 * Who was late is not asked for some pages, after each further time for more, and who
 * is in time then, for half as many.
 *
 * Context: expects the container's lock and the pool's.
 * Return: false if it is not asked for this page.
 */
bool hipec_event_may_ask(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);

	if (c->passes) {
		c->passes--;
		return false;
	}
	c->passed = false;
	c->asked_since = ktime_get_ns();
	return true;
}

/* The engine's host: it has answered. Context: as hipec_event_may_ask(). */
void hipec_event_asked(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);

	c->asked_since = 0;
	if (!c->passed)
		c->pass_next /= 2;
}

/* The engine's host: let others run. Return: whether the task has to end. */
bool hipec_event_pause(struct hipec_core *core)
{
	cond_resched();
	return fatal_signal_pending(current);
}

/* The engine's host: whoever samples accesses wants to know. */
void hipec_event_touched(struct hipec_core *core, u32 pgno)
{
	hipec_sample_note(hipec_of_core(core), HIPEC_SAMPLE_HARVEST, pgno, false);
}

/* The engine's host: Time, ns. */
u64 hipec_event_now(struct hipec_core *core)
{
	return ktime_get_ns();
}
