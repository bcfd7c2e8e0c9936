/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec-place-stress: 6 processes use files that are taken, in place, in every way at
 * once, and every write is accounted for.
 *
 * A page of the shared files has two words for each process, one for its writes
 * through the page cache, one in a sector of its own for its direct writes: a stamp
 * of file, page and word, and a count that only rises. Beside it, in memory that all
 * share, stand two counts: @hi is raised before the store, @lo after it. So at any
 * time, by whatever way somebody looks,
 *
 *	lo, as read before the word <= count <= hi, as read after it
 *
 * Only what is behind the place where a file was cut, or where a hole was punched,
 * may be lost, and then @lo starts again from 0. Each process has a file of its own,
 * too, that it appends to, whose bytes it knows.
 *
 * Maps and direct writes do not go together on the same pages, with hipec or without:
 * so one file is written to by maps, and another by direct writes.
 */
#ifndef HIPEC_PLACE_H
#define HIPEC_PLACE_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../../userlib/lib/hipec.h"
#include "../parent.h"
#include "../policies.h"

#define PAGE_BYTES 4096ul
#define NR_FILES 3
#define NR_PROCS 6
#define NR_WORDS (2 * NR_PROCS)
#define NR_PAGES 512u		/* of a file */
#define CUT_FIRST 128u		/* no page before it is ever cut */
#define MOST 16u		/* pages that an operation looks at */
#define NO_PAGE NR_PAGES

enum { FILE_MAPPED, FILE_DIRECT, FILE_CUT };

#define CGROUP "/sys/fs/cgroup/place/"

/* Operations: name, how often. Return: whether it worked. */
#define PLACE_OPS(X)                                                          \
	X(read, 60) X(read_map, 50) X(write, 40) X(write_map, 30)             \
	X(read_direct, 6) X(write_direct, 8) X(splice, 8) X(hold, 4)          \
	X(sendfile, 6) X(ring_read, 8) X(ring_write, 4) X(append, 14)         \
	X(append_read, 10) X(append_new, 1) X(dontneed, 5) X(advise, 4)       \
	X(madvise, 4) X(lock, 5) X(unlock, 3) X(fork, 2) X(sync, 2) X(msync, 3) \
	X(remap, 3) X(private, 3) X(cut, 2) X(punch, 3) X(copy, 3)

enum {
#define X(name, often) OP_##name,
	PLACE_OPS(X)
#undef X
	NR_OPS
};

#define X(name, often) bool op_##name(void);
PLACE_OPS(X)
#undef X

/* What the parent does meanwhile. */
#define PLACE_ACTS(X)                                                        \
	X(load) X(end) X(take) X(release) X(release_all) X(swap) X(join) X(revoke) \
	X(drop_caches) X(squeeze) X(freeze) X(syncfs)

enum {
#define X(name) ACT_##name,
	PLACE_ACTS(X)
#undef X
	NR_ACTS
};

struct page_shadow {
	uint32_t cuts;			/* odd: it may be cut just now */
	uint32_t hi[NR_WORDS];
	uint64_t lo[NR_WORDS];		/* in the upper half, cuts */
};

/* Shared by all. */
struct board {
	uint64_t seed;
	bool stop;
	bool wrong;
	bool cutting;			/* one of them, a file */
	char text[400];			/* what is wrong */
	uint64_t ops;
	uint64_t tried[NR_OPS], worked[NR_OPS], acts[NR_ACTS];
	uint64_t words;			/* looked at */
	uint64_t torn;			/* of these, read while they were written */
	uint64_t done[NR_PROCS];	/* operations */
	uint32_t doing[NR_PROCS];
	struct page_shadow page[NR_FILES][NR_PAGES];
};

extern struct board *board;
extern const char *dir;			/* where the files are */
extern const char *take_dir;		/* where they are taken: below an overlay */
extern const char *const op_name[NR_OPS];

/* What a page has to have, as it was before somebody looked. */
struct before {
	uint32_t f, page, nr;
	uint32_t cuts[MOST];
	uint64_t lo[MOST][NR_WORDS];
};

/* shadow.c */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
void remember(struct before *b, uint32_t f, uint32_t page, uint32_t nr);
void check(const struct before *b, uint32_t i, const volatile uint64_t *data,
	   const char *where);
uint32_t word_at(uint32_t word);
uint64_t begin_write(uint32_t f, uint32_t page, uint32_t word, uint32_t *cuts);
void end_write(uint32_t f, uint32_t page, uint32_t word, uint64_t value,
	       uint32_t cuts);
void cut(uint32_t f, uint32_t page, uint32_t nr, int (*fn)(uint32_t page, uint32_t nr));
void file_path(char *path, size_t size, uint32_t f);

/* worker.c */
extern struct fuzz_rng rng;
extern uint32_t self;
extern int file[NR_FILES], direct[NR_FILES];
extern unsigned char *map[NR_FILES], *buffer;
uint32_t below(uint32_t n);
void work(uint32_t proc) __attribute__((noreturn));
bool guarded(void (*fn)(void));

/* io.c */
void ring_open(void);
void append_open(void);

/* keeper.c */
int keep(uint64_t seconds, bool plain);

#endif /* HIPEC_PLACE_H */
