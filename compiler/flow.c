// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands -> fewer commands, by looking at where they lead: jumps to jumps
 * go to the end of the chain, a jump around a jump is turned round, what
 * cannot be reached is left out, and a queue that a queue variable stands for
 * already is not selected again. What is computed is opt.c's. At -O0 nothing of
 * that is done.
 *
 * Interface:
 * ampc_flow()  do all that to one event, until nothing changes
 */
#include "ampc.h"

/*
 * What one round leaves to do the next finds, two or three in what people
 * write. Something that comes off one by one from the end of a long event
 * stays there, so that the time grows with the length and not with its square.
 */
#define MAX_ROUNDS 64

/* Work space, one entry for each command. */
struct flow {
	struct ampc_code *code;
	u32 *mark;	/* follow: round; sweep: new number */
	u32 *refs;	/* jumps that lead here */
	u32 *todo;
	u32 round;
};

/* Whether the condition is all that a command gives. */
static bool is_pure_test(const struct ampc_insn *in)
{
	const struct hipec_op *op = &hipec_ops[in->opcode];

	return (op->flags & (HIPEC_OPF_TEST | HIPEC_OPF_HOST)) ==
	       HIPEC_OPF_TEST && op->kind[0] != HIPEC_KIND_INT_W &&
	       op->kind[0] != HIPEC_KIND_PAGE_W;
}

static enum hipec_cond opposite(enum hipec_cond cond)
{
	return cond == HIPEC_COND_IF ? HIPEC_COND_IFNOT : HIPEC_COND_IF;
}

static void resolve_labels(struct ampc_code *code)
{
	u32 i;

	for (i = 0; i < code->nr; i++)
		if (ampc_is_jump(&code->insn[i]))
			code->insn[i].target =
				code->label[code->insn[i].target];
}

/*
 * The end of the chain of jumps that starts at @at; somewhere on the circle
 * where it has no end. All jumps of the chain are pointed there, so that the
 * chain is walked once.
 */
static u32 follow(struct flow *f, u32 at)
{
	struct ampc_insn *insn = f->code->insn;
	u32 end = at, next;

	f->round++;
	while (ampc_is_always(&insn[end]) && f->mark[end] != f->round) {
		f->mark[end] = f->round;
		end = insn[end].target;
	}
	while (ampc_is_always(&insn[at]) && insn[at].target != end) {
		next = insn[at].target;
		insn[at].target = end;
		at = next;
	}
	return end;
}

/* Where @in really goes. */
static u32 destination(struct flow *f, const struct ampc_insn *in)
{
	u32 end = follow(f, in->target);
	const struct ampc_insn *to = &f->code->insn[end];

	if (ampc_is_always(in) || !ampc_is_jump(to) || ampc_is_always(to) || in == to)
		return end;
	/* The condition is known at the second of two conditional jumps. */
	return to->arg[0].value == in->arg[0].value ? to->target : end + 1;
}

static bool thread_jumps(struct flow *f)
{
	struct ampc_code *code = f->code;
	bool changed = false;
	u32 i, to;

	for (i = 0; i < code->nr; i++) {
		struct ampc_insn *in = &code->insn[i];

		if (!ampc_is_jump(in))
			continue;
		to = destination(f, in);
		if (to != in->target) {
			in->target = to;
			changed = true;
		}
		if (ampc_is_always(in) && ampc_is_stop(&code->insn[to]) && to != i + 1) {
			u32 line = in->line;

			*in = code->insn[to];
			in->line = line;
			changed = true;
		}
	}
	return changed;
}

static void count_refs(struct flow *f)
{
	const struct ampc_code *code = f->code;
	u32 i;

	memset(f->refs, 0, code->nr * sizeof(*f->refs));
	for (i = 0; i < code->nr; i++)
		if (ampc_is_jump(&code->insn[i]))
			f->refs[code->insn[i].target]++;
}

/* `jump if A; jump always B; A:` becomes `jump ifnot B; A:`. */
static bool turn_jumps(struct flow *f)
{
	struct ampc_code *code = f->code;
	bool changed = false;
	u32 i;

	count_refs(f);
	for (i = 0; i + 2 < code->nr; i++) {
		struct ampc_insn *in = &code->insn[i];

		if (!ampc_is_jump(in) || ampc_is_always(in) || in->target != i + 2 ||
		    !ampc_is_always(in + 1) || f->refs[i + 1])
			continue;
		in->arg[0] = ampc_byte(opposite(in->arg[0].value));
		in->target = in[1].target;
		/* Leads to the next command now, so that sweep() takes it. */
		in[1].target = i + 2;
		changed = true;
	}
	return changed;
}

static bool is_same(const struct ampc_arg *a, const struct ampc_arg *b)
{
	return a->kind == b->kind && a->value == b->value;
}

/* Whether @in may change the integer @arg; a called event may change any. */
static bool changes(const struct ampc_insn *in, const struct ampc_arg *arg)
{
	const u8 *kind = hipec_ops[in->opcode].kind;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(in->arg); i++)
		if (kind[i] == HIPEC_KIND_EVENT ||
		    (kind[i] == HIPEC_KIND_INT_W && is_same(&in->arg[i], arg)))
			return true;
	return false;
}

/*
 * The next Select of the variable that the one at @at selects, when nothing
 * between them can be jumped to or changes what is selected, and it is the
 * same queue; 0 if there is none.
 */
static u32 find_repeated(const struct flow *f, u32 at)
{
	const struct ampc_insn *insn = f->code->insn, *select = &insn[at];
	u32 i;

	for (i = at + 1; i < f->code->nr && !f->refs[i]; i++) {
		if (insn[i].opcode == HIPEC_OP_SELECT &&
		    is_same(&insn[i].arg[0], &select->arg[0]))
			return is_same(&insn[i].arg[1], &select->arg[1]) &&
			       is_same(&insn[i].arg[2], &select->arg[2]) ?
			       i : 0;
		if (changes(&insn[i], &select->arg[2]) ||
		    ampc_is_always(&insn[i]) || ampc_is_stop(&insn[i]))
			return 0;
	}
	return 0;
}

/* Make jumps to the next command of needless Selects, so that sweep() takes them. */
static bool drop_selects(struct flow *f)
{
	struct ampc_insn *insn = f->code->insn;
	bool changed = false;
	u32 i, next;

	count_refs(f);
	for (i = 0; i < f->code->nr; i++) {
		if (insn[i].opcode != HIPEC_OP_SELECT)
			continue;
		next = find_repeated(f, i);
		if (next) {
			insn[next].opcode = HIPEC_OP_JUMP;
			insn[next].arg[0] = ampc_byte(HIPEC_COND_ALWAYS);
			insn[next].arg[1] = insn[next].arg[2] = ampc_byte(0);
			insn[next].target = next + 1;
			changed = true;
		}
	}
	return changed;
}

static void reach(struct flow *f, u32 at, u32 *nr_todo)
{
	if (f->mark[at] == f->round)
		return;
	f->mark[at] = f->round;
	f->todo[(*nr_todo)++] = at;
}

/* Mark the commands that can be reached from the first. */
static void mark_live(struct flow *f)
{
	u32 nr_todo = 0;

	f->round++;
	reach(f, 0, &nr_todo);
	while (nr_todo) {
		u32 at = f->todo[--nr_todo];
		const struct ampc_insn *in = &f->code->insn[at];

		if (ampc_is_jump(in))
			reach(f, in->target, &nr_todo);
		if (!ampc_is_always(in) && !ampc_is_stop(in))
			reach(f, at + 1, &nr_todo);
	}
}

static bool is_live(const struct flow *f, u32 at)
{
	return f->mark[at] == f->round;
}

/*
 * Whether the live command at @at does nothing: a jump to the next, the first of
 * two returns, or a test whose condition is not looked at. Emission puts the
 * jump that looks right behind its test. f->todo has the first command that
 * stays from each one behind @at on.
 */
static bool is_useless(const struct flow *f, u32 at)
{
	const struct ampc_insn *in = &f->code->insn[at], *next;
	u32 to;

	to = f->todo[at + 1];
	if (to == f->code->nr)
		return false;
	next = &f->code->insn[to];
	if (ampc_is_jump(in))
		return in->target > at && f->todo[in->target] == to;
	if (ampc_is_stop(in))
		return ampc_is_stop(next);
	return is_pure_test(in) && (!ampc_is_jump(next) || ampc_is_always(next));
}

/* For each command the first that stays from there on; from the end, as one that
 * goes may take the one before along. */
static void find_kept(struct flow *f)
{
	u32 i = f->code->nr;

	f->todo[i] = i;
	while (i--)
		f->todo[i] = is_live(f, i) && !is_useless(f, i) ? i :
			     f->todo[i + 1];
}

/* Leave out what is not reached and what is useless. */
static bool sweep(struct flow *f)
{
	struct ampc_code *code = f->code;
	u32 i, nr = 0, old = code->nr;

	mark_live(f);
	find_kept(f);
	for (i = 0; i < old; i++) {
		bool stays = f->todo[i] == i;

		f->todo[i] = nr;
		if (stays)
			code->insn[nr++] = code->insn[i];
	}
	code->nr = nr;
	for (i = 0; i < nr; i++)
		if (ampc_is_jump(&code->insn[i]))
			code->insn[i].target = f->todo[code->insn[i].target];
	return nr != old;
}

/**
 * ampc_flow() - simplify the jumps of an event
 * @c:    compilation
 * @code: commands that end with a return; jumps get command numbers from 0 in
 *        place of labels
 */
void ampc_flow(struct ampc *c, struct ampc_code *code)
{
	const size_t size = code->nr * sizeof(u32);
	struct flow f = {
		.code = code,
		.mark = ampc_alloc(c, size),
		.refs = ampc_alloc(c, size),
		.todo = ampc_alloc(c, size + sizeof(u32)),
	};
	u32 round = 0;
	bool changed;

	resolve_labels(code);
	if (!c->level)
		return;
	do {
		changed = thread_jumps(&f);
		changed |= turn_jumps(&f);
		changed |= drop_selects(&f);
		changed |= sweep(&f);
		/* Last, and only on what is left: it takes longer. */
		if (!changed)
			changed = ampc_opt(c, code);
	} while (changed && ++round < MAX_ROUNDS);
}
