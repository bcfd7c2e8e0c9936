// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows from the end of a policy, whatever its cause: it is said once, in the
 * log, in a trace and to those who wait. The engine writes the record, and puts FIFO
 * with a second chance in charge (hipec_core_end()).
 *
 * Interface:
 * hipec_exit_ended()   the engine's host: a policy has ended
 * hipec_exit_window()  the engine's host: shall it, by the contract?
 * hipec_exit_administrative() somebody wants it so
 */
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/ratelimit.h>

#include "base.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* For experiments: what it is worth is seen without it. */
static bool revocation = true;
module_param(revocation, bool, 0644);
MODULE_PARM_DESC(revocation, "revoke policies that break the contract; N: only count their windows");

/* The engine's host: core->vm.exit says why, in words. Context: expects the lock. */
void hipec_exit_ended(struct hipec_core *core)
{
	struct hipec_container *c = hipec_of_core(core);
	const struct hipec_exit *e = &core->vm.exit;

	lockdep_assert_held(&c->lock);
	trace_hipec_exit(c);
	hipec_backoff_revoked(c);
	if (e->kind != HIPEC_EXIT_CLOSED) {
		hipec_log_note(c, false);
		pr_warn_ratelimited("%s[%d]: policy '%s' ended: %s\n",
				    c->owner_comm, pid_nr(c->owner_pid),
				    c->policy.image->name, e->message);
	}
	wake_up_poll(&c->ended, EPOLLIN | EPOLLRDNORM);
}

/* The engine's host: a window of the contract is closed. Return: revoke the policy. */
bool hipec_exit_window(struct hipec_core *core, enum hipec_verdict verdict)
{
	return verdict == HIPEC_VERDICT_REVOKE && READ_ONCE(revocation);
}

/**
 * hipec_exit_administrative() - end a container's policy because somebody says so
 * @c: container
 *
 * Context: process context; takes c->lock.
 * Return: 0; -ENODATA if there is no policy; -EALREADY if it has ended before;
 *         -EINTR on a fatal signal.
 */
int hipec_exit_administrative(struct hipec_container *c)
{
	int ret = -ENODATA;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (c->core.vm.policy && !hipec_fifo2_is(c->core.vm.policy))
		ret = hipec_core_end(&c->core, HIPEC_EXIT_BY_HAND) ? 0 : -EALREADY;
	mutex_unlock(&c->lock);
	return ret;
}
