// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run one event in native code, and what that code calls: the guards, and what it
 * has no instructions for. The code counts and looks as run.c does, so that both
 * ways to run an event end it after the same command, with the same exit.
 */
#include "end.h"
#include "ops_loop.h"

/**
 * hipec_native_run() - run an event in native code
 * @vm:    as of hipec_vm_run(), with native code
 * @event: number of an event that the policy has
 *
 * Context: as of hipec_vm_run().
 * Return: as hipec_vm_run(), after the same commands.
 * Source: ours.
 */
int hipec_native_run(struct hipec_vm *vm, u32 event)
{
	struct hipec_native *n = &vm->native;
	u32 kind;

	vm->condition = false;
	n->event = event;
	n->look = hipec_next_look(vm, 0);
	kind = n->run(vm, n->insn);
	vm->nr_commands += n->nr_run;
	vm->nr_events++;
	if (vm->queue[HIPEC_QUEUE_GONE].count)
		hipec_page_forget_evicted(vm);
	return likely(!kind) ? 0 : hipec_end_event(vm, kind, n->word);
}

/**
 * hipec_native_look() - for native code: look at fuel and time
 * @vm:  machine in an event
 * @run: commands that were run in it
 *
 * Context: as of the event; may sleep if its caller may.
 * Return: 0, with native.look set anew; HIPEC_EXIT_FUEL or HIPEC_EXIT_OVERTIME.
 */
u32 hipec_native_look(struct hipec_vm *vm, u64 run)
{
	u32 kind = hipec_look(vm, run);

	vm->native.look = hipec_next_look(vm, run);
	return kind;
}

/**
 * hipec_native_arith() - for native code: Arith where it has no instructions
 * @vm: machine in an event
 * @i:  the command, its selector in c
 *
 * Return: 0; HIPEC_EXIT_DIV_ZERO or HIPEC_EXIT_OVERFLOW.
 */
u32 hipec_native_arith(struct hipec_vm *vm, struct hipec_insn i)
{
	return hipec_arith(vm, &i, i.c);
}
