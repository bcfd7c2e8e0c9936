// SPDX-License-Identifier: GPL-2.0-only
/*
 * One command as text, from the table's syntax column. Used by ampc -S,
 * hipec dis, debugfs and exit records; the assembler reads the same column.
 */
#include "vm.h"

/**
 * hipec_vm_slot_text() - name of an operand slot
 * @p:    parsed image
 * @slot: any byte
 * @out:  gets the name, or `#N` for a slot that has none
 */
void hipec_vm_slot_text(const struct hipec_policy *p, u8 slot,
			struct hipec_text *out)
{
	const char *name = NULL;

	if (slot >= HIPEC_SLOT_SYSTEM)
		name = hipec_system_slots[slot - HIPEC_SLOT_SYSTEM].name;
	else if (slot < p->image->nr_operands)
		name = hipec_image_policy_name(p, p->operand[slot].name);
	if (name && *name) {
		hipec_text_str(out, name);
		return;
	}
	hipec_text_char(out, '#');
	hipec_text_num(out, slot);
}

static void operand_text(const struct hipec_policy *p, u32 w, int i,
			 struct hipec_text *out)
{
	u8 kind = hipec_ops[hipec_word_op(w)].kind[i];
	u8 v = w >> (16 - 8 * i);
	const char *word = hipec_vm_selector(kind, v);

	if (word) {
		hipec_text_str(out, word);
	} else if (kind == HIPEC_KIND_EVENT) {
		if (v < HIPEC_NR_EVENTS && p->index[v])
			hipec_text_str(out, hipec_image_event_name(p, v));
		else
			hipec_text_num(out, v);
	} else if (kind == HIPEC_KIND_INT_OPT &&
		   hipec_vm_selector_unary(hipec_ops[hipec_word_op(w)].kind[2],
					   hipec_word_c(w))) {
		hipec_text_char(out, '-');
	} else if (hipec_vm_kind_types(kind)) {
		hipec_vm_slot_text(p, v, out);
	} else {
		hipec_text_num(out, v);
	}
}

/**
 * hipec_disasm() - one command as text
 * @p:    parsed image, for names
 * @word: any word; one that is no command prints as `.word 0x...`
 * @out:  gets the text, without a newline
 */
void hipec_disasm(const struct hipec_policy *p, u32 word,
		  struct hipec_text *out)
{
	const struct hipec_op *op = &hipec_ops[hipec_word_op(word)];
	const char *s;

	if (!op->word) {
		hipec_text_str(out, ".word ");
		hipec_text_hex(out, word, 8);
		return;
	}
	for (s = op->syntax; *s; s++) {
		if (*s != '$') {
			hipec_text_char(out, *s);
			continue;
		}
		s++;
		if (*s == 't')
			hipec_text_num(out, hipec_word_target(word));
		else
			operand_text(p, word, *s - 'a', out);
	}
}

/**
 * hipec_vm_explain_exit() - why and where a policy ended, as one line of text
 * @p:   its image
 * @e:   the record
 * @out: gets the line, without a newline
 */
void hipec_vm_explain_exit(const struct hipec_policy *p, const struct hipec_exit *e,
			   struct hipec_text *out)
{
	hipec_text_str(out, hipec_vm_exit_text(e->kind));
	if (!e->command)
		return;		/* not a command's doing */
	hipec_text_str(out, " in ");
	hipec_text_str(out, hipec_image_event_name(p, e->event));
	hipec_text_char(out, '+');
	hipec_text_num(out, e->command);
	if (e->line) {
		hipec_text_str(out, ", line ");
		hipec_text_num(out, e->line);
	}
	hipec_text_str(out, ": ");
	hipec_disasm(p, e->word, out);
}
