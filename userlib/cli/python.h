/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs whose work is done by a program of sweep/, in Python.
 *
 * Interface:
 * cli_python()  read a verb's options, and have its program run in this one's place
 */
#ifndef HIPEC_CLI_PYTHON_H
#define HIPEC_CLI_PYTHON_H

#include "../option/option.h"

/* What a program may be told. */
struct cli_python {
	const char *program;	/* beside this command, as sweep/sweep.py */
	const struct option_row *options;	/* which it has too, by their long names */
	const char *form;	/* of these, as of option_next() */
	int least, most;	/* operands */
	const char *what;	/* they are */
};

int cli_python(const struct cli_python *p, int argc, char **argv);

#endif /* HIPEC_CLI_PYTHON_H */
