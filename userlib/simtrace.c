// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text traces: one line, one run of pages. What is malformed is refused as a
 * whole, with its line. Pages are sparse; a hash table gives them ids.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "sim.h"

/* Longest word that means something; a longer one is cut, and means nothing. */
#define MAX_WORD 32

struct reader {
	FILE *in;
	struct sim_error *err;
	char word[MAX_WORD + 1];
};

static int __attribute__((format(printf, 2, 3)))
malformed(struct reader *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->err->text, sizeof(r->err->text), format, ap);
	va_end(ap);
	return -EINVAL;
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
static bool next_word(struct reader *r)
{
	size_t n = 0;
	int c;

	do
		c = getc(r->in);
	while (is_blank(c));
	for (; !ends_word(c); c = getc(r->in))
		if (n < MAX_WORD)
			r->word[n++] = c > ' ' && c <= '~' ? c : '?';
	r->word[n] = 0;
	if (c == '#')
		while (c != '\n' && c != EOF)
			c = getc(r->in);
	if (c != EOF)
		ungetc(c, r->in);
	return n;
}

/* A number in decimal or 0x hexadecimal, nothing else. */
static bool number(const char *word, u64 most, u64 *n)
{
	bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";

	word += hex ? 2 : 0;
	if (!*word || word[strspn(word, digits)] || strlen(word) > 19)
		return false;
	errno = 0;
	*n = strtoull(word, NULL, hex ? 16 : 10);
	return !errno && *n <= most;
}

/* What stands behind 'r' or 'w'. */
static int read_run(struct reader *r, bool write, struct sim_run *run)
{
	u64 pgno, nr = 1;

	if (!next_word(r))
		return malformed(r, "want a page number behind '%c'",
				 write ? 'w' : 'r');
	if (!number(r->word, UINT32_MAX, &pgno))
		return malformed(r, "want a page number, 0 to %u, not '%s'",
				 UINT32_MAX, r->word);
	if (next_word(r) && (!number(r->word, SIM_MAX_PAGES, &nr) || !nr))
		return malformed(r, "want a number of pages, 1 to %u, not '%s'",
				 SIM_MAX_PAGES, r->word);
	if (pgno + nr - 1 > UINT32_MAX)
		return malformed(r, "want no page above %u, but %llu pages start at %llu",
				 UINT32_MAX, (unsigned long long)nr,
				 (unsigned long long)pgno);
	if (*r->word && next_word(r))
		return malformed(r, "want the end of the line, not '%s'",
				 r->word);
	run->pgno = pgno;
	run->nr = nr;
	run->write = write;
	return 0;
}

static int add_run(struct sim_trace *t, struct sim_run run)
{
	if (t->nr_runs == t->max_runs) {
		size_t max = t->max_runs ? 2 * t->max_runs : 1024;
		void *more = reallocarray(t->run, max, sizeof(*t->run));

		if (!more)
			return -ENOMEM;
		t->run = more;
		t->max_runs = max;
	}
	t->run[t->nr_runs++] = run;
	t->nr_accesses += run.nr;
	return 0;
}

/* Where @pgno is in the table, or would be. */
static struct sim_page *place_of(const struct sim_trace *t, u32 pgno)
{
	u32 mask = (1u << t->bits) - 1;
	u32 i = pgno * 2654435769u >> (32 - t->bits);

	while (t->page[i].id && t->page[i].pgno != pgno)
		i = (i + 1) & mask;
	return &t->page[i];
}

/* Make the table twice as large. */
static int grow(struct sim_trace *t)
{
	struct sim_page *old = t->page;
	size_t i, n = old ? (size_t)1 << t->bits : 0;
	u32 bits = old ? t->bits + 1 : 10;
	struct sim_page *new = calloc((size_t)1 << bits, sizeof(*new));

	if (!new)
		return -ENOMEM;
	t->page = new;
	t->bits = bits;
	for (i = 0; i < n; i++)
		if (old[i].id)
			*place_of(t, old[i].pgno) = old[i];
	free(old);
	return 0;
}

static int add_page(struct sim_trace *t, u32 pgno)
{
	struct sim_page *place;

	if (!t->page || t->nr_pages >= 1u << (t->bits - 1))
		if (grow(t))
			return -ENOMEM;
	place = place_of(t, pgno);
	if (!place->id)
		*place = (struct sim_page){ pgno, ++t->nr_pages };
	return 0;
}

static int read_line(struct reader *r, struct sim_trace *t)
{
	struct sim_run run = { 0 };
	int ret;
	u32 i;

	if (!next_word(r))
		return 0;
	if (strcmp(r->word, "r") && strcmp(r->word, "w"))
		return malformed(r, "want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not '%s'",
				 r->word);
	ret = read_run(r, *r->word == 'w', &run);
	if (ret)
		return ret;
	if (t->nr_accesses + run.nr > SIM_MAX_ACCESSES)
		return malformed(r, "want at most %u accesses",
				 SIM_MAX_ACCESSES);
	for (i = 0; i < run.nr; i++) {
		if (t->nr_pages == SIM_MAX_PAGES)
			return malformed(r, "want at most %u different pages",
					 SIM_MAX_PAGES);
		ret = add_page(t, run.pgno + i);
		if (ret)
			return ret;
	}
	return add_run(t, run);
}

/**
 * sim_trace_read() - read a text trace
 * @t:    filled; sim_trace_free() it, also after an error
 * @name: for messages; must outlive @t
 * @in:   text
 * @err:  filled if it is malformed
 *
 * Context: any.
 * Return: 0; -EINVAL with @err; -ENOMEM; -EIO or what else reading gave.
 */
int sim_trace_read(struct sim_trace *t, const char *name, FILE *in,
		   struct sim_error *err)
{
	struct reader r = { .in = in, .err = err };
	int ret, c;

	*t = (struct sim_trace){ .name = name };
	*err = (struct sim_error){ 0 };
	errno = 0;
	do {
		err->line++;
		ret = read_line(&r, t);
		if (ferror(in))
			return errno ? -errno : -EIO;
		if (ret)
			return ret;
		c = getc(in);
	} while (c != EOF);
	if (ferror(in))
		return errno ? -errno : -EIO;
	if (t->nr_accesses)
		return 0;
	err->line = 0;
	return malformed(&r, "want an access, but there is none");
}

void sim_trace_free(struct sim_trace *t)
{
	free(t->run);
	free(t->page);
	free(t->next_use);
	*t = (struct sim_trace){ 0 };
}

/**
 * sim_trace_id() - number of a page, in the order of first appearance
 * @t:    trace
 * @pgno: page of the trace
 *
 * Context: any.
 * Return: from 0, less than t->nr_pages.
 */
u32 sim_trace_id(const struct sim_trace *t, u32 pgno)
{
	return place_of(t, pgno)->id - 1;
}

/**
 * sim_trace_next_uses() - note for each access when its page is wanted again
 * @t: trace
 *
 * Fills t->next_use, 4 bytes an access, once.
 *
 * Context: any.
 * Return: 0; -ENOMEM.
 */
int sim_trace_next_uses(struct sim_trace *t)
{
	u32 *next, *last, i, access = t->nr_accesses;
	size_t n;

	if (t->next_use)
		return 0;
	next = calloc(t->nr_accesses, sizeof(*next));
	last = malloc((size_t)t->nr_pages * sizeof(*last));
	if (!next || !last) {
		free(next);
		free(last);
		return -ENOMEM;
	}
	for (i = 0; i < t->nr_pages; i++)
		last[i] = SIM_NEVER;
	for (n = t->nr_runs; n--;) {
		for (i = t->run[n].nr; i--;) {
			u32 id = sim_trace_id(t, t->run[n].pgno + i);

			next[--access] = last[id];
			last[id] = access;
		}
	}
	free(last);
	t->next_use = next;
	return 0;
}
