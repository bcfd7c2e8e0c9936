/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the traces that a command names are read, where that is not seen from them.
 *
 * Interface:
 * CLI_INPUT_OPTIONS   rows of the options of a verb that reads traces
 * cli_input_set()     one of them
 * cli_input_read()    a trace
 * cli_trace_open()    the same, and what it found worth knowing is said
 * cli_trace_form()    a form by its name
 */
#ifndef HIPEC_JOB_INPUT_H
#define HIPEC_JOB_INPUT_H

#include "../option/option.h"
#include "../trace/trace.h"

/* Above what verbs have of their own. */
enum cli_input_option { CLI_INPUT_FROM = 0x400, CLI_INPUT_COLUMNS, CLI_INPUT_OPS,
			CLI_INPUT_FORMAT };

#define CLI_INPUT_FROM_HELP "the form of traces: docs/user/traces.md lists them"
#define CLI_INPUT_COLUMNS_HELP "of a table, from 1 or by title: op=3,offset=4,size=5,device=1+2"
#define CLI_INPUT_FORMAT_HELP "of binary records, as Python's struct: <IQIq; with --columns"
#define CLI_INPUT_OPS_HELP "which words or numbers read and write: r=0,w=1,skip=2"

#define CLI_INPUT_OPTIONS_OF(which)                                                       \
	{ CLI_INPUT_FROM, "from", "FORM", .help = CLI_INPUT_FROM_HELP, .forms = which },  \
	{ CLI_INPUT_COLUMNS, "columns", "LIST", .help = CLI_INPUT_COLUMNS_HELP,           \
	  .forms = which },                                                               \
	{ CLI_INPUT_OPS, "ops", "LIST", .help = CLI_INPUT_OPS_HELP, .forms = which },     \
	{ CLI_INPUT_FORMAT, "format", "LETTERS", .help = CLI_INPUT_FORMAT_HELP, .forms = which }
#define CLI_INPUT_OPTIONS CLI_INPUT_OPTIONS_OF(NULL)

int cli_trace_form(const char *option, const char *name, bool writes,
		   enum trace_form *form);
int cli_input_set(int opt, const char *arg);
int cli_input_read(struct trace *t, const char *name);
int cli_trace_open(struct trace *t, const char *name);

#endif /* HIPEC_JOB_INPUT_H */
