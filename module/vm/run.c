// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run one event of a verified policy: fetch, fuel, dispatch.
 */
#include "vm.h"

/* Words of event @number, which exists; word 0 is the magic. */
static const u32 *event_base(const struct hipec_vm *vm, u32 number)
{
	const struct hipec_policy *p = vm->policy;

	return p->words + p->event[p->index[number] - 1].first;
}

/* Whether the policy has event @event. */
bool hipec_vm_has_event(const struct hipec_vm *vm, u32 event)
{
	return vm->policy->index[event];
}

static void enter(struct hipec_vm *vm, u32 event)
{
	vm->event = event;
	vm->base = event_base(vm, event);
	vm->pc = vm->base + 1;
}

u32 hipec_op_call(struct hipec_vm *vm, u32 w)
{
	vm->frame[vm->depth].pc = vm->pc;
	vm->frame[vm->depth].base = vm->base;
	vm->frame[vm->depth].event = vm->event;
	vm->depth++;
	enter(vm, hipec_word_a(w));
	return 0;
}

u32 hipec_op_return(struct hipec_vm *vm, u32 w)
{
	(void)w;
	if (!vm->depth) {
		vm->pc = NULL;
		return 0;
	}
	vm->depth--;
	vm->pc = vm->frame[vm->depth].pc;
	vm->base = vm->frame[vm->depth].base;
	vm->event = vm->frame[vm->depth].event;
	return 0;
}

u32 hipec_op_jump(struct hipec_vm *vm, u32 w)
{
	u8 cond = hipec_word_a(w);

	if (cond == HIPEC_COND_ALWAYS ||
	    vm->condition == (cond == HIPEC_COND_IF))
		vm->pc = vm->base + hipec_word_target(w);
	return 0;
}

static u32 dispatch(struct hipec_vm *vm, u32 w)
{
	switch (hipec_word_op(w)) {
#define X(name, fn, ...) case HIPEC_OP_##name: return hipec_op_##fn(vm, w);
	HIPEC_COMMANDS(X)
#undef X
	}
	return 0;
}

/* Note why and where the policy ended; @pc is the command that did it. */
static void end_policy(struct hipec_vm *vm, u32 kind, const u32 *pc)
{
	const u32 *lines = vm->policy->lines;

	vm->exit.kind = kind;
	vm->exit.event = vm->event;
	vm->exit.command = pc - vm->base;
	vm->exit.line = lines ? lines[pc - vm->policy->words] : 0;
	vm->exit.word = *pc;
}

/**
 * hipec_vm_run() - run an event to its end
 * @vm:    machine whose policy has not ended
 * @event: number of an event that the policy has
 *
 * Slots that the host owns (_free_count, system integers) and the count of
 * _free_queue are set by the caller before. The condition starts false.
 *
 * Context: serialised by the host; host operations may sleep if the caller may.
 * Return: 0; -ECANCELED if the policy has ended, with vm->exit set.
 * Source: hipec-1997, "Caching strategy representation".
 */
int hipec_vm_run(struct hipec_vm *vm, u32 event)
{
	u64 fuel = vm->fuel;
	u32 kind = HIPEC_EXIT_NONE;
	const u32 *pc;

	vm->depth = 0;
	vm->condition = false;
	enter(vm, event);
	do {
		pc = vm->pc;
		if (unlikely(!fuel--)) {
			kind = HIPEC_EXIT_FUEL;
			fuel = 0;
			break;
		}
		vm->pc++;
		kind = dispatch(vm, *pc);
	} while (likely(!kind && vm->pc));
	vm->nr_commands += vm->fuel - fuel;
	vm->nr_events++;
	if (likely(!kind))
		return 0;
	end_policy(vm, kind, pc);
	return -ECANCELED;
}
