// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which form a trace has.
 */
#include <errno.h>

#include "table.h"

const struct trace_form_ops trace_forms[TRACE_NR_FORMS] = {
#define X(form, text, reader, writer) [TRACE_##form] = { reader, writer },
	TRACE_FORMS(X)
#undef X
};

/* Whether a form has columns. */
bool trace_is_table(enum trace_form form)
{
	return form && (trace_forms[form].read == trace_read_table ||
			trace_forms[form].read == trace_read_binary_table ||
			form == TRACE_LCS);
}

/* TRACE_ANY if there is none of that name. */
enum trace_form trace_form_named(const char *name)
{
	enum trace_form form;

	for (form = TRACE_ANY + 1; form < TRACE_NR_FORMS; form++)
		if (!strcmp(name, trace_form_names[form]))
			return form;
	return TRACE_ANY;
}

/* Archives, of which one file would be meant. */
static const char *archive_of(const struct trace_in *r)
{
	size_t n = r->end - r->at;

	if (n > 262 && !memcmp(r->at + 257, "ustar", 5))
		return "tar -xOf FILE NAME";
	return n > 4 && !memcmp(r->at, "PK\3\4", 4) ? "unzip -p FILE NAME" : NULL;
}

static int unknown_form(struct trace_in *r)
{
	const char *archive = archive_of(r);

	if (archive)
		return trace_malformed(r, "want a trace, not an archive: %s | hipec ... -",
				       archive);
	return trace_malformed(r, "want a trace in one of the forms of docs/user/traces.md");
}

/* What programs that are at hand make a trace of; NULL: nothing is known of it. */
static const char *remedy_of(const struct trace_in *r)
{
	const u8 *c = r->at;
	const char *tool = trace_packed_by(r->at, r->end - r->at);

	while (c < r->end && *c && strchr(" \n\r\t[", *c))
		c++;
	if (tool)
		return "want a trace that is compressed once, not twice: zstdcat, zcat, xzcat or bzcat FILE | hipec ... -";
	if (c < r->end && *c == '{')
		return "want a table, not JSON: jq -r '[.offset,.size,.op]|@csv' FILE | hipec ... --columns offset=1,size=2,op=3 -, with the names that it has";
	return NULL;
}

/* Lines that were only taken for text. Say which forms they are like. */
static void add_resembling(struct trace_in *r, const char *list)
{
	size_t n = strlen(r->err->text);

	snprintf(r->err->text + n, sizeof(r->err->text) - n,
		 *list ? "; it resembles %s: --from says which, --columns what columns have" :
		 "; if it has columns: --columns says what is in them, as offset=3,size=4,op=5%s",
		 list);
}

/* The form that bytes have. Return: whether it was taken for text for want of another. */
static bool recognise(struct trace_in *r)
{
	bool columns = r->options->columns || r->options->ops;

	r->form = trace_recognise(r->at, r->end - r->at);
	if (r->options->format)
		r->form = TRACE_PACKED;
	else if (columns && !trace_is_table(r->form))
		r->form = TRACE_CSV;
	return r->form == TRACE_TEXT && r->at < r->end && !strchr("rwf\n\r \t#", *r->at);
}

static int read_form(struct trace_in *r, struct sim_trace *t)
{
	char list[128] = "";
	bool guessed;
	int ret;

	if (archive_of(r))
		return unknown_form(r);
	if (remedy_of(r))
		return trace_malformed(r, "%s", remedy_of(r));
	guessed = !r->form && recognise(r);
	if (guessed)
		trace_resembles(r->at, r->end - r->at, list, sizeof(list));
	if (!r->form)
		return unknown_form(r);
	ret = trace_forms[r->form].read(r, t);
	if (ret == -EINVAL && guessed && !t->nr_accesses)
		add_resembling(r, list);
	return ret;
}

/**
 * trace_read() - read a trace
 * @t:       filled; sim_trace_free() it, also after an error
 * @name:    for messages; must outlive @t
 * @in:      what to read, to its end
 * @options: the form it has, TRACE_ANY if that is to be recognised
 * @err:     filled if it is malformed; a line of 0: the text says where
 *
 * Return: 0; -EINVAL with @err; -ENOMEM; -EIO or what else reading gave.
 */
int trace_read(struct sim_trace *t, const char *name, FILE *in,
	       const struct trace_options *options, struct sim_error *err)
{
	struct trace_in r;
	int ret;

	*t = (struct sim_trace){ .name = name };
	ret = trace_in_open(&r, in, err, options);
	if (!ret) {
		r.form = options->form;
		ret = read_form(&r, t);
		/* Why there were no more bytes is the cause of what followed. */
		if (r.error)
			ret = r.error;
		if (!ret)
			ret = trace_clock_end(&r, t);
	}
	if (!ret && !t->nr_accesses) {
		err->line = 0;
		ret = trace_malformed(&r, "want an access, but there is none");
	}
	trace_in_close(&r);
	return ret;
}

/**
 * sim_trace_read() - read a trace
 * @t:    filled; sim_trace_free() it, also after an error
 * @name: for messages; must outlive @t
 * @in:   a trace in one of the forms of docs/user/traces.md, which is recognised
 * @err:  filled if it is malformed
 *
 * Return: 0; -EINVAL with @err; -ENOMEM; -EIO or what else reading gave.
 */
int sim_trace_read(struct sim_trace *t, const char *name, FILE *in,
		   struct sim_error *err)
{
	const struct trace_options options = { .form = TRACE_ANY };

	return trace_read(t, name, in, &options, err);
}

/**
 * trace_write() - write a trace
 * @t:    trace
 * @form: one that can be written
 * @out:  its errors are the caller's to look for, but for those of writers
 *
 * Return: 0; -ENOMEM; -ERANGE if the form has no room for it.
 */
int trace_write(struct sim_trace *t, enum trace_form form, FILE *out)
{
	return trace_forms[form].write(t, out);
}
