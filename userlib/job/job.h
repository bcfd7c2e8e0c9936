/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies on traces: a job, which is what was asked for, and its rows, one for each policy
 * with each number of frames on each trace.
 *
 * Interface:
 * sim_feed_*()           --detector, --hints                  feed.c
 * sim_sample_*()         --sample                             sample.c
 * sim_curve_*()          --curve                              curve.c
 * sim_native_open()      --native                             native.c
 * sim_league_open(), _close(), _row()  --policy auto          league.c
 * sim_league_text(), _json()
 * sim_job_open(), _close()  its traces and policies           job.c
 * sim_rows_make()        job -> rows                          rows.c
 * sim_rows_run()         on several processors
 * sim_verdict_*()        what the rows say of a cell          verdict.c
 * sim_json()             rows as JSON                         json.c
 */
#ifndef HIPEC_JOB_JOB_H
#define HIPEC_JOB_JOB_H

#include <json-c/json.h>

#include "../native/native.h"
#include "../option/option.h"
#include "../sim/auto.h"
#include "../sim/feed.h"
#include "../sim/sim.h"
#include "size.h"

/* Columns of the table, in their order: what --columns calls them, and titles. */
#define SIM_COLUMNS(X)                                                        \
	X(POLICY, "policy", "POLICY")                                         \
	X(FRAMES, "frames", "FRAMES")                                         \
	X(ACCESSES, "accesses", "ACCESSES")                                   \
	X(FAULTS, "faults", "FAULTS")                                         \
	X(READ_MISSES, "read-misses", "READ-MISSES")                          \
	X(WRITE_MISSES, "write-misses", "WRITE-MISSES")                       \
	X(HITS, "hits", "HITS%")                                              \
	X(READ_HITS, "read-hits", "READ-HITS%")                               \
	X(READ, "read", "READ")                                               \
	X(WRITTEN, "written", "WRITTEN")                                      \
	X(EVICTIONS, "evictions", "EVICTIONS")                                \
	X(PER_ACCESS, "commands", "COMMANDS/ACCESS")                          \
	X(PER_FAULT, "commands-per-fault", "COMMANDS/FAULT")                  \
	X(MOST, "most-commands", "MOST-COMMANDS")                             \
	X(GAIN, "gain", "GAIN%")                                              \
	X(DEFAULTS, "default", "DEFAULT'S")                                   \
	X(ESTIMATE, "estimate", "ESTIMATE")                                   \
	X(WORST, "worst", "WORST%")                                           \
	X(CONTRACT, "contract", "CONTRACT")                                   \
	X(SAMPLE, "sample", "SAMPLE")                                         \
	X(ERROR, "error", "ERROR%")                                           \
	X(SPEED, "speed", "M/S")                                              \
	X(STATE, "state", "STATE")

enum sim_column {
#define X(name, ...) SIM_COLUMN_##name,
	SIM_COLUMNS(X)
#undef X
	SIM_NR_COLUMNS
};

struct sim_samples;

struct sim_job {
	struct policy *policy;
	size_t nr_policies;
	struct policy_params params;
	struct sim_size *size;
	size_t nr_sizes;
	struct trace *trace;
	size_t nr_traces;
	enum sim_mode mode;
	bool json;
	bool native;		/* policies run as code of the processor, */
	struct native code;	/* which is here */
	bool whole_writes;	/* a write miss reads nothing */
	bool by_reads;		/* a verdict counts faults that read */
	struct sim_size warm_up;	/* accesses, or of them, that are not counted */
	bool contract;
	u32 salt;		/* of the contract */
	const char *post_name;	/* what the disk is asked for goes there, or NULL */
	struct sim_post *post;
	bool verdict;		/* it is the exit code */
	double least;		/* gain that is worth a word, percent */
	const char *over;	/* policy to gain over */
	bool curve;		/* lru is not run size by size; a picture */
	u32 sample;		/* one page of so many is run; 0: all */
	struct sim_samples *samples;	/* that were taken */
	u32 nr_threads;
	enum sim_column column[SIM_NR_COLUMNS];
	size_t nr_columns;
	struct sim_feed_job feed;
	struct policy default_policy;	/* beside the contract */
	char *among;		/* policies of the league, or NULL */
	struct policy team[HIPEC_LEAGUE_MAX];
	u32 nr_teams;
	bool no_league;		/* whoever runs the job cannot do with one */
};

/* What a row was run on. */
struct sim_sample {
	u32 every;		/* one page of so many; 1: all, 0: none was asked for */
	u32 pages, frames;	/* of the sample, */
	u64 accesses;
	u64 ran;		/* of all that was run for it */
	double error;		/* of the ratio of faults that it says */
};

/* One line of the table. */
struct sim_row {
	const struct policy *policy;
	struct trace *trace;
	u32 frames;
	struct sim_result r;
	struct sim_contract contract;	/* if it was asked for */
	struct sim_watch *watch;	/* NULL, or who watches it if it is a policy, */
	struct sim_teller *teller;	/* and if it is a reference */
	struct sim_feed feed;
	struct sim_sample sample;
	struct sim_auto league;	/* if it is auto */
	bool ready;		/* it was filled, and is not run */
	u64 cpu_ns;		/* processor time that it took */
	int ret;		/* as sim_run_policy() */
};

/* Rows of one trace and number of frames: the job's policies in their order. */
struct sim_cell {
	struct sim_row *row;		/* behind them, for a contract, the default's */
	const struct sim_row *over;	/* what is gained over, or NULL */
	const struct sim_row *opt;	/* or NULL */
	const struct sim_row *best;	/* of the others, or NULL */
	bool by_reads;		/* what is gained are reads, not faults */
};

struct sim_rows {
	struct sim_row *row;
	size_t nr;
	struct sim_cell *cell;
	size_t nr_cells;
};

#define SIM_LEAST_GAIN 3	/* percent: worth a word, if nobody says */
#define SIM_VERDICT_LINE 512	/* longest verdict, bytes; names may be cut */

/* The verdict on a cell; the highest one of all cells is the exit code's. */
enum sim_verdict {
	SIM_VERDICT_UNKNOWN,	/* there is nothing to compare */
	SIM_VERDICT_NONE,	/* no policy can gain so much */
	SIM_VERDICT_ROOM,	/* none of these does */
	SIM_VERDICT_GAIN,	/* one does */
};

#define SIM_DETECTOR_WORDS (AMP_METHODS(OPTION_WORD) "|none" + 1)
void sim_feed_set_detector(struct sim_job *job, const char *name);
int sim_feed_set_every(struct sim_job *job, const char *text);
int sim_feed_open(struct sim_job *job);
void sim_feed_row(const struct sim_job *job, struct sim_row *row);
int sim_feed_write(const struct sim_job *job, const struct sim_rows *rows);
void sim_feed_close(struct sim_job *job);

typedef int sim_sample_run_fn(const struct sim_job *job, struct sim_row *row,
			      struct trace *t, u32 frames);
int sim_sample_parse(char *text, u32 *every);
int sim_sample_set(struct sim_job *job, char *text);
int sim_sample_run(const struct sim_job *job, struct sim_row *row, sim_sample_run_fn *run);
void sim_sample_free(struct sim_job *job);

int sim_curve_fill(const struct sim_job *job, struct sim_rows *rows);
void sim_curve_draw(const struct sim_job *job, const struct sim_cell *cell, size_t nr);

int sim_native_open(struct sim_job *job);
int sim_league_open(struct sim_job *job);
void sim_league_row(const struct sim_job *job, struct sim_row *row);
void sim_league_text(const struct sim_job *job, const struct sim_row *row, char *text,
		     size_t size);
struct json_object *sim_league_json(const struct sim_job *job, const struct sim_row *row);
void sim_league_close(struct sim_job *job);

int sim_job_open(struct sim_job *job, char **names, int nr);
void sim_job_close(struct sim_job *job);

int sim_rows_make(const struct sim_job *job, struct sim_rows *rows);
int sim_rows_run(const struct sim_job *job, struct sim_rows *rows);
void sim_rows_free(struct sim_rows *rows);

bool sim_verdict_gain(const struct sim_cell *cell, const struct sim_row *row,
		      double *percent);
void sim_verdict_begin(const struct sim_job *job, struct sim_cell *cell);
enum sim_verdict sim_verdict(const struct sim_job *job,
			     const struct sim_cell *cell);
bool sim_verdict_text(const struct sim_job *job, const struct sim_cell *cell,
		      char *line);
void sim_verdict_print(const struct sim_job *job, const struct sim_cell *cell);

extern const char *const sim_mode_names[SIM_NR_MODES];
#define SIM_MODE_WORDS (SIM_MODES(OPTION_WORD) + 1)
bool sim_has_worst(const struct sim_row *row);
struct json_object *sim_exit_json(const struct sim_result *r);
struct json_object *sim_counters_json(const struct hipec_policy *p,
				      const struct sim_result *r);
struct json_object *sim_json(const struct sim_job *job,
			     const struct sim_rows *rows);

/* Accesses that were counted. */
static inline u64 sim_accesses(const struct sim_row *row)
{
	return row->trace->nr_accesses - row->trace->warm_accesses;
}

/* Those of them that write. */
static inline u64 sim_writes(const struct trace *t)
{
	u64 writes = 0;
	size_t n;

	for (n = t->warm_runs; n < t->nr_runs; n++)
		writes += t->run[n].write ? t->run[n].nr : 0;
	return writes;
}

/* Pages brought in from the file; what passes through opt-reads is not. */
static inline u64 sim_read_pages(const struct sim_job *job,
				 const struct sim_row *row)
{
	const struct sim_result *r = &row->r;

	return r->ahead_pages +
	       (job->whole_writes || row->policy->reference == POLICY_OPT_READS ?
		r->read_misses - r->ahead_reads : r->faults - r->ahead_faults);
}

/* What a verdict counts of a row. */
static inline u64 sim_verdict_cost(const struct sim_cell *cell, const struct sim_row *row)
{
	return cell->by_reads ? row->r.read_misses : row->r.faults;
}

#endif /* HIPEC_JOB_JOB_H */
