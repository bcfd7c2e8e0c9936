// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the user of hipec sim --step says. On a terminal libedit reads it, where it was
 * linked (not in a static program); what does not come from one is shown behind
 * the prompt, so that what comes out can be read. Ctrl-C stops a run.
 */
#include <editline/readline.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "debug.h"

#pragma weak readline
#pragma weak add_history

#define PROMPT "(hipec) "

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Whether somebody pressed Ctrl-C since the last time. */
bool dbg_interrupted(void)
{
	bool was = interrupted;

	if (was)
		interrupted = 0;
	return was;
}

/**
 * dbg_lines_begin() - get ready to be told what to do
 * @l:     to fill; dbg_lines_end() it
 * @given: lines, or NULL: they come from standard input
 * @nr:    of them
 *
 * Context: any; from then on Ctrl-C does not end the program.
 */
void dbg_lines_begin(struct dbg_lines *l, char **given, size_t nr)
{
	struct sigaction action = { .sa_handler = note_interrupt };

	*l = (struct dbg_lines){ .given = given, .nr_given = nr };
	l->terminal = !given && isatty(STDIN_FILENO);
	if (l->terminal)
		sigaction(SIGINT, &action, NULL);
}

static char *from_terminal(struct dbg_lines *l)
{
	do {
		free(l->line);
		l->line = readline(PROMPT);
		if (!l->line)
			putchar('\n');
	} while (!l->line && dbg_interrupted());
	interrupted = 0;
	if (l->line && *l->line)
		add_history(l->line);
	return l->line;
}

static char *from_input(struct dbg_lines *l)
{
	ssize_t n;

	do {
		if (l->terminal)
			fputs(PROMPT, stdout);
		fflush(stdout);
		clearerr(stdin);
		n = getline(&l->line, &l->size, stdin);
	} while (n < 0 && dbg_interrupted());
	if (n < 0)
		return NULL;
	if (l->line[n - 1] == '\n')
		l->line[n - 1] = 0;
	if (!l->terminal)
		printf(PROMPT "%s\n", l->line);
	return l->line;
}

/* The next line, until there is one more; NULL: there is none. */
char *dbg_lines_next(struct dbg_lines *l)
{
	if (l->terminal && readline)
		return from_terminal(l);
	if (!l->given)
		return from_input(l);
	if (!l->nr_given)
		return NULL;
	l->nr_given--;
	printf(PROMPT "%s\n", *l->given);
	return *l->given++;
}

void dbg_lines_end(struct dbg_lines *l)
{
	free(l->line);
}
