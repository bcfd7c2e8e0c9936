// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables whose rows are records of numbers: by a format string as Python's struct has it,
 * libCacheSim's vscsi, and its lcs, whose header says which format its records have.
 */
#include <errno.h>
#include <stdlib.h>

#include "rows.h"

#define MOST_RECORD 4096	/* bytes */
#define SECONDS "*1000000000"	/* of a time, in ns */
#define NUMBER 24		/* of one, as text */

struct number {
	u32 at, bytes;	/* 0 bytes: text, which means nothing */
	bool sign, real;
};

struct records {
	struct trace_in *r;
	struct number number[TRACE_MAX_FIELDS];
	u32 nr, bytes;
	bool big;		/* endian */
	struct trace_request request;
	struct trace_row row;
	char text[TRACE_MAX_FIELDS][NUMBER];
	u8 record[MOST_RECORD];
};

static int bad_format(struct trace_in *r, const char *format)
{
	r->err->line = 0;
	return trace_malformed(r, "--format: want '<' or '>', then letters as Python's struct has them, as <IQIq, not '%s'",
			       trace_quote(r, format));
}

static u32 bytes_of(char letter)
{
	return strchr("cbB?x", letter) ? 1 : strchr("hH", letter) ? 2 :
	       strchr("iIlLf", letter) ? 4 : strchr("qQd", letter) ? 8 : 0;
}

/* "<IQ3xH": x is padding, and no column. */
static int read_format(struct records *in, const char *format)
{
	const char *c = format;
	unsigned long times;
	char *end;

	if (*c == '<' || *c == '>' || *c == '=')
		in->big = *c++ == '>';
	for (; *c; c++) {
		times = *c >= '0' && *c <= '9' ? strtoul(c, &end, 10) : 1;
		if (*c >= '0' && *c <= '9')
			c = end;
		if (!*c || !times || times > MOST_RECORD || (!bytes_of(*c) && *c != 's'))
			return bad_format(in->r, format);
		for (; times; times--) {
			u32 bytes = bytes_of(*c);

			if (*c != 'x' && *c != 's') {
				if (in->nr == TRACE_MAX_FIELDS)
					return bad_format(in->r, format);
				in->number[in->nr++] = (struct number){
					in->bytes, bytes, strchr("bhilq", *c),
					strchr("fd", *c)
				};
			}
			in->bytes += bytes ? bytes : 1;
			if (in->bytes > MOST_RECORD)
				return bad_format(in->r, format);
		}
	}
	return in->nr ? 0 : bad_format(in->r, format);
}

static u64 big_endian(const u8 *p, u32 bytes)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		n = n << 8 | p[i];
	return n;
}

static void print_real(char *text, u64 bits, u32 bytes)
{
	u32 half = bits;
	double real;
	float single;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&single, &half, sizeof(single));
	snprintf(text, NUMBER, "%.0f", bytes == 4 ? single : real);
}

static void print_number(struct records *in, u32 i)
{
	const struct number *n = &in->number[i];
	const u8 *p = in->record + n->at;
	u64 value = in->big ? big_endian(p, n->bytes) : trace_little(p, n->bytes);
	u32 shift = 64 - 8 * n->bytes;

	if (n->real)
		print_real(in->text[i], value, n->bytes);
	else if (n->sign)
		snprintf(in->text[i], NUMBER, "%lld", (long long)(value << shift) >> shift);
	else
		snprintf(in->text[i], NUMBER, "%llu", (unsigned long long)value);
	in->row.field[i] = (struct trace_field){ in->text[i], strlen(in->text[i]) };
}

static int read_records(struct records *in)
{
	int ret;
	u32 i;

	in->row.nr = in->nr;
	while ((ret = trace_next_bytes(in->r, in->record, in->bytes)) > 0) {
		for (i = 0; i < in->nr; i++)
			print_number(in, i);
		ret = trace_request_read(&in->request, &in->row);
		if (ret)
			break;
	}
	return ret;
}

static int read_table(struct trace_in *r, struct trace *t, const struct trace_table *table,
		      const char *format)
{
	struct records *in = calloc(1, sizeof(*in));
	const char *columns = r->options->columns;
	struct trace_layout *l;
	int ret;

	if (!in)
		return -ENOMEM;
	in->r = r;
	l = &in->request.layout;
	ret = read_format(in, format);
	if (!ret)
		ret = trace_request_begin(&in->request, r, table);
	if (!ret && table->columns)
		ret = trace_columns_read(r, l, table->columns, NULL);
	if (!ret && columns)
		ret = trace_columns_read(r, l, columns, NULL);
	if (!ret && !trace_has_address(l))
		ret = trace_malformed(r, "want --columns, as id=2,size=3,op=4");
	if (!ret)
		ret = read_records(in);
	if (!ret)
		ret = trace_request_end(&in->request, t);
	trace_request_free(&in->request);
	free(in);
	return ret;
}

int trace_read_binary_table(struct trace_in *r, struct trace *t)
{
	const struct trace_table *table = &trace_tables[r->form];
	const char *format = r->options->format ? r->options->format : table->format;

	if (!format)
		return trace_malformed(r, "want --format, what a record has, as <IQIq, and --columns");
	return read_table(r, t, table, format);
}

/* lcs: a header, whose magic stands at both ends, then records by its version. */
#define LCS_MAGIC 0x123456789abcdef0ull

static const char *const lcs_formats[] = {
	[1] = "<IQIq", [2] = "<IQIB3xq", [3] = "<IQqB3xIq", [4] = "<IQqB3xIqI",
	[5] = "<IQqB3xIq2I", [6] = "<IQqB3xIq4I", [7] = "<IQqB3xIq8I", [8] = "<IQqB3xIq16I",
};

/* Where the header's second magic is: early versions had a small one. */
static u32 lcs_header(const u8 *bytes, size_t n)
{
	static const u32 sizes[] = { 8192, 1024 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (n >= sizes[i] && trace_little(bytes, 8) == LCS_MAGIC &&
		    trace_little(bytes + sizes[i] - 8, 8) == LCS_MAGIC)
			return sizes[i];
	return 0;
}

int trace_read_lcs(struct trace_in *r, struct trace *t)
{
	struct trace_table table = trace_tables[r->form];
	u32 header = lcs_header(r->at, r->end - r->at);
	u64 version = header ? trace_little(r->at + 8, 8) : 0;

	if (!version || version >= ARRAY_SIZE(lcs_formats))
		return trace_malformed(r, "want a header of lcs, version 1 to %zu",
				       ARRAY_SIZE(lcs_formats) - 1);
	r->at += header;
	table.columns = version == 1 ? "id=2,size=3,time=1" SECONDS :
				       "id=2,size=3,op=4,time=1" SECONDS;
	table.reads = version == 1;
	return read_table(r, t, &table, lcs_formats[version]);
}

/* vscsi has its version in each record, above a byte. */
static bool all_have_version(const u8 *bytes, size_t n, u32 record, u32 at, u8 version)
{
	size_t i;

	for (i = 0; i + record <= n && i < 16 * record; i += record)
		if (bytes[i + at] > 1 || bytes[i + at + 1] != version)
			return false;
	return n >= record && (n % record == 0 || n == TRACE_SNIFF);
}

/* The form of records that say what they are; TRACE_ANY. */
enum trace_form trace_guess_records(const u8 *bytes, size_t n)
{
	if (lcs_header(bytes, n))
		return TRACE_LCS;
	if (all_have_version(bytes, n, 32, 14, 1))
		return TRACE_VSCSI;
	return all_have_version(bytes, n, 40, 2, 2) ? TRACE_VSCSI2 : TRACE_ANY;
}
