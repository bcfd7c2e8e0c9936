// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy's control flow in instructions of eBPF: conditions, jumps, calls of events,
 * returns.
 *
 * A call of an event writes the number of the word that calls into 2 bytes of the
 * event's own on the stack; no event is under way twice, for calls form no cycle. Its
 * Return compares them with each word that calls it; 0 is the host.
 */
#include "emit.h"

/* The event with a number. */
const struct hipec_image_event *hipec_jit_event(const struct hipec_jit *j, u32 number)
{
	const struct hipec_policy *p = j->vm->policy;

	return &p->event[p->index[number] - 1];
}

/* Row of the event that @word belongs to. */
static u32 row_of(const struct hipec_jit *j, u32 word)
{
	const struct hipec_image_event *e = j->vm->policy->event;
	u32 n = 0;

	while (word - e[n].first >= e[n].nr)
		n++;
	return n;
}

/* The word that a Jump goes to. */
u32 hipec_jit_target(const struct hipec_jit *j, u32 word)
{
	return j->vm->policy->event[row_of(j, word)].first +
	       hipec_word_target(word_of(j, word));
}

/* From the stack's end to the 2 bytes of an event. */
s16 hipec_jit_caller(u32 row)
{
	return -2 * ((s16)row + 1);
}

static struct test opposite(struct test t)
{
	static const u8 op[256] = {
		[BPF_JEQ] = BPF_JNE, [BPF_JNE] = BPF_JEQ,
		[BPF_JSGT] = BPF_JSLE, [BPF_JSLE] = BPF_JSGT,
		[BPF_JSLT] = BPF_JSGE, [BPF_JSGE] = BPF_JSLT,
	};

	t.op = op[t.op];
	return t;
}

/*
 * Whether a command never ends the policy, and so never shows what the condition is. Of a
 * command that is not listed nothing is believed.
 */
bool hipec_jit_stays(u32 w)
{
	u8 selector = hipec_word_c(w);

	switch (hipec_word_op(w)) {
	case HIPEC_OP_ARITH:
		return selector != HIPEC_ARITH_DIV && selector != HIPEC_ARITH_MOD;
	case HIPEC_OP_COMP:
	case HIPEC_OP_LOGIC:
	case HIPEC_OP_EMPTYQ:
	case HIPEC_OP_INQ:
	case HIPEC_OP_DEQUEUE:
	case HIPEC_OP_FINDPA:
	case HIPEC_OP_LENGTH:
	case HIPEC_OP_PEEK:
	case HIPEC_OP_RESIDENT:
	case HIPEC_OP_COPY:
	case HIPEC_OP_SAME:
		return true;
	}
	return false;
}

/*
 * Whether the condition is set anew from @word on before anything reads it: a few
 * commands are looked at. A look at fuel may end the policy too.
 */
static bool is_condition_dead(const struct hipec_jit *j, u32 word)
{
	u32 i;

	for (i = 0; i < 8; i++) {
		u32 w = word_of(j, word);

		if (hipec_word_op(w) == HIPEC_OP_JUMP) {
			if (hipec_word_a(w) != HIPEC_COND_ALWAYS ||
			    hipec_jit_target(j, word) <= word)
				return false;
			word = hipec_jit_target(j, word);
			continue;
		}
		if (!hipec_jit_stays(w))
			return false;
		if (hipec_ops[hipec_word_op(w)].flags & HIPEC_OPF_TEST)
			return true;
		word++;
	}
	return false;
}

/* Set the condition that @word is run with, if anything looks at it. */
static void settle_condition(struct hipec_jit *j, u32 word, bool value)
{
	if (!is_condition_dead(j, word))
		set_condition(j, value);
}

/* Fuel and time, where they are due. What @word's stub finds out goes on here. */
static void look(struct hipec_jit *j, u32 word)
{
	jump_if(j, test_reg(BPF_JGT, RUN, LOOK), want_stub(j, word, STUB_LOOK));
	j->place[word].back = j->nr;
}

/*
 * The Jump at @word, taken if @t holds; then the condition is @value. @unset: it is
 * not in memory yet.
 */
static void branch(struct hipec_jit *j, u32 word, struct test t, bool value, bool unset)
{
	u32 to = hipec_jit_target(j, word);

	if (to > word) {
		if (unset)
			settle_condition(j, to, value);
		jump_if(j, t, j->place[to].code);
	} else {
		skip_if(j, opposite(t), 2 + unset);
		if (unset)
			set_condition(j, value);
		look(j, word);
		jump(j, j->place[to].code);
	}
	if (unset)
		settle_condition(j, word + 1, !value);
}

/* Whether the command behind @word jumps on its outcome, and only comes from it. */
bool hipec_jit_fuses(const struct hipec_jit *j, u32 word)
{
	u32 next = word_of(j, word + 1);

	return hipec_word_op(next) == HIPEC_OP_JUMP &&
	       hipec_word_a(next) != HIPEC_COND_ALWAYS && !j->place[word + 1].leader;
}

/* The condition of @word's command is whether @t holds: note it, or jump. */
void hipec_jit_finish(struct hipec_jit *j, u32 word, struct test t)
{
	bool want = hipec_word_a(word_of(j, word + 1)) == HIPEC_COND_IF;

	if (hipec_jit_fuses(j, word)) {
		j->fused = word + 1;
		j->pending++;
		count(j);
		branch(j, word + 1, want ? t : opposite(t), want, true);
		return;
	}
	set_condition(j, true);
	skip_if(j, t, 1);
	set_condition(j, false);
}

void hipec_jit_jump(struct hipec_jit *j, u32 word)
{
	u8 cond = hipec_word_a(word_of(j, word));
	u32 to = hipec_jit_target(j, word);

	count(j);
	if (cond != HIPEC_COND_ALWAYS) {
		load(j, BPF_B, BPF_REG_0, VM, VM_OFFSET(condition));
		branch(j, word, test_imm(cond == HIPEC_COND_IF ? BPF_JNE : BPF_JEQ,
					 BPF_REG_0, 0), cond == HIPEC_COND_IF, false);
		return;
	}
	if (to <= word)
		look(j, word);
	if (to != word + 1)
		jump(j, j->place[to].code);
}

void hipec_jit_call(struct hipec_jit *j, u32 word)
{
	const struct hipec_image_event *e = hipec_jit_event(j, hipec_word_a(word_of(j, word)));

	count(j);
	look(j, word);
	store_imm(j, BPF_H, BPF_REG_10, hipec_jit_caller(e - j->vm->policy->event), word);
	jump(j, j->place[e->first + 1].code);
}

void hipec_jit_return(struct hipec_jit *j, u32 word)
{
	u32 row = row_of(j, word), nr = j->callers[row], i;
	u8 number = j->vm->policy->event[row].number;

	count(j);
	if (nr)
		load(j, BPF_H, BPF_REG_0, BPF_REG_10, hipec_jit_caller(row));
	for (i = 0; nr; i++) {
		u32 w = word_of(j, i);

		/* The magic of an event is no Call. */
		if (hipec_word_op(w) != HIPEC_OP_CALL || hipec_word_a(w) != number ||
		    w == HIPEC_EVENT_MAGIC)
			continue;
		jump_if(j, test_imm(BPF_JEQ, BPF_REG_0, i), j->place[i + 1].code);
		nr--;
	}
	jump(j, j->done);
}
