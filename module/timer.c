// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timer, an event of the policy that comes by itself, once in a period.
 *
 * Interface:
 * hipec_timer_run(), _start()
 */
#include "cache/host.h"
#include "internal.h"

/* Work: run Timer, and again after the policy's period. */
void hipec_timer_run(struct work_struct *work)
{
	struct hipec_container *c =
		container_of(work, struct hipec_container, timer.work);

	mutex_lock(&c->lock);
	/* By a swap it may be another policy's, which has none. */
	if (hipec_core_has_event(&c->core, HIPEC_EVENT_TIMER)) {
		hipec_core_timer(&c->core);
		if (c->cache)
			hipec_cache_settle(c->cache);
		hipec_timer_start(c);
	}
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);	/* it may have given up frames */
}

/*
 * Begin a policy's next period, if it has any, and its container does not end.
 * Context: expects c->lock.
 */
void hipec_timer_start(struct hipec_container *c)
{
	lockdep_assert_held(&c->lock);
	if (!c->dying && hipec_vm_has_event(&c->core.vm, HIPEC_EVENT_TIMER))
		queue_delayed_work(hipec_wq, &c->timer,
				   msecs_to_jiffies(c->policy.image->timer_ms));
}
