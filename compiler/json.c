// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostics for programs: an array of objects, as docs/policy/ampc.md describes it.
 * An array that is empty means that there was nothing to say.
 *
 * Interface:
 * ampc_diag_json()  print them all
 */
#include <ctype.h>

#include "ampc.h"

static const char *const rows[] = {
#define X(name, level, text) [AMPC_##name] = #name,
	AMPC_DIAGS(X)
#undef X
};

/* Bytes of the UTF-8 character at @s, 0 if it is none. */
static u32 character_bytes(const char *s)
{
	const u8 *b = (const u8 *)s;
	u32 nr, i;

	if (b[0] < 0x80)
		return 1;
	if (b[0] < 0xc2 || b[0] > 0xf4)
		return 0;
	nr = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
	for (i = 1; i < nr; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	/* Too long, a surrogate, or beyond the last character. */
	if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
	    (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
		return 0;
	return nr;
}

/* A string; bytes that are no text become the replacement character. */
static void put_string(const char *s, FILE *out)
{
	u32 nr;

	fputc('"', out);
	for (; *s; s += nr) {
		nr = character_bytes(s);
		if (!nr) {
			fputs("\\ufffd", out);
			nr = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s);
		} else if ((u8)*s < ' ' || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, nr, out);
		}
	}
	fputc('"', out);
}

/* The switch of a warning, the row of AMPC_DIAGS in the same spelling else. */
static void put_name(enum ampc_diag_id id, FILE *out)
{
	const char *s = rows[id];

	if (ampc_warn_name(id)) {
		put_string(ampc_warn_name(id), out);
		return;
	}
	fputc('"', out);
	for (; *s; s++)
		fputc(*s == '_' ? '-' : tolower((u8)*s), out);
	fputc('"', out);
}

static void put_diags(const struct ampc *c, const struct ampc_diag *d,
		      const char *indent, FILE *out)
{
	for (; d; d = d->next) {
		fprintf(out, "%s{\"file\": ", indent);
		put_string(c->source.file, out);
		fprintf(out, ", \"line\": %u, \"column\": %u", d->loc.line,
			d->loc.col);
		fprintf(out, ", \"end_line\": %u, \"end_column\": %u",
			d->loc.end_line, d->loc.end_col);
		fprintf(out, ", \"severity\": \"%s\", \"name\": ",
			ampc_level_text(d->level));
		put_name(d->id, out);
		fputs(", \"message\": ", out);
		put_string(d->text, out);
		if (d->level != AMPC_NOTE) {
			fputs(", \"notes\": [", out);
			put_diags(c, d->notes, "\n    ", out);
			fputc(']', out);
		}
		fputs(d->next ? "}," : "}", out);
	}
}

/**
 * ampc_diag_json() - print all diagnostics in source order as JSON
 * @c:   compilation
 * @out: where to
 */
void ampc_diag_json(const struct ampc *c, FILE *out)
{
	const struct ampc_diag more = {
		.id = AMPC_TOO_MANY_ERRORS,
		.level = AMPC_NOTE,
		.text = (char *)ampc_text_TOO_MANY_ERRORS,
	};

	fputc('[', out);
	put_diags(c, c->diags, "\n  ", out);
	if (c->has_more_errors)
		put_diags(c, &more, c->diags ? ",\n  " : "\n  ", out);
	fputs("\n]\n", out);
}
