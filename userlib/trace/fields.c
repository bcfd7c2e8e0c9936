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

/**
 * trace_is_open() - whether a line ends within quotes, and goes on in the next one
 * @line:       as of trace_split()
 * @separators: bytes that separate fields; blanks do so in lines that end where they end
 */
bool trace_is_open(const char *line, const char *separators)
{
	const char *c = line;

	while (*c && !by_blanks(separators)) {
		while (*c && strchr(BLANKS, *c) && !strchr(separators, *c))
			c++;
		if (*c == '"') {
			do
				c = strchr(c + 1, '"');
			while (c && *++c == '"');
			if (!c)
				return true;
		}
		c += strcspn(c, separators);
		c += !!*c;
	}
	return false;
}

/* What separates the fields of a line, by what is in it. */
const char *trace_separators(const char *line)
{
	static const char *const all[] = { "\t", ",", ";" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (strchr(line, *all[i]))
			return all[i];
	return strchr(line, '|') && !strchr(line, ' ') ? "|" : BLANKS;
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

/**
 * trace_field_time() - the time in a field
 * @field: a number, which may have decimals, and no exponent
 * @time:  filled
 *
 * Return: whether it is one: a date is not.
 */
bool trace_field_time(const struct trace_field *field, double *time)
{
	const char *c = field->text, *end = c + field->length;
	u64 whole = 0, scale = 0;

	if (!field->length || field->length > TRACE_MAX_WORD || *c == '.')
		return false;
	/* By hand: strtod() would take a third of the time that a row is read in. */
	for (; c < end; c++) {
		if (*c == '.' && !scale)
			scale = 1;
		else if (*c < '0' || *c > '9' || whole > UINT64_MAX / 10 - 1)
			return false;
		else if (scale < 1000000000) {	/* decimals behind these do not matter */
			whole = whole * 10 + (*c - '0');
			scale *= 10;
		}
	}
	*time = scale ? (double)whole / scale : whole;
	return true;
}

/* "1,048,576", "1_048_576" and "1'048'576" without what is between the digits. */
static bool without_groups(const char *text, u32 length, char *to)
{
	u32 i, since = 0, n = 0;
	char mark = 0;

	for (i = 0; i < length; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			to[n++] = text[i];
			since++;
			continue;
		}
		if (!strchr(",_'", text[i]) || (mark && (text[i] != mark || since != 3)) ||
		    !since || since > 3)
			return false;
		mark = text[i];
		since = 0;
	}
	to[n] = 0;
	return mark && since == 3;
}

/* The unit behind a number, in bytes: "K", "KB", "KiB", "B"; 0: it is none. */
static u64 unit_of(const char *text)
{
	static const char letters[] = "KMGT";
	const char *letter;

	text += strspn(text, " ");
	if (!strcasecmp(text, "B"))
		return 1;
	letter = *text ? strchr(letters, *text & ~0x20) : NULL;
	if (!letter || (text[1] && strcasecmp(text + 1, "B") && strcasecmp(text + 1, "iB")))
		return 0;
	return 1024ull << 10 * (letter - letters);
}

/**
 * trace_field_amount() - the number in a field, as people and spreadsheets write it
 * @field: with separators of thousands, as 4.096e+03, or in bytes with a unit, as 4K
 * @bytes: it may have a unit
 * @n:     filled
 *
 * Return: whether it is one, and a whole one.
 */
bool trace_field_amount(const struct trace_field *field, bool bytes, u64 *n)
{
	char word[TRACE_MAX_WORD + 1], digits[TRACE_MAX_WORD + 1], *end;
	double value;
	u64 unit;

	if (trace_field_number(field, false, n))
		return true;
	if (!field->length || field->length > TRACE_MAX_WORD || *field->text < '0' ||
	    *field->text > '9' || memchr(field->text, 'x', field->length))
		return false;
	memcpy(word, field->text, field->length);
	word[field->length] = 0;
	if (without_groups(word, field->length, digits))
		return trace_number(digits, UINT64_MAX, n);
	value = strtod(word, &end);
	unit = !*end ? 1 : bytes ? unit_of(end) : 0;
	value *= unit;
	if (!unit || value >= 0x1p53 || value != (u64)value)
		return false;
	*n = value;
	return true;
}
