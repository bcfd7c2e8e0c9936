// SPDX-License-Identifier: GPL-2.0-only
/*
 * What -S --jit prints: the instructions of eBPF that module/jit makes of a policy, in
 * their order, behind the commands that they are of. Text as bpftool has it, but that
 * the registers of emit.h and the functions that are called have their names.
 *
 * Interface:
 * ampc_ebpf()  print them
 */
#include <errno.h>
#include <stdlib.h>

#include "../module/jit/jit.h"
#include "ampc.h"

#define LINE 256

static const char *const name_of[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "vm", "run", "look", "pages", "fp",
};

static const char *dst(const struct bpf_insn *i)
{
	return name_of[i->dst_reg];
}

static const char *size_of(const struct bpf_insn *i)
{
	static const char *const text[] = {
		[BPF_W >> 3] = "u32", [BPF_H >> 3] = "u16", [BPF_B >> 3] = "u8",
		[BPF_DW >> 3] = "u64",
	};

	return text[BPF_SIZE(i->code) >> 3];
}

/* The second operand. */
static const char *source_of(const struct bpf_insn *i)
{
	static char text[16];

	if (BPF_SRC(i->code) == BPF_X)
		return name_of[i->src_reg];
	snprintf(text, sizeof(text), "%d", i->imm);
	return text;
}

static const char *alu_sign(u8 code)
{
	switch (BPF_OP(code)) {
	case BPF_ADD: return "+=";
	case BPF_SUB: return "-=";
	case BPF_MUL: return "*=";
	case BPF_DIV: return "/=";
	case BPF_MOD: return "%=";
	case BPF_OR: return "|=";
	case BPF_AND: return "&=";
	case BPF_XOR: return "^=";
	case BPF_LSH: return "<<=";
	case BPF_RSH: return ">>=";
	case BPF_ARSH: return "s>>=";
	}
	return "=";
}

static const char *jump_sign(u8 code)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ: return "==";
	case BPF_JGT: return ">";
	case BPF_JGE: return ">=";
	case BPF_JSGT: return "s>";
	case BPF_JSGE: return "s>=";
	case BPF_JSLT: return "s<";
	case BPF_JSLE: return "s<=";
	}
	return "!=";
}

static void print_call(const struct bpf_insn *i, FILE *out)
{
	if (i->imm == HIPEC_JIT_CALL_LOOK)
		fprintf(out, "call look\n");
	else if (i->imm == HIPEC_JIT_CALL_ARITH)
		fprintf(out, "call arith\n");
	else
		fprintf(out, "call %s\n", hipec_ops[i->imm].word);
}

static void print_jump(const struct bpf_insn *i, u32 at, FILE *out)
{
	u32 to = at + 1 + i->off;

	if (BPF_OP(i->code) == BPF_EXIT)
		fprintf(out, "exit\n");
	else if (BPF_OP(i->code) == BPF_CALL)
		print_call(i, out);
	else if (BPF_OP(i->code) == BPF_JA)
		fprintf(out, "goto %u\n", to);
	else
		fprintf(out, "if %s%s %s %s goto %u\n", dst(i),
			BPF_CLASS(i->code) == BPF_JMP32 ? ".32" : "", jump_sign(i->code),
			source_of(i), to);
}

static void print_insn(const struct bpf_insn *i, u32 at, FILE *out)
{
	fprintf(out, "%14u  ", at);
	switch (BPF_CLASS(i->code)) {
	case BPF_LDX:
		fprintf(out, "%s = *(%s *)(%s %+d)\n", dst(i), size_of(i),
			name_of[i->src_reg], i->off);
		break;
	case BPF_ST:
		fprintf(out, "*(%s *)(%s %+d) = %d\n", size_of(i), dst(i), i->off, i->imm);
		break;
	case BPF_STX:
		fprintf(out, "*(%s *)(%s %+d) = %s\n", size_of(i), dst(i), i->off,
			name_of[i->src_reg]);
		break;
	case BPF_ALU:
	case BPF_ALU64:
		fprintf(out, "%s%s %s %s\n", dst(i),
			BPF_CLASS(i->code) == BPF_ALU ? ".32" : "", alu_sign(i->code),
			source_of(i));
		break;
	default:
		print_jump(i, at, out);
	}
}

/* One translation, and what it is of. */
struct text {
	const struct hipec_policy *p;
	struct hipec_jit jit;
	struct hipec_jit_place *place;
	struct bpf_insn *insn;
	FILE *out;
};

static void print_command(const struct text *t, u32 word, u32 number)
{
	char line[LINE];
	struct hipec_text text;

	hipec_text_init(&text, line, sizeof(line));
	hipec_disasm(t->p, t->p->words[word], &text);
	fprintf(t->out, "%6u  %s\n", number, line);
}

/* What instruction @at begins with: a command, or what is out of line. */
static void print_heads(const struct text *t, u32 at)
{
	u32 i, pc;

	for (i = 0; i < t->p->image->nr_events; i++) {
		const struct hipec_image_event *e = &t->p->event[i];

		for (pc = 1; pc < e->nr; pc++) {
			const struct hipec_jit_place *place = &t->place[e->first + pc];

			/* What another has done has no place; the entry comes first. */
			if (pc == 1 && place->code == at)
				fprintf(t->out, "\nevent %u %s\n", e->number,
					hipec_policy_name(t->p, e->name));
			if (place->code == at && at)
				print_command(t, e->first + pc, pc);
			if (place->kind && place->stub == at)
				fprintf(t->out, "\nout of line, %s+%u\n",
					hipec_policy_name(t->p, e->name), pc);
		}
	}
	if (at == t->jit.done)
		fprintf(t->out, "\nends\n");
}

static int translate(struct text *t, struct hipec_vm *vm)
{
	int nr;

	t->place = calloc(t->p->image->nr_words + 1, sizeof(*t->place));
	if (!t->place)
		return -ENOMEM;
	nr = hipec_jit_plan(&t->jit, vm, t->place);
	if (nr < 0)
		return nr;
	t->insn = calloc(nr, sizeof(*t->insn));
	if (!t->insn)
		return -ENOMEM;
	hipec_jit_emit(&t->jit, t->insn);
	return 0;
}

/**
 * ampc_ebpf() - print a policy's instructions of eBPF
 * @p:   parsed and verified
 * @out: where to
 *
 * Return: 0; -E2BIG, which is said, if the policy is interpreted since it is so long;
 *         -ENOMEM.
 */
int ampc_ebpf(const struct hipec_policy *p, FILE *out)
{
	static const struct hipec_host_ops host;
	struct text t = { .p = p, .out = out };
	struct hipec_vm *vm = calloc(1, sizeof(*vm));
	void *memory = calloc(1, hipec_vm_size(p, 1) + 1);
	void *shared = calloc(1, p->shared_size + 1);
	int ret = -ENOMEM;
	u32 at;

	if (vm && memory && shared) {
		hipec_vm_init(vm, p, &host, memory, shared, 1);
		ret = translate(&t, vm);
	}
	if (ret == -E2BIG)
		fprintf(stderr, "ampc: the policy is too long for native code\n");
	else if (ret)
		perror("ampc");
	for (at = 0; !ret && at < t.jit.nr; at++) {
		print_heads(&t, at);
		print_insn(&t.insn[at], at, out);
	}
	free(t.insn);
	free(t.place);
	free(shared);
	free(memory);
	free(vm);
	return ret;
}
