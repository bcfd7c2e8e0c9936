// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of what Event Init() declares: variables, arrays, fields, the keys of
 * ordered queues, and the settings of the policy as a whole. Whatever module/vm/
 * image.c limits is limited here, with the name of the limit in the message.
 *
 * Interface:
 * ampc_declare_all()        enter all operands as symbols, and the settings
 * ampc_declare_misplaced()  a declaration that stands elsewhere
 * ampc_setting_value()      what a setting says, or what holds without it
 */
#include "ampc.h"

#define AMPC_TIMER_MS 1000	/* between two Timer events, by default */

/* Queues that the policy can declare: some are the machine's own. */
#define AMPC_MAX_QUEUES (HIPEC_MAX_QUEUES - HIPEC_QUEUE_POLICY)

static bool check_name_free(struct ampc *c, const struct ampc_decl *d)
{
	const struct ampc_symbol *sym = ampc_symbol_find(c, d->name);
	const struct ampc_event *ev = ampc_event_find(c, d->name);

	if (sym && !sym->loc.line) {
		ampc_report(c, d->loc, SYSTEM_NAME, d->name);
	} else if (sym && sym->kind != AMPC_UNDECLARED_NAME) {
		ampc_report(c, d->loc, REDECLARED, d->name);
		ampc_report(c, sym->loc, DECLARED_HERE, d->name);
	} else if (ev) {
		ampc_report(c, d->loc, EVENT_IS_NAME, d->name);
		ampc_report(c, ev->loc, DECLARED_HERE, d->name);
	} else {
		return !sym;
	}
	return false;
}

static void check_qualifiers(struct ampc *c, struct ampc_decl *d)
{
	const u8 of_ints = d->flags & HIPEC_OPERAND_SHARED;
	const u8 of_int = d->flags & ~HIPEC_OPERAND_SHARED;

	if (of_ints && d->type != AMPC_INTS) {
		ampc_report(c, d->loc, SHARED_TYPE, d->name,
			    ampc_type_text(d->type));
		d->flags &= ~of_ints;
	}
	if (of_int && d->type != AMPC_INT) {
		ampc_report(c, d->loc, QUALIFIER_TYPE, d->name,
			    ampc_type_text(d->type),
			    of_int & HIPEC_OPERAND_PARAM ? "param" :
			    of_int & HIPEC_OPERAND_CONST ? "const" : "counter");
		d->flags &= ~of_int;
	}
	if (d->flags & HIPEC_OPERAND_CONST &&
	    !(d->flags & HIPEC_OPERAND_PARAM) && !d->init)
		ampc_report(c, d->loc, CONST_NO_VALUE, d->name);
}

/* The length of an array; 0, which fits everywhere, after an error. */
static s64 array_length(struct ampc *c, struct ampc_event *ev,
			struct ampc_decl *d)
{
	bool is_queues = d->type == AMPC_QUEUES;
	u32 max = is_queues ? AMPC_MAX_QUEUES : HIPEC_MAX_ELEMENTS;
	s64 length;

	ampc_check_value(c, ev, d->length);
	if (d->length->type == AMPC_UNKNOWN)
		return 0;
	if (!d->length->is_const) {
		ampc_report(c, d->length->loc, LENGTH_NOT_CONST, d->name);
		return 0;
	}
	length = d->length->value;
	if (length > 0 && length <= max)
		return length;
	ampc_report(c, d->length->loc, LENGTH_RANGE, d->name, (long long)length, max,
		    is_queues ? "HIPEC_MAX_QUEUES, less the machine's own" :
				"HIPEC_MAX_ELEMENTS");
	return 0;
}

static void make_array(struct ampc *c, struct ampc_decl *d)
{
	switch (d->type) {
	case AMPC_INT:
		d->type = AMPC_INTS;
		break;
	case AMPC_QUEUE:
		d->type = AMPC_QUEUES;
		break;
	default:
		ampc_report(c, d->length->loc, ARRAY_TYPE, d->name,
			    hipec_vm_type_text(d->type));
		if (d->type == AMPC_PAGE)
			ampc_report(c, d->length->loc, PAGE_ARRAY, d->name);
		d->length = NULL;
	}
}

static s64 initial_value(struct ampc *c, struct ampc_event *ev,
			 struct ampc_decl *d)
{
	if (!d->init)
		return 0;
	ampc_check_value(c, ev, d->init);
	if (d->type != AMPC_INT)
		ampc_report(c, d->init->loc, INIT_TYPE, d->name,
			    ampc_type_text(d->type));
	else if (d->init->is_const)
		return d->init->value;
	else if (d->init->type != AMPC_UNKNOWN)
		ampc_report(c, d->init->loc, INIT_NOT_CONST, d->name);
	return 0;
}

/* One end of a range. Return: whether @value is known. */
static bool range_end(struct ampc *c, struct ampc_event *ev,
		      struct ampc_expr *e, s64 *value)
{
	ampc_check_value(c, ev, e);
	*value = e->value;
	if (!e->is_const && e->type != AMPC_UNKNOWN)
		ampc_report(c, e->loc, RANGE_NOT_CONST,
			    ampc_source_quote(c, e->loc));
	return e->is_const;
}

/* The range of a param, which its value at load lies in. */
static void check_range(struct ampc *c, struct ampc_event *ev,
			const struct ampc_decl *d, struct ampc_symbol *range)
{
	struct ampc_loc loc;
	s64 low, high;

	if (!d->low || !range_end(c, ev, d->low, &low) ||
	    !range_end(c, ev, d->high, &high))
		return;
	loc = ampc_loc_span(d->low->loc, d->high->loc);
	if (d->type != AMPC_INT || !(d->flags & HIPEC_OPERAND_PARAM)) {
		ampc_report(c, loc, RANGE_TYPE, d->name);
	} else if (low >= high) {
		ampc_report(c, loc, RANGE_EMPTY, (long long)low,
			    (long long)high, d->name);
	} else if ((range->value < low || range->value > high) &&
		   (!d->init || d->init->is_const)) {
		ampc_report(c, d->init ? d->init->loc : d->loc, RANGE_VALUE,
			    d->name, (long long)range->value, (long long)low,
			    (long long)high);
	} else {
		range->low = low;
		range->high = high;
	}
}

/* Add @nr to @sum and tell whether that takes it over @max just now. */
static bool exceeds(u64 *sum, u64 nr, u64 max)
{
	bool was_within = *sum <= max;

	*sum += nr;
	return was_within && *sum > max;
}

/* Count what the machine has only so many of. */
static void count(struct ampc *c, const struct ampc_symbol *sym)
{
	switch (sym->type) {
	case AMPC_INTS:
		if (exceeds(&c->nr_elements, sym->value, HIPEC_MAX_ELEMENTS))
			ampc_report(c, sym->loc, TOO_MANY_ELEMENTS, sym->name,
				    (long long)c->nr_elements,
				    HIPEC_MAX_ELEMENTS);
		break;
	case AMPC_QUEUE:
	case AMPC_QUEUES:
		if (exceeds(&c->nr_queues,
			    sym->type == AMPC_QUEUE ? 1 : sym->value,
			    AMPC_MAX_QUEUES))
			ampc_report(c, sym->loc, TOO_MANY_QUEUES, sym->name,
				    (long long)c->nr_queues, AMPC_MAX_QUEUES);
		break;
	case AMPC_FIELD:
		if (exceeds(&c->nr_fields, 1, HIPEC_MAX_FIELDS))
			ampc_report(c, sym->loc, TOO_MANY_FIELDS, sym->name,
				    (long long)c->nr_fields, HIPEC_MAX_FIELDS);
		break;
	default:
		break;
	}
}

static void declare(struct ampc *c, struct ampc_event *ev, struct ampc_decl *d)
{
	struct ampc_symbol *sym, range = { 0 };
	s64 value;

	if (d->length)
		make_array(c, d);
	value = initial_value(c, ev, d);
	if (d->length)
		value = array_length(c, ev, d);
	check_qualifiers(c, d);
	range.value = value;
	check_range(c, ev, d, &range);
	if (!check_name_free(c, d))
		return;
	if (c->nr_slots == HIPEC_SLOT_SYSTEM)
		ampc_report(c, d->loc, TOO_MANY_VARIABLES,
			    HIPEC_SLOT_SYSTEM - HIPEC_SLOT_POLICY);
	sym = ampc_symbol_add(c, d->name, d->loc);
	sym->type = d->type;
	sym->flags = d->flags;
	sym->value = value;
	sym->low = range.low;
	sym->high = range.high;
	sym->slot = c->nr_slots++;
	count(c, sym);
	d->symbol = sym;
}

/* The field behind `by`, which may be declared below the queue. */
static void find_key(struct ampc *c, const struct ampc_decl *d)
{
	const struct ampc_symbol *key;

	if (!d->key)
		return;
	if (d->type != AMPC_QUEUE && d->type != AMPC_QUEUES) {
		ampc_report(c, d->key_loc, KEY_TYPE, d->name,
			    ampc_type_text(d->type));
		return;
	}
	key = ampc_check_field(c, d->key, d->key_loc);
	if (d->symbol)
		d->symbol->key = key;
}

/* Settings */

static void check_setting(struct ampc *c, const struct ampc_stmt *s)
{
	const struct ampc_expr *e = s->expr;

	if (!e->is_const) {
		if (e->type != AMPC_UNKNOWN)
			ampc_report(c, e->loc, SETTING_NOT_CONST,
				    ampc_source_quote(c, e->loc));
		return;
	}
	switch (s->setting) {
	case AMPC_GHOSTS:
		if (e->value < 0 || e->value > HIPEC_MAX_GHOSTS)
			ampc_report(c, e->loc, GHOSTS_RANGE, (long long)e->value,
				    HIPEC_MAX_GHOSTS);
		break;
	default:
		if (e->value < HIPEC_MIN_TIMER || e->value > UINT32_MAX)
			ampc_report(c, e->loc, TIMER_RANGE, (long long)e->value,
				    HIPEC_MIN_TIMER, UINT32_MAX);
		else if (!c->has_lost_event &&
			 !ampc_event_find(c, hipec_vm_event_text(HIPEC_EVENT_TIMER)))
			ampc_report(c, s->loc, TIMER_NO_EVENT,
				    (long long)e->value);
	}
}

static void set(struct ampc *c, struct ampc_event *ev, struct ampc_stmt *s)
{
	const struct ampc_stmt *first = c->setting[s->setting];

	ampc_check_value(c, ev, s->expr);
	if (first) {
		ampc_report(c, s->loc, SETTING_TWICE, s->name);
		ampc_report(c, first->loc, SETTING_HERE);
		return;
	}
	c->setting[s->setting] = s;
	check_setting(c, s);
}

/* What @setting says in a policy without errors, or its default. */
s64 ampc_setting_value(const struct ampc *c, enum ampc_setting setting)
{
	static const s64 defaults[] = {
		[AMPC_GHOSTS] = 0,
		[AMPC_TIMER] = AMPC_TIMER_MS,
	};

	return c->setting[setting] ? c->setting[setting]->expr->value :
				     defaults[setting];
}

/* Variables may be used above the event that declares them: declare first. */
void ampc_declare_all(struct ampc *c)
{
	struct ampc_event *ev;
	struct ampc_stmt *s;
	struct ampc_decl *d;

	for (ev = c->events; ev; ev = ev->next) {
		if (ev->number != HIPEC_EVENT_INIT)
			continue;
		for (s = ev->body->body; s; s = s->next) {
			for (d = s->decl; d; d = d->next)
				declare(c, ev, d);
			if (s->kind == AMPC_STMT_SETTING)
				set(c, ev, s);
		}
		for (s = ev->body->body; s; s = s->next)
			for (d = s->decl; d; d = d->next)
				find_key(c, d);
	}
}

/**
 * ampc_declare_misplaced() - a declaration or setting in the wrong place
 * @c:       compilation
 * @ev:      event that it stands in
 * @s:       the statement; its variables are known from there on
 * @is_init: whether @ev is Init, and @s inside another statement of it
 */
void ampc_declare_misplaced(struct ampc *c, struct ampc_event *ev,
			    struct ampc_stmt *s, bool is_init)
{
	struct ampc_decl *d;

	if (s->kind == AMPC_STMT_SETTING)
		ampc_report(c, s->loc, SETTING_PLACE, s->name);
	for (d = s->decl; d; d = d->next) {
		if (is_init) {
			ampc_report(c, d->loc, DECL_NESTED, d->name);
		} else {
			ampc_report(c, d->loc, DECL_PLACE, d->name);
			ampc_report(c, d->loc, DECL_PLACE_WHY);
		}
		if (!ampc_symbol_find(c, d->name))
			declare(c, ev, d);
	}
}
