// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a policy asks of its host, from what it uses. The table of needs says
 * which system slots, events and operand flags ask for which.
 */
#include "vm.h"

/* System slots that some command has as an operand: bit 0 is the first. */
static u32 system_slots(const struct hipec_policy *p)
{
	u32 e, n, i, slots = 0;

	for (e = 0; e < p->image->nr_events; e++) {
		const u32 *word = p->words + p->event[e].first;

		for (n = 1; n < p->event[e].nr; n++) {
			const u8 *kind = hipec_ops[hipec_word_op(word[n])].kind;

			for (i = 0; i < 3; i++) {
				u8 slot = word[n] >> (16 - 8 * i);

				if (hipec_vm_kind_types(kind[i]) &&
				    slot >= HIPEC_SLOT_SYSTEM)
					slots |= 1u << (slot - HIPEC_SLOT_SYSTEM);
			}
		}
	}
	return slots;
}

/**
 * hipec_needs_of() - what a policy needs of its host
 * @p: policy; of its header, the numbers of operands and events are read
 *
 * The commands need not be verified.
 *
 * Time is linear in the policy's length.
 * Return: HIPEC_NEED_* of all that it uses.
 */
u32 hipec_needs_of(const struct hipec_policy *p)
{
	u32 slots = system_slots(p), events = 0, flags = 0, needs = 0, i;

	for (i = 0; i < p->image->nr_events; i++)
		if (p->event[i].number < HIPEC_EVENT_USER)
			events |= 1u << p->event[i].number;
	for (i = 0; i < p->image->nr_operands; i++)
		flags |= p->operand[i].flags;
#define X(name, bit, word, slots_, events_, flags_, meaning)                  \
	if (slots & (slots_) || events & (events_) || flags & (flags_))       \
		needs |= bit;
	HIPEC_NEEDS(X)
#undef X
	return needs;
}

/**
 * hipec_needs_has_op() - whether a policy has a command anywhere
 * @p:  policy, as of hipec_needs_of()
 * @op: its operator
 *
 * Time is linear in the policy's length.
 */
bool hipec_needs_has_op(const struct hipec_policy *p, u8 op)
{
	u32 e, n;

	for (e = 0; e < p->image->nr_events; e++)
		for (n = 1; n < p->event[e].nr; n++)
			if (hipec_word_op(p->words[p->event[e].first + n]) == op)
				return true;
	return false;
}
