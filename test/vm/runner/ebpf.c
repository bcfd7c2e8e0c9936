// SPDX-License-Identifier: GPL-2.0-only
/*
 * An interpreter of eBPF: the instructions that module/jit/emit.h has, and no others. It
 * reads and writes as they say, so that the sanitizers see where. What a call may change
 * is changed: R1 to R5, and the upper half of R0.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ebpf.h"

#define POISON 0xdeadbeefull

struct state {
	u64 reg[MAX_BPF_REG];
	u8 stack[HIPEC_JIT_MAX_STACK];
};

static void die(const struct bpf_insn *i)
{
	fprintf(stderr, "ebpf: code 0x%02x cannot be run\n", i->code);
	abort();
}

static u64 load(const struct bpf_insn *i, const void *at)
{
	switch (BPF_SIZE(i->code)) {
	case BPF_B:
		return *(const u8 *)at;
	case BPF_H:
		return *(const u16 *)at;
	case BPF_W:
		return *(const u32 *)at;
	}
	return *(const u64 *)at;
}

static void store(const struct bpf_insn *i, void *at, u64 value)
{
	switch (BPF_SIZE(i->code)) {
	case BPF_B:
		*(u8 *)at = value;
		break;
	case BPF_H:
		*(u16 *)at = value;
		break;
	case BPF_W:
		*(u32 *)at = value;
		break;
	default:
		*(u64 *)at = value;
	}
}

/* As the kernel's: a quotient by 0 is 0, a shift is by the lowest six bits. */
static u64 alu64(const struct bpf_insn *i, u64 a, u64 b)
{
	switch (BPF_OP(i->code)) {
	case BPF_ADD: return a + b;
	case BPF_SUB: return a - b;
	case BPF_MUL: return a * b;
	case BPF_DIV: return b ? a / b : 0;
	case BPF_MOD: return b ? a % b : a;
	case BPF_OR: return a | b;
	case BPF_AND: return a & b;
	case BPF_XOR: return a ^ b;
	case BPF_LSH: return a << (b & 63);
	case BPF_ARSH: return (s64)a >> (b & 63);
	case BPF_MOV: return b;
	}
	die(i);
	return 0;
}

static bool holds(const struct bpf_insn *i, u64 a, u64 b)
{
	switch (BPF_OP(i->code)) {
	case BPF_JA: return true;
	case BPF_JEQ: return a == b;
	case BPF_JNE: return a != b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	case BPF_JSGT: return (s64)a > (s64)b;
	case BPF_JSGE: return (s64)a >= (s64)b;
	case BPF_JSLT: return (s64)a < (s64)b;
	case BPF_JSLE: return (s64)a <= (s64)b;
	}
	die(i);
	return false;
}

static u32 call_handler(struct hipec_vm *vm, u32 op, struct hipec_insn i)
{
	switch (op) {
#define X(name, fn, ...) case HIPEC_OP_##name: return hipec_op_##fn(vm, i);
	HIPEC_COMMANDS_CALLED(X)
#undef X
	case HIPEC_JIT_CALL_ARITH:
		return hipec_native_arith(vm, i);
	}
	fprintf(stderr, "ebpf: there is no function %u\n", op);
	abort();
}

static void call(struct state *s, u32 function)
{
	struct hipec_vm *vm = (void *)s->reg[1];
	struct hipec_insn i;
	u32 ret, r;

	if (function == HIPEC_JIT_CALL_LOOK) {
		ret = hipec_native_look(vm, s->reg[2]);
	} else {
		memcpy(&i, &s->reg[2], sizeof(i));
		ret = call_handler(vm, function, i);
	}
	for (r = 1; r <= 5; r++)
		s->reg[r] = POISON << r;
	s->reg[0] = POISON << 32 | ret;
}

/* Operand b of an instruction, of 64 bits or, if @narrow, of 32. */
static u64 operand(const struct state *s, const struct bpf_insn *i, bool narrow)
{
	u64 b = BPF_SRC(i->code) == BPF_X ? s->reg[i->src_reg] : (u64)(s64)i->imm;

	return narrow ? (u32)b : b;
}

/* An instruction that is no exit. Return: how many to skip. */
static int step(struct state *s, const struct bpf_insn *i)
{
	u64 *dst = &s->reg[i->dst_reg];

	switch (BPF_CLASS(i->code)) {
	case BPF_LDX:
		*dst = load(i, (void *)(s->reg[i->src_reg] + i->off));
		return 0;
	case BPF_ST:
		store(i, (void *)(*dst + i->off), (s64)i->imm);
		return 0;
	case BPF_STX:
		store(i, (void *)(*dst + i->off), s->reg[i->src_reg]);
		return 0;
	case BPF_ALU64:
		*dst = alu64(i, *dst, operand(s, i, false));
		return 0;
	case BPF_ALU:
		*dst = (u32)alu64(i, (u32)*dst, operand(s, i, true));
		return 0;
	case BPF_JMP32:
		return holds(i, (u32)*dst, operand(s, i, true)) ? i->off : 0;
	case BPF_JMP:
		if (BPF_OP(i->code) != BPF_CALL)
			return holds(i, *dst, operand(s, i, false)) ? i->off : 0;
		call(s, i->imm);
		return 0;
	}
	die(i);
	return 0;
}

static unsigned int run(const void *vm, const struct bpf_insn *insn)
{
	struct state s;

	/* Nobody may count on what it finds. */
	memset(&s, 0x5a, sizeof(s));
	s.reg[1] = (u64)vm;
	s.reg[10] = (u64)(s.stack + sizeof(s.stack));
	while (insn->code != (BPF_JMP | BPF_EXIT))
		insn += 1 + step(&s, insn);
	return s.reg[0];
}

/* What the machine's own memory is: @off bytes from it on. */
static bool is_inside_vm(const struct bpf_insn *i)
{
	static const u8 bytes[] = { [BPF_W >> 3] = 4, [BPF_H >> 3] = 2,
				    [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8 };
	u32 nr = bytes[BPF_SIZE(i->code) >> 3];

	return i->off >= 0 && i->off % nr == 0 &&
	       i->off + nr <= sizeof(struct hipec_vm);
}

/* Whether an instruction writes what is read-only to a policy. */
static bool writes_what_it_may_not(const struct bpf_insn *i)
{
	size_t off = i->off, slot = offsetof(struct hipec_vm, slot);

	if (off == offsetof(struct hipec_vm, condition) ||
	    off == offsetof(struct hipec_vm, native.nr_run) ||
	    off == offsetof(struct hipec_vm, native.word))
		return false;
	return off < slot || off >= slot + HIPEC_SLOT_SYSTEM * sizeof(s64);
}

static const char *check_memory(const struct bpf_insn *i, u32 stack)
{
	bool writes = BPF_CLASS(i->code) != BPF_LDX;
	u8 base = writes ? i->dst_reg : i->src_reg;

	if (BPF_MODE(i->code) != BPF_MEM)
		return "memory is not accessed plainly";
	if (base == BPF_REG_10)
		return i->off < 0 && -i->off <= (s32)stack ? NULL :
			"an access outside the stack";
	if (base != BPF_REG_6)
		return base <= BPF_REG_1 ? NULL : "a base that is none";
	if (!is_inside_vm(i))
		return "an access outside the machine";
	if (writes && writes_what_it_may_not(i))
		return "what a policy may not write is written";
	return NULL;
}

static bool is_call_known(s32 function)
{
	switch (function) {
#define X(name, fn, ...) case HIPEC_OP_##name:
	HIPEC_COMMANDS_CALLED(X)
#undef X
	case HIPEC_JIT_CALL_LOOK:
	case HIPEC_JIT_CALL_ARITH:
		return true;
	}
	return false;
}

static const char *check_jump(const struct bpf_insn *insn, u32 nr, u32 at)
{
	const struct bpf_insn *i = &insn[at];
	s64 to = (s64)at + 1 + i->off;

	if (BPF_OP(i->code) == BPF_EXIT)
		return NULL;
	if (BPF_OP(i->code) == BPF_CALL)
		return is_call_known(i->imm) ? NULL : "a call of nothing";
	return to >= 0 && to < nr ? NULL : "a jump out of the program";
}

/*
 * Whether R6 to R10 keep what the entry gave them: only counts change RUN, only a look
 * changes LOOK.
 */
static const char *check_register(const struct bpf_insn *i, u32 at)
{
	if (at < 6 || i->dst_reg < BPF_REG_6)
		return NULL;
	if (i->dst_reg == BPF_REG_7 && i->code == (BPF_ALU64 | BPF_ADD | BPF_K) && i->imm > 0)
		return NULL;
	if (i->dst_reg == BPF_REG_8 && BPF_CLASS(i->code) == BPF_LDX &&
	    i->src_reg == BPF_REG_6 && i->off == offsetof(struct hipec_vm, native.look))
		return NULL;
	return "a register that is kept is changed";
}

/**
 * ebpf_check() - look at instructions without running them
 * @insn:  of a policy
 * @nr:    their number
 * @stack: bytes of stack that they may use
 *
 * Every access that names the machine or the stack is inside it; nothing is written in
 * the machine but slots of the policy, the condition and the outcome; every jump stays in
 * the program, which has no other end than its exits; every call is of a function that
 * exists; and the registers that hold the machine and its page table are never changed.
 *
 * Return: NULL, or what is wrong with them.
 */
const char *ebpf_check(const struct bpf_insn *insn, u32 nr, u32 stack)
{
	const char *wrong = NULL;
	u32 at;

	for (at = 0; at < nr && !wrong; at++) {
		const struct bpf_insn *i = &insn[at];

		switch (BPF_CLASS(i->code)) {
		case BPF_LDX:
			wrong = check_memory(i, stack) ?: check_register(i, at);
			break;
		case BPF_ST:
		case BPF_STX:
			wrong = check_memory(i, stack);
			break;
		case BPF_ALU:
		case BPF_ALU64:
			wrong = check_register(i, at);
			break;
		case BPF_JMP:
		case BPF_JMP32:
			wrong = check_jump(insn, nr, at);
			break;
		default:
			wrong = "an unknown instruction";
		}
	}
	if (!wrong && insn[nr - 1].code != (BPF_JMP | BPF_JA) &&
	    insn[nr - 1].code != (BPF_JMP | BPF_EXIT))
		wrong = "the last instruction falls through";
	return wrong;
}

/**
 * ebpf_start() - give a machine native code
 * @vm: as hipec_vm_init() made it
 *
 * Return: 0, also for a policy without commands, which stays as it is; -E2BIG as
 *         hipec_jit_plan(); -ENOMEM; -EFAULT if ebpf_check() finds something, which is
 *         printed.
 */
int ebpf_start(struct hipec_vm *vm)
{
	u32 nr_words = vm->policy->image->nr_words;
	struct hipec_jit_place *place = calloc(nr_words + 1, sizeof(*place));
	struct bpf_insn *insn;
	struct hipec_jit j;
	const char *wrong;
	int nr;

	if (!place)
		return -ENOMEM;
	nr = hipec_jit_plan(&j, vm, place);
	insn = nr > 0 ? calloc(nr, sizeof(*insn)) : NULL;
	if (insn)
		hipec_jit_emit(&j, insn);
	free(place);
	if (nr < 0)
		return nr == -ENOENT ? 0 : nr;
	if (!insn)
		return -ENOMEM;
	wrong = j.nr == (u32)nr ? ebpf_check(insn, nr, hipec_jit_stack(vm)) :
				  "not as many as were planned";
	if (wrong) {
		fprintf(stderr, "ebpf: %s\n", wrong);
		free(insn);
		return -EFAULT;
	}
	vm->native.code = insn;
	vm->native.insn = insn;
	vm->native.run = run;
	return 0;
}

/**
 * ebpf_stop() - take a machine's native code away
 * @vm: any machine
 */
void ebpf_stop(struct hipec_vm *vm)
{
	free(vm->native.code);
	memset(&vm->native, 0, sizeof(vm->native));
}
