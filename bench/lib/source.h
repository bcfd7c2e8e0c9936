/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a benchmark's pages come from: the page cache, by a shared mapping with some
 * advice or by read(); the same under a policy, in place; or a hipec region. The
 * programs read them the same way.
 */
#ifndef HIPEC_BENCH_SOURCE_H
#define HIPEC_BENCH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES 4096
#define TUPLE_BYTES 64
#define TUPLES_PER_PAGE (PAGE_BYTES / TUPLE_BYTES)

struct options {
	const char *policy;	/* .hpo; "none"; or NULL for the page cache */
	const char *advice;	/* none, random, sequential, willneed */
	const char *disk;	/* whose statistics to read, or NULL */
	uint64_t frames;
	uint32_t cluster;
	uint64_t passes;	/* or lookups */
	uint64_t rate;		/* KB/s at most, 0: no limit */
	bool write;
	bool share;		/* frames of the pool: not its own */
	bool in_place;		/* no frames: the page cache's folios */
	bool read;		/* by read(), 64 KB at a time: source_page() */
};

struct source {
	unsigned char *base;	/* of its map; by read(), of the pages read last */
	uint64_t bytes;
	int container;		/* -1: the page cache */
	int region;
	int file;		/* by read(); -1 */
	uint64_t first;		/* of the pages read last */
	uint64_t address;	/* where it starts in the container, bytes */
};

/* What the data file holds at tuple @i; mkdata writes it, readers check it. */
struct tuple {
	uint64_t key;
	uint64_t check;		/* ~key ^ index */
	uint64_t filler[6];
};

static inline uint64_t tuple_key(uint64_t i)
{
	/* A permutation of 20 bits: joins match now and then. */
	return (i * 0x9e3779b97f4a7c15u >> 24) & 0xfffff;
}

void die(const char *what);
void parse_options(struct options *o, int argc, char **argv,
		   const char *usage, int nr_files);
void source_open(struct source *s, const struct options *o, const char *path,
		 uint64_t frames);
/* One more file, in the container of @first. */
void source_open_in(struct source *s, const struct options *o, const char *path,
		    const struct source *first);
void source_close(struct source *s);

/* By read(): have page @page where source_page() finds it. */
void source_fill(struct source *s, uint64_t page);

#define READ_PAGES 16

/* A page; by read(), valid until another is wanted. */
static inline void *source_page(struct source *s, uint64_t page)
{
	if (s->file < 0)
		return s->base + page * PAGE_BYTES;
	if (page - s->first >= READ_PAGES)
		source_fill(s, page);
	return s->base + (page - s->first) * PAGE_BYTES;
}

/*
 * After so many pages: sleep until they are due at o->rate, from the first call on.
 * Returns by how many nanoseconds they came too late.
 */
uint64_t pace(const struct options *o, uint64_t pages);

/*
 * The measured part: begin, open, work, end; end prints one line of name=value.
 * Opening is part of it, since hipec gets its frames there and the page cache
 * gets them page by page. A mark says in that line how far things were after
 * @n passes or lookups.
 */
#define MOST_MARKS 8
void measure_begin(const struct options *o);
void measure_mark(const struct options *o, const struct source *s, uint64_t n);
void measure_end(const struct options *o, const struct source *s,
		 const char *name);

#endif /* HIPEC_BENCH_SOURCE_H */
