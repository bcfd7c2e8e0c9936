// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of tables: each row is a request, and its columns say what of it matters.
 * What is in a table and is not used, and might have been, is named in a note.
 */
#include <errno.h>
#include <stdlib.h>

#include "rows.h"

/* A column that is not used, as far as it was looked at. */
struct unused {
	char first[32];
	bool varies;
};

struct rows {
	struct trace_in *r;
	const struct trace_table *table;
	const char *separators;	/* NULL: not known yet */
	struct trace_request request;	/* how rows become accesses */
	struct trace_row row;
	struct unused unused[TRACE_MAX_FIELDS];
	char *titles;		/* the header, or NULL */
	char *header;		/* as it is written, to know it again */
	struct trace_row title;
	u64 more;		/* lines of the row behind its first one, which errors name */
};

/* Whether a row is a header: it has a title where it should have an address, or a known
 * title in a column that is used.
 */
static bool is_header(const struct rows *in)
{
	const struct trace_layout *l = &in->request.layout;
	u32 at = trace_address_at(l), i;
	const struct trace_field *f = &in->row.field[at - 1];

	if (at > in->row.nr || !f->length || strchr("0123456789-+.", *f->text))
		return false;
	if (!l->at[TRACE_COL_ID])
		return !l->hex;
	for (i = 0; i < in->row.nr; i++)
		if (in->row.field[i].length &&
		    trace_title(in->row.field[i].text, in->row.field[i].length))
			return true;
	return false;
}

/* Keep the titles, which lines that follow overwrite. */
static int keep_header(struct rows *in)
{
	in->header = strdup(in->r->line);
	in->titles = strdup(in->header + strspn(in->header, "# "));
	if (!in->header || !in->titles)
		return -ENOMEM;
	return trace_split(&in->title, in->titles, in->separators);
}

static int no_address(struct rows *in)
{
	return trace_malformed(in->r, "want a header that has obj_id, or sector or offset and size; else --columns");
}

/* What the first line, a copy of which is in in->row, says of columns. */
static int begin_header(struct rows *in)
{
	struct trace_layout *l = &in->request.layout;
	const char *columns = in->r->options->columns;
	int ret = keep_header(in);

	if (ret)
		return ret;
	if (in->table->columns)
		ret = trace_columns_read(in->r, l, in->table->columns, NULL);
	else
		trace_columns_header(l, &in->title);
	if (!ret && columns)
		ret = trace_columns_read(in->r, l, columns, &in->title);
	return ret;
}

static int begin_plain(struct rows *in)
{
	struct trace_layout *l = &in->request.layout;
	const char *columns = in->r->options->columns;
	int ret = 0;

	if (in->table->columns)
		ret = trace_columns_read(in->r, l, in->table->columns, NULL);
	if (!ret && columns)
		ret = trace_columns_read(in->r, l, columns, NULL);
	return ret;
}

/* Titles in --columns, or no columns at all, want a header. */
static bool wants_header(const struct rows *in)
{
	const char *columns = in->r->options->columns, *c;

	for (c = columns; c && (c = strpbrk(c, "=+")); c++)
		if (c[1] < '0' || c[1] > '9')
			return true;
	return !columns && !in->table->columns;
}

/*
 * Whether a request has a place and no length, and nothing says that it may be in a column
 * that is not known: it is a page then.
 */
static bool is_told(const struct rows *in)
{
	const struct trace_layout *l = &in->request.layout;
	u32 i;

	if ((!l->at[TRACE_COL_OFFSET] && !l->at[TRACE_COL_SECTOR]) || l->at[TRACE_COL_COUNT])
		return false;
	for (i = 0; !in->r->options->columns && i < in->title.nr; i++)
		if (!trace_title(in->title.field[i].text, in->title.field[i].length))
			return false;
	return true;
}

/* Whether a line was all titles. Return: 1: it was; 0; an error, said. */
static int begin(struct rows *in)
{
	struct trace_layout *l = &in->request.layout;
	char *copy = NULL;
	int ret = 0, header;

	if (!wants_header(in)) {
		ret = begin_plain(in);
		if (ret)
			return ret;
	}
	copy = strdup(in->r->line);
	if (!copy)
		return -ENOMEM;
	if (trace_split(&in->row, copy, in->separators))
		ret = trace_malformed(in->r, "want at most %u columns", TRACE_MAX_FIELDS);
	header = wants_header(in) ||
		 ((trace_has_address(l) || is_told(in)) && !ret && is_header(in));
	free(copy);
	if (!ret && header) {
		*l = (struct trace_layout){ 0 };
		ret = begin_header(in);
	}
	if (!ret && !trace_has_address(l) && !is_told(in))
		ret = no_address(in);
	return ret ? ret : header;
}

/* Columns that say something else than in the row before. */
static void look_at_unused(struct rows *in)
{
	u32 i;

	for (i = 0; i < in->row.nr; i++) {
		struct unused *u = &in->unused[i];
		char text[sizeof(u->first)];

		if (u->varies)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)in->row.field[i].length,
			 in->row.field[i].text);
		if (!*u->first)
			strcpy(u->first, text);
		else
			u->varies = strcmp(u->first, text);
	}
}

/* The keys of a line of a list: a textbook has all in one. */
static int read_keys(struct rows *in)
{
	struct trace_row one = { .nr = 1 };
	char *c = in->r->line, *next;
	int ret = 0;

	while (!ret && *(c += strspn(c, in->separators))) {
		next = c + strcspn(c, in->separators);
		one.field[0] = (struct trace_field){ c, next - c };
		c = next;
		ret = trace_request_read(&in->request, &one);
	}
	return ret;
}

static bool is_of_keys(const struct rows *in)
{
	return in->r->form == TRACE_LIST && !in->r->options->columns;
}

static int read_line(struct rows *in)
{
	int ret;

	if (is_of_keys(in))
		return read_keys(in);

	if (trace_split(&in->row, in->r->line, in->separators))
		return trace_malformed(in->r, "want at most %u columns", TRACE_MAX_FIELDS);
	ret = trace_request_read(&in->request, &in->row);
	if (!ret)
		look_at_unused(in);
	return ret;
}

/* A comment; the first line may be a header that looks like one. */
static bool is_skipped(const struct rows *in, bool begun)
{
	const char *line = in->r->line;

	if (!*line)
		return true;
	if (*line == '#' && !begun && trace_guess_header(line))
		return false;
	return in->table->skip && strchr(in->table->skip, *line);
}

static int next_row(struct rows *in)
{
	in->r->err->line += in->more;
	in->more = 0;
	return trace_next_raw_line(in->r);
}

/* The rest of a row that ends within quotes. */
static int read_rest(struct rows *in)
{
	u64 line = in->r->err->line;
	int ret = 1;

	while (ret > 0 && !is_of_keys(in) && trace_is_open(in->r->line, in->separators))
		ret = trace_more_of_line(in->r);
	in->more = in->r->err->line - line;
	in->r->err->line = line;
	return ret > 0 ? 0 : ret ? ret :
	       trace_malformed(in->r, "want the end of what is in quotes");
}

static int read_lines(struct rows *in)
{
	bool begun = false;
	int ret = 0, header;

	while (!ret && (ret = next_row(in)) > 0) {
		ret = 0;
		if (is_skipped(in, begun))
			continue;
		if (!begun)
			in->separators = in->table->separators ? in->table->separators :
					 trace_separators(in->r->line);
		ret = read_rest(in);
		if (!begun && !ret) {
			header = begin(in);
			if (header < 0)
				return header;
			begun = true;
			if (header)
				continue;
		}
		if (!ret && (!in->header || strcmp(in->r->line, in->header)))
			ret = read_line(in);
	}
	return ret;
}

static bool is_used(const struct trace_layout *l, u32 at)
{
	u32 i;

	for (i = 0; i < TRACE_NR_COLUMNS; i++)
		if (i != TRACE_COL_DEVICE && l->at[i] == at)
			return true;
	for (i = 0; i < l->nr_devices; i++)
		if (l->device[i] == at)
			return true;
	return false;
}

/* A column that is known, though it is not used: of several times the first one is. */
static bool is_of_no_matter(const struct trace_field *f)
{
	const struct trace_title *title = trace_title(f->text, f->length);

	return title && (title->column == TRACE_COL_UNUSED || title->column == TRACE_COL_TIME);
}

/* Name columns that nothing is known of, and that differ from row to row. */
static int note_unused(const struct rows *in, struct trace *t)
{
	char list[200] = "";
	size_t n = 0;
	u32 i;

	for (i = 0; i < TRACE_MAX_FIELDS && n < sizeof(list) - 1; i++) {
		const struct trace_field *f = in->header && i < in->title.nr ?
					      &in->title.field[i] : NULL;

		if (!in->unused[i].varies || is_used(&in->request.layout, i + 1) ||
		    (f && is_of_no_matter(f)))
			continue;
		if (f)
			n += snprintf(list + n, sizeof(list) - n, "%s'%.*s'", n ? ", " : "",
				      (int)f->length, f->text);
		else
			n += snprintf(list + n, sizeof(list) - n, "%s%u", n ? ", " : "", i + 1);
	}
	if (!n)
		return 0;
	return trace_note(t, "not used: column %s; --columns says what one has, as device=%s", list,
			  in->header ? "LUN" : "2");
}

/* What a guess was, so that a wrong one is seen. */
static int note_form(const struct rows *in, struct trace *t)
{
	int ret = 0;

	if (in->table->note && !in->r->options->columns)
		ret = trace_note(t, "%s", in->table->note);
	if (ret || in->header || in->r->options->form != TRACE_ANY ||
	    in->r->form == TRACE_LIST || !in->table->columns)
		return ret;
	return trace_note(t, "taken for %s: %s%s%s; --from and --columns say otherwise",
			  trace_form_names[in->r->form], in->table->columns,
			  in->table->ops ? ", " : "", in->table->ops ? in->table->ops : "");
}

static int note_columns(const struct rows *in, struct trace *t)
{
	int ret = 0;

	if (!in->table->columns)
		ret = note_unused(in, t);
	return ret ? ret : note_form(in, t);
}

/**
 * trace_read_table() - read a trace that is a table
 * @r: where it is; r->form says which one of trace_tables[]
 * @t: filled
 *
 * Return: 0; -EINVAL, said; another errno.
 */
int trace_read_table(struct trace_in *r, struct trace *t)
{
	struct rows *in = calloc(1, sizeof(*in));
	int ret;

	if (!in)
		return -ENOMEM;
	in->r = r;
	in->table = &trace_tables[r->form];
	ret = trace_request_begin(&in->request, r, in->table);
	if (!ret)
		ret = read_lines(in);
	if (!ret)
		ret = trace_request_end(&in->request, t);
	if (!ret)
		ret = note_columns(in, t);
	trace_request_free(&in->request);
	free(in->titles);
	free(in->header);
	free(in);
	return ret;
}
