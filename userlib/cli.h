/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hipec command: one file per verb, cli_<verb>.c, and cli.c that knows them.
 *
 * Interface:
 * cli_<verb>()    runs it; argv[0] is the verb; returns an exit code
 * cli_error()     one line on stderr: hipec VERB: message
 * cli_clean()     make a text fit for a terminal
 */
#ifndef HIPEC_CLI_H
#define HIPEC_CLI_H

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
};

int cli_dis(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_status(int argc, char **argv);

void __attribute__((format(printf, 1, 2))) cli_error(const char *format, ...);
char *cli_clean(char *text);

#endif /* HIPEC_CLI_H */
