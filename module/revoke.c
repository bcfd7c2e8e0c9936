// SPDX-License-Identifier: GPL-2.0-only
/*
 * Revocation: beside each container that shares runs a shadow of the default
 * policy (core/shadow.c), and the policy's faults are held against the contract
 * (core/contract.c). Who breaks it ends here, with all frames kept.
 *
 * Interface:
 * hipec_revoke_init()    a policy was loaded
 * hipec_revoke_restart() another one has taken its place
 * hipec_revoke_fault(), _ahead()   a page came in, as it was wanted or before
 * hipec_revoke_gone()    a page is about to lose its frame
 */
#include <linux/moduleparam.h>

#include "internal.h"

/* For experiments: what it is worth is seen without it. */
static bool revocation = true;
module_param(revocation, bool, 0644);
MODULE_PARM_DESC(revocation, "revoke policies that break the contract; N: only count their windows");

static bool watched(const struct hipec_container *c)
{
	return c->directory && !c->vm.exit.kind;
}

/* The shadow is one more that reads the referenced bit, and resets it. */
static bool young(struct hipec_shadow *s, u32 pgno)
{
	struct hipec_container *c =
		container_of(s, struct hipec_container, shadow);
	u32 h = hipec_page_find(&c->vm, pgno);

	if (!h || !hipec_page_live(&c->vm, h) ||
	    !hipec_young_seen(c, h, HIPEC_PAGE_REF_SHADOW))
		return false;
	hipec_young_forget(c, h, HIPEC_PAGE_REF_SHADOW);
	return true;
}

/**
 * hipec_revoke_init() - begin to hold a policy to the contract
 * @c:    container whose directory is allocated; nothing if it has none
 * @salt: of the sample, unknown to the policy's author
 *
 * Context: expects c->lock.
 */
void hipec_revoke_init(struct hipec_container *c, u32 salt)
{
	if (c->directory)
		hipec_shadow_init(&c->shadow, c->directory, c->nr_reserved,
				  salt, young);
}

/**
 * hipec_revoke_restart() - hold another policy to the contract, from now on
 * @c: container whose directory is its own; nothing if it has none
 *
 * The default starts with the pages that the policy starts with.
 *
 * Context: expects c->lock; may sleep; hipec_young_flush() is owed to it.
 */
void hipec_revoke_restart(struct hipec_container *c)
{
	u32 h = 0;

	if (!c->directory)
		return;
	hipec_revoke_init(c, c->vm.salt);
	hipec_shadow_resize(&c->shadow, c->pool_held);
	while ((h = hipec_vm_next_live(&c->vm, h))) {
		hipec_shadow_ahead(&c->shadow, c->vm.page[h].pgno);
		cond_resched();
	}
	memset(&c->shadow.window, 0, sizeof(c->shadow.window));
}

/**
 * hipec_revoke_fault() - a page came in because it was wanted
 * @c:    container
 * @pgno: live page
 *
 * At the end of a window the policy may end: not from within an event. To be
 * called before PageFault, whose end makes resets of bits visible.
 *
 * Context: expects c->lock; may sleep.
 * Source: hipec-1997, "Protection mechanism", which leaves revocation open.
 */
void hipec_revoke_fault(struct hipec_container *c, u32 pgno)
{
	struct hipec_shadow *s = &c->shadow;
	enum hipec_shadow_verdict verdict;
	struct hipec_bounds bounds;

	if (!watched(c))
		return;
	if (s->frames != c->pool_held)
		hipec_shadow_resize(s, c->pool_held);
	hipec_shadow_fault(s, pgno);
	verdict = hipec_shadow_verdict(s);
	if (verdict == HIPEC_SHADOW_NONE)
		return;
	hipec_estimate_add(&c->estimate, &s->last);
	bounds = hipec_estimate_bounds(&c->estimate);
	c->counters.windows++;
	c->counters.bad_windows += verdict != HIPEC_SHADOW_GOOD;
	c->counters.judged_faults += s->last.faults;
	c->counters.default_faults += (u64)s->last.shadow << s->last.shift;
	c->counters.default_least = bounds.least;
	c->counters.default_most = bounds.most;
	if (verdict == HIPEC_SHADOW_REVOKE && READ_ONCE(revocation))
		hipec_exit(c, HIPEC_EXIT_WORSE);
}

/* A page came in that nobody wanted yet. Context: as hipec_revoke_fault(). */
void hipec_revoke_ahead(struct hipec_container *c, u32 pgno)
{
	if (watched(c))
		hipec_shadow_ahead(&c->shadow, pgno);
}

/* A live page is about to lose its frame. Context: expects c->lock. */
void hipec_revoke_gone(struct hipec_container *c, u32 pgno)
{
	if (watched(c))
		hipec_shadow_gone(&c->shadow, pgno);
}
