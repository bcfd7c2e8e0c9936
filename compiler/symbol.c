// SPDX-License-Identifier: GPL-2.0-only
/*
 * What names stand for: operands of the policy and of the system, events; and
 * which one the user may have meant. Names of operands and events are compared
 * exactly, commands, selectors and keywords in any case (builtin.c, lexer.l).
 *
 * Interface:
 * ampc_symbols_init()    enter what the system declares
 * ampc_symbol_find(), ampc_symbol_add(), ampc_event_find()
 * ampc_type_find(), ampc_none_is(), ampc_setting_usage(), ampc_type_text()
 * ampc_suggest_*()       note the nearest name to one that does not exist
 */
#include <ctype.h>
#include <strings.h>

#include "ampc.h"

/* What a name is compared with, and the best so far. */
struct nearest {
	const char *name;
	const char *best;
	u32 distance;
};

static u32 min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/*
 * Edits (insert, delete, replace, swap two neighbours) that make @a of @b,
 * case aside; names longer than an identifier may be are not compared.
 */
static u32 distance(const char *a, const char *b)
{
	u32 row[3][AMPC_MAX_NAME + 1];
	u32 *before = row[0], *last = row[1], *now = row[2], *old;
	size_t na = strlen(a), nb = strlen(b), i, j;

	if (na > AMPC_MAX_NAME || nb > AMPC_MAX_NAME)
		return AMPC_MAX_NAME;
	for (j = 0; j <= nb; j++)
		last[j] = j;
	for (i = 1; i <= na; i++) {
		now[0] = i;
		for (j = 1; j <= nb; j++) {
			int x = tolower(a[i - 1]), y = tolower(b[j - 1]);

			now[j] = min(last[j - 1] + (x != y),
				     min(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && x == tolower(b[j - 2]) &&
			    y == tolower(a[i - 2]))
				now[j] = min(now[j], before[j - 2] + 1);
		}
		old = before;
		before = last;
		last = now;
		now = old;
	}
	return last[nb];
}

static void consider(struct nearest *n, const char *name)
{
	u32 d = distance(n->name, name);

	if (d < n->distance) {
		n->distance = d;
		n->best = name;
	}
}

static const enum ampc_type types[] = {
#define X(name) AMPC_##name,
	AMPC_TYPE_WORDS(X)
#undef X
};

/* Find the type of that name, in any case. */
bool ampc_type_find(const char *name, enum ampc_type *type)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcasecmp(name, hipec_vm_type_text(types[i]))) {
			*type = types[i];
			return true;
		}
	}
	return false;
}

/* How the setting of that name, in any case, is said; NULL if there is none. */
const char *ampc_setting_usage(const char *name)
{
	if (!strcasecmp(name, "ghosts"))
		return "Ghosts 100;";
	return strcasecmp(name, "timer") ? NULL : "Timer 1000;";
}

/* Whether @name stands for no page, in any case, where it is no variable. */
bool ampc_none_is(const char *name)
{
	return !strcasecmp(name, "none");
}

static void consider_types(struct nearest *n)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		consider(n, hipec_vm_type_text(types[i]));
}

/* A quarter of a name may be wrong, of a short one a letter, of one letter none. */
static struct nearest nearest_start(const char *name)
{
	u32 len = strlen(name), wrong = min(len - 1, 1 + len / 4);

	return (struct nearest){ .name = name, .distance = wrong + 1 };
}

/* A habit of C is meant rather than a name that differs in more than a letter. */
static bool is_near(const struct nearest *n)
{
	return n->best && n->distance <= 1;
}

static void nearest_note(struct ampc *c, const struct nearest *n,
			 struct ampc_loc loc)
{
	if (n->best)
		ampc_report(c, loc, DID_YOU_MEAN, n->best);
}

/**
 * ampc_symbols_init() - enter the operands that every policy has
 * @c: compilation without symbols
 */
void ampc_symbols_init(struct ampc *c)
{
	const struct ampc_loc nowhere = { 0 };
	struct ampc_symbol *sym;
	u32 i;

	sym = ampc_symbol_add(c, "_free_queue", nowhere);
	sym->type = AMPC_QUEUE;
	sym->slot = HIPEC_SLOT_FREE_QUEUE;
	sym = ampc_symbol_add(c, "_free_count", nowhere);
	sym->type = AMPC_INT;
	sym->slot = HIPEC_SLOT_FREE_COUNT;
	c->nr_slots = HIPEC_SLOT_POLICY;
	for (i = HIPEC_SLOT_SYSTEM; i < HIPEC_NR_SLOTS; i++) {
		const char *name =
			hipec_system_slots[i - HIPEC_SLOT_SYSTEM].name;

		if (!name)
			continue;
		sym = ampc_symbol_add(c, name, nowhere);
		sym->kind = AMPC_SYSTEM;
		sym->type = AMPC_INT;
		sym->slot = i;
	}
}

/* The operand of that name, or NULL. */
struct ampc_symbol *ampc_symbol_find(const struct ampc *c, const char *name)
{
	return ampc_names_find(&c->symbol_names, name);
}

/* A new operand; its other fields are the caller's to fill. */
struct ampc_symbol *ampc_symbol_add(struct ampc *c, const char *name,
				    struct ampc_loc loc)
{
	struct ampc_symbol *sym = ampc_alloc(c, sizeof(*sym));

	sym->name = name;
	sym->loc = loc;
	*c->symbols_end = sym;
	c->symbols_end = &sym->next;
	ampc_names_add(c, &c->symbol_names, name, sym);
	return sym;
}

/* The event of that name, or NULL. */
struct ampc_event *ampc_event_find(const struct ampc *c, const char *name)
{
	return ampc_names_find(&c->event_names, name);
}

/* "an integer", for messages. */
const char *ampc_type_text(enum ampc_type type)
{
	switch (type) {
	case AMPC_INT:
		return "an integer";
	case AMPC_QUEUE:
		return "a queue";
	case AMPC_PAGE:
		return "a page";
	case AMPC_INTS:
		return "an integer array";
	case AMPC_QUEUES:
		return "a queue array";
	case AMPC_FIELD:
		return "a page field";
	default:
		return "unknown";
	}
}

/* Note the operand, or the type, whose name is nearest to @name. */
void ampc_suggest_operand(struct ampc *c, const char *name,
			  struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);
	const struct ampc_symbol *sym;

	for (sym = c->symbols; sym; sym = sym->next)
		if (sym->kind != AMPC_UNDECLARED_NAME)
			consider(&n, sym->name);
	if (!is_near(&n) && ampc_habit_name(c, name, loc))
		return;
	consider_types(&n);
	nearest_note(c, &n, loc);
}

/* Note the command or event whose name is nearest to @name. */
void ampc_suggest_callee(struct ampc *c, const char *name,
			 struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);
	const struct ampc_event *ev;
	u32 opcode;

	for (ev = c->events; ev; ev = ev->next)
		consider(&n, ev->name);
	if (!is_near(&n) && ampc_habit_name(c, name, loc))
		return;
	for (opcode = 0; opcode < ARRAY_SIZE(hipec_ops); opcode++)
		if (ampc_builtin_is(opcode))
			consider(&n, hipec_ops[opcode].word);
	nearest_note(c, &n, loc);
}

/* Note the event of the host whose name is nearest to @name. */
void ampc_suggest_host_event(struct ampc *c, const char *name,
			     struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);
	u32 i;

	for (i = 0; i < HIPEC_EVENT_USER; i++)
		if (hipec_vm_event_text(i))
			consider(&n, hipec_vm_event_text(i));
	nearest_note(c, &n, loc);
}

/* Note the label of @ev whose name is nearest to @name. */
void ampc_suggest_label(struct ampc *c, const struct ampc_event *ev,
			const char *name, struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);
	const struct ampc_stmt *s;

	for (s = ev->labels; s; s = s->next_label)
		consider(&n, s->name);
	nearest_note(c, &n, loc);
}

/* Note the selector of kind @kind whose word is nearest to @name. */
void ampc_suggest_selector(struct ampc *c, u8 kind, const char *name,
			   struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);
	u32 code;
	char *s;

	for (code = 0; code < 256; code++)
		if (hipec_vm_selector(kind, code))
			consider(&n, hipec_vm_selector(kind, code));
	if (!n.best)
		return;
	/* The table has the assembler's spelling; sources write capitals. */
	s = ampc_strndup(c, n.best, strlen(n.best));
	n.best = s;
	for (; *s; s++)
		*s = toupper(*s);
	nearest_note(c, &n, loc);
}

/* Note the type whose word is nearest to @name. */
void ampc_suggest_type(struct ampc *c, const char *name, struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);

	consider_types(&n);
	nearest_note(c, &n, loc);
}

/* Note the page field whose name is nearest to @name; false if none is near. */
bool ampc_suggest_field(struct ampc *c, const char *name, struct ampc_loc loc)
{
	struct nearest n = nearest_start(name);
	const struct ampc_symbol *sym;

	for (sym = c->symbols; sym; sym = sym->next)
		if (sym->type == AMPC_FIELD)
			consider(&n, sym->name);
	nearest_note(c, &n, loc);
	return n.best;
}
