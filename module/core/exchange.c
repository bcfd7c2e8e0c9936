// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a member tells the pool's manager, and what it takes from there, several pages at once:
 * exchange.h. In a small pool it is one page, and all is as if there were no such thing.
 *
 * A page that left has its entry kept: mostly a page comes in its place, and both changes are
 * one then. The manager passes over such an entry, as no member knows it any more: what it has of
 * a page holds only if in_pool says so too.
 *
 * Interface:
 * hipec_exchange_lock(), _unlock()  the pool's lock
 * hipec_exchange_together()    how many pages at once; at each join and leave
 * hipec_exchange_added(), _removed()  a page is live, is about to be live no more
 * hipec_exchange_renamed() a page has another entry in the table of its container
 * hipec_exchange_vacate()  an entry has no page
 * hipec_exchange_moved()   a page goes in another one's place
 * hipec_exchange_tell()    the manager is told of pages that came
 * hipec_exchange_forget(), _return()  and of entries without a page; of all that a member has
 * hipec_exchange_isolate()   the next pages that may go
 * hipec_exchange_lock_page() the lock of the member whose page it is
 * hipec_exchange_unlock_member()
 */
#include "pool.h"

/**
 * hipec_exchange_lock() - take the pool's lock
 * @pool: pool
 *
 * Pages come and go under the lock while a policy is asked.
 *
 * Context: expects at most members' locks; may sleep.
 * Return: false if the caller has it already. For hipec_exchange_unlock().
 */
bool hipec_exchange_lock(struct hipec_pool *pool)
{
	return !pool->ops->enter || pool->ops->enter(pool);
}

/* Drop it, unless it was the caller's before. */
void hipec_exchange_unlock(struct hipec_pool *pool, bool entered)
{
	if (pool->ops->leave)
		pool->ops->leave(pool, entered);
}

/* Of all members as many as a 128th of the pool. Expects the pool's lock. */
void hipec_exchange_together(struct hipec_pool *pool)
{
	long nr = pool->nr_members ? pool->max / ((long)HIPEC_TOGETHER_PART * pool->nr_members) : 0;

	nr = nr < pool->most_together ? nr : pool->most_together;
	pool->together = nr > 1 && pool->mr.policy == HIPEC_MR_FIFO2 ? nr : 1;
}

/* Drop a member's lock, unless it is that of @requester, which its caller has. */
void hipec_exchange_unlock_member(struct hipec_core *core, const struct hipec_core *requester)
{
	if (core->ops->unlock)
		core->ops->unlock(core, core == requester);
	else
		hipec_core_settle(core);
}

/* The manager is told of the pages that came. Expects the member's lock and the pool's. */
void hipec_exchange_tell(struct hipec_core *core)
{
	struct hipec_exchange *x = &core->exchange;
	struct hipec_mr *mr = &core->pool->mr;
	u32 i;

	for (i = 0; i < x->nr_added; i++) {
		struct hipec_mr_entry *e = &x->added[i];

		if (likely(e->use == HIPEC_ENTRY_RENEWED))
			hipec_fifo2mr_renew(mr, e->f, e->page);
		else if (e->use == HIPEC_ENTRY_ISOLATED)
			hipec_fifo2mr_use(mr, e->f, core->member, e->page);
		else if (e->use == HIPEC_ENTRY_STAYS)
			mr->frame[e->f].page = e->page;
		else
			e->f = hipec_fifo2mr_add(mr, core->member, e->page);
		core->in_pool[e->page] = e->f;
	}
	x->nr_added = 0;
}

/* The same, when the pool's lock is not held. */
static void tell_now(struct hipec_core *core)
{
	bool entered = hipec_exchange_lock(core->pool);

	hipec_exchange_tell(core);
	hipec_exchange_unlock(core->pool, entered);
}

/*
 * Whether a page has the place of entry @f and the manager was not told: it would pass over the
 * entry, again and again if its member is idle.
 */
static bool has_place(const struct hipec_core *core, u32 f)
{
	const struct hipec_exchange *x = &core->exchange;
	u32 i;

	for (i = 0; core->pool && i < x->nr_added; i++)
		if (x->added[i].f == f && x->added[i].use == HIPEC_ENTRY_STAYS)
			return true;
	return false;
}

/**
 * hipec_exchange_lock_page() - the member whose page it is, with its lock
 * @core: member that wants to know
 * @page: that the manager has named
 * @busy: gets whether its lock could not be had at once
 *
 * Context: expects @core's lock, not the pool's; the host sees to it that no member is freed.
 * Return: member; NULL if it is busy, or the page has left.
 */
struct hipec_core *hipec_exchange_lock_page(struct hipec_core *core,
					    const struct hipec_mr_page *page, bool *busy)
{
	struct hipec_core *owner = READ_ONCE(core->pool->member[page->owner]);

	*busy = owner && owner != core && owner->ops->try_lock && !owner->ops->try_lock(owner);
	if (!owner || *busy)
		return NULL;
	if (owner->pool && owner->in_pool && page->page <= owner->vm.nr_there &&
	    owner->in_pool[page->page] == page->f)
		return owner;
	if (owner != core) {
		if (has_place(owner, page->f))
			tell_now(owner);
		hipec_exchange_unlock_member(owner, core);
	}
	return NULL;
}

/* What was isolated and passed over is among others again. Expects both locks. */
static void put_back(struct hipec_core *core)
{
	struct hipec_exchange *x = &core->exchange;
	u32 i;

	for (i = 0; i < x->nr_passed; i++)
		hipec_fifo2mr_put_back(&core->pool->mr, x->isolated[i].f);
	x->nr_passed = 0;
}

/* Bits of pages that are inactive from now on: when the pool's lock is not held any more. */
static void reset_bits(struct hipec_core *core, u32 nr)
{
	int pin = hipec_pool_pin(core->pool);
	bool busy;
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct hipec_mr_page *page = &core->exchange.reset[i];
		struct hipec_core *owner = hipec_exchange_lock_page(core, page, &busy);

		if (!owner)
			continue;
		owner->ops->reset(owner, page->page, HIPEC_REF_POOL);
		if (owner != core)
			hipec_exchange_unlock_member(owner, core);
	}
	hipec_pool_unpin(core->pool, pin);
	hipec_core_settle(core);
}

/* Bits are reset ahead of need, of as many pages as in one go of the manager's. */
static void age_pool_pages(struct hipec_core *core)
{
	struct hipec_pool *pool = core->pool;
	u32 most = pool->mr.most ? pool->mr.most : ~0u, want = HIPEC_RESETS, nr = want;
	bool entered;

	for (; most && nr == want; most -= nr) {
		want = most < HIPEC_RESETS ? most : HIPEC_RESETS;
		entered = hipec_exchange_lock(pool);
		nr = hipec_fifo2mr_age(&pool->mr, core->exchange.reset, want);
		hipec_exchange_unlock(pool, entered);
		reset_bits(core, nr);
	}
}

/* The manager is told of what came, and now and then bits are reset. */
static void tell_and_age(struct hipec_core *core)
{
	struct hipec_pool *pool = core->pool;
	u32 nr = core->exchange.nr_added;
	bool entered = hipec_exchange_lock(pool), due;

	hipec_exchange_tell(core);
	due = entered && pool->nr_entered % HIPEC_AGE_EVERY + nr >= HIPEC_AGE_EVERY &&
	      atomic_long_read(&pool->nr) > pool->max / 2;
	pool->nr_entered += nr;
	hipec_exchange_unlock(pool, entered);
	if (due)
		age_pool_pages(core);
}

/* Page @page has entry @e, of which the manager is told later. */
static void note_added_entry(struct hipec_core *core, const struct hipec_mr_entry *e, u32 page)
{
	struct hipec_exchange *x = &core->exchange;

	x->added[x->nr_added] = *e;
	x->added[x->nr_added].page = page;
	core->in_pool[page] = HIPEC_ADDED | x->nr_added++;
}

/* Of hipec_exchange_added(). */
void __hipec_exchange_added(struct hipec_core *core, u32 h)
{
	struct hipec_mr_entry new = { .use = HIPEC_ENTRY_NEW }, *e = &new;
	struct hipec_exchange *x = &core->exchange;

	hipec_recover_drop_evicted(&core->recover, core->vm.page[h].pgno);
	if (likely(x->nr_vacant))
		e = &x->vacant[--x->nr_vacant];
	else if (core->pool->ops->more)
		core->pool->ops->more(core->pool);
	note_added_entry(core, e, h);
	if (x->nr_added >= core->pool->together || e == &new)
		tell_and_age(core);
}

/* Page @h has no entry any more. Return: which one it had; use NEW if it had none. */
static struct hipec_mr_entry take_pool_entry(struct hipec_core *core, u32 h)
{
	struct hipec_exchange *x = &core->exchange;
	u32 f = core->in_pool[h], i = f & ~HIPEC_ADDED;
	struct hipec_mr_entry e = {
		.f = f, .use = f ? HIPEC_ENTRY_STAYS : HIPEC_ENTRY_NEW,
	};

	core->in_pool[h] = HIPEC_MR_NONE;
	if (likely(!(f & HIPEC_ADDED)))
		return e;
	e = x->added[i];
	x->added[i] = x->added[--x->nr_added];
	if (i < x->nr_added)
		core->in_pool[x->added[i].page] = HIPEC_ADDED | i;
	return e;
}

/**
 * hipec_exchange_vacate() - an entry has no page
 * @core: member
 * @e:    the entry
 *
 * Context: expects the member's lock; may take the pool's.
 */
void hipec_exchange_vacate(struct hipec_core *core, const struct hipec_mr_entry *e)
{
	struct hipec_exchange *x = &core->exchange;
	struct hipec_pool *pool = core->pool;
	bool entered;

	if (x->nr_vacant < pool->together && !core->asked && pool->mr.policy == HIPEC_MR_FIFO2) {
		x->vacant[x->nr_vacant++] = (struct hipec_mr_entry){
			.f = e->f, .use = e->use == HIPEC_ENTRY_ISOLATED ?
				HIPEC_ENTRY_ISOLATED : HIPEC_ENTRY_RENEWED,
		};
		return;
	}
	entered = hipec_exchange_lock(pool);
	if (e->use == HIPEC_ENTRY_ISOLATED)
		hipec_fifo2mr_drop(&pool->mr, e->f);
	else
		hipec_fifo2mr_del(&pool->mr, e->f);
	hipec_exchange_unlock(pool, entered);
}

/* Page @gone goes though the manager has chosen @kept. Expects the member's lock. */
void hipec_exchange_moved(struct hipec_core *core, u32 kept, u32 gone)
{
	core->counters.moved++;
	hipec_recover_doubt_moved(&core->doubt);
	hipec_recover_add(&core->recover, core->vm.page[gone].pgno, core->vm.page[kept].pgno);
}

/*
 * The member was asked, without the pool's lock, and page @h goes that has entry @e. Another
 * one than the manager's choice? Then that has its place.
 */
static void answer_manager(struct hipec_core *core, u32 h, const struct hipec_mr_entry *e)
{
	struct hipec_exchange *x = &core->exchange;
	u32 kept = x->picked;

	x->picked = 0;
	if (h == kept)
		return;
	hipec_exchange_moved(core, kept, h);
	note_added_entry(core, e, kept);
	if (x->nr_added >= core->pool->together)
		tell_now(core);
}

/* Of hipec_exchange_removed(). */
void __hipec_exchange_removed(struct hipec_core *core, u32 h)
{
	struct hipec_mr_entry e = take_pool_entry(core, h);

	if (e.use == HIPEC_ENTRY_NEW)
		return;
	if (unlikely(core->exchange.picked))
		answer_manager(core, h, &e);
	else
		hipec_exchange_vacate(core, &e);
	hipec_recover_drop_kept(&core->recover, core->vm.page[h].pgno);
}

/* No entry is vacant, and the manager knows all pages. Expects the member's lock and the pool's. */
void hipec_exchange_forget(struct hipec_core *core)
{
	struct hipec_exchange *x = &core->exchange;
	struct hipec_mr *mr = &core->pool->mr;

	hipec_exchange_tell(core);
	while (x->nr_vacant) {
		const struct hipec_mr_entry *e = &x->vacant[--x->nr_vacant];

		if (e->use == HIPEC_ENTRY_ISOLATED)
			hipec_fifo2mr_drop(mr, e->f);
		else
			hipec_fifo2mr_forget(mr, e->f);
	}
}

/* A member has nothing of the manager's. Expects its lock and the pool's. */
void hipec_exchange_return(struct hipec_core *core)
{
	struct hipec_exchange *x = &core->exchange;

	hipec_exchange_forget(core);
	while (x->nr_busy)
		x->isolated[x->nr_passed++] = x->busy[--x->nr_busy];
	while (x->at < x->nr_isolated)
		x->isolated[x->nr_passed++] = x->isolated[x->at++];
	put_back(core);
}

/**
 * hipec_exchange_renamed() - a page has another entry in the table of its container
 * @core: container that shares; the manager knows all pages (hipec_exchange_forget())
 * @from: the entry before
 * @to:   the entry
 *
 * Context: expects the container's lock and the pool's.
 */
void hipec_exchange_renamed(struct hipec_core *core, u32 from, u32 to)
{
	u32 f = core->in_pool[from], i;

	for (i = 0; i < core->nr_chosen; i++)
		if (core->chosen[i] == from)
			core->chosen[i] = to;
	core->in_pool[from] = HIPEC_MR_NONE;
	core->in_pool[to] = f;
	if (f)
		core->pool->mr.frame[f].page = to;
}

/**
 * hipec_exchange_isolate() - the next pages that may go
 * @core: member that has looked at all that it had isolated
 *
 * They are on no queue until it has isolated others, or leaves.
 *
 * Context: expects the member's lock, not the pool's; may sleep.
 * Return: whether there are any.
 */
bool hipec_exchange_isolate(struct hipec_core *core)
{
	struct hipec_exchange *x = &core->exchange;
	struct hipec_pool *pool = core->pool;
	bool entered = hipec_exchange_lock(pool);
	u32 nr;

	put_back(core);
	hipec_exchange_tell(core);
	nr = hipec_fifo2mr_age(&pool->mr, x->reset, HIPEC_RESETS);
	x->at = 0;
	x->nr_isolated = hipec_fifo2mr_isolate(&pool->mr, x->isolated, pool->together);
	hipec_exchange_unlock(pool, entered);
	if (nr)
		reset_bits(core, nr);
	return x->nr_isolated;
}
