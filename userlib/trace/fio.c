// SPDX-License-Identifier: GPL-2.0-only
/*
 * fio's log of what files were asked for. Each file is a region.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

#define FIO_HEADER "fio version "

static bool is_action(const char *word)
{
	static const char *const actions[] = {
		"read", "write", "add", "open", "close", "wait", "sync", "datasync",
		"sync_file_range", "trim"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strcmp(word, actions[i]))
			return true;
	return false;
}

/* Which word is the action: names of files may have blanks. */
static int find_action(char **word, int n)
{
	u64 number;

	if (n >= 4 && is_action(word[n - 3]) && trace_number(word[n - 1], UINT64_MAX, &number) &&
	    trace_number(word[n - 2], UINT64_MAX, &number))
		return n - 3;
	return n > 2 && !is_action(word[1]) && is_action(word[n - 1]) ? n - 1 : 1;
}

/* Put back the blanks between words that are one name. */
static void join(char **word, int n)
{
	char *c;

	for (c = word[0]; n > 1 && c < word[n - 1]; c++)
		*c = *c ? *c : ' ';
}

/* "file read 0 4096", in version 3 behind a time. */
static int read_fio_line(struct trace_in *r, struct trace_files *f, bool timed)
{
	char *words[TRACE_MAX_WORDS], **word = words + timed;
	int n = trace_words(r->line, words) - timed, at;
	u64 time = 0, offset, bytes;
	s64 file;

	if (n < 0)
		return 0;
	if (timed && !trace_number(words[0], UINT64_MAX, &time))
		return trace_malformed(r, "want a time, a number, not '%s'",
				       trace_quote(r, words[0]));
	if (n < 2)
		return trace_malformed(r, "want a file and what was done to it");
	at = find_action(word, n);
	if (!is_action(word[at]))
		return trace_malformed(r, "want read, write, add, open, close, wait, sync, datasync or trim, not '%s'",
				       trace_quote(r, word[at]));
	join(word, at);
	if (!strcmp(word[at], "add")) {
		file = trace_file(r, f, word[0]);
		return file < 0 ? file : 0;
	}
	if (strcmp(word[at], "read") && strcmp(word[at], "write"))
		return 0;
	if (n != at + 3 || !trace_number(word[at + 1], UINT64_MAX, &offset) ||
	    !trace_number(word[at + 2], UINT64_MAX, &bytes))
		return trace_malformed(r, "want an offset and a length behind '%s'",
				       trace_quote(r, word[at]));
	file = trace_file(r, f, word[0]);
	if (file < 0)
		return file;
	if (timed)
		trace_clock_add(r, time, 1);
	return trace_access(r, f, file, offset, bytes, *word[at] == 'w');
}

/* Return: whether the line is a header; -EINVAL, said: of a version that is not known. */
static int read_fio_header(struct trace_in *r, bool *timed)
{
	if (strncmp(r->line, FIO_HEADER, strlen(FIO_HEADER)))
		return 0;
	*timed = !strcmp(r->line, FIO_HEADER "3 iolog");
	if (*timed || !strcmp(r->line, FIO_HEADER "2 iolog"))
		return 1;
	return trace_malformed(r, "want 'fio version 2 iolog' or 'fio version 3 iolog', not '%s'",
			       trace_quote(r, r->line));
}

/* fio appends to a log that is there, and begins with a header again. */
static int read_fio_lines(struct trace_in *r, struct trace_files *f)
{
	bool timed = false;
	int ret, header = 0;

	r->clock.ns = 1000;
	while ((ret = trace_next_line(r)) > 0) {
		header = read_fio_header(r, &timed);
		ret = header || !*r->line ? 0 : read_fio_line(r, f, timed);
		if (header < 0 || ret)
			return header < 0 ? header : ret;
	}
	return ret;
}

int trace_read_fio(struct trace_in *r, struct trace *t)
{
	struct trace_files f = { 0 };
	int ret = read_fio_lines(r, &f);

	if (!ret)
		ret = trace_files_end(r, &f, t);
	trace_files_free(&f);
	return ret;
}

/* The region of a page, or NULL. */
static const struct trace_region *region_of(const struct trace *t, u32 pgno,
					    const struct trace_region *last)
{
	u32 low = 0, high = t->nr_regions, middle;

	if (last && pgno - last->pgno <= last->nr - 1)
		return last;
	while (low < high) {
		middle = (low + high) / 2;
		if (t->region[middle].pgno <= pgno)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || pgno - t->region[low - 1].pgno > t->region[low - 1].nr - 1)
		return NULL;
	return &t->region[low - 1];
}

/* A name as an iolog can have it; pages of no region are of 'trace'. */
static void put_file(FILE *out, const struct trace_region *region)
{
	const char *c;

	for (c = region ? region->name : "trace"; *c; c++)
		putc(*c == ' ' ? '_' : *c, out);
}

/* Version 2, which all versions of fio read. What crosses regions is cut. */
int trace_write_fio(struct trace *t, FILE *out)
{
	const struct trace_region *region = NULL;
	u32 pgno, left, n;
	bool other = false;
	size_t i;

	fputs(FIO_HEADER "2 iolog\n", out);
	for (i = 0; i < t->nr_regions; i++) {
		put_file(out, &t->region[i]);
		fputs(" add\n", out);
		put_file(out, &t->region[i]);
		fputs(" open\n", out);
	}
	for (i = 0; i < t->nr_runs && !other; i++)
		for (n = 0; n < t->run[i].nr && !other; n++)
			other = !region_of(t, t->run[i].pgno + n, NULL);
	if (other)
		fputs("trace add\ntrace open\n", out);
	for (i = 0; i < t->nr_runs; i++) {
		pgno = t->run[i].pgno;
		for (left = t->run[i].nr; left; left -= n, pgno += n) {
			region = region_of(t, pgno, region);
			for (n = 1; n < left; n++)
				if (region_of(t, pgno + n, region) != region)
					break;
			put_file(out, region);
			fprintf(out, " %s %llu %llu\n",
				t->run[i].write ? "write" : "read",
				(unsigned long long)(pgno - (region ?
				region->pgno : 0)) * TRACE_PAGE_BYTES,
				(unsigned long long)n * TRACE_PAGE_BYTES);
		}
	}
	return 0;
}
