/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands that take a page have in common.
 */
#ifndef HIPEC_VM_OPS_H
#define HIPEC_VM_OPS_H

#include "queue.h"

/*
 * The page in @slot, operand @nr (1 to 3), which is one of @flags, or why there
 * is none. A page operand outlives its page, so its handle may be stale, or
 * name a page that came later: that is the policy's mistake, and harmless.
 */
static inline u32 hipec_page_operand(struct hipec_vm *vm, u8 slot, u32 nr,
				     u16 flags, u32 *h)
{
	*h = vm->slot[slot];
	if (likely(*h && vm->page[*h].flags & flags))
		return 0;
	vm->exit.operand = nr;
	return *h ? HIPEC_EXIT_STALE_PAGE : HIPEC_EXIT_NO_PAGE;
}

#endif /* HIPEC_VM_OPS_H */
