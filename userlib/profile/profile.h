/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `hipec profile` notes of a run: who faults where and when, what is
 * resident, how long queues are, which commands run. However long the trace is,
 * this is all in PROFILE_BINS stretches of time and PROFILE_MAX_BANDS of pages.
 *
 * Interface:
 * profile_map_make()   a trace's time and pages, cut up
 * profile_map_clock()  time is a clock's, not the trace's
 * profile_begin()      before a run
 * profile_counters()   which of a policy's counters are looked at
 * profile_end()        behind it
 * profile_output_check(), profile_show()  as a page, a text or JSON      cli/profile.c
 * profile_json()       all of a job, profile.json has the keys            json.c
 */
#ifndef HIPEC_PROFILE_H
#define HIPEC_PROFILE_H

#include "../job/job.h"
#include "../sim/watch.h"

#define PROFILE_BINS 240
#define PROFILE_FINE 16	/* parts of a bin, for who looks closer */
#define PROFILE_BANDS 48	/* so many where pages are in one piece, */
#define PROFILE_BREAKS 16	/* and one more for each gap, or file */
#define PROFILE_MAX_BANDS (PROFILE_BANDS + PROFILE_BREAKS + 1)
#define PROFILE_MAX_COUNTERS 24	/* that are drawn; the first ones */
#define PROFILE_COUNTERS "frames*"	/* if nobody says which */
#define PROFILE_MAX_QUEUES 24	/* a policy's first ones; an array is one */

/* Pages that follow each other, with gaps if there are too many to cut at. */
struct profile_band {
	u32 first, last;
	u32 nr;		/* pages of the trace among them */
};

/* A trace's pages and its time, cut up. */
struct profile_map {
	const struct trace *t;
	struct profile_band band[PROFILE_MAX_BANDS];
	u32 nr_bands;
	u64 per_bin;	/* accesses, or ns */
	u32 nr_bins;
	u64 per_fine;	/* accesses in a part of a bin, */
	u32 nr_fine;	/* and these parts; of a clock's time there are none */
	bool clock;	/* ns */
	u8 *band_of;	/* by id */
};

/* One run, as seen by bin; what is resident and in queues, at its end. */
struct profile {
	struct sim_watch watch;		/* of a policy, */
	struct sim_teller teller;	/* or of a reference */
	const struct profile_map *map;
	const struct sim_row *row;
	const char *application;	/* of a mix; NULL: it is alone */
	u32 group;			/* of a mix: with those that it ran beside */
	const struct hipec_policy *policy;	/* NULL: a reference */
	u32 (*faults)[PROFILE_MAX_BANDS];
	u32 (*resident)[PROFILE_MAX_BANDS];
	u32 *fine;	/* faults in each part of a bin */
	u32 (*length)[PROFILE_MAX_QUEUES];
	u32 *held;	/* frames, of a mix */
	u32 now_held;
	u32 now_resident[PROFILE_MAX_BANDS];
	u32 now_length[PROFILE_MAX_QUEUES];
	u8 queue[PROFILE_MAX_QUEUES];	/* slot; the first one is what is on no queue */
	u32 nr_queues;
	s64 (*value)[PROFILE_MAX_COUNTERS];
	s64 now_value[PROFILE_MAX_COUNTERS];
	u8 counter[PROFILE_MAX_COUNTERS];	/* slot */
	u32 nr_counters;
	u32 nr_closed;	/* bins */
	bool fetched;	/* the access is to a page that Prefetch brought in */
	u64 *commands;	/* by word */
	u64 *runs;	/* by event, those that the host runs */
};

struct profile_pattern;	/* pattern.h */

/* Who watches the rows that are drawn, and what they stand on. */
struct profile_watchers {
	struct profile_map *map;	/* by trace */
	struct profile_pattern *pattern;	/* by trace; NULL: of a mix */
	struct profile *profile;	/* by trace and policy */
	size_t nr_maps, nr;
};

/* What becomes of a profile. */
struct profile_output {
	bool json, text;
	const char *file;	/* else, of the page; "-" is standard output */
	const char *counters;	/* NULL: PROFILE_COUNTERS */
};

int profile_map_make(struct profile_map *m, const struct trace *t);
void profile_map_clock(struct profile_map *m, u64 elapsed);
void profile_map_free(struct profile_map *m);

int profile_begin(struct profile *p, const struct profile_map *m,
		  struct sim_row *row);
void profile_counters(struct profile *p, const char *list);
void profile_end(struct profile *p);
void profile_free(struct profile *p);

struct json_object *profile_json(const struct sim_job *job,
				 const struct sim_rows *rows,
				 const struct profile_watchers *w);
void profile_watchers_free(struct profile_watchers *w);

int profile_output_check(const struct profile_output *o);
int profile_show(const struct profile_output *o, struct json_object *profile);

#endif /* HIPEC_PROFILE_H */
