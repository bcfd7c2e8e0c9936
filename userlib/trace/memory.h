/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace in memory. trace.h has its forms in files.
 *
 * Names: @t a trace, @pgno a page number as the trace has it, @id the same page
 * counted from 0 in the order in which pages first appear.
 *
 * Interface:
 * trace_free()       what trace_read() or trace_make() has filled
 * trace_id()         pgno -> id
 * trace_region()     the region that a page is in
 * trace_tag()        hint and program context of a run
 * trace_warm()       its first accesses are not counted
 * trace_say_notes()  what its reader found worth knowing
 * trace_next_uses()  when each access's page is wanted again, for opt
 */
#ifndef HIPEC_TRACE_MEMORY_H
#define HIPEC_TRACE_MEMORY_H

#include <stdio.h>

#include "../../module/vm/port.h"
#include "room.h"

#define SIM_MAX_PAGES (1u << 26)	/* different ones in a trace: 256 GB */
#define SIM_MAX_ACCESSES (UINT32_MAX - 1)
#define SIM_NEVER UINT32_MAX		/* no next use */

/* @nr consecutive pages from @pgno on: what a line says, or several. */
struct trace_run {
	u32 pgno;
	u32 nr : 31, write : 1;
};

/* What an access may bring along; 0: nothing. */
struct trace_tag {
	u64 context;	/* of the program */
	u32 hint;
};

/* A range of pages that has a name, as a file of a log. */
struct trace_region {
	u32 pgno;
	u32 nr;		/* pages; 0: all up to the last possible one */
	bool own;	/* of an interpreter, as far as only such ones accessed it */
	char *name;
};

#define SIM_CLOCK_PARTS 512

/* Requests in parts of the time that a trace's own clock tells. */
struct trace_clock {
	double first, part;	/* when it begins, and how long a part is, in its unit */
	u64 requests[SIM_CLOCK_PARTS];
	u32 nr;			/* parts, up to the last one that has requests */
	u32 ns;			/* its unit; 0: not known */
};

/* One of the trace's pages, in a table of a power of two. */
struct trace_page {
	u32 pgno;
	u32 id;		/* counted from 1; 0: the place is empty */
};

struct trace {
	const char *name;
	struct trace_run *run;
	struct trace_room run_room, tag_room;	/* of run and run_tag */
	size_t nr_runs, max_runs;
	u64 nr_accesses;
	struct trace_page *page;
	u32 nr_pages;		/* different ones */
	u32 bits;		/* the table has 2^bits places */
	u32 *next_use;		/* by access, or NULL */
	struct trace_tag *tag;	/* different ones; the first is 0; or NULL */
	u32 nr_tags, max_tags;
	u32 *tag_place;		/* a hash table of them */
	u32 *run_tag;		/* by run, its tag; NULL if there are none */
	size_t warm_runs;	/* whose accesses are not counted: the first ones */
	u64 warm_accesses;	/* of them */
	struct trace_region *region;	/* ascending */
	u32 nr_regions;
	struct trace_clock *clock;	/* NULL: no times, or all the same */
	char *notes;		/* lines that the user should see, or NULL */
	const char *partial;	/* what it is known to lack, or NULL */
};

/* Where a trace is malformed. */
struct trace_error {
	u64 line;		/* from 1; 0: the file as a whole */
	char text[320];		/* what was expected */
};

void trace_free(struct trace *t);
u32 trace_id(const struct trace *t, u32 pgno);
void trace_say_notes(const struct trace *t, const char *mark, FILE *out);
u32 trace_region(const struct trace *t, u32 pgno);
struct trace_tag trace_tag(const struct trace *t, size_t run);
int trace_warm(struct trace *t, u64 accesses);
int trace_next_uses(struct trace *t);

#endif /* HIPEC_TRACE_MEMORY_H */
