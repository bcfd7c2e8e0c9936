// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which column says what: by its title, or by --columns.
 *
 * Interface: table.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "table.h"

const char *const trace_column_names[TRACE_NR_COLUMNS] = {
#define X(name, text) [TRACE_COL_##name] = text,
	TRACE_COLUMNS(X)
#undef X
};

#define WANT_COLUMNS "want columns as id=5,op=3,size=4,sector=5,offset=5, not '%s'"

static int bad_columns(struct trace_in *r, const char *text)
{
	r->err->line = 0;
	return trace_malformed(r, WANT_COLUMNS, trace_quote(r, text));
}

/* Addresses of bytes that a row has may be one alone. */
static bool is_address(enum trace_column column)
{
	return column <= TRACE_COL_PAGE;
}

static bool is_length(enum trace_column column)
{
	return column >= TRACE_COL_SIZE && column <= TRACE_COL_PAGES;
}

/* What was said before of addresses, or of lengths, no longer holds. */
static void forget(struct trace_layout *l, bool (*which)(enum trace_column column))
{
	enum trace_column i;

	for (i = 0; i < TRACE_NR_COLUMNS; i++)
		if (which(i))
			l->at[i] = 0;
}

/* A column by its number or its title. Return: from 1; 0: there is none. */
static u32 find_column(const char *text, size_t length, const struct trace_row *header)
{
	struct trace_field field = { (char *)text, length };
	u32 i;
	u64 n;

	if (trace_field_number(&field, false, &n))
		return n <= TRACE_MAX_FIELDS ? n : 0;
	for (i = 0; header && i < header->nr; i++)
		if (header->field[i].length == length &&
		    !strncasecmp(header->field[i].text, text, length))
			return i + 1;
	return 0;
}

/* The column of a text, with what is behind its number: "2x", "2*512". 0: it is wrong. */
static u32 read_column(struct trace_layout *l, enum trace_column column, const char *text,
		       size_t length, const struct trace_row *header)
{
	const char *star = memchr(text, '*', length);
	char *end;
	u32 at;

	l->unit[column] = 0;
	if (star) {
		l->unit[column] = strtoul(star + 1, &end, 10);
		if (end != text + length || !l->unit[column])
			return 0;
		length = star - text;
	}
	at = find_column(text, length, header);
	if (!at && length > 1 && text[length - 1] == 'x' && is_address(column)) {
		at = find_column(text, length - 1, header);
		l->hex = at;
	}
	return at;
}

/* "2", "2x" or "2+3" of one name. Return: bytes of it; 0: it is wrong. */
static size_t read_numbers(struct trace_layout *l, enum trace_column column, const char *text,
			   const struct trace_row *header)
{
	const char *c = text;
	u32 at;

	for (;; c++) {
		size_t n = strcspn(c, "+,");

		at = read_column(l, column, c, n, header);
		if (!at)
			return 0;
		c += n;
		l->at[column] = at;
		if (column == TRACE_COL_DEVICE && l->nr_devices < TRACE_MAX_DEVICES)
			l->device[l->nr_devices++] = at;
		if (*c != '+')
			return c - text;
		if (column != TRACE_COL_DEVICE)
			return 0;
	}
}

/**
 * trace_columns_read() - read --columns
 * @r:      for messages
 * @l:      columns are set
 * @text:   "id=5,op=3", "device=1+2,offset=3x"; also with titles for numbers
 * @header: titles, or NULL
 *
 * What it says of addresses, lengths or devices replaces what a header says of them.
 *
 * Return: 0; -EINVAL, said.
 */
int trace_columns_read(struct trace_in *r, struct trace_layout *l, const char *text,
		       const struct trace_row *header)
{
	bool addresses = false, lengths = false, devices = false;
	const char *c = text;
	size_t n, used;
	u32 i;

	while (*c) {
		n = strcspn(c, "=,");
		for (i = 0; i < TRACE_NR_COLUMNS; i++)
			if (strlen(trace_column_names[i]) == n &&
			    !strncasecmp(c, trace_column_names[i], n))
				break;
		if (i == TRACE_NR_COLUMNS || c[n] != '=')
			return bad_columns(r, c);
		if (is_address(i) && !addresses) {
			forget(l, is_address);
			addresses = true;
		} else if (is_length(i) && !lengths) {
			forget(l, is_length);
			lengths = true;
		} else if (i == TRACE_COL_DEVICE && !devices) {
			l->nr_devices = 0;
			devices = true;
		}
		used = read_numbers(l, i, c + n + 1, header);
		if (!used)
			return bad_columns(r, c);
		c += n + 1 + used;
		c += *c == ',';
	}
	return 0;
}

static void add_device(struct trace_layout *l, u32 at)
{
	if (l->nr_devices < TRACE_MAX_DEVICES)
		l->device[l->nr_devices++] = at;
	l->at[TRACE_COL_DEVICE] = at;
}

static void set_column(struct trace_layout *l, const struct trace_title *title, u32 at)
{
	l->at[title->column] = at;
	l->unit[title->column] = title->unit > 1 || title->column == TRACE_COL_TIME ?
				 title->unit : 0;
}

/**
 * trace_columns_header() - columns of a header
 * @l:      columns are set; of those with two names, the first counts
 * @header: its titles
 *
 * An object that has bytes at an offset is a file, and a space of its own; a block that
 * has a number of sectors or of blocks is the first of them.
 */
void trace_columns_header(struct trace_layout *l, const struct trace_row *header)
{
	u32 i;

	for (i = 0; i < header->nr; i++) {
		const struct trace_field *f = &header->field[i];
		const struct trace_title *title = trace_title(f->text, f->length);

		if (!title)
			continue;
		if (title->column == TRACE_COL_DEVICE)
			add_device(l, i + 1);
		else if (!l->at[title->column])
			set_column(l, title, i + 1);
		if (l->at[TRACE_COL_PAGES] == i + 1)
			l->blocks = strstr(title->name, "bl");
		if (title->ops && l->at[TRACE_COL_OP] == i + 1)
			l->ops = title->ops;
	}
	if (!l->at[TRACE_COL_ID])
		return;
	if (l->at[TRACE_COL_OFFSET] || l->at[TRACE_COL_SECTOR])
		add_device(l, l->at[TRACE_COL_ID]);
	else if (l->at[TRACE_COL_SECTORS])
		l->at[TRACE_COL_SECTOR] = l->at[TRACE_COL_ID];
	else if (l->at[TRACE_COL_PAGES])
		l->at[TRACE_COL_PAGE] = l->at[TRACE_COL_ID];
	else
		return;
	l->at[TRACE_COL_ID] = 0;
}

/* Whether a row says where an access is, and how long: in blocks of a size, one of them. */
bool trace_has_address(const struct trace_layout *l)
{
	return l->at[TRACE_COL_ID] || l->at[TRACE_COL_PAGE] || l->unit[TRACE_COL_OFFSET] ||
	       l->unit[TRACE_COL_SECTOR] ||
	       ((l->at[TRACE_COL_OFFSET] || l->at[TRACE_COL_SECTOR]) &&
		(l->at[TRACE_COL_SIZE] || l->at[TRACE_COL_SECTORS] || l->at[TRACE_COL_PAGES]));
}

/* The column of the address; @l has one. */
u32 trace_address_at(const struct trace_layout *l)
{
	u32 i;

	for (i = TRACE_COL_ID; i < TRACE_COL_PAGE && !l->at[i]; i++)
		;
	return l->at[i];
}
