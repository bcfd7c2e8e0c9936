// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler: round robin. An application runs until its slice is over, until
 * it waits for the disk, or until it ends. Who is ready waits at the tail of one
 * queue; of those that come at the same time, first who starts, in the order of
 * submission, then who has its page, then who was preempted.
 *
 * A fault takes what it needs at once (frames, by the policies' decisions), and
 * asks the disk for the writes of victims and for its page; the page is live, and
 * the policy told, when the application has the processor again.
 */
#include <errno.h>
#include <stdlib.h>

#include "mix.h"

#define NEVER UINT64_MAX

enum state {
	TO_START,
	WAITING,	/* for the disk */
	READY,
	RUNNING,
	ENDED,
};

struct task {
	struct sim sim;
	struct mix_row *row;
	const struct mix_app *app;
	enum state state;
	u64 wakes;		/* TO_START, WAITING: when */
	u64 since;		/* when it came to this state */
	u64 turn;		/* READY: its place in the queue */
	size_t run;		/* of the trace, the next access */
	u32 i;			/* page of it */
	u32 h;			/* page that it waits for; 0: none */
};

struct mix {
	const struct mix_machine *m;
	struct mix_result *result;
	struct task *task;
	u32 nr;
	u64 turns;
	u64 moment;		/* the next one that watchers are told of */
	struct mix_pool pool;
	struct mix_disk disk;
};

/* How long it has been in its state, and that it is in another one now. */
static u64 change(struct task *t, enum state state, u64 now)
{
	u64 was = now - t->since;

	t->state = state;
	t->since = now;
	return was;
}

static void make_ready(struct mix *mix, struct task *t, u64 at)
{
	if (t->state == WAITING)
		t->row->disk_wait += change(t, READY, at);
	else
		change(t, READY, at);
	t->turn = mix->turns++;
}

/* The first to start or to have its page up to @until, or NULL. */
static struct task *next_to_wake(struct mix *mix, u64 until)
{
	struct task *first = NULL, *t;

	for (t = mix->task; t < mix->task + mix->nr; t++) {
		if ((t->state != TO_START && t->state != WAITING) ||
		    t->wakes > until)
			continue;
		if (!first || t->wakes < first->wakes ||
		    (t->wakes == first->wakes && t->state < first->state))
			first = t;
	}
	return first;
}

static struct task *next_to_run(struct mix *mix)
{
	struct task *first = NULL, *t;

	for (t = mix->task; t < mix->task + mix->nr; t++)
		if (t->state == READY && (!first || t->turn < first->turn))
			first = t;
	return first;
}

/* It runs for the first time. */
static int begin(struct mix *mix, struct task *t)
{
	const struct mix_app *app = t->app;
	bool watched = mix->m->revocation && !app->reserved &&
		       !hipec_fifo2_is(&app->policy->policy);
	int ret = sim_open(&t->sim, &app->policy->policy,
			   app->reserved ? app->reserved : app->max,
			   mix->m->mode, &t->row->r,
			   watched ? &t->row->contract : NULL);

	t->sim.disk = &mix->disk;
	t->sim.revocable = watched;
	t->sim.core.watched_for_good = false;
	sim_watch_by(&t->sim, app->watch);
	if (!ret && !app->reserved)
		ret = mix_pool_join(&mix->pool, &t->sim, app->min);
	if (!ret)
		hipec_core_start(&t->sim.core);
	return ret;
}

static void end(struct mix *mix, struct task *t)
{
	const struct hipec_counters *n = &t->sim.core.counters;
	struct mix_row *row = t->row;

	row->moved = n->moved;
	row->recovered = n->recovered;
	row->given = t->app->reserved ? 0 : n->given;
	row->read_pages = row->r.faults - row->r.ahead_faults +
			  row->r.ahead_pages;
	row->ended = mix->disk.now;
	mix_pool_leave(&t->sim);
	sim_close(&t->sim);
	t->sim.r = NULL;
	change(t, ENDED, mix->disk.now);
}

/* Policies name pages for others in time of their own: while whoever faults waits. */
static void refill_all(struct mix *mix)
{
	struct task *t;

	for (t = mix->task; t < mix->task + mix->nr; t++) {
		if (!t->sim.r || !t->sim.refill)
			continue;
		t->sim.refill = false;
		hipec_core_refill(&t->sim.core);
	}
}

/* One access. Return: 1: it has to wait for the disk; else 0, or an error. */
static int step(struct mix *mix, struct task *t)
{
	const struct trace_run *run = &t->app->trace->run[t->run];
	struct sim *s = &t->sim;
	int ret;

	if (!t->h) {
		if (!t->i)
			sim_tag(s, trace_tag(t->app->trace, t->run));
		ret = sim_access(s, run->pgno + t->i, run->write, &t->h);
		if (ret < 0)
			return ret;
		if (ret)
			refill_all(mix);
		if (s->core.nr_frames > t->row->most_frames)
			t->row->most_frames = s->core.nr_frames;
		if (!ret)
			t->h = 0;
		else if (s->due > mix->disk.now)
			return 1;
	}
	if (t->h)
		sim_arrive(s, t->h, run->write);
	t->h = 0;
	mix->disk.now += t->app->cpu_ns;
	t->row->cpu += t->app->cpu_ns;
	if (++t->i == run->nr) {
		t->i = 0;
		t->run++;
	}
	return 0;
}

static void wake_all(struct mix *mix)
{
	struct task *t;

	while ((t = next_to_wake(mix, mix->disk.now)))
		make_ready(mix, t, t->wakes);
}

/* Who watches is told of the moments that have come, as samples are taken. */
static void tell_moments(struct mix *mix)
{
	struct task *t;

	for (; mix->moment <= mix->disk.now; mix->moment += mix->m->moment_ns)
		for (t = mix->task; t < mix->task + mix->nr; t++)
			t->app->watch->moment(t->app->watch,
					      t->sim.r ? &t->sim : NULL,
					      mix->moment);
}

/* Those that are due, in front of the first access that is not before them. */
static int take_samples(struct mix *mix)
{
	struct mix_result *r = mix->result;
	u64 at = r->nr_samples * mix->m->sample_ns;
	struct mix_sample *more;
	u32 i;

	tell_moments(mix);
	while (mix->m->sample_ns && at <= mix->disk.now) {
		if (r->nr_samples == MIX_MAX_SAMPLES)
			return -E2BIG;
		more = r->sample;
		if (!more)
			more = r->sample = calloc(MIX_MAX_SAMPLES, sizeof(*more));
		if (!more)
			return -ENOMEM;
		more += r->nr_samples;
		*more = (struct mix_sample){
			.at = at, .frames = calloc(mix->nr, sizeof(u32)),
		};
		if (!more->frames)
			return -ENOMEM;
		r->nr_samples++;
		for (i = 0; i < mix->nr; i++)
			if (mix->task[i].sim.r)
				more->frames[i] = hipec_core_held(&mix->task[i].sim.core);
		at += mix->m->sample_ns;
	}
	return 0;
}

/* Let @t have the processor, for a slice at most. */
static int run(struct mix *mix, struct task *t)
{
	u64 *now = &mix->disk.now, slice_ends = *now + mix->m->slice_ns;
	int ret = 0;

	t->row->cpu_wait += change(t, RUNNING, *now);
	if (!t->sim.r)
		ret = begin(mix, t);
	while (!ret && t->run < t->app->trace->nr_runs && *now < slice_ends)
		ret = take_samples(mix) ?: step(mix, t);
	if (ret < 0)
		return ret;
	if (ret) {
		t->wakes = t->sim.due;
		change(t, WAITING, *now);
	} else if (t->run == t->app->trace->nr_runs) {
		end(mix, t);
	} else {
		wake_all(mix);
		make_ready(mix, t, *now);
	}
	return 0;
}

static int run_all(struct mix *mix)
{
	struct task *t;
	int ret = 0;

	while (!ret) {
		ret = take_samples(mix);
		if (ret)
			break;
		wake_all(mix);
		t = next_to_run(mix);
		if (t) {
			ret = run(mix, t);
			continue;
		}
		t = next_to_wake(mix, NEVER);
		if (!t)
			break;
		mix->result->idle += t->wakes - mix->disk.now;
		mix->disk.now = t->wakes;
	}
	return ret;
}

/* Frames that are nobody's own. */
static u32 shared_frames(const struct mix_machine *m, struct mix_app *const *app,
			 u32 nr)
{
	u32 i, left = m->frames;

	for (i = 0; i < nr; i++)
		left -= app[i]->reserved;
	return left;
}

/**
 * mix_run() - run applications on one machine, to the end of the last one
 * @m:      machine
 * @app:    in the order of submission; reservations and minima of all are no more
 *          than the machine has, and no trace is empty; if the machine has moments,
 *          all are watched
 * @nr:     1 to MIX_MAX_APPS
 * @result: filled; mix_result_free() it, also after an error
 *
 * Return: 0; -ENOMEM; -ENOBUFS as sim_access() and mix_pool_join(); -E2BIG for
 *         more samples than MIX_MAX_SAMPLES; -ECANCELED as sim_access().
 */
int mix_run(const struct mix_machine *m, struct mix_app *const *app, u32 nr,
	    struct mix_result *result)
{
	struct mix mix = {
		.m = m, .result = result, .nr = nr,
		.moment = m->moment_ns ? m->moment_ns : NEVER,
		.task = calloc(nr, sizeof(*mix.task)),
	};
	int ret = -ENOMEM;
	u32 i;

	*result = (struct mix_result){
		.row = calloc(nr, sizeof(*result->row)), .nr = nr,
	};
	memcpy(mix.disk.read_ns, m->read_ns, sizeof(m->read_ns));
	memcpy(mix.disk.write_ns, m->write_ns, sizeof(m->write_ns));
	if (!mix_pool_init(&mix.pool, m->global, shared_frames(m, app, nr),
			   m->recovery) && mix.task && result->row) {
		for (i = 0; i < nr; i++) {
			struct task *t = &mix.task[i];

			t->app = app[i];
			t->row = &result->row[i];
			t->row->app = app[i];
			t->wakes = t->since = app[i]->start_ns + i * m->gap_ns;
			t->row->began = t->wakes;
		}
		ret = run_all(&mix);
	}
	for (i = 0; mix.task && i < nr; i++) {
		if (mix.task[i].sim.r) {	/* there was an error */
			mix_pool_leave(&mix.task[i].sim);
			sim_close(&mix.task[i].sim);
		}
	}
	result->elapsed = mix.disk.now;
	result->disk_busy = mix.disk.busy;
	result->disk_reads = mix.disk.reads;
	result->disk_writes = mix.disk.writes;
	result->disk_sequential = mix.disk.sequential;
	mix_pool_free(&mix.pool);
	free(mix.task);
	return ret;
}

void mix_result_free(struct mix_result *result)
{
	u32 i;

	for (i = 0; i < result->nr_samples; i++)
		free(result->sample[i].frames);
	free(result->sample);
	free(result->row);
	*result = (struct mix_result){ 0 };
}
