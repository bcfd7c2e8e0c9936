// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coverage of the command table by .hpt files. See cover.h.
 */
#include <stdio.h>

#include "cover.h"

static const char *const kind_names[] = {
#define X(name, types, flags, text) #name,
	HIPEC_OPERAND_KINDS(X)
#undef X
};

static const char *fn_of(u8 code)
{
	switch (code) {
#define X(name, fn, word, code_, ...) case code_: return #fn;
	HIPEC_COMMANDS(X)
#undef X
	}
	return NULL;
}

static void cover_needs(u32 needs)
{
	u32 need;

	for (need = 1; need; need <<= 1)
		if (needs & need && hipec_vm_need_text(need))
			printf("need %s\n", hipec_vm_need_text(need));
}

/* Print everything that some case has to touch. */
void hpt_list_table(void)
{
	u32 i, j;

	for (i = 0; i < 256; i++)
		if (fn_of(i))
			printf("command %s\n", fn_of(i));
	for (i = 0; i < HIPEC_NR_KINDS; i++)
		for (j = 0; j < 256; j++)
			if (hipec_vm_selector(i, j))
				printf("selector %s %s\n", kind_names[i],
				       hipec_vm_selector(i, j));
	for (i = 0; i < HIPEC_NR_KINDS; i++)
		printf("kind %s\n", kind_names[i]);
	for (i = 0; i < ARRAY_SIZE(hipec_system_slots); i++)
		if (hipec_system_slots[i].name)
			printf("system %s\n", hipec_system_slots[i].name);
#define X(name, code, text) printf("exit " #name "\n");
	HIPEC_EXIT_KINDS(X)
#undef X
#define X(name, text) printf("verify " #name "\n");
	HIPEC_VERIFY_KINDS(X)
#undef X
#define X(name, code, text, need, when) printf("event " text "\n");
	HIPEC_EVENTS(X)
#undef X
#define X(name, code, text) printf("type " text "\n");
	HIPEC_TYPES(X)
#undef X
	cover_needs(~0u);
}

static void cover_word(u32 w)
{
	const struct hipec_op *op = &hipec_ops[hipec_word_op(w)];
	u32 i;

	printf("command %s\n", fn_of(hipec_word_op(w)));
	for (i = 0; i < 3; i++) {
		u8 v = w >> (16 - 8 * i);
		const char *word = hipec_vm_selector(op->kind[i], v);

		if (word)
			printf("selector %s %s\n", kind_names[op->kind[i]],
			       word);
		if (hipec_vm_kind_types(op->kind[i]) && v >= HIPEC_SLOT_SYSTEM &&
		    hipec_system_slots[v - HIPEC_SLOT_SYSTEM].name)
			printf("system %s\n",
			       hipec_system_slots[v - HIPEC_SLOT_SYSTEM].name);
	}
}

static void cover_refusal(const struct hipec_policy *p,
			  const struct hipec_verify_error *err)
{
	const struct hipec_image_event *e;
	u32 w;

	printf("verify %s\n", hipec_vmcase_verify_name(err->kind));
	if (err->kind == HIPEC_VERIFY_NEEDS)
		cover_needs(err->got);
	if (err->kind < HIPEC_VERIFY_OPCODE || !err->operand)
		return;
	e = &p->event[p->index[err->event] - 1];
	w = p->words[e->first + err->command];
	printf("kind %s\n",
	       kind_names[hipec_ops[hipec_word_op(w)].kind[err->operand - 1]]);
}

/**
 * hpt_cover() - print what a case touches
 * @t:       case that ran and holds
 * @outcome: its text
 *
 * Commands, selectors, types and system slots count in images that are
 * accepted; `kind` is the operand kind that a refused image violates, `need`
 * what its header does not say.
 */
void hpt_cover(const struct hpt *t, const char *outcome)
{
	const char *image = (char *)t->bytes + t->size - t->head.image_size;
	struct hipec_verify_error err;
	struct hipec_policy p;
	u32 i, j;

	if (hipec_image_parse(image, t->head.image_size, &p, &err) ||
	    hipec_verify(&p, &err)) {
		cover_refusal(&p, &err);
		return;
	}
	printf("verify %s\n", hipec_vmcase_verify_name(HIPEC_VERIFY_OK));
	for (i = 0; i < p.image->nr_events; i++)
		for (j = 1; j < p.event[i].nr; j++)
			cover_word(p.words[p.event[i].first + j]);
	for (i = 0; i < p.image->nr_operands; i++)
		printf("type %s\n", hipec_vm_type_text(p.operand[i].type));
	for (i = 0; i < t->head.nr_runs; i++)
		if (hipec_vm_event_text(t->head.run[i].what))
			printf("event %s\n",
			       hipec_vm_event_text(t->head.run[i].what));
	if (strstr(outcome, "\nlate "))
		printf("exit %s\n", hipec_vmcase_exit_name(HIPEC_EXIT_OVERTIME));
	if (!strncmp(outcome, "result exit ", 12))
		printf("exit %.*s\n", (int)strcspn(outcome + 12, " \n"),
		       outcome + 12);
	else
		printf("exit %s\n", hipec_vmcase_exit_name(HIPEC_EXIT_NONE));
}
