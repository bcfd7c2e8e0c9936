// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of hipec amp: of detect ('d'), feed ('f') and report ('r').
 */
#include "../cli.h"
#include "../../job/input.h"
#include "amp.h"

const struct option_row amp_options[] = {
	{ LONG('d'), "detector", AMP_METHODS(OPTION_WORD) + 1, .help = "who detects; amp", .forms = "d" },
	{ LONG('f'), "form", AMP_FORMS(OPTION_WORD) + 1,
	  .help = "of amp's average: of all accesses (the default), of the last period alone,"
		  " or with later ones counting more", .forms = "d" },
	{ LONG('e'), "every", "N", .help = "accesses of a period", .forms = "d" },
	{ LONG('b'), "blocks", "N",
	  .help = "in the list of a context, which is sampled above that", .forms = "d" },
	{ LONG('r'), "rate", "R",
	  .help = "share of the pages that is looked at; 1", .forms = "d" },
	{ LONG('F'), "fed", NULL,
	  .help = "all of these as hipec sim feeds policies", .forms = "d" },
	{ LONG('t'), "top", "N",
	  .help = "contexts of the table, the busiest ones; 20", .forms = "dr" },
	{ 'j', "json", NULL,
	  .help = "an object with all there is, for programs", .forms = "dr" },
	CLI_INPUT_OPTIONS_OF("d"),
	{ .help = "report: what runs of a program under 'hipec run' have learnt, in words:"
		  " FILE, of --hints there, or of the run that ended last; with --top and"
		  " --json, and" },
	{ LONG('R'), "run", "PROGRAM", .help = "of that program", .forms = "r" },
	{ .help = "feed: what 'hipec run' does for its program, for one that loads amp itself:"
		  " samples of its container, by its number in 'hipec status' or the process"
		  " that loaded it, until it ends, Ctrl-C, or" },
	{ LONG('s'), "seconds", "N", .help = "at most so long", .forms = "f" },
	{ LONG('p'), "policy", "NAME",
	  .help = "what it was loaded from; without it, a shipped policy of the name that"
		  " 'hipec status' shows", .forms = "f" },
	{ LONG('h'), "hints", "FILE", .forms = "f" },
	{ LONG('n'), "no-hints", NULL, .help = "as of hipec run", .forms = "f" },
	{ 0 },
};
