// SPDX-License-Identifier: GPL-2.0-only
/*
 * The listing of -S: operands, then each event's commands with number, word
 * in hex as Figure 3 prints it, text, and the source line it came from.
 *
 * Interface:
 * ampc_list()        print all that
 * ampc_list_flags()  the qualifiers of an operand
 */
#include "ampc.h"
#include "../userlib/image/headtext.h"

/* The qualifiers of a declaration; `hipec dis` has the same words. */
void ampc_list_flags(u8 flags, FILE *out)
{
	u32 flag;

	for (flag = 1; flag <= flags; flag <<= 1)
		if (flags & flag)
			fprintf(out, ", %s", hipec_vm_operand_flag_text(flag));
}

/* What a declaration says behind the name. */
static void list_declared(const struct hipec_policy *p,
			  const struct hipec_image_operand *o, FILE *out)
{
	if (o->type == HIPEC_TYPE_INTS || o->type == HIPEC_TYPE_QUEUES)
		fprintf(out, "[%lld]", (long long)o->value);
	else if (o->type == HIPEC_TYPE_QUEUE_REF)
		fprintf(out, " = %s[0]",
			hipec_image_policy_name(p, p->operand[o->value].name));
	else if (o->value || hipec_operand_ranged(o))
		fprintf(out, " = %lld", (long long)o->value);
	if (hipec_operand_ranged(o))
		fprintf(out, " in %lld..%lld", (long long)o->low,
			(long long)o->high);
	if (o->key)
		fprintf(out, " by %s",
			hipec_image_policy_name(p, p->operand[o->key].name));
	ampc_list_flags(o->flags, out);
}

static void list_operands(const struct hipec_policy *p, FILE *out)
{
	u32 i;

	fprintf(out, "operands\n");
	for (i = 0; i < p->image->nr_operands; i++) {
		const struct hipec_image_operand *o = &p->operand[i];

		fprintf(out, "    %02X  %-5s  %s", i,
			hipec_vm_type_text(o->type),
			hipec_image_policy_name(p, o->name));
		list_declared(p, o, out);
		fputc('\n', out);
	}
}

/* "; line 7: page = FindPA(FaultedAddress);", or only the line if it is not here. */
static void list_source(const struct ampc *c, u32 line, FILE *out)
{
	size_t len;
	const char *s = ampc_source_line(c, line, &len);

	fprintf(out, "; line %u", line);
	if (!s || c->is_assembler)
		return;
	while (len && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	fprintf(out, ": %.*s", (int)len, s);
}

static void list_event(const struct ampc *c, const struct hipec_policy *p,
		       const struct hipec_image_event *e, FILE *out)
{
	char text[4 * (AMPC_MAX_NAME + 1)];
	struct hipec_text t;
	u32 i, line = p->lines[e->first];

	snprintf(text, sizeof(text), "event %u %s", e->number,
		 hipec_image_policy_name(p, e->name));
	fprintf(out, "\n%-60s ", text);
	list_source(c, p->lines[e->first], out);
	fputc('\n', out);
	for (i = 1; i < e->nr; i++) {
		u32 w = p->words[e->first + i];

		hipec_text_init(&t, text, sizeof(text));
		hipec_disasm(p, w, &t);
		fprintf(out, "%6u  %02X %02X %02X %02X  ", i, hipec_word_op(w),
			hipec_word_a(w), hipec_word_b(w), hipec_word_c(w));
		if (p->lines[e->first + i] == line) {
			fprintf(out, "%s\n", text);
			continue;
		}
		line = p->lines[e->first + i];
		fprintf(out, "%-39s ", text);
		list_source(c, line, out);
		fputc('\n', out);
	}
}

/**
 * ampc_list() - print the commands beside their source lines
 * @c:   compilation
 * @p:   its image, parsed
 * @out: where to
 */
void ampc_list(const struct ampc *c, const struct hipec_policy *p, FILE *out)
{
	u32 i;

	hipec_print_header(p->image, out);
	fputc('\n', out);
	list_operands(p, out);
	for (i = 0; i < p->image->nr_events; i++)
		list_event(c, p, &p->event[i], out);
}
