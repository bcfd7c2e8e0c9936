/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between decode.c, which writes these codes, and run.c, which runs them.
 */
#ifndef HIPEC_VM_DECODE_H
#define HIPEC_VM_DECODE_H

#include "vm.h"

/*
 * Codes of the loop: one for each command that it calls, one for each selector
 * of those that it holds. No number is left out: objtool reads the table of
 * labels until it finds none.
 */
enum run_code {
	RUN_RETURN,
	RUN_CALL,
	RUN_EMPTYQ,
	RUN_INQ,
#define X(name, ...) RUN_JUMP_##name, RUN_BACK_##name,
	HIPEC_CONDS(X)
#undef X
#define X(name, ...) RUN_ARITH_##name,
	HIPEC_ARITHS(X)
#undef X
#define X(name, ...) RUN_LOGIC_##name,
	HIPEC_LOGICS(X)
#undef X
#define X(name, ...) \
	RUN_COMP_##name, RUN_COMP_IF_##name, RUN_COMP_IFNOT_##name,
	HIPEC_COMPS(X)
#undef X
#define X(name, ...) RUN_CALLED_##name, RUN_TIMED_##name,
	HIPEC_COMMANDS_CALLED(X)
#undef X
	NR_RUN_CODES
};

void hipec_decode(const u32 *words, u32 nr, struct hipec_insn *code);

#endif /* HIPEC_VM_DECODE_H */
