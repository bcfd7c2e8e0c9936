/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What simulators share: the engine's pool of frames, and a disk. Nothing is taken at
 * the same time here, so no lock is missed, and what leaves has left when an event
 * ends.
 *
 * Names: @s is a simulator.
 *
 * Interface:
 * mix_pool_init(), _free()    a pool that nobody shares
 * mix_pool_join(), _leave()   a simulator shares from now on, no longer
 * mix_disk_io()               a page is read or written
 */
#ifndef HIPEC_MIXPOOL_H
#define HIPEC_MIXPOOL_H

#include "../../module/core/pool.h"
#include "host.h"

#define MIX_MAX_MEMBERS 64

struct mix_pool {
	struct hipec_pool pool;
	struct hipec_core *member[MIX_MAX_MEMBERS + 1];	/* by number */
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
int mix_pool_join(struct mix_pool *pool, struct sim *s, u32 min);
void mix_pool_leave(struct sim *s);

u64 mix_disk_io(struct mix_disk *d, const struct sim *s, u32 pgno, bool write);

#endif /* HIPEC_MIXPOOL_H */
