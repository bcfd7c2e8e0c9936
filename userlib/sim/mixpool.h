/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What simulators share: a pool of frames, with the module's own FIFO2-MR or AWST
 * (module/core) in charge, and a disk.
 *
 * Names: @s is a simulator, @h a handle of its page table.
 *
 * Interface:
 * mix_pool_init(), _free()    a pool that nobody shares
 * mix_pool_join(), _leave()   a simulator shares from now on, no longer
 * mix_pool_came(), _left()    a page is live, is about to be live no more
 * mix_pool_space(), _held()   frames that it can get and nobody loses, that it has
 * mix_pool_grow()             one frame more, by whose loss ever
 * mix_pool_ask()              Replace, for its own page
 * mix_pool_recover()          an ill-advised decision is reversed
 * mix_disk_io()               a page is read or written
 */
#ifndef HIPEC_MIXPOOL_H
#define HIPEC_MIXPOOL_H

#include "../../module/core/fifo2mr.h"
#include "../../module/core/recover.h"
#include "host.h"

#define MIX_POOL_MIN 16		/* frames that nobody takes: module/internal.h */
#define MIX_MAX_MEMBERS 64

/* A simulator of the pool; number 0 is none. */
struct sim_member {
	struct mix_pool *pool;
	u32 number, min;
	u32 *in_pool;		/* entry of each live page, by handle */
	struct hipec_recover recover;
	void *recovery;
	bool keep_next;		/* the page given up next keeps its frame here */
	bool to_pool;		/* frames of built-in choices leave */
	u64 moved, recovered, given;	/* as in struct hipec_counters */
};

struct mix_pool {
	struct hipec_mr mr;	/* first: its methods find the pool by it */
	u32 max;		/* frames */
	bool recovery;		/* decisions are reversed */
	struct sim *sim[MIX_MAX_MEMBERS + 1];	/* by number */
	struct sim *requester;
	u32 pgno;		/* that it wants a frame for */
	bool write;
	u32 came;		/* pages, so far */
	struct hipec_mr_frame *frame;
	struct hipec_mr_owner *owner;
	u64 *stamp;
};

/* What a page takes, ns: [1]: the one behind the last one of the same program. */
struct mix_disk {
	u64 read_ns[2], write_ns[2];
	u64 now;		/* ns */
	u64 free_at;		/* when all that was asked for is done */
	u64 busy, reads, writes, sequential;
	const struct sim *last;	/* whose page it went to, and which */
	u32 last_pgno;
};

int mix_pool_init(struct mix_pool *pool, enum hipec_mr_policy policy, u32 max,
		  bool recovery);
void mix_pool_free(struct mix_pool *pool);
int mix_pool_join(struct mix_pool *pool, struct sim_member *m, struct sim *s,
		  u32 min);
void mix_pool_leave(struct sim *s);

void mix_pool_came(struct sim *s, u32 h);
void mix_pool_left(struct sim *s, u32 h, bool keep);
u32 mix_pool_space(struct sim *s);
bool mix_pool_grow(struct sim *s, u32 pgno, bool write);
bool mix_pool_ask(struct sim *s, u32 pgno, bool write);
void mix_pool_recover(struct sim *s, u32 pgno);

u64 mix_disk_io(struct mix_disk *d, const struct sim *s, u32 pgno, bool write);

/* Frames of a simulator, but for those that are leaving. */
static inline u32 mix_pool_held(const struct sim *s)
{
	return s->nr_frames - s->nr_surplus;
}

#endif /* HIPEC_MIXPOOL_H */
