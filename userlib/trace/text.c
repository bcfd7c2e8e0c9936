// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text, one line for a run of pages, and lines that only look like it: sectors,
 * as an earlier collector of traces wrote them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "reader.h"

#define SECTORS_PER_PAGE (TRACE_PAGE_BYTES / TRACE_SECTOR_BYTES)

/* A word that says more of the access: h=HINT or c=CONTEXT. */
static int read_tag(struct trace_in *r, struct trace_tag *tag, char *seen)
{
	bool hint = *r->word == 'h';
	u64 n;

	if (*seen & (hint ? 1 : 2))
		return trace_malformed(r, "want one %c= in a line", *r->word);
	*seen |= hint ? 1 : 2;
	if (hint) {
		if (!trace_number(r->word + 2, UINT32_MAX, &n))
			return trace_malformed(r, "want a hint, 0 to %u, not '%s'",
					       UINT32_MAX, r->word + 2);
		tag->hint = n;
		return 0;
	}
	n = strspn(r->word + 2, "0123456789abcdefABCDEF");
	if (!n || n > 16 || r->word[2 + n])
		return trace_malformed(r, "want a context of 1 to 16 hexadecimal digits, not '%s'",
				       r->word + 2);
	tag->context = strtoull(r->word + 2, NULL, 16);
	return 0;
}

/* What stands behind the page. */
static int read_rest(struct trace_in *r, u64 *nr, struct trace_tag *tag)
{
	bool any = false;
	char seen = 0;
	int ret;

	while (trace_next_word(r)) {
		if ((*r->word == 'h' || *r->word == 'c') && r->word[1] == '=') {
			ret = read_tag(r, tag, &seen);
			if (ret)
				return ret;
		} else if (any || seen) {
			return trace_malformed(r, "want the end of the line, not '%s'",
					       r->word);
		} else if (!trace_number(r->word, SIM_MAX_PAGES, nr) || !*nr) {
			return trace_malformed(r, "want a number of pages, 1 to %u, not '%s'",
					       SIM_MAX_PAGES, r->word);
		}
		any = true;
	}
	return 0;
}

/* What stands behind 'r' or 'w'. */
static int read_run(struct trace_in *r, struct trace *t, bool write)
{
	struct trace_tag tag = { 0 };
	struct trace_run run;
	u64 pgno, nr = 1;
	int ret;

	if (!trace_next_word(r))
		return trace_malformed(r, "want a page number behind '%c'",
				       write ? 'w' : 'r');
	if (!trace_number(r->word, UINT32_MAX, &pgno))
		return trace_malformed(r, "want a page number, 0 to %u, not '%s'",
				       UINT32_MAX, r->word);
	ret = read_rest(r, &nr, &tag);
	if (ret)
		return ret;
	if (pgno + nr - 1 > UINT32_MAX)
		return trace_malformed(r, "want no page above %u, but %llu pages start at %llu",
				       UINT32_MAX, (unsigned long long)nr,
				       (unsigned long long)pgno);
	run = (struct trace_run){ pgno, nr, write };
	return trace_add(r, t, &run, &tag);
}

/* f PAGE COUNT NAME: the name is the rest of the line, whatever it holds. */
static int read_region(struct trace_in *r, struct trace *t)
{
	char name[TRACE_MAX_NAME + 1];
	u64 first, nr;
	size_t n = 0;
	int c;

	if (!trace_next_word(r) || !trace_number(r->word, UINT32_MAX, &first))
		return trace_malformed(r, "want 'f PAGE COUNT NAME', a page number and not '%s'",
				       r->word);
	if (!trace_next_word(r) ||
	    !trace_number(r->word, (u64)UINT32_MAX + 1, &nr))
		return trace_malformed(r, "want 'f PAGE COUNT NAME', a number of pages and not '%s'",
				       r->word);
	for (c = trace_getc(r); c != '\n' && c != EOF; c = trace_getc(r)) {
		if (!n && (c == ' ' || c == '\t'))
			continue;
		if (n > TRACE_MAX_NAME - 1)
			return trace_malformed(r, "want a region's name of 1 to %u bytes",
					       TRACE_MAX_NAME);
		name[n++] = c >= ' ' && c <= '~' ? c : c == '\r' ? ' ' : '?';
	}
	trace_ungetc(r, c);
	while (n && name[n - 1] == ' ')
		n--;
	return trace_add_region(r, t, first, nr, name, n);
}

static int read_line(struct trace_in *r, struct trace *t)
{
	if (!trace_next_word(r))
		return 0;
	if (!strcmp(r->word, "f"))
		return read_region(r, t);
	if (strcmp(r->word, "r") && strcmp(r->word, "w"))
		return trace_malformed(r, "want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not '%s'",
				       r->word);
	return read_run(r, t, *r->word == 'w');
}

int trace_read_text(struct trace_in *r, struct trace *t)
{
	int ret;

	do {
		r->err->line++;
		ret = read_line(r, t);
		if (ret)
			return ret;
	} while (trace_getc(r) != EOF);
	return r->error;
}

int trace_write_text(struct trace *t, FILE *out)
{
	size_t i;

	for (i = 0; i < t->nr_regions; i++)
		fprintf(out, "f %u %llu %s\n", t->region[i].pgno,
			t->region[i].nr ? (unsigned long long)t->region[i].nr :
			(unsigned long long)UINT32_MAX + 1, t->region[i].name);
	for (i = 0; i < t->nr_runs; i++) {
		const struct trace_run *run = &t->run[i];
		struct trace_tag tag = trace_tag(t, i);

		fprintf(out, "%c %u", run->write ? 'w' : 'r', run->pgno);
		if (run->nr != 1)
			fprintf(out, " %u", run->nr);
		if (tag.hint)
			fprintf(out, " h=%u", tag.hint);
		if (tag.context)
			fprintf(out, " c=%llx", (unsigned long long)tag.context);
		putc('\n', out);
	}
	return 0;
}

/*
 * The page of a sector, as the thesis's simulator has it: in signed arithmetic
 * that truncates, so that sector -1, of which nobody knew where it was, is in
 * page 0.
 */
static int read_sector(struct trace_in *r, struct trace *t, u64 *nowhere)
{
	const u64 most = ((u64)UINT32_MAX + 1) * SECTORS_PER_PAGE - 1;
	bool negative = r->line[2] == '-';
	const char *word = r->line + 2 + negative;
	struct trace_run run = { .nr = 1, .write = *r->line == 'w' };
	u64 sector;

	if (*word < '0' || *word > '9' || word[1] == 'x' ||
	    !trace_number(word, negative ? SECTORS_PER_PAGE - 1 : most,
			  &sector))
		return trace_malformed(r, "want a sector, -%d to %llu, not '%s'",
				       SECTORS_PER_PAGE - 1,
				       (unsigned long long)most,
				       trace_quote(r, r->line + 2));
	*nowhere += negative;
	run.pgno = negative ? 0 : sector / SECTORS_PER_PAGE;
	return trace_add(r, t, &run, NULL);
}

/* Lines that are neither reads nor writes mean nothing, whatever they are. */
int trace_read_sectors(struct trace_in *r, struct trace *t)
{
	u64 nowhere = 0, skipped = 0;
	int ret;

	while ((ret = trace_next_line(r)) > 0) {
		if ((*r->line == 'r' || *r->line == 'w') && r->line[1] == ' ')
			ret = read_sector(r, t, &nowhere);
		else
			skipped += *r->line && *r->line != '#';
		if (ret < 0)
			return ret;
	}
	if (!ret && nowhere)
		ret = trace_note(t, "%" PRIu64 " accesses to negative sectors are accesses to page 0",
				 nowhere);
	if (!ret && skipped)
		ret = trace_note(t, "%" PRIu64 " lines are neither 'r ' nor 'w ', and were skipped",
				 skipped);
	return ret;
}

/* The first sector of each page. */
int trace_write_sectors(struct trace *t, FILE *out)
{
	size_t i;
	u32 j;

	for (i = 0; i < t->nr_runs; i++)
		for (j = 0; j < t->run[i].nr; j++)
			fprintf(out, "%c %llu\n", t->run[i].write ? 'w' : 'r',
				((unsigned long long)t->run[i].pgno + j) *
				SECTORS_PER_PAGE);
	return 0;
}
