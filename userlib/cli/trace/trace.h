/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec trace: what its parts share.
 *
 * Interface:
 * cli_trace_program()   hipec trace -- COMMAND            program.c
 * cli_trace_options[]   of all of these                   options.c
 * cli_trace_write()     a trace into a file, complete or not at all
 * cli_trace_only(), _min_pages()  options that leave out parts of a trace   keep.c
 * cli_trace_keep()      leaves them out, and says so
 * cli_trace_say_notes() what the user should know of one     info.c
 * cli_trace_info_print(), _json()  statistics
 */
#ifndef HIPEC_CLI_TRACE_H
#define HIPEC_CLI_TRACE_H

#include "../../option/option.h"
#include "../input.h"
#include "../../trace/trace.h"

/* Options that have no letter. */
enum cli_trace_option {
	OPT_ALL = 256, OPT_DEPTH, OPT_MIN_PAGES, OPT_MMAP, OPT_ONLY,
	OPT_SAMPLE, OPT_SKEW, OPT_STACK, OPT_TO, OPT_TOP,
	/* Numbers of recipes. */
	OPT_PAGES, OPT_ACCESSES, OPT_SEED, OPT_WRITES, OPT_RUN, OPT_FANOUT, OPT_SCAN, OPT_SET,
	OPT_PHASE, OPT_PASSES, OPT_LOOKUPS,
};

extern const struct option_row cli_trace_options[];

int cli_trace_program(int argc, char **argv);
int cli_trace_write(struct sim_trace *t, enum trace_form form, const char *name);
void cli_trace_say_notes(const struct sim_trace *t, const char *mark, FILE *out);
void cli_trace_info_print(const struct sim_trace *t, const struct trace_info *info, u64 most);

/* --only, --min-pages and --all. */
struct cli_keep {
	struct trace_keep keep;
};

int cli_trace_only(struct cli_keep *k, const char *glob);
int cli_trace_min_pages(struct cli_keep *k, const char *text);
int cli_trace_keep(struct sim_trace *t, const struct cli_keep *k);

struct json_object;
struct json_object *cli_trace_info_json(const struct sim_trace *t,
					const struct trace_info *info);

#endif /* HIPEC_CLI_TRACE_H */
