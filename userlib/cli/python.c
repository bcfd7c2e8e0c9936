// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs whose work is done by a program of sweep/, in Python: options are read here, so
 * that what is wrong with them is said as of all verbs.
 *
 * Interface: python.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../program/install_path.h"
#include "cli.h"
#include "python.h"

/* The interpreter: where packages are installed need not be the distribution's. */
static const char *interpreter(void)
{
	const char *name = getenv("HIPEC_PYTHON");

	return name && *name ? name : "python3";
}

/* Options and operands, behind @nr words that there are. Return: how many; below 0: no. */
static int read_words(const struct cli_python *p, int argc, char **argv, char **word,
		      char (*name)[32], int nr)
{
	int opt;

	while ((opt = cli_option(argc, argv, p->options, p->form)) != -1) {
		if (opt == '?')
			return -1;
		snprintf(*name, sizeof(*name), "--%s", option_name(p->options, opt));
		word[nr++] = *name++;
		if (optarg)
			word[nr++] = optarg;
	}
	if (cli_operands(argc, argv, p->least, p->most, p->what))
		return -1;
	word[nr++] = "--";
	while (optind < argc)
		word[nr++] = argv[optind++];
	return nr;
}

/**
 * cli_python() - run a verb's program
 * @p:    the program, and what it may be told
 * @argc: with the verb
 * @argv: arguments
 *
 * Context: any; does not return if the program runs.
 * Return: an exit code, said.
 */
int cli_python(const struct cli_python *p, int argc, char **argv)
{
	char program[PATH_MAX], self[PATH_MAX];
	char **word = calloc(2 * argc + 5, sizeof(*word));
	char (*name)[32] = calloc(argc, sizeof(*name));
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int ret = CLI_FAILED;

	if (!word || !name || n <= 0) {
		cli_error("%s", strerror(errno));
		goto out;
	}
	self[n] = '\0';
	word[0] = (char *)interpreter();
	word[1] = program;
	word[2] = self;
	if (read_words(p, argc, argv, word, name, 3) < 0) {
		ret = CLI_USAGE;
		goto out;
	}
	if (!install_path_find(program, INSTALL_PATH_SHARE, p->program)) {
		cli_error("want %s beside this command or in " INSTALL_PATH_SHARE, p->program);
		goto out;
	}
	execvp(word[0], word);
	cli_error("%s: %s; it needs Python 3.11 or newer", word[0], strerror(errno));
out:
	free(name);
	free(word);
	return ret;
}
