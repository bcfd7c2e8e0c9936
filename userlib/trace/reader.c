// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a trace, words and lines of them, and what is said when they are
 * malformed. A zstd frame at the start is decompressed as it is read.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "reader.h"

#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"

/* A reason that stands already, as of a damaged frame, is the cause of others. */
int trace_malformed(struct trace_in *r, const char *format, ...)
{
	va_list ap;
	char *c;

	if (r->error)
		return r->error;
	va_start(ap, format);
	vsnprintf(r->err->text, sizeof(r->err->text), format, ap);
	va_end(ap);
	for (c = r->err->text; *c; c++)
		*c = *c >= ' ' && *c <= '~' ? *c : '?';
	return -EINVAL;
}

/* The end of what a program decompresses; r->error has what went wrong. */
static void end_packed(struct trace_in *r)
{
	const char *tool = r->packed_by.tool;
	int ret = trace_packed_end(r);

	if (!ret)
		return;
	r->err->line = 0;
	r->error = trace_malformed(r, ret == -ENOENT ?
				   "it was compressed by %s, which is not installed" :
				   "it was compressed by %s, and is damaged or not whole", tool);
}

/* More bytes of the file into r->raw, which were all taken. */
static size_t read_raw(struct trace_in *r)
{
	size_t n;

	if (r->ended || r->error)
		return 0;
	errno = 0;
	n = fread(r->raw, 1, TRACE_SNIFF, r->in);
	if (n < TRACE_SNIFF) {
		r->ended = true;
		if (ferror(r->in)) {
			r->error = errno ? -errno : -EIO;
			return 0;
		}
	}
	r->file_offset += n;
	if (r->ended && r->packed_by.tool)
		end_packed(r);
	return n;
}

/* Lines that end as on an old Mac. */
static void end_lines(const struct trace_in *r)
{
	u8 *c = (u8 *)r->at;

	for (; r->cr && c < r->end; c++)
		if (*c == '\r')
			*c = '\n';
}

/* A compressed trace is said by its bytes, not by its lines. */
static bool bad_frame(struct trace_in *r, const char *reason)
{
	u64 offset = r->file_offset - (r->packed.size - r->packed.pos);

	r->err->line = 0;
	r->error = trace_malformed(r, "byte %llu: %s",
				   (unsigned long long)offset, reason);
	return false;
}

/* Decompress until there is something; false at the end, or after an error. */
static bool unpack(struct trace_in *r)
{
	ZSTD_outBuffer out = { r->unpacked, TRACE_SNIFF, 0 };
	size_t left, had, had_out;

	while (!r->frame_ended && out.pos < out.size) {
		if (r->packed.pos == r->packed.size) {
			r->packed.pos = 0;
			r->packed.size = read_raw(r);
		}
		if (r->packed.pos == r->packed.size && !r->in_frame)
			break;
		had = r->packed.pos;
		had_out = out.pos;
		left = ZSTD_decompressStream(r->zstd, &out, &r->packed);
		if (ZSTD_isError(left))
			return bad_frame(r, ZSTD_getErrorName(left));
		r->in_frame = left;
		r->frame_ended = r->one_frame && !left;
		if (left && r->packed.pos == had && out.pos == had_out)
			break;
	}
	r->at = r->unpacked;
	r->end = r->at + out.pos;
	r->offset += out.pos;
	if (!out.pos && r->in_frame && !r->error)
		bad_frame(r, "want more compressed data, but the file ends");
	return out.pos;
}

/* More bytes; false at the end, or after an error, which r->error has then. */
bool trace_in_fill(struct trace_in *r)
{
	size_t n;

	if (r->error)
		return false;
	if (r->zstd) {
		n = unpack(r);
	} else {
		n = read_raw(r);
		r->at = r->raw;
		r->end = r->at + n;
		r->offset += n;
	}
	end_lines(r);
	return n;
}

/**
 * trace_in_unpack() - from here on, the file is compressed
 * @r:         what was not taken yet is the beginning of a frame
 * @one_frame: of which there is one
 *
 * Return: 0; -ENOMEM.
 */
int trace_in_unpack(struct trace_in *r, bool one_frame)
{
	r->zstd = ZSTD_createDStream();
	r->unpacked = malloc(TRACE_SNIFF);
	if (!r->zstd || !r->unpacked)
		return -ENOMEM;
	r->packed = (ZSTD_inBuffer){ r->raw, r->end - r->raw, r->at - r->raw };
	r->at = r->end = r->unpacked;
	r->offset = 0;
	r->one_frame = one_frame;
	return 0;
}

/* Is there anything behind the one frame? */
bool trace_in_behind(struct trace_in *r)
{
	return r->packed.pos < r->packed.size || read_raw(r);
}

/* Bytes that are no text are in the first ones of what is none. */
static bool ends_lines_with_cr(const struct trace_in *r)
{
	size_t n = r->end - r->at, i;

	for (i = 0; i < n && i < 512; i++)
		if (r->at[i] < '\t')
			return false;
	return memchr(r->at, '\r', n) && !memchr(r->at, '\n', n);
}

/* What editors put in front of a text, and between its lines. */
static int begin_text(struct trace_in *r)
{
	size_t n = r->end - r->at;

	if (n >= 2 && (!memcmp(r->at, "\xff\xfe", 2) || !memcmp(r->at, "\xfe\xff", 2)) &&
	    (n == 2 || !r->at[2] || !r->at[3]))
		return trace_malformed(r, "want text in UTF-8, not UTF-16: iconv -f UTF-16 -t UTF-8 FILE | hipec ... -");
	if (n >= 3 && !memcmp(r->at, "\xef\xbb\xbf", 3))
		r->at += 3;
	r->cr = ends_lines_with_cr(r);
	end_lines(r);
	return 0;
}

int trace_in_open(struct trace_in *r, FILE *in, struct trace_error *err,
		  const struct trace_options *options)
{
	const char *tool;
	int ret = 0;

	*r = (struct trace_in){ .in = in, .err = err, .options = options };
	*err = (struct trace_error){ 0 };
	r->raw = malloc(TRACE_SNIFF);
	if (!r->raw)
		return -ENOMEM;
	r->at = r->end = r->raw;
	if (trace_in_fill(r) && r->end - r->at >= 4 &&
	    !memcmp(r->at, ZSTD_MAGIC, 4)) {
		ret = trace_in_unpack(r, false);
		if (!ret)
			trace_in_fill(r);
	}
	tool = ret || r->error ? NULL : trace_packed_by(r->at, r->end - r->at);
	if (tool && !r->zstd) {
		ret = trace_packed_begin(r, tool);
		if (!ret)
			trace_in_fill(r);
	}
	if (!ret && !r->error)
		ret = begin_text(r);
	return ret ? ret : r->error;
}

void trace_in_close(struct trace_in *r)
{
	trace_packed_end(r);	/* it may not have written all */
	ZSTD_freeDStream(r->zstd);
	free(r->unpacked);
	free(r->raw);
	free(r->line);
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_word(int c)
{
	return is_blank(c) || c == '\n' || c == '#' || c == EOF;
}

/* The next word of the line, empty at its end, which is not consumed. */
bool trace_next_word(struct trace_in *r)
{
	size_t n = 0;
	int c;

	do
		c = trace_getc(r);
	while (is_blank(c));
	for (; !ends_word(c); c = trace_getc(r))
		if (n < TRACE_MAX_WORD)
			r->word[n++] = c > ' ' && c <= '~' ? c : '?';
	r->word[n] = 0;
	if (c == '#')
		while (c != '\n' && c != EOF)
			c = trace_getc(r);
	trace_ungetc(r, c);
	return n;
}

/* The next line, behind @n bytes of r->line. */
static int next_line(struct trace_in *r, bool raw, size_t n)
{
	int c = trace_getc(r);

	if (!r->line)
		r->line = malloc(TRACE_MAX_LINE + 1);
	if (!r->line)
		return -ENOMEM;
	if (c == EOF)
		return r->error;
	r->err->line++;
	for (; c != '\n' && c != EOF; c = trace_getc(r)) {
		if (n == TRACE_MAX_LINE)
			return trace_malformed(r, "want lines of at most %u bytes",
					       TRACE_MAX_LINE);
		if (raw)
			r->line[n++] = c ? c : '?';
		else
			r->line[n++] = is_blank(c) ? ' ' : c > ' ' && c <= '~' ? c : '?';
	}
	while (n && (r->line[n - 1] == ' ' || r->line[n - 1] == '\r'))
		n--;
	r->line[n] = 0;
	return r->error ? r->error : 1;
}

/**
 * trace_next_line() - the next line into r->line, without its end
 * @r: counts it in r->err
 *
 * Bytes of no text become '?'.
 *
 * Return: 1; 0 at the end; -EINVAL, said, if it is too long; -ENOMEM; another
 *         errno from reading.
 */
int trace_next_line(struct trace_in *r)
{
	return next_line(r, false, 0);
}

/* As trace_next_line(), but all bytes are as they are, except 0. */
int trace_next_raw_line(struct trace_in *r)
{
	return next_line(r, true, 0);
}

/* As trace_next_raw_line(), but behind the line that is there, and its end. */
int trace_more_of_line(struct trace_in *r)
{
	size_t n = strlen(r->line);

	if (n < TRACE_MAX_LINE)
		r->line[n++] = '\n';
	r->line[n] = 0;
	return next_line(r, true, n);
}

/* Cut a line into words, in place. */
int trace_words(char *line, char *word[TRACE_MAX_WORDS])
{
	int n = 0;

	while (n < TRACE_MAX_WORDS) {
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

/**
 * trace_next_bytes() - the next record
 * @r:     no line is counted
 * @bytes: filled
 * @n:     of it
 *
 * Return: 1; 0 at the end; -EINVAL, said, if it is cut off; another errno from reading.
 */
int trace_next_bytes(struct trace_in *r, u8 *bytes, size_t n)
{
	u64 at = trace_tell(r);
	size_t i;
	int c;

	r->err->line = 0;
	for (i = 0; i < n; i++) {
		c = trace_getc(r);
		if (c == EOF)
			break;
		bytes[i] = c;
	}
	if (i == n)
		return 1;
	if (!i || r->error)
		return r->error;
	return trace_malformed(r, "byte %llu: want a record of %zu bytes, but %zu are left",
			       (unsigned long long)at, n, i);
}

/* A number in decimal or 0x hexadecimal, nothing else. */
bool trace_number(const char *word, u64 most, u64 *n)
{
	bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";

	word += hex ? 2 : 0;
	if (!*word || word[strspn(word, digits)] || strlen(word) > 20)
		return false;
	errno = 0;
	*n = strtoull(word, NULL, hex ? 16 : 10);
	return !errno && *n <= most;
}

/* As much of @text as a message has room for, in r->word. */
const char *trace_quote(struct trace_in *r, const char *text)
{
	snprintf(r->word, sizeof(r->word), "%s", text);
	return r->word;
}
