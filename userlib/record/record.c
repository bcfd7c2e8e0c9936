// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of records, and what is in a record. record.h is the overview.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "record.h"

struct block {
	u64 id;
	u32 nr;		/* bytes */
	u32 begins;	/* 1: another record of this container */
	u64 sum;	/* of the fields above and of the bytes */
};

/* Words into a text. */
void record_say(struct hipec_text *out, const char *format, ...)
{
	char words[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(words, sizeof(words), format, ap);
	va_end(ap);
	hipec_text_str(out, words);
}

/* FNV-1a: any change of one byte changes it. */
static u64 sum_up(u64 sum, const void *bytes, size_t nr)
{
	const u8 *b = bytes;

	while (nr--)
		sum = (sum ^ *b++) * 0x100000001b3ull;
	return sum;
}

static u64 sum_of(const struct block *b, const void *bytes)
{
	u64 sum = sum_up(0xcbf29ce484222325ull, b, offsetof(struct block, sum));

	return sum_up(sum, bytes, b->nr);
}

/* Return: 0; -EIO if the file cannot be written. */
int record_file_begin(FILE *out)
{
	u32 version[2] = { RECORD_FILE_VERSION };

	fwrite(RECORD_FILE_MAGIC, 1, 8, out);
	fwrite(version, sizeof(version), 1, out);
	return ferror(out) ? -EIO : 0;
}

/**
 * record_file_block() - add bytes of a container's record
 * @out:   file
 * @id:    of the container
 * @begins: another policy has taken over: a record begins that is not its first
 * @bytes: that its descriptor gave
 * @nr:    of them, at most RECORD_MAX_BLOCK
 *
 * Return: 0; -EIO if the file cannot be written.
 */
int record_file_block(FILE *out, u64 id, bool begins, const void *bytes, u32 nr)
{
	struct block b = { .id = id, .nr = nr, .begins = begins };

	b.sum = sum_of(&b, bytes);
	fwrite(&b, sizeof(b), 1, out);
	fwrite(bytes, 1, nr, out);
	return ferror(out) ? -EIO : 0;
}

/* The newest of a container, or a new one; NULL: there is no memory. */
static struct record_stream *stream_of(struct record_file *f, u64 id, bool begins)
{
	struct record_stream *s;
	size_t i;

	for (i = f->nr_streams; i-- && !begins;)
		if (f->stream[i].id == id)
			return &f->stream[i];
	s = realloc(f->stream, (f->nr_streams + 1) * sizeof(*s));
	if (!s)
		return NULL;
	f->stream = s;
	s += f->nr_streams++;
	*s = (struct record_stream){ .id = id };
	return s;
}

/* Room for @nr bytes more. */
static bool grow(struct record_stream *s, size_t nr)
{
	u8 *bytes;

	if (s->size + nr <= s->max)
		return true;
	s->max = 2 * (s->size + nr);
	bytes = realloc(s->bytes, s->max);
	if (bytes)
		s->bytes = bytes;
	return bytes;
}

/* Return: 1; 0 at the end of the file, whole or not; -errno. */
static int read_block(struct record_file *f, FILE *in, u64 at,
		      struct hipec_text *why)
{
	struct record_stream *s;
	struct block b;
	size_t got = fread(&b, 1, sizeof(b), in);

	if (got < sizeof(b)) {
		f->cut = got;
		return 0;
	}
	if (b.nr > RECORD_MAX_BLOCK || b.begins > 1) {
		record_say(why, "byte %llu: want a block of a record, and this is none: it is damaged",
			       (unsigned long long)at);
		return -EINVAL;
	}
	s = stream_of(f, b.id, b.begins);
	if (!s || !grow(s, b.nr))
		return -ENOMEM;
	if (fread(s->bytes + s->size, 1, b.nr, in) < b.nr) {
		f->cut = true;
		return 0;
	}
	if (sum_of(&b, s->bytes + s->size) != b.sum) {
		record_say(why, "byte %llu: the block of %u bytes is damaged: its sum is another one",
			       (unsigned long long)at, b.nr);
		return -EINVAL;
	}
	s->size += b.nr;
	return 1;
}

/**
 * record_file_read() - a file into memory
 * @f:   filled; record_file_free() frees it, also after an error
 * @in:  at its begin
 * @why: gets what is wrong, and where
 *
 * A file whose end is missing is read as far as its blocks are whole.
 *
 * Return: 0; -EINVAL if it is no such file, or damaged; -ENOMEM; -EIO.
 */
int record_file_read(struct record_file *f, FILE *in, struct hipec_text *why)
{
	char magic[8];
	u32 version[2];
	int ret;

	memset(f, 0, sizeof(*f));
	if (fread(magic, sizeof(magic), 1, in) != 1 ||
	    memcmp(magic, RECORD_FILE_MAGIC, sizeof(magic)) ||
	    fread(version, sizeof(version), 1, in) != 1) {
		record_say(why, "this is no record: want a file of 'hipec record'");
		return -EINVAL;
	}
	if (version[0] != RECORD_FILE_VERSION || version[1]) {
		record_say(why, "byte 8: want version %d, not %u",
			       RECORD_FILE_VERSION, version[0]);
		return -EINVAL;
	}
	while ((ret = read_block(f, in, ftell(in), why)) > 0)
		;
	if (ferror(in))
		ret = -EIO;
	return ret;
}

/* */
void record_file_free(struct record_file *f)
{
	size_t i;

	for (i = 0; i < f->nr_streams; i++)
		free(f->stream[i].bytes);
	free(f->stream);
	memset(f, 0, sizeof(*f));
}

/**
 * record_head() - the begin of a container's record
 * @bytes: of it
 * @size:  of them
 * @head:  filled
 * @why:   gets what is wrong
 *
 * Return: where the entries begin; -EINVAL if this is no record, or too short.
 */
s64 record_head(const u8 *bytes, size_t size, struct hipec_record_head *head,
		struct hipec_text *why)
{
	u64 end;

	if (size < sizeof(*head)) {
		record_say(why, "it is cut short: %zu bytes, want %zu for its head",
			       size, sizeof(*head));
		return -EINVAL;
	}
	memcpy(head, bytes, sizeof(*head));
	if (head->magic != HIPEC_RECORD_MAGIC ||
	    head->version != HIPEC_RECORD_VERSION ||
	    head->head_size != sizeof(*head) || head->reserved ||
	    head->ordered > 1 || head->timed > 1 ||
	    head->nr_fields > HIPEC_MAX_FIELDS ||
	    head->nr_pages >= INT32_MAX || head->nr_frames > head->nr_pages) {
		record_say(why, "its head is none of this version");
		return -EINVAL;
	}
	end = sizeof(*head) + (u64)head->image_size +
	      HIPEC_NR_SLOTS * sizeof(s64) + 20ull * head->nr_queues + 8ull * head->nr_elements +
	      (head->nr_pages + 1ull) *
	      (20 + 8ull * (head->nr_fields + head->ordered));
	if (end > size) {
		record_say(why, "it is cut short: %zu bytes, want %llu for its tables",
			       size, (unsigned long long)end);
		return -EINVAL;
	}
	return end;
}

/* Return: 1; 0 where the bytes end; -EINVAL for what no number begins with. */
static int get_number(const u8 **at, const u8 *end, u64 *n)
{
	u32 shift;

	*n = 0;
	for (shift = 0; *at < end; shift += 7) {
		u8 b = *(*at)++;

		if (shift == 63 && b > 1)
			return -EINVAL;
		*n |= (u64)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return b || !shift ? 1 : -EINVAL;
	}
	return 0;
}

/**
 * record_entry() - decode an entry
 * @at:  its first byte
 * @end: of the record
 * @n:   filled
 *
 * Return: its bytes; 0 if the record ends before it does; -EINVAL if it is none.
 */
int record_entry(const u8 *at, const u8 *end, struct record_item *n)
{
	const u8 *begin = at;
	u32 i;
	int ret;

	if (at == end)
		return 0;
	n->code = *at++;
	n->nr = hipec_tracer_entry_numbers(n->code);
	n->name = NULL;
	if (n->nr == ~0u)
		return -EINVAL;
	for (i = 0; i < n->nr; i++) {
		ret = get_number(&at, end, &n->number[i]);
		if (ret <= 0)
			return ret;
		if (n->code == HIPEC_RECORD_RUN && i == 1) {
			if (n->number[1] >> HIPEC_RECORD_INPUTS)
				return -EINVAL;
			n->nr += __builtin_popcountll(n->number[1]);
		}
	}
	if (n->code == HIPEC_RECORD_REGION) {
		if (n->number[2] > HIPEC_RECORD_MAX_NAME)
			return -EINVAL;
		if ((u64)(end - at) < n->number[2])
			return 0;
		n->name = at;
		at += n->number[2];
	}
	return at - begin;
}

/* An entry in words: its name and its numbers. */
void record_entry_text(const struct record_item *n, struct hipec_text *out)
{
	u32 i;

	switch (n->code) {
#define X(name, code, nr, word, ...) case code: record_say(out, "%s", word); break;
	HIPEC_RECORD_ENTRIES(X)
#undef X
	}
	for (i = 0; i < n->nr; i++)
		record_say(out, " %llu", (unsigned long long)n->number[i]);
}
