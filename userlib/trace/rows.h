/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of a table, as accesses: what of a row is an address, of which device, how
 * long, how often, read or written.
 *
 * Interface:
 * trace_request_begin(), _read(), _end(), _free()
 */
#ifndef HIPEC_TRACE_ROWS_H
#define HIPEC_TRACE_ROWS_H

#include "objects.h"
#include "table.h"

struct trace_request {
	struct trace_in *r;
	const struct trace_table *table;
	struct trace_layout layout;
	struct trace_ops ops;
	struct trace_objects objects;
	struct trace_files files;
	struct trace_names devices;	/* of objects */
	u64 empty;		/* requests of 0 bytes */
	u64 skipped;		/* operations that neither read nor write */
	u64 rows;
	bool timed;		/* --columns says where the time is */
	bool sized;		/* objects have other sizes than a page */
};

int trace_request_begin(struct trace_request *q, struct trace_in *r,
			const struct trace_table *table);
int trace_request_read(struct trace_request *q, const struct trace_row *row);
int trace_request_end(struct trace_request *q, struct trace *t);
void trace_request_free(struct trace_request *q);

#endif /* HIPEC_TRACE_ROWS_H */
