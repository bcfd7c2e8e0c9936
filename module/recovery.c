// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery of a container: its table of decisions (core/recover.c), and what is
 * done about a bad one. Who adds to the table and drops from it is pool.c.
 *
 * Interface:
 * hipec_recovery_init()   an empty table
 * hipec_pool_recover()    an ill-advised decision is reversed
 */
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "internal.h"

/* For experiments: what it is worth is seen without it. */
static bool recovery = true;
module_param(recovery, bool, 0644);
MODULE_PARM_DESC(recovery, "reverse decisions of policies that turn out to be bad; N: let them stand");

static uint recovery_buckets;
module_param(recovery_buckets, uint, 0644);
MODULE_PARM_DESC(recovery_buckets, "buckets of the recovery table of each container loaded from now on; 0: a quarter of its frames");

#define HIPEC_MAX_BUCKETS (1u << 20)

/**
 * hipec_recovery_init() - give a container its table
 * @c: container with its limit; nobody else uses it
 *
 * Half as many decisions as it has frames, 14 bytes a frame with chains of two.
 *
 * Context: process context, may sleep.
 * Return: false if there is no memory.
 * Source: hipec-1997, Figure 5, which has 64 buckets for regions of any size.
 */
bool hipec_recovery_init(struct hipec_container *c)
{
	u32 decisions = READ_ONCE(recovery) ? c->nr_reserved / 2 + 1 : 0;
	u32 wish = READ_ONCE(recovery_buckets);
	u32 buckets = wish ? min(wish, HIPEC_MAX_BUCKETS) : decisions / 2 + 1;

	c->recovery = hipec_table_alloc(hipec_recover_size(decisions, buckets));
	if (!c->recovery)
		return false;
	hipec_recover_init(&c->recover, c->recovery, decisions, buckets);
	c->recover.salt = get_random_u32();
	return true;
}

/**
 * hipec_pool_recover() - reverse the decision that a page should go, if it was bad
 * @c:    container that shares
 * @pgno: page that faulted and has no frame
 *
 * The policy gave it up in place of another one, which has not been referenced
 * since: that one goes.
 *
 * Context: expects c->lock; may sleep.
 * Source: hipec-1997, "Implementation" and Figure 5.
 */
void hipec_pool_recover(struct hipec_container *c, u32 pgno)
{
	u32 kept, h;

	if (!READ_ONCE(recovery) ||
	    !hipec_recover_find(&c->recover, pgno, &kept))
		return;
	hipec_recover_drop_gone(&c->recover, pgno);
	h = hipec_page_find(&c->vm, kept);
	if (!h || !hipec_page_live(&c->vm, h) ||
	    hipec_young_seen(c, h, HIPEC_PAGE_REF_POOL))
		return;
	if (!hipec_frame_evict(c, h, true))
		return;
	c->counters.recovered++;
	hipec_event_remove(c, kept);
}
