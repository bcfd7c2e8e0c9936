/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables for a terminal: columns as wide as what is in them.
 *
 * Interface:
 * cli_table_print()  rows under their titles
 * cli_table_empty()  what a person is told of a table without rows
 * cli_put_number(), cli_put_id(), cli_put_text(), cli_put_runs()  cells
 * CLI_PUT_CELL(), CLI_COLUMN()  of a list of columns
 */
#ifndef HIPEC_CLI_TABLE_H
#define HIPEC_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../lib/hipec.h"

/* Longest text of a cell, bytes. */
#define CLI_CELL (HIPEC_MESSAGE_MAX + 32)

/* A column: its title, on which side its texts are, and what makes them of a row. */
struct cli_column {
	const char *title;
	bool left;
	void (*put)(char *cell, const void *row);
};

/*
 * Of a list of columns, X(name, TITLE, left, what puts the cell): the functions, in which
 * CLI_ROW is declared, and the members of an array.
 */
#define CLI_PUT_CELL(name, title, left, put)					\
	static void put_##name##_cell(char *cell, const void *row)		\
	{									\
		CLI_ROW = row;							\
										\
		put;								\
	}
#define CLI_COLUMN(name, title, left, put) { title, left, put_##name##_cell },

void cli_table_print(FILE *out, const struct cli_column *columns, size_t nr_columns,
		     const void *rows, size_t nr_rows, size_t row_size);
bool cli_table_empty(size_t nr, const char *text);
void cli_put_number(char *cell, unsigned long long n);
void cli_put_id(char *cell, unsigned long long n);
void cli_put_text(char *cell, const char *text, size_t size);
void cli_put_runs(char *cell, unsigned long long helped, unsigned long long orphans);

#endif /* HIPEC_CLI_TABLE_H */
