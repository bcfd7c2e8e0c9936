// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows as a table for each trace, with the verdicts below it.
 */
#include "../cli.h"
#include "../table.h"
#include "sim.h"
#include "../../option/option.h"

/* Longest text of a cell, bytes. */
#define TEXT (HIPEC_MESSAGE_MAX + 64)

static const struct {
	const char *name, *title;
} columns[SIM_NR_COLUMNS] = {
#define X(id, name, title) [SIM_COLUMN_##id] = { name, title },
	SIM_COLUMNS(X)
#undef X
};

bool sim_column_find(const char *name, enum sim_column *column)
{
	size_t i;

	for (i = 0; i < SIM_NR_COLUMNS; i++)
		if (!strcmp(name, columns[i].name)) {
			*column = i;
			return true;
		}
	return false;
}

/* The column whose name is nearest to one that does not exist, or NULL. */
const char *sim_column_nearest(const char *name)
{
	const char *near = NULL;
	size_t i;

	for (i = 0; i < SIM_NR_COLUMNS; i++)
		near = option_nearest(name, near, columns[i].name);
	return near;
}

static void state_text(const struct sim_job *job, const struct sim_row *row, char *text)
{
	const struct sim_result *r = &row->r;

	if (row->policy->reference == POLICY_AUTO)
		sim_league_text(job, row, text, TEXT);
	else if (row->policy->reference)
		snprintf(text, TEXT, "built in");
	else if (r->exit.kind)
		snprintf(text, TEXT, "ended at access %llu: %s",
			 (unsigned long long)r->ended_at, r->exit.message);
	else
		cli_put_runs(text, r->helped, r->forgotten);
	cli_clean(text);
}

static void contract_text(const struct sim_row *row, char *text)
{
	const struct sim_contract *c = &row->contract;
	char windows[CLI_COUNT];

	if (row->policy->reference)
		snprintf(text, TEXT, "built in");
	else if (c->revoked_at)
		snprintf(text, TEXT, "revoked at fault %llu, in window %u of %u",
			 (unsigned long long)c->revoked_at, c->revoked_in,
			 c->nr_windows);
	else
		snprintf(text, TEXT, "%s, %s",
			 sim_has_worst(row) ? "kept" : "too short to say",
			 cli_count(windows, c->nr_windows, "window"));
}

static void number_text(char *text, u64 n)
{
	cli_put_number(text, n);
}

/* @a by @b with @digits behind the point, "-" if there is no @b. */
static void ratio_text(char *text, double a, u64 b, int digits)
{
	if (b)
		snprintf(text, TEXT, "%.*f", digits, a / b);
	else
		snprintf(text, TEXT, "-");
}

/* What only a policy has; else text[0] is 0. */
static void policy_text(const struct sim_row *row, enum sim_column column,
			char *text)
{
	const struct sim_result *r = &row->r;

	*text = 0;
	if (row->policy->reference)
		return;
	if (column == SIM_COLUMN_PER_ACCESS)
		ratio_text(text, r->commands, sim_accesses(row), 1);
	else if (column == SIM_COLUMN_PER_FAULT)
		ratio_text(text, r->commands, r->faults, 1);
	else if (column == SIM_COLUMN_MOST)
		number_text(text, r->most_commands);
	else if (column == SIM_COLUMN_ESTIMATE)
		number_text(text, row->contract.estimate);
	else if (column == SIM_COLUMN_WORST && sim_has_worst(row))
		cli_percent(text, row->contract.worst, true);
}

static bool is_of_contract(enum sim_column column)
{
	return column == SIM_COLUMN_DEFAULTS || column == SIM_COLUMN_ESTIMATE ||
	       column == SIM_COLUMN_WORST || column == SIM_COLUMN_CONTRACT;
}

/* A column that is a number of each row. Return: whether this one is. */
static bool count(const struct sim_job *job, const struct sim_cell *cell,
		  const struct sim_row *row, enum sim_column column, u64 *n)
{
	const struct sim_result *r = &row->r;

	switch (column) {
	case SIM_COLUMN_FRAMES:
		*n = row->frames;
		return true;
	case SIM_COLUMN_ACCESSES:
		*n = sim_accesses(row);
		return true;
	case SIM_COLUMN_FAULTS:
		*n = r->faults;
		return true;
	case SIM_COLUMN_READ_MISSES:
		*n = r->read_misses;
		return true;
	case SIM_COLUMN_WRITE_MISSES:
		*n = r->faults - r->read_misses;
		return true;
	case SIM_COLUMN_READ:
		*n = sim_read_pages(job, row);
		return true;
	case SIM_COLUMN_WRITTEN:
		*n = r->written;
		return true;
	case SIM_COLUMN_EVICTIONS:
		*n = r->evictions;
		return true;
	case SIM_COLUMN_DEFAULTS:
		*n = cell->row[job->nr_policies].r.faults;
		return true;
	default:
		return false;
	}
}

static void cell_text(const struct sim_job *job, const struct sim_cell *cell,
		      const struct sim_row *row, enum sim_column column,
		      char *text)
{
	const struct sim_result *r = &row->r;
	u64 n = sim_accesses(row), reads = n - r->writes, number;
	double gain;

	if (is_of_contract(column) && !job->contract) {
		snprintf(text, TEXT, "-");
		return;
	}
	if (count(job, cell, row, column, &number)) {
		number_text(text, number);
		return;
	}
	switch (column) {
	case SIM_COLUMN_POLICY:
		snprintf(text, TEXT, "%s", row->policy->name);
		cli_clean(text);
		break;
	case SIM_COLUMN_HITS:
		cli_hits(text, n - r->faults, n);
		break;
	case SIM_COLUMN_READ_HITS:
		cli_hits(text, reads - r->read_misses, reads);
		break;
	case SIM_COLUMN_GAIN:
		if (sim_verdict_gain(cell, row, &gain))
			cli_percent(text, gain, true);
		else
			snprintf(text, TEXT, "-");
		break;
	case SIM_COLUMN_CONTRACT:
		contract_text(row, text);
		break;
	case SIM_COLUMN_SAMPLE:
		snprintf(text, TEXT, row->sample.every > 1 ? "1/%u" : "all",
			 row->sample.every);
		break;
	case SIM_COLUMN_ERROR:
		ratio_text(text, 100 * row->sample.error, 1, 2);
		break;
	case SIM_COLUMN_SPEED:
		ratio_text(text, 1e3 * n, row->cpu_ns, 2);
		break;
	case SIM_COLUMN_STATE:
		state_text(job, row, text);
		break;
	default:
		policy_text(row, column, text);
		if (!*text)
			snprintf(text, TEXT, "-");
	}
}

/* The first column to the left, the last one as long as it is. */
static void print_text(const char *text, int width, bool first, bool last)
{
	printf("%*s%s", first ? (last ? 0 : -width) : last ? 0 : width, text,
	       last ? "\n" : "  ");
}

/* The cells of one trace. */
static void print_cells(const struct sim_job *job, const struct sim_cell *cell,
			size_t nr)
{
	int width[SIM_NR_COLUMNS];
	size_t last = job->nr_columns - 1, i, j, k;
	char text[TEXT];

	for (j = 0; j <= last; j++) {
		width[j] = strlen(columns[job->column[j]].title);
		for (i = 0; i < nr; i++)
			for (k = 0; k < job->nr_policies; k++) {
				cell_text(job, &cell[i], &cell[i].row[k],
					  job->column[j], text);
				if ((int)strlen(text) > width[j])
					width[j] = strlen(text);
			}
	}
	for (j = 0; j <= last; j++)
		print_text(columns[job->column[j]].title, width[j], !j,
			   j == last);
	for (i = 0; i < nr; i++)
		for (k = 0; k < job->nr_policies; k++)
			for (j = 0; j <= last; j++) {
				cell_text(job, &cell[i], &cell[i].row[k],
					  job->column[j], text);
				print_text(text, width[j], !j, j == last);
			}
	for (i = 0; i < nr; i++)
		sim_verdict_print(job, &cell[i]);
}

/**
 * sim_table_print() - rows on standard output, trace by trace
 * @job:  job
 * @rows: rows, which have run
 */
void sim_table_print(const struct sim_job *job, const struct sim_rows *rows)
{
	const struct sim_cell *cell = rows->cell, *end = cell + rows->nr_cells;

	while (cell < end) {
		const struct trace *t = cell->row->trace;
		char n[2][CLI_COUNT];
		size_t nr = 1;

		while (cell + nr < end && cell[nr].row->trace == t)
			nr++;
		printf("%s%s: %s to %s, %s\n", cell == rows->cell ? "" : "\n", t->name,
		       cli_count(n[0], t->nr_accesses, "access"),
		       cli_count(n[1], t->nr_pages, "page"), sim_mode_names[job->mode]);
		if (t->warm_accesses)
			printf("the first %s accesses are not counted\n",
			       CLI_NUMBER(t->warm_accesses));
		print_cells(job, cell, nr);
		if (job->curve)
			sim_curve_draw(job, cell, nr);
		cell += nr;
	}
}
