/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool: frames that containers share. While it has room a member gets frames one by one.
 * When it is full, FIFO2-MR or AWST (fifo2mr.h) finds the member that gives one up; pool.c has
 * the argument. A frame that changes hands goes back to where it came from, and another is
 * allocated. A victim that is dirty leaves when it has been written.
 *
 * Interface:
 * hipec_member_join(), _leave()    a container shares, no longer
 * hipec_pool_grow()                one frame more, of the system or of a member
 * hipec_exchange_lock(), _unlock() the pool's lock
 * hipec_member_space()             frames that no other member would have to give up
 * hipec_exchange_added(), _removed()  a page is live, is about to be live no more
 * hipec_exchange_renamed()     a page has another entry
 * hipec_exchange_forget()      the manager is told of all that a member has
 * hipec_pool_recover()         an ill-advised decision is reversed
 * hipec_pool_give()            a container gives a page up for memory's sake
 * hipec_pool_give_page()       and which
 * hipec_pool_spare(), _reclaim()  for memory pressure
 */
#ifndef HIPEC_CORE_POOL_H
#define HIPEC_CORE_POOL_H

#include "core.h"
#include "fifo2mr.h"

/**
 * struct hipec_pool - under the host's lock but for what is atomic
 * @mr:       the manager; first: its methods find the pool by it. The host
 *            initialises it, with hipec_pool_mr_ops, before the first join
 * @ops:      of the host; enter() and leave() are the lock
 * @member:   by number, from 1 to @max_members
 * @max_members: invariant
 * @nr_members: may be read without the lock
 * @top:      the largest number of a member
 * @requester: member that wants a frame and holds its own lock; NULL: the system
 * @together: pages of which a member tells the manager together, or that it isolates
 * @most_together: HIPEC_TOGETHER at most; 0, as 1: in a pool of any size the manager alone
 *            looks at pages, and knows of each at once. Invariant
 * @tight:    members were told to name pages, and that is not over
 * @nr_entered: pages, so far; it wraps
 * @max:      frames that the members may hold; invariant
 * @slack:    frames that may be leaving beside them; invariant
 * @nr:       frames held, but for those leaving; atomic
 * @leaving:  atomic
 * @recovery: ill-advised decisions are reversed
 */
struct hipec_pool {
	struct hipec_mr mr;
	const struct hipec_core_ops *ops;
	struct hipec_core **member;
	u32 max_members;
	u32 nr_members;
	u32 top;
	struct hipec_core *requester;
	u32 together;
	u32 most_together;
	bool tight;
	u32 nr_entered;
	long max;
	long slack;
	atomic_long_t nr;
	atomic_long_t leaving;
	bool recovery;
};

extern const struct hipec_mr_ops hipec_pool_mr_ops;

bool hipec_exchange_lock(struct hipec_pool *pool);
void hipec_exchange_unlock(struct hipec_pool *pool, bool entered);
int hipec_member_join(struct hipec_pool *pool, struct hipec_core *core,
		      u32 min_frames);
void hipec_member_leave(struct hipec_core *core);
int hipec_pool_grow(struct hipec_core *core, const struct hipec_demand *d,
		    enum hipec_effort effort);
u32 hipec_member_space(struct hipec_core *core);
void __hipec_exchange_added(struct hipec_core *core, u32 h);
void __hipec_exchange_removed(struct hipec_core *core, u32 h);
void hipec_exchange_forget(struct hipec_core *core);
void hipec_exchange_renamed(struct hipec_core *core, u32 from, u32 to);
void __hipec_member_account(struct hipec_core *core);
void hipec_pool_recover(struct hipec_core *core, u32 pgno);
bool hipec_pool_give(struct hipec_core *core, bool keep);
bool hipec_pool_give_page(struct hipec_core *core, u32 h);
long hipec_pool_spare(const struct hipec_pool *pool);
bool hipec_pool_reclaim(struct hipec_pool *pool);

/* exchange.c */
void hipec_exchange_together(struct hipec_pool *pool);
void hipec_exchange_tell(struct hipec_core *core);
bool hipec_exchange_isolate(struct hipec_core *core);
void hipec_exchange_vacate(struct hipec_core *core, const struct hipec_mr_entry *e);
void hipec_exchange_return(struct hipec_core *core);
struct hipec_core *hipec_exchange_lock_page(struct hipec_core *core,
					    const struct hipec_mr_page *page, bool *busy);
void hipec_exchange_unlock_member(struct hipec_core *core, const struct hipec_core *requester);
void hipec_exchange_moved(struct hipec_core *core, u32 kept, u32 gone);

/* Until hipec_pool_unpin(), which gets the answer, no member is freed. */
static inline int hipec_pool_pin(const struct hipec_pool *pool)
{
	return pool->ops->pin ? pool->ops->pin() : 0;
}

static inline void hipec_pool_unpin(const struct hipec_pool *pool, int pin)
{
	if (pool->ops->unpin)
		pool->ops->unpin(pin);
}

/* Tell the pool, if it shares one, what a container holds. Expects its lock. */
static inline void hipec_member_account(struct hipec_core *core)
{
	if (core->pool)
		__hipec_member_account(core);
}

/**
 * hipec_core_freed() - a page has lost its frame, which is free
 * @core: container
 * @h:    page, live or not
 *
 * The frame stays, or goes back if there is a surplus.
 *
 * Context: expects the lock.
 */
static inline void hipec_core_freed(struct hipec_core *core, u32 h)
{
	bool keep = !core->nr_surplus;

	hipec_page_del(&core->vm, h);
	if (keep) {
		core->nr_free++;
	} else {
		core->nr_surplus--;
		core->nr_frames--;
	}
	if (core->ops->free)
		core->ops->free(core, h, keep);
	hipec_member_account(core);
}

/* A page of a container is live. Expects its lock; may sleep. */
static inline void hipec_exchange_added(struct hipec_core *core, u32 h)
{
	if (core->pool)
		__hipec_exchange_added(core, h);
}

/* It is about to be live no more. Expects its lock. */
static inline void hipec_exchange_removed(struct hipec_core *core, u32 h)
{
	if (core->pool)
		__hipec_exchange_removed(core, h);
}

/* A member's tables are bounded, however many frames it may have. */
#define HIPEC_MAX_DECISIONS 65536
#define HIPEC_MAX_TAKEN 65536
#define HIPEC_MAX_RECLAIMED 1024

/* Decisions that the recovery table of a member has room for. */
static inline u32 hipec_pool_decisions(const struct hipec_core *core)
{
	u32 nr = core->nr_reserved / 2 + 1;

	return nr < HIPEC_MAX_DECISIONS ? nr : HIPEC_MAX_DECISIONS;
}

/* Pages that others may have taken before the policy is told: of a member, of another container. */
static inline u32 hipec_pool_most_taken(const struct hipec_core *core)
{
	u32 most = core->pool ? HIPEC_MAX_TAKEN : HIPEC_MAX_RECLAIMED;

	return core->nr_reserved < most ? core->nr_reserved : most;
}

#endif /* HIPEC_CORE_POOL_H */
