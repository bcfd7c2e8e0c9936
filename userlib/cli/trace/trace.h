/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec trace: what its parts share.
 *
 * Interface:
 * cli_trace_program()   hipec trace -- COMMAND            program.c
 * cli_trace_take()      the same, and what became of it
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
#include "../../job/input.h"
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

/* What became of a program that was traced, and of its trace. */
struct cli_taken {
	bool ran;		/* else it could not be run, said */
	int status;		/* the program's, as shells have it */
	bool failed;		/* to write a trace, said */
	bool lost;		/* so many records that the trace is partial */
	bool no_stdio;		/* streams were not seen */
	u64 nr_uring, nr_aio;	/* requests that were not traced */
	u64 direct_pages;	/* that went past the page cache */
	bool rings;		/* of io_uring were there */
	u32 nr_silent;		/* programs that nothing was heard of */
	u64 accesses, left_accesses;	/* in the trace, and left out */
	u64 pages, untraced_pages;	/* in it, and mapped without being traced */
};

int cli_trace_program(int argc, char **argv);
int cli_trace_take(int argc, char **argv, struct cli_taken *taken);
int cli_trace_write(struct trace *t, enum trace_form form, const char *name);
void cli_trace_say_notes(const struct trace *t, const char *mark, FILE *out);
void cli_trace_info_print(const struct trace *t, const struct trace_info *info, u64 most);

/* --only, --min-pages and --all. */
struct cli_keep {
	struct trace_keep keep;
	u64 left;		/* accesses that were left out */
};

int cli_trace_only(struct cli_keep *k, const char *glob);
int cli_trace_min_pages(struct cli_keep *k, const char *text);
int cli_trace_keep(struct trace *t, struct cli_keep *k);
int cli_trace_check(const char *name);

struct json_object;
struct json_object *cli_trace_info_json(const struct trace *t,
					const struct trace_info *info);

#endif /* HIPEC_CLI_TRACE_H */
