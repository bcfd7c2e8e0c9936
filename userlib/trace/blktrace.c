// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to disks, as blktrace writes and blkparse prints them. Each device is a region.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "objects.h"

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

struct requests {
	struct trace_files stage[NR_STAGES];
	u64 seen[NR_STAGES];	/* requests */
};

/* The first stage that the log has; NR_STAGES: none. */
static int first_stage(const struct requests *b)
{
	int i;

	for (i = 0; i < NR_STAGES && !b->seen[i]; i++)
		;
	return i;
}

/* @nr: sectors, @at: ns. Stages behind one that the log has say the same again. */
static int add_request(struct trace_in *r, struct requests *b, int stage, const char *name,
		       u64 sector, u64 nr, bool write, double at)
{
	s64 device = trace_file(r, &b->stage[stage], name);

	if (device < 0 || first_stage(b) < stage)
		return device < 0 ? device : 0;
	if (first_stage(b) > stage)
		trace_clock_clear(r);	/* of later stages */
	trace_clock_add(r, at, 1);
	b->seen[stage]++;
	return trace_access(r, &b->stage[stage], device, sector * TRACE_SECTOR_BYTES,
			    nr * TRACE_SECTOR_BYTES, write);
}

static int read_blkparse_line(struct trace_in *r, struct requests *b)
{
	const u64 most = UINT64_MAX / TRACE_SECTOR_BYTES;
	char *word[TRACE_MAX_WORDS];
	const char *stage;
	u64 sector, nr;
	char kind;
	int n, i;

	/* Summaries come behind the events, and begin with words. */
	if (!*r->line || isalpha((unsigned char)r->line[strspn(r->line, " ")]))
		return 0;
	if (!trace_is_blkparse(r->line))
		return r->line[0] == ' ' ? 0 :
		       trace_malformed(r, "want 'MAJOR,MINOR CPU SEQUENCE TIME PID ACTION RWBS SECTOR + COUNT', not '%s'",
				       trace_quote(r, r->line));
	n = trace_words(r->line, word);
	if (n < 6)
		return trace_malformed(r, "want an action behind the process");
	stage = word[5][1] ? NULL : strchr(stages, *word[5]);
	if (!stage)
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
	return add_request(r, b, stage - stages, word[0], sector, nr, kind == 'w',
			   1e9 * strtod(word[3], NULL));
}

/* A device that has requests of later stages alone: none of them counts. */
static int note_left(const struct requests *b, int first, struct trace *t)
{
	struct trace_names all = { 0 };
	u32 i, nr = b->stage[first].nr_files;
	const char *name;
	int stage, ret = 0;
	s64 n = 0;

	for (stage = first; stage < NR_STAGES && n >= 0 && !ret; stage++)
		for (i = 0; i < b->stage[stage].nr_files && n >= 0 && !ret; i++) {
			name = trace_name_text(&b->stage[stage].names, i);
			n = trace_name_number(&all, name, strlen(name));
			if (n >= nr)
				ret = trace_note(t, "not used: requests of %s, which are not at the stage that counts, %c",
						 name, stages[first]);
		}
	trace_names_free(&all);
	return n < 0 ? n : ret;
}

static int end_requests(struct trace_in *r, struct requests *b, struct trace *t)
{
	int i = first_stage(b), ret;

	r->clock.ns = 1;
	i = i < NR_STAGES ? i : NR_STAGES - 1;
	ret = trace_files_end(r, &b->stage[i], t);
	ret = ret ? ret : note_left(b, i, t);
	if (ret || !i || !b->seen[i])
		return ret;
	return trace_note(t, "no request is queued (Q) in this log: those %s count",
			  i == 1 ? "issued (D)" : "completed (C)");
}

static int finish(struct trace_in *r, struct requests *b, struct trace *t, int ret)
{
	int i;

	if (!ret)
		ret = end_requests(r, b, t);
	for (i = 0; i < NR_STAGES; i++)
		trace_files_free(&b->stage[i]);
	return ret;
}

int trace_read_blkparse(struct trace_in *r, struct trace *t)
{
	struct requests b = { 0 };
	int ret;

	while ((ret = trace_next_line(r)) > 0) {
		ret = read_blkparse_line(r, &b);
		if (ret)
			break;
	}
	return finish(r, &b, t, ret);
}

/*
 * A record of blktrace, little-endian: u32 magic, u32 sequence, u64 time, u64 sector,
 * u32 bytes, u32 action, u32 pid, u32 device, u32 cpu, u16 error, u16 bytes behind it.
 */
#define RECORD_BYTES 48
#define MAGIC 0x65617400	/* and the version */
#define VERSION 7

/* Of an action: what happened below, of what kind above. */
#define ACTION_QUEUED 1
#define ACTION_ISSUED 7
#define ACTION_COMPLETED 8
#define KIND_READ (1u << 16)
#define KIND_WRITE (1u << 17)
#define KIND_DISCARD (1u << 29)
#define KIND_NOTIFY (1u << 26)

bool trace_is_blktrace(const u8 *bytes, size_t n)
{
	return n >= RECORD_BYTES && trace_little(bytes, 4) == (MAGIC | VERSION);
}

static int read_record(struct trace_in *r, struct requests *b, const u8 *record)
{
	u64 sector = trace_little(record + 16, 8), bytes = trace_little(record + 24, 4);
	u32 action = trace_little(record + 28, 4), device = trace_little(record + 36, 4);
	int stage = (action & 0xffff) == ACTION_QUEUED ? 0 :
		    (action & 0xffff) == ACTION_ISSUED ? 1 :
		    (action & 0xffff) == ACTION_COMPLETED ? 2 : -1;
	char name[32];

	if (stage < 0 || action & (KIND_NOTIFY | KIND_DISCARD) || !bytes ||
	    !(action & (KIND_READ | KIND_WRITE)))
		return 0;
	if (sector > UINT64_MAX / TRACE_SECTOR_BYTES)
		return trace_malformed(r, "byte %llu: want a sector, not %llu",
				       (unsigned long long)trace_tell(r) - RECORD_BYTES + 16,
				       (unsigned long long)sector);
	snprintf(name, sizeof(name), "%u,%u", device >> 20, device & 0xfffff);
	return add_request(r, b, stage, name, sector, bytes / TRACE_SECTOR_BYTES,
			   action & KIND_WRITE, trace_little(record + 8, 8));
}

int trace_read_blktrace(struct trace_in *r, struct trace *t)
{
	struct requests b = { 0 };
	u8 record[RECORD_BYTES];
	int ret;
	u32 skip;

	while ((ret = trace_next_bytes(r, record, RECORD_BYTES)) > 0) {
		if (!trace_is_blktrace(record, RECORD_BYTES))
			ret = trace_malformed(r, "byte %llu: want a record of blktrace, version %d, little-endian",
					      (unsigned long long)trace_tell(r) - RECORD_BYTES,
					      VERSION);
		else
			ret = read_record(r, &b, record);
		for (skip = trace_little(record + 46, 2); skip && !ret; skip--)
			if (trace_getc(r) == EOF)
				skip = 1;
		if (ret)
			break;
	}
	return finish(r, &b, t, ret);
}
