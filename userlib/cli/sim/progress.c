// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far the rows are: a line on standard error, if that is a terminal. It is
 * wiped away at the end, and when a signal ends the program.
 */
#include <signal.h>
#include <unistd.h>

#include "../cli.h"
#include "sim.h"

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
bool sim_progress_begin(void)
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
 * sim_progress_draw() - draw how far the rows are
 * @rows: rows, which other threads run
 *
 * Context: any.
 */
void sim_progress_draw(const struct sim_rows *rows)
{
	static const char full[] = "##############################";
	u64 done = 0, all = 0;
	u32 percent;
	size_t i;

	static_assert(sizeof(full) == WIDTH + 1, "a full bar");
	for (i = 0; i < rows->nr; i++) {
		done += __atomic_load_n(&rows->row[i].r.done, __ATOMIC_RELAXED);
		all += rows->row[i].trace->nr_accesses;
	}
	percent = 100.0 * done / all;
	fprintf(stderr, "\rhipec %s: [%-*.*s] %3u %%", cli_verb(), WIDTH,
		(int)(percent * WIDTH / 100), full, percent);
}

void sim_progress_end(void)
{
	fputs(wipe, stderr);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}
