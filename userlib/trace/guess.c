// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which form of a table some lines have: by its header, or by the shape of all lines that
 * are looked at. Where two forms have the same shape, neither is taken.
 *
 * Interface: table.h.
 */
#include <ctype.h>

#include "table.h"

#define LINE 4096	/* bytes of a line that are looked at */
#define LINES 64	/* that are looked at */
#define REFERENCES 10	/* more numbers than a line of any form has */

static bool is_number(const struct trace_field *f)
{
	u64 n;

	return f->length && isdigit((unsigned char)*f->text) && trace_field_number(f, false, &n);
}

static bool only_has(const struct trace_field *f, const char *bytes)
{
	u32 i;

	for (i = 0; i < f->length; i++)
		if (!f->text[i] || !strchr(bytes, f->text[i]))
			return false;
	return f->length;
}

/* As hashes of 64 bits are written that are taken for signed. */
static bool is_negative(const struct trace_field *f)
{
	const struct trace_field digits = { f->text + 1, f->length - 1 };

	return f->length > 1 && *f->text == '-' && only_has(&digits, "0123456789");
}

/* A number, a hash, or a UUID: no word. */
static bool is_identifier(const struct trace_field *f)
{
	return is_number(f) || only_has(f, "0123456789") || is_negative(f) ||
	       (f->length >= 8 && only_has(f, "0123456789abcdefABCDEF-"));
}

static bool has_web_address(const struct trace_field *f)
{
	char text[LINE];

	snprintf(text, sizeof(text), "%.*s", (int)f->length, f->text);
	return strstr(text, "://");
}

static bool is_direction(const struct trace_field *f)
{
	return trace_field_is(f, "r") || trace_field_is(f, "w") ||
	       trace_field_is(f, "read") || trace_field_is(f, "write");
}

static bool is_hexadecimal(const struct trace_field *f)
{
	u32 skip = f->length > 2 && !strncasecmp(f->text, "0x", 2) ? 2 : 0;
	const struct trace_field digits = { f->text + skip, f->length - skip };

	return only_has(&digits, "0123456789abcdefABCDEF");
}

static bool fits(char letter, const struct trace_field *f)
{
	bool word = f->length && isalpha((unsigned char)*f->text);

	switch (letter) {
	case 'n': return is_number(f);
	case 'f': return only_has(f, "0123456789.");
	case 'e': return !f->length || only_has(f, "0123456789.");
	case 'b': return f->length == 1 && only_has(f, "01");
	case 'z': return f->length == 1 && *f->text == '0';
	case 'd': return is_direction(f);
	case 'g': return word && trace_operation(f->text, f->length) && !is_direction(f);
	case 'o': return word && trace_operation(f->text, f->length);
	case 'w': return word;
	case 'k': return f->length;
	case 'i': return is_identifier(f);
	case 'u': return has_web_address(f);
	default: return is_hexadecimal(f);
	}
}

/* How many fields of a row have the shape; all of them: as many as it has. */
static u32 fitting(const char *shape, const struct trace_row *row)
{
	u32 i, n = 0;

	for (i = 0; shape[i] && shape[i] != '*' && i < row->nr; i++)
		n += fits(shape[i], &row->field[i]);
	return n;
}

static u32 letters(const char *shape)
{
	return strcspn(shape, "*");
}

static bool has_shape(const char *shape, const struct trace_row *row)
{
	u32 n = letters(shape);

	return fitting(shape, row) == n && (row->nr == n || (row->nr > n && shape[n]));
}

/* Whether a row goes on behind @length bytes, the end of a line. */
static bool goes_on(char line[LINE + 1], size_t length, const char *separators)
{
	line[length] = 0;
	return length < LINE && *line != '#' && trace_is_open(line, separators);
}

/* The next row, and how much of @bytes is behind it; false: there is none. */
static bool next_row(const u8 **bytes, size_t *n, char line[LINE + 1], const char *separators)
{
	size_t length = 0;

	if (!*n)
		return false;
	for (; *n && (**bytes != '\n' || goes_on(line, length, separators)); ++*bytes, --*n)
		if (length < LINE)
			line[length++] = **bytes ? **bytes : '?';
	if (*n) {
		++*bytes;
		--*n;
	}
	while (length && strchr(" \t\r", line[length - 1]))
		length--;
	line[length] = 0;
	return true;
}

static bool is_skipped(const struct trace_table *table, const char *line)
{
	return !*line || *line == '#' || (table->skip && strchr(table->skip, *line));
}

static bool all_have_shape(const struct trace_table *table, const u8 *bytes, size_t n)
{
	struct trace_row row;
	char line[LINE + 1];
	u32 lines = 0;
	int i;

	for (i = 0; i < LINES && next_row(&bytes, &n, line, table->separators); i++) {
		if (is_skipped(table, line))
			continue;
		if (!n && lines)
			break;	/* it may have been cut */
		if (trace_split(&row, line, table->separators) ||
		    !has_shape(table->shape, &row))
			return false;
		lines++;
	}
	return lines;
}

/* Whether there is one line, of numbers and no few: the references of a textbook. */
static bool are_references(const u8 *bytes, size_t n)
{
	const struct trace_table *list = &trace_tables[TRACE_LIST];
	char line[LINE + 1], *c = line;
	u32 nr = 0;

	while (next_row(&bytes, &n, line, list->separators) && is_skipped(list, line))
		;
	if (n || is_skipped(list, line))
		return false;
	while (*(c += strspn(c, list->separators))) {
		const struct trace_field field = { c, strcspn(c, list->separators) };

		if (!is_number(&field))
			return false;
		c += field.length;
		nr++;
	}
	return nr >= REFERENCES;
}

/**
 * trace_guess() - the form of a table without a header
 * @bytes: that it begins with
 * @n:     of them
 *
 * Return: a form, the only one of that shape; TRACE_ANY.
 */
enum trace_form trace_guess(const u8 *bytes, size_t n)
{
	enum trace_form form, found = TRACE_ANY;

	for (form = TRACE_ANY + 1; form < TRACE_NR_FORMS; form++) {
		if (!trace_tables[form].shape ||
		    !all_have_shape(&trace_tables[form], bytes, n))
			continue;
		if (found)
			return TRACE_ANY;
		found = form;
	}
	return !found && are_references(bytes, n) ? TRACE_LIST : found;
}

/* Whether a header begins with the titles of a list. */
static bool begins_with(const struct trace_row *header, const char *list)
{
	u32 i;

	for (i = 0; *list; i++) {
		struct trace_field title = { (char *)list, strcspn(list, ",") };
		const struct trace_title *a, *b;

		if (i == header->nr)
			return false;
		if (header->field[i].length != title.length ||
		    strncasecmp(header->field[i].text, title.text, title.length)) {
			a = trace_title(title.text, title.length);
			b = trace_title(header->field[i].text, header->field[i].length);
			if (!a || a != b)
				return false;
		}
		list += title.length;
		list += *list == ',';
	}
	return i;
}

static u32 nr_titles(const struct trace_row *header)
{
	u32 i, n = 0;

	for (i = 0; i < header->nr; i++)
		n += header->field[i].length &&
		     trace_title(header->field[i].text, header->field[i].length);
	return n;
}

/**
 * trace_guess_header() - the form of a table with a header
 * @line: its first one, of at most LINE bytes
 *
 * Return: a form; TRACE_CSV where titles say where an access is; TRACE_ANY.
 */
enum trace_form trace_guess_header(const char *line)
{
	struct trace_layout l = { 0 };
	struct trace_row row;
	char copy[LINE + 1];
	enum trace_form form;

	line += strspn(line, "# ");
	snprintf(copy, sizeof(copy), "%s", line);
	if (trace_split(&row, copy, trace_separators(line)) || !row.nr)
		return TRACE_ANY;
	for (form = TRACE_ANY + 1; form < TRACE_NR_FORMS; form++)
		if (trace_tables[form].header && begins_with(&row, trace_tables[form].header))
			return form;
	trace_columns_header(&l, &row);
	/* Titles that say something, if not enough: the reader says what it wants. */
	return trace_has_address(&l) || nr_titles(&row) > 1 ? TRACE_CSV : TRACE_ANY;
}

/**
 * trace_resembles() - forms that the first line has about the shape of
 * @bytes: that a trace begins with
 * @n:     of them
 * @list:  filled with names, or ""
 * @size:  of it
 */
void trace_resembles(const u8 *bytes, size_t n, char *list, size_t size)
{
	struct trace_row row;
	char line[LINE + 1], copy[LINE + 1];
	enum trace_form form;

	*list = 0;
	do {
		if (!next_row(&bytes, &n, line, " "))
			return;
	} while (!*line || *line == '#');
	for (form = TRACE_ANY + 1; form < TRACE_NR_FORMS; form++) {
		const struct trace_table *table = &trace_tables[form];

		strcpy(copy, line);
		if (!table->shape || trace_split(&row, copy, table->separators))
			continue;
		if (row.nr < letters(table->shape) ||
		    (row.nr > letters(table->shape) && !strchr(table->shape, '*')) ||
		    (!(form == TRACE_LIST && !strpbrk(line, ",;\t")) &&
		     fitting(table->shape, &row) * 3 < letters(table->shape) * 2))
			continue;
		snprintf(list + strlen(list), size - strlen(list), "%s%s",
			 *list ? ", " : "", trace_form_names[form]);
	}
}
