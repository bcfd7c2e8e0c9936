// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was written, and what may be found: place.h has the rules.
 *
 * A word's count stands in it twice. The kernel may copy byte by byte, so a word that
 * is read while it is written may have bytes of both; then its two counts differ, as
 * one of them has bytes of one write only.
 */
#include <stdarg.h>

#include "place.h"

#define COUNT_BITS 24
#define COUNT ((1u << COUNT_BITS) - 1)

void wrong(const char *format, ...)
{
	va_list args;

	if (__atomic_exchange_n(&board->wrong, true, __ATOMIC_SEQ_CST))
		return;
	va_start(args, format);
	vsnprintf(board->text, sizeof(board->text), format, args);
	va_end(args);
}

void file_path(char *path, size_t size, uint32_t f)
{
	snprintf(path, size, "%s/%s", dir,
		 f == FILE_MAPPED ? "mapped" : f == FILE_DIRECT ? "direct" : "cut");
}

/* Where word @word lies in its page, in words; direct ones in sectors of their own. */
uint32_t word_at(uint32_t word)
{
	return word < NR_PROCS ? word : (word - NR_PROCS + 1) * 64;
}

/* Never 0, which is a page that was never written to. */
static uint64_t stamp(uint32_t f, uint32_t page, uint32_t word)
{
	uint32_t h = ((f * NR_PAGES + page) * NR_WORDS + word + 1) * 0x9e3779b1u;

	return (h >> 16) | 1;
}

void remember(struct before *b, uint32_t f, uint32_t page, uint32_t nr)
{
	uint32_t i, w;

	b->f = f;
	b->page = page;
	b->nr = nr;
	for (i = 0; i < nr; i++) {
		struct page_shadow *p = &board->page[f][page + i];

		b->cuts[i] = __atomic_load_n(&p->cuts, __ATOMIC_SEQ_CST);
		for (w = 0; w < NR_WORDS; w++)
			b->lo[i][w] = __atomic_load_n(&p->lo[w], __ATOMIC_SEQ_CST);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void check_word(const struct before *b, uint32_t i, uint32_t w, uint64_t got,
		       const char *where)
{
	struct page_shadow *p = &board->page[b->f][b->page + i];
	uint32_t count = got & COUNT, lo = b->lo[i][w], hi;
	bool kept;

	hi = __atomic_load_n(&p->hi[w], __ATOMIC_SEQ_CST);
	kept = !(b->cuts[i] & 1) && b->lo[i][w] >> 32 == b->cuts[i] &&
	       __atomic_load_n(&p->cuts, __ATOMIC_SEQ_CST) == b->cuts[i];
	__atomic_add_fetch(&board->words, 1, __ATOMIC_RELAXED);
	if (count != (got >> COUNT_BITS & COUNT) ||
	    (got >> 48 != stamp(b->f, b->page + i, w) && got)) {
		/* A first write, or a cut, puts bytes beside those of 0. */
		__atomic_add_fetch(&board->torn, 1, __ATOMIC_RELAXED);
		if (got >> 48 & ~stamp(b->f, b->page + i, w))
			wrong("%s: file %u page %u word %u is another's: %llx",
			      where, b->f, b->page + i, w, (unsigned long long)got);
		return;
	}
	if (count > hi)
		wrong("%s: file %u page %u word %u is %u, of the future: %u",
		      where, b->f, b->page + i, w, count, hi);
	if (kept && count < lo)
		wrong("%s: file %u page %u word %u is %u, lost: %u", where, b->f,
		      b->page + i, w, count, lo);
}

/* Page @i of what was remembered is @data. */
void check(const struct before *b, uint32_t i, const volatile uint64_t *data,
	   const char *where)
{
	uint64_t got[NR_WORDS];
	uint32_t w;

	for (w = 0; w < NR_WORDS; w++)
		got[w] = data[word_at(w)];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (w = 0; w < NR_WORDS; w++)
		check_word(b, i, w, got[w], where);
}

/* Return: the word to be written. */
uint64_t begin_write(uint32_t f, uint32_t page, uint32_t word, uint32_t *cuts)
{
	struct page_shadow *p = &board->page[f][page];
	uint64_t count;

	*cuts = __atomic_load_n(&p->cuts, __ATOMIC_SEQ_CST);
	count = __atomic_add_fetch(&p->hi[word], 1, __ATOMIC_SEQ_CST);
	return stamp(f, page, word) << 48 | count << COUNT_BITS | count;
}

/* It was written. */
void end_write(uint32_t f, uint32_t page, uint32_t word, uint64_t value,
	       uint32_t cuts)
{
	__atomic_store_n(&board->page[f][page].lo[word],
			 (uint64_t)cuts << 32 | (value & COUNT), __ATOMIC_SEQ_CST);
}

/* @fn takes these pages away. The caller is the only one that does. */
void cut(uint32_t f, uint32_t page, uint32_t nr, int (*fn)(uint32_t page, uint32_t nr))
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		__atomic_add_fetch(&board->page[f][page + i].cuts, 1, __ATOMIC_SEQ_CST);
	if (fn(page, nr))
		wrong("page %u cannot be cut: %s", page, strerror(errno));
	for (i = 0; i < nr; i++)
		__atomic_add_fetch(&board->page[f][page + i].cuts, 1, __ATOMIC_SEQ_CST);
}
