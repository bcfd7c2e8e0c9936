// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the traces that a command names are read: options that all verbs with traces share.
 *
 * Interface: input.h.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <errno.h>
#include <stdlib.h>

#include "../say/say.h"
#include "input.h"

static struct trace_options input;

int cli_trace_form(const char *option, const char *name, bool writes,
		   enum trace_form *form)
{
	char list[512] = "";
	enum trace_form i;

	*form = trace_form_named(name);
	if (*form != TRACE_ANY && (!writes || trace_forms[*form].write))
		return CLI_OK;
	for (i = TRACE_ANY + 1; i < TRACE_NR_FORMS; i++)
		if (!writes || trace_forms[i].write)
			snprintf(list + strlen(list),
				 sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", trace_form_names[i]);
	cli_error("%s: want one of %s, not '%s'", option, list,
		  cli_clean(strdupa(name)));
	return CLI_USAGE;
}

/**
 * cli_input_set() - one of CLI_INPUT_OPTIONS
 * @opt: its value
 * @arg: its argument; must outlive the command
 *
 * Return: 0 or an exit code, said; -1: it is another option.
 */
int cli_input_set(int opt, const char *arg)
{
	switch (opt) {
	case CLI_INPUT_FROM:
		return cli_trace_form("--from", arg, false, &input.form);
	case CLI_INPUT_COLUMNS:
		input.columns = arg;
		return CLI_OK;
	case CLI_INPUT_FORMAT:
		input.format = arg;
		return CLI_OK;
	case CLI_INPUT_OPS:
		input.ops = arg;
		return CLI_OK;
	}
	return -1;
}

/**
 * cli_input_read() - read the trace of a name
 * @t:    filled; trace_free() it, also after an error
 * @name: of a file; "-": standard input. Must outlive @t
 *
 * Return: 0 or an exit code, said.
 */
int cli_input_read(struct trace *t, const char *name)
{
	bool standard = !strcmp(name, "-");
	FILE *in = standard ? stdin : fopen(name, "re");
	struct trace_error err;
	int ret;

	*t = (struct trace){ .name = name };
	if (input.form && (input.columns || input.ops) && !trace_is_table(input.form)) {
		cli_error("--columns and --ops: a trace of the form %s has no columns",
			  trace_form_names[input.form]);
		ret = CLI_USAGE;
		goto out;
	}
	if (!in) {
		cli_error("%s: %s", name, strerror(errno));
		return CLI_FAILED;
	}
	ret = trace_read(t, name, in, &input, &err);
	if (ret)
		ret = cli_trace_failed(name, ret, &err);
out:
	if (in && !standard)
		fclose(in);
	return ret;
}

/**
 * cli_trace_open() - read the trace of a name
 * @t:    filled; trace_free() it, also after an error
 * @name: of a file; "-": standard input. Must outlive @t
 *
 * Return: 0 or an exit code, said.
 */
int cli_trace_open(struct trace *t, const char *name)
{
	char mark[32];
	int ret = cli_input_read(t, name);

	snprintf(mark, sizeof(mark), "hipec %s: ", cli_verb());
	if (!ret)
		trace_say_notes(t, mark, stderr);
	return ret;
}
