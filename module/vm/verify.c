// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proof, at load, that a parsed policy is safe to run.
 *
 * Theorem. If hipec_verify() returns 0, then hipec_vm_run() on any event of the
 * policy, whatever the values of its operands,
 *  (1) fetches only words of the event that runs and of the events it calls,
 *  (2) reads and writes only operand slots that exist, each as the type it was
 *      declared with, and writes no constant, no system slot and no array that
 *      the application writes,
 *  (3) nests at most HIPEC_MAX_CALL_DEPTH calls,
 *  (4) hands every selector to a handler that knows it,
 *  (5) ends within HIPEC_MAX_WORDS commands after its fuel is spent, and
 *  (6) uses nothing of its host that its image's needs do not say.
 *
 * Proof. Each command's operator is a row of the table, and each of its bytes
 * satisfies the kind that the row gives it: (2) and (4) are check_operand(),
 * kind by kind; hipec_vm_init() gives slots of queues, queue variables, arrays
 * and fields an index that exists, and the one command that writes such a slot
 * takes the index from an array after it has compared it with the array's
 * length. Jumps stay inside their event (TARGET), and the last command of an
 * event does not fall through, so the next command is always one of the same
 * event, or of a called one (EVENT): (1). The call graph has no cycle and no
 * path longer than the limit: (3). Fuel is looked at on jumps backward and on
 * calls; without either, commands follow one another upward in an event, then
 * in the event that called it, which is another one: (5). needs.c gathers what
 * all commands and declarations use: (6).
 *
 * What values decide (no page, a stale page, an index, division by zero, fuel)
 * is checked at run time. The kinds drive the proof; no command is named here.
 */
#include "vm.h"

struct verifier {
	const struct hipec_policy *p;
	struct hipec_verify_error *err;
	u64 calls[HIPEC_NR_EVENTS];	/* bit f: the event calls event f */
};

static int refuse_command(struct verifier *v, u32 kind, u32 event, u32 command,
			  u32 operand, u32 got)
{
	*v->err = (struct hipec_verify_error){
		.kind = kind, .event = event, .command = command,
		.operand = operand, .got = got,
	};
	return -EINVAL;
}

/* Type of a slot, 0 if it does not exist. */
static u8 slot_type(const struct hipec_policy *p, u8 slot)
{
	if (slot >= HIPEC_SLOT_SYSTEM)
		return hipec_system_slots[slot - HIPEC_SLOT_SYSTEM].name ?
			HIPEC_TYPE_INT : 0;
	return slot < p->image->nr_operands ? p->operand[slot].type : 0;
}

static bool slot_writable(const struct hipec_policy *p, u8 slot)
{
	return slot < HIPEC_SLOT_SYSTEM &&
	       !(p->operand[slot].flags &
		 (HIPEC_OPERAND_CONST | HIPEC_OPERAND_SHARED));
}

/* Whether slot @slot satisfies kind @kind, which wants one. */
static bool check_slot(const struct hipec_policy *p, u8 kind, u8 slot)
{
	u32 flags = hipec_vm_kind_flags(kind);

	if (!(hipec_vm_kind_types(kind) >> slot_type(p, slot) & 1))
		return false;
	if (flags & HIPEC_KINDF_WRITE && !slot_writable(p, slot))
		return false;
	return !(flags & HIPEC_KINDF_LINKS && slot == HIPEC_SLOT_FREE_QUEUE);
}

/* Whether byte @v of command @w satisfies kind @kind. */
static bool check_operand(const struct verifier *vf, u32 w, u8 kind, u8 v,
			  u32 nr)
{
	switch (kind) {
	case HIPEC_KIND_NONE:
		return !v;
	case HIPEC_KIND_INT_OPT:
		/* The selector is the third operand of every such row. */
		if (hipec_vm_selector_unary(hipec_ops[hipec_word_op(w)].kind[2],
					    hipec_word_c(w)))
			return !v;
		break;
	case HIPEC_KIND_TARGET:
		return hipec_word_target(w) && hipec_word_target(w) < nr;
	case HIPEC_KIND_TARGET_LO:
		return true;
	case HIPEC_KIND_EVENT:
		return v < HIPEC_NR_EVENTS && vf->p->index[v];
	}
	return hipec_vm_kind_types(kind) ? check_slot(vf->p, kind, v) :
					!!hipec_vm_selector(kind, v);
}

static int check_command(struct verifier *v, const struct hipec_image_event *e,
			 u32 pc)
{
	u32 w = v->p->words[e->first + pc];
	const struct hipec_op *op = &hipec_ops[hipec_word_op(w)];
	u32 i;

	if (!op->word)
		return refuse_command(v, HIPEC_VERIFY_OPCODE, e->number, pc, 0,
				      hipec_word_op(w));
	for (i = 0; i < 3; i++) {
		u8 byte = w >> (16 - 8 * i);

		if (check_operand(v, w, op->kind[i], byte, e->nr)) {
			if (op->kind[i] == HIPEC_KIND_EVENT)
				v->calls[e->number] |= 1ull << byte;
			continue;
		}
		if (op->kind[i] == HIPEC_KIND_TARGET)
			return refuse_command(v, HIPEC_VERIFY_TARGET, e->number, pc,
					      i + 1, hipec_word_target(w));
		return refuse_command(v, HIPEC_VERIFY_OPERAND, e->number, pc, i + 1,
				      byte);
	}
	/* The last command stops, or jumps whatever the condition is. */
	if (pc == e->nr - 1 && !(op->flags & HIPEC_OPF_STOP) &&
	    !(op->flags & HIPEC_OPF_JUMP &&
	      hipec_word_a(w) == HIPEC_COND_ALWAYS))
		return refuse_command(v, HIPEC_VERIFY_FALL, e->number, pc, 0, 0);
	return 0;
}

/* The command of event @from that calls event @to. */
static u32 find_call(const struct verifier *v, u32 from, u32 to)
{
	const struct hipec_image_event *e =
		&v->p->event[v->p->index[from] - 1];
	u32 pc;

	for (pc = 1; pc < e->nr - 1; pc++) {
		u32 w = v->p->words[e->first + pc];

		if (hipec_ops[hipec_word_op(w)].kind[0] == HIPEC_KIND_EVENT &&
		    hipec_word_a(w) == to)
			break;
	}
	return pc;
}

static int check_calls(struct verifier *v)
{
	u64 reach[HIPEC_NR_EVENTS];
	u32 depth[HIPEC_NR_EVENTS] = { 0 };
	u32 i, j, round;

	/* Transitive closure, one intermediate event at a time. */
	memcpy(reach, v->calls, sizeof(reach));
	for (j = 0; j < HIPEC_NR_EVENTS; j++)
		for (i = 0; i < HIPEC_NR_EVENTS; i++)
			if (reach[i] >> j & 1)
				reach[i] |= reach[j];
	for (i = 0; i < HIPEC_NR_EVENTS; i++)
		for (j = 0; j < HIPEC_NR_EVENTS; j++)
			if (v->calls[i] >> j & 1 &&
			    (i == j || reach[j] >> i & 1))
				return refuse_command(v, HIPEC_VERIFY_CALL_CYCLE, i,
						      find_call(v, i, j), 1, j);

	/* depth[i]: the longest path of calls that leads to i. */
	for (round = 0; round <= HIPEC_MAX_CALL_DEPTH; round++)
		for (i = 0; i < HIPEC_NR_EVENTS; i++)
			for (j = 0; j < HIPEC_NR_EVENTS; j++) {
				if (!(v->calls[i] >> j & 1) ||
				    depth[j] > depth[i])
					continue;
				depth[j] = depth[i] + 1;
				if (depth[j] > HIPEC_MAX_CALL_DEPTH)
					return refuse_command(v,
						HIPEC_VERIFY_CALL_DEPTH, i,
						find_call(v, i, j), 1, j);
			}
	return 0;
}

/**
 * hipec_verify() - prove that a policy is safe to run
 * @p:   parsed image
 * @err: filled on refusal
 *
 * Context: any; uses about 1.5 KB of stack.
 * Return: 0; -EINVAL with @err set.
 */
int hipec_verify(const struct hipec_policy *p, struct hipec_verify_error *err)
{
	struct verifier v = { .p = p, .err = err };
	u32 i, pc, unsaid;
	int ret;

	for (i = 0; i < p->image->nr_events; i++) {
		const struct hipec_image_event *e = &p->event[i];

		for (pc = 1; pc < e->nr; pc++) {
			ret = check_command(&v, e, pc);
			if (ret)
				return ret;
		}
	}
	ret = check_calls(&v);
	if (ret)
		return ret;
	unsaid = hipec_needs_of(p) & ~p->image->needs;
	return unsaid ? refuse_command(&v, HIPEC_VERIFY_NEEDS, 0, 0, 0, unsaid) : 0;
}

/* "slot 7 is int, want a queue" and its likes. */
static void explain_operand(const struct hipec_policy *p, const struct hipec_op *op,
			    const struct hipec_verify_error *err,
			    struct hipec_text *out)
{
	u8 kind = op->kind[err->operand - 1];

	if (kind == HIPEC_KIND_EVENT) {
		hipec_text_str(out, "event ");
		hipec_text_num(out, err->got);
		hipec_text_str(out, " does not exist");
		return;
	}
	if (!hipec_vm_kind_types(kind)) {
		hipec_text_str(out, "got ");
		hipec_text_num(out, err->got);
	} else {
		hipec_text_str(out, "slot ");
		hipec_text_num(out, err->got);
		if (!slot_type(p, err->got)) {
			hipec_text_str(out, " does not exist");
		} else {
			hipec_text_str(out, " is ");
			hipec_text_str(out, hipec_vm_type_text(slot_type(p, err->got)));
			hipec_text_str(out, " '");
			hipec_vm_slot_text(p, err->got, out);
			hipec_text_str(out, "'");
		}
	}
	hipec_text_str(out, ", want ");
	hipec_text_str(out, hipec_vm_kind_text(kind));
}

/* ": context, hint" */
static void explain_needs(u32 needs, struct hipec_text *out)
{
	const char *before = ": ";
	u32 need;

	for (need = 1; need && need <= needs; need <<= 1) {
		if (!(needs & need))
			continue;
		hipec_text_str(out, before);
		hipec_text_str(out, hipec_vm_need_text(need));
		before = ", ";
	}
}

/* Which version it is, and what to do. */
static void explain_version(u32 got, struct hipec_text *out)
{
	hipec_text_str(out, " (");
	hipec_text_num(out, got);
	hipec_text_str(out, ", and this hipec has ");
	hipec_text_num(out, HIPEC_IMAGE_VERSION);
	hipec_text_str(out, "): ");
	if (got > HIPEC_IMAGE_VERSION)
		hipec_text_str(out, "install a newer hipec, tools and module, or ");
	hipec_text_str(out, "compile the policy again, with this one's ampc");
}

/**
 * hipec_verify_explain() - a refusal as one line of text
 * @p:   as given to hipec_image_parse(), filled as far as it came
 * @err: the refusal
 * @out: gets the line, without a newline
 */
void hipec_verify_explain(const struct hipec_policy *p,
			  const struct hipec_verify_error *err,
			  struct hipec_text *out)
{
	const struct hipec_image_event *e;
	const struct hipec_op *op;

	if (err->kind < HIPEC_VERIFY_OPCODE) {
		hipec_text_str(out, "image: ");
		hipec_text_str(out, hipec_vm_verify_text(err->kind));
		if (err->kind == HIPEC_VERIFY_NEEDS)
			explain_needs(err->got, out);
		else if (err->kind == HIPEC_VERIFY_VERSION)
			explain_version(err->got, out);
		else if (err->kind >= HIPEC_VERIFY_STRING &&
			 err->kind != HIPEC_VERIFY_EVENT_MISSING) {
			hipec_text_str(out, " (number ");
			hipec_text_num(out, err->got);
			hipec_text_char(out, ')');
		}
		return;
	}
	e = &p->event[p->index[err->event] - 1];
	op = &hipec_ops[hipec_word_op(p->words[e->first + err->command])];
	hipec_text_str(out, hipec_image_policy_name(p, e->name));
	hipec_text_char(out, '+');
	hipec_text_num(out, err->command);
	hipec_text_str(out, ": ");
	if (op->word) {
		hipec_text_str(out, op->word);
		if (err->operand) {
			hipec_text_str(out, " operand ");
			hipec_text_char(out, "?abc"[err->operand]);
		}
		hipec_text_str(out, ": ");
	}
	if (err->kind == HIPEC_VERIFY_OPERAND) {
		explain_operand(p, op, err, out);
		return;
	}
	hipec_text_str(out, hipec_vm_verify_text(err->kind));
	if (err->kind == HIPEC_VERIFY_OPCODE ||
	    err->kind == HIPEC_VERIFY_TARGET) {
		hipec_text_str(out, ": ");
		hipec_text_num(out, err->got);
	}
}

/**
 * hipec_verify_reads() - whether a policy names a slot anywhere
 * @p:    verified policy
 * @slot: number
 *
 * For system integers that cost the host something to know.
 *
 * Time is linear in the policy's length.
 * Return: true if some command has the slot as an operand.
 */
bool hipec_verify_reads(const struct hipec_policy *p, u8 slot)
{
	u32 n, i;

	for (n = 0; n < p->image->nr_words; n++) {
		u32 w = p->words[n];
		const struct hipec_op *op = &hipec_ops[hipec_word_op(w)];

		if (!op->word)	/* the magic */
			continue;
		for (i = 0; i < 3; i++)
			if (hipec_vm_kind_types(op->kind[i]) &&
			    (u8)(w >> (16 - 8 * i)) == slot)
				return true;
	}
	return false;
}
