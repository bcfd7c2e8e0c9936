/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hipec command: one file per verb, or a folder, and cli.c that knows them.
 *
 * Interface:
 * struct cli_verb  all that there is to know of a verb
 * cli_examples_print()  of a verb, for its help
 * cli_verb()      the verb that runs; cli_set_verb() says so
 * cli_option()    the next option; cli_operands(): are there enough words behind them
 * cli_trace_make()  a trace from its recipe, for other verbs
 * cli_trace_failed()  why one was not read
 * cli_open_failed()  why there is no container to ask with
 * cli_call_failed()  why the module did not do it, in words
 * cli_error()     one line on stderr: hipec VERB: message
 * cli_clean()     make a text fit for a terminal
 * cli_commas()    a number as 1,234,567
 * cli_number()    the same for a person; digits for a program
 * cli_count()     a number of things: 1 page, 2 pages
 * cli_memory()    an amount of memory: 512 KiB, 1.5 MiB
 * cli_percent()   a part or a change in percent: 43.2, +43.2
 * cli_hits()      the part of accesses that are hits, in percent: 43.21
 * cli_progress_begin(), _draw(), _end()  a bar, for terminals
 */
#ifndef HIPEC_CLI_H
#define HIPEC_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "../option/option.h"

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_NO_GAIN = 3,	/* hipec sim --verdict: no policy gains, one could; hipec
				 * swap --trial: this one does not; sim --grade --least */
	CLI_NO_GAIN_POSSIBLE = 4,	/* and: none could */
};

struct trace_error;
struct trace;

/* What verbs are for, as hipec --help lists them. */
enum cli_group {
	CLI_GROUP_FIND,
	CLI_GROUP_RUN,
	CLI_GROUP_WATCH,
	CLI_GROUP_MACHINE,
	CLI_NR_GROUPS
};

/*
 * A verb, at the end of its file; or a form of one, with options and arguments of its own.
 * A form's name is a word behind its verb, or an option.
 */
struct cli_verb {
	const char *name;
	const char *of;		/* NULL: a verb; else the verb of which this is a form */
	const char *was;	/* the verb that a form was, which says so for a release; or NULL */
	const char *forms;	/* where no option is the first word, one of these is wanted: in
				   words; or NULL */
	int (*run)(int argc, char **argv);	/* argv[0] is @name; returns an exit code */
	const char *usage;	/* arguments; or NULL: it has forms alone */
	const char *summary;	/* one line, 69 columns at most */
	const char *help;	/* what else there is to say, or NULL */
	const struct option_row *options;	/* or NULL */
	const char *end;	/* what is said behind these, as of exit codes; or NULL */
	enum cli_group group;
};

/* In the order in which hipec --help has them, group by group; forms behind their verbs. */
#define CLI_VERBS(X) \
	X(try) X(trace) X(info) X(convert) X(make) X(play) X(sim) X(list) X(grade) X(step) \
	X(sweep) X(draw) X(tune) X(profile) X(mix) X(amp) X(detect) X(feed) \
	X(report) X(dis) X(run) X(attach) X(detach) X(swap) X(param) X(revoke) X(status) \
	X(page) X(metrics) X(top) X(serve) X(log) X(record) X(check) X(doctor)

#define X(verb) extern const struct cli_verb cli_verb_##verb;
CLI_VERBS(X)
#undef X

void cli_examples_print(const char *verb);
void cli_set_verb(const char *name);
const char *cli_verb(void);
int cli_option(int argc, char **argv, const struct option_row *rows, const char *how);
int cli_operands(int argc, char **argv, int least, int most, const char *want);
int cli_trace_make(struct trace *t, int argc, char **argv);
int cli_trace_failed(const char *name, int ret, const struct trace_error *err);

int cli_open_failed(int err);
const char *cli_call_failed(int err);

void __attribute__((format(printf, 1, 2))) cli_error(const char *format, ...);
char *cli_clean(char *text);
#define CLI_COMMAS 32	/* bytes of such a number */
const char *cli_commas(char *text, uint64_t n);
const char *cli_number(char *text, uint64_t n);
#define CLI_NUMBER(n) cli_number((char [CLI_COMMAS]){ 0 }, n)

#define CLI_COUNT 64	/* longest text of what follows, bytes */
const char *cli_count(char *text, uint64_t n, const char *thing);
const char *cli_memory(char *text, uint64_t bytes);
const char *cli_percent(char *text, double percent, bool sign);
#define CLI_PERCENT(percent) cli_percent((char [CLI_COUNT]){ 0 }, percent, false)
#define CLI_CHANGE(percent) cli_percent((char [CLI_COUNT]){ 0 }, percent, true)
const char *cli_hits(char *text, uint64_t hits, uint64_t of);
#define CLI_HITS(hits, of) cli_hits((char [CLI_COUNT]){ 0 }, hits, of)

bool cli_progress_begin(void);
void cli_progress_draw(uint64_t done, uint64_t all);
void cli_progress_end(void);

#endif /* HIPEC_CLI_H */
