// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec amp: access patterns by program context. Each of its forms has a file.
 *
 * Interface: cli.h.
 */
#include "../cli.h"
#include "amp.h"

const struct cli_verb cli_verb_amp = {
	.name = "amp", .forms = "detect, feed or report", .group = CLI_GROUP_FIND,
	.summary = "find what call stacks do, in a trace or in runs: loop, pass once, ...",
	.help = "A context is a call stack; 'hipec trace -- COMMAND' takes traces that have"
		" some. docs/user/amp.md says what is found, and how; '-' is standard input.",
	.options = amp_options,
};
