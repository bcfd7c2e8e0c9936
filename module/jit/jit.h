/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Native code for a policy: its commands become instructions of eBPF, which the
 * kernel's own JIT compiles. The interpreter (vm/run.c) is the reference: the same
 * commands, counts, looks at fuel and time, and exits, so which of both runs an event
 * cannot be told from the machine that it leaves behind.
 *
 * Interface:
 * hipec_jit_plan()   how many instructions a policy takes, and where they go
 * hipec_jit_emit()   the instructions
 * hipec_jit_start(), _stop()  give a machine native code, take it away (load.c, kernel)
 *
 * plan and emit are freestanding; user space has them for the tests and for ampc.
 *
 * What the translation believes, and nothing else, is that hipec_verify() has accepted
 * the policy and that hipec_vm_init() has made the machine. It does not look at what
 * values are later: each index, divisor and page is compared when the command runs.
 */
#ifndef HIPEC_JIT_JIT_H
#define HIPEC_JIT_JIT_H

#include <linux/bpf.h>

#include "../vm/vm.h"

/* Longer policies are interpreted. Jumps reach 32767 instructions. */
#define HIPEC_JIT_MAX_WORDS 4096
#define HIPEC_JIT_MAX_INSNS 16384
#define HIPEC_JIT_MAX_STACK 512	/* bytes */

/* Events that more commands call are not translated: each return asks for whom. */
#define HIPEC_JIT_MAX_CALLERS 32

/*
 * What a call's imm names until it is an address: the command's operator, whose
 * handler is called, or one of these.
 */
enum hipec_jit_call {
	HIPEC_JIT_CALL_LOOK = 256,	/* hipec_native_look() */
	HIPEC_JIT_CALL_ARITH,		/* hipec_native_arith() */
	HIPEC_JIT_NR_CALLS
};

/* Of one word: where its instructions are, and those that it needs seldom. */
struct hipec_jit_place {
	u16 code;	/* its first instruction */
	u16 stub;	/* the first that is out of line */
	u16 back;	/* where that goes on */
	u16 pending;	/* commands behind the last count, its own included */
	u8 kind;	/* enum stub_kind: what is out of line */
	u8 leader;	/* others than the command before it go there */
};

/**
 * struct hipec_jit - a translation
 * @vm:       machine that was made from the policy; only what never changes is read
 * @place:    a row for each of the policy's words, given by the caller
 * @insn:     where instructions go; NULL: they are counted
 * @nr:       instructions so far
 * @entry:    by row of the event, if it is called: where the host's run begins
 * @callers:  by row of the event: how many commands call it
 * @pending:  commands that are not counted yet
 * @fused:    word that the one before it has done; 0: none
 * @done, @out, @ended: instructions that an event ends with
 */
struct hipec_jit {
	const struct hipec_vm *vm;
	struct hipec_jit_place *place;
	struct bpf_insn *insn;
	u32 nr;
	u16 entry[HIPEC_NR_EVENTS];
	u16 callers[HIPEC_NR_EVENTS];
	u32 pending;
	u32 fused;
	u32 done, out, ended;
};

int hipec_jit_plan(struct hipec_jit *j, const struct hipec_vm *vm,
		   struct hipec_jit_place *place);
void hipec_jit_emit(struct hipec_jit *j, struct bpf_insn *insn);
u32 hipec_jit_stack(const struct hipec_vm *vm);

#endif /* HIPEC_JIT_JIT_H */
