// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one way in which a policy ends. Whoever comes first has ended it: the
 * record is written once, said once in the log, and from then on FIFO with a
 * second chance is in charge of the container's frames, all of which it keeps.
 *
 * Interface:
 * hipec_exit()         end it, for a reason that is not a command's
 * hipec_exit_by_hand() somebody wants it so
 * hipec_exit_command() the machine has ended it: say so
 */
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/ratelimit.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* The record's words, the log's line, those who wait, and no more policy. */
static void announce(struct hipec_container *c)
{
	struct hipec_exit *e = &c->vm.exit;
	struct hipec_text text;

	hipec_text_init(&text, e->message, sizeof(e->message));
	hipec_exit_explain(&c->policy, e, &text);
	trace_hipec_exit(c);
	hipec_admit_revoked(c);
	if (e->kind != HIPEC_EXIT_CLOSED) {
		hipec_log_note(c, false);
		pr_warn_ratelimited("%s[%d]: policy '%s' ended: %s\n",
				    c->owner_comm, pid_nr(c->owner_pid),
				    c->policy.image->name, e->message);
	}
	hipec_vm_abandon(&c->vm);
	wake_up_poll(&c->ended, EPOLLIN | EPOLLRDNORM);
}

/**
 * hipec_exit() - end a container's policy
 * @c:    container with a policy
 * @kind: HIPEC_EXIT_*
 *
 * Context: process context; expects c->lock; not from within an event.
 * Return: false if it has ended before, for another reason.
 */
bool hipec_exit(struct hipec_container *c, u32 kind)
{
	lockdep_assert_held(&c->lock);
	if (c->vm.exit.kind)
		return false;
	hipec_vm_end(&c->vm, kind);
	announce(c);
	return true;
}

/**
 * hipec_exit_by_hand() - end a container's policy because somebody says so
 * @c: container
 *
 * Context: process context; takes c->lock.
 * Return: 0; -ENODATA if there is no policy; -EALREADY if it has ended before;
 *         -EINTR on a fatal signal.
 */
int hipec_exit_by_hand(struct hipec_container *c)
{
	int ret = -ENODATA;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (c->vm.policy && !hipec_fifo2_is(c->vm.policy))
		ret = hipec_exit(c, HIPEC_EXIT_BY_HAND) ? 0 : -EALREADY;
	mutex_unlock(&c->lock);
	return ret;
}

/**
 * hipec_exit_command() - a command has ended the policy, and vm.exit says how
 * @c: container
 *
 * Context: process context; expects c->lock.
 */
void hipec_exit_command(struct hipec_container *c)
{
	lockdep_assert_held(&c->lock);
	announce(c);
}
