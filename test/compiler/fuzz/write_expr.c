// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expressions by chance, of the type that is wanted. The commands that they call
 * come from the table.
 *
 * There is no arithmetic of two constants, which might not fit, and no divisor,
 * shift or index that is known to be wrong.
 */
#include <ctype.h>

#include "write.h"

static const char *const numbers[] = {
	"0", "1", "2", "3", "7", "0x10", "100", "4096", "2147483648",
	"1099511627776", "9223372036854775807", "TRUE", "false",
};

static bool integer(struct writer *w, u32 depth);
static void page(struct writer *w, u32 depth);
static void some_page(struct writer *w, u32 depth);

/* Names */

/* Some names are words of the language as well. */
void write_page_name(struct writer *w, u32 i)
{
	if (i)
		put(w, "p%u", i);
	else
		put(w, "page");
}

void write_queue_name(struct writer *w, u32 i)
{
	if (i)
		put(w, "q%u", i);
	else
		put(w, "ghosts");
}

static void variable(struct writer *w)
{
	u32 i = pick(w, w->nr_vars + 2);

	if (i == w->nr_vars)
		put(w, "_free_count");
	else if (i > w->nr_vars)
		put(w, "timer");
	else
		put(w, "v%u", i);
}

static void system_name(struct writer *w)
{
	const char *name;

	do {
		name = hipec_system_slots[pick(w, HIPEC_NR_SLOTS -
					       HIPEC_SLOT_SYSTEM)].name;
	} while (!name);
	put(w, "%s", name);
}

/* Integers */

/* One whose value is not known. */
static void unknown(struct writer *w)
{
	if (pick(w, 5))
		variable(w);
	else
		system_name(w);
}

static void index_of(struct writer *w, u32 length, u32 depth)
{
	put(w, "[");
	if (pick(w, 2)) {
		put(w, "%u", pick(w, length));
	} else if (pick(w, 2) || !depth) {
		unknown(w);
	} else {
		unknown(w);
		put(w, " & ");
		integer(w, depth - 1);
	}
	put(w, "]");
}

static void element(struct writer *w, u32 nr, u32 depth)
{
	u32 i = pick(w, nr);

	put(w, "a%u", i);
	index_of(w, w->length[i], depth);
}

static void field(struct writer *w, u32 depth)
{
	if (pick(w, 3) || !depth) {
		write_page_name(w, pick(w, w->nr_pages));
	} else {
		put(w, "(");
		write_page_name(w, pick(w, w->nr_pages));
		put(w, " = ");
		some_page(w, depth - 1);
		put(w, ")");
	}
	put(w, ".f%u", pick(w, w->nr_fields));
}

/* What can be assigned to, of type integer. */
static void place(struct writer *w, u32 depth)
{
	u32 kind = pick(w, 6);

	if (kind == 0 && w->nr_fields)
		field(w, depth);
	else if (kind == 1 && w->nr_arrays > w->nr_shared)
		element(w, w->nr_arrays - w->nr_shared, depth);
	else
		variable(w);
}

static void queue(struct writer *w, bool links, u32 depth)
{
	u32 i = pick(w, w->nr_queues + w->nr_groups + !links);

	if (i < w->nr_queues) {
		write_queue_name(w, i);
	} else if (i < w->nr_queues + w->nr_groups) {
		put(w, "g%u", i - w->nr_queues);
		index_of(w, 4, depth);
	} else {
		put(w, "_free_queue");
	}
}

/* No command takes NONE, and it has no fields. */
static void some_page(struct writer *w, u32 depth)
{
	bool before = w->no_none;

	w->no_none = true;
	page(w, depth);
	w->no_none = before;
}

static void argument(struct writer *w, u8 kind, u32 depth)
{
	const char *s;

	switch (ampc_kind_type(kind)) {
	case AMPC_INT:
		integer(w, depth);
		return;
	case AMPC_PAGE:
		some_page(w, depth);
		return;
	case AMPC_QUEUE:
		queue(w, kind == HIPEC_KIND_QUEUE_OUT, depth);
		return;
	case AMPC_INTS:
		put(w, "a%u", pick(w, w->nr_arrays - w->nr_shared));
		return;
	default:
		break;
	}
	do {
		s = hipec_vm_selector(kind, pick(w, 4));
	} while (!s);
	for (; *s; s++)
		put(w, "%c", toupper((u8)*s));
}

/* Whether @op can be written: a sketch is an array that is the policy's own. */
static bool is_command(const struct writer *w, u8 op)
{
	u32 i;

	for (i = 0; ampc_builtin_is(op) && i < ampc_builtin_nr_args(op); i++)
		if (ampc_builtin_arg_kind(op, i) == HIPEC_KIND_SKETCH)
			return w->nr_arrays > w->nr_shared;
	return ampc_builtin_is(op);
}

/* A call of any command whose result is of that type. */
static void command(struct writer *w, enum ampc_type type, u32 depth)
{
	u32 i;
	u8 op;

	do {
		op = pick(w, 256);
	} while (!is_command(w, op) || ampc_builtin_type(op) != type);
	put(w, "%s(", hipec_ops[op].word);
	for (i = 0; i < ampc_builtin_nr_args(op); i++) {
		put(w, "%s", i ? ", " : "");
		argument(w, ampc_builtin_arg_kind(op, i), depth);
	}
	put(w, ")");
}

static void change(struct writer *w, u32 depth)
{
	static const char *const ops[] = {
		"=", "=", "=", "=", "+=", "-=", "*=", "&=", "|=", "^=",
	};

	switch (pick(w, 6)) {
	case 0:
		put(w, "++");
		place(w, depth);
		break;
	case 1:
		place(w, depth);
		put(w, "--");
		break;
	case 2:
		place(w, depth);
		put(w, " %s= ", pick(w, 2) ? ">>" : "<<");
		if (pick(w, 2))
			put(w, "%u", pick(w, 64));
		else
			unknown(w);
		break;
	case 3:
		place(w, depth);
		put(w, " %c= ", pick(w, 2) ? '/' : '%');
		if (pick(w, 2))
			put(w, "%u", 1 + pick(w, 9));
		else
			unknown(w);
		break;
	default:
		place(w, depth);
		put(w, " %s ", ops[pick(w, ARRAY_SIZE(ops))]);
		integer(w, depth);
	}
}

/* A condition: an integer or a page; whether it may be known. */
bool write_condition(struct writer *w, u32 depth)
{
	if (depth && one_in(w->state, 4)) {
		page(w, depth - 1);
		return false;
	}
	return integer(w, depth);
}

static bool binary(struct writer *w, u32 depth)
{
	static const char *const ops[] = {
		"+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>",
	};
	u32 op = pick(w, ARRAY_SIZE(ops));
	bool known = integer(w, depth);

	put(w, " %s ", ops[op]);
	if (known || (op >= 6 && pick(w, 2)))
		unknown(w);
	else if (op >= 6)
		put(w, "%u", 1 + pick(w, 60));
	else
		integer(w, depth);
	return false;
}

static bool comparison(struct writer *w, u32 depth)
{
	static const char *const ops[] = { "==", "!=", "<", ">", "<=", ">=" };
	u32 op = pick(w, ARRAY_SIZE(ops));
	bool known;

	if (op < 2 && pick(w, 2)) {
		page(w, depth);
		put(w, " %s ", ops[op]);
		page(w, depth);
		return true;
	}
	known = integer(w, depth);
	put(w, " %s ", ops[op]);
	return integer(w, depth) && known;
}

static bool composed(struct writer *w, u32 depth)
{
	bool known;

	switch (pick(w, 8)) {
	case 0:
		put(w, "!");
		return integer(w, 0);
	case 1:
		put(w, "%c", pick(w, 2) ? '-' : '~');
		unknown(w);
		return false;
	case 2:
		known = write_condition(w, depth);
		put(w, " ? ");
		known |= integer(w, depth);
		put(w, " : ");
		return integer(w, depth) || known;
	case 3:
		known = write_condition(w, depth);
		put(w, pick(w, 2) ? " && " : " || ");
		return write_condition(w, depth) || known;
	case 4:
		return comparison(w, depth);
	case 5:
		change(w, depth);
		return false;
	default:
		return binary(w, depth);
	}
}

/* An integer; whether the compiler may know its value. */
static bool integer(struct writer *w, u32 depth)
{
	bool known;

	switch (pick(w, depth ? 12 : 4)) {
	case 0:
		put(w, "%s", numbers[pick(w, ARRAY_SIZE(numbers))]);
		return true;
	case 1:
		if (w->nr_consts) {
			put(w, "c%u", pick(w, w->nr_consts));
			return true;
		}
		/* fall through */
	case 2:
	case 3:
		unknown(w);
		return false;
	case 4:
		command(w, AMPC_INT, depth - 1);
		return false;
	case 5:
		if (w->nr_arrays)
			element(w, w->nr_arrays, depth - 1);
		else
			unknown(w);
		return false;
	case 6:
		if (w->nr_fields)
			field(w, depth - 1);
		else
			unknown(w);
		return false;
	default:
		put(w, "(");
		known = composed(w, depth - 1);
		put(w, ")");
		return known;
	}
}

static void page(struct writer *w, u32 depth)
{
	switch (pick(w, depth ? 8 : 4)) {
	case 0:
		if (w->no_none)
			write_page_name(w, pick(w, w->nr_pages));
		else
			put(w, one_in(w->state, 4) ? "none" : "NONE");
		break;
	case 4:
	case 5:
		command(w, AMPC_PAGE, depth - 1);
		break;
	case 6:
		put(w, "(");
		write_page_name(w, pick(w, w->nr_pages));
		put(w, " = ");
		page(w, depth - 1);
		put(w, ")");
		break;
	case 7:
		put(w, "(");
		write_condition(w, depth - 1);
		put(w, " ? ");
		page(w, depth - 1);
		put(w, " : ");
		page(w, depth - 1);
		put(w, ")");
		break;
	default:
		write_page_name(w, pick(w, w->nr_pages));
	}
}

/* A statement that is an expression. */
void write_effect(struct writer *w, u32 depth)
{
	switch (pick(w, 7)) {
	case 0:
	case 1:
		write_page_name(w, pick(w, w->nr_pages));
		put(w, " = ");
		page(w, depth);
		break;
	case 2:
		command(w, AMPC_INT, depth);
		break;
	case 3:
		command(w, AMPC_PAGE, depth);
		break;
	case 4:
		/* Those without a value: what changes a sketch. */
		if (w->nr_arrays > w->nr_shared) {
			command(w, AMPC_VOID, depth);
			break;
		}
		/* fall through */
	default:
		change(w, depth);
	}
}
