/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hipec command: one file per verb, or a folder, and cli.c that knows them.
 *
 * Interface:
 * cli_<verb>()    runs it; argv[0] is the verb; returns an exit code
 * cli_examples_print()  of a verb, for its help
 * cli_verb()      the verb that runs; cli_set_verb() says so
 * cli_option()    the next option; cli_operands(): are there enough words behind them
 * cli_trace_make()  a trace from its recipe, for other verbs
 * cli_trace_failed()  why one was not read
 * cli_open_failed()  why there is no container to ask with
 * cli_error()     one line on stderr: hipec VERB: message
 * cli_clean()     make a text fit for a terminal
 * cli_commas()    a number as 1,234,567
 * cli_number()    the same for a person; digits for a program
 * cli_count()     a number of things: 1 page, 2 pages
 * cli_memory()    an amount of memory: 512 KiB, 1.5 MiB
 * cli_progress_begin(), _draw(), _end()  a bar, for terminals
 */
#ifndef HIPEC_CLI_H
#define HIPEC_CLI_H

#include <stdbool.h>
#include <stdint.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_NO_GAIN = 3,	/* hipec sim --verdict: no policy gains, one could; hipec
				 * swap --trial: this one does not; hipec grade --least */
	CLI_NO_GAIN_POSSIBLE = 4,	/* and: none could */
};

struct option;
struct sim_error;
struct sim_trace;

int cli_amp(int argc, char **argv);
int cli_attach(int argc, char **argv);
int cli_debug(int argc, char **argv);
int cli_detach(int argc, char **argv);
int cli_dis(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_grade(int argc, char **argv);
int cli_log(int argc, char **argv);
int cli_metrics(int argc, char **argv);
int cli_mix(int argc, char **argv);
int cli_play(int argc, char **argv);
int cli_profile(int argc, char **argv);
int cli_record(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_revoke(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_set(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_tune(int argc, char **argv);
int cli_judge(int argc, char **argv);
int cli_swap(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_try(int argc, char **argv);
int cli_why(int argc, char **argv);

void cli_examples_print(const char *verb);
void cli_set_verb(const char *name);
const char *cli_verb(void);
int cli_option(int argc, char **argv, const char *letters, const struct option *options);
int cli_operands(int argc, char **argv, int least, int most, const char *want);
int cli_trace_make(struct sim_trace *t, int argc, char **argv);
int cli_trace_failed(const char *name, int ret, const struct sim_error *err);

int cli_open_failed(int err);

void __attribute__((format(printf, 1, 2))) cli_error(const char *format, ...);
char *cli_clean(char *text);
#define CLI_COMMAS 32	/* bytes of such a number */
const char *cli_commas(char *text, uint64_t n);
const char *cli_number(char *text, uint64_t n);
#define CLI_NUMBER(n) cli_number((char [CLI_COMMAS]){ 0 }, n)

#define CLI_COUNT 64	/* longest text of the next two, bytes */
const char *cli_count(char *text, uint64_t n, const char *thing);
const char *cli_memory(char *text, uint64_t bytes);

bool cli_progress_begin(void);
void cli_progress_draw(uint64_t done, uint64_t all);
void cli_progress_end(void);

#endif /* HIPEC_CLI_H */
