// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the rows of a job. Each is a run by itself, so they run on as many
 * processors as there are, in their order; what comes out does not depend on it.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "../say/say.h"
#include "job.h"

#define DRAW_NS 200000000	/* between two looks at the progress */

/* How far @rows are, which other threads run. */
static void draw_progress(const struct sim_rows *rows)
{
	u64 done = 0, all = 0;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		done += __atomic_load_n(&rows->row[i].r.done, __ATOMIC_RELAXED);
		all += rows->row[i].trace->nr_accesses;
	}
	cli_progress_draw(done, all);
}

struct crew {
	const struct sim_job *job;
	struct sim_rows *rows;
	pthread_mutex_t lock;	/* of what is below */
	pthread_cond_t left;	/* somebody has */
	size_t next;		/* row that nobody runs yet */
	u32 nr_at_work;
	bool failed;
};

/* Rows of one trace and number of frames, the default's included. */
static size_t rows_per_cell(const struct sim_job *job)
{
	return job->nr_policies + job->contract;
}

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* As sim_sample_run_fn. */
static int run_on(const struct sim_job *job, struct sim_row *row, struct trace *t,
		  u32 frames)
{
	struct sim_contract *contract = job->contract ? &row->contract : NULL;
	const struct policy *p = row->policy;

	if (p->reference == POLICY_AUTO) {
		sim_league_row(job, row);
		return sim_run_auto(&row->league, t, frames, &row->r);
	}
	return p->reference ?
	       sim_run_reference(p->reference, t, frames, &row->r, row->teller) :
	       sim_run_watched(&p->policy, t, frames, job->mode, &row->r, contract,
			       row->watch);
}

static void run_row(const struct sim_job *job, struct sim_row *row)
{
	u64 start = cpu_ns();

	if (row->ready) {
		__atomic_store_n(&row->r.done, row->trace->nr_accesses, __ATOMIC_RELAXED);
		return;
	}
	row->r.post = job->post;
	row->r.run = row->policy->run;
	sim_feed_row(job, row);
	row->ret = job->sample ? sim_sample_run(job, row, run_on) :
		   run_on(job, row, row->trace, row->frames);
	row->cpu_ns = cpu_ns() - start;
	__atomic_store_n(&row->r.done, row->trace->nr_accesses,
			 __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	struct crew *c = arg;

	pthread_mutex_lock(&c->lock);
	while (c->next < c->rows->nr && !c->failed) {
		struct sim_row *row = &c->rows->row[c->next++];

		pthread_mutex_unlock(&c->lock);
		run_row(c->job, row);
		pthread_mutex_lock(&c->lock);
		c->failed |= row->ret;
	}
	c->nr_at_work--;
	pthread_cond_signal(&c->left);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void wait_for(struct crew *c, bool draw)
{
	struct timespec t;

	pthread_mutex_lock(&c->lock);
	while (c->nr_at_work) {
		if (!draw) {
			pthread_cond_wait(&c->left, &c->lock);
			continue;
		}
		draw_progress(c->rows);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += DRAW_NS;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&c->left, &c->lock, &t);
	}
	pthread_mutex_unlock(&c->lock);
}

/*
 * Threads that it makes take no signal that ends the program. Who draws takes it, and draws no
 * more when the bar has been wiped.
 */
static u32 make_threads(pthread_t *thread, u32 nr, struct crew *c)
{
	sigset_t ends, before;
	u32 i;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	for (i = 0; thread && i < nr; i++)
		if (pthread_create(&thread[i], NULL, work, c))
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return i;
}

static void run_all(const struct sim_job *job, struct sim_rows *rows)
{
	struct crew c = {
		.job = job, .rows = rows,
		.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER,
	};
	u32 nr = job->nr_threads < rows->nr ? job->nr_threads : rows->nr, i;
	pthread_t *thread = calloc(nr, sizeof(*thread));
	bool draw = cli_progress_begin();

	/* They may be done before we look. */
	if (draw)
		draw_progress(rows);
	pthread_mutex_lock(&c.lock);
	nr = make_threads(thread, nr, &c);
	c.nr_at_work = nr ?: 1;
	pthread_mutex_unlock(&c.lock);
	if (!nr)
		work(&c);
	wait_for(&c, draw);
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	if (draw)
		cli_progress_end();
	free(thread);
}

/* What @size is for @t: at least one frame, at most SIM_MAX_FRAMES. */
static u32 frames_of(const struct sim_size *size, const struct trace *t)
{
	const u64 all = 100 * SIM_PERCENT;
	u64 n = size->nr;

	if (size->percent)
		n = (t->nr_pages * n + all - 1) / all;
	return n < SIM_MAX_FRAMES ? n : SIM_MAX_FRAMES;
}

/* Of a small trace different percentages may be the same: one is enough. */
static bool is_double(const struct sim_job *job, const struct trace *t,
		      size_t i)
{
	size_t j;

	for (j = 0; job->size[i].percent && j < i; j++)
		if (frames_of(&job->size[j], t) == frames_of(&job->size[i], t))
			return true;
	return false;
}

static void add_cell(const struct sim_job *job, struct sim_rows *rows,
		     struct trace *t, u32 frames)
{
	struct sim_cell *cell = &rows->cell[rows->nr_cells++];
	size_t i;

	*cell = (struct sim_cell){ .row = &rows->row[rows->nr] };
	for (i = 0; i < rows_per_cell(job); i++)
		rows->row[rows->nr++] = (struct sim_row){
			.policy = i < job->nr_policies ? &job->policy[i] :
							 &job->default_policy,
			.trace = t, .frames = frames,
			.contract.salt = job->salt,
		};
}

/**
 * sim_rows_make() - make the rows of a job
 * @job:  what was asked for
 * @rows: filled, by traces, then sizes, then policies; sim_rows_free() it, also
 *        after an error
 *
 * Return: 0 or an exit code, said.
 */
int sim_rows_make(const struct sim_job *job, struct sim_rows *rows)
{
	size_t max = job->nr_traces * job->nr_sizes, i, j;

	*rows = (struct sim_rows){
		.cell = calloc(max, sizeof(*rows->cell)),
		.row = calloc(max * rows_per_cell(job), sizeof(*rows->row)),
	};
	if (!rows->cell || !rows->row) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	for (i = 0; i < job->nr_traces; i++)
		for (j = 0; j < job->nr_sizes; j++)
			if (!is_double(job, &job->trace[i], j))
				add_cell(job, rows, &job->trace[i],
					 frames_of(&job->size[j], &job->trace[i]));
	return CLI_OK;
}

/**
 * sim_rows_run() - run the rows of a job
 * @job:  theirs; its traces get what references need
 * @rows: of sim_rows_make()
 *
 * Context: any; makes threads, and draws on standard error if it is a terminal.
 * Return: 0 or an exit code, said.
 */
int sim_rows_run(const struct sim_job *job, struct sim_rows *rows)
{
	size_t i;

	run_all(job, rows);
	for (i = 0; i < rows->nr; i++) {
		const struct sim_row *row = &rows->row[i];

		if (!row->ret)
			continue;
		if (row->ret == -E2BIG) {
			u32 ghosts = row->policy->policy.image->ghosts;

			cli_error("%s remembers up to %u %% of its frames: with it, --frames can be %u at most",
				  row->policy->name, ghosts,
				  (u32)((SIM_MAX_ENTRIES - 1) * 100ull / (100 + ghosts)));
			return CLI_FAILED;
		}
		cli_error("%s with %u frames: %s", row->policy->name, row->frames,
			  strerror(-row->ret));
		return CLI_FAILED;
	}
	for (i = 0; i < rows->nr_cells; i++)
		sim_verdict_begin(job, &rows->cell[i]);
	return CLI_OK;
}

void sim_rows_free(struct sim_rows *rows)
{
	size_t i;

	for (i = 0; rows->row && i < rows->nr; i++)
		sim_feed_free(&rows->row[i].feed);
	free(rows->cell);
	free(rows->row);
}
