/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between control.c, rows.c and translate.c, each of which uses those before it:
 * instructions of eBPF, and the registers that they use.
 *
 * R0 to R5 are for one command; calls change them.
 */
#ifndef HIPEC_JIT_EMIT_H
#define HIPEC_JIT_EMIT_H

#include "jit.h"

#define VM BPF_REG_6	/* the machine */
#define RUN BPF_REG_7	/* commands run, those since the last count left out */
#define LOOK BPF_REG_8	/* native.look */
#define PAGES BPF_REG_9	/* the page table */

/* Out of line, of a command. */
enum stub_kind {
	STUB_NONE,
	STUB_END,	/* its handler has ended the event */
	STUB_CALL,	/* call its handler, which ends the event */
	STUB_ARITH,	/* call hipec_native_arith(), go on where it lets */
	STUB_LOOK,	/* call hipec_native_look(), likewise */
};

/* A test: whether @op, a BPF_J*, holds of @dst and of @src, or @imm if @is_imm. */
struct test {
	u8 op, dst, src;
	bool is_imm;
	s32 imm;
};

/* control.c */
const struct hipec_image_event *hipec_jit_event(const struct hipec_jit *j, u32 number);
u32 hipec_jit_target(const struct hipec_jit *j, u32 word);
s16 hipec_jit_caller(u32 row);
bool hipec_jit_stays(u32 w);
bool hipec_jit_fuses(const struct hipec_jit *j, u32 word);
void hipec_jit_finish(struct hipec_jit *j, u32 word, struct test t);
void hipec_jit_return(struct hipec_jit *j, u32 word);
void hipec_jit_jump(struct hipec_jit *j, u32 word);
void hipec_jit_call(struct hipec_jit *j, u32 word);

/* rows.c: how a command is translated. */
typedef void hipec_jit_translate(struct hipec_jit *j, u32 word);
hipec_jit_translate *hipec_jit_row(u8 op);

static inline u32 word_of(const struct hipec_jit *j, u32 word)
{
	return j->vm->policy->words[word];
}

static inline void put(struct hipec_jit *j, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	if (j->insn)
		j->insn[j->nr] = (struct bpf_insn){
			.code = code, .dst_reg = dst, .src_reg = src,
			.off = off, .imm = imm,
		};
	j->nr++;
}

/* dst = dst @op src, in 64 bits. */
static inline void alu(struct hipec_jit *j, u8 op, u8 dst, u8 src)
{
	put(j, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

static inline void alu_imm(struct hipec_jit *j, u8 op, u8 dst, s32 imm)
{
	put(j, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

/* dst = imm, whose upper half is 0. */
static inline void set32(struct hipec_jit *j, u8 dst, u32 imm)
{
	put(j, BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

/* @size: BPF_B, BPF_H, BPF_W, BPF_DW; what is loaded is extended with zeros. */
static inline void load(struct hipec_jit *j, u8 size, u8 dst, u8 base, s16 off)
{
	put(j, BPF_LDX | BPF_MEM | size, dst, base, off, 0);
}

static inline void store(struct hipec_jit *j, u8 size, u8 base, s16 off, u8 src)
{
	put(j, BPF_STX | BPF_MEM | size, base, src, off, 0);
}

static inline void store_imm(struct hipec_jit *j, u8 size, u8 base, s16 off, s32 imm)
{
	put(j, BPF_ST | BPF_MEM | size, base, 0, off, imm);
}

/* From the next instruction to number @to. */
static inline s16 way(const struct hipec_jit *j, u32 to)
{
	return (s16)(to - (j->nr + 1));
}

static inline void jump(struct hipec_jit *j, u32 to)
{
	put(j, BPF_JMP | BPF_JA, 0, 0, way(j, to), 0);
}

/* Go to instruction @to if @t holds. */
static inline void jump_if(struct hipec_jit *j, struct test t, u32 to)
{
	put(j, BPF_JMP | t.op | (t.is_imm ? BPF_K : BPF_X), t.dst, t.is_imm ? 0 : t.src,
	    way(j, to), t.is_imm ? t.imm : 0);
}

static inline struct test test_imm(u8 op, u8 dst, s32 imm)
{
	return (struct test){ .op = op, .dst = dst, .is_imm = true, .imm = imm };
}

static inline struct test test_reg(u8 op, u8 dst, u8 src)
{
	return (struct test){ .op = op, .dst = dst, .src = src };
}

/* Skip the next @nr instructions if the test holds. */
static inline void skip_if(struct hipec_jit *j, struct test t, u32 nr)
{
	jump_if(j, t, j->nr + 1 + nr);
}

#define VM_OFFSET(member) ((s16)offsetof(struct hipec_vm, member))

static inline s16 slot_offset(u8 slot)
{
	return offsetof(struct hipec_vm, slot) + slot * sizeof(s64);
}

static inline void load_slot(struct hipec_jit *j, u8 dst, u8 slot)
{
	load(j, BPF_DW, dst, VM, slot_offset(slot));
}

static inline void store_slot(struct hipec_jit *j, u8 slot, u8 src)
{
	store(j, BPF_DW, VM, slot_offset(slot), src);
}

static inline void set_condition(struct hipec_jit *j, bool value)
{
	store_imm(j, BPF_B, VM, VM_OFFSET(condition), value);
}

/* What was run since the last count is counted. */
static inline void count(struct hipec_jit *j)
{
	if (j->pending)
		alu_imm(j, BPF_ADD, RUN, j->pending);
	j->pending = 0;
}

/* @word's command has something out of line. Return: where. */
static inline u32 want_stub(struct hipec_jit *j, u32 word, enum stub_kind kind)
{
	j->place[word].kind = kind;
	j->place[word].pending = j->pending;
	return j->place[word].stub;
}

/* R1 = vm, R2 = the command, and call: as the interpreter calls a handler. */
static inline void call(struct hipec_jit *j, u32 word, u32 function)
{
	u32 w = word_of(j, word);

	set32(j, BPF_REG_2, (u32)hipec_word_a(w) << 8 | (u32)hipec_word_b(w) << 16 |
	      (u32)hipec_word_c(w) << 24);
	alu(j, BPF_MOV, BPF_REG_1, VM);
	put(j, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* If R0, 32 bits of which a call returns, is 0 (@op BPF_JEQ) or is not (BPF_JNE). */
static inline void jump_if_kind(struct hipec_jit *j, u8 op, u32 to)
{
	put(j, BPF_JMP32 | op | BPF_K, BPF_REG_0, 0, way(j, to), 0);
}

#endif /* HIPEC_JIT_EMIT_H */
