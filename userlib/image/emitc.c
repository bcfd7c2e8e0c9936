// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy in C. See emitc.h.
 *
 * The text follows the policy word by word: a label where something jumps to, a line for
 * each command. Commands are counted where a run of them ends that is always run
 * whole, so before each jump and each label; what ends an event in between counts what is
 * pending there. native/policy.h has the words that are used here.
 *
 * What never changes is written as a number: integers that no command writes and nobody
 * may set, the numbers of queues, fields and arrays, and how long arrays are.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "emitc.h"

#define LINE 256	/* longest text of a command, bytes */

struct emit {
	const struct hipec_policy *p;
	const char *entry;
	FILE *out;
	bool *target;		/* by word: something jumps there */
	bool written[HIPEC_NR_SLOTS];	/* by a command */
	u32 number[HIPEC_NR_SLOTS];	/* of a queue, a field, an array */
	u32 first[HIPEC_NR_SLOTS];	/* queue of an array */
	const struct hipec_image_event *event;	/* the one that is written */
	u32 word;		/* the command, */
	u8 a, b, c;		/* and its operands */
	u32 pending;		/* commands that are not counted yet */
};

__attribute__((format(printf, 2, 3)))
static void say(const struct emit *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(e->out, fmt, ap);
	va_end(ap);
}

/* What a policy calls something must not end the comment that it is in. */
static void say_comment(const struct emit *e, const char *before, const char *text)
{
	say(e, "%s/* ", before);
	for (; *text; text++)
		fputc(*text == '*' ? '+' : *text, e->out);
	say(e, " */\n");
}

/* Slots that commands write, and words that something jumps to. */
static void look_at_commands(struct emit *e)
{
	const struct hipec_policy *p = e->p;
	u32 i, pc, k;

	for (i = 0; i < p->image->nr_events; i++) {
		const struct hipec_image_event *event = &p->event[i];

		for (pc = 1; pc < event->nr; pc++) {
			u32 w = p->words[event->first + pc];
			const struct hipec_op *op = &hipec_ops[hipec_word_op(w)];

			if (op->flags & HIPEC_OPF_JUMP)
				e->target[event->first + hipec_word_target(w)] = true;
			for (k = 0; k < 3; k++)
				if (hipec_vm_kind_flags(op->kind[k]) & HIPEC_KINDF_WRITE)
					e->written[(u8)(w >> (16 - 8 * k))] = true;
		}
	}
}

/* Queues, fields and arrays, numbered as hipec_vm_init() does it. */
static void number_operands(struct emit *e)
{
	const struct hipec_policy *p = e->p;
	u32 queue = HIPEC_QUEUE_POLICY, field = 0, array = 0, i;

	for (i = HIPEC_SLOT_POLICY; i < p->image->nr_operands; i++) {
		switch (p->operand[i].type) {
		case HIPEC_TYPE_QUEUE:
			e->number[i] = queue++;
			break;
		case HIPEC_TYPE_QUEUES:
			e->first[i] = queue;
			queue += p->operand[i].value;
			e->number[i] = array++;
			break;
		case HIPEC_TYPE_INTS:
			e->number[i] = array++;
			break;
		case HIPEC_TYPE_FIELD:
			e->number[i] = field++;
			break;
		}
	}
}

/* Whether an integer or a page has the same value from the load on. */
static bool is_known(const struct emit *e, u8 slot)
{
	const struct hipec_image_operand *o = &e->p->operand[slot];

	return slot >= HIPEC_SLOT_POLICY && slot < e->p->image->nr_operands &&
	       o->type == HIPEC_TYPE_INT && !(o->flags & HIPEC_OPERAND_PARAM) &&
	       !e->written[slot];
}

struct word {
	char text[32];
};

/* The value of an integer or a page. */
static struct word value(const struct emit *e, u8 slot)
{
	struct word w;

	if (!is_known(e, slot))
		snprintf(w.text, sizeof(w.text), "S(0x%02x)", slot);
	else if (e->p->operand[slot].value == S64_MIN)
		snprintf(w.text, sizeof(w.text), "S64_MIN");
	else
		snprintf(w.text, sizeof(w.text), "(s64)%lld",
			 (long long)e->p->operand[slot].value);
	return w;
}

#define VALUE(e, slot) value(e, slot).text

/* The number of the queue that a slot stands for. */
static struct word queue(const struct emit *e, u8 slot)
{
	struct word w;

	if (slot && e->p->operand[slot].type == HIPEC_TYPE_QUEUE_REF)
		snprintf(w.text, sizeof(w.text), "(u32)S(0x%02x)", slot);
	else
		snprintf(w.text, sizeof(w.text), "%u", e->number[slot]);
	return w;
}

#define QUEUE(e, slot) queue(e, slot).text

/* What has been run since the last count is counted. */
static void count(struct emit *e)
{
	if (e->pending)
		say(e, "\tCOUNT(%u);\n", e->pending);
	e->pending = 0;
}

/* Where a command goes that ends the event: the word to blame, and what was run. */
static void say_place(const struct emit *e)
{
	say(e, "%u, %u);\n", e->word, e->pending);
}

static void emit_return(struct emit *e)
{
	count(e);
	say(e, "\treturn 0;\n");
}

static void emit_jump(struct emit *e)
{
	static const char *const test[] = {
		[HIPEC_COND_ALWAYS] = "", [HIPEC_COND_IF] = "if (vm->condition) ",
		[HIPEC_COND_IFNOT] = "if (!vm->condition) ",
	};
	u32 to = e->event->first + hipec_word_target(e->p->words[e->word]);

	count(e);
	say(e, "\t%sGO%s(%u);\n", test[e->a], to > e->word ? "" : "_BACK", to);
}

static void emit_call(struct emit *e)
{
	count(e);
	say(e, "\tCALL(%s_event_%u, %u);\n", e->entry, e->a,
	    hipec_event_first(e->p, e->a) + 1);
}

static void emit_arith(struct emit *e)
{
	if (e->c == HIPEC_ARITH_DIV || e->c == HIPEC_ARITH_MOD) {
		say(e, "\tDIVIDE(0x%02x, %s, %s, ", e->a, VALUE(e, e->b),
		    e->c == HIPEC_ARITH_MOD ? "true" : "false");
		say_place(e);
	} else {
		say(e, "\tARITH_%s(0x%02x, %s);\n", hipec_vm_selector(HIPEC_KIND_ARITH, e->c),
		    e->a, hipec_vm_selector_unary(HIPEC_KIND_ARITH, e->c) ? "0" :
									 VALUE(e, e->b));
	}
}

static void emit_comp(struct emit *e)
{
	static const char *const sign[] = {
		[HIPEC_COMP_GT] = ">", [HIPEC_COMP_LT] = "<", [HIPEC_COMP_GE] = ">=",
		[HIPEC_COMP_LE] = "<=", [HIPEC_COMP_EQ] = "==", [HIPEC_COMP_NE] = "!=",
	};

	say(e, "\tTEST(%s %s %s);\n", VALUE(e, e->a), sign[e->c], VALUE(e, e->b));
}

static void emit_logic(struct emit *e)
{
	say(e, "\tLOGIC_%s(0x%02x, %s);\n", hipec_vm_selector(HIPEC_KIND_LOGIC, e->c), e->a,
	    hipec_vm_selector_unary(HIPEC_KIND_LOGIC, e->c) ? "0" : VALUE(e, e->b));
}

static void emit_emptyq(struct emit *e)
{
	say(e, "\tTEST(!vm->queue[%s].count);\n", QUEUE(e, e->a));
}

static void emit_inq(struct emit *e)
{
	say(e, "\tTEST(is_on(vm, S(0x%02x), %s));\n", e->a, QUEUE(e, e->b));
}

static void emit_length(struct emit *e)
{
	say(e, "\tS(0x%02x) = vm->queue[%s].count;\n", e->a, QUEUE(e, e->b));
}

static void emit_peek(struct emit *e)
{
	say(e, "\tTEST(S(0x%02x) = vm->queue[%s].%s);\n", e->a, QUEUE(e, e->b),
	    hipec_vm_selector(HIPEC_KIND_END, e->c));
}

/* A command on queues with a function of ops_page.c that takes the queue's number. */
static void emit_queue(struct emit *e, const char *function)
{
	say(e, "\tEND_IF(%s(vm, INSN(%u, %u, %u), %s), ", function, e->a, e->b, e->c,
	    QUEUE(e, e->b));
	say_place(e);
}

static void emit_dequeue(struct emit *e)
{
	emit_queue(e, "dequeue_page");
}

static void emit_enqueue(struct emit *e)
{
	emit_queue(e, "enqueue_page");
}

/* By its handler, as the interpreter. */
static void emit_called(struct emit *e)
{
	static const char *const fn[256] = {
#define X(name, fn, ...) [HIPEC_OP_##name] = #fn,
		HIPEC_COMMANDS_CALLED(X)
#undef X
	};

	say(e, "\tEND_IF(hipec_op_%s(vm, INSN(%u, %u, %u)), ",
	    fn[hipec_word_op(e->p->words[e->word])], e->a, e->b, e->c);
	say_place(e);
}

/* Unless @index is in the array of @slot: its handler ends the event. */
static void check_index(struct emit *e, u8 slot, u8 index)
{
	say(e, "\tif (unlikely((u64)%s >= %lld))\n\t", VALUE(e, index),
	    (long long)e->p->operand[slot].value);
	emit_called(e);
}

static void emit_load(struct emit *e)
{
	check_index(e, e->b, e->c);
	say(e, "\tS(0x%02x) = READ_ONCE(vm->array[%u].element[%s]);\n", e->a,
	    e->number[e->b], VALUE(e, e->c));
}

static void emit_store(struct emit *e)
{
	check_index(e, e->a, e->b);
	say(e, "\tvm->array[%u].element[%s] = %s;\n", e->number[e->a], VALUE(e, e->b),
	    VALUE(e, e->c));
}

static void emit_select(struct emit *e)
{
	check_index(e, e->b, e->c);
	say(e, "\tS(0x%02x) = %u + %s;\n", e->a, e->first[e->b], VALUE(e, e->c));
}

/* Unless the page in @slot may be named: its handler ends the event. */
static void check_page(struct emit *e, u8 slot)
{
	say(e, "\tif (unlikely(!is_named(vm, S(0x%02x))))\n\t", slot);
	emit_called(e);
}

static void emit_get(struct emit *e)
{
	check_page(e, e->b);
	say(e, "\tS(0x%02x) = vm->field[S(0x%02x) * %u + %u];\n", e->a, e->b,
	    e->p->nr_fields, e->number[e->c]);
}

static void emit_put(struct emit *e)
{
	check_page(e, e->a);
	say(e, "\tvm->field[S(0x%02x) * %u + %u] = %s;\n", e->a, e->p->nr_fields,
	    e->number[e->b], VALUE(e, e->c));
}

static void emit_copy(struct emit *e)
{
	say(e, "\tS(0x%02x) = S(0x%02x);\n", e->a, e->b);
}

static void emit_same(struct emit *e)
{
	say(e, "\tTEST(S(0x%02x) == S(0x%02x));\n", e->a, e->b);
}

/* How a command is written; one without a row is called. */
static void emit_command(struct emit *e)
{
	static void (*const row[256])(struct emit *e) = {
		[HIPEC_OP_RETURN] = emit_return,
		[HIPEC_OP_JUMP] = emit_jump,
		[HIPEC_OP_CALL] = emit_call,
		[HIPEC_OP_ARITH] = emit_arith,
		[HIPEC_OP_COMP] = emit_comp,
		[HIPEC_OP_LOGIC] = emit_logic,
		[HIPEC_OP_EMPTYQ] = emit_emptyq,
		[HIPEC_OP_INQ] = emit_inq,
		[HIPEC_OP_DEQUEUE] = emit_dequeue,
		[HIPEC_OP_ENQUEUE] = emit_enqueue,
		[HIPEC_OP_LENGTH] = emit_length,
		[HIPEC_OP_PEEK] = emit_peek,
		[HIPEC_OP_LOAD] = emit_load,
		[HIPEC_OP_STORE] = emit_store,
		[HIPEC_OP_SELECT] = emit_select,
		[HIPEC_OP_GET] = emit_get,
		[HIPEC_OP_PUT] = emit_put,
		[HIPEC_OP_COPY] = emit_copy,
		[HIPEC_OP_SAME] = emit_same,
	};
	u32 w = e->p->words[e->word];
	u8 op = hipec_word_op(w);
	char line[LINE];
	struct hipec_text text;

	hipec_text_init(&text, line, sizeof(line));
	hipec_disasm(e->p, w, &text);
	say_comment(e, "\t", line);
	e->a = hipec_word_a(w);
	e->b = hipec_word_b(w);
	e->c = hipec_word_c(w);
	e->pending++;
	(row[op] ? row[op] : emit_called)(e);
}

static void emit_event(struct emit *e, const struct hipec_image_event *event)
{
	u32 pc;

	e->event = event;
	e->pending = 0;
	say_comment(e, "\n", hipec_image_policy_name(e->p, event->name));
	say(e, "EVENT(%s_event_%u)\n{\n", e->entry, event->number);
	for (pc = 1; pc < event->nr; pc++) {
		e->word = event->first + pc;
		if (e->target[e->word]) {
			count(e);
			say(e, "w%u:\n", e->word);
		}
		emit_command(e);
	}
	say(e, "}\n");
}

/* The functions of all events are named first: one may call one that is below it. */
static void emit_events(struct emit *e)
{
	const struct hipec_policy *p = e->p;
	u32 i;

	say(e, "\n");
	for (i = 0; i < p->image->nr_events; i++)
		say(e, "EVENT(%s_event_%u);\n", e->entry, p->event[i].number);
	for (i = 0; i < p->image->nr_events; i++)
		emit_event(e, &p->event[i]);
	say(e, "\nENTRY(%s)\n{\n\tENTER();\n", e->entry);
	for (i = 0; i < p->image->nr_events; i++)
		say(e, "\tRUN(%s_event_%u, %u);\n", e->entry, p->event[i].number,
		    p->event[i].number);
	say(e, "\tLEAVE();\n}\n");
}

/* Print what a file of policies in C begins with. */
void hipec_emit_c_head(FILE *out)
{
	fputs("#include \"policy.h\"\n", out);
}

/**
 * hipec_emit_c() - print a policy in C
 * @p:     verified
 * @entry: name of its entry, which runs an event (native_find()); its other names
 *         begin with that
 * @out:   where to; hipec_emit_c_head() comes first
 *
 * Return: 0; -ENOMEM.
 * Source: ours.
 */
int hipec_emit_c(const struct hipec_policy *p, const char *entry, FILE *out)
{
	struct emit e = {
		.p = p, .entry = entry, .out = out,
		.target = calloc(p->image->nr_words + 1, sizeof(*e.target)),
	};

	if (!e.target)
		return -ENOMEM;
	look_at_commands(&e);
	number_operands(&e);
	emit_events(&e);
	free(e.target);
	return 0;
}
