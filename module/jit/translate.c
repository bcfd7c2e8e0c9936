// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy in instructions of eBPF: its entry, its commands, its ends, and what is out of
 * line. rows.c has the commands, control.c those that change the way.
 *
 * All events become one program. It is made twice: first counted, which gives each
 * command its place, then written. Commands are counted where a run of them ends that
 * is always run whole: RUN is raised before each jump and in front of each command that
 * something jumps to. What ends an event in between counts what is pending there.
 */
#include "emit.h"

static_assert(sizeof(struct hipec_vm) <= 32767, "offsets have 16 bits");
static_assert(sizeof(struct hipec_insn) == 8, "a command goes to its handler in one register");
static_assert(HIPEC_JIT_MAX_INSNS <= 32767, "so have the ways of jumps");
static_assert(2 * HIPEC_NR_EVENTS <= HIPEC_JIT_MAX_STACK, "2 bytes for each event");

/* Events that run most come first. */
static u32 event_in_order(const struct hipec_policy *p, u32 i)
{
	static const u8 first[] = { HIPEC_EVENT_ACCESS, HIPEC_EVENT_PAGEFAULT,
				    HIPEC_EVENT_REPLACE };
	u32 k, n;

	for (k = 0; k < ARRAY_SIZE(first); k++)
		if (p->index[first[k]] && !i--)
			return p->index[first[k]] - 1;
	for (n = 0;; n++) {
		for (k = 0; k < ARRAY_SIZE(first); k++)
			if (p->event[n].number == first[k])
				break;
		if (k == ARRAY_SIZE(first) && !i--)
			return n;
	}
}

/* Where an event begins when the host runs it. */
static u32 entry_of(const struct hipec_jit *j, u32 row)
{
	return j->callers[row] ? j->entry[row] :
				 j->place[j->vm->policy->event[row].first + 1].code;
}

static void emit_entry(struct hipec_jit *j)
{
	const struct hipec_policy *p = j->vm->policy;
	u32 nr = p->image->nr_events, i;

	alu(j, BPF_MOV, VM, BPF_REG_1);
	load(j, BPF_W, BPF_REG_0, VM, VM_OFFSET(native.event));
	load(j, BPF_DW, LOOK, VM, VM_OFFSET(native.look));
	load(j, BPF_DW, PAGES, VM, VM_OFFSET(page));
	set32(j, RUN, 0);
	for (i = 0; i < nr; i++) {
		u32 row = event_in_order(p, i);

		jump_if(j, test_imm(BPF_JEQ, BPF_REG_0, p->event[row].number),
			entry_of(j, row));
	}
	/* No such event: the module's own mistake. */
	set32(j, BPF_REG_0, HIPEC_EXIT_BROKEN);
	set32(j, BPF_REG_2, 0);
	jump(j, j->ended);
	for (i = 0; i < nr; i++) {
		if (!j->callers[i])
			continue;
		j->entry[i] = j->nr;
		store_imm(j, BPF_H, BPF_REG_10, hipec_jit_caller(i), 0);
		jump(j, j->place[p->event[i].first + 1].code);
	}
}

/* R0 is why the event ends, R2 the word to blame. */
static void emit_ends(struct hipec_jit *j)
{
	j->done = j->nr;
	set32(j, BPF_REG_0, 0);
	j->out = j->nr;
	store(j, BPF_DW, VM, VM_OFFSET(native.nr_run), RUN);
	put(j, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	j->ended = j->nr;
	store(j, BPF_W, VM, VM_OFFSET(native.word), BPF_REG_2);
	jump(j, j->out);
}

static void emit_event(struct hipec_jit *j, const struct hipec_image_event *e)
{
	u32 pc;

	j->pending = 0;
	for (pc = 1; pc < e->nr; pc++) {
		u32 word = e->first + pc;

		if (j->fused == word)
			continue;
		if (j->place[word].leader)
			count(j);
		j->place[word].code = j->nr;
		j->pending++;
		hipec_jit_row(hipec_word_op(word_of(j, word)))(j, word);
	}
}

/* The word that a guard blames: the one that would be next. */
static u32 next_word(const struct hipec_jit *j, u32 word)
{
	u32 w = word_of(j, word);

	if (hipec_word_op(w) == HIPEC_OP_CALL)
		return hipec_jit_event(j, hipec_word_a(w))->first + 1;
	return hipec_jit_target(j, word);
}

static void emit_stub(struct hipec_jit *j, u32 word)
{
	struct hipec_jit_place *at = &j->place[word];
	u32 blame = word;

	at->stub = j->nr;
	switch ((enum stub_kind)at->kind) {
	case STUB_NONE:
		return;
	case STUB_END:
		break;
	case STUB_CALL:
		call(j, word, hipec_word_op(word_of(j, word)));
		break;
	case STUB_ARITH:
		call(j, word, HIPEC_JIT_CALL_ARITH);
		jump_if_kind(j, BPF_JEQ, at->back);
		break;
	case STUB_LOOK:
		alu(j, BPF_MOV, BPF_REG_1, VM);
		alu(j, BPF_MOV, BPF_REG_2, RUN);
		put(j, BPF_JMP | BPF_CALL, 0, 0, 0, HIPEC_JIT_CALL_LOOK);
		load(j, BPF_DW, LOOK, VM, VM_OFFSET(native.look));
		jump_if_kind(j, BPF_JEQ, at->back);
		blame = next_word(j, word);
		break;
	}
	set32(j, BPF_REG_2, blame);
	if (at->pending)
		alu_imm(j, BPF_ADD, RUN, at->pending);
	jump(j, j->ended);
}

static void emit_all(struct hipec_jit *j)
{
	const struct hipec_policy *p = j->vm->policy;
	u32 i;

	j->nr = 0;
	j->fused = 0;
	emit_entry(j);
	for (i = 0; i < p->image->nr_events; i++)
		emit_event(j, &p->event[i]);
	emit_ends(j);
	for (i = 0; i < p->image->nr_words; i++)
		emit_stub(j, i);
}

/* Where something goes but from the command before; how often events are called. */
static void find_leaders(struct hipec_jit *j)
{
	const struct hipec_policy *p = j->vm->policy;
	u32 i, pc;

	for (i = 0; i < p->image->nr_events; i++) {
		const struct hipec_image_event *e = &p->event[i];

		j->place[e->first + 1].leader = true;
		for (pc = 1; pc < e->nr; pc++) {
			u32 w = p->words[e->first + pc];

			if (hipec_word_op(w) == HIPEC_OP_JUMP)
				j->place[e->first + hipec_word_target(w)].leader = true;
			if (hipec_word_op(w) != HIPEC_OP_CALL)
				continue;
			j->callers[p->index[hipec_word_a(w)] - 1]++;
			/* Call never ends an event. */
			j->place[e->first + pc + 1].leader = true;
		}
	}
}

/**
 * hipec_jit_plan() - find out how many instructions a policy takes
 * @j:     to fill
 * @vm:    machine as hipec_vm_init() made it; must outlive @j
 * @place: zeros, as many as the policy has words, for @j
 *
 * Time is linear in the policy's length.
 * Return: instructions; -E2BIG if there are too many words, instructions or
 *         commands that call one event; -ENOENT if the policy has no event.
 */
int hipec_jit_plan(struct hipec_jit *j, const struct hipec_vm *vm,
		   struct hipec_jit_place *place)
{
	const struct hipec_policy *p = vm->policy;
	u32 i;

	if (!p->image->nr_events)
		return -ENOENT;
	if (p->image->nr_words > HIPEC_JIT_MAX_WORDS)
		return -E2BIG;
	memset(j, 0, sizeof(*j));
	j->vm = vm;
	j->place = place;
	find_leaders(j);
	for (i = 0; i < p->image->nr_events; i++)
		if (j->callers[i] > HIPEC_JIT_MAX_CALLERS)
			return -E2BIG;
	emit_all(j);
	return j->nr <= HIPEC_JIT_MAX_INSNS ? (int)j->nr : -E2BIG;
}

/**
 * hipec_jit_emit() - write a policy's instructions
 * @j:    as hipec_jit_plan() has filled it
 * @insn: room for as many as that has returned
 *
 * The imm of each call is a HIPEC_OP_* or HIPEC_JIT_CALL_*.
 *
 * Time is linear in the policy's length.
 */
void hipec_jit_emit(struct hipec_jit *j, struct bpf_insn *insn)
{
	j->insn = insn;
	emit_all(j);
}

/**
 * hipec_jit_stack() - bytes of stack that a policy's instructions use
 * @vm: machine
 *
 * Return: bytes; HIPEC_JIT_MAX_STACK at most.
 */
u32 hipec_jit_stack(const struct hipec_vm *vm)
{
	return (2 * vm->policy->image->nr_events + 7) & ~7u;
}
