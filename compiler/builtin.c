// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands that a source may call, read from the command table: a row that
 * takes only operands, and selectors that a policy writes as words, is a
 * builtin; a row that takes an operator, a jump or an event, or that ends the
 * event, is what the language's own syntax makes. None is named here but those
 * that have an answer for no page.
 *
 * The first byte that a command writes is its result and stands left of the
 * '='; the other bytes are the arguments, in the table's order.
 *
 * Interface:
 * ampc_builtin_is(), ampc_builtin_find()
 * ampc_builtin_result(), ampc_builtin_type(), ampc_builtin_nr_args(),
 * ampc_builtin_arg_kind(), ampc_builtin_takes_none(), ampc_builtin_usage()
 * ampc_kind_type(), ampc_selector_find(), ampc_selector_is()
 */
#include <strings.h>

#include "ampc.h"

#define NR_BYTES 3	/* operands of a command */

/* Whether the source says a selector of this kind with a word. */
static bool has_words(u8 kind)
{
	return kind == HIPEC_KIND_END || kind == HIPEC_KIND_BIT ||
	       kind == HIPEC_KIND_ACTION;
}

/* Type of the operand that @kind asks for; AMPC_VOID if it asks for none. */
enum ampc_type ampc_kind_type(u8 kind)
{
	switch (kind) {
	case HIPEC_KIND_INT:
	case HIPEC_KIND_INT_W:
		return AMPC_INT;
	case HIPEC_KIND_PAGE:
	case HIPEC_KIND_PAGE_W:
		return AMPC_PAGE;
	case HIPEC_KIND_QUEUE:
	case HIPEC_KIND_QUEUE_OUT:
		return AMPC_QUEUE;
	case HIPEC_KIND_SKETCH:
		return AMPC_INTS;
	default:
		return AMPC_VOID;
	}
}

/* Whether @opcode is a command that a source calls by its name. */
bool ampc_builtin_is(u8 opcode)
{
	const struct hipec_op *op = &hipec_ops[opcode];
	u32 i;

	if (!op->word || op->flags & HIPEC_OPF_STOP)
		return false;
	for (i = 0; i < NR_BYTES; i++)
		if (op->kind[i] != HIPEC_KIND_NONE && !has_words(op->kind[i]) &&
		    !ampc_kind_type(op->kind[i]))
			return false;
	return true;
}

/* Find the builtin of that name, in any case. */
bool ampc_builtin_find(const char *name, u8 *opcode)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hipec_ops); i++) {
		if (ampc_builtin_is(i) && !strcasecmp(hipec_ops[i].word, name)) {
			*opcode = i;
			return true;
		}
	}
	return false;
}

/* Which byte of the command is its result; -1 if it has none. */
int ampc_builtin_result(u8 opcode)
{
	int i;

	for (i = 0; i < NR_BYTES; i++)
		if (hipec_ops[opcode].kind[i] == HIPEC_KIND_INT_W ||
		    hipec_ops[opcode].kind[i] == HIPEC_KIND_PAGE_W)
			return i;
	return -1;
}

/* Type of a call's value; a test without a result is an integer, 0 or 1. */
enum ampc_type ampc_builtin_type(u8 opcode)
{
	int result = ampc_builtin_result(opcode);

	if (result >= 0)
		return ampc_kind_type(hipec_ops[opcode].kind[result]);
	return hipec_ops[opcode].flags & HIPEC_OPF_TEST ? AMPC_INT : AMPC_VOID;
}

/* Kind of argument @nr, counted from 0; HIPEC_KIND_NONE behind the last. */
u8 ampc_builtin_arg_kind(u8 opcode, u32 nr)
{
	int i, result = ampc_builtin_result(opcode);

	for (i = 0; i < NR_BYTES; i++) {
		u8 kind = hipec_ops[opcode].kind[i];

		if (i != result && kind != HIPEC_KIND_NONE && !nr--)
			return kind;
	}
	return HIPEC_KIND_NONE;
}

/* Number of arguments. */
u32 ampc_builtin_nr_args(u8 opcode)
{
	u32 nr = 0;

	while (ampc_builtin_arg_kind(opcode, nr) != HIPEC_KIND_NONE)
		nr++;
	return nr;
}

/* Whether a command has an answer for no page, and for one that is gone. */
bool ampc_builtin_takes_none(u8 opcode)
{
	return opcode == HIPEC_OP_INQ || opcode == HIPEC_OP_RESIDENT ||
	       opcode == HIPEC_OP_SAME || opcode == HIPEC_OP_COPY;
}

/* How a call is written: "page = DeQueue(queue, HEAD or TAIL)". */
char *ampc_builtin_usage(struct ampc *c, u8 opcode)
{
	int result = ampc_builtin_result(opcode);
	const char *sep = "";
	char *text;
	u32 i;

	text = ampc_printf(c, "%s%s%s(",
			   result < 0 ? "" :
			   hipec_vm_type_text(ampc_builtin_type(opcode)),
			   result < 0 ? "" : " = ", hipec_ops[opcode].word);
	for (i = 0; i < ampc_builtin_nr_args(opcode); i++) {
		u8 kind = ampc_builtin_arg_kind(opcode, i);
		enum ampc_type type = ampc_kind_type(kind);

		text = ampc_printf(c, "%s%s%s", text, sep,
				   type ? hipec_vm_type_text(type) :
				   hipec_vm_kind_text(kind));
		sep = ", ";
	}
	return ampc_printf(c, "%s)", text);
}

/* Find the code of a selector of kind @kind by its word, in any case. */
bool ampc_selector_find(u8 kind, const char *name, u8 *code)
{
	u32 i;

	for (i = 0; i < 256; i++) {
		const char *word = hipec_vm_selector(kind, i);

		if (word && !strcasecmp(word, name)) {
			*code = i;
			return true;
		}
	}
	return false;
}

/* Whether @name is a selector's word where it is no variable. */
bool ampc_selector_is(const char *name)
{
	u8 kind, code;

	for (kind = 0; kind < HIPEC_NR_KINDS; kind++)
		if (has_words(kind) && ampc_selector_find(kind, name, &code))
			return true;
	return false;
}
