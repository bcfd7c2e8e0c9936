// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every word of every file may be, and looking at it: see stress.h.
 *
 * A page's @cuts tells apart what was written before its last cut. It is odd
 * from before the cut until after it: who stores meanwhile does not know whether
 * that lasts. A @lo counts only as long as the cuts that stand with it are those
 * of the page.
 */
#define _GNU_SOURCE
#include <stdarg.h>

#include "stress.h"

static uint32_t load32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

/* The first to find something wrong says it; the run ends. */
void wrong(const char *format, ...)
{
	va_list args;

	if (__atomic_test_and_set(&board->wrong, __ATOMIC_SEQ_CST))
		return;
	va_start(args, format);
	vsnprintf(board->text, sizeof(board->text), format, args);
	va_end(args);
}

static uint32_t stamp(uint32_t s, uint32_t page, uint32_t w)
{
	uint64_t x = (s << 16 | page << 5 | w) + 1;

	x *= 0x9e3779b97f4a7c15ull;
	return x >> 32 | 1;
}

uint64_t word_value(uint32_t s, uint32_t page, uint32_t w, uint32_t count)
{
	return (uint64_t)stamp(s, page, w) << 32 | count;
}

/* The least count that the word must have now; 0: it may be gone. */
uint32_t shadow_lo(uint32_t s, uint32_t page, uint32_t w)
{
	struct page_shadow *p = &board->slot[s].page[page];
	uint64_t lo = __atomic_load_n(&p->lo[w], __ATOMIC_SEQ_CST);

	return lo >> 32 == load32(&p->cuts) ? (uint32_t)lo : 0;
}

/* Before the store of a word. Return: the count to store. */
uint32_t shadow_begin(uint32_t s, uint32_t page, uint32_t w, uint32_t *cuts)
{
	struct page_shadow *p = &board->slot[s].page[page];
	uint32_t count = p->hi[w] + 1;

	*cuts = load32(&p->cuts);
	__atomic_store_n(&p->hi[w], count, __ATOMIC_SEQ_CST);
	return count;
}

/* After it. */
void shadow_end(uint32_t s, uint32_t page, uint32_t w, uint32_t count,
		uint32_t cuts)
{
	struct page_shadow *p = &board->slot[s].page[page];

	if (!(cuts & 1))
		__atomic_store_n(&p->lo[w], (uint64_t)cuts << 32 | count,
				 __ATOMIC_SEQ_CST);
}

/* @lo and @cuts as they were before the word was read. */
void check_word(uint32_t s, uint32_t page, uint32_t w, uint64_t got,
		uint32_t lo, uint32_t cuts, const char *where)
{
	struct page_shadow *p = &board->slot[s].page[page];
	uint32_t count = got, hi = load32(&p->hi[w]);
	bool was_cut = cuts & 1 || load32(&p->cuts) != cuts;

	if (!got ? lo && !was_cut :
	    got >> 32 != stamp(s, page, w) || count > hi ||
	    (count < lo && !was_cut))
		wrong("%s: slot %u page %u writer %u: found %016llx (count %u), want stamp %08x and %u to %u; cuts %u then, %u now",
		      where, s, page, w, (unsigned long long)got, count,
		      stamp(s, page, w), lo, hi, cuts, load32(&p->cuts));
}

/* All words of a page, one by one, of memory that may change meanwhile. */
void check_page(uint32_t s, uint32_t page, const volatile uint64_t *data,
		const char *where)
{
	uint32_t w, cuts, lo;

	for (w = 0; w < NR_WRITERS; w++) {
		cuts = load32(&board->slot[s].page[page].cuts);
		lo = shadow_lo(s, page, w);
		check_word(s, page, w, data[WORD_OF(w)], lo, cuts, where);
	}
	if (data[WORD_OF(3) + 9] || data[WORD_PRIVATE - 3])
		wrong("%s: slot %u page %u has a word that nobody wrote",
		      where, s, page);
}

/* The word of writer @w alone, of a copy that the kernel made in one go. */
void check_own(uint32_t s, uint32_t page, const uint64_t *data, uint32_t w,
	       uint32_t lo, uint32_t cuts, const char *where)
{
	check_word(s, page, w, data[WORD_OF(w)], lo, cuts, where);
}

/* A whole file that nobody writes to, through the page cache or past it. */
void check_file(uint32_t s, int fd, bool direct, const char *where)
{
	static uint64_t data[PAGE_BYTES / 8] __attribute__((aligned(4096)));
	uint32_t page, i, w;
	ssize_t n;

	for (page = 0; page < NR_PAGES; page++) {
		n = pread(fd, data, PAGE_BYTES, page * PAGE_BYTES);
		if (n != (ssize_t)PAGE_BYTES) {
			wrong("%s: slot %u page %u: read %zd, errno %d%s", where,
			      s, page, n, errno, direct ? ", direct" : "");
			return;
		}
		check_page(s, page, data, where);
		for (w = 0; w < NR_WRITERS; w++)
			data[WORD_OF(w)] = 0;
		for (i = 0; i < PAGE_BYTES / 8; i++)
			if (data[i])
				wrong("%s: slot %u page %u word %u is %016llx, which nobody wrote there",
				      where, s, page, i,
				      (unsigned long long)data[i]);
		__atomic_add_fetch(&board->words, 1, __ATOMIC_RELAXED);
	}
}
