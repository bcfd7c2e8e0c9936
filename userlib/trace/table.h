/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that are tables: a line, or a record, for each request, in columns. One table has
 * their forms (table.c), and one reader reads them all (rows.c).
 *
 * Interface:
 * trace_tables[]            the forms                                  table.c
 * trace_title()             what a column of that title says
 * trace_operation()         whether a word reads or writes            words.c
 * trace_ops_read()          --ops
 * trace_split()             a line into fields                         fields.c
 * trace_is_open()           whether the next line belongs to it
 * trace_field_number()      the number in one
 * trace_field_time()        a time, which may have decimals
 * trace_field_amount()      the same as people and spreadsheets write it
 * trace_columns_read()      --columns                                  columns.c
 * trace_columns_header()    columns of a header
 * trace_guess()             the form that some lines have              guess.c
 */
#ifndef HIPEC_TRACE_TABLE_H
#define HIPEC_TRACE_TABLE_H

#include "reader.h"

/* What a column says: its name in --columns. Several may be a device together. */
#define TRACE_COLUMNS(X)                                                      \
	X(ID, "id")		/* an object, which is a page: a number or a key */ \
	X(OFFSET, "offset")	/* bytes */                                   \
	X(SECTOR, "sector")	/* of 512 bytes */                            \
	X(PAGE, "page")		/* of 4,096 bytes, or blocks as long as one */ \
	X(SIZE, "size")		/* bytes */                                   \
	X(SECTORS, "sectors")                                                 \
	X(PAGES, "pages")                                                     \
	X(OP, "op")                                                           \
	X(COUNT, "count")	/* requests that a row stands for */          \
	X(DEVICE, "device")	/* disks and files: spaces of their own */    \
	X(TIME, "time")		/* in nanoseconds times its unit */            \
	X(UNUSED, "unused")	/* known, and of no matter */

enum trace_column {
#define X(name, text) TRACE_COL_##name,
	TRACE_COLUMNS(X)
#undef X
	TRACE_NR_COLUMNS
};

extern const char *const trace_column_names[TRACE_NR_COLUMNS];

#define TRACE_MAX_FIELDS 128	/* of a row */
#define TRACE_MAX_DEVICES 4	/* columns that are the device together */
#define TRACE_MAX_OPS 32	/* of --ops */

/* A part of a line; its bytes are in the line, or were put there without quotes. */
struct trace_field {
	char *text;
	u32 length;
};

struct trace_row {
	struct trace_field field[TRACE_MAX_FIELDS];
	u32 nr;
};

/* Where columns are, from 1; 0: nowhere. */
struct trace_layout {
	u32 at[TRACE_NR_COLUMNS];
	u32 device[TRACE_MAX_DEVICES];
	u32 nr_devices;
	u32 unit[TRACE_NR_COLUMNS];	/* what its numbers are times; 0: 1 */
	bool hex;		/* addresses are hexadecimal */
	bool blocks;		/* taken for pages; nothing says how long they are */
	const char *ops;	/* as of --ops, of a title; or NULL */
};

/* Words that --ops explains: of what is read, written, or neither. */
struct trace_ops {
	struct {
		char word[24];
		char kind;
	} op[TRACE_MAX_OPS];
	u32 nr;
};

/*
 * A form. Its shape has a letter for each field of a line: n a number, f one that may have
 * decimals, e such a one or nothing, b 0 or 1, z 0, o the word of an operation, d one that
 * disks have, g one that they have not, w a word,
 * k a key, i one that is a number, a hash or a UUID, u an address of the web, x hexadecimal;
 * and * for more fields, whatever they are.
 */
struct trace_table {
	const char *header;	/* titles that it begins with, or NULL */
	const char *shape;	/* of lines without a header, or NULL */
	const char *separators;	/* of the shape */
	const char *format;	/* of records, as of --format, or NULL */
	const char *columns;	/* as of --columns; NULL: as the header says */
	const char *ops;	/* as of --ops, or NULL */
	const char *skip;	/* first bytes of lines that mean nothing, or NULL */
	const char *note;	/* that the user should know, or NULL */
	bool reads;		/* nothing in it says more than that something was read */
};

extern const struct trace_table trace_tables[TRACE_NR_FORMS];

struct trace_title {
	const char *name;
	enum trace_column column;
	const char *ops;
	u32 unit;		/* of its numbers, in that of the column */
};

const struct trace_title *trace_title(const char *text, u32 length);

char trace_operation(const char *text, u32 length);
int trace_ops_read(struct trace_in *r, struct trace_ops *ops, const char *text);
char trace_ops_kind(const struct trace_ops *ops, const char *text, u32 length);

int trace_split(struct trace_row *row, char *line, const char *separators);
bool trace_is_open(const char *line, const char *separators);
const char *trace_separators(const char *line);
bool trace_field_is(const struct trace_field *field, const char *word);
bool trace_field_number(const struct trace_field *field, bool hex, u64 *n);
bool trace_field_time(const struct trace_field *field, double *time);
bool trace_field_amount(const struct trace_field *field, bool bytes, u64 *n);

int trace_columns_read(struct trace_in *r, struct trace_layout *l, const char *text,
		       const struct trace_row *header);
void trace_columns_header(struct trace_layout *l, const struct trace_row *header);
bool trace_has_address(const struct trace_layout *l);
u32 trace_address_at(const struct trace_layout *l);

enum trace_form trace_guess_header(const char *line);
enum trace_form trace_guess(const u8 *bytes, size_t n);
void trace_resembles(const u8 *bytes, size_t n, char *list, size_t size);

#endif /* HIPEC_TRACE_TABLE_H */
