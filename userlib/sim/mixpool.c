// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pool of frames that simulators share: what module/pool.c and recovery.c do,
 * in their order, around the same manager. Nothing is taken at the same time here,
 * so no lock is missed, and what leaves has left when an event ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "mixpool.h"

/* As module/pool.c has them. */
#define MAX_LOOKS 512
#define AGE_EVERY 16

static struct mix_pool *pool_of(struct hipec_mr *mr)
{
	static_assert(!offsetof(struct mix_pool, mr), "mr comes first");
	return (struct mix_pool *)mr;
}

static u32 held_by_all(const struct mix_pool *pool)
{
	u32 i, nr = 0;

	for (i = 1; i <= MIX_MAX_MEMBERS; i++)
		if (pool->sim[i])
			nr += mix_pool_held(pool->sim[i]);
	return nr;
}

static bool mr_referenced(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct mix_pool *pool = pool_of(mr);
	struct sim *s = pool->sim[owner];

	if (s->bits[h] & SIM_BIT_POOL) {
		hipec_recover_drop_kept(&s->member->recover,
					s->vm.page[h].pgno);
		return true;
	}
	/* Its last frames are its own to replace. */
	return s != pool->requester && mix_pool_held(s) <= s->member->min;
}

static void mr_reset(struct hipec_mr *mr, u32 owner, u32 h)
{
	pool_of(mr)->sim[owner]->bits[h] &= ~SIM_BIT_POOL;
}

static void mr_ask(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct mix_pool *pool = pool_of(mr);
	struct sim *s = pool->sim[owner];

	(void)h;
	/* Without a policy the manager's choice stands. */
	if (hipec_fifo2_rules(&s->vm))
		return;
	if (s == pool->requester) {
		mix_pool_ask(s, pool->pgno, pool->write);
		return;
	}
	s->member->to_pool = true;
	sim_ask(s, SIM_NO_PGNO, false);
	s->member->to_pool = false;
}

static void mr_take(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct mix_pool *pool = pool_of(mr);
	struct sim *s = pool->sim[owner];
	u32 pgno = s->vm.page[h].pgno;

	if (sim_evict(s, h, s == pool->requester, SIM_PAGE_TAKEN))
		sim_remove(s, pgno);
}

static void mr_moved(struct hipec_mr *mr, u32 owner, u32 kept, u32 gone)
{
	struct sim *s = pool_of(mr)->sim[owner];

	s->member->moved++;
	/* FIFO2-MR has just seen that it is not referenced, AWST does not look. */
	if (mr->policy == HIPEC_MR_AWST)
		s->bits[kept] &= ~SIM_BIT_POOL;
	hipec_recover_add(&s->member->recover, s->vm.page[gone].pgno,
			  s->vm.page[kept].pgno);
}

static const struct hipec_mr_ops mr_ops = {
	.referenced = mr_referenced,
	.reset = mr_reset,
	.ask = mr_ask,
	.take = mr_take,
	.moved = mr_moved,
};

/**
 * mix_pool_init() - make a pool that nobody shares
 * @pool:     to fill; mix_pool_free() it, also after an error
 * @policy:   of its manager
 * @max:      frames, at least 1
 * @recovery: ill-advised decisions are reversed
 *
 * Context: any.
 * Return: 0; -ENOMEM.
 */
int mix_pool_init(struct mix_pool *pool, enum hipec_mr_policy policy, u32 max,
		  bool recovery)
{
	*pool = (struct mix_pool){
		.max = max, .recovery = recovery,
		.frame = calloc(max + 1ul, sizeof(*pool->frame)),
		.owner = calloc(MIX_MAX_MEMBERS + 1, sizeof(*pool->owner)),
		.stamp = calloc(max + 1ul, sizeof(*pool->stamp)),
	};
	if (!pool->frame || !pool->owner || !pool->stamp)
		return -ENOMEM;
	if (policy == HIPEC_MR_AWST)
		hipec_mr_init_awst(&pool->mr, &mr_ops, pool->frame, max,
				   pool->stamp, pool->owner,
				   MIX_MAX_MEMBERS + 1);
	else
		hipec_mr_init(&pool->mr, &mr_ops, pool->frame, max);
	pool->mr.most = MAX_LOOKS;
	return 0;
}

void mix_pool_free(struct mix_pool *pool)
{
	free(pool->frame);
	free(pool->owner);
	free(pool->stamp);
}

/* Half as many decisions as frames, as module/recovery.c. */
static int init_recovery(struct sim_member *m, u32 frames)
{
	u32 decisions = m->pool->recovery ? frames / 2 + 1 : 0;
	u32 buckets = decisions / 2 + 1;

	m->recovery = malloc(hipec_recover_size(decisions, buckets));
	if (!m->recovery)
		return -ENOMEM;
	hipec_recover_init(&m->recover, m->recovery, decisions, buckets);
	return 0;
}

/**
 * mix_pool_join() - let a simulator share the pool's frames
 * @pool: pool; the minima of all that share are no more than it has
 * @m:    to fill; mix_pool_leave() frees what it has, also after an error
 * @s:    opened with its limit as frames, not started
 * @min:  frames that nobody takes from it, 1 or more; it gets them now, by others'
 *        loss if the pool is full
 *
 * Context: any.
 * Return: 0; -ENOMEM; -ENOBUFS if others hold all with pages that Prefetch asked
 *         for, which cannot go.
 */
int mix_pool_join(struct mix_pool *pool, struct sim_member *m, struct sim *s,
		  u32 min)
{
	u32 number = 1, first = min < s->nr_reserved ? min : s->nr_reserved;
	u32 tries;

	while (pool->sim[number])
		number++;
	*m = (struct sim_member){ .pool = pool, .number = number, .min = first };
	m->in_pool = calloc(s->vm.nr_pages + 1ul, sizeof(*m->in_pool));
	s->member = m;
	s->nr_frames = s->nr_free = 0;
	pool->sim[number] = s;
	hipec_mr_set_limits(&pool->mr, number, first, s->nr_reserved);
	if (init_recovery(m, s->nr_reserved) || !m->in_pool)
		return -ENOMEM;
	/* Some are only passed over at first: each turn looks at others. */
	for (tries = 0; s->nr_frames < first; tries++) {
		if (tries > 2 * pool->max)
			return -ENOBUFS;
		mix_pool_grow(s, SIM_NO_PGNO, false);
	}
	return 0;
}

/**
 * mix_pool_leave() - a simulator shares no longer
 * @s: simulator, at its end; nothing if it does not share
 *
 * Its frames are free at once.
 *
 * Context: any.
 */
void mix_pool_leave(struct sim *s)
{
	struct sim_member *m = s->member;
	u32 h;

	if (!m)
		return;
	for (h = 1; m->in_pool && h <= s->vm.nr_pages; h++)
		if (m->in_pool[h])
			hipec_mr_del(&m->pool->mr, m->in_pool[h]);
	m->pool->sim[m->number] = NULL;
	free(m->in_pool);
	free(m->recovery);
	s->member = NULL;
}

/* A page of @s is live. */
void mix_pool_came(struct sim *s, u32 h)
{
	struct sim_member *m = s->member;
	struct mix_pool *pool = m->pool;

	s->bits[h] &= ~SIM_BIT_POOL;
	m->in_pool[h] = hipec_mr_add(&pool->mr, m->number, h);
	if (++pool->came % AGE_EVERY == 0 && held_by_all(pool) > pool->max / 2) {
		pool->requester = s;
		hipec_mr_age(&pool->mr);
	}
	hipec_recover_drop_gone(&m->recover, s->vm.page[h].pgno);
}

/* It is about to be live no more; @keep: its frame stays. */
void mix_pool_left(struct sim *s, u32 h, bool keep)
{
	struct sim_member *m = s->member;
	u32 f = m->in_pool[h];

	m->given += !keep;
	m->in_pool[h] = HIPEC_MR_NONE;
	hipec_mr_del(&m->pool->mr, f);
	hipec_recover_drop_kept(&m->recover, s->vm.page[h].pgno);
}

/* Frames that @s can get and nobody loses. */
u32 mix_pool_space(struct sim *s)
{
	const struct mix_pool *pool = s->member->pool;
	u32 held = held_by_all(pool), own = s->nr_reserved - s->nr_frames;
	u32 room = held < pool->max ? pool->max - held : 0;

	return own < room ? own : room;
}

/* Have frames given up until there is room, or @s got one. False: none can go. */
static bool make_room(struct mix_pool *pool, struct sim *s)
{
	u32 before = s->nr_free, member = s->member->number;

	while (hipec_mr_is_full(&pool->mr, member) ||
	       held_by_all(pool) >= pool->max) {
		if (!hipec_mr_reclaim(&pool->mr, member))
			return false;
		if (s->nr_free > before)
			return true;
	}
	return true;
}

/**
 * mix_pool_grow() - get one frame more
 * @s:     simulator that shares
 * @pgno:  page that it is for
 * @write: it is to be written to
 *
 * Context: any.
 * Return: whether a frame is free now; else it shall replace a page of its own: it
 *         is at its limit, or none of those that were looked at could go.
 */
bool mix_pool_grow(struct sim *s, u32 pgno, bool write)
{
	struct mix_pool *pool = s->member->pool;
	bool at_limit = s->nr_frames >= s->nr_reserved;
	u32 had = s->nr_free;

	/* At its limit it replaces its own pages, AWST chooses which. */
	if (at_limit && !hipec_mr_is_full(&pool->mr, s->member->number))
		return false;
	pool->requester = s;
	pool->pgno = pgno;
	pool->write = write;
	if (!make_room(pool, s))
		return false;
	if (s->nr_free > had)
		return true;
	if (at_limit)
		return false;
	s->nr_frames++;
	s->nr_free++;
	return true;
}

/* Replace, for a page of its own: the first page given up answers. */
bool mix_pool_ask(struct sim *s, u32 pgno, bool write)
{
	bool gone;

	s->member->keep_next = true;
	gone = sim_ask(s, pgno, write);
	s->member->keep_next = false;
	return gone;
}

/**
 * mix_pool_recover() - reverse the decision that a page should go, if it was bad
 * @s:    simulator that shares and has no free frame
 * @pgno: page that faulted
 *
 * Context: any.
 * Source: hipec-1997, "Implementation" and Figure 5; as module/recovery.c.
 */
void mix_pool_recover(struct sim *s, u32 pgno)
{
	struct sim_member *m = s->member;
	u32 kept, h;

	if (mix_pool_space(s) || !hipec_recover_find(&m->recover, pgno, &kept))
		return;
	hipec_recover_drop_gone(&m->recover, pgno);
	h = hipec_page_find(&s->vm, kept);
	if (!h || !hipec_page_live(&s->vm, h) || s->bits[h] & SIM_BIT_POOL)
		return;
	if (!sim_evict(s, h, true, SIM_PAGE_TAKEN))
		return;
	m->recovered++;
	sim_remove(s, kept);
}

/**
 * mix_disk_io() - have a page read or written, behind what was asked for before
 * @d:     disk, with the time
 * @s:     whose page it is
 * @pgno:  page
 * @write: it is written
 *
 * Context: any.
 * Return: when it is done, ns.
 */
u64 mix_disk_io(struct mix_disk *d, const struct sim *s, u32 pgno, bool write)
{
	bool next = d->last == s && d->last_pgno + 1 == pgno;
	u64 ns = write ? d->write_ns[next] : d->read_ns[next];

	if (d->free_at < d->now)
		d->free_at = d->now;
	d->free_at += ns;
	d->busy += ns;
	d->reads += !write;
	d->writes += write;
	d->sequential += next;
	d->last = s;
	d->last_pgno = pgno;
	return d->free_at;
}
