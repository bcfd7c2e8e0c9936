/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The built-in replacement, FIFO with a second chance: of containers without a
 * policy, and of those whose policy has ended. It is policies/fifo2.hp in C, over
 * the machine's own queues and its host's referenced bits: the same decisions.
 *
 * The fallback queue is the active one, so a page that comes in is where it
 * belongs, and so are all pages when hipec_vm_abandon() has been called. The
 * machine's last queue, which no policy knows, is the inactive one.
 *
 * Interface:
 * hipec_fifo2_policy()   a policy that has no events
 * hipec_fifo2_rules()    whether the built-in replacement is in charge
 * hipec_fifo2_replace()  have one page given up
 */
#ifndef HIPEC_VM_FIFO2_H
#define HIPEC_VM_FIFO2_H

#include "vm.h"

/* What the status of a container without a policy calls it. */
#define HIPEC_FIFO2_NAME "builtin"

/* Take page @h's frame; false if it cannot go now. */
typedef bool hipec_fifo2_take_fn(struct hipec_vm *vm, u32 h);

void hipec_fifo2_policy(struct hipec_policy *p);
bool hipec_fifo2_replace(struct hipec_vm *vm, hipec_fifo2_take_fn *take,
			 u32 *pgno);

/* Whether @p is no policy at all: every other one has Replace. */
static inline bool hipec_fifo2_is(const struct hipec_policy *p)
{
	return !p->index[HIPEC_EVENT_REPLACE];
}

static inline bool hipec_fifo2_rules(const struct hipec_vm *vm)
{
	return vm->exit.kind || hipec_fifo2_is(vm->policy);
}

#endif /* HIPEC_VM_FIFO2_H */
