// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec_vm_run() once more, as plainly as it can be said: one word at a time,
 * counted one by one, from the text of the command table and of vm.h. Nothing
 * is decoded and nothing fused. The commands that the core's loop only calls
 * are the core's own; what is written twice is what the loop holds itself.
 */
#include "harness.h"

/* Where an event stands. */
struct place {
	const struct hipec_image_event *event;
	u32 command;	/* the next one */
};

struct run {
	struct hipec_vm *vm;
	struct place at, caller[HIPEC_MAX_CALL_DEPTH];
	u32 depth;
	u64 nr_run;	/* commands */
	u64 next_look;	/* at fuel and time: when more have run than this */
	bool ended;
};

static u32 word_at(const struct run *r, const struct place *at)
{
	return r->vm->policy->words[at->event->first + at->command];
}

static struct place start_of(const struct run *r, u32 number)
{
	const struct hipec_policy *p = r->vm->policy;

	return (struct place){ &p->event[p->index[number] - 1], 1 };
}

static void plan_look(struct run *r)
{
	r->next_look = r->vm->fuel;
	if (r->vm->host->overtime && r->nr_run + HIPEC_POLL < r->next_look)
		r->next_look = r->nr_run + HIPEC_POLL;
}

/* Fuel and time: looked at behind calls and jumps backward. */
static u32 look(struct run *r)
{
	if (r->nr_run <= r->next_look)
		return 0;
	if (r->nr_run > r->vm->fuel)
		return HIPEC_EXIT_FUEL;
	if (r->vm->host->overtime && r->vm->host->overtime(r->vm))
		return HIPEC_EXIT_OVERTIME;
	plan_look(r);
	return 0;
}

static u32 run_return(struct run *r)
{
	if (r->depth)
		r->at = r->caller[--r->depth];
	else
		r->ended = true;
	return 0;
}

static u32 run_call(struct run *r, u32 w)
{
	r->caller[r->depth++] = r->at;
	r->at = start_of(r, hipec_word_a(w));
	return look(r);
}

static u32 run_jump(struct run *r, u32 w)
{
	u32 self = r->at.command - 1;
	u8 cond = hipec_word_a(w);

	if ((cond == HIPEC_COND_IF && !r->vm->condition) ||
	    (cond == HIPEC_COND_IFNOT && r->vm->condition))
		return 0;
	r->at.command = hipec_word_target(w);
	return r->at.command <= self ? look(r) : 0;
}

static u32 run_divide(struct hipec_vm *vm, s64 *a, s64 b, bool remainder)
{
	if (b && !(b == -1 && *a == S64_MIN)) {
		*a = remainder ? *a % b : *a / b;
		return 0;
	}
	vm->exit.operand = 2;
	return b ? HIPEC_EXIT_OVERFLOW : HIPEC_EXIT_DIV_ZERO;
}

static u32 run_arith(struct hipec_vm *vm, u32 w)
{
	s64 *a = &vm->slot[hipec_word_a(w)], b = vm->slot[hipec_word_b(w)];
	u64 n = *a;

	switch (hipec_word_c(w)) {
	case HIPEC_ARITH_ADD: n += b; break;
	case HIPEC_ARITH_SUB: n -= b; break;
	case HIPEC_ARITH_MUL: n *= b; break;
	case HIPEC_ARITH_INC: n++; break;
	case HIPEC_ARITH_DEC: n--; break;
	case HIPEC_ARITH_SET: n = b; break;
	case HIPEC_ARITH_AND: n &= b; break;
	case HIPEC_ARITH_OR: n |= b; break;
	case HIPEC_ARITH_XOR: n ^= b; break;
	case HIPEC_ARITH_SHL: n <<= b & 63; break;
	case HIPEC_ARITH_SHR: n = *a >> (b & 63); break;
	case HIPEC_ARITH_DIV: return run_divide(vm, a, b, false);
	case HIPEC_ARITH_MOD: return run_divide(vm, a, b, true);
	default: fuzz_check(false, "Arith has this selector");
	}
	*a = n;
	return 0;
}

static u32 run_comp(struct hipec_vm *vm, u32 w)
{
	s64 a = vm->slot[hipec_word_a(w)], b = vm->slot[hipec_word_b(w)];

	switch (hipec_word_c(w)) {
	case HIPEC_COMP_GT: vm->condition = a > b; break;
	case HIPEC_COMP_LT: vm->condition = a < b; break;
	case HIPEC_COMP_GE: vm->condition = a >= b; break;
	case HIPEC_COMP_LE: vm->condition = a <= b; break;
	case HIPEC_COMP_EQ: vm->condition = a == b; break;
	case HIPEC_COMP_NE: vm->condition = a != b; break;
	default: fuzz_check(false, "Comp has this selector");
	}
	return 0;
}

static u32 run_logic(struct hipec_vm *vm, u32 w)
{
	bool a = vm->slot[hipec_word_a(w)], b = vm->slot[hipec_word_b(w)];

	switch (hipec_word_c(w)) {
	case HIPEC_LOGIC_AND: a = a && b; break;
	case HIPEC_LOGIC_OR: a = a || b; break;
	case HIPEC_LOGIC_XOR: a = a != b; break;
	case HIPEC_LOGIC_NOT: a = !a; break;
	default: fuzz_check(false, "Logic has this selector");
	}
	vm->slot[hipec_word_a(w)] = a;
	vm->condition = a;
	return 0;
}

/* Whether the page in operand a is on the queue in operand b. */
static u32 run_inq(struct hipec_vm *vm, u32 w)
{
	s64 wanted = vm->slot[hipec_word_a(w)];
	u32 h = vm->queue[vm->slot[hipec_word_b(w)]].head;

	while (h && h != wanted)
		h = vm->page[h].next;
	vm->condition = h;
	return 0;
}

/* Operand @i (0 to 2) of a command. */
static u8 operand(u32 w, u32 i)
{
	return w >> (16 - 8 * i);
}

/* Whether a command's index lies outside the array that it names before. */
static bool index_outside(const struct hipec_vm *vm, u32 w)
{
	const u32 arrays = HIPEC_T(INTS) | HIPEC_T(QUEUES);
	const u8 *kind = hipec_ops[hipec_word_op(w)].kind;
	s64 length = 0, n;
	u32 i;

	for (i = 0; i < 3; i++) {
		n = vm->slot[operand(w, i)];
		if (length && hipec_vm_kind_types(kind[i]) & HIPEC_T(INT))
			return n < 0 || n >= length;
		if (hipec_vm_kind_types(kind[i]) & arrays && kind[i] != HIPEC_KIND_SKETCH)
			length = vm->policy->operand[operand(w, i)].value;
	}
	return false;
}

/* The page that a command which looks along a queue gives; -1: it is no such. */
static s64 page_ahead(const struct hipec_vm *vm, u32 w)
{
	bool tail = hipec_word_c(w) == HIPEC_END_TAIL;
	s64 b = vm->slot[operand(w, 1)];

	switch (hipec_word_op(w)) {
	case HIPEC_OP_DEQUEUE:
	case HIPEC_OP_PEEK:
		return tail ? vm->queue[b].tail : vm->queue[b].head;
	case HIPEC_OP_NEXT:
		if (vm->page[b].queue < HIPEC_QUEUE_POLICY)
			return 0;
		return tail ? vm->page[b].next : vm->page[b].prev;
	}
	return -1;
}

/* What is said of a command's outcome; the rest is for the invariants. */
static void check_outcome(const struct hipec_vm *vm, u32 w)
{
	s64 a = vm->slot[operand(w, 0)], b = vm->slot[operand(w, 1)];

	switch (hipec_word_op(w)) {
	case HIPEC_OP_PAGEAT:
		fuzz_check(a == (b >= 0 && b < vm->nr_pages &&
				 hipec_page_live(vm, b + 1) ? b + 1 : 0),
			   "PageAt gives the live page of an entry");
		break;
	case HIPEC_OP_RANDOM:
		/* Unless $b was $a. */
		fuzz_check(a >= 0 && (operand(w, 0) == operand(w, 1) || a < b),
			   "Random gives a number in its range");
		break;
	case HIPEC_OP_ENQUEUE:
		if (!vm->condition || !vm->queue[b].key)
			break;
		if (hipec_word_c(w) == HIPEC_END_TAIL)
			fuzz_check(!vm->page[a].next || vm->node[a].key <
				   vm->node[vm->page[a].next].key,
				   "a page goes behind those of an equal key");
		else
			fuzz_check(!vm->page[a].prev || vm->node[a].key >
				   vm->node[vm->page[a].prev].key,
				   "a page goes before those of an equal key");
	}
}

/* A command that the core has in a function of its own. */
static u32 run_called(struct hipec_vm *vm, u32 w)
{
	struct hipec_insn i = {
		.a = hipec_word_a(w), .b = hipec_word_b(w), .c = hipec_word_c(w),
	};
	bool outside = index_outside(vm, w);
	s64 ahead = page_ahead(vm, w);
	u32 kind;

	switch (hipec_word_op(w)) {
#define X(name, fn, ...)                        \
	case HIPEC_OP_##name:                   \
		kind = hipec_op_##fn(vm, i);    \
		break;
	HIPEC_COMMANDS_CALLED(X)
#undef X
	default:
		fuzz_check(false, "the reference knows every command");
		return 0;
	}
	fuzz_check(!outside || kind == HIPEC_EXIT_INDEX,
		   "an index outside its array ends the policy");
	if (kind)
		return kind;
	fuzz_check(ahead < 0 || vm->slot[i.a] == ahead,
		   "a page comes from the end that is named");
	check_outcome(vm, w);
	return 0;
}

static u32 run_command(struct run *r, u32 w)
{
	struct hipec_vm *vm = r->vm;

	switch (hipec_word_op(w)) {
	case HIPEC_OP_RETURN: return run_return(r);
	case HIPEC_OP_CALL: return run_call(r, w);
	case HIPEC_OP_JUMP: return run_jump(r, w);
	case HIPEC_OP_ARITH: return run_arith(vm, w);
	case HIPEC_OP_COMP: return run_comp(vm, w);
	case HIPEC_OP_LOGIC: return run_logic(vm, w);
	case HIPEC_OP_INQ: return run_inq(vm, w);
	case HIPEC_OP_EMPTYQ:
		vm->condition = !vm->queue[vm->slot[hipec_word_a(w)]].count;
		return 0;
	}
	return run_called(vm, w);
}

static void record(const struct run *r, struct hipec_exit *e, u32 kind,
		   const struct place *at)
{
	const u32 *lines = r->vm->policy->lines;

	e->kind = kind;
	e->event = at->event->number;
	e->command = at->command;
	e->word = word_at(r, at);
	e->line = lines ? lines[at->event->first + at->command] : 0;
}

/**
 * fuzz_reference_run() - what hipec_vm_run() does
 * @vm:    as there
 * @event: as there
 *
 * Return: as there.
 */
int fuzz_reference_run(struct hipec_vm *vm, u32 event)
{
	struct run r = { .vm = vm };
	struct place now;
	u32 kind = 0;

	vm->condition = false;
	r.at = start_of(&r, event);
	plan_look(&r);
	while (!r.ended && !kind) {
		now = r.at;
		r.at.command++;
		r.nr_run++;
		kind = run_command(&r, word_at(&r, &now));
	}
	vm->nr_commands += r.nr_run;
	vm->nr_events++;
	hipec_page_forget_evicted(vm);
	switch (kind) {
	case 0:
		return 0;
	case HIPEC_EXIT_OVERTIME:
		record(&r, &vm->late, kind, &r.at);
		vm->nr_late++;
		return -ETIMEDOUT;
	}
	record(&r, &vm->exit, kind, kind == HIPEC_EXIT_FUEL ? &r.at : &now);
	return -ECANCELED;
}
