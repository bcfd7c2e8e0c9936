// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for a terminal. See table.h.
 */
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "table.h"

#define MOST_COLUMNS 24

static void print_cell(FILE *out, const struct cli_column *c, const char *text, int width,
		       bool last)
{
	if (last)
		fprintf(out, "%s\n", text);
	else
		fprintf(out, c->left ? "%-*s  " : "%*s  ", width, text);
}

/**
 * cli_table_print() - rows under their titles
 * @out:        file
 * @columns:    of the table, 24 at most; the last one is as wide as it likes
 * @nr_columns: their number
 * @rows:       one behind the other
 * @nr_rows:    their number
 * @row_size:   bytes of one
 */
void cli_table_print(FILE *out, const struct cli_column *columns, size_t nr_columns,
		     const void *rows, size_t nr_rows, size_t row_size)
{
	int width[MOST_COLUMNS] = { 0 };
	char cell[CLI_CELL];
	size_t i, j;

	for (j = 0; j < nr_columns; j++) {
		width[j] = strlen(columns[j].title);
		for (i = 0; i < nr_rows; i++) {
			columns[j].put(cell, (const char *)rows + i * row_size);
			if ((int)strlen(cell) > width[j])
				width[j] = strlen(cell);
		}
	}
	for (j = 0; j < nr_columns; j++)
		print_cell(out, &columns[j], columns[j].title, width[j], j == nr_columns - 1);
	for (i = 0; i < nr_rows; i++)
		for (j = 0; j < nr_columns; j++) {
			columns[j].put(cell, (const char *)rows + i * row_size);
			print_cell(out, &columns[j], cell, width[j], j == nr_columns - 1);
		}
}

/* A count: for a person with separators. */
void cli_put_number(char *cell, unsigned long long n)
{
	cli_number(cell, n);
}

/* A name that is a number, to be typed again. */
void cli_put_id(char *cell, unsigned long long n)
{
	snprintf(cell, CLI_CELL, "%llu", n);
}

/**
 * cli_table_empty() - say to a person what it means that a table has no rows
 * @nr:   its rows
 * @text: that there is nothing, and what to do
 *
 * A program gets the titles alone.
 *
 * Return: whether it was said; there is nothing to print then.
 */
bool cli_table_empty(size_t nr, const char *text)
{
	if (nr || !isatty(STDOUT_FILENO))
		return false;
	puts(text);
	return true;
}

/**
 * cli_put_runs() - the state of a policy that has not ended
 * @cell:    filled
 * @helped:  victims that were taken since Replace gave none
 * @orphans: victims that were on none of its queues, so that it was not asked
 */
void cli_put_runs(char *cell, unsigned long long helped, unsigned long long orphans)
{
	int n = snprintf(cell, CLI_CELL, "runs");
	char count[CLI_COUNT];

	if (helped)
		n += snprintf(cell + n, CLI_CELL - n, ", helped %s",
			      cli_count(count, helped, "time"));
	if (orphans)
		snprintf(cell + n, CLI_CELL - n, ", left %s on no queue",
			 cli_count(count, orphans, "page"));
}

/* Of @size bytes at most, fit for a terminal. */
void cli_put_text(char *cell, const char *text, size_t size)
{
	snprintf(cell, CLI_CELL, "%.*s", (int)size, text);
	cli_clean(cell);
}
