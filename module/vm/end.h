/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guards of an event and its end, for both ways to run one: run.c, which
 * interprets it, and a policy in C (userlib/native).
 */
#ifndef HIPEC_VM_END_H
#define HIPEC_VM_END_H

#include "vm.h"

/* Commands that an event which has run @run may come to before the next look. */
static __always_inline u64 hipec_next_look(const struct hipec_vm *vm, u64 run)
{
	u64 look = vm->fuel;

	if (vm->host->overtime && run + vm->poll < look)
		look = run + vm->poll;
	return look;
}

/* It is time for a look at fuel and time. Return: why the event ends, or 0. */
static inline u32 hipec_probe(struct hipec_vm *vm, u64 run)
{
	if (run > vm->fuel)
		return HIPEC_EXIT_FUEL;
	if (vm->host->overtime && vm->host->overtime(vm))
		return HIPEC_EXIT_OVERTIME;
	return 0;
}

/* Note why an event ended, and where: at word number @word of the policy. */
static inline void hipec_note_end(const struct hipec_vm *vm, struct hipec_exit *e,
				  u32 kind, u32 word)
{
	const struct hipec_policy *p = vm->policy;
	u32 n = 0;

	while (word - p->event[n].first >= p->event[n].nr)
		n++;
	e->kind = kind;
	e->event = p->event[n].number;
	e->command = word - p->event[n].first;
	e->line = p->lines ? p->lines[word] : 0;
	e->word = p->words[word];
}

/*
 * An event ends because of @kind, not 0. @word is the command to blame: the next
 * one where a guard ends it. Return: as hipec_vm_run().
 */
static inline int hipec_end_event(struct hipec_vm *vm, u32 kind, u32 word)
{
	if (kind == HIPEC_EXIT_OVERTIME) {
		hipec_note_end(vm, &vm->late, kind, word);
		vm->nr_late++;
		return -ETIMEDOUT;
	}
	hipec_note_end(vm, &vm->exit, kind, word);
	return -ECANCELED;
}

/* Whether @kind is a guard's, which looks between two commands. */
static inline bool hipec_is_guard(u32 kind)
{
	return kind == HIPEC_EXIT_FUEL || kind == HIPEC_EXIT_OVERTIME;
}

#endif /* HIPEC_VM_END_H */
