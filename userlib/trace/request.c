// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of a table, as accesses.
 *
 * Interface: rows.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "rows.h"

int trace_request_begin(struct trace_request *q, struct trace_in *r,
			const struct trace_table *table)
{
	const char *columns = r->options->columns;
	int ret = 0;

	q->r = r;
	q->table = table;
	q->timed = columns && (!strncmp(columns, "time=", 5) || strstr(columns, ",time="));
	if (r->options->ops)
		ret = trace_ops_read(r, &q->ops, r->options->ops);
	if (!ret && table->ops)
		ret = trace_ops_read(r, &q->ops, table->ops);
	return ret;
}

static bool has(const struct trace_request *q, enum trace_column column)
{
	return q->layout.at[column];
}

/* The field of a column; NULL, said, if a row has no such column. */
static const struct trace_field *field(struct trace_request *q, const struct trace_row *row,
				       u32 at, const char *name)
{
	if (at <= row->nr)
		return &row->field[at - 1];
	trace_malformed(q->r, "want %u columns, of which the last has the %s", at, name);
	return NULL;
}

static int number_in(struct trace_request *q, const struct trace_row *row,
		     enum trace_column column, u64 *n)
{
	const char *name = trace_column_names[column];
	u32 at = q->layout.at[column];
	const struct trace_field *f = field(q, row, at, name);

	if (!f)
		return -EINVAL;
	if (q->layout.hex && column <= TRACE_COL_PAGE ? trace_field_number(f, true, n) :
	    trace_field_amount(f, column == TRACE_COL_OFFSET || column == TRACE_COL_SIZE, n))
		return 0;
	return trace_malformed(q->r, "want a number as %s in column %u, not '%.*s'", name, at,
			       f->length < TRACE_MAX_WORD ? (int)f->length : TRACE_MAX_WORD,
			       f->text);
}

/* 'r', 'w', or '-' for neither; a trace without operations reads. */
static int operation_in(struct trace_request *q, const struct trace_row *row, char *kind)
{
	u32 at = q->layout.at[TRACE_COL_OP], n;
	const struct trace_field *f;

	*kind = 'r';
	if (!at)
		return 0;
	f = field(q, row, at, "op");
	if (!f)
		return -EINVAL;
	if (q->layout.ops) {	/* of the column's title */
		const char *ops = q->layout.ops;

		q->layout.ops = NULL;
		if (trace_ops_read(q->r, &q->ops, ops))
			return -EINVAL;
	}
	*kind = trace_ops_kind(&q->ops, f->text, f->length);
	if (*kind)
		return 0;
	if (!f->length)
		return trace_malformed(q->r, "want an op in column %u, but it is empty", at);
	n = f->length < TRACE_MAX_WORD ? f->length : TRACE_MAX_WORD;
	return trace_malformed(q->r, "want an op as r, w, read, write, get or set in column %u, not '%.*s': --ops r=%.*s, if it reads",
			       at, (int)n, f->text, (int)n, f->text);
}

/* The columns that are the device together, as one name. */
static int device_in(struct trace_request *q, const struct trace_row *row, char *name,
		     size_t size)
{
	const struct trace_field *f;
	size_t n = 0;
	u32 i;

	*name = 0;
	for (i = 0; i < q->layout.nr_devices; i++) {
		f = field(q, row, q->layout.device[i], "device");
		if (!f)
			return -EINVAL;
		if (n + f->length + 2 > size)
			return trace_malformed(q->r, "want a device of at most %zu bytes",
					       size - 2);
		n += snprintf(name + n, size - n, "%s%.*s", n ? "/" : "", (int)f->length,
			      f->text);
	}
	return 0;
}

/* A number that a page can have, with no zeros in front: what else looks like one is text. */
static bool is_plain_number(const struct trace_field *f, u64 *n)
{
	return trace_field_number(f, false, n) && f->length <= 20 &&
	       (*f->text != '0' || f->length == 1);
}

static int read_object(struct trace_request *q, const struct trace_row *row, bool write,
		       u64 times)
{
	char device[TRACE_MAX_NAME + 1];
	const struct trace_field *f = field(q, row, q->layout.at[TRACE_COL_ID], "id");
	s64 space = 0;
	u64 id;
	int ret = f ? device_in(q, row, device, sizeof(device)) : -EINVAL;

	if (ret)
		return ret;
	if (!f->length)
		return trace_malformed(q->r, "want an id in column %u, but it is empty",
				       q->layout.at[TRACE_COL_ID]);
	if (*device)
		space = trace_name_number(&q->devices, device, strlen(device));
	if (space < 0)
		return -ENOMEM;
	while (times-- && !ret)
		ret = is_plain_number(f, &id) ?
		      trace_object(q->r, &q->objects, space, id, write) :
		      trace_key(q->r, &q->objects, space, f->text, f->length, write);
	return ret;
}

/* Units of a column in bytes. Return: 0; -EINVAL, said. */
static int scale(struct trace_request *q, const char *name, u64 unit, u64 *n)
{
	if (*n > UINT64_MAX / unit)
		return trace_malformed(q->r, "want a %s, 0 to %llu, not %llu", name,
				       UINT64_MAX / unit + 0ull, (unsigned long long)*n);
	*n *= unit;
	return 0;
}

/* The first of some columns that a row has, in bytes. -ENOENT: it has none. */
static int bytes_in(struct trace_request *q, const struct trace_row *row,
		    const enum trace_column column[3], u64 *n)
{
	static const u64 units[] = { 1, TRACE_SECTOR_BYTES, TRACE_PAGE_BYTES };
	int i, ret;

	for (i = 0; i < 3; i++) {
		if (!has(q, column[i]))
			continue;
		ret = number_in(q, row, column[i], n);
		if (!ret && q->layout.unit[column[i]])
			ret = scale(q, trace_column_names[column[i]], q->layout.unit[column[i]], n);
		return ret ? ret : scale(q, trace_column_names[column[i]], units[i], n);
	}
	return -ENOENT;
}

/* Where nothing says how long a request is: a page, or a block of what its address counts. */
static u64 usual_length(const struct trace_request *q)
{
	const u32 *unit = q->layout.unit;

	return unit[TRACE_COL_OFFSET] ? unit[TRACE_COL_OFFSET] :
	       unit[TRACE_COL_SECTOR] ? (u64)unit[TRACE_COL_SECTOR] * TRACE_SECTOR_BYTES :
	       unit[TRACE_COL_PAGE] ? (u64)unit[TRACE_COL_PAGE] * TRACE_PAGE_BYTES :
	       TRACE_PAGE_BYTES;
}

static int read_bytes(struct trace_request *q, const struct trace_row *row, bool write,
		      u64 times)
{
	static const enum trace_column addresses[] = {
		TRACE_COL_OFFSET, TRACE_COL_SECTOR, TRACE_COL_PAGE
	};
	static const enum trace_column lengths[] = {
		TRACE_COL_SIZE, TRACE_COL_SECTORS, TRACE_COL_PAGES
	};
	char device[TRACE_MAX_NAME + 1];
	u64 offset, bytes;
	s64 file;
	int ret = bytes_in(q, row, addresses, &offset);

	if (!ret)
		ret = bytes_in(q, row, lengths, &bytes);
	if (ret == -ENOENT) {
		bytes = usual_length(q);
		ret = 0;
	}
	if (!ret)
		ret = device_in(q, row, device, sizeof(device));
	q->empty += !ret && !bytes;
	if (ret || !bytes)
		return ret;
	if (q->layout.nr_devices && !*device)
		strcpy(device, "?");
	file = trace_file(q->r, &q->files, device);
	if (file < 0)
		return file;
	while (times-- && !ret)
		ret = trace_touch(q->r, &q->files, file, offset, bytes, write);
	return ret;
}

/* When the requests of a row were; a date, or nothing, matters only to who asked for it. */
static int note_time(struct trace_request *q, const struct trace_row *row, u64 times)
{
	u32 at = q->layout.at[TRACE_COL_TIME];
	const struct trace_field *f;
	double time;

	if (!at || (at > row->nr && !q->timed))
		return 0;
	f = field(q, row, at, "time");
	if (!f)
		return -EINVAL;
	if (trace_field_time(f, &time)) {
		q->r->clock.ns = q->layout.unit[TRACE_COL_TIME];
		trace_clock_add(q->r, time, times);
	} else if (q->timed) {
		return trace_malformed(q->r, "want a number as time in column %u, not '%.*s'", at,
				       f->length < TRACE_MAX_WORD ? (int)f->length : TRACE_MAX_WORD,
				       f->text);
	}
	return 0;
}

static void look_at_size(struct trace_request *q, const struct trace_row *row)
{
	u32 at = q->layout.at[TRACE_COL_SIZE];
	u64 n;

	if (at && at <= row->nr)
		q->sized |= !trace_field_number(&row->field[at - 1], false, &n) ||
			    n != TRACE_PAGE_BYTES;
}

/**
 * trace_request_read() - a row
 * @q:   requests; its layout has an address
 * @row: fields
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_request_read(struct trace_request *q, const struct trace_row *row)
{
	u64 times = 1;
	char kind;
	int ret = operation_in(q, row, &kind);

	if (!ret && has(q, TRACE_COL_COUNT))
		ret = number_in(q, row, TRACE_COL_COUNT, &times);
	if (ret)
		return ret;
	if (times > SIM_MAX_ACCESSES)
		return trace_malformed(q->r, "want at most %u requests in a row", SIM_MAX_ACCESSES);
	q->rows++;
	if (kind == '-') {
		q->skipped++;
		return 0;
	}
	ret = times ? note_time(q, row, times) : 0;
	if (ret)
		return ret;
	if (!has(q, TRACE_COL_ID))
		return read_bytes(q, row, kind == 'w', times);
	look_at_size(q, row);
	return read_object(q, row, kind == 'w', times);
}

/* What was not used, or was taken for granted. */
static int say_what(const struct trace_request *q, struct trace *t)
{
	bool length = has(q, TRACE_COL_SIZE) || has(q, TRACE_COL_SECTORS) ||
		      has(q, TRACE_COL_PAGES);
	int ret = 0;

	if (has(q, TRACE_COL_ID) && q->sized)
		ret = trace_note(t, "an object is a page, whatever its size: where column %u has addresses in sectors, --columns sector=%u,size=%u",
				 q->layout.at[TRACE_COL_ID], q->layout.at[TRACE_COL_ID],
				 q->layout.at[TRACE_COL_SIZE]);
	else if (!has(q, TRACE_COL_ID) && !length)
		ret = trace_note(t, "no column says how long a request is: each is of %llu bytes",
				 (unsigned long long)usual_length(q));
	if (!ret && q->layout.blocks && !q->r->options->columns)
		ret = trace_note(t, "a block is taken for a page: of 512 bytes, --columns sector=%u,sectors=%u; of others, page and pages by the bytes, as page=1*8192",
				 trace_address_at(&q->layout), q->layout.at[TRACE_COL_PAGES]);
	if (!ret && !has(q, TRACE_COL_OP) && !q->table->reads)
		ret = trace_note(t, "no column says what is read or written: all accesses are reads; --columns op=N");
	if (!ret && q->empty)
		ret = trace_note(t, "%llu requests of 0 bytes are no accesses",
				 (unsigned long long)q->empty);
	if (!ret && q->skipped)
		ret = trace_note(t, "%llu operations that neither read nor write were skipped",
				 (unsigned long long)q->skipped);
	return ret;
}

/**
 * trace_request_end() - make a trace of all rows
 * @q: requests
 * @t: filled
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_request_end(struct trace_request *q, struct trace *t)
{
	int ret = has(q, TRACE_COL_ID) ? trace_objects_end(q->r, &q->objects, t) :
					 trace_files_end(q->r, &q->files, t);

	return ret ? ret : say_what(q, t);
}

void trace_request_free(struct trace_request *q)
{
	trace_objects_free(&q->objects);
	trace_files_free(&q->files);
	trace_names_free(&q->devices);
}
