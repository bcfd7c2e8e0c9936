// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which member of a pool gives a frame up when the pool is full: the host of FIFO2-MR and AWST.
 * pool.h says what a pool is.
 *
 *	A wants a frame; the pool is full                          A's lock is held
 *	  |
 *	  v     a page comes in, or was passed over
 *	active  head . . . . . . . . tail <-------------------+
 *	          |  its bit is reset                         | B's lock is busy, the page
 *	          v                                           | was referenced, or B has
 *	inactive  head . . . . . . . tail                     | its last min_frames
 *	          |                                           |
 *	          +--> page p, of member B ------ try_lock ---+
 *	                 |
 *	                 +-- B has named n: n goes, and p moves to n's place; B's recovery
 *	                 |   table has the pair (n went, p was kept)
 *	                 +-- B has named none: p goes; Remove is owed, if B has it (core->taken)
 *	                 |
 *	                 v
 *	B's frame is its surplus until it is free; then A is promised one more (pool->nr)
 *
 * The manager sees all pages and knows nothing of programs; a policy knows its program and sees
 * no neighbours. So the manager chooses which member loses a page, and that member's policy which
 * page. Asking it at that moment would have B's policy run in A's time and under the pool's lock:
 * a slow policy would stop all members. So policies name pages ahead of need, at their own faults
 * or in a task of their own (refill()), and others take what is named. That is an answer to a
 * question which was asked a while ago; HIPEC_MAX_CHOSEN pages keep it fresh, and a touch takes a
 * page back (hipec_core_spare()).
 *
 * What if it is wrong?
 *
 * A policy names the wrong page: n is wanted again, and p has not been referenced since. Then p's
 * frame is taken for n (hipec_pool_recover()): the owner pays with one fault, its neighbours with
 * nothing. A policy of which more than 7 in 8 decisions are reversed is doubted: the manager's
 * choice stands for some pages (recover.h).
 *
 * A policy names nothing, or always too late: the manager's choice stands, as if there were no
 * policy. A page of which the policy is to get Remove goes only while core->taken has room, so
 * what is owed is bounded; until then only pages that the member has named go.
 *
 * B's lock is busy: its page is passed over, as if it had been referenced. Where all looks of one
 * reclaim (mr->most) end so, the caller gets -EAGAIN and replaces a page of its own, or waits for
 * one that is leaving. A member can keep its lock for the length of an event, not for ever; its
 * pages meet the manager again one turn later.
 *
 * The manager chooses badly: B faults, gets a frame back from some member as A did; the manager
 * leaves each its min_frames. Pages that leave count as gone, up to pool->slack of them, so that
 * a slow disk cannot have the manager empty one member after the other.
 *
 * In a large pool the pool's lock would be what members wait for: there a member isolates several
 * pages, looks at them without that lock, and tells the manager of several at once (exchange.c).
 * Whether an isolated page is there still, its member's in_pool says, not the manager.
 *
 * Interface:
 * hipec_pool_grow()     one frame more, of the system or of the member that is chosen
 * hipec_pool_give()     a container gives a page up for memory's sake
 * hipec_pool_give_page()  and which
 * hipec_pool_recover()  an ill-advised decision is reversed
 * hipec_pool_spare(), _reclaim()  memory pressure
 */
#include "pool.h"

static struct hipec_pool *pool_of(struct hipec_mr *mr)
{
	static_assert(!offsetof(struct hipec_pool, mr), "mr comes first");
	return (struct hipec_pool *)mr;
}

/*
 * Under the pool's lock: member @owner with its lock, if it can be had at once and page @h, that
 * the manager has chosen, is its still. The requester's lock is held.
 */
static struct hipec_core *lock_member(struct hipec_pool *pool, u32 owner, u32 h)
{
	struct hipec_core *core = pool->member[owner];
	const struct hipec_mr *mr = &pool->mr;
	bool known;

	if (core != pool->requester && core->ops->try_lock && !core->ops->try_lock(core))
		return NULL;
	known = mr->looking ? core->in_pool[h] == mr->victim : core->in_pool[h];
	/* While the manager looks at a page its queues may change. */
	if (mr->looking && !known)
		hipec_exchange_forget(core);
	else if (mr->looking && core->exchange.nr_added)
		hipec_exchange_tell(core);
	if (likely(known))
		return core;
	hipec_exchange_unlock_member(core, pool->requester);
	return NULL;
}

/* Whether page @h is not to go: it was referenced, or its member has few for others. */
static bool passes_over_page(struct hipec_core *core, u32 h, bool own)
{
	if (core->ops->referenced(core, h, HIPEC_REF_POOL)) {
		hipec_recover_drop_kept(&core->recover, core->vm.page[h].pgno);
		return true;
	}
	/* Its last frames are its own to replace. */
	return !own && core->pool_held <= core->min_frames;
}

static bool mr_referenced(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner, h);
	bool pass = !core || passes_over_page(core, h, core == pool->requester);

	if (core)
		hipec_exchange_unlock_member(core, pool->requester);
	return pass;
}

static void mr_reset(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner, h);

	if (!core)
		return;
	core->ops->reset(core, h, HIPEC_REF_POOL);
	hipec_exchange_unlock_member(core, pool->requester);
}

/* Have a member name pages again, unless it has enough. */
static void refill_member(struct hipec_core *core)
{
	if (core->ops->refill && !hipec_fifo2_rules(&core->vm) && !core->doubt.passes &&
	    !core->chosen_none && 2 * core->nr_chosen <= hipec_core_most_chosen(core))
		core->ops->refill(core);
}

/*
 * Whether a page may go of which the policy is to be told: it has been told of most that went
 * before. If not, it soon is.
 */
static bool may_take(struct hipec_core *core)
{
	if (!hipec_core_has_event(core, HIPEC_EVENT_REMOVE) ||
	    core->nr_taken < hipec_pool_most_taken(core))
		return true;
	if (core->ops->refill)
		core->ops->refill(core);
	return false;
}

/* The policy is told of page @pgno, which has gone, in a task of its own. */
static void note_taken(struct hipec_core *core, u32 pgno)
{
	if (hipec_core_has_event(core, HIPEC_EVENT_REMOVE))
		core->taken[core->nr_taken++] = pgno;
}

/* A page goes that the member has named. @own: for a page of its own. */
static void take_chosen_page(struct hipec_core *core, bool own)
{
	if (hipec_doubt_asks(&core->doubt))
		hipec_core_take_chosen(core, own);
}

/* Page @h goes, which the manager has chosen. */
static void take_picked(struct hipec_core *core, u32 h, bool own)
{
	u32 pgno = core->vm.page[h].pgno;

	if (may_take(core) && hipec_core_evict(core, h, own, HIPEC_EVICT_TAKEN))
		note_taken(core, pgno);
}

/* A page that was named by the member whose page was chosen. Without one the choice stands. */
static void mr_ask(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner, h);

	if (!core)
		return;
	core->asked = true;
	take_chosen_page(core, core == pool->requester);
	core->asked = false;
	/* Under memory pressure the worker would hold the lock that the next scan tries. */
	if (pool->requester && core != pool->requester)
		refill_member(core);
	hipec_exchange_unlock_member(core, pool->requester);
}

static void mr_take(struct hipec_mr *mr, u32 owner, u32 h)
{
	struct hipec_pool *pool = pool_of(mr);
	struct hipec_core *core = lock_member(pool, owner, h);

	if (!core)
		return;
	core->asked = true;
	take_picked(core, h, core == pool->requester);
	core->asked = false;
	hipec_exchange_unlock_member(core, pool->requester);
}

static void mr_moved(struct hipec_mr *mr, u32 owner, u32 kept, u32 gone, u32 f)
{
	struct hipec_core *core = pool_of(mr)->member[owner];

	core->in_pool[kept] = f;
	/* FIFO2-MR has just seen that it is not referenced, AWST does not look. */
	if (mr->policy == HIPEC_MR_AWST)
		core->ops->reset(core, kept, HIPEC_REF_POOL);
	hipec_exchange_moved(core, kept, gone);
}

const struct hipec_mr_ops hipec_pool_mr_ops = {
	.referenced = mr_referenced,
	.reset = mr_reset,
	.ask = mr_ask,
	.take = mr_take,
	.moved = mr_moved,
};

/* Whether the last frames are about to be given out, or are. A look without the lock. */
static bool is_tight(const struct hipec_pool *pool)
{
	return READ_ONCE(pool->nr_members) > 1 &&
	       atomic_long_read(&pool->nr) >= pool->max - pool->max / 16;
}

static bool has_room(const struct hipec_pool *pool)
{
	long nr = atomic_long_read(&pool->nr);

	return nr < pool->max &&
	       nr + atomic_long_read(&pool->leaving) < pool->max + pool->slack;
}

/*
 * The manager knows the pages that policies know. Members that have others alone, which were in
 * the page cache before and were not touched, give some up soon. Return: whether there are any.
 */
static bool ask_untouched(struct hipec_pool *pool, const struct hipec_core *core)
{
	struct hipec_core *other;
	bool any = false;
	u32 i;

	for (i = 1; i <= pool->top; i++) {
		other = READ_ONCE(pool->member[i]);
		if (!other || other == core || !other->ops->refill ||
		    READ_ONCE(other->vm.nr_live) || READ_ONCE(other->nr_frames) <= other->min_frames)
			continue;
		other->ops->refill(other);
		any = true;
	}
	return any;
}

/*
 * Have frames given up until there is room, or @core got one of its own pages'.
 * Return: 1 if so; 0 if no member can give any; -EAGAIN if one may soon.
 */
static int reclaim_room(struct hipec_pool *pool, struct hipec_core *core)
{
	u32 before = core->nr_free + core->nr_pending;

	while (hipec_fifo2mr_is_full(&pool->mr, core->member) || !has_room(pool)) {
		/* Enough is leaving: more would not come sooner. */
		if (!hipec_fifo2mr_is_full(&pool->mr, core->member) &&
		    atomic_long_read(&pool->nr) < pool->max) {
			ask_untouched(pool, core);
			return -EAGAIN;
		}
		if (!hipec_fifo2mr_reclaim(&pool->mr, core->member))
			return pool->mr.passed || ask_untouched(pool, core) ? -EAGAIN : 0;
		if (core->nr_free + core->nr_pending > before)
			return 1;
	}
	return 1;
}

/* The pool is nearly full: all members name pages, before there is need. Expects its lock. */
static void note_tight(struct hipec_core *requester)
{
	struct hipec_pool *pool = requester->pool;
	bool tight = is_tight(pool);
	u32 i;

	for (i = 1; tight && !pool->tight && i <= pool->top; i++)
		if (pool->member[i] && pool->member[i] != requester && pool->member[i]->ops->refill)
			pool->member[i]->ops->refill(pool->member[i]);
	pool->tight = tight;
}

/* As reclaim_room(), but what the pool has for @core is promised to it. */
static int find_pool_frame(struct hipec_core *core, bool at_limit)
{
	struct hipec_pool *pool = core->pool;
	u32 had = core->nr_free + core->nr_pending;
	bool entered = hipec_exchange_lock(pool);
	int ret = 0;

	pool->requester = core;
	/* So many have joined since it isolated any that none are isolated now. */
	hipec_exchange_return(core);
	if (!at_limit || hipec_fifo2mr_is_full(&pool->mr, core->member))
		ret = reclaim_room(pool, core);
	note_tight(core);
	if (ret == 1 && core->nr_free + core->nr_pending <= had) {
		/* At its limit its own page is leaving. */
		ret = at_limit ? 0 : 2;
		if (ret)
			atomic_long_add(1, &pool->nr);
	}
	hipec_exchange_unlock(pool, entered);
	return ret;
}

/*
 * Page @page, which was isolated, goes, or is passed over; at the @first look neither, if its
 * member is busy. Return: whether one went.
 */
static bool look_at_isolated(struct hipec_core *core, struct hipec_mr_page page, bool first)
{
	struct hipec_exchange *x = &core->exchange;
	bool busy, gone = false, own;
	struct hipec_core *owner = hipec_exchange_lock_page(core, &page, &busy);

	own = owner == core;
	if (owner && !passes_over_page(owner, page.page, own)) {
		owner->exchange.picked = page.page;
		take_chosen_page(owner, own);
		if (owner->exchange.picked)
			take_picked(owner, page.page, own);
		gone = !owner->exchange.picked;
		owner->exchange.picked = 0;
		if (!own)
			refill_member(owner);
	}
	if (owner && !own)
		hipec_exchange_unlock_member(owner, core);
	if (gone)
		hipec_exchange_vacate(core, &(struct hipec_mr_entry){
				  .f = page.f, .use = HIPEC_ENTRY_ISOLATED });
	else if (busy && first)
		x->busy[x->nr_busy++] = page;
	else
		x->isolated[x->nr_passed++] = page;
	return gone;
}

/*
 * The same as reclaim_room(), and no member waits for the pool's lock meanwhile. A member that is
 * busy, perhaps naming pages for us, would lose no page if all of its were passed over then: the
 * next miss looks at these again.
 */
static int look_for_room(struct hipec_pool *pool, struct hipec_core *core)
{
	u32 most = pool->mr.most ? pool->mr.most : ~0u, passed = 0;
	u32 before = core->nr_free + core->nr_pending, again = core->exchange.nr_busy;
	struct hipec_exchange *x = &core->exchange;
	bool gone;

	while (!has_room(pool)) {
		/* Enough is leaving: more would not come sooner. */
		if (atomic_long_read(&pool->nr) < pool->max) {
			ask_untouched(pool, core);
			return -EAGAIN;
		}
		if (again) {
			again--;
			gone = look_at_isolated(core, x->busy[--x->nr_busy], false);
		} else {
			if (x->at == x->nr_isolated && x->nr_busy)
				return -EAGAIN;
			if (x->at == x->nr_isolated && !hipec_exchange_isolate(core))
				return passed || ask_untouched(pool, core) ? -EAGAIN : 0;
			gone = look_at_isolated(core, x->isolated[x->at++], true);
		}
		passed = gone ? 0 : passed + 1;
		if (core->nr_free + core->nr_pending > before)
			return 1;
		if (passed == most)
			return -EAGAIN;
	}
	return 1;
}

/* A frame more is promised to the caller. Return: false if others were faster. */
static bool promise_frame(struct hipec_pool *pool)
{
	if (atomic_long_add_return(1, &pool->nr) <= pool->max)
		return true;
	atomic_long_add(-1, &pool->nr);
	return false;
}

/* As find_pool_frame(), in a large pool: FIFO2-MR's, so that @core is not at its limit. */
static int find_frame_together(struct hipec_core *core)
{
	struct hipec_pool *pool = core->pool;
	int pin = hipec_pool_pin(pool), ret;
	u32 had = core->nr_free + core->nr_pending;
	bool got;

	do {
		ret = look_for_room(pool, core);
		got = core->nr_free + core->nr_pending > had;
	} while (ret == 1 && !got && !promise_frame(pool));
	hipec_pool_unpin(pool, pin);
	if (unlikely(is_tight(pool) != READ_ONCE(pool->tight))) {
		bool entered = hipec_exchange_lock(pool);

		note_tight(core);
		hipec_exchange_unlock(pool, entered);
	}
	return ret == 1 && !got ? 2 : ret;
}

/*
 * The policy names a page, as one may be asked of its container for the frame that it
 * wants, and others for those that others want. Return: whether it gave more than that.
 */
static bool name_for_demand(struct hipec_core *core, const struct hipec_demand *d, bool at_limit)
{
	u32 had = core->nr_free + core->nr_pending;
	u32 most = is_tight(core->pool) ? hipec_core_most_chosen(core) : 0;

	core->chosen_none = false;
	if (!most && (at_limit || !has_room(core->pool)))
		most = 1;
	/* A container that is being loaded has no page yet. */
	if (most && core->vm.nr_live && !core->doubt.passes)
		hipec_core_choose(core, d, most);
	return core->nr_free + core->nr_pending > had;
}

/**
 * hipec_pool_grow() - get one frame more
 * @core:   container that shares
 * @d:      what it is for
 * @effort: to make for its allocation
 *
 * From the system while there is room, else from whom the manager chooses, which may
 * be @core itself.
 *
 * Context: expects the container's lock; takes the pool's; may sleep.
 * Return: 1 if a frame is free now, or will be when it is written; 0 if @core shall
 *         replace pages of its own: it is at its limit, its user at the quota, or
 *         there is no memory; -EAGAIN if others' frames are leaving.
 */
int hipec_pool_grow(struct hipec_core *core, const struct hipec_demand *d,
		    enum hipec_effort effort)
{
	struct hipec_pool *pool = core->pool;
	/* Frames that are leaving count: their pages are in the table still. */
	bool at_limit = core->nr_frames >= core->nr_reserved;
	int ret;

	/* At its limit a container replaces its own pages, AWST chooses which. */
	if (at_limit && pool->mr.policy != HIPEC_MR_AWST)
		return 0;
	if (core->ops->allowance && core->ops->allowance(core) <= 0)
		return 0;
	if (core->denied) {
		core->denied--;
		return 0;
	}
	if (name_for_demand(core, d, at_limit))
		return 1;
	ret = pool->together > 1 ? find_frame_together(core) : find_pool_frame(core, at_limit);
	hipec_core_catch_up(core);
	if (ret != 2)
		return ret;
	ret = hipec_core_grow(core, 1, effort);
	atomic_long_add(-1, &pool->nr);	/* find_pool_frame() counted it already */
	return ret;
}

/**
 * hipec_pool_recover() - reverse the decision that a page should go, if it was bad
 * @core: container that shares
 * @pgno: page that faulted and has no frame
 *
 * The policy gave it up in place of another one, which has not been referenced
 * since: that one goes.
 *
 * Context: expects the container's lock; may sleep.
 * Source: hipec-1997, "Implementation" and Figure 5.
 */
void hipec_pool_recover(struct hipec_core *core, u32 pgno)
{
	u32 kept, h;
	bool live;

	if (!READ_ONCE(core->pool->recovery) ||
	    !hipec_recover_find(&core->recover, pgno, &kept))
		return;
	hipec_recover_drop_evicted(&core->recover, pgno);
	h = hipec_page_find(&core->vm, kept);
	if (!h || !hipec_core_resident(core, h) ||
	    core->ops->referenced(core, h, HIPEC_REF_POOL))
		return;
	live = hipec_page_live(&core->vm, h);
	if (!hipec_core_evict(core, h, true, HIPEC_EVICT_TAKEN))
		return;
	core->counters.recovered++;
	if (live)
		hipec_core_remove(core, kept);
	hipec_recover_doubt_reversed(&core->doubt);
}

/**
 * hipec_pool_give() - have a page given up for memory's sake
 * @core: container, with room to note pages that its policy is to be told of
 * @keep: the frame stays with it, for the host to hand back; else it goes back
 *
 * A page that its policy has named, or the built-in choice. Runs no event.
 *
 * Context: expects the container's lock and, unless @keep, the pool's; may sleep.
 * Return: whether a page has gone; not if the policy has not been told of too many.
 */
bool hipec_pool_give(struct hipec_core *core, bool keep)
{
	u32 pgno;

	if (hipec_core_take_chosen(core, keep))
		return true;
	if (!may_take(core) || !(keep ? hipec_core_evict_soon(core, keep, &pgno) :
					hipec_core_evict_any(core, keep, &pgno)))
		return false;
	note_taken(core, pgno);
	return true;
}

/**
 * hipec_pool_give_page() - have a page given up for memory's sake, that others have chosen
 * @core: container, as for hipec_pool_give()
 * @h:    live page, or one that was named; its frame stays, for the host to hand back
 *
 * Context: expects the container's lock; runs no event.
 * Return: as hipec_pool_give().
 */
bool hipec_pool_give_page(struct hipec_core *core, u32 h)
{
	u32 pgno = core->vm.page[h].pgno;
	bool live = hipec_page_live(&core->vm, h);

	if ((live && !may_take(core)) || !hipec_core_evict(core, h, true, HIPEC_EVICT_TAKEN))
		return false;
	if (live)
		note_taken(core, pgno);
	return true;
}

/**
 * hipec_pool_spare() - frames that memory pressure may take
 * @pool: pool
 *
 * Context: the answer is old when it is given.
 * Return: frames, about.
 */
long hipec_pool_spare(const struct hipec_pool *pool)
{
	long spare = atomic_long_read(&pool->nr) -
		     (long)HIPEC_POOL_MIN * READ_ONCE(pool->nr_members);

	return spare > 0 ? spare : 0;
}

/**
 * hipec_pool_reclaim() - have one page given up for the system
 * @pool: pool, whose requester is NULL
 *
 * Context: expects the pool's lock; may sleep as members' hosts may.
 * Return: false if none can go now.
 */
bool hipec_pool_reclaim(struct hipec_pool *pool)
{
	return pool->mr.frame && hipec_fifo2mr_reclaim(&pool->mr, HIPEC_MR_NOBODY);
}
