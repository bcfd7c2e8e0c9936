// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arrays of a policy that a detector writes.
 */
#include <string.h>

#include "feed.h"

/* The shared array @name of @nr elements: its slot, or -1. */
static int find(const struct hipec_policy *p, const char *name, u32 nr)
{
	u32 i;

	for (i = 0; p->image && i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_INTS &&
		    p->operand[i].flags & HIPEC_OPERAND_SHARED &&
		    p->operand[i].value >= nr &&
		    !strcmp(hipec_image_policy_name(p, p->operand[i].name), name))
			return i;
	return -1;
}

/* Whether the policy declares all of the arrays. */
bool sim_feed_wants(const struct hipec_policy *p)
{
#define X(field, name, nr) if (find(p, name, nr) < 0) return false;
	AMP_ARRAYS(X)
#undef X
	return true;
}

/* The arrays of a machine whose policy has them. */
void sim_feed_arrays(struct amp_arrays *a, const struct hipec_vm *vm)
{
#define X(field, name, nr) \
	a->field = vm->array[vm->slot[find(vm->policy, name, nr)]].element;
	AMP_ARRAYS(X)
#undef X
}
