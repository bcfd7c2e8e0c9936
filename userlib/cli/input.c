// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the traces that a command names are read: options that all verbs with traces share.
 *
 * Interface: input.h.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "input.h"

static struct trace_options input;

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
