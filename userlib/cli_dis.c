// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec dis: a compiled policy as text.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "../module/vm/vm.h"
#include "cli.h"
#include "hipec.h"

/* Longest line of text that is printed, bytes. */
#define LINE 256

static void print_operands(const struct hipec_policy *p)
{
	char line[LINE];
	struct hipec_text text;
	u32 i;

	printf("operands\n");
	for (i = 0; i < p->image->nr_operands; i++) {
		const struct hipec_image_operand *o = &p->operand[i];

		hipec_text_init(&text, line, sizeof(line));
		hipec_slot_text(p, i, &text);
		printf("%5u  %-5s  %s", i, hipec_type_text(o->type),
		       cli_clean(line));
		if (o->type == HIPEC_TYPE_INT && i >= HIPEC_SLOT_POLICY)
			printf(" = %lld", (long long)o->value);
		if (o->flags & HIPEC_OPERAND_CONST)
			printf(", const");
		if (o->flags & HIPEC_OPERAND_PARAM)
			printf(", param");
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
	printf("%5u  %02x %02x %02x %02x  ", number, hipec_word_op(w),
	       hipec_word_a(w), hipec_word_b(w), hipec_word_c(w));
	if (p->lines && p->lines[at])
		printf("%-36s  line %u\n", cli_clean(line), p->lines[at]);
	else
		printf("%s\n", cli_clean(line));
}

static void print_policy(const struct hipec_policy *p)
{
	char name[LINE];
	u32 i, j;

	snprintf(name, sizeof(name), "%s", p->image->name);
	printf("policy %s\n", cli_clean(name));
	print_operands(p);
	for (i = 0; i < p->image->nr_events; i++) {
		const struct hipec_image_event *e = &p->event[i];

		snprintf(name, sizeof(name), "%s",
			 hipec_policy_name(p, e->name));
		printf("event %u  %s\n", e->number, cli_clean(name));
		for (j = 1; j < e->nr; j++)
			print_command(p, j, e->first + j);
	}
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

int cli_dis(int argc, char **argv)
{
	static const struct option options[] = {
		{ NULL, 0, NULL, 0 },
	};
	size_t size;
	void *image;
	int ret;

	if (getopt_long(argc, argv, "", options, NULL) != -1 ||
	    argc - optind != 1)
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
