// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of places, which can be read and assigned to: variables, elements of
 * arrays, fields of pages; and of what assigns to them. The operands are checked.
 *
 * Interface:
 * ampc_check_index(), ampc_check_member()  elements and fields
 * ampc_check_assign(), ampc_check_step()   = and its likes, ++ and --
 * ampc_check_field()                       the field of a name, if it is one
 */
#include "ampc.h"

/**
 * ampc_check_index() - check an element of an array
 * @c: compilation
 * @e: element
 */
void ampc_check_index(struct ampc *c, struct ampc_expr *e)
{
	const struct ampc_expr *at = e->b;
	enum ampc_type type;
	s64 length;

	type = e->a->type;
	e->type = AMPC_UNKNOWN;
	if (type == AMPC_UNKNOWN)
		return;
	if (type != AMPC_INTS && type != AMPC_QUEUES) {
		ampc_report(c, e->a->loc, NOT_AN_ARRAY,
			    ampc_describe(c, e->a));
		ampc_declared_here(c, e->a);
		return;
	}
	e->type = type == AMPC_INTS ? AMPC_INT : AMPC_QUEUE;
	if (at->type != AMPC_INT && at->type != AMPC_UNKNOWN) {
		ampc_report(c, at->loc, WRONG_INDEX, ampc_describe(c, at));
		ampc_declared_here(c, at);
		return;
	}
	/* An array's name is a name: no other expression has its type. */
	length = e->a->symbol->value;
	if (!at->is_const || !length || (at->value >= 0 && at->value < length))
		return;
	ampc_report(c, at->loc, INDEX_RANGE, (long long)at->value, e->a->name,
		    (long long)length - 1);
	ampc_report(c, e->a->symbol->loc, DECLARED_HERE, e->a->name);
}

/**
 * ampc_check_field() - find a page field
 * @c:    compilation
 * @name: its name
 * @loc:  place of the name
 *
 * Return: its symbol; NULL, reported, if there is none.
 */
struct ampc_symbol *ampc_check_field(struct ampc *c, const char *name,
				     struct ampc_loc loc)
{
	struct ampc_symbol *sym = ampc_symbol_find(c, name);

	if (sym && sym->type == AMPC_FIELD)
		return sym;
	if (sym && sym->kind != AMPC_UNDECLARED_NAME) {
		ampc_report(c, loc, NOT_A_FIELD, name,
			    ampc_type_text(sym->type));
		if (sym->loc.line)
			ampc_report(c, sym->loc, DECLARED_HERE, name);
		return NULL;
	}
	if (c->has_lost_decl)
		return NULL;
	ampc_report(c, loc, UNKNOWN_FIELD, name);
	if (!ampc_habit_name(c, name, loc) && !ampc_suggest_field(c, name, loc))
		ampc_report(c, loc, DECLARE, ampc_printf(c, "Field %s", name));
	return NULL;
}

/**
 * ampc_check_member() - check a field of a page
 * @c: compilation
 * @e: page and field
 */
void ampc_check_member(struct ampc *c, struct ampc_expr *e)
{
	e->type = AMPC_UNKNOWN;
	if (e->a->type == AMPC_UNKNOWN)
		return;
	if (e->a->is_none) {
		ampc_report(c, e->a->loc, NO_FIELDS,
			    ampc_printf(c, "'%s' is no page", e->a->name));
		return;
	}
	if (e->a->type != AMPC_PAGE) {
		ampc_report(c, e->a->loc, NO_FIELDS, ampc_describe(c, e->a));
		ampc_declared_here(c, e->a);
		return;
	}
	e->symbol = ampc_check_field(c, e->name, e->name_loc);
	if (e->symbol)
		e->type = AMPC_INT;
}

/* Why @e, which is a place, cannot be changed; NULL if it can. */
static const char *read_only(const struct ampc_expr *e)
{
	const struct ampc_symbol *sym = e->symbol;

	if (e->is_none)
		return "no page";
	if (e->type == AMPC_QUEUE)
		return "a queue";
	if (e->kind == AMPC_MEMBER)
		return NULL;
	if (e->kind == AMPC_INDEX)
		return e->a->symbol->flags & HIPEC_OPERAND_SHARED ? "shared" :
								    NULL;
	if (sym->kind == AMPC_SYSTEM)
		return "set by the system";
	if (sym->flags & HIPEC_OPERAND_CONST)
		return "const";
	return sym->type == AMPC_INT || sym->type == AMPC_PAGE ? NULL :
		ampc_type_text(sym->type);
}

/* Whether @e, the operand that @op changes, is a place that may change. */
static bool check_target(struct ampc *c, enum ampc_op op, struct ampc_expr *e)
{
	const char *why;

	if (e->type == AMPC_UNKNOWN)
		return false;
	if (e->kind != AMPC_NAME && e->kind != AMPC_INDEX &&
	    e->kind != AMPC_MEMBER) {
		ampc_report(c, e->loc, NOT_ASSIGNABLE, ampc_op_text(op));
		return false;
	}
	e->is_const = false;
	why = read_only(e);
	if (!why)
		return true;
	ampc_report(c, e->loc, READ_ONLY, ampc_source_quote(c, e->loc), why);
	ampc_declared_here(c, e);
	if (e->kind == AMPC_INDEX && e->type == AMPC_INT)
		ampc_report(c, e->a->symbol->loc, SHARED_WHY);
	return false;
}

/* Whether the value @e can be assigned to the place @to. */
static bool check_assigned(struct ampc *c, const struct ampc_expr *to,
			   const struct ampc_expr *e)
{
	const char *what;

	if (e->type == AMPC_UNKNOWN)
		return false;
	if (e->type == to->type)
		return true;
	what = ampc_source_quote(c, to->loc);
	what = *what ? ampc_printf(c, "'%s', %s", what,
				   ampc_type_text(to->type)) :
		       ampc_type_text(to->type);
	ampc_report(c, e->loc, WRONG_VALUE, ampc_describe(c, e), what);
	ampc_declared_here(c, to);
	ampc_note_whole(c, e);
	if (to->type == AMPC_PAGE && e->is_const && !e->value)
		ampc_report(c, e->loc, DID_YOU_MEAN, "NONE");
	return false;
}

/* Whether @op, which computes, can be done to the place @e. */
static bool check_computed(struct ampc *c, enum ampc_op op,
			   const struct ampc_expr *e)
{
	if (e->type == AMPC_INT)
		return true;
	ampc_report(c, e->loc, WRONG_OPERAND, ampc_describe(c, e),
		    ampc_op_text(op));
	ampc_declared_here(c, e);
	return false;
}

/**
 * ampc_check_assign() - check an assignment
 * @c: compilation
 * @e: assignment
 */
void ampc_check_assign(struct ampc *c, struct ampc_expr *e)
{
	bool ok = check_target(c, e->op, e->a);

	e->type = AMPC_UNKNOWN;
	if (e->op == AMPC_OP_SET) {
		if (ok && check_assigned(c, e->a, e->b))
			e->type = e->a->type;
		return;
	}
	ok = ok && check_computed(c, e->op, e->a);
	if (ampc_check_int(c, e->op, e->b) && ok &&
	    ampc_check_right_side(c, e))
		e->type = AMPC_INT;
}

/**
 * ampc_check_step() - check a ++ or --
 * @c: compilation
 * @e: operation
 */
void ampc_check_step(struct ampc *c, struct ampc_expr *e)
{
	e->type = AMPC_UNKNOWN;
	if (check_target(c, e->op, e->a) &&
	    check_computed(c, e->op, e->a))
		e->type = AMPC_INT;
}
