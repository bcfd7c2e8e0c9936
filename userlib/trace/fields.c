// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line in its fields: between commas, semicolons or tabs, with or without quotes as in
 * RFC 4180, or between blanks.
 *
 * Interface: table.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "table.h"

#define BLANKS " \t"

/* Blanks side by side are one, where they separate. */
static bool by_blanks(const char *separators)
{
	return strchr(separators, ' ');
}

/* A field in quotes, from behind the first one, in place. Return: behind the last one. */
static char *unquote(char *c, struct trace_field *field)
{
	char *to = c;

	field->text = c;
	for (; *c; c++) {
		if (*c == '"' && c[1] != '"') {
			c++;
			break;
		}
		c += *c == '"';
		*to++ = *c;
	}
	field->length = to - field->text;
	return c;
}

static char *plain(char *c, struct trace_field *field, const char *separators)
{
	char *end = c + strcspn(c, separators);

	field->text = c;
	field->length = end - c;
	while (field->length && strchr(BLANKS, c[field->length - 1]))
		field->length--;
	return end;
}

/**
 * trace_split() - the fields of a line
 * @row:        filled
 * @line:       is written to, where there are quotes
 * @separators: bytes that separate them
 *
 * Return: 0; -E2BIG if there are too many.
 */
int trace_split(struct trace_row *row, char *line, const char *separators)
{
	bool blanks = by_blanks(separators);
	char *c = line;

	row->nr = 0;
	while (*c || (!blanks && row->nr)) {
		while (*c && strchr(BLANKS, *c) && (blanks || !strchr(separators, *c)))
			c++;
		if (!*c && (blanks || !row->nr))
			break;
		if (row->nr == TRACE_MAX_FIELDS)
			return -E2BIG;
		if (*c == '"') {
			c = unquote(c + 1, &row->field[row->nr]);
			c += strcspn(c, separators);
		} else {
			c = plain(c, &row->field[row->nr], separators);
		}
		row->nr++;
		if (!*c)
			break;
		c++;
	}
	return 0;
}

/* What separates the fields of a line, by what is in it. */
const char *trace_separators(const char *line)
{
	static const char *const all[] = { "\t", ",", ";" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (strchr(line, *all[i]))
			return all[i];
	return BLANKS;
}

bool trace_field_is(const struct trace_field *field, const char *word)
{
	return !strncasecmp(field->text, word, field->length) && !word[field->length];
}

/* Zeros behind a point, as pandas writes integers. */
static u32 without_decimals(const struct trace_field *field)
{
	u32 n = field->length;

	while (n && field->text[n - 1] == '0')
		n--;
	return n > 1 && n < field->length && field->text[n - 1] == '.' ? n - 1 : field->length;
}

/**
 * trace_field_number() - the number in a field
 * @field: in decimal, or behind 0x in hexadecimal; decimals are zeros
 * @hex:   hexadecimal without 0x too
 * @n:     filled
 *
 * Return: whether it is one.
 */
bool trace_field_number(const struct trace_field *field, bool hex, u64 *n)
{
	u32 length = without_decimals(field);
	char word[TRACE_MAX_WORD + 1] = "0x";
	char *to = word;

	if (!length || length > TRACE_MAX_WORD - 2)
		return false;
	if (hex && strncasecmp(field->text, "0x", 2))
		to += 2;
	memcpy(to, field->text, length);
	to[length] = 0;
	return trace_number(word, UINT64_MAX, n);
}
