// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a long task is done: a line on standard error, if that is a terminal. It is
 * wiped away at the end, and when a signal ends the program.
 */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "say.h"

#define WIDTH 30	/* of the bar, characters */

static const char wipe[] = "\r\033[K";

/* Its action is the default again: it ends the program. */
static void wipe_and_end(int signal)
{
	if (write(STDERR_FILENO, wipe, sizeof(wipe) - 1) < 0)
		_exit(128 + signal);
	raise(signal);
}

/* Return: whether there is a terminal; only then are the others for use. */
bool cli_progress_begin(void)
{
	struct sigaction end = { .sa_handler = wipe_and_end,
				 .sa_flags = SA_RESETHAND };

	if (!isatty(STDERR_FILENO))
		return false;
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	return true;
}

/**
 * cli_progress_draw() - draw how much is done
 * @done: of @all
 * @all:  more than 0
 */
void cli_progress_draw(uint64_t done, uint64_t all)
{
	static const char full[] = "##############################";
	int percent = 100.0 * done / all;

	static_assert(sizeof(full) == WIDTH + 1, "a full bar");
	fprintf(stderr, "\rhipec %s: [%-*.*s] %3d %%", cli_verb(), WIDTH,
		percent * WIDTH / 100, full, percent);
}

void cli_progress_end(void)
{
	fputs(wipe, stderr);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}
