// SPDX-License-Identifier: GPL-2.0-only
/*
 * Assignments to elements of arrays and to fields of pages -> commands. These
 * have no slot of their own: a value is computed in a temporary, and one command
 * puts it where it belongs. What finds the place is computed once.
 *
 * Interface:
 * ampc_emit_store()
 */
#include "ampc.h"

static const struct ampc_arg none = { .kind = AMPC_ARG_BYTE };

/* An element or field that is assigned to. */
struct place {
	bool is_field;
	struct ampc_arg of;	/* slot of the array, or the page */
	struct ampc_arg at;	/* the index, or slot of the field */
};

static struct place find_place(struct ampc_emit *g, const struct ampc_expr *e)
{
	if (e->kind == AMPC_MEMBER)
		return (struct place){
			.is_field = true,
			.of = ampc_emit_value(g, e->a),
			.at = ampc_byte(e->symbol->slot),
		};
	return (struct place){
		.of = ampc_byte(e->a->symbol->slot),
		.at = ampc_emit_value(g, e->b),
	};
}

static void get(struct ampc_emit *g, const struct place *p, struct ampc_arg to)
{
	ampc_emit_insn(g, p->is_field ? HIPEC_OP_GET : HIPEC_OP_LOAD, to, p->of,
		       p->at);
}

static void put(struct ampc_emit *g, const struct place *p,
		struct ampc_arg value)
{
	ampc_emit_insn(g, p->is_field ? HIPEC_OP_PUT : HIPEC_OP_STORE, p->of,
		       p->at, value);
}

/**
 * ampc_emit_store() - make the commands of an assignment to an element or field
 * @g:         emission
 * @e:         assignment, ++ or --
 * @wants_old: whether the value from before is wanted
 *
 * Return: where the value is, perhaps in a temporary that the caller gives back.
 */
struct ampc_arg ampc_emit_store(struct ampc_emit *g, const struct ampc_expr *e,
				bool wants_old)
{
	struct place p = find_place(g, e->a);
	struct ampc_arg value, old;

	if (e->op == AMPC_OP_SET) {
		value = ampc_emit_value(g, e->b);
		g->line = e->loc.line;
		put(g, &p, value);
		return value;
	}
	value = ampc_emit_temporary(g, AMPC_INT);
	g->line = e->loc.line;
	get(g, &p, value);
	old = value;
	if (wants_old) {
		old = ampc_emit_temporary(g, AMPC_INT);
		ampc_emit_arith(g, old, value, HIPEC_ARITH_SET);
	}
	if (e->kind == AMPC_ASSIGN)
		ampc_emit_step(g, value, ampc_op_code(e->op), e->b);
	else
		ampc_emit_arith(g, value, none, ampc_op_code(e->op));
	g->line = e->loc.line;
	put(g, &p, value);
	return old;
}
