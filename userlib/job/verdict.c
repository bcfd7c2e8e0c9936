// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rows of one trace and number of frames say: by how much fewer faults
 * the policies gain over one of them, and whether any could, which opt knows. A
 * policy that ended is no candidate, its faults are the built-in one's.
 */
#include "../say/say.h"
#include "job.h"

static bool is_named(const struct sim_row *row, const char *name)
{
	return !strcmp(row->policy->name, name);
}

static bool knows_the_future(const struct sim_row *row)
{
	return row->policy->reference == POLICY_OPT ||
	       row->policy->reference == POLICY_OPT_READS;
}

/**
 * sim_verdict_gain() - percent of the faults that a policy saves
 * @cell:    cell of the row
 * @row:     row
 * @percent: filled; less than 0 is a loss
 *
 * Return: false if there is nothing to compare with.
 */
bool sim_verdict_gain(const struct sim_cell *cell, const struct sim_row *row,
		      double *percent)
{
	double over;

	if (!cell->over)
		return false;
	over = sim_verdict_cost(cell, cell->over);
	if (!over)
		return false;
	*percent = 100 * (over - sim_verdict_cost(cell, row)) / over;
	return true;
}

/**
 * sim_verdict_begin() - find the rows that a verdict stands on
 * @job:  job
 * @cell: cell, whose rows have run
 */
void sim_verdict_begin(const struct sim_job *job, struct sim_cell *cell)
{
	struct sim_row *row, *end = cell->row + job->nr_policies;

	cell->by_reads = job->by_reads;
	for (row = cell->row; row < end; row++)
		if (!cell->over && is_named(row, job->over))
			cell->over = row;
		else if (row->policy->reference == POLICY_OPT)
			cell->opt = row;
		else if (!knows_the_future(row) && !row->r.exit.kind &&
			 (!cell->best ||
			  sim_verdict_cost(cell, row) < sim_verdict_cost(cell, cell->best)))
			cell->best = row;
}

/**
 * sim_verdict() - the verdict on a cell
 * @job:  job
 * @cell: cell
 */
enum sim_verdict sim_verdict(const struct sim_job *job,
			     const struct sim_cell *cell)
{
	double gain;

	if (!cell->over)
		return SIM_VERDICT_UNKNOWN;
	if (cell->best && sim_verdict_gain(cell, cell->best, &gain) &&
	    gain > 0 && gain >= job->least)
		return SIM_VERDICT_GAIN;
	if (!cell->opt)
		return SIM_VERDICT_UNKNOWN;
	return sim_verdict_gain(cell, cell->opt, &gain) && gain > 0 && gain >= job->least ?
	       SIM_VERDICT_ROOM : SIM_VERDICT_NONE;
}

/* The most that any policy can gain, rounded up, in tenths of a percent. */
static u64 bound(const struct sim_cell *cell)
{
	u64 over = sim_verdict_cost(cell, cell->over);
	u64 opt = sim_verdict_cost(cell, cell->opt);

	return opt < over ? ((over - opt) * 1000 + over - 1) / over : 0;
}

/* What was said of the best one ends with what opt says. */
static void add_opt(const struct sim_cell *cell, char *line)
{
	size_t len = strlen(line);
	double gain;

	if (cell->opt && sim_verdict_gain(cell, cell->opt, &gain))
		snprintf(line + len, SIM_VERDICT_LINE - len, "; opt %s %%", CLI_PERCENT(gain));
}

static void say_best(const struct sim_job *job, const struct sim_cell *cell,
		     bool gains, char *line)
{
	const char *name = cell->best->policy->name;
	double gain = 0;

	sim_verdict_gain(cell, cell->best, &gain);
	if (gains)
		snprintf(line, SIM_VERDICT_LINE, "%s gains %s %% over %s", name,
			 CLI_PERCENT(gain), job->over);
	else if (gain > 0)
		snprintf(line, SIM_VERDICT_LINE, "none of these gains %g %% over %s, %s %s %%",
			 job->least, job->over, name, CLI_PERCENT(gain));
	else
		snprintf(line, SIM_VERDICT_LINE, "none of these gains anything over %s",
			 job->over);
	add_opt(cell, line);
}

/* What is possible, where no policy is there, or could gain so much. */
static void say_bound(const struct sim_job *job, const struct sim_cell *cell,
		      enum sim_verdict verdict, char *line)
{
	u64 tenths = bound(cell);

	if (tenths)
		snprintf(line, SIM_VERDICT_LINE, verdict == SIM_VERDICT_NONE ?
			 "no policy can gain more than %llu.%llu %% over %s" :
			 "a policy can gain up to %llu.%llu %% over %s",
			 (unsigned long long)tenths / 10,
			 (unsigned long long)tenths % 10, job->over);
	else
		snprintf(line, SIM_VERDICT_LINE, "no policy can gain anything over %s",
			 job->over);
}

/**
 * sim_verdict_text() - the verdict on a cell, if there is one
 * @job:  job
 * @cell: cell
 * @line: filled; SIM_VERDICT_LINE bytes
 *
 * Return: whether there is one.
 */
bool sim_verdict_text(const struct sim_job *job, const struct sim_cell *cell,
		      char *line)
{
	enum sim_verdict verdict = sim_verdict(job, cell);

	if (verdict == SIM_VERDICT_UNKNOWN)
		return false;
	if (verdict == SIM_VERDICT_NONE || !cell->best)
		say_bound(job, cell, verdict, line);
	else
		say_best(job, cell, verdict == SIM_VERDICT_GAIN, line);
	cli_clean(line);
	return true;
}

/* The same, as a line. */
void sim_verdict_print(const struct sim_job *job, const struct sim_cell *cell)
{
	char line[SIM_VERDICT_LINE], frames[CLI_COUNT];

	if (sim_verdict_text(job, cell, line))
		printf("%s: %s\n", cli_count(frames, cell->row->frames, "frame"), line);
}
