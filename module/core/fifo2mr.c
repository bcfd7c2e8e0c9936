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
static enum hipec_mr_place entrance_place(const struct hipec_mr *mr)
{
	return mr->policy == HIPEC_MR_AWST ? HIPEC_MR_OWN : HIPEC_MR_ACTIVE;
}

/**
 * hipec_fifo2mr_add() - a page came in
 * @mr:    manager
 * @owner: its container, at most HIPEC_MR_MAX_OWNER; below nr_owners for AWST
 * @page:  its number, for the host
 *
 * It goes to the tail of the active queue. Time is constant.
 *
 * Context: expects the caller's lock, which may be held for hipec_fifo2mr_reclaim().
 * Return: its entry; HIPEC_MR_NONE if as many pages are in as hipec_fifo2mr_init()
 *         was told.
 */
u32 hipec_fifo2mr_add(struct hipec_mr *mr, u32 owner, u32 page)
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
	hipec_mr_link(mr, f, entrance_place(mr));
	mr->nr_frames++;
	return f;
}

/**
 * hipec_fifo2mr_use() - a page came in, in an entry that is on no queue
 * @mr:    manager, FIFO2-MR
 * @f:     the entry, isolated by the caller, whose page has left
 * @owner: of the page that came
 * @page:  its number
 *
 * Context: expects the caller's lock.
 */
void hipec_fifo2mr_use(struct hipec_mr *mr, u32 f, u32 owner, u32 page)
{
	mr->frame[f].owner = owner;
	mr->frame[f].page = page;
	hipec_mr_link(mr, f, HIPEC_MR_ACTIVE);
}

/**
 * hipec_fifo2mr_renew() - a page came in, in an entry whose page has left
 * @mr:   manager, FIFO2-MR
 * @f:    the entry, which was not deleted; another member may have isolated it
 * @page: the number of the page that came, of the same owner
 *
 * As hipec_fifo2mr_del() and hipec_fifo2mr_add(), without a look in between.
 *
 * Context: expects the caller's lock.
 */
void hipec_fifo2mr_renew(struct hipec_mr *mr, u32 f, u32 page)
{
	mr->frame[f].page = page;
	if (mr->frame[f].place == HIPEC_MR_ISOLATED)
		return;
	hipec_mr_unlink(mr, f);
	hipec_mr_link(mr, f, HIPEC_MR_ACTIVE);
}

/* Entry @f, which is on no queue, may be another page's. Expects the caller's lock. */
void hipec_fifo2mr_drop(struct hipec_mr *mr, u32 f)
{
	mr->frame[f].place = HIPEC_MR_UNUSED;
	mr->frame[f].next = mr->unused;
	mr->unused = f;
	mr->nr_frames--;
}

/**
 * hipec_fifo2mr_forget() - the page of an entry had left before
 * @mr: manager
 * @f:  the entry, which may be the victim: it is passed over then
 *
 * Unlike hipec_fifo2mr_del() this answers nothing.
 *
 * Context: expects the caller's lock, which may be held for hipec_fifo2mr_reclaim().
 */
void hipec_fifo2mr_forget(struct hipec_mr *mr, u32 f)
{
	if (mr->frame[f].place == HIPEC_MR_ISOLATED) {
		mr->frame[f].place = HIPEC_MR_VACATED;
		return;
	}
	hipec_mr_unlink(mr, f);
	hipec_fifo2mr_drop(mr, f);
}

/*
 * A page of the victim's owner, @f, is about to leave; has it been asked for? Then the victim
 * has its entry, and so its place. Not inlined, as few pages leave while the manager looks.
 * Return: the entry that is not needed any more.
 */
static noinline u32 give_place(struct hipec_mr *mr, u32 f)
{
	u32 victim = mr->victim, gone = mr->frame[f].page, kept = mr->frame[victim].page;

	if (mr->left++ || !mr->asking || f == victim)
		return f;
	mr->frame[f].page = kept;
	mr->frame[victim].page = gone;
	mr->moved++;
	mr->ops->moved(mr, mr->victim_owner, kept, gone, f);
	return victim;
}

/**
 * hipec_fifo2mr_del() - a page leaves, for whatever reason
 * @mr: manager
 * @f:  its entry, which hipec_fifo2mr_add() gave; another page may get it next
 *
 * While a container is asked, the first of its pages to leave answers; if the
 * manager chose another, that one moves into its place. Time is constant.
 *
 * Context: expects the caller's lock, which may be held for hipec_fifo2mr_reclaim().
 * Source: paper, "Page frame reclamation", location movement.
 */
void hipec_fifo2mr_del(struct hipec_mr *mr, u32 f)
{
	if (unlikely(mr->looking) && mr->frame[f].owner == mr->victim_owner)
		f = give_place(mr, f);
	hipec_fifo2mr_forget(mr, f);
}

/**
 * hipec_fifo2mr_probe() - have a page given up, or pass it over
 * @mr: manager
 * @f:  the page that it has chosen
 *
 * Context: expects the caller's lock; calls the host.
 * Return: whether a page of @f's owner has left. If none has, @f is where pages
 *         come in, unless it had none.
 */
bool hipec_fifo2mr_probe(struct hipec_mr *mr, u32 f)
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
	hipec_mr_link(mr, f, entrance_place(mr));
	return false;
}

/*
 * Two thirds of all pages are to be inactive, and one at least: else the only
 * page of a manager that has one would be out of reach. The first active ones become so, @most
 * of them. Return: how many.
 */
static u32 deactivate_frames(struct hipec_mr *mr, u32 most)
{
	u64 both = (u64)mr->active.count + mr->inactive.count;
	u32 target = both < 2 ? both : both * 2 / 3, nr;

	if (mr->inactive.count >= target)
		return 0;
	nr = target - mr->inactive.count;
	nr = nr < mr->active.count ? nr : mr->active.count;
	nr = nr < most ? nr : most;
	hipec_mr_deactivate(mr, nr);
	return nr;
}

static void refill_inactive_frames(struct hipec_mr *mr)
{
	u32 next, f = mr->active.head;
	u32 nr = deactivate_frames(mr, mr->most ? mr->most : mr->active.count);

	for (; nr; nr--, f = next) {
		next = mr->frame[f].next;
		mr->ops->reset(mr, mr->frame[f].owner, mr->frame[f].page);
	}
}

/*
 * Pages pass the inactive queue's head in one circle, so twice as many looks as
 * there are pages show each to us once after we have reset its bit: a page that is
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
			refill_inactive_frames(mr);
		if (!mr->inactive.count)
			break;
		gone = hipec_fifo2mr_probe(mr, mr->inactive.head);
	}
	refill_inactive_frames(mr);
	return gone;
}

/**
 * hipec_fifo2mr_init() - make a manager without frames, FIFO2-MR
 * @mr:     to fill
 * @ops:    the host
 * @memory: @nr + 1 entries, not initialised; the host frees it
 * @nr:     pages that may be in at the same time, below 2^32 - 1
 *
 * Context: @mr is not in use yet.
 */
void hipec_fifo2mr_init(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
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
 * hipec_fifo2mr_more() - more entries
 * @mr:     manager, FIFO2-MR
 * @memory: where the entries are now, @nr + 1 of them: as they were, and more
 * @nr:     pages that may be in at the same time, no fewer than before
 *
 * Context: expects the caller's lock, which is not held for hipec_fifo2mr_reclaim().
 */
void hipec_fifo2mr_more(struct hipec_mr *mr, struct hipec_mr_frame *memory, u32 nr)
{
	mr->frame = memory;
	mr->nr = nr;
}

/**
 * hipec_fifo2mr_set_limits() - say what an owner is to have
 * @mr:    manager; FIFO2-MR has no use for it
 * @owner: its number
 * @min:   pages that no other owner's request takes from it
 * @max:   pages from which on it replaces its own, 1 or more
 *
 * An owner that has more than @max already keeps it, and gets no more.
 *
 * Context: expects the caller's lock.
 */
void hipec_fifo2mr_set_limits(struct hipec_mr *mr, u32 owner, u32 min, u32 max)
{
	if (owner >= mr->nr_owners)
		return;
	mr->owner[owner].min = min;
	mr->owner[owner].max = max;
	mr->page_added(mr, owner);
}

/**
 * hipec_fifo2mr_is_full() - whether an owner must lose a page before it gets one
 * @mr:    manager
 * @owner: its number, or HIPEC_MR_NOBODY
 *
 * The host asks before it uses a frame that is free, and calls
 * hipec_fifo2mr_reclaim() if so.
 *
 * Context: expects the caller's lock.
 * Return: true if @owner has its max; never for FIFO2-MR.
 */
bool hipec_fifo2mr_is_full(const struct hipec_mr *mr, u32 owner)
{
	return owner < mr->nr_owners &&
	       mr->owner[owner].fifo.count >= mr->owner[owner].max;
}

/**
 * hipec_fifo2mr_reclaim() - have one page given up
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
bool hipec_fifo2mr_reclaim(struct hipec_mr *mr, u32 requester)
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

/* What the manager knows of entry @f. */
static struct hipec_mr_page page_of(const struct hipec_mr *mr, u32 f)
{
	const struct hipec_mr_frame *frame = &mr->frame[f];

	return (struct hipec_mr_page){ .f = f, .owner = frame->owner, .page = frame->page };
}

/**
 * hipec_fifo2mr_age() - bring the inactive queue to its length before there is need
 * @mr:    manager
 * @pages: gets those whose bits are to be reset
 * @nr:    so many at most; there are more if all are used
 *
 * Figure 4 does so when it reclaims: then pages that came in since, or all if the
 * queue was empty, are judged right after their bits were reset, however much they
 * are used. To call this now and then while pages come in gives them time.
 *
 * Context: expects the caller's lock, and keeps it.
 * Return: pages; 0 for AWST, and while hipec_fifo2mr_reclaim() is at work.
 */
u32 hipec_fifo2mr_age(struct hipec_mr *mr, struct hipec_mr_page *pages, u32 nr)
{
	u32 f = mr->active.head, i;

	if (mr->policy != HIPEC_MR_FIFO2 || mr->reclaiming)
		return 0;
	nr = deactivate_frames(mr, nr);
	for (i = 0; i < nr; i++, f = mr->frame[f].next)
		pages[i] = page_of(mr, f);
	return nr;
}

/**
 * hipec_fifo2mr_isolate() - the pages that would be looked at next
 * @mr:    manager, FIFO2-MR
 * @pages: gets them
 * @nr:    so many at most
 *
 * The caller looks at them as hipec_fifo2mr_reclaim() would, when it has no lock. Each entry is put
 * back then, used by another page (hipec_fifo2mr_use()) or dropped (hipec_fifo2mr_drop()).
 *
 * Context: expects the caller's lock.
 * Return: pages; 0 if none is inactive.
 */
u32 hipec_fifo2mr_isolate(struct hipec_mr *mr, struct hipec_mr_page *pages, u32 nr)
{
	u32 f = mr->inactive.head, i;

	nr = nr < mr->inactive.count ? nr : mr->inactive.count;
	for (i = 0; i < nr; i++, f = mr->frame[f].next) {
		mr->frame[f].place = HIPEC_MR_ISOLATED;
		pages[i] = page_of(mr, f);
	}
	mr->inactive.head = f;
	mr->inactive.count -= nr;
	if (f)
		mr->frame[f].prev = HIPEC_MR_NONE;
	else
		mr->inactive.tail = HIPEC_MR_NONE;
	return nr;
}

/* What was isolated was passed over, or not looked at. Expects the caller's lock. */
void hipec_fifo2mr_put_back(struct hipec_mr *mr, u32 f)
{
	if (mr->frame[f].place == HIPEC_MR_VACATED)
		hipec_fifo2mr_drop(mr, f);
	else
		hipec_mr_link(mr, f, HIPEC_MR_ACTIVE);
}
