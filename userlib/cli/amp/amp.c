// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec amp: access patterns by program context. Its verbs are rows of one table.
 *
 * Interface: cli.h.
 */
#include "../cli.h"
#include "amp.h"

static const struct {
	const char *name;
	int (*fn)(int argc, char **argv);
} verbs[] = {
	{ "detect", cli_amp_detect },
	{ "feed", cli_amp_feed },
	{ "report", cli_amp_report },
};

static int cli_amp(int argc, char **argv)
{
	const char *near = NULL;
	size_t i;

	if (argc < 2) {
		cli_error("want detect, feed or report");
		return CLI_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].fn(argc - 1, argv + 1);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		near = option_nearest(argv[1], near, verbs[i].name);
	if (near)
		cli_error("there is no '%s'; did you mean '%s'?", cli_clean(argv[1]), near);
	else
		cli_error("there is no '%s'; want detect, feed or report", cli_clean(argv[1]));
	return CLI_USAGE;
}

const struct cli_verb cli_verb_amp = {
	.name = "amp", .run = cli_amp, .group = CLI_GROUP_FIND,
	.usage = "detect [OPTION...] TRACE\n"
		 "feed [OPTION...] ID|PID\n"
		 "report [OPTION...] [FILE]",
	.summary = "find what call stacks do, in a trace or in runs: loop, pass once, ...",
	.help = "A context is a call stack; 'hipec trace -- COMMAND' takes traces that have"
		" some. docs/user/amp.md says what is found, and how; '-' is standard input.",
	.options = amp_options,
};
