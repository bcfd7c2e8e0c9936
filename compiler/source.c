// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source text: read whole, refused when it is no text, cut into lines.
 *
 * Interface:
 * ampc_source_read()   file -> c->source
 * ampc_source_set()    text -> c->source
 * ampc_source_line()   one line, for diagnostics and listings
 * ampc_source_quote()  the user's own words at a place
 * ampc_loc_span()      from the start of one place to the end of another
 */
#include <errno.h>

#include "ampc.h"

static void cut_lines(struct ampc *c)
{
	struct ampc_source *src = &c->source;
	u32 max = 0;
	char *s, *end = src->text + src->size;

	for (s = src->text; s < end; s++) {
		src->line = ampc_grow(c, src->line, src->nr_lines, &max,
				      sizeof(*src->line));
		src->line[src->nr_lines++] = s;
		s = memchr(s, '\n', end - s);
		if (!s)
			break;
	}
}

/* The listing of a policy is longer than its source. */
static u32 max_size(const struct ampc *c)
{
	return c->is_assembler ? AMPC_MAX_LISTING : AMPC_MAX_SOURCE;
}

static int check_text(struct ampc *c)
{
	struct ampc_source *src = &c->source;
	struct ampc_loc loc = { 0 };
	const char *zero;

	if (!src->size) {
		ampc_report(c, loc, FILE_EMPTY);
		return -EINVAL;
	}
	if (src->size > max_size(c)) {
		ampc_report(c, loc, FILE_LARGE, max_size(c));
		return -EFBIG;
	}
	zero = memchr(src->text, 0, src->size);
	if (zero) {
		ampc_report(c, loc, FILE_BINARY);
		return -EINVAL;
	}
	return 0;
}

/**
 * ampc_source_set() - take a text as the source
 * @c:    compilation without a source
 * @text: text with room for a zero byte behind it; must outlive @c
 * @size: bytes of it
 *
 * Return: 0; -errno, reported, when it is no text to compile.
 */
int ampc_source_set(struct ampc *c, char *text, size_t size)
{
	int ret;

	c->source.text = text;
	c->source.size = size;
	text[size] = 0;
	ret = check_text(c);
	if (ret)
		return ret;
	cut_lines(c);
	return 0;
}

/**
 * ampc_source_read() - read a source file
 * @c:    compilation without a source
 * @file: path, or "-" for standard input
 *
 * Return: 0; -errno, reported, when there is no text to compile.
 */
int ampc_source_read(struct ampc *c, const char *file)
{
	/* One byte more than may be tells a file that is too large. */
	const size_t max = max_size(c) + 1;
	bool is_stdin = !strcmp(file, "-");
	char *text = ampc_alloc(c, max + 1);
	size_t size = 0;
	FILE *in = stdin;
	int err = 0;

	if (is_stdin)
		c->source.file = "<stdin>";
	else
		in = fopen(file, "r");
	if (in)
		size = fread(text, 1, max, in);
	if (!in || ferror(in))
		err = errno;
	if (in && !is_stdin)
		fclose(in);
	if (err) {
		ampc_report(c, (struct ampc_loc){ 0 }, CANNOT_READ,
			    strerror(err));
		return -err;
	}
	return ampc_source_set(c, text, size);
}

/**
 * ampc_source_line() - one line of the source
 * @c:    compilation
 * @line: number from 1
 * @len:  gets its length in bytes, without the line end
 *
 * Return: its start, not ended by a zero; NULL if there is no such line.
 */
const char *ampc_source_line(const struct ampc *c, u32 line, size_t *len)
{
	const struct ampc_source *src = &c->source;
	const char *s, *end;

	if (!line || line > src->nr_lines)
		return NULL;
	s = src->line[line - 1];
	end = line < src->nr_lines ? src->line[line] : src->text + src->size;
	while (end > s && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	*len = end - s;
	return s;
}

/* From the start of @from to the end of @to. */
struct ampc_loc ampc_loc_span(struct ampc_loc from, struct ampc_loc to)
{
	from.end_line = to.end_line;
	from.end_col = to.end_col;
	return from;
}

/* The text at @loc, which is on one line, cut where it gets long. */
char *ampc_source_quote(struct ampc *c, struct ampc_loc loc)
{
	const size_t max = 40;
	size_t len, n;
	const char *s = ampc_source_line(c, loc.line, &len);

	if (!s || loc.end_line != loc.line || loc.end_col > len + 1)
		return ampc_strndup(c, "", 0);
	n = loc.end_col - loc.col;
	if (n <= max)
		return ampc_strndup(c, s + loc.col - 1, n);
	return ampc_printf(c, "%.*s...", (int)max, s + loc.col - 1);
}
