/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The replayer: a list of reads and writes, as hipec sim --post-cache gives it, on a
 * real file or disk, past the page cache, in batches, with its time taken.
 *
 * Interface:
 * play_plan(), _free()   a trace -> requests                    play.c
 * play_open()            the target, if it may be played on     target.c
 * play_round()           all requests once -> seconds           play.c
 * play_stable()          whether the mean is known well enough  play.c
 */
#ifndef HIPEC_PLAY_H
#define HIPEC_PLAY_H

#include "../trace/trace.h"

#define PLAY_MAX_ROUNDS 1000
#define PLAY_MIN_ROUNDS 3	/* fewer say nothing of how they differ */
#define PLAY_MAX_BATCH 1024
#define PLAY_MAX_REQUEST 256	/* pages */

/* Consecutive pages that are asked for at once. */
struct play_request {
	u64 page;
	u32 pages : 31, write : 1;
};

struct play_plan {
	struct play_request *request;
	size_t nr, max;
	u32 batch;		/* requests that are under way at a time */
	u32 largest;		/* pages */
	u64 read_pages, written_pages;
	u64 end;		/* the page behind the last one */
};

struct play_times {
	double second[PLAY_MAX_ROUNDS];
	u32 nr;
	double mean, lowest;
	double within;		/* half of the 95 % interval, percent of the mean */
};

/* What went wrong, in a line. */
struct play_error {
	char text[512];
};

int play_plan(struct play_plan *plan, const struct trace *t, u32 most_pages,
	      bool read_only);
void play_plan_free(struct play_plan *plan);
int play_open(const struct play_plan *plan, const char *target, u32 told,
	      struct play_error *err);
int play_round(const struct play_plan *plan, int fd, double *seconds,
	       struct play_error *err);
bool play_stable(struct play_times *times, double percent);
int __attribute__((format(printf, 2, 3)))
play_say(struct play_error *err, const char *format, ...);

#endif /* HIPEC_PLAY_H */
