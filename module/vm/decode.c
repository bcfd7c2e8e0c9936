// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands as the interpreter's loop wants them, made once, at load. What
 * policies do most, arithmetic and a test with the jump behind it, gets codes of
 * its own, so that the loop finds its selector without looking for it.
 */
#include "decode.h"

static u8 jump_code(u8 cond, bool back)
{
	static const u8 code[][2] = {
#define X(name, code_, ...) [code_] = { RUN_JUMP_##name, RUN_BACK_##name },
		HIPEC_CONDS(X)
#undef X
	};

	return code[cond][back];
}

static u8 arith_code(u8 selector)
{
	static const u8 code[] = {
#define X(name, code_, ...) [code_] = RUN_ARITH_##name,
		HIPEC_ARITHS(X)
#undef X
	};

	return code[selector];
}

static u8 logic_code(u8 selector)
{
	static const u8 code[] = {
#define X(name, code_, ...) [code_] = RUN_LOGIC_##name,
		HIPEC_LOGICS(X)
#undef X
	};

	return code[selector];
}

/* A test; @next is the command behind it, number @pc. */
static u8 comp_code(u8 selector, u32 next, u32 pc)
{
	static const u8 code[][3] = {
#define X(name, code_, ...)                                             \
		[code_] = { RUN_COMP_##name, RUN_COMP_IF_##name,        \
			    RUN_COMP_IFNOT_##name },
		HIPEC_COMPS(X)
#undef X
	};
	bool jump = hipec_word_op(next) == HIPEC_OP_JUMP &&
		    hipec_word_target(next) > pc;
	u8 cond = jump ? hipec_word_a(next) : HIPEC_COND_ALWAYS;

	return code[selector][cond == HIPEC_COND_IF ? 1 :
			      cond == HIPEC_COND_IFNOT ? 2 : 0];
}

static u8 called_code(u8 opcode, bool timed)
{
	static const u8 code[256][2] = {
#define X(name, fn, word, code_, ...)                                   \
		[code_] = { RUN_CALLED_##name, RUN_TIMED_##name },
		HIPEC_COMMANDS_CALLED(X)
#undef X
	};

	return code[opcode][timed];
}

/**
 * hipec_decode() - an event's commands as the interpreter wants them
 * @words: the magic and the commands of an event of a verified policy
 * @nr:    words
 * @code:  gets as many
 */
void hipec_decode(const u32 *words, u32 nr, struct hipec_insn *code)
{
	u32 pc;

	for (pc = 1; pc < nr; pc++) {
		u32 w = words[pc];
		u8 op = hipec_word_op(w);
		struct hipec_insn *i = &code[pc];

		i->a = hipec_word_a(w);
		i->b = hipec_word_b(w);
		i->c = hipec_word_c(w);
		switch (op) {
		case HIPEC_OP_RETURN:
			i->run = RUN_RETURN;
			break;
		case HIPEC_OP_CALL:
			i->run = RUN_CALL;
			break;
		case HIPEC_OP_EMPTYQ:
			i->run = RUN_EMPTYQ;
			break;
		case HIPEC_OP_INQ:
			i->run = RUN_INQ;
			break;
		case HIPEC_OP_JUMP:
			i->run = jump_code(i->a, hipec_word_target(w) <= pc);
			i->jump = ((s32)hipec_word_target(w) - (s32)(pc + 1)) *
				  (s32)sizeof(*i);
			break;
		case HIPEC_OP_ARITH:
			i->run = arith_code(i->c);
			break;
		case HIPEC_OP_LOGIC:
			i->run = logic_code(i->c);
			break;
		case HIPEC_OP_COMP:
			/* It does not end its event, so there is a next one. */
			i->run = comp_code(i->c, words[pc + 1], pc + 1);
			break;
		default:
			i->run = called_code(op, nr > HIPEC_STRAIGHT);
		}
	}
}
