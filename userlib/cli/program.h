/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that a verb runs as they are, with a library of ours loaded into them.
 *
 * Interface:
 * cli_program_library()    where a library of ours is
 * cli_program_start()      run a program with it
 * cli_program_status()     an exit code of what wait() says
 * cli_program_why_plain()  why nothing can be loaded into a program
 */
#ifndef HIPEC_CLI_PROGRAM_H
#define HIPEC_CLI_PROGRAM_H

#include <signal.h>
#include <sys/types.h>

#define CLI_NOT_FOUND 127	/* as shells say it */
#define CLI_NOT_RUN 126

/* How a program is started. */
struct cli_program {
	const char *library;	/* in front of LD_PRELOAD, or NULL */
	const char *name, *value;	/* of its environment, or NULL */
	const sigset_t *mask;	/* that it starts with, or NULL: ours */
	int procs;		/* cgroup.procs of its cgroup; 0: ours */
};

char *cli_program_library(const char *name);
int cli_program_start(char **argv, const struct cli_program *how, pid_t *child);
int cli_program_status(int status);
const char *cli_program_why_plain(const char *name);

#endif /* HIPEC_CLI_PROGRAM_H */
