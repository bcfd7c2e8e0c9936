// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands -> fewer commands, by looking at what they compute: a comparison of
 * known integers decides its jump, and what is written and not read again is
 * not computed. Nothing that can end a policy is taken away: a division, or a
 * command that is handed a page.
 *
 * A variable lives on in other events, so at a return or call all of them are
 * read. Temporaries are not, and none is in use at a call. _free_count and what
 * the system declares are left alone, and so are counters, which others read at
 * any time.
 *
 * A command that is not wanted becomes a jump to the next, which flow.c removes.
 *
 * Interface:
 * ampc_opt()  do all that to one event; whether anything changed
 */
#include "mark.h"

/* Integers by number: slots, and behind them temporaries. */
#define NR_INTS 512

struct opt {
	struct ampc *c;
	struct ampc_code *code;
	bool is_fixed[NR_INTS];		/* not ours to look through */
	bool is_const[NR_INTS];		/* declared so */
	bool is_known[NR_INTS];
	s64 value[NR_INTS];
	bool *is_target;		/* of a jump */
	u64 (*live)[NR_INTS / 64];	/* read behind the command */
	u32 *jump_here;			/* 1 + the last jump that leads here */
	u32 *jump_before;		/* of a jump: the one before it, likewise */
	u32 *todo, nr_todo;
	bool *is_todo;
	bool has_changed;
};

/* The number of the integer that @arg is; -1 for a constant. */
static int int_of(const struct ampc_arg *arg)
{
	if (arg->kind == AMPC_ARG_BYTE)
		return arg->value;
	return arg->kind == AMPC_ARG_TEMP ? HIPEC_NR_SLOTS + arg->value : -1;
}

/* Whether all temporaries have a number here. */
static bool has_room(const struct ampc_code *code)
{
	u32 i, j;

	for (i = 0; i < code->nr; i++)
		for (j = 0; j < 3; j++)
			if (int_of(&code->insn[i].arg[j]) >= NR_INTS)
				return false;
	return true;
}

static void find_variables(struct opt *o)
{
	const struct ampc_symbol *sym;
	u32 i;

	for (i = 0; i < HIPEC_NR_SLOTS; i++)
		o->is_fixed[i] = i < HIPEC_SLOT_POLICY ||
				 i >= HIPEC_SLOT_SYSTEM;
	for (sym = o->c->symbols; sym; sym = sym->next) {
		if (sym->kind != AMPC_OPERAND || sym->slot >= HIPEC_NR_SLOTS)
			continue;
		o->is_fixed[sym->slot] |= sym->type != AMPC_INT ||
					  sym->flags & HIPEC_OPERAND_COUNTER;
		o->is_const[sym->slot] = sym->type == AMPC_INT &&
					 sym->flags == HIPEC_OPERAND_CONST;
		o->value[sym->slot] = sym->value;
	}
}

static void remove_insn(struct opt *o, u32 at)
{
	o->code->insn[at] = (struct ampc_insn){
		.opcode = HIPEC_OP_JUMP,
		.arg[0] = ampc_byte(HIPEC_COND_ALWAYS),
		.target = at + 1,
		.line = o->code->insn[at].line,
	};
	o->has_changed = true;
}

/* What is known */

static bool known(const struct opt *o, const struct ampc_arg *arg, s64 *value)
{
	int nr = int_of(arg);

	if (arg->kind == AMPC_ARG_CONST) {
		*value = arg->value;
		return true;
	}
	if (nr < 0 || !(o->is_known[nr] || o->is_const[nr]))
		return false;
	*value = o->value[nr];
	return true;
}

static void forget(struct opt *o, int nr)
{
	if (nr >= 0)
		o->is_known[nr] = false;
}

static void learn(struct opt *o, int nr, s64 value)
{
	if (nr < 0 || o->is_fixed[nr])
		return;
	o->is_known[nr] = true;
	o->value[nr] = value;
}

/* What the machine makes of @a and @b, which wraps around; false: not known. */
static bool compute(u8 code, s64 a, s64 b, s64 *value)
{
	switch (code) {
	case HIPEC_ARITH_ADD:
		*value = (u64)a + (u64)b;
		return true;
	case HIPEC_ARITH_SUB:
		*value = (u64)a - (u64)b;
		return true;
	case HIPEC_ARITH_MUL:
		*value = (u64)a * (u64)b;
		return true;
	case HIPEC_ARITH_INC:
		*value = (u64)a + 1;
		return true;
	case HIPEC_ARITH_DEC:
		*value = (u64)a - 1;
		return true;
	default:
		return false;
	}
}

/* Whether @code leaves an integer as it is when the other one is @b. */
static bool is_identity(u8 code, s64 b)
{
	switch (code) {
	case HIPEC_ARITH_ADD:
	case HIPEC_ARITH_SUB:
		return !b;
	case HIPEC_ARITH_MUL:
	case HIPEC_ARITH_DIV:
		return b == 1;
	default:
		return false;
	}
}

static void know_arith(struct opt *o, u32 at)
{
	struct ampc_insn *in = &o->code->insn[at];
	int dest = int_of(&in->arg[0]);
	u8 code = in->arg[2].value;
	bool is_unary = hipec_vm_selector_unary(HIPEC_KIND_ARITH, code);
	s64 a = 0, b = 0, value = 0;
	bool has_a = known(o, &in->arg[0], &a);
	bool has_b = !is_unary && known(o, &in->arg[1], &b);

	if (code == HIPEC_ARITH_SET) {
		if ((has_a && has_b && a == b) ||
		    dest == int_of(&in->arg[1])) {
			remove_insn(o, at);
			return;
		}
		forget(o, dest);
		if (has_b)
			learn(o, dest, b);
	} else if (has_b && is_identity(code, b)) {
		remove_insn(o, at);
	} else {
		forget(o, dest);
		if (has_a && (has_b || is_unary) && compute(code, a, b, &value))
			learn(o, dest, value);
	}
}

/* A comparison of what is known decides the jump behind it. */
static void know_comp(struct opt *o, u32 at)
{
	struct ampc_insn *in = &o->code->insn[at], *jump = in + 1;
	bool holds, jumps;
	s64 a, b;

	if (at + 1 == o->code->nr || !ampc_is_jump(jump) || ampc_is_always(jump) ||
	    o->is_target[at + 1] || !known(o, &in->arg[0], &a) ||
	    !known(o, &in->arg[1], &b))
		return;
	/* Behind the jump the condition must not be looked at again. */
	if (ampc_is_jump(&o->code->insn[jump->target]) ||
	    (at + 2 < o->code->nr && ampc_is_jump(&o->code->insn[at + 2])))
		return;
	holds = ampc_compare(in->arg[2].value, a, b);
	jumps = holds == (jump->arg[0].value == HIPEC_COND_IF);
	jump->arg[0] = ampc_byte(HIPEC_COND_ALWAYS);
	if (!jumps)
		jump->target = at + 2;
	remove_insn(o, at);
}

static void know_other(struct opt *o, const struct ampc_insn *in)
{
	u32 i;

	if (in->opcode == HIPEC_OP_CALL) {
		memset(o->is_known, 0, sizeof(o->is_known));
		return;
	}
	for (i = 0; i < 3; i++)
		if (hipec_ops[in->opcode].kind[i] == HIPEC_KIND_INT_W)
			forget(o, int_of(&in->arg[i]));
}

/* Along the commands; where a jump leads to, nothing is known. */
static void use_known(struct opt *o)
{
	struct ampc_code *code = o->code;
	u32 i;

	memset(o->is_target, 0, code->nr * sizeof(*o->is_target));
	for (i = 0; i < code->nr; i++)
		if (ampc_is_jump(&code->insn[i]))
			o->is_target[code->insn[i].target] = true;
	for (i = 0; i < code->nr; i++) {
		if (o->is_target[i])
			memset(o->is_known, 0, sizeof(o->is_known));
		if (code->insn[i].opcode == HIPEC_OP_ARITH)
			know_arith(o, i);
		else if (code->insn[i].opcode == HIPEC_OP_COMP)
			know_comp(o, i);
		else
			know_other(o, &code->insn[i]);
	}
}

/* What is read again */

static bool is_live(const u64 *live, int nr)
{
	return live[nr / 64] >> nr % 64 & 1;
}

static void set_live(u64 *live, int nr)
{
	if (nr >= 0)
		live[nr / 64] |= 1ull << nr % 64;
}

/* Whether @in does nothing but give @in->arg[0] another value. */
static bool is_pure(const struct ampc_insn *in)
{
	if (in->opcode == HIPEC_OP_LENGTH)
		return true;
	return in->opcode == HIPEC_OP_ARITH &&
	       in->arg[2].value != HIPEC_ARITH_DIV &&
	       in->arg[2].value != HIPEC_ARITH_MOD;
}

/* Whether the value before does not matter. */
static bool overwrites(const struct ampc_insn *in)
{
	return in->opcode == HIPEC_OP_LENGTH ||
	       (in->opcode == HIPEC_OP_ARITH &&
		in->arg[2].value == HIPEC_ARITH_SET);
}

static bool is_dead(const struct opt *o, u32 at)
{
	const struct ampc_insn *in = &o->code->insn[at];
	int nr = int_of(&in->arg[0]);

	return is_pure(in) && nr >= 0 && !o->is_fixed[nr] &&
	       !is_live(o->live[at], nr);
}

/* What is read before command @at, from what is read behind it. */
static void before(const struct opt *o, u32 at, u64 *live)
{
	const struct ampc_insn *in = &o->code->insn[at];
	const u8 *kind = hipec_ops[in->opcode].kind;
	u32 i;

	memcpy(live, o->live[at], sizeof(*o->live));
	if (is_dead(o, at))
		return;
	/* Where an event may be given up for its time, later ones read on. */
	if (ampc_is_stop(in) || in->opcode == HIPEC_OP_CALL ||
	    (ampc_is_jump(in) && in->target <= at)) {
		memset(live, 0xff, HIPEC_NR_SLOTS / 8);
		return;
	}
	if (overwrites(in))
		live[int_of(&in->arg[0]) / 64] &=
			~(1ull << int_of(&in->arg[0]) % 64);
	for (i = 0; i < 3; i++)
		if (hipec_vm_kind_types(kind[i]) && !(i == 0 && overwrites(in)))
			set_live(live, int_of(&in->arg[i]));
}

static void look_at(struct opt *o, u32 at)
{
	if (o->is_todo[at])
		return;
	o->is_todo[at] = true;
	o->todo[o->nr_todo++] = at;
}

/* Add to what is read behind @at; what that changes is looked at again. */
static void add_live(struct opt *o, u32 at, const u64 *live)
{
	bool changed = false;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(*o->live); i++) {
		changed |= live[i] & ~o->live[at][i];
		o->live[at][i] |= live[i];
	}
	if (changed)
		look_at(o, at);
}

static void find_jumps(struct opt *o)
{
	const struct ampc_code *code = o->code;
	u32 i;

	memset(o->jump_here, 0, code->nr * sizeof(*o->jump_here));
	for (i = 0; i < code->nr; i++) {
		if (!ampc_is_jump(&code->insn[i]))
			continue;
		o->jump_before[i] = o->jump_here[code->insn[i].target];
		o->jump_here[code->insn[i].target] = i + 1;
	}
}

/* From the end, and then against the flow: each way is gone along once. */
static void remove_dead(struct opt *o)
{
	struct ampc_code *code = o->code;
	u64 live[NR_INTS / 64];
	u32 i, at;

	find_jumps(o);
	for (i = 0; i < code->nr; i++)
		look_at(o, i);
	while (o->nr_todo) {
		at = o->todo[--o->nr_todo];
		o->is_todo[at] = false;
		before(o, at, live);
		for (i = o->jump_here[at]; i; i = o->jump_before[i - 1])
			add_live(o, i - 1, live);
		if (at && !ampc_is_always(&code->insn[at - 1]) &&
		    !ampc_is_stop(&code->insn[at - 1]))
			add_live(o, at - 1, live);
	}
	for (i = 0; i < code->nr; i++)
		if (is_dead(o, i))
			remove_insn(o, i);
}

static void alloc_space(struct opt *o)
{
	u32 nr = o->code->nr;

	o->is_target = ampc_alloc(o->c, nr * sizeof(*o->is_target));
	o->live = ampc_alloc(o->c, nr * sizeof(*o->live));
	o->jump_here = ampc_alloc(o->c, nr * sizeof(*o->jump_here));
	o->jump_before = ampc_alloc(o->c, nr * sizeof(*o->jump_before));
	o->todo = ampc_alloc(o->c, nr * sizeof(*o->todo));
	o->is_todo = ampc_alloc(o->c, nr * sizeof(*o->is_todo));
}

/**
 * ampc_opt() - leave out what need not be computed in an event
 * @c:    compilation
 * @code: commands that end with a return, jumps to commands
 *
 * Return: whether there are commands for flow.c to remove.
 */
bool ampc_opt(struct ampc *c, struct ampc_code *code)
{
	struct ampc_mark mark = ampc_mark(c);
	struct opt *o = ampc_alloc(c, sizeof(*o));
	bool has_changed;

	o->c = c;
	o->code = code;
	if (has_room(code)) {
		alloc_space(o);
		find_variables(o);
		use_known(o);
		remove_dead(o);
	}
	has_changed = o->has_changed;
	ampc_release(c, mark);
	return has_changed;
}
