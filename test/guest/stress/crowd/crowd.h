/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec-crowd: hundreds of containers share out thousands of small files, in place; many
 * threads use the files, and every write is accounted for.
 *
 * Each file has one thread that writes to it; all threads read it. A page is one word 512
 * times: a stamp of file and page, and a version that only rises. In memory that all
 * processes share, each page has two versions: @hi is raised before a write, @lo after it.
 * Whoever reads a page finds
 *
 *	lo, as read before the page <= version <= hi, as read after it
 *
 * in all 512 words. Where lo and hi differ, the page may have been written meanwhile and
 * have words of several versions; or its writer was killed, and the page has one or the other.
 */
#ifndef HIPEC_CROWD_H
#define HIPEC_CROWD_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../../userlib/lib/hipec.h"
#include "../policies.h"

#define PAGE_BYTES 4096ul
#define PAGE_WORDS (PAGE_BYTES / sizeof(uint64_t))
#define MOST_PAGES 8u		/* of a file */
#define IN_A_FOLDER 1000u
#define MAX_PROCESSES 64u
#define MAX_THREADS 256u	/* of all processes */

#define CGROUP "/sys/fs/cgroup/crowd/"

/* What the parent does meanwhile. */
#define CROWD_ACTS(X)                                                        \
	X(swap) X(replace) X(join) X(revoke) X(release) X(inject) X(kill) \
	X(drop_caches) X(squeeze) X(syncfs)

enum {
#define X(name) ACT_##name,
	CROWD_ACTS(X)
#undef X
	NR_ACTS
};

/* Times of pread(), in ns: 16 steps for each power of two, up to 18 minutes. */
#define STEPS 16u
#define NR_STEPS (37u * STEPS)

struct thread {
	uint32_t tid;
	uint32_t file;			/* that it uses now */
	uint64_t done;			/* operations */
	uint64_t reads, maps, writes;	/* pages */
	uint64_t checks, torn;		/* pages; of these, read while they were written */
	uint64_t slowest;		/* ns */
	uint64_t took[NR_STEPS];
};

struct page_shadow {
	uint32_t lo, hi;
};

/* Shared by all. */
struct board {
	uint64_t seed;
	uint32_t containers, files, processes;
	uint32_t threads;		/* of all processes */
	bool plain, inject;
	bool up[MAX_PROCESSES];		/* it holds no container, and begins */
	bool stop;
	bool wrong;
	char text[400];			/* what is wrong */
	uint64_t acts[NR_ACTS];
	struct thread thread[MAX_THREADS];
	struct page_shadow page[];	/* MOST_PAGES for each file */
};

extern struct board *board;
extern const char *dir;			/* where the files are */

/* worker.c */
uint32_t pages_of(uint32_t f);
void file_path(char *path, size_t size, uint32_t f);
void fill_page(uint64_t *data, uint32_t f, uint32_t page, uint32_t version);
bool check_file(uint32_t f, struct thread *t, const char *where);
void work(uint32_t process) __attribute__((noreturn));

/* keeper.c */
uint64_t now_ns(void);
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
void keep(uint64_t seconds);

#endif /* HIPEC_CROWD_H */
