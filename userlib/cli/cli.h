/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hipec command: one file per verb, or a folder, and cli.c that knows them.
 *
 * Interface:
 * cli_<verb>()    runs it; argv[0] is the verb; returns an exit code
 * cli_verb()      the verb that runs
 * cli_trace_make()  a trace from its recipe, for other verbs
 * cli_trace_failed()  why one was not read
 * cli_open_failed()  why there is no container to ask with
 * cli_error()     one line on stderr: hipec VERB: message
 * cli_clean()     make a text fit for a terminal
 * cli_commas()    a number as 1,234,567
 */
#ifndef HIPEC_CLI_H
#define HIPEC_CLI_H

#include <stdint.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_NO_GAIN = 3,	/* hipec sim --verdict: no policy gains, one could; hipec
				 * swap --trial: this one does not */
	CLI_NO_GAIN_POSSIBLE = 4,	/* and: none could */
};

struct sim_error;
struct sim_trace;

int cli_amp(int argc, char **argv);
int cli_debug(int argc, char **argv);
int cli_dis(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_log(int argc, char **argv);
int cli_metrics(int argc, char **argv);
int cli_mix(int argc, char **argv);
int cli_play(int argc, char **argv);
int cli_profile(int argc, char **argv);
int cli_record(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_revoke(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_set(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_swap(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_why(int argc, char **argv);

const char *cli_verb(void);
int cli_trace_make(struct sim_trace *t, int argc, char **argv);
int cli_trace_failed(const char *name, int ret, const struct sim_error *err);

int cli_open_failed(int err);

void __attribute__((format(printf, 1, 2))) cli_error(const char *format, ...);
char *cli_clean(char *text);
const char *cli_commas(char *text, uint64_t n);

#endif /* HIPEC_CLI_H */
