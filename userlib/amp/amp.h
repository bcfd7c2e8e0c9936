/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detectors of access patterns, by program context, and what becomes of the
 * patterns: arrays that a policy reads, and a file.
 *
 * Names: a context is a number of context.h; @page any number of a page or block;
 * @seq the number of an access in the whole stream, all contexts' and what is not
 * sampled included, which only grows: it is the clock of all times here.
 *
 * Interface:
 * amp_params_init()  the paper's values, for a stream as it is
 * amp_new(), _free() a detector
 * amp_note()         an access
 * amp_detect()       accesses -> patterns; ends a period
 * amp_feed()         patterns -> the arrays of a policy               feed.c
 * amp_feed_copy()    the arrays of another policy -> these
 * amp_state_read(), _write()  what was learnt, in a file              state.c
 * amp_state_story(), _file(), _free()
 * amp_feed_part()    where a policy finds a context
 * amp_kind_names, amp_method_names
 *
 * Source: Program Context Specific Buffer Caching with AMP (UCB/CSD-05-1379),
 * section 3.1.
 */
#ifndef HIPEC_AMP_H
#define HIPEC_AMP_H

#include <stdio.h>

#include "list.h"

/* What a context does: the paper's, and their names. */
#define AMP_KINDS(X) X(OTHER, "other") X(ONE_SHOT, "one-shot") \
	X(LOOPING, "looping") X(CLUSTERED, "clustered")

enum amp_kind {
#define X(name, text) AMP_##name,
	AMP_KINDS(X)
#undef X
	AMP_NR_KINDS
};

/* Who says so. */
#define AMP_METHODS(X) X(AMP, "amp") X(PCC, "pcc") X(DEAR, "dear")

enum amp_method {
#define X(name, text) AMP_BY_##name,
	AMP_METHODS(X)
#undef X
	AMP_NR_METHODS
};

/* Over which accesses the average reference recency is taken. */
/* All of the context; those since the last amp_detect(): record, compute; later ones count more. */
#define AMP_FORMS(X) X(CUMULATIVE, "all") X(PERIODIC, "periodic") X(EXPONENTIAL, "exponential")

enum amp_form {
#define X(name, text) AMP_##name,
	AMP_FORMS(X)
#undef X
};

/**
 * struct amp_params - what a detector goes by
 * @method:    who judges
 * @form:      of the average
 * @fresh:     each period begins with an empty recency list, as if the context began
 * @merge:     an access to the page that the context accessed last is none
 * @threshold: T: looping below this average recency
 * @clustered: temporally clustered above this one
 * @one_shot:  share of the blocks that may be accessed again in a one-shot context
 * @ripe:      accesses since the first one of a block, before which it says nothing
 *             of that: the paper's "after a long time"
 * @limit:     Q_0: blocks are sampled whose hash, of 32 bits, is below it
 * @most:      N_L: blocks in a context's list; Q is halved above it. 0: no bound
 * @horizon:   accesses over which AMP_EXPONENTIAL averages
 * @contexts:  at most so many are told apart
 * @least:     recencies without which there is no verdict but other
 * @given:     share of the blocks that amp_note() is told of at all, for estimates
 * @group:     of DEAR, blocks of a group
 * @seq:       of PCC, blocks accessed once that make a context sequential
 */
struct amp_params {
	enum amp_method method;
	enum amp_form form;
	bool fresh, merge;
	double threshold, clustered, one_shot;
	u64 ripe;
	u64 limit;
	u32 most;
	u32 horizon;
	u32 contexts;
	u32 least;
	double given;
	u32 group;
	u32 seq;
};

/* What is known of a context. Numbers of pages are of all, not of the sampled ones. */
struct amp_pattern {
	u64 context;
	enum amp_kind kind;
	double r;		/* average reference recency; below 0: not defined */
	bool known;		/* enough was seen for a verdict */
	double confidence;	/* 0 to 1: the more was seen, the higher */
	u64 accesses;		/* all of them */
	u64 missed;		/* of them, faults */
	u64 pages;		/* different ones, as far as they are remembered */
	u64 loop_size;		/* different pages in a loop */
	double loop_time;	/* between two accesses of a page; 0: not known */
	double loop_dev;	/* standard deviation of it */
	u32 blocks;		/* sampled, in the list */
	double rate;		/* share of the blocks that is sampled now */
};

struct amp_detector;

extern const char *const amp_kind_names[AMP_NR_KINDS];
extern const char *const amp_method_names[AMP_NR_METHODS];

void amp_params_init(struct amp_params *p);
struct amp_detector *amp_new(const struct amp_params *params);
int amp_note(struct amp_detector *d, u64 context, u64 page, u64 seq, bool missed);
size_t amp_detect(struct amp_detector *d, struct amp_pattern *p, size_t max);
void amp_free(struct amp_detector *d);

/* The arrays of a policy that is fed: docs/user/amp.md, Feed. */
#define AMP_TABLE 64		/* entries of the table of contexts, a power of two */
#define AMP_FED 32		/* of them, used at most */
#define AMP_PARTS 12		/* partitions: 0 the default one */
#define AMP_LOOPS 10		/* 1 to 10: MRU */
#define AMP_ONE_SHOT_PART 11
#define AMP_KEEP 4097		/* words of 32 pages, behind the number of the set */

struct amp_arrays {
	s64 *context, *part;	/* AMP_TABLE */
	s64 *size, *sweep;	/* AMP_PARTS */
	s64 *keep;		/* AMP_KEEP */
};

#define AMP_ARRAYS(X) X(context, "amp_context", AMP_TABLE) \
	X(part, "amp_part", AMP_TABLE) X(size, "amp_size", AMP_PARTS) \
	X(sweep, "amp_sweep", AMP_PARTS) \
	X(keep, "amp_keep", AMP_KEEP)

void amp_feed(const struct amp_arrays *a, const struct amp_pattern *p, size_t nr);
void amp_feed_copy(const struct amp_arrays *to, const struct amp_arrays *from);
u32 amp_feed_part(const struct amp_arrays *a, u64 context);

/* Where a file of patterns is malformed. */
struct amp_error {
	u64 line;
	char text[160];
};

#define AMP_STATE_MOST 1024	/* contexts of a file */

#define AMP_STATE_POINTS 16	/* of a context */
#define AMP_STATE_ID 32		/* bytes of a build id */
#define AMP_STATE_PATH 255

/* A return address of a context, and the file that points are in. */
struct amp_point {
	u64 file, offset;
};

struct amp_file {
	u64 file;
	u32 id_bytes;
	u8 id[AMP_STATE_ID];
	char path[AMP_STATE_PATH + 1];
};

/* What there is to tell of a context beside its pattern. */
struct amp_story {
	u64 context;
	u32 nr;			/* points, the innermost first */
	struct amp_point point[AMP_STATE_POINTS];
	bool judged;		/* the rest is known: */
	bool kept;		/* it has a partition */
	u64 faults, default_faults;	/* its own, and the default's in a simulation */
};

/* What a run leaves to the next. All is empty but the patterns in a simulator's. */
struct amp_state {
	struct amp_pattern *pattern;
	size_t nr;
	u32 frames;		/* of the run; 0: not known */
	bool used;		/* the real cache had partitions at the end */
	struct amp_file *file;
	size_t nr_files;
	struct amp_story *story;
	size_t nr_stories;
};

int amp_state_read(FILE *in, struct amp_state *s, struct amp_error *err);
int amp_state_write(FILE *out, const struct amp_state *s);
struct amp_story *amp_state_story(struct amp_state *s, u64 context, bool make);
struct amp_file *amp_state_file(struct amp_state *s, u64 file, bool make);
void amp_state_free(struct amp_state *s);

#endif /* HIPEC_AMP_H */
