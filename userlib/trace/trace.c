// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which form a trace has.
 */
#include <errno.h>

#include "reader.h"

/* What other compressors write begins with. */
static const struct {
	const char *magic;
	size_t n;
	const char *name;
} unpackers[] = {
	{ "\x1f\x8b", 2, "gzip" },
	{ "\xfd" "7zXZ", 5, "xz" },
	{ "\x5d\0\0", 3, "xz" },	/* lzma, before it was xz */
	{ "BZh", 3, "bzip2" },
};

const struct trace_form_ops trace_forms[TRACE_NR_FORMS] = {
#define X(form, text, reader, writer) [TRACE_##form] = { text, reader, writer },
	TRACE_FORMS(X)
#undef X
};

/* TRACE_ANY if there is none of that name. */
enum trace_form trace_form_named(const char *name)
{
	enum trace_form form;

	for (form = TRACE_ANY + 1; form < TRACE_NR_FORMS; form++)
		if (!strcmp(name, trace_forms[form].name))
			return form;
	return TRACE_ANY;
}

static int unknown_form(struct trace_in *r)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unpackers); i++)
		if ((size_t)(r->end - r->at) > unpackers[i].n &&
		    !memcmp(r->at, unpackers[i].magic, unpackers[i].n))
			return trace_malformed(r, "want a trace that is not compressed, or by zstd: try %s -dc FILE | hipec ... -",
					       unpackers[i].name);
	return trace_malformed(r, "want a trace in one of the forms of docs/user/traces.md");
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
	enum trace_form form = options->form;
	struct trace_in r;
	int ret;

	*t = (struct sim_trace){ .name = name };
	ret = trace_in_open(&r, in, err, options);
	if (!ret) {
		if (form == TRACE_ANY)
			form = trace_recognise(r.at, r.end - r.at);
		ret = form == TRACE_ANY ? unknown_form(&r) :
					  trace_forms[form].read(&r, t);
		/* Why there were no more bytes is the cause of what followed. */
		if (r.error)
			ret = r.error;
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
 * @in:   a trace in one of the forms of docs/traces.md, which is recognised
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
