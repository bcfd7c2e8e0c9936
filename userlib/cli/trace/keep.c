// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec trace: options that say what of a trace matters, and what was left out.
 *
 * Interface: trace.h.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <errno.h>
#include <stdlib.h>

#include "../cli.h"
#include "trace.h"

/* --only GLOB, one more. @glob stays the caller's. */
int cli_trace_only(struct cli_keep *k, const char *glob)
{
	const char **more = reallocarray(k->keep.only, k->keep.nr_only + 1, sizeof(*more));

	if (!more) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	k->keep.only = more;
	more[k->keep.nr_only++] = glob;
	return CLI_OK;
}

int cli_trace_min_pages(struct cli_keep *k, const char *text)
{
	char *end;

	errno = 0;
	k->keep.min_pages = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno &&
	    k->keep.min_pages <= SIM_MAX_PAGES)
		return CLI_OK;
	cli_error("--min-pages: want a number from 0 to %u, not '%s'", SIM_MAX_PAGES,
		  cli_clean(strdupa(text)));
	return CLI_USAGE;
}

/**
 * cli_trace_keep() - leave out of a trace what does not matter, and say so
 * @t: trace
 * @k: what was asked for; gets how much was left out
 *
 * Return: 0 or an exit code, said: also if nothing is left.
 */
int cli_trace_keep(struct trace *t, struct cli_keep *k)
{
	char n[3][CLI_COUNT];
	struct trace_left left;
	int ret = trace_keep(t, &k->keep, &left);

	if (ret) {
		cli_error("%s: %s", t->name, strerror(-ret));
		return CLI_FAILED;
	}
	if (!t->nr_accesses) {
		cli_error("%s: no access is left: no file of it is named like that, or has so many pages; 'hipec trace info' lists them",
			  t->name);
		return CLI_FAILED;
	}
	k->left = left.accesses;
	if (left.accesses)
		cli_error("left out %s to %s of %s%s",
			  cli_count(n[0], left.accesses, "access"),
			  cli_count(n[1], left.pages, "page"),
			  cli_count(n[2], left.regions, "file"),
			  k->keep.nr_only || k->keep.min_pages ? "" :
			  " that interpreters and libraries read of themselves; --all keeps them");
	return CLI_OK;
}
