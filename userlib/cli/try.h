/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec try: try.c takes the trace and runs policies on it, advice.c says what came of it.
 *
 * Interface:
 * cli_try_sizes()       sizes of memory, as one would say them
 * cli_try_is_small()    so little is read that no memory matters, said
 * cli_try_best()        the size where most is gained
 * cli_try_say()         the verdict, and what to run next
 * cli_try_say_strace(), _say_kernel()  how else a trace can be taken
 * cli_try_kernel()      a trace of what the kernel tells    kernel.c
 */
#ifndef HIPEC_CLI_TRY_H
#define HIPEC_CLI_TRY_H

#include "../job/job.h"
#include "trace/trace.h"

#define CLI_TRY_OVER "lru"	/* about what operating systems do */
#define CLI_TRY_SIZES 64	/* bytes of a list of sizes */

struct try {
	char *frames;		/* of --frames, or NULL */
	const char *policies;	/* of --policy, or NULL */
	bool no_maps;
	char **keep;		/* options of hipec trace that say what matters */
	size_t nr_keep;
	char *trace;		/* its file, to free() */
	char **command;		/* NULL: there was only a trace, or a process */
	char *words;		/* of a process's command, or NULL */
	bool kernel;		/* its events are asked, not the program */
	char *pid, *seconds;	/* of a process that runs already, and how long; or NULL */
	struct cli_taken taken;	/* what became of the command */
	FILE *out;
};

/* What --policy auto comes to. */
struct cli_try_auto {
	u64 reads;		/* pages; UINT64_MAX: it was not run */
	char policy[64];	/* that it finds */
};

char *cli_try_sizes(const struct trace *trace, char text[CLI_TRY_SIZES]);
bool cli_try_is_small(const struct try *t, const struct trace *trace);
const struct sim_cell *cli_try_best(const struct sim_job *job, const struct sim_rows *rows);
void cli_try_say(const struct try *t, const struct sim_job *job, const struct sim_rows *rows,
		 const struct cli_try_auto *found);
void cli_try_say_strace(const struct try *t);
void cli_try_say_kernel(const struct try *t);
int cli_try_kernel(const struct try *t);

#endif /* HIPEC_CLI_TRY_H */
