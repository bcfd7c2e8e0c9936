// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission to the pool: a policy that was revoked there may not come back at
 * once. Known by its bytes, of each user: who mends it, or sets a parameter, has
 * another. Whoever pays for the frames, in a container of its own, is not asked.
 *
 * Interface:
 * hipec_backoff_hash()     bytes -> what they are known by
 * hipec_backoff_check()          may it share?
 * hipec_backoff_revoked()  it was revoked
 */
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#include "base.h"
#include "../core/backoff.h"

/* A service that is restarted at once is stopped; a person has read the reason. */
static uint backoff_ms = 10000;
module_param(backoff_ms, uint, 0644);
MODULE_PARM_DESC(backoff_ms, "milliseconds that a policy which was revoked may not share the pool again, twice as long each further time, up to 1024 times; 0: it may at once");

static DEFINE_SPINLOCK(lock);
static struct hipec_backoff revoked;	/* under it */

/**
 * hipec_backoff_hash() - what an image is known by
 * @image: its bytes
 * @size:  their number
 *
 * By a key of this module's own: nobody can make two images that are taken for
 * one.
 *
 * Context: process context.
 * Return: 64 bits.
 */
u64 hipec_backoff_hash(const void *image, size_t size)
{
	static siphash_key_t key __read_mostly;

	get_random_once(&key, sizeof(key));
	return siphash(image, size, &key);
}

static void explain_backoff(const struct hipec_policy *p,
			    const struct hipec_backoff_entry *e, u64 wait_ms,
			    struct hipec_text *log)
{
	hipec_text_str(log, "policy '");
	hipec_text_str(log, p->image->name);
	hipec_text_str(log, "' was revoked ");
	if (e->times == 1) {
		hipec_text_str(log, "once: ");
	} else {
		hipec_text_num(log, e->times);
		hipec_text_str(log, " times, last: ");
	}
	hipec_text_str(log, hipec_vm_exit_text(e->kind));
	hipec_text_str(log, "; it may share the pool again in ");
	hipec_text_signed(log, DIV_ROUND_UP_ULL(wait_ms, MSEC_PER_SEC));
	hipec_text_str(log, " s (module parameter backoff_ms)");
}

/**
 * hipec_backoff_check() - whether a policy may share the pool
 * @p:    policy
 * @hash: of its image
 * @uid:  user who is charged for the container
 * @log:  told why not
 *
 * Context: process context.
 * Return: 0; -EAGAIN if the same image of the same user was revoked lately.
 */
int hipec_backoff_check(const struct hipec_policy *p, u64 hash, kuid_t uid,
		struct hipec_text *log)
{
	const struct hipec_backoff_entry *e;
	struct hipec_backoff_entry found;
	u64 wait_ms = 0;

	spin_lock(&lock);
	e = hipec_backoff_find(&revoked, __kuid_val(uid), hash);
	if (e) {
		found = *e;
		wait_ms = hipec_backoff_wait(e, READ_ONCE(backoff_ms),
					     ktime_get_ns() / NSEC_PER_MSEC);
	}
	spin_unlock(&lock);
	if (!wait_ms)
		return 0;
	explain_backoff(p, &found, wait_ms, log);
	return -EAGAIN;
}

/**
 * hipec_backoff_revoked() - a policy has ended: remember it if it was revoked
 * @c: container whose vm.exit says why
 *
 * Context: expects c->lock, and any but @lock.
 */
void hipec_backoff_revoked(struct hipec_container *c)
{
	u32 kind = c->core.vm.exit.kind;

	if (!c->core.pool || (kind & HIPEC_EXIT_BAND) != HIPEC_EXIT_BAND_REVOKED)
		return;
	spin_lock(&lock);
	hipec_backoff_note(&revoked, __kuid_val(c->user->uid), c->image_hash,
			   kind, READ_ONCE(backoff_ms),
			   ktime_get_ns() / NSEC_PER_MSEC);
	spin_unlock(&lock);
}
