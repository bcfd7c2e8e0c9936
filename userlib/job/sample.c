// SPDX-License-Identifier: GPL-2.0-only
/*
 * --sample: a run of some of a trace's pages with as small a part of the frames, what it
 * says of all of them, and how wrong that may be.
 *
 * The sample has four parts. Each is a sample itself, and is run as well; how far apart
 * they are says how much chance there is in the whole, and how far their mean is from
 * the whole what small memories do to the policy. A sample that may be off by more than
 * half a point is made twice as large: what a memory does that is smaller still is only
 * partly seen, and a point is what users are told to expect. One page of two is no
 * sample: with its parts it takes as long as all pages.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "../trace/trace.h"
#include "../say/say.h"
#include "job.h"

/* Less is no sample: measured by bench/cost/sample.py. */
#define LEAST_PAGES 2048
#define LEAST_FRAMES 128
#define PARTS TRACE_SAMPLE_PARTS
#define STUDENT 3.182	/* of 95 in 100, by as many parts */
#define MOST_ERROR 0.005	/* of the ratio of faults */
#define LEAST_EVERY 4

/* One rate of one trace. */
struct sample {
	const struct trace *of;
	u32 every;
	struct trace t[1 + PARTS];
	struct sample *next;
};

struct sim_samples {
	pthread_mutex_t lock;	/* rows run at the same time */
	struct sample *first;
};

/**
 * sim_sample_parse() - the argument of --sample
 * @text:  "1/64"; is made printable
 * @every: gets 64
 *
 * Return: 0 or an exit code, said.
 */
int sim_sample_parse(char *text, u32 *every)
{
	char *end = text;
	unsigned long n = !strncmp(text, "1/", 2) ? strtoul(text + 2, &end, 10) : 0;

	if (n && text[2] >= '0' && text[2] <= '9' && !*end && n <= TRACE_SAMPLE_MOST &&
	    !(n & (n - 1))) {
		*every = n;
		return CLI_OK;
	}
	cli_error("--sample: want 1/N with a power of two up to %u, as 1/64, not '%s'",
		  TRACE_SAMPLE_MOST, cli_clean(text));
	return CLI_USAGE;
}

/* Have the rows of a job run on samples. 0 or an exit code, said. */
int sim_sample_set(struct sim_job *job, char *text)
{
	if (!job->samples)
		job->samples = calloc(1, sizeof(*job->samples));
	if (!job->samples) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	pthread_mutex_init(&job->samples->lock, NULL);
	return sim_sample_parse(text, &job->sample);
}

/* As much as was asked for, or more, if too little would be left of pages or frames. */
static u32 rate_of(const struct sim_job *job, const struct trace *t, u32 frames)
{
	u32 every = job->sample;

	while (every > 1 && (t->nr_pages / every < LEAST_PAGES ||
			     frames / every < LEAST_FRAMES))
		every /= 2;
	return every;
}

static void free_one(struct sample *o)
{
	int i;

	for (i = 0; i <= PARTS; i++)
		trace_free(&o->t[i]);
	free(o);
}

/* The sample of a trace at a rate, with the lock held; or NULL. */
static struct sample *find(struct sim_samples *all, const struct trace *t, u32 every)
{
	struct sample *o = all->first;

	while (o && (o->of != t || o->every != every))
		o = o->next;
	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->of = t;
	o->every = every;
	o->next = all->first;
	if (!trace_sample(t, every, o->t)) {
		all->first = o;
		return o;
	}
	free_one(o);
	return NULL;
}

static struct sample *take(const struct sim_job *job, const struct trace *t, u32 every)
{
	struct sample *o;

	pthread_mutex_lock(&job->samples->lock);
	o = find(job->samples, t, every);
	pthread_mutex_unlock(&job->samples->lock);
	return o;
}

void sim_sample_free(struct sim_job *job)
{
	struct sample *o = job->samples ? job->samples->first : NULL, *next;

	for (; o; o = next) {
		next = o->next;
		free_one(o);
	}
	free(job->samples);
}

static u64 times(u64 n, double by)
{
	return llround(n * by);
}

static u64 at_most(u64 n, u64 most)
{
	return n < most ? n : most;
}

/* Counts of a sample -> of all: faults go with the pages, commands with the accesses. */
static void scale(struct sim_row *row, const struct trace *t)
{
	struct sim_result *r = &row->r;
	double pages = (double)row->trace->nr_pages / t->nr_pages;
	u64 all = sim_accesses(row), some = t->nr_accesses - t->warm_accesses;
	double accesses = some ? (double)all / some : 0;
	u64 *by_pages[] = { &r->faults, &r->read_misses, &r->written, &r->evictions, &r->refused,
			    &r->helped, &r->forgotten, &r->ahead_faults, &r->ahead_pages,
			    &r->ahead_dropped, &r->ahead_reads };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(by_pages); i++)
		*by_pages[i] = times(*by_pages[i], pages);
	r->commands = times(r->commands, accesses);
	r->events = times(r->events, accesses);
	r->writes = sim_writes(row->trace);
	r->faults = at_most(r->faults, all);
	r->read_misses = at_most(r->read_misses, at_most(r->faults, all - r->writes));
	if (r->faults - r->read_misses > r->writes)
		r->read_misses = r->faults - r->writes;
}

/* The part of a sample's frames that a row has. */
static u32 frames_of(const struct sim_row *row, const struct trace *t)
{
	u64 n = times(row->frames, (double)t->nr_pages / row->trace->nr_pages);

	return n ? n : 1;
}

static double ratio_of(const struct sim_row *row, const struct trace *t, u64 faults)
{
	double n = (double)faults * row->trace->nr_pages / t->nr_pages / sim_accesses(row);

	return n < 1 ? n : 1;
}

/* What stands beside an estimate: half of what it is in, in 95 of 100. */
static double error_of(double whole, const double *part)
{
	double mean = 0, squares = 0;
	int i;

	for (i = 0; i < PARTS; i++)
		mean += part[i] / PARTS;
	for (i = 0; i < PARTS; i++)
		squares += (part[i] - mean) * (part[i] - mean);
	return STUDENT * sqrt(squares / (PARTS - 1) / PARTS) + fabs(mean - whole);
}

/* Run a row on a sample, and note what it says. As @run. */
static int run_sample(const struct sim_job *job, struct sim_row *row, struct trace *t,
		      sim_sample_run_fn *run)
{
	struct sim_sample *s = &row->sample;
	double part[PARTS];
	int i, ret = 0;

	for (i = 1; i <= PARTS && !ret; i++) {
		ret = run(job, row, &t[i], frames_of(row, &t[i]));
		part[i - 1] = ratio_of(row, &t[i], row->r.faults);
	}
	s->frames = frames_of(row, t);
	ret = ret ?: run(job, row, t, s->frames);
	if (ret)
		return ret;
	s->pages = t->nr_pages;
	s->accesses = t->nr_accesses - t->warm_accesses;
	s->ran += 2 * t->nr_accesses;
	s->error = error_of(ratio_of(row, t, row->r.faults), part);
	return 0;
}

/* No sample is small enough. */
static int run_all(const struct sim_job *job, struct sim_row *row, sim_sample_run_fn *run)
{
	row->sample = (struct sim_sample){
		.every = 1, .pages = row->trace->nr_pages, .frames = row->frames,
		.accesses = sim_accesses(row),
		.ran = row->sample.ran + row->trace->nr_accesses,
	};
	return run(job, row, row->trace, row->frames);
}

/**
 * sim_sample_run() - run a row on a sample of its trace
 * @job: of the row
 * @row: gets counts of the whole trace
 * @run: runs a trace with so many frames, as a row is run
 *
 * Context: any; several rows at the same time.
 * Return: as @run; -ENOMEM.
 */
int sim_sample_run(const struct sim_job *job, struct sim_row *row, sim_sample_run_fn *run)
{
	struct sim_sample *s = &row->sample;
	struct sample *o;
	int ret;

	for (s->every = rate_of(job, row->trace, row->frames); s->every >= LEAST_EVERY;
	     s->every /= 2) {
		o = take(job, row->trace, s->every);
		ret = o ? run_sample(job, row, o->t, run) : -ENOMEM;
		if (ret)
			return ret;
		if (s->error <= MOST_ERROR) {
			scale(row, o->t);
			return 0;
		}
	}
	return run_all(job, row, run);
}
