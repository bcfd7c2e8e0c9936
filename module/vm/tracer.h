/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tracer on a machine: all that its host does to it, and all that its policy asks
 * of the host, as entries of uapi/hipec_record.h. What a policy decides follows
 * from these, so whoever does the same to another machine, and gives the same
 * answers, gets the same entries.
 *
 * Interface:
 * hipec_tracer_open(), _close()  from now on, no longer
 * hipec_tracer_run()        run an event
 * hipec_tracer_note()            an entry of one or two numbers
 * hipec_tracer_read()       read an element of an array
 * hipec_tracer_snapshot()   the machine as it is, from HIPEC_RECORD's head on
 * hipec_tracer_set_input()  what the host sets before an event
 * hipec_tracer_entry_*()    entries
 *
 * A machine without a tracer pays with one test where it would be told.
 */
#ifndef HIPEC_VM_TRACER_H
#define HIPEC_VM_TRACER_H

#include "vm.h"
#include "../include/uapi/hipec_record.h"

/**
 * struct hipec_tracer - where entries go
 * @put:  takes an entry; must not touch the machine
 * @fill: NULL, or called before an element of a shared array is read
 * @host: of the machine
 * @reported: inputs of the last event
 */
struct hipec_tracer {
	void (*put)(struct hipec_tracer *tracer, const u8 *entry, u32 nr);
	void (*fill)(struct hipec_tracer *tracer, s64 *element);
	const struct hipec_host_ops *host;
	s64 reported[HIPEC_RECORD_INPUTS];
};

struct hipec_entry {
	u8 byte[HIPEC_RECORD_MAX_ENTRY];
	u32 nr;
};

void hipec_tracer_entry_begin(struct hipec_entry *e, u8 code);
void hipec_tracer_entry_number(struct hipec_entry *e, u64 n);

void hipec_tracer_open(struct hipec_vm *vm, struct hipec_tracer *tracer);
void hipec_tracer_close(struct hipec_vm *vm);
void hipec_tracer_put(struct hipec_vm *vm, u8 code, u64 a, u64 b);
s64 hipec_tracer_read(struct hipec_vm *vm, u8 slot, s64 *element);
void hipec_tracer_begin(struct hipec_vm *vm, u32 event);
void hipec_tracer_end(struct hipec_vm *vm, int ret, u64 commands);
size_t hipec_tracer_snapshot_size(const struct hipec_vm *vm);
void *hipec_tracer_snapshot(const struct hipec_vm *vm, u32 nr_frames, void *out);
void hipec_tracer_set_input(struct hipec_vm *vm, u32 i, s64 value);
u32 hipec_tracer_entry_numbers(u8 code);

/* An entry of as many numbers as its row has, up to two. */
static __always_inline void hipec_tracer_note(struct hipec_vm *vm, u8 code, u64 a, u64 b)
{
	if (unlikely(vm->tracer))
		hipec_tracer_put(vm, code, a, b);
}

/* Run an event, and tell the tracer. */
static inline int hipec_tracer_run(struct hipec_vm *vm, u32 event)
{
	u64 commands;
	int ret;

	if (likely(!vm->tracer))
		return hipec_vm_run(vm, event);
	commands = vm->nr_commands;
	hipec_tracer_begin(vm, event);
	ret = hipec_vm_run(vm, event);
	hipec_tracer_end(vm, ret, commands);
	return ret;
}

/* Fold a signed number, so that small ones are short. */
static inline u64 hipec_entry_fold(s64 n)
{
	return (u64)n << 1 ^ (n < 0 ? ~0ull : 0);
}

static inline s64 hipec_entry_unfold(u64 n)
{
	return (s64)(n >> 1 ^ (n & 1 ? ~0ull : 0));
}

#endif /* HIPEC_VM_TRACER_H */
