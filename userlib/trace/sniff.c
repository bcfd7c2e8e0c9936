// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which form of trace some bytes begin. Nothing is taken for a form that could be
 * another one: sectors look like pages, but for those that are negative.
 */
#include "../record/record.h"
#include "table.h"

/* Enough of the first line that says something. */
#define LINE 1024

/* So many lines with a negative number are no slip in a trace of pages. */
#define NEGATIVE_LINES 8

/* The first line that is neither empty nor a comment; false: there is none. */
static bool first_line(const u8 *bytes, size_t n, char line[LINE + 1])
{
	size_t i = 0, length;

	while (i < n) {
		while (i < n && (bytes[i] == ' ' || bytes[i] == '\t' ||
				 bytes[i] == '\r' || bytes[i] == '\n'))
			i++;
		for (length = 0; i < n && bytes[i] != '\n'; i++)
			if (length < LINE)
				line[length++] = bytes[i] ? bytes[i] : '?';
		while (length && (line[length - 1] == '\r' ||
				  line[length - 1] == ' '))
			length--;
		line[length] = 0;
		/* libCacheSim's headers may begin like comments. */
		if (length && (*line != '#' || trace_guess_header(line)))
			return true;
	}
	return false;
}

static bool is_text(const u8 *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < 512; i++)
		if ((bytes[i] < ' ' && (bytes[i] < '\t' || bytes[i] > '\r')) ||
		    bytes[i] == 0x7f)
			return false;
	return true;
}

/* All lines say 'r NUMBER' or 'w NUMBER', and enough numbers are negative. */
static bool is_sectors(const u8 *bytes, size_t n)
{
	const u8 *line = bytes, *end, *c;
	u32 negative = 0;

	for (; n && (end = memchr(line, '\n', n)); line = end + 1) {
		n -= end + 1 - line;
		if (*line == '#' || *line == '\n' || *line == '\r')
			continue;
		if ((*line != 'r' && *line != 'w') || line[1] != ' ')
			return false;
		c = line + 2;
		negative += *c == '-';
		for (c += *c == '-'; *c >= '0' && *c <= '9';)
			c++;
		if (*c != '\n' && *c != '\r')
			return false;
	}
	return negative >= NEGATIVE_LINES;
}

/**
 * trace_recognise() - the form of a trace
 * @bytes: that it begins with, decompressed
 * @n:     of them; TRACE_SNIFF, or all
 *
 * Return: a form; TRACE_TEXT for other text, whose reader says what it wants;
 *         TRACE_ANY for what is not text.
 */
enum trace_form trace_recognise(const u8 *bytes, size_t n)
{
	char line[LINE + 1];
	enum trace_form form;

	if (n >= 8 && !memcmp(bytes, RECORD_FILE_MAGIC, 8))
		return TRACE_RECORD;
	if (n >= 2 && bytes[0] == 0x93 && bytes[1] == 'h')
		return TRACE_BINARY;
	if (trace_is_blktrace(bytes, n))
		return TRACE_BLKTRACE;
	form = trace_guess_records(bytes, n);
	if (form)
		return form;
	if (trace_is_oracle(bytes, n))
		return TRACE_ORACLE;
	if (!first_line(bytes, n, line))
		return TRACE_TEXT;
	if (strchr("rwf", *line) && (line[1] == ' ' || line[1] == '\t'))
		return is_sectors(bytes, n) ? TRACE_SECTORS : TRACE_TEXT;
	if (!strncmp(line, "fio version ", 12))
		return TRACE_FIO;
	if (trace_is_damon(line))
		return TRACE_DAMON;
	if (trace_is_perf(line))
		return TRACE_PERF;
	if (trace_is_blkparse(line))
		return TRACE_BLKPARSE;
	if (trace_is_strace(line))
		return TRACE_STRACE;
	form = trace_guess_header(line);
	if (!form)
		form = trace_guess(bytes, n);
	return form ? form : is_text(bytes, n) ? TRACE_TEXT : TRACE_ANY;
}
