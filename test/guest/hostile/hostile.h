/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hostile-client: processes that do to the module whatever a process can, each
 * from a seed. main.c starts, kills and counts them; worker.c draws operations;
 * device.c, attach.c, memory.c, file.c, record.c and place.c have them. Two of the
 * processes are an ordinary user's.
 *
 * What every file holds is known: see data.c. So a page that shows another
 * page's data, or any byte that nobody wrote, is found.
 */
#ifndef HIPEC_HOSTILE_H
#define HIPEC_HOSTILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../userlib/lib/hipec.h"
#include "../../vm/fuzz/mutate.h"
#include "../../vm/fuzz/program.h"

#define PAGE_BYTES 4096ul
#define NR_WORKERS 5
#define NR_ROOT 3		/* of these, the first ones */
#define USER 1000		/* whose the others are */
#define FIRST_PLACED 9		/* of the files with data: the two before are special */
#define NR_PLACED 6		/* those behind are made anew, moved, and far longer at times */
#define NR_BACKING (FIRST_PLACED + NR_PLACED)
#define MAX_PAGES 192		/* of a file, when it is made or extended */
#define NR_FDS 8		/* that a worker holds of each kind */
#define NR_SPOTS 12		/* mappings that a worker holds */
#define SPOT_BYTES (MAX_PAGES * PAGE_BYTES)
#define NR_LOGGED 48		/* last operations of a worker, kept */

#define PLACE_DIR "/data/hostile-place"
#define CGROUP_OPENED "/sys/fs/cgroup/hostile"	/* of all workers */
#define CGROUP_SMALL "/sys/fs/cgroup/hostile-small"
#define CGROUP_SMALL_BYTES (16ul << 20)	/* as hostile.sh has it */

/* Operations: name, how often, function. Return: 0 or more, or -errno. */
#define HOSTILE_OPS(X)                                                       \
	X(open, 6) X(load_policy, 14) X(load_generated, 8) X(load_mutated, 6) \
	X(load_damaged, 3) X(load_odd, 3) X(query, 2) X(status, 4) X(next, 3) \
	X(operand, 4) X(poll, 1) X(changed_ioctl, 6) X(random_ioctl, 4) X(hint, 4) \
	X(record, 3) X(record_read, 8) X(swap, 10) X(revoke, 2) X(why, 4)         \
	X(join, 8) X(standing, 4)                                            \
	X(shared_map, 3) X(shared_use, 2)                                    \
	X(open_file, 6) X(attach, 16) X(attach_part, 12) X(attach_odd, 4)    \
	X(dup, 3) X(close, 5) X(send, 4) X(receive, 4)                       \
	X(map, 24) X(map_private, 8) X(map_odd, 6)                           \
	X(touch_read, 40) X(touch_write, 40) X(sweep, 16)                    \
	X(munmap, 5) X(munmap_part, 3) X(mremap, 4)                          \
	X(mprotect, 4) X(madvise, 10) X(mlock, 3) X(munlock, 3) X(msync, 6)  \
	X(mincore, 1) X(from_region, 4) X(to_region, 4) X(pin, 3)            \
	X(direct_from, 3) X(direct_to, 3) X(copy, 3)                         \
	X(fsync_region, 4) X(fsync_file, 2) X(write_file, 5)                 \
	X(truncate, 4) X(extend, 4) X(punch, 2)                              \
	X(place_load, 10) X(place_open, 12) X(place_take, 24) X(place_dir, 3)     \
	X(place_cgroup, 3) X(place_release, 6) X(place_release_other, 3)      \
	X(place_read, 40) X(place_write, 12) X(place_grow, 6) X(place_anew, 8) \
	X(place_rename, 5) X(place_why, 10) X(place_map, 12) X(place_advise, 6) \
	X(place_league, 8) X(place_squeeze, 4) X(place_drop, 2)              \
	X(fork, 4) X(exec, 1) X(exit, 1) X(quantum, 1) X(debugfs, 3) X(smaps, 1)

enum op {
#define X(name, often) OP_##name,
	HOSTILE_OPS(X)
#undef X
	NR_OPS
};

#define X(name, often) int op_##name(void);
HOSTILE_OPS(X)
#undef X

/* An open descriptor, and what it is worth. */
struct hold {
	int fd;			/* -1: none */
	uint32_t file;		/* number of a backing file */
	uint32_t first, pages;	/* of a region: its range */
	bool writable;
	bool loaded;		/* a container with a policy */
};

/* A mapping, at a place of its own. */
struct spot {
	enum { FREE, REGION, SHARED } kind;
	uint32_t file, first, pages;
	bool writable;
	bool private;
};

struct logged {
	uint32_t number, op;
	int result;
	uint64_t state;		/* of the random numbers, before it */
};

/* What outlives a worker, shared with main.c. */
struct board {
	uint64_t tried[NR_OPS], worked[NR_OPS];
	uint64_t touches, faults_refused, words;
	uint64_t last_id;	/* of a container in place that was loaded */
	bool wrong;
	char text[256];		/* what is wrong */
	struct {
		uint32_t nr;
		struct logged last[NR_LOGGED];
	} log[NR_WORKERS];
	struct offer {
		pid_t pid;		/* whose descriptor it is; 0: none */
		uint32_t kind;
		struct hold hold;
		uint64_t inode;
	} offer[NR_WORKERS];		/* where there are no sockets */
};

struct worker {
	uint32_t me;
	struct fuzz_rng rng;
	struct hold container[NR_FDS], region[NR_FDS], file[NR_FDS];
	struct hold record[NR_FDS];
	struct hold place[NR_FDS];	/* containers in place */
	struct spot spot[NR_SPOTS];
	uint32_t depth;		/* of forks */
	uint32_t children;
};

extern struct board *board;
extern struct worker w;
extern unsigned char *arena;		/* NR_SPOTS places of SPOT_BYTES */
extern int channel[NR_WORKERS][2];
extern int kmsg;			/* the kernel's log, or -1 */

extern const char *const op_name[NR_OPS];

/* worker.c */
void work(uint32_t me, uint64_t seed) __attribute__((noreturn));
uint32_t below(uint32_t n);
bool chance(uint32_t percent);
struct hold *any_hold(struct hold *h);
struct hold *place_for(struct hold *h);
void let_go(struct hold *h);
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* memory.c */
unsigned char *address_of(const struct spot *s);
void free_spot(struct spot *s);
struct spot *spot_to_use(void);
int map_at(struct spot *s, int fd, size_t bytes, int prot, int flags, uint64_t offset);
bool guarded(void (*fn)(void *), void *arg);
void start_helper(void);

/* data.c */
#define PRIVATE_BYTE 0xff	/* of a word that only copies may have */

const char *backing_path(uint32_t file);
uint64_t data_word(uint32_t file, uint32_t page, uint32_t word);
bool data_ok(uint64_t got, uint32_t file, uint32_t page, uint32_t word);
void fill_page(uint64_t *page, uint32_t file, uint32_t number);
int make_files(void);

/* record.c */
void keep_record(int fd);

/* device.c */
struct hold *container(bool fresh);
void keep_region(int fd, uint64_t pages);
int load_with(struct hold *h, const void *image, size_t size, uint32_t flags);
size_t some_image(const void **image);
int read_policies(void);

/* place.c */
int make_places(void);
uint32_t end_places(int fd);

static inline int or_errno(long ret)
{
	return ret < 0 ? -errno : ret;
}

#endif /* HIPEC_HOSTILE_H */
