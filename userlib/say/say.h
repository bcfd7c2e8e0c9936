/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the command says: the words that all verbs share, and how numbers look. What is below
 * the verbs has its errors said here as well.
 *
 * Interface:
 * enum cli_exit   what a verb returns, and what a function that has said why
 * cli_verb()      the verb that runs; cli_set_verb() says so
 * cli_option()    the next option; cli_operands(): are there enough words behind them
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
#ifndef HIPEC_SAY_SAY_H
#define HIPEC_SAY_SAY_H

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

void cli_set_verb(const char *name);
const char *cli_verb(void);
int cli_option(int argc, char **argv, const struct option_row *rows, const char *how);
int cli_operands(int argc, char **argv, int least, int most, const char *want);
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

#endif /* HIPEC_SAY_SAY_H */
