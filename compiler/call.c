// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of calls: what a name in front of parentheses is, and the arguments
 * that it takes. The commands and their arguments are builtin.c's.
 *
 * Interface:
 * ampc_check_callee()       what is called
 * ampc_is_value_argument()  whether an argument is to be checked as a value
 * ampc_check_arguments()    the arguments, those checked
 */
#include "ampc.h"

/* Whether the number of arguments is right; the words are the source's. */
static bool check_nr_args(struct ampc *c, const struct ampc_expr *e,
			  const char *name, u32 takes)
{
	const struct ampc_expr *arg;
	u32 given = 0;

	for (arg = e->a; arg; arg = arg->next)
		given++;
	if (given != takes)
		ampc_report(c, e->loc, NR_ARGUMENTS, name, takes,
			    takes == 1 ? "" : "s", given);
	return given == takes;
}

/* Note the first call of an event from another one, for the rules on calls. */
static void add_call(struct ampc *c, struct ampc_event *ev,
		     struct ampc_event *callee, struct ampc_loc loc)
{
	struct ampc_call *call, **link;

	callee->is_called = true;
	for (link = &ev->calls; *link; link = &(*link)->next)
		if ((*link)->callee == callee)
			return;
	call = ampc_alloc(c, sizeof(*call));
	call->callee = callee;
	call->loc = loc;
	*link = call;
}

static void call_event(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	check_nr_args(c, e, e->name, 0);
	e->type = AMPC_VOID;
	add_call(c, ev, e->event, e->loc);
}

/* A word such as HEAD, where nothing else can stand. */
static void check_selector(struct ampc *c, u8 opcode, u32 nr,
			   struct ampc_expr *arg)
{
	u8 kind = ampc_builtin_arg_kind(opcode, nr);
	u8 code = 0;

	arg->type = AMPC_UNKNOWN;
	if (arg->kind == AMPC_BAD)
		return;
	if (arg->kind == AMPC_NAME && ampc_selector_find(kind, arg->name, &code)) {
		arg->value = code;
		return;
	}
	ampc_report(c, arg->loc, WRONG_SELECTOR, nr + 1,
		    hipec_ops[opcode].word, hipec_vm_kind_text(kind),
		    ampc_source_quote(c, arg->loc));
	if (arg->kind == AMPC_NAME)
		ampc_suggest_selector(c, kind, arg->name, arg->loc);
}

/* Whether a kind takes others of its type, but not @sym; NULL: an element or a call. */
static bool is_left_out(u8 kind, const struct ampc_symbol *sym)
{
	if (!sym)
		return false;
	return kind == HIPEC_KIND_QUEUE_OUT ? sym->slot == HIPEC_SLOT_FREE_QUEUE :
	       kind == HIPEC_KIND_SKETCH && sym->flags & HIPEC_OPERAND_SHARED;
}

static void check_argument(struct ampc *c, u8 opcode, u32 nr,
			   const struct ampc_expr *arg)
{
	u8 kind = ampc_builtin_arg_kind(opcode, nr);

	if (arg->type == AMPC_UNKNOWN)
		return;
	if (arg->is_none && ampc_kind_type(kind) == AMPC_PAGE) {
		if (!ampc_builtin_takes_none(opcode))
			ampc_report(c, arg->loc, WRONG_ARGUMENT,
				    ampc_printf(c, "'%s' is no page", arg->name),
				    nr + 1, hipec_ops[opcode].word,
				    hipec_vm_kind_text(kind));
		return;
	}
	if (arg->type == ampc_kind_type(kind) && !is_left_out(kind, arg->symbol))
		return;
	ampc_report(c, arg->loc, WRONG_ARGUMENT, ampc_describe(c, arg), nr + 1,
		    hipec_ops[opcode].word, hipec_vm_kind_text(kind));
	if (kind != HIPEC_KIND_SKETCH)
		ampc_declared_here(c, arg);
	else if (arg->symbol && arg->symbol->loc.line)	/* no element of it is one either */
		ampc_report(c, arg->symbol->loc, DECLARED_HERE, arg->name);
}

/**
 * ampc_is_value_argument() - whether an argument is a value, and no word
 * @e:  call of a command
 * @nr: which argument, from 0
 *
 * Return: that; false as well if the command takes no such argument.
 */
bool ampc_is_value_argument(const struct ampc_expr *e, u32 nr)
{
	return nr < ampc_builtin_nr_args(e->opcode) &&
	       ampc_kind_type(ampc_builtin_arg_kind(e->opcode, nr));
}

/**
 * ampc_check_arguments() - check what a command is given
 * @c: compilation
 * @e: call of a command, its arguments that are values checked
 */
void ampc_check_arguments(struct ampc *c, struct ampc_expr *e)
{
	u32 takes = ampc_builtin_nr_args(e->opcode), nr = 0;
	struct ampc_expr *arg;

	e->type = ampc_builtin_type(e->opcode);
	for (arg = e->a; arg && nr < takes; arg = arg->next, nr++) {
		if (ampc_is_value_argument(e, nr))
			check_argument(c, e->opcode, nr, arg);
		else
			check_selector(c, e->opcode, nr, arg);
	}
	if (!check_nr_args(c, e, hipec_ops[e->opcode].word, takes))
		ampc_report(c, e->loc, USAGE, ampc_builtin_usage(c, e->opcode));
}

/**
 * ampc_check_callee() - check what is called
 * @c:  compilation
 * @ev: event that it stands in
 * @e:  call
 *
 * Return: whether it is a command, whose arguments are to be checked.
 */
bool ampc_check_callee(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e)
{
	const struct ampc_symbol *sym;

	e->event = ampc_event_find(c, e->name);
	if (e->event) {
		call_event(c, ev, e);
		return false;
	}
	if (ampc_builtin_find(e->name, &e->opcode))
		return true;
	e->type = AMPC_UNKNOWN;
	sym = ampc_symbol_find(c, e->name);
	if (sym && sym->kind != AMPC_UNDECLARED_NAME) {
		ampc_report(c, e->name_loc, NOT_A_FUNCTION, e->name,
			    ampc_type_text(sym->type));
		if (sym->loc.line)
			ampc_report(c, sym->loc, DECLARED_HERE, e->name);
		return false;
	}
	if (!c->has_lost_event) {
		ampc_report(c, e->name_loc, UNKNOWN_FUNCTION, e->name);
		ampc_suggest_callee(c, e->name, e->name_loc);
	}
	return false;
}
