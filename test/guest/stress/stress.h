/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec-stress: 4 processes with 2 threads each use 3 containers in every way at
 * once, and every write is accounted for.
 *
 * Each page of each backing file has a word for each writer: a stamp of file,
 * page and writer, and a count that only rises. Beside it, in memory that all
 * share, stand two counts: @hi is raised before the store, @lo after it. So at
 * any time, whoever looks and wherever,
 *
 *	lo, as read before the word <= count <= hi, as read after it
 *
 * and a word never has another's stamp. That holds for memory at any time, and
 * for the disk (read past the page cache) of what @lo was before an msync() or
 * fsync() that returned 0, or before a container closed without an error.
 *
 * What may be lost, and then @lo starts again from 0:
 * - pages behind the place where the file was cut, or a hole was punched;
 * - pages of a container at whose end fsync() or close() returned an error.
 * SIGBUS is counted, and is wrong where nothing was cut and no error injected.
 *
 * Names: @s a slot (a place for a container), @w a writer, @page one of a slot's
 * file. All counts of memory are in pages of 4096 bytes.
 */
#ifndef HIPEC_STRESS_H
#define HIPEC_STRESS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../userlib/lib/hipec.h"
#include "../../vm/fuzz/mutate.h"
#include "policies.h"

#define PAGE_BYTES 4096ul
#define NR_SLOTS 3
#define NR_PROCS 4
#define NR_THREADS 8		/* of all processes */
#define NR_WRITERS (2 * NR_THREADS + 1)	/* threads, their children, the disk */
#define WRITER_DISK (NR_WRITERS - 1)
#define NR_PAGES 256		/* of a slot's file */
#define NR_REGIONS 2
#define REGION_FIRST 160	/* page of the second region */
#define NR_SPOTS 6		/* mappings of a thread */
#define CUT_FIRST 128		/* no page before it is ever cut */
#define OTHER_PAGES 48		/* of a file that is only read */
#define SPOT_BYTES (NR_PAGES * PAGE_BYTES)

/* Where the word of writer @w lies in its page: in each sector but the last. */
#define WORD_OF(w) ((w) == WRITER_DISK ? 448u : (w) * 28u)
/* A word that private copies alone may have. */
#define WORD_PRIVATE 510u

/* The last process lives in a memory cgroup that gets wider and narrower. */
#define CGROUP "/sys/fs/cgroup/stress/"
#define SQUEEZED (NR_PROCS - 1)

/* Which containers there are: what their slots are good for. */
enum { SLOT_OWN, SLOT_BAD, SLOT_GOOD };	/* is cut; has bad blocks; neither */

/* Operations of threads: name, how often. Return: 0 or more, or -errno. */
#define STRESS_OPS(X)                                                        \
	X(map, 14) X(map_private, 6) X(unmap, 3) X(unmap_part, 4) X(move, 4)  \
	X(grow, 1) X(protect, 3) X(advise, 9) X(lock, 3) X(unlock, 2)         \
	X(write, 60) X(read, 40) X(sweep, 12) X(sweep_write, 8) X(copy_in, 8) \
	X(copy_out, 6) X(disk_in, 8) X(disk_out, 5) X(pin, 4) X(unpin, 4)     \
	X(sync, 4) X(sync_async, 2) X(fsync, 2) X(reopen, 1) X(cached, 3)     \
	X(fork, 2) X(load_other, 1)

enum op {
#define X(name, often) OP_##name,
	STRESS_OPS(X)
#undef X
	NR_OPS,
};

#define X(name, often) int op_##name(void);
STRESS_OPS(X)
#undef X

/* What the keeper does, for the report. */
#define KEEPER_ACTS(X)                                                       \
	X(swap) X(policy) X(revoke) X(why) X(cut) X(punch) X(extend) X(bad_blocks) X(drop_caches) X(squeeze) \
	X(kill) X(query) X(inject) X(close_bad)

enum act {
#define X(name) ACT_##name,
	KEEPER_ACTS(X)
#undef X
	NR_ACTS
};

struct page_shadow {
	uint32_t cuts;			/* odd: it may be cut just now */
	uint32_t hi[NR_WRITERS];
	uint64_t lo[NR_WRITERS];	/* in the upper half, cuts; see shadow.c */
};

struct slot {
	uint32_t gen;			/* odd: open */
	int region[NR_REGIONS];		/* descriptors of the keeper */
	uint32_t errors;		/* injected into this one up to now */
	struct page_shadow page[NR_PAGES];
	struct hipec_counters sum;	/* of all containers that it had */
	uint32_t exits;			/* policies that ended early */
	uint64_t sigbus;
};

struct thread_board {
	pid_t tid;
	uint32_t op;
	uint64_t nr;			/* operations begun */
	uint64_t since;			/* ns, when the last one began; 0: dead */
	uint32_t holds[NR_SLOTS];	/* generation, or 0 */
};

/* Shared by all. */
struct board {
	uint64_t seed;
	bool stop;			/* threads end themselves */
	bool wrong;
	char text[400];			/* what is wrong */
	uint64_t tried[NR_OPS], worked[NR_OPS], acts[NR_ACTS];
	uint64_t touches, words, ops, starts, injected;
	bool inject;			/* there is fault injection */
	bool roomy;			/* and frames for all there are */
	pid_t keeper;
	uint64_t keeper_since;
	char keeper_does[64];
	pid_t proc[NR_PROCS];
	struct thread_board thread[NR_THREADS];
	struct slot slot[NR_SLOTS];
};

extern struct board *board;
extern const char *const op_name[NR_OPS + 1];
extern const char *const slot_path[NR_SLOTS];
extern int slot_file[NR_SLOTS], slot_direct[NR_SLOTS], other_file;

/* A thread's mapping. */
struct spot {
	enum { FREE, SHARED, PRIVATE } kind;
	uint32_t s, region;
	uint32_t first, nr;		/* pages of the file */
	bool may_write;
	bool copies;			/* private, and may have been written to */
	bool not_forked;		/* perhaps */
	bool there[NR_PAGES];		/* by page from @first: mapped */
	uint64_t mark[NR_PAGES];	/* of a private copy; 0: none */
};

struct self {
	uint32_t t;			/* thread */
	uint32_t w;			/* writer: the thread or its child */
	struct fuzz_rng rng;
	unsigned char *arena;
	struct spot spot[NR_SPOTS];
	int region[NR_SLOTS][NR_REGIONS];	/* -1: none */
	uint32_t gen[NR_SLOTS];
	int keeper;			/* pidfd */
	int pipe[2];
	struct { uint32_t s, page, lo, cuts; } pinned;
	bool pins;
	int memory;			/* a memfd */
	int scratch;			/* O_DIRECT */
	unsigned char *buffer;		/* one page, aligned */
	uint64_t nr_marks;
	bool fails;			/* some allocation of it is to fail */
};

extern __thread struct self me;

/* shadow.c */
uint64_t word_value(uint32_t s, uint32_t page, uint32_t w, uint32_t count);
uint32_t shadow_lo(uint32_t s, uint32_t page, uint32_t w);
uint32_t shadow_begin(uint32_t s, uint32_t page, uint32_t w, uint32_t *cuts);
void shadow_end(uint32_t s, uint32_t page, uint32_t w, uint32_t count,
		uint32_t cuts);
void check_word(uint32_t s, uint32_t page, uint32_t w, uint64_t got,
		uint32_t lo, uint32_t cuts, const char *where);
void check_page(uint32_t s, uint32_t page, const volatile uint64_t *data,
		const char *where);
void check_own(uint32_t s, uint32_t page, const uint64_t *data, uint32_t w,
	       uint32_t lo, uint32_t cuts, const char *where);
void check_file(uint32_t s, int fd, bool direct, const char *where);
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* worker.c */
void work(uint32_t proc, uint64_t seed) __attribute__((noreturn));
uint32_t below(uint32_t n);
bool chance(uint32_t percent);
bool guarded(void (*fn)(void *), void *arg);
uint64_t now_ns(void);
bool hold(uint32_t s);
void let_go(uint32_t s);
void free_spot(struct spot *sp);
unsigned char *address_of(const struct spot *sp, uint32_t page);

/* keeper.c */
int keep(uint64_t seconds, uint64_t ops);

static inline int or_errno(long ret)
{
	return ret < 0 ? -errno : ret;
}

#endif /* HIPEC_STRESS_H */
