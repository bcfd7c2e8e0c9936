// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFO2-MR, and what AWST shares with it: entries, and what happens to a victim.
 * fifo2mr.h says what it is. No locks, no clocks: the caller's lock is held from
 * the start of each function to its end, and while the host is called as well.
 *
 * Source: paper, Figure 4 and "Page frame reclamation"; the inactive queue's
 * target is that of Mach and of Figure 3.
 */
#include "queue.h"

static_assert(sizeof(struct hipec_mr_frame) == 16, "metadata per page");

/* Where pages come in, and where what was passed over goes. */
static enum hipec_mr_place entrance(const struct hipec_mr *mr)
{
	return mr->policy == HIPEC_MR_AWST ? HIPEC_MR_OWN : HIPEC_MR_ACTIVE;
}

/**
 * hipec_mr_add() - a page came in
 * @mr:    manager
 * @owner: its container, at most HIPEC_MR_MAX_OWNER; below nr_owners for AWST
 * @page:  its number, for the host
 *
 * It goes to the tail of the active queue. Time is constant.
 *
 * Context: expects the caller's lock, which may be held for hipec_mr_reclaim().
 * Return: its entry; HIPEC_MR_NONE if as many pages are in as hipec_mr_init()
 *         was told.
 */
u32 hipec_mr_add(struct hipec_mr *mr, u32 owner, u32 page)
{
	u32 f = mr->unused;

	if (f) {
		mr->unused = mr->frame[f].next;
	} else {
		if (mr->nr_touched == mr->nr)
			return HIPEC_MR_NONE;
		f = ++mr->nr_touched;
	}
	mr->frame[f].owner = owner;
	mr->frame[f].page = page;
	hipec_mr_link(mr, f, entrance(mr));
	mr->nr_frames++;
	return f;
}

/**
 * hipec_mr_renew() - a page came in, in an entry whose page has left
 * @mr:   manager, FIFO2-MR
 * @f:    the entry, which was not deleted
 * @page: the number of the page that came, of the same owner
 *
 * As hipec_mr_del() and hipec_mr_add(), where nobody looked in between.
 *
 * Context: expects the caller's lock.
 */
void hipec_mr_renew(struct hipec_mr *mr, u32 f, u32 page)
{
	hipec_mr_unlink(mr, f);
	mr->frame[f].page = page;
	hipec_mr_link(mr, f, HIPEC_MR_ACTIVE);
}

/* @f, which is on no queue, may be another page's. */
static void put_unused(struct hipec_mr *mr, u32 f)
{
	mr->frame[f].place = HIPEC_MR_UNUSED;
	mr->frame[f].next = mr->unused;
	mr->unused = f;
	mr->nr_frames--;
}

/**
 * hipec_mr_forget() - the page of an entry had left before
 * @mr: manager
 * @f:  the entry, which may be the victim: it is passed over then
 *
 * Unlike hipec_mr_del() this answers nothing.
 *
 * Context: expects the caller's lock, which may be held for hipec_mr_reclaim().
 */
void hipec_mr_forget(struct hipec_mr *mr, u32 f)
{
	hipec_mr_unlink(mr, f);
	put_unused(mr, f);
}

/*
 * A page of the victim's owner, @f, is about to leave; has it been asked for? Then it is on no
 * queue any more. Not inlined, as few pages leave while the manager looks.
 */
static noinline bool gave_place(struct hipec_mr *mr, u32 f)
{
	u32 victim = mr->victim;
	bool answers = mr->asking && !mr->left && f != victim;

	if (answers) {
		hipec_mr_replace(mr, f, victim);
		mr->moved++;
		mr->ops->moved(mr, mr->victim_owner, mr->frame[victim].page,
			       mr->frame[f].page);
	}
	mr->left++;
	return answers;
}

/**
 * hipec_mr_del() - a page leaves, for whatever reason
 * @mr: manager
 * @f:  its entry, which hipec_mr_add() gave; another page may get it next
 *
 * While a container is asked, the first of its pages to leave answers; if the
 * manager chose another, that one moves into its place. Time is constant.
 *
 * Context: expects the caller's lock, which may be held for hipec_mr_reclaim().
 * Source: paper, "Page frame reclamation", location movement.
 */
void hipec_mr_del(struct hipec_mr *mr, u32 f)
{
	struct hipec_mr_frame *frame = &mr->frame[f];

	if (likely(!mr->looking) || frame->owner != mr->victim_owner || !gave_place(mr, f))
		hipec_mr_unlink(mr, f);
	put_unused(mr, f);
}

/**
 * hipec_mr_look() - have a page given up, or pass it over
 * @mr: manager
 * @f:  the page that it has chosen
 *
 * Context: expects the caller's lock; calls the host.
 * Return: whether a page of @f's owner has left. If none has, @f is where pages
 *         come in, unless it had none.
 */
bool hipec_mr_look(struct hipec_mr *mr, u32 f)
{
	u32 owner = mr->frame[f].owner, page = mr->frame[f].page;
	bool passed;

	mr->looking = true;
	mr->victim = f;
	mr->victim_owner = owner;
	mr->left = 0;
	passed = mr->policy == HIPEC_MR_FIFO2 &&
		 mr->ops->referenced(mr, owner, page);
	if (!passed && !mr->left && mr->frame[f].place != HIPEC_MR_UNUSED) {
		mr->asking = true;
		mr->ops->ask(mr, owner, page);
		mr->asking = false;
		if (!mr->left)
			mr->ops->take(mr, owner, page);
	}
	mr->looking = false;
	if (mr->left)
		return true;
	if (mr->frame[f].place == HIPEC_MR_UNUSED)
		return false;
	mr->passed++;
	hipec_mr_unlink(mr, f);
	hipec_mr_link(mr, f, entrance(mr));
	return false;
}

/*
 * Two thirds of all pages are to be inactive, and one at least: else the only
 * page of a manager that has one would be out of reach.
 */
static void refill(struct hipec_mr *mr)
{
	u64 both = (u64)mr->active.count + mr->inactive.count;
	u32 target = both < 2 ? both : both * 2 / 3;
	u32 most = mr->most ? mr->most : mr->active.count;
	u32 nr, next, f = mr->active.head;

	if (mr->inactive.count >= target)
		return;
	nr = target - mr->inactive.count;
	nr = nr < mr->active.count ? nr : mr->active.count;
	nr = nr < most ? nr : most;
	hipec_mr_deactivate(mr, nr);
	for (; nr; nr--, f = next) {
		next = mr->frame[f].next;
		mr->ops->reset(mr, mr->frame[f].owner, mr->frame[f].page);
	}
}

/*
 * Pages pass the inactive queue's head in one circle, so twice as many looks as
 * there are pages show each to us once after we have reset its bit: who is
 * passed over then is busy or pinned, or referenced faster than we look.
 */
static bool fifo2_reclaim(struct hipec_mr *mr, u32 requester)
{
	u64 looks = 2ull * mr->nr_frames;
	bool gone = false;

	(void)requester;
	if (mr->most && looks > mr->most)
		looks = mr->most;
	while (!gone && looks--) {
		if (!mr->inactive.count)
			refill(mr);
		if (!mr->inactive.count)
			break;
		gone = hipec_mr_look(mr, mr->inactive.head);
	}
	refill(mr);
	return gone;
}

/**
 * hipec_mr_init() - make a manager without frames, FIFO2-MR
 * @mr:     to fill
 * @ops:    the host
 * @memory: @nr + 1 entries, not initialised; the host frees it
 * @nr:     pages that may be in at the same time, below 2^32 - 1
 *
 * Nobody else knows @mr.
 */
void hipec_mr_init(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
		   struct hipec_mr_frame *memory, u32 nr)
{
	memset(mr, 0, sizeof(*mr));
	mr->policy = HIPEC_MR_FIFO2;
	mr->ops = ops;
	mr->reclaim = fifo2_reclaim;
	mr->frame = memory;
	mr->nr = nr;
}

/**
 * hipec_mr_more() - more entries
 * @mr:     manager
 * @memory: where the entries are now, @nr + 1 of them: as they were, and more
 * @stamp:  the same of AWST's
 * @nr:     pages that may be in at the same time, no fewer than before
 *
 * Context: expects the caller's lock, which is not held for hipec_mr_reclaim().
 */
void hipec_mr_more(struct hipec_mr *mr, struct hipec_mr_frame *memory, u64 *stamp, u32 nr)
{
	mr->frame = memory;
	mr->stamp = stamp;
	mr->nr = nr;
}

/**
 * hipec_mr_reclaim() - have one page given up
 * @mr:        manager
 * @requester: owner that wants a frame, or HIPEC_MR_NOBODY. FIFO2-MR does not
 *             care, AWST has it replace its own page if it has its max
 *
 * One page or, if the container gives more, several. No page is looked at more
 * often than twice on average, and no more than @mr->most at all.
 *
 * Context: expects the caller's lock, and keeps it; calls the host.
 * Return: false if no page can go, or none of the next @mr->most, or when called
 *         by a method of struct hipec_mr_ops.
 * Source: paper, Figure 4, one turn of its first loop that ends with a page in
 *         the free queue, and its second loop.
 */
bool hipec_mr_reclaim(struct hipec_mr *mr, u32 requester)
{
	bool gone;

	if (mr->reclaiming)
		return false;
	mr->reclaiming = true;
	mr->moved = 0;
	mr->passed = 0;
	gone = mr->reclaim(mr, requester);
	mr->reclaiming = false;
	return gone;
}

/**
 * hipec_mr_age() - bring the inactive queue to its length before there is need
 * @mr: manager
 *
 * Figure 4 does so when it reclaims: then pages that came in since, or all if the
 * queue was empty, are judged right after their bits were reset, however much they
 * are used. Whoever calls this now and then while pages come in gives them time.
 *
 * Context: expects the caller's lock, and keeps it; calls the host's reset().
 */
void hipec_mr_age(struct hipec_mr *mr)
{
	if (mr->policy == HIPEC_MR_FIFO2 && !mr->reclaiming)
		refill(mr);
}
