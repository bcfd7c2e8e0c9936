/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forms of traces: readers, writers, what makes them and what counts them. What
 * a trace is in memory, memory.h says; docs/user/traces.md describes the forms.
 *
 * Names: @r where a reader is, @t the trace it fills, @pgno a page of the trace.
 * Readers return 0, -EINVAL with the reason in r->err, or another errno.
 *
 * Interface:
 * trace_read()            a trace in a form that is given, or recognised
 * trace_zstd_writer()     a stream that compresses into another one
 * trace_write()           a trace in a form that can be written
 * trace_make()            a trace from a seed
 * trace_keep()            a trace without what does not matter
 * trace_sample()          some of its pages
 * trace_info(), _free()   statistics
 */
#ifndef HIPEC_TRACE_H
#define HIPEC_TRACE_H

#include "memory.h"

#define TRACE_PAGE_BYTES 4096
#define TRACE_SECTOR_BYTES 512
#define TRACE_MAX_LINE (1u << 16)	/* bytes, where lines are read whole */
#define TRACE_MAX_NAME 4095		/* bytes of a region's name */
#define TRACE_MAX_REGIONS (1u << 24)

/* Forms: name, reader and writer; a form without a writer is read only. Tables: table.c. */
#define TRACE_FORMS(X)                                                        \
	X(TEXT, "text", trace_read_text, trace_write_text)                    \
	X(BINARY, "trace", trace_read_binary, trace_write_binary)             \
	X(SECTORS, "sectors", trace_read_sectors, trace_write_sectors)        \
	X(ORACLE, "oracle", trace_read_oracle, trace_write_oracle)            \
	X(CSV, "csv", trace_read_table, trace_write_csv)                      \
	X(FIO, "fio", trace_read_fio, trace_write_fio)                        \
	X(BLKPARSE, "blkparse", trace_read_blkparse, NULL)                    \
	X(STRACE, "strace", trace_read_strace, NULL)                          \
	X(RECORD, "record", trace_read_record, NULL)                          \
	X(LIST, "list", trace_read_table, NULL)                               \
	X(LIS, "lis", trace_read_table, NULL)                                 \
	X(SPC, "spc", trace_read_table, NULL)                                 \
	X(MSR, "msr", trace_read_table, NULL)                                 \
	X(ALIBABA, "alibaba", trace_read_table, NULL)                         \
	X(TENCENT, "tencent", trace_read_table, NULL)                         \
	X(SYSTOR, "systor", trace_read_table, NULL)                           \
	X(FIU, "fiu", trace_read_table, NULL)                                 \
	X(TWITTER, "twitter", trace_read_table, NULL)                         \
	X(CACHELIB, "cachelib", trace_read_table, NULL)                       \
	X(CDN, "cdn", trace_read_table, NULL)                                 \
	X(COS, "cos", trace_read_table, NULL)                                 \
	X(WIKI, "wiki", trace_read_table, NULL)                               \
	X(LRB, "lrb", trace_read_table, NULL)                                 \
	X(YCSB, "ycsb", trace_read_table, NULL)                               \
	X(PHOTO, "photo", trace_read_table, NULL)                             \
	X(YOUTUBE, "youtube", trace_read_table, NULL)                         \
	X(LACKEY, "lackey", trace_read_table, NULL)                           \
	X(PACKED, "binary", trace_read_binary_table, NULL)                    \
	X(VSCSI, "vscsi", trace_read_binary_table, NULL)                      \
	X(VSCSI2, "vscsi2", trace_read_binary_table, NULL)                    \
	X(LCS, "lcs", trace_read_lcs, NULL)                                   \
	X(BLKTRACE, "blktrace", trace_read_blktrace, NULL)                    \
	X(DAMON, "damon", trace_read_damon, NULL)                             \
	X(PERF, "perf", trace_read_perf, NULL)

enum trace_form {
	TRACE_ANY,	/* recognise it */
#define X(name, text, reader, writer) TRACE_##name,
	TRACE_FORMS(X)
#undef X
	TRACE_NR_FORMS
};

struct trace_in;

struct trace_form_ops {
	int (*read)(struct trace_in *r, struct trace *t);
	int (*write)(struct trace *t, FILE *out);
};

extern const char *const trace_form_names[TRACE_NR_FORMS];
extern const struct trace_form_ops trace_forms[TRACE_NR_FORMS];

/* What a reader may be told. */
struct trace_options {
	enum trace_form form;
	const char *columns;	/* of a table: "id=1,op=2", or NULL: from its header */
	const char *ops;	/* of a table: "r=0,w=1", or NULL: as words are known */
	const char *format;	/* of binary: "<IQIq", or NULL */
	u64 most;		/* accesses; 0: SIM_MAX_ACCESSES */
};

int trace_read(struct trace *t, const char *name, FILE *in,
	       const struct trace_options *options, struct trace_error *err);
int trace_write(struct trace *t, enum trace_form form, FILE *out);
FILE *trace_zstd_writer(FILE *out);
enum trace_form trace_form_named(const char *name);
bool trace_is_table(enum trace_form form);

/* The generator. */
#define TRACE_KINDS(X) X(LOOP, "loop") X(SEQUENTIAL, "sequential") X(ZIPF, "zipf") \
	X(BTREE, "btree") X(MIXED, "mixed") X(SHIFT, "shift") \
	X(NLJ, "nlj") X(RDR, "rdr") X(SMPEG, "smpeg")

enum trace_kind {
#define X(name, text) TRACE_##name,
	TRACE_KINDS(X)
#undef X
	TRACE_NR_KINDS
};

extern const char *const trace_kinds[TRACE_NR_KINDS];

struct trace_recipe {
	enum trace_kind kind;
	u64 pages, accesses, seed;
	u64 writes;	/* percent of the accesses */
	u64 skew;	/* Zipf's exponent, in thousandths */
	u64 run;	/* pages of a sequential run */
	u64 fanout;	/* of the tree */
	u64 scan;	/* percent of the accesses */
	u64 set;	/* pages of the working set */
	u64 phase;	/* accesses until it moves */
	u64 passes;	/* of the join */
	u64 lookups;	/* of the retrieval */
	void (*progress)(u64 done, u64 all);	/* now and then, of accesses; or NULL */
};

int trace_make(struct trace *t, const struct trace_recipe *recipe);

/* What stays of a trace. */
struct trace_keep {
	const char **only;	/* globs, for the whole name of a region or its last part */
	u32 nr_only;		/* 0: any, and pages that are in no region */
	u64 min_pages;		/* of a region that are accessed; fewer: it does not matter */
	bool leave_own;		/* leave out what interpreters read of themselves */
};

struct trace_left {	/* out */
	u64 accesses;
	u32 pages, regions;
};

#define TRACE_SAMPLE_PARTS 4
#define TRACE_SAMPLE_MOST (1u << 16)	/* pages of which one is taken */

int trace_sample(const struct trace *t, u32 every, struct trace *to);

int trace_keep(struct trace *t, const struct trace_keep *keep, struct trace_left *left);

/* Reuse distances are given at these shares of all reuses, in percent. */
#define TRACE_QUANTILES { 10, 25, 50, 75, 90, 99, 100 }
#define TRACE_NR_QUANTILES 7

struct trace_top {
	u32 pgno;
	u32 accesses;
};

struct trace_use {	/* of a region */
	u64 accesses;
	u32 pages;	/* different ones */
};

struct trace_info {
	u64 accesses, reads, writes;
	u64 pages;		/* different ones */
	u64 written_pages;	/* of these */
	u64 first, last;	/* lowest and highest page */
	u64 sequential;		/* accesses to the page behind the one before */
	u64 repeated;		/* accesses to the same page as the one before */
	u64 one_touch;		/* pages with one access */
	u64 reuses;		/* accesses to pages that were there before */
	u64 quantile[TRACE_NR_QUANTILES];	/* of reuse distances, pages */
	u32 nr_top;
	struct trace_top *top;	/* pages with most accesses, most first */
	struct trace_use *use;	/* of each region of the trace */
};

int trace_info(struct trace *t, u32 nr_top, struct trace_info *info);
void trace_info_free(struct trace_info *info);

#endif /* HIPEC_TRACE_H */
