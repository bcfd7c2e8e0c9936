// SPDX-License-Identifier: GPL-2.0-only
/*
 * What commands of hipec sim --step do to the session: it goes on, it ends, or what the user
 * said was wrong.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"

/* What the user said was wrong. */
void dbg_wrong(struct dbg *d, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	d->nr_wrong++;
}

/**
 * dbg_go() - go on
 * @d:    session
 * @goal: until when
 * @n:    how many of what the goal counts, at least 1; or its number
 *
 * What lies behind is reached by a new run.
 */
void dbg_go(struct dbg *d, enum dbg_goal goal, u64 n)
{
	bool behind = (goal == DBG_TO_MOMENT && n <= d->moment) ||
		      (goal == DBG_TO_NUMBER &&
		       (n < d->s->nr_accesses || (n == d->s->nr_accesses &&
						  d->at != DBG_ACCESS)));

	d->goal = goal;
	d->left = n;
	d->leave = d->again = d->watch.stop = behind;
}

/* Run nothing any more. */
void dbg_quit(struct dbg *d)
{
	d->leave = d->watch.stop = true;
	d->again = false;
}

/* A number, decimal or behind 0x. */
bool dbg_number(const char *word, u64 *n)
{
	char *end;

	errno = 0;
	*n = strtoull(word, &end, strncmp(word, "0x", 2) ? 10 : 16);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}
