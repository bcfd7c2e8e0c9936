// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timer, an event of the policy that comes by itself, once in a period.
 *
 * Interface:
 * hipec_timer_run(), _start()
 */
#include "cache/host.h"
#include "internal.h"
#include "vm/bucket.h"

/*
 * Begin a policy's next period, of @least ticks or more, if it has any, and its container does not end.
 * Context: expects c->lock.
 */
static void start_after(struct hipec_container *c, unsigned long least)
{
	lockdep_assert_held(&c->lock);
	if (!c->dying && hipec_vm_has_event(&c->core.vm, HIPEC_EVENT_TIMER))
		queue_delayed_work(hipec_wq, &c->timer,
				   max(msecs_to_jiffies(c->policy.image->timer_ms), least));
}

/* Work: run Timer, and again after the policy's period. */
void hipec_timer_run(struct work_struct *work)
{
	struct hipec_container *c =
		container_of(work, struct hipec_container, timer.work);

	/* Containers of all users share the workers: none waits for an event. */
	if (!mutex_trylock(&c->lock)) {
		if (!READ_ONCE(c->dying))
			queue_delayed_work(hipec_wq, &c->timer, 1);
		return;
	}
	/* By a swap it may be another policy's, which has none. */
	if (hipec_core_has_event(&c->core, HIPEC_EVENT_TIMER)) {
		hipec_event_slice_begin(c, jiffies + HIPEC_SLICE);
		hipec_core_timer(&c->core);
		hipec_host_settle(c);
		start_after(c, hipec_event_slice_end(c) ? HIPEC_REST : 0);
	}
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);	/* it may have given up frames */
}

/* Begin a policy's first period, if it has any. Context: expects c->lock. */
void hipec_timer_start(struct hipec_container *c)
{
	/* Each policy that begins comes by here, and none may have the key that anybody can read. */
	WARN_ON_ONCE(c->core.vm.key == HIPEC_BUCKET_KEY);
	start_after(c, 0);
}
