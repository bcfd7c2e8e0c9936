// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostics for people: each with its line of the source and a caret below it.
 * json.c prints them for programs.
 *
 * Interface:
 * ampc_diag_print()  print them all
 */
#include "ampc.h"

struct colours {
	const char *bold, *level[3], *caret, *off;
};

static const struct colours no_colours = {
	.bold = "", .level = { "", "", "" }, .caret = "", .off = "",
};

static const struct colours tty_colours = {
	.bold = "\033[1m",
	.level = {
		[AMPC_ERROR] = "\033[1;31m",
		[AMPC_WARNING] = "\033[1;35m",
		[AMPC_NOTE] = "\033[1;36m",
	},
	.caret = "\033[1;32m",
	.off = "\033[0m",
};

static bool is_continuation(char ch)
{
	return ((u8)ch & 0xc0) == 0x80;	/* inside a UTF-8 character */
}

/*
 * The line and the carets below it. What stands before the caret is repeated
 * as blanks, a tab as a tab, so that both lines shift alike at any tab width.
 * Of a long line only the surroundings of the caret are shown.
 */
static void print_excerpt(const struct ampc *c, const struct ampc_loc *loc,
			  const struct colours *col, FILE *out)
{
	const size_t before = 80, width = 160;
	size_t len, i, first = 0, caret = loc->col - 1, end;
	const char *s = ampc_source_line(c, loc->line, &len);

	if (!s || caret > len)
		return;
	end = loc->end_line == loc->line ? loc->end_col - 1 : len;
	if (caret > width)
		first = caret - before;
	while (first && is_continuation(s[first]))
		first--;
	if (len > first + width)
		len = first + width;
	if (end > len)
		end = len;

	fprintf(out, "%5u | ", loc->line);
	for (i = first; i < len; i++)
		fputc((u8)s[i] < ' ' && s[i] != '\t' ? '?' : s[i], out);
	fprintf(out, "\n      | ");
	for (i = first; i < caret; i++)
		if (i >= len || !is_continuation(s[i]))
			fputc(i < len && s[i] == '\t' ? '\t' : ' ', out);
	fprintf(out, "%s^", col->caret);
	for (i = caret + 1; i < end; i++)
		if (!is_continuation(s[i]))
			fputc('~', out);
	fprintf(out, "%s\n", col->off);
}

/* The switch of a warning, so that it can be turned off. */
static void print_switch(const struct ampc_diag *d, FILE *out)
{
	if (ampc_warn_name(d->id))
		fprintf(out, " [-W%s%s]", d->level == AMPC_ERROR ? "error=" : "",
			ampc_warn_name(d->id));
}

static void print_one(const struct ampc *c, const struct ampc_diag *d,
		      const struct colours *col, FILE *out)
{
	fprintf(out, "%s%s:", col->bold, c->source.file);
	if (d->loc.line)
		fprintf(out, "%u:%u:", d->loc.line, d->loc.col);
	fprintf(out, "%s %s%s:%s %s%s%s", col->off, col->level[d->level],
		ampc_level_text(d->level), col->off, col->bold, d->text,
		col->off);
	print_switch(d, out);
	fputc('\n', out);
}

static bool is_same_place(const struct ampc_loc *a, const struct ampc_loc *b)
{
	return a->line == b->line && a->col == b->col;
}

/**
 * ampc_diag_print() - print all diagnostics in source order
 * @c:      compilation
 * @out:    where to
 * @colour: whether @out is a terminal that shows colours
 */
void ampc_diag_print(const struct ampc *c, FILE *out, bool colour)
{
	const struct colours *col = colour ? &tty_colours : &no_colours;
	const struct ampc_diag more = {
		.id = AMPC_TOO_MANY_ERRORS,
		.level = AMPC_NOTE,
		.text = (char *)ampc_text_TOO_MANY_ERRORS,
	};
	const struct ampc_diag *d, *note;

	for (d = c->diags; d; d = d->next) {
		print_one(c, d, col, out);
		print_excerpt(c, &d->loc, col, out);
		for (note = d->notes; note; note = note->next) {
			print_one(c, note, col, out);
			if (!is_same_place(&note->loc, &d->loc))
				print_excerpt(c, &note->loc, col, out);
		}
	}
	if (c->has_more_errors)
		print_one(c, &more, col, out);
}
