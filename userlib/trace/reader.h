/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What readers of traces have in common: bytes, decompressed where they are
 * compressed, words, lines, messages; and how they add to a trace.
 *
 * Interface:
 * trace_getc(), _ungetc()  a byte; EOF at the end or after an error
 * trace_next_word()        the next word of a line
 * trace_next_line(), _raw_line()  a whole line
 * trace_more_of_line()     and the next one behind it
 * trace_packed_begin()     what gzip, xz and others wrote            packed.c
 * trace_next_bytes()      a record
 * trace_words()            a line, cut into words
 * trace_malformed()        says what was expected instead
 * trace_add()              a run of accesses
 * trace_add_region()       a name for a range of pages
 * trace_note()             something that the user should know
 * trace_file(), _access(), _touch()  accesses to bytes of several files
 * trace_files_end()        makes a trace of them
 * trace_clock_add(), _clear(), _end()  when requests were            clock.c
 * trace_recognise()        the form that some bytes begin
 */
#ifndef HIPEC_TRACEIN_H
#define HIPEC_TRACEIN_H

#include <sys/types.h>
#include <zstd.h>

#include "names.h"
#include "trace.h"

/* Longest word that means something; a longer one is cut, and means nothing. */
#define TRACE_MAX_WORD 32

/* Most words of a line that anybody looks at. */
#define TRACE_MAX_WORDS 32

/* Bytes that a form is recognised by. */
#define TRACE_SNIFF (1u << 20)

/* A program that decompresses, and one that gives it what was read already. */
struct trace_packed {
	const char *tool;	/* NULL: there is none */
	pid_t pid, feeder;
	FILE *pipe;
};

struct trace_in {
	FILE *in;
	struct trace_error *err;
	const struct trace_options *options;
	const u8 *at, *end;	/* bytes that were not taken yet */
	u64 offset;		/* of @end, in what was read or decompressed */
	u64 file_offset;	/* up to where @raw was filled */
	u8 *raw;		/* of the file */
	ZSTD_inBuffer packed;	/* what of @raw is not decompressed yet */
	u8 *unpacked;
	ZSTD_DStream *zstd;	/* NULL: nothing is compressed */
	bool one_frame;		/* and nothing behind it */
	bool in_frame;
	bool frame_ended;	/* the one */
	bool ended;		/* no more bytes in the file */
	bool cr;		/* lines end with CR alone */
	enum trace_form form;	/* that is read */
	struct trace_clock clock;	/* of the requests so far */
	struct trace_packed packed_by;	/* another compressor than zstd */
	int error;		/* 0, or why there are no more bytes */
	char word[TRACE_MAX_WORD + 1];
	char *line;		/* TRACE_MAX_LINE + 1 bytes, or NULL */
};

int trace_in_open(struct trace_in *r, FILE *in, struct trace_error *err,
		  const struct trace_options *options);
void trace_in_close(struct trace_in *r);
int trace_in_unpack(struct trace_in *r, bool one_frame);
bool trace_in_fill(struct trace_in *r);
bool trace_in_behind(struct trace_in *r);
const char *trace_packed_by(const u8 *bytes, size_t n);
int trace_packed_begin(struct trace_in *r, const char *tool);
int trace_packed_end(struct trace_in *r);

static inline int trace_getc(struct trace_in *r)
{
	if (r->at == r->end && !trace_in_fill(r))
		return EOF;
	return *r->at++;
}

/* Back goes what came last, once. */
static inline void trace_ungetc(struct trace_in *r, int c)
{
	if (c != EOF)
		r->at--;
}

/* Where the next byte is, in what was read or decompressed. */
static inline u64 trace_tell(const struct trace_in *r)
{
	return r->offset - (r->end - r->at);
}

int __attribute__((format(printf, 2, 3)))
trace_malformed(struct trace_in *r, const char *format, ...);
bool trace_next_word(struct trace_in *r);
int trace_next_line(struct trace_in *r);
int trace_next_raw_line(struct trace_in *r);
int trace_more_of_line(struct trace_in *r);
int trace_next_bytes(struct trace_in *r, u8 *bytes, size_t n);
int trace_words(char *line, char *word[TRACE_MAX_WORDS]);
bool trace_number(const char *word, u64 most, u64 *n);
const char *trace_quote(struct trace_in *r, const char *text);

int trace_add(struct trace_in *r, struct trace *t,
	      const struct trace_run *run, const struct trace_tag *tag);
int trace_add_region(struct trace_in *r, struct trace *t, u64 first, u64 nr,
		     const char *name, size_t length);
int __attribute__((format(printf, 2, 3)))
trace_note(struct trace *t, const char *format, ...);

void trace_clock_add(struct trace_in *r, double at, u64 requests);
void trace_clock_clear(struct trace_in *r);
int trace_clock_end(struct trace_in *r, struct trace *t);

/* Files that a log names, until it is known how large they are. */
struct trace_file {
	u64 end;	/* bytes, as far as it is known */
	u64 pages;	/* up to the last one that was accessed */
	u64 read_to;	/* where the last read ended */
	bool own;	/* only interpreters accessed it */
};

struct trace_op {
	u64 context;
	u64 pgno;	/* in the file */
	u32 file;
	u32 nr : 31, write : 1;
};

struct trace_files {
	struct trace_names names;	/* of the files, by their numbers */
	struct trace_file *file;
	size_t nr_files, max_files;
	struct trace_op *op;
	struct trace_room op_room;
	size_t nr_ops, max_ops;
	u64 nr_accesses;	/* of them */
	u64 context;		/* of the accesses to come; 0: none */
};

s64 trace_file(struct trace_in *r, struct trace_files *f, const char *name);
int trace_access(struct trace_in *r, struct trace_files *f, u32 file,
		 u64 offset, u64 bytes, bool write);
int trace_touch(struct trace_in *r, struct trace_files *f, u32 file, u64 offset, u64 bytes,
		bool write);
int trace_files_end(struct trace_in *r, struct trace_files *f,
		    struct trace *t);
void trace_files_free(struct trace_files *f);

int trace_read_text(struct trace_in *r, struct trace *t);
int trace_read_binary(struct trace_in *r, struct trace *t);
int trace_read_sectors(struct trace_in *r, struct trace *t);
int trace_read_oracle(struct trace_in *r, struct trace *t);
int trace_read_table(struct trace_in *r, struct trace *t);
int trace_read_fio(struct trace_in *r, struct trace *t);
int trace_read_blkparse(struct trace_in *r, struct trace *t);
int trace_read_blktrace(struct trace_in *r, struct trace *t);
int trace_read_damon(struct trace_in *r, struct trace *t);
int trace_read_perf(struct trace_in *r, struct trace *t);
int trace_read_binary_table(struct trace_in *r, struct trace *t);
int trace_read_lcs(struct trace_in *r, struct trace *t);
int trace_read_strace(struct trace_in *r, struct trace *t);
int trace_read_record(struct trace_in *r, struct trace *t);

int trace_write_text(struct trace *t, FILE *out);
int trace_write_binary(struct trace *t, FILE *out);
int trace_write_sectors(struct trace *t, FILE *out);
int trace_write_oracle(struct trace *t, FILE *out);
int trace_write_csv(struct trace *t, FILE *out);
int trace_write_fio(struct trace *t, FILE *out);

enum trace_form trace_recognise(const u8 *bytes, size_t n);
bool trace_is_oracle(const u8 *bytes, size_t n);
bool trace_is_blkparse(const char *line);
bool trace_is_blktrace(const u8 *bytes, size_t n);
bool trace_is_damon(const char *line);
bool trace_is_perf(const char *line);
enum trace_form trace_guess_records(const u8 *bytes, size_t n);
bool trace_is_strace(const char *line);

#endif /* HIPEC_TRACEIN_H */
