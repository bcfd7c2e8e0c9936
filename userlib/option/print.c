// SPDX-License-Identifier: GPL-2.0-only
/*
 * The help of options, in two columns.
 */
#include <string.h>

#include "option.h"

#define COLUMN 21	/* where the help of an option begins */
#define WIDTH 80

/* Words of @text from column @at on; lines behind the first one begin at @indent. */
static void print_words(FILE *out, const char *text, int indent, int at)
{
	for (int len; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		if (at > indent && at + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", len, text);
		at += len;
	}
	fputc('\n', out);
}

/* A paragraph. */
void option_print_text(FILE *out, const char *text)
{
	print_words(out, text, 0, 0);
}

/* How an option is written. Return: its length. */
static int print_option(FILE *out, const struct option_row *row)
{
	const char *argument = row->argument ?: "";
	const char *between = *argument && *argument != '[' ? " " : "";

	if (!row->value)
		return fprintf(out, "%s", row->name);
	if (row->value < 0x100)
		return fprintf(out, "-%c, --%s%s%s", row->value, row->name, between, argument);
	return fprintf(out, "--%s%s%s", row->name, between, argument);
}

/**
 * option_print() - what options mean
 * @out: gets lines of 80 columns at most
 * @row: of the options
 */
void option_print(FILE *out, const struct option_row *row)
{
	int at = 0;

	for (; row->value || row->name || row->help; row++) {
		if (!row->name && row->help) {
			fputc('\n', out);
			option_print_text(out, row->help);
			fputc('\n', out);
		}
		if (!row->name)
			continue;
		if (at)
			at += fprintf(out, ", ");
		else if (row->value > 0xff || !strncmp(row->name, "--", 2))
			at = fprintf(out, "      ");
		else
			at = fprintf(out, "  ");
		at += print_option(out, row);
		if (!row->help)
			continue;
		if (at < COLUMN)
			fprintf(out, "%*s", COLUMN - at, "");
		else
			fprintf(out, "\n%*s", COLUMN, "");
		print_words(out, row->help, COLUMN, COLUMN);
		at = 0;
	}
}
