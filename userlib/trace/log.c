// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs of what disks and files were asked for: fio's iolog and what blkparse
 * prints. Each file, or device, is a region.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

#define FIO_HEADER "fio version "

/* Most words of a line that anybody looks at. */
#define MAX_WORDS 32

/* Cut a line into words, in place. */
static int split(char *line, char *word[MAX_WORDS])
{
	int n = 0;

	while (n < MAX_WORDS) {
		line += strspn(line, " ");
		if (!*line)
			break;
		word[n++] = line;
		line += strcspn(line, " ");
		if (*line)
			*line++ = 0;
	}
	return n;
}

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
	char *words[MAX_WORDS], **word = words + timed;
	int n = split(r->line, words) - timed, at;
	u64 time, offset, bytes;
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

	while ((ret = trace_next_line(r)) > 0) {
		header = read_fio_header(r, &timed);
		ret = header || !*r->line ? 0 : read_fio_line(r, f, timed);
		if (header < 0 || ret)
			return header < 0 ? header : ret;
	}
	return ret;
}

int trace_read_fio(struct trace_in *r, struct sim_trace *t)
{
	struct trace_files f = { 0 };
	int ret = read_fio_lines(r, &f);

	if (!ret)
		ret = trace_files_end(r, &f, t);
	trace_files_free(&f);
	return ret;
}

/* The region of a page, or NULL. */
static const struct sim_region *region_of(const struct sim_trace *t, u32 pgno,
					  const struct sim_region *last)
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
static void put_file(FILE *out, const struct sim_region *region)
{
	const char *c;

	for (c = region ? region->name : "trace"; *c; c++)
		putc(*c == ' ' ? '_' : *c, out);
}

/* Version 2, which all versions of fio read. What crosses regions is cut. */
int trace_write_fio(struct sim_trace *t, FILE *out)
{
	const struct sim_region *region = NULL;
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

/* "8,0 3 1 0.000000000 697 Q R 223490 + 8 [name]": the first four words. */
bool trace_is_blkparse(const char *line)
{
	int n = 0;

	/* n stays 0 unless all of it is there. */
	return sscanf(line, " %*[0-9],%*[0-9] %*[0-9] %*[0-9] %*[0-9].%*[0-9] %*[0-9] %n",
		      &n) != EOF && n;
}

/* 'r', 'w', or 0: discards, flushes, resets of zones. */
static char kind_of(const char *rwbs)
{
	if (strchr(rwbs, 'W'))
		return 'w';
	return strchr(rwbs, 'R') && !strchr(rwbs, 'Z') ? 'r' : 0;
}

/* The stages of a request, of which one counts: the first one that the log has. */
static const char stages[] = "QDC";
#define NR_STAGES 3

struct blkparse {
	struct trace_files stage[NR_STAGES];
	u64 seen[NR_STAGES];	/* requests */
};

/* Stages behind one that the log has say the same again. */
static bool counts(const struct blkparse *b, int stage)
{
	int i;

	for (i = 0; i < stage; i++)
		if (b->seen[i])
			return false;
	return true;
}

static int read_blkparse_line(struct trace_in *r, struct blkparse *b)
{
	const u64 most = UINT64_MAX / TRACE_SECTOR_BYTES;
	char *word[MAX_WORDS];
	struct trace_files *f;
	const char *stage;
	u64 sector, nr;
	s64 device;
	char kind;
	int n, i;

	/* Summaries come behind the events, and begin with words. */
	if (!*r->line || isalpha((unsigned char)r->line[strspn(r->line, " ")]))
		return 0;
	if (!trace_is_blkparse(r->line))
		return r->line[0] == ' ' ? 0 :
		       trace_malformed(r, "want 'MAJOR,MINOR CPU SEQUENCE TIME PID ACTION RWBS SECTOR + COUNT', not '%s'",
				       trace_quote(r, r->line));
	n = split(r->line, word);
	if (n < 6)
		return trace_malformed(r, "want an action behind the process");
	stage = word[5][1] ? NULL : strchr(stages, *word[5]);
	if (!stage || !counts(b, stage - stages))
		return 0;
	if (n < 7)
		return trace_malformed(r, "want what kind of request was queued");
	kind = kind_of(word[6]);
	for (i = 7; i < n && strcmp(word[i], "+"); i++)
		if (*word[i] == '[')
			return 0;	/* no sectors: a flush */
	if (!kind)
		return 0;
	if (i < 8 || i + 1 >= n || !trace_number(word[i - 1], most, &sector) ||
	    !trace_number(word[i + 1], most, &nr))
		return trace_malformed(r, "want SECTOR + COUNT behind '%s'",
				       trace_quote(r, word[6]));
	f = &b->stage[stage - stages];
	b->seen[stage - stages]++;
	device = trace_file(r, f, word[0]);
	if (device < 0)
		return device;
	return trace_access(r, f, device, sector * TRACE_SECTOR_BYTES,
			    nr * TRACE_SECTOR_BYTES, kind == 'w');
}

static int end_blkparse(struct trace_in *r, struct blkparse *b, struct sim_trace *t)
{
	int i, ret;

	for (i = 0; i < NR_STAGES - 1 && !b->seen[i]; i++)
		;
	ret = trace_files_end(r, &b->stage[i], t);
	if (ret || !i || !b->seen[i])
		return ret;
	return trace_note(t, "no request is queued (Q) in this log: those %s count",
			  i == 1 ? "issued (D)" : "completed (C)");
}

int trace_read_blkparse(struct trace_in *r, struct sim_trace *t)
{
	struct blkparse b = { 0 };
	int ret, i;

	while ((ret = trace_next_line(r)) > 0) {
		ret = read_blkparse_line(r, &b);
		if (ret)
			break;
	}
	if (!ret)
		ret = end_blkparse(r, &b, t);
	for (i = 0; i < NR_STAGES; i++)
		trace_files_free(&b.stage[i]);
	return ret;
}
