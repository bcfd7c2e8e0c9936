// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands of an event while they are made: one behind the other, with labels
 * and temporaries.
 *
 * Interface:
 * ampc_emit_insn(), ampc_emit_arith(), ampc_emit_jump()  append a command
 * ampc_emit_label(), ampc_emit_here()                    labels
 * ampc_emit_temporary()                                  a temporary
 */
#include "ampc.h"

/* Append a command; it belongs to the line that g->line says. */
void ampc_emit_insn(struct ampc_emit *g, u8 opcode, struct ampc_arg a,
		    struct ampc_arg b, struct ampc_arg third)
{
	struct ampc_code *code = g->code;

	code->insn = ampc_grow(g->c, code->insn, code->nr, &code->max,
			       sizeof(*code->insn));
	code->insn[code->nr++] = (struct ampc_insn){
		.opcode = opcode,
		.arg = { a, b, third },
		.line = g->line,
	};
}

/* Append a jump to @label. */
void ampc_emit_jump(struct ampc_emit *g, enum hipec_cond cond, u32 label)
{
	ampc_emit_insn(g, HIPEC_OP_JUMP, ampc_byte(cond), ampc_byte(0),
		       ampc_byte(0));
	g->code->insn[g->code->nr - 1].target = label;
}

/* A new label, which stands nowhere yet. */
u32 ampc_emit_label(struct ampc_emit *g)
{
	struct ampc_code *code = g->code;

	code->label = ampc_grow(g->c, code->label, code->nr_labels,
				&code->max_labels, sizeof(*code->label));
	return code->nr_labels++;
}

/* Let @label stand before the next command. */
void ampc_emit_here(struct ampc_emit *g, u32 label)
{
	g->code->label[label] = g->code->nr;
}

/*
 * Temporaries are taken like from a stack: whoever takes one gives it back by
 * restoring the counts when its value is used up.
 */
struct ampc_arg ampc_emit_temporary(struct ampc_emit *g, enum ampc_type type)
{
	if (type == AMPC_PAGE)
		return (struct ampc_arg){
			.kind = AMPC_ARG_PAGE_TEMP,
			.value = g->temps.pages++,
		};
	if (type == AMPC_QUEUE)
		return (struct ampc_arg){
			.kind = AMPC_ARG_QUEUE_TEMP,
			.value = g->temps.queues++,
		};
	return (struct ampc_arg){
		.kind = AMPC_ARG_TEMP,
		.value = g->temps.ints++,
	};
}

/* @a op= @b, whatever they are. */
void ampc_emit_arith(struct ampc_emit *g, struct ampc_arg a, struct ampc_arg b,
		     enum hipec_arith selector)
{
	ampc_emit_insn(g, HIPEC_OP_ARITH, a, b, ampc_byte(selector));
}
