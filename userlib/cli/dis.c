// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec dis: a compiled policy as text. Numbers of slots and words of commands
 * are in hex, as Figure 3 prints them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../module/vm/vm.h"
#include "cli.h"
#include "../image/headtext.h"
#include "../lib/hipec.h"

/* Longest line of text that is printed, bytes. */
#define LINE 256

static void print_slot(const struct hipec_policy *p, u8 slot)
{
	char line[LINE];
	struct hipec_text text;

	hipec_text_init(&text, line, sizeof(line));
	hipec_vm_slot_text(p, slot, &text);
	fputs(cli_clean(line), stdout);
}

/* What a declaration says behind the name. */
static void print_value(const struct hipec_policy *p,
			const struct hipec_image_operand *o)
{
	switch (o->type) {
	case HIPEC_TYPE_INT:
		printf(" = %lld", (long long)o->value);
		if (hipec_operand_ranged(o))
			printf(" in %lld..%lld", (long long)o->low,
			       (long long)o->high);
		break;
	case HIPEC_TYPE_INTS:
	case HIPEC_TYPE_QUEUES:
		printf("[%lld]", (long long)o->value);
		break;
	case HIPEC_TYPE_QUEUE_REF:
		printf(" = ");
		print_slot(p, o->value);
		printf("[0]");
		break;
	}
	if (o->key) {
		printf(" by ");
		print_slot(p, o->key);
	}
}

static void print_flags(u8 flags)
{
	u32 flag;

	for (flag = 1; flag <= flags; flag <<= 1)
		if (flags & flag)
			printf(", %s", hipec_vm_operand_flag_text(flag));
}

static void print_operands(const struct hipec_policy *p)
{
	u32 i;

	printf("operands\n");
	for (i = 0; i < p->image->nr_operands; i++) {
		const struct hipec_image_operand *o = &p->operand[i];

		printf("   %02X  %-8s  ", i, hipec_vm_type_text(o->type));
		print_slot(p, i);
		if (i >= HIPEC_SLOT_POLICY)
			print_value(p, o);
		print_flags(o->flags);
		putchar('\n');
	}
}

static void print_command(const struct hipec_policy *p, u32 number, u32 at)
{
	u32 w = p->words[at];
	struct hipec_text text;
	char line[LINE];

	hipec_text_init(&text, line, sizeof(line));
	hipec_disasm(p, w, &text);
	printf("%5u  %02X %02X %02X %02X  ", number, hipec_word_op(w),
	       hipec_word_a(w), hipec_word_b(w), hipec_word_c(w));
	if (p->lines && p->lines[at])
		printf("%-36s  line %u\n", cli_clean(line), p->lines[at]);
	else
		printf("%s\n", cli_clean(line));
}

static void print_event(const struct hipec_policy *p,
			const struct hipec_image_event *e)
{
	char name[LINE];
	u32 i;

	snprintf(name, sizeof(name), "%s", hipec_image_policy_name(p, e->name));
	printf("event %u  ", e->number);
	if (p->lines && p->lines[e->first])
		printf("%-44s  line %u\n", cli_clean(name),
		       p->lines[e->first]);
	else
		printf("%s\n", cli_clean(name));
	for (i = 1; i < e->nr; i++)
		print_command(p, i, e->first + i);
}

static void print_policy(const struct hipec_policy *p)
{
	u32 i;

	hipec_print_header(p->image, stdout);
	print_operands(p);
	for (i = 0; i < p->image->nr_events; i++)
		print_event(p, &p->event[i]);
}

static int refused(const char *path, const struct hipec_policy *p,
		   const struct hipec_verify_error *err)
{
	struct hipec_text text;
	char line[LINE];

	hipec_text_init(&text, line, sizeof(line));
	hipec_verify_explain(p, err, &text);
	cli_error("%s: %s", path, cli_clean(line));
	return CLI_FAILED;
}

static int print_image(const char *path, const void *image, size_t size)
{
	struct hipec_verify_error err;
	struct hipec_policy p;

	if (hipec_image_parse(image, size, &p, &err))
		return refused(path, &p, &err);
	print_policy(&p);
	if (hipec_verify(&p, &err))
		return refused(path, &p, &err);
	return CLI_OK;
}

static int cli_dis(int argc, char **argv)
{
	size_t size;
	void *image;
	int ret;

	if (cli_option(argc, argv, NULL, "") != -1 ||
	    cli_operands(argc, argv, 1, 1, "a compiled policy, .hpo"))
		return CLI_USAGE;
	ret = hipec_image_read(argv[optind], &image, &size);
	if (ret) {
		cli_error("%s: %s", argv[optind], strerror(-ret));
		return CLI_FAILED;
	}
	ret = print_image(argv[optind], image, size);
	free(image);
	return ret;
}

const struct cli_verb cli_verb_dis = {
	.name = "dis", .run = cli_dis, .group = CLI_GROUP_FIND,
	.usage = "FILE.hpo",
	.summary = "print a compiled policy: operands, events, commands",
	.help = "Commands are numbered from 1 as in exit messages, with their words in"
		" hexadecimal. An image that the module would refuse is printed as far as it"
		" can be read, with the module's reason, and exit code 1.",
};
