// SPDX-License-Identifier: GPL-2.0-only
/*
 * How each command is translated. A command without a row of its own here is run by
 * the function that the interpreter calls, so adding one never needs this file.
 *
 * A row that is inline leaves what goes wrong to that same function, out of line: it
 * finds out once more, and says what the exit's record says. The numbers of queues,
 * arrays and fields, and lengths of arrays, are those that hipec_vm_init() gave: no
 * command writes them. Slots of integers, pages and queue variables are read anew.
 */
#include "emit.h"

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2

#define PAGE_OFFSET_OF(member) ((s16)offsetof(struct hipec_page, member))
#define PAGE_SHIFT_OF_VA 12

static u8 a_of(const struct hipec_jit *j, u32 word)
{
	return hipec_word_a(word_of(j, word));
}

static u8 b_of(const struct hipec_jit *j, u32 word)
{
	return hipec_word_b(word_of(j, word));
}

static u8 c_of(const struct hipec_jit *j, u32 word)
{
	return hipec_word_c(word_of(j, word));
}

/* Whether a slot never changes, and fits an instruction: @value. */
static bool is_constant(const struct hipec_jit *j, u8 slot, s32 *value)
{
	s64 v = j->vm->slot[slot];

	*value = v;
	return slot < HIPEC_SLOT_SYSTEM &&
	       j->vm->policy->operand[slot].flags & HIPEC_OPERAND_CONST && *value == v;
}

/* The command's handler, and what follows if it ends the policy. */
static void translate_called(struct hipec_jit *j, u32 word)
{
	u32 w = word_of(j, word);

	call(j, word, hipec_word_op(w));
	if (!hipec_jit_stays(w))
		jump_if_kind(j, BPF_JNE, want_stub(j, word, STUB_END));
}

/* R0 = R0 @op slot @b. */
static void alu_slot(struct hipec_jit *j, u8 op, u8 b)
{
	s32 value;

	if (is_constant(j, b, &value)) {
		alu_imm(j, op, R0, value);
		return;
	}
	load_slot(j, R1, b);
	alu(j, op, R0, R1);
}

/* A shift by as many bits as the lowest six of slot @b say. */
static void shift(struct hipec_jit *j, u8 op, u8 b)
{
	s32 value;

	if (is_constant(j, b, &value)) {
		alu_imm(j, op, R0, value & 63);
		return;
	}
	load_slot(j, R1, b);
	alu_imm(j, BPF_AND, R1, 63);
	alu(j, op, R0, R1);
}

/* Of numbers that are not negative; others, and 0, go out of line. */
static void divide(struct hipec_jit *j, u32 word, u8 op)
{
	u32 stub = want_stub(j, word, STUB_ARITH);
	u8 b = b_of(j, word);
	s32 value;

	load_slot(j, R0, a_of(j, word));
	jump_if(j, test_imm(BPF_JSLT, R0, 0), stub);
	if (is_constant(j, b, &value) && value > 0) {
		alu_imm(j, op, R0, value);
	} else {
		load_slot(j, R1, b);
		jump_if(j, test_imm(BPF_JSLE, R1, 0), stub);
		alu(j, op, R0, R1);
	}
	store_slot(j, a_of(j, word), R0);
	j->place[word].back = j->nr;
}

static void set(struct hipec_jit *j, u8 a, u8 b)
{
	s32 value;

	if (is_constant(j, b, &value)) {
		store_imm(j, BPF_DW, VM, slot_offset(a), value);
		return;
	}
	load_slot(j, R0, b);
	store_slot(j, a, R0);
}

static void translate_arith(struct hipec_jit *j, u32 word)
{
	static const u8 simple[] = {
		[HIPEC_ARITH_ADD] = BPF_ADD, [HIPEC_ARITH_SUB] = BPF_SUB,
		[HIPEC_ARITH_MUL] = BPF_MUL, [HIPEC_ARITH_AND] = BPF_AND,
		[HIPEC_ARITH_OR] = BPF_OR, [HIPEC_ARITH_XOR] = BPF_XOR,
	};
	u8 a = a_of(j, word), b = b_of(j, word), selector = c_of(j, word);

	switch (selector) {
	case HIPEC_ARITH_SET:
		set(j, a, b);
		return;
	case HIPEC_ARITH_DIV:
	case HIPEC_ARITH_MOD:
		divide(j, word, selector == HIPEC_ARITH_DIV ? BPF_DIV : BPF_MOD);
		return;
	}
	load_slot(j, R0, a);
	switch (selector) {
	case HIPEC_ARITH_INC:
	case HIPEC_ARITH_DEC:
		alu_imm(j, BPF_ADD, R0, selector == HIPEC_ARITH_INC ? 1 : -1);
		break;
	case HIPEC_ARITH_SHL:
	case HIPEC_ARITH_SHR:
		shift(j, selector == HIPEC_ARITH_SHL ? BPF_LSH : BPF_ARSH, b);
		break;
	default:
		alu_slot(j, simple[selector], b);
	}
	store_slot(j, a, R0);
}

/* Whether slot @a, in R0, stands to slot @b as @op says. */
static struct test compare(struct hipec_jit *j, u8 op, u8 b)
{
	s32 value;

	if (is_constant(j, b, &value))
		return test_imm(op, R0, value);
	load_slot(j, R1, b);
	return test_reg(op, R0, R1);
}

static void translate_comp(struct hipec_jit *j, u32 word)
{
	static const u8 op[] = {
		[HIPEC_COMP_GT] = BPF_JSGT, [HIPEC_COMP_LT] = BPF_JSLT,
		[HIPEC_COMP_GE] = BPF_JSGE, [HIPEC_COMP_LE] = BPF_JSLE,
		[HIPEC_COMP_EQ] = BPF_JEQ, [HIPEC_COMP_NE] = BPF_JNE,
	};

	load_slot(j, R0, a_of(j, word));
	hipec_jit_finish(j, word, compare(j, op[c_of(j, word)], b_of(j, word)));
}

/* R2 = the truth value of R0 @selector R1. */
static void truth(struct hipec_jit *j, u8 selector)
{
	const struct test a = test_imm(BPF_JEQ, R0, 0), b = test_imm(BPF_JEQ, R1, 0);

	switch (selector) {
	case HIPEC_LOGIC_AND:
		set32(j, R2, 0);
		skip_if(j, a, 2);
		skip_if(j, b, 1);
		set32(j, R2, 1);
		break;
	case HIPEC_LOGIC_OR:
		alu(j, BPF_OR, R0, R1);
		set32(j, R2, 0);
		skip_if(j, a, 1);
		set32(j, R2, 1);
		break;
	case HIPEC_LOGIC_XOR:
		set32(j, R2, 0);
		skip_if(j, a, 1);
		set32(j, R2, 1);
		skip_if(j, b, 1);
		alu_imm(j, BPF_XOR, R2, 1);
		break;
	case HIPEC_LOGIC_NOT:
		set32(j, R2, 1);
		skip_if(j, a, 1);
		set32(j, R2, 0);
		break;
	}
}

static void translate_logic(struct hipec_jit *j, u32 word)
{
	u8 selector = c_of(j, word);

	load_slot(j, R0, a_of(j, word));
	if (selector != HIPEC_LOGIC_NOT)
		load_slot(j, R1, b_of(j, word));
	truth(j, selector);
	store_slot(j, a_of(j, word), R2);
	if (hipec_jit_fuses(j, word))
		hipec_jit_finish(j, word, test_imm(BPF_JNE, R2, 0));
	else
		store(j, BPF_B, VM, VM_OFFSET(condition), R2);
}

/* A queue's number, if it is always the same. */
static bool is_known_queue(const struct hipec_jit *j, u8 slot)
{
	return j->vm->policy->operand[slot].type == HIPEC_TYPE_QUEUE;
}

/* R0 = a 32-bit member, @offset bytes into it, of the queue in @slot. */
static void load_of_queue(struct hipec_jit *j, u8 slot, size_t offset)
{
	s64 at = j->vm->slot[slot] * (s64)sizeof(struct hipec_queue) + offset;

	load(j, BPF_DW, R0, VM, VM_OFFSET(queue));
	if (!is_known_queue(j, slot) || at > 32767) {
		load_slot(j, R1, slot);
		alu_imm(j, BPF_MUL, R1, sizeof(struct hipec_queue));
		alu(j, BPF_ADD, R0, R1);
		at = offset;
	}
	load(j, BPF_W, R0, R0, at);
}

static void translate_emptyq(struct hipec_jit *j, u32 word)
{
	load_of_queue(j, a_of(j, word), offsetof(struct hipec_queue, count));
	hipec_jit_finish(j, word, test_imm(BPF_JEQ, R0, 0));
}

/* R0 = the entry of the page in @slot, of which R1 is the handle. */
static void load_page(struct hipec_jit *j, u8 slot)
{
	load_slot(j, R1, slot);
	alu(j, BPF_MOV, R0, R1);
	alu_imm(j, BPF_MUL, R0, sizeof(struct hipec_page));
	alu(j, BPF_ADD, R0, PAGES);
}

/*
 * The same, of a page that may be named. Entry 0, which is no page, may never be: that
 * a page is none, or gone, is found out and told by the handler.
 */
static void load_named_page(struct hipec_jit *j, u32 word, u8 slot)
{
	load_page(j, slot);
	load(j, BPF_H, R2, R0, PAGE_OFFSET_OF(flags));
	alu_imm(j, BPF_AND, R2, HIPEC_PAGE_NAMED);
	jump_if(j, test_imm(BPF_JEQ, R2, 0), want_stub(j, word, STUB_CALL));
}

static void translate_inq(struct hipec_jit *j, u32 word)
{
	u8 b = b_of(j, word);

	load_page(j, a_of(j, word));
	load(j, BPF_H, R1, R0, PAGE_OFFSET_OF(flags));
	load(j, BPF_H, R0, R0, PAGE_OFFSET_OF(queue));
	alu_imm(j, BPF_AND, R1, HIPEC_PAGE_NAMED);
	skip_if(j, test_imm(BPF_JNE, R1, 0), 1);
	alu_imm(j, BPF_MOV, R0, -1);	/* no queue's number */
	if (is_known_queue(j, b)) {
		hipec_jit_finish(j, word, test_imm(BPF_JEQ, R0, j->vm->slot[b]));
		return;
	}
	load_slot(j, R1, b);
	hipec_jit_finish(j, word, test_reg(BPF_JEQ, R0, R1));
}

/* Slot @slot becomes the page in R0, the condition whether it is one. */
static void answer(struct hipec_jit *j, u32 word, u8 slot)
{
	store_slot(j, slot, R0);
	hipec_jit_finish(j, word, test_imm(BPF_JNE, R0, 0));
}

static void translate_peek(struct hipec_jit *j, u32 word)
{
	load_of_queue(j, b_of(j, word), c_of(j, word) == HIPEC_END_HEAD ?
		      offsetof(struct hipec_queue, head) :
		      offsetof(struct hipec_queue, tail));
	answer(j, word, a_of(j, word));
}

static void translate_next(struct hipec_jit *j, u32 word)
{
	load_named_page(j, word, b_of(j, word));
	load(j, BPF_H, R1, R0, PAGE_OFFSET_OF(queue));
	load(j, BPF_W, R0, R0, c_of(j, word) == HIPEC_END_TAIL ? PAGE_OFFSET_OF(next) :
								PAGE_OFFSET_OF(prev));
	skip_if(j, test_imm(BPF_JGE, R1, HIPEC_QUEUE_POLICY), 1);
	set32(j, R0, 0);
	answer(j, word, a_of(j, word));
}

static void translate_length(struct hipec_jit *j, u32 word)
{
	load_of_queue(j, b_of(j, word), offsetof(struct hipec_queue, count));
	store_slot(j, a_of(j, word), R0);
}

/* The array in @slot; how many it has is @nr. */
static const struct hipec_array *array_of(const struct hipec_jit *j, u8 slot, s32 *nr)
{
	*nr = j->vm->policy->operand[slot].value;
	return &j->vm->array[j->vm->slot[slot]];
}

/* R1 = element @index, a slot, of the array of integers in @slot: its address. */
static void load_element(struct hipec_jit *j, u32 word, u8 slot, u8 index)
{
	s32 nr;
	const struct hipec_array *array = array_of(j, slot, &nr);

	load_slot(j, R0, index);
	/* Without a sign, a negative index is too large. */
	jump_if(j, test_imm(BPF_JGE, R0, nr), want_stub(j, word, STUB_CALL));
	load(j, BPF_DW, R1, VM, VM_OFFSET(array));
	load(j, BPF_DW, R1, R1, (array - j->vm->array) * sizeof(*array) +
	     offsetof(struct hipec_array, element));
	alu_imm(j, BPF_LSH, R0, 3);
	alu(j, BPF_ADD, R1, R0);
}

static void translate_load(struct hipec_jit *j, u32 word)
{
	load_element(j, word, b_of(j, word), c_of(j, word));
	load(j, BPF_DW, R0, R1, 0);
	store_slot(j, a_of(j, word), R0);
}

static void translate_store(struct hipec_jit *j, u32 word)
{
	load_element(j, word, a_of(j, word), b_of(j, word));
	load_slot(j, R0, c_of(j, word));
	store(j, BPF_DW, R1, 0, R0);
}

static void translate_select(struct hipec_jit *j, u32 word)
{
	s32 nr;
	const struct hipec_array *array = array_of(j, b_of(j, word), &nr);

	load_slot(j, R0, c_of(j, word));
	jump_if(j, test_imm(BPF_JGE, R0, nr), want_stub(j, word, STUB_CALL));
	alu_imm(j, BPF_ADD, R0, array->first);
	store_slot(j, a_of(j, word), R0);
}

/* R1 = the address of page fields, of the page whose handle R1 is. Return: of @field. */
static s16 load_field(struct hipec_jit *j, u8 field)
{
	alu_imm(j, BPF_MUL, R1, j->vm->nr_fields * sizeof(s64));
	load(j, BPF_DW, R0, VM, VM_OFFSET(field));
	alu(j, BPF_ADD, R1, R0);
	return j->vm->slot[field] * sizeof(s64);
}

static void translate_get(struct hipec_jit *j, u32 word)
{
	s16 offset;

	load_named_page(j, word, b_of(j, word));
	offset = load_field(j, c_of(j, word));
	load(j, BPF_DW, R0, R1, offset);
	store_slot(j, a_of(j, word), R0);
}

static void translate_put(struct hipec_jit *j, u32 word)
{
	s16 offset;

	load_named_page(j, word, a_of(j, word));
	offset = load_field(j, b_of(j, word));
	load_slot(j, R0, c_of(j, word));
	store(j, BPF_DW, R1, offset, R0);
}

static void translate_findva(struct hipec_jit *j, u32 word)
{
	load_named_page(j, word, b_of(j, word));
	load(j, BPF_W, R0, R0, PAGE_OFFSET_OF(pgno));
	alu_imm(j, BPF_LSH, R0, PAGE_SHIFT_OF_VA);
	store_slot(j, a_of(j, word), R0);
}

static void translate_resident(struct hipec_jit *j, u32 word)
{
	load_page(j, a_of(j, word));
	load(j, BPF_H, R0, R0, PAGE_OFFSET_OF(flags));
	alu_imm(j, BPF_AND, R0, HIPEC_PAGE_LIVE);
	hipec_jit_finish(j, word, test_imm(BPF_JNE, R0, 0));
}

static void translate_copy(struct hipec_jit *j, u32 word)
{
	set(j, a_of(j, word), b_of(j, word));
}

static void translate_same(struct hipec_jit *j, u32 word)
{
	load_slot(j, R0, a_of(j, word));
	hipec_jit_finish(j, word, compare(j, BPF_JEQ, b_of(j, word)));
}

/* How a command is translated. */
hipec_jit_translate *hipec_jit_row(u8 op)
{
	static hipec_jit_translate *const row[256] = {
		[HIPEC_OP_RETURN] = hipec_jit_return,
		[HIPEC_OP_JUMP] = hipec_jit_jump,
		[HIPEC_OP_CALL] = hipec_jit_call,
		[HIPEC_OP_ARITH] = translate_arith,
		[HIPEC_OP_COMP] = translate_comp,
		[HIPEC_OP_LOGIC] = translate_logic,
		[HIPEC_OP_EMPTYQ] = translate_emptyq,
		[HIPEC_OP_INQ] = translate_inq,
		[HIPEC_OP_FINDVA] = translate_findva,
		[HIPEC_OP_LOAD] = translate_load,
		[HIPEC_OP_STORE] = translate_store,
		[HIPEC_OP_SELECT] = translate_select,
		[HIPEC_OP_LENGTH] = translate_length,
		[HIPEC_OP_PEEK] = translate_peek,
		[HIPEC_OP_NEXT] = translate_next,
		[HIPEC_OP_GET] = translate_get,
		[HIPEC_OP_PUT] = translate_put,
		[HIPEC_OP_RESIDENT] = translate_resident,
		[HIPEC_OP_COPY] = translate_copy,
		[HIPEC_OP_SAME] = translate_same,
	};

	return row[op] ? row[op] : translate_called;
}
