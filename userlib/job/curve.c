// SPDX-License-Identifier: GPL-2.0-only
/*
 * --curve: misses by memory. lru has its counts of all sizes from one pass over its trace;
 * other policies are run on samples (sample.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "../trace/reuse.h"
#include "../say/say.h"
#include "job.h"

#define HEIGHT 10	/* of the picture, lines */
#define SEVERAL '*'	/* more than one is there */

static void fill(struct sim_row *row, const struct trace_lru *size, bool first)
{
	struct sim_result *r = &row->r;

	sim_result_begin(r);
	r->faults = size->faults;
	r->read_misses = size->read_misses;
	r->evictions = size->evictions;
	r->written = size->written;
	r->writes = sim_writes(row->trace);
	row->ready = true;
	row->sample = (struct sim_sample){
		.every = 1, .pages = row->trace->nr_pages, .frames = row->frames,
		.accesses = sim_accesses(row),
		.ran = first ? row->trace->nr_accesses : 0,
	};
}

/* The rows of @t that are lru's. */
static int fill_trace(struct sim_rows *rows, const struct trace *t)
{
	struct trace_lru *size = calloc(rows->nr, sizeof(*size));
	size_t i, nr = 0;
	int ret = size ? 0 : -ENOMEM;

	for (i = 0; i < rows->nr && !ret; i++)
		if (rows->row[i].trace == t && rows->row[i].policy->reference == POLICY_LRU)
			size[nr++].frames = rows->row[i].frames;
	if (nr)
		ret = trace_lru(t, size, nr);
	for (i = nr = 0; i < rows->nr && !ret; i++)
		if (rows->row[i].trace == t && rows->row[i].policy->reference == POLICY_LRU) {
			fill(&rows->row[i], &size[nr], !nr);
			nr++;
		}
	free(size);
	return ret;
}

/**
 * sim_curve_fill() - fill the rows that need no run of their own
 * @job:  of the rows
 * @rows: made, not run
 *
 * Return: 0 or an exit code, said.
 */
int sim_curve_fill(const struct sim_job *job, struct sim_rows *rows)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < job->nr_traces && job->curve && !ret; i++)
		ret = fill_trace(rows, &job->trace[i]);
	if (!ret)
		return CLI_OK;
	cli_error("%s", strerror(-ret));
	return CLI_FAILED;
}

static char letter(size_t policy)
{
	return 'a' + policy % 26;
}

/* What is in a column of the picture, as high as @tenths. */
static char mark(const struct sim_job *job, const struct sim_cell *cell, u64 tenths)
{
	char c = ' ';
	size_t i;

	for (i = 0; i < job->nr_policies; i++) {
		const struct sim_row *row = &cell->row[i];
		u64 n = sim_accesses(row);

		if ((2 * HEIGHT * row->r.faults + n) / (2 * n) == tenths)
			c = c == ' ' ? letter(i) : SEVERAL;
	}
	return c;
}

/**
 * sim_curve_draw() - the picture, on standard output
 * @job:  of the cells
 * @cell: of one trace
 * @nr:   of them
 */
void sim_curve_draw(const struct sim_job *job, const struct sim_cell *cell, size_t nr)
{
	char name[64];
	size_t i, blank;
	int y;

	printf("misses in 100 accesses, with the sizes above:");
	for (i = 0; i < job->nr_policies; i++) {
		snprintf(name, sizeof(name), "%s", job->policy[i].name);
		printf(" %c %s%s", letter(i), cli_clean(name),
		       i + 1 < job->nr_policies ? "," : "\n");
	}
	for (y = HEIGHT; y >= 0; y--) {
		printf("%3d |", y * 100 / HEIGHT);
		for (i = blank = 0; i < nr; i++) {
			char c = mark(job, &cell[i], y);

			blank++;
			if (c == ' ')
				continue;
			printf("%*c", (int)(3 * blank), c);
			blank = 0;
		}
		printf("\n");
	}
}
