/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame manager's choice among the frames of all unprivileged containers:
 * FIFO2-MR, and beside it, in the simulator, AWST. An algorithm and its memory, nothing else: whose
 * frames these are, what a page number means and how a page is taken are the
 * host's (struct hipec_mr_ops). A privileged container's pages are never added.
 *
 * FIFO2-MR keeps the frames on two queues. A page comes in at the tail of the
 * active queue; from its head pages move on to the tail of the inactive queue,
 * their referenced bits reset; at its head the victim is looked for. What was
 * referenced meanwhile goes back to the tail of the active queue. The victim's
 * container is asked, and may have another page of its own go instead: then the
 * victim moves into that page's place, wherever it is (location movement).
 *
 * AWST(min, max) is first in, first out over all frames: an owner that has its
 * max loses its own oldest page, else the oldest page goes whose owner has more
 * than its min. Its victims' containers are asked in the same way, and pages
 * move in the same way; no page has a second chance.
 *
 * @mr is the manager, @f an entry, @owner a container's number, @page a number
 * that the host gave the page; the last two mean nothing here.
 *
 * Figure 4 goes on until it has a page, and resets as many as it takes. A host
 * whose callers must not wait so long sets @most: then one reclaim ends after so
 * many pages that could not go, and the next one goes on where it was.
 *
 * Or a host isolates pages, and looks at them itself, when the caller's lock is not held.
 *
 * Interface:
 * hipec_fifo2mr_init(), hipec_awst_init()   a manager without frames
 * hipec_fifo2mr_more()        more entries
 * hipec_fifo2mr_set_limits()  an owner's min and max, AWST alone
 * hipec_fifo2mr_add(), hipec_fifo2mr_del()      a page comes in, leaves
 * hipec_fifo2mr_renew(), hipec_fifo2mr_forget() an entry whose page has left gets another, or none
 * hipec_fifo2mr_is_full()     whether an owner must lose a page to get one
 * hipec_fifo2mr_reclaim()     have one page given up
 * hipec_fifo2mr_age()         bits are to be reset before there is need
 * hipec_fifo2mr_isolate(), hipec_fifo2mr_put_back()  entries are on no queue, are on one again
 */
#ifndef HIPEC_CORE_FIFO2MR_H
#define HIPEC_CORE_FIFO2MR_H

#include "../vm/port.h"

#define HIPEC_MR_NONE 0			/* entry 0 is no frame */
#define HIPEC_MR_NOBODY (~0u)		/* requester that is no owner */
#define HIPEC_MR_MAX_OWNER ((1u << 24) - 1)

struct hipec_mr;

/**
 * struct hipec_mr_ops - what the manager asks of its host
 *
 * Each is called from hipec_fifo2mr_reclaim() with the caller's lock held, and may
 * sleep if the caller may. All but @moved and @reset may call hipec_fifo2mr_add() and
 * hipec_fifo2mr_del(); none may call hipec_fifo2mr_reclaim(), which would only say no.
 *
 * @referenced: whether the page was referenced since its last reset. True as
 *	well for a page that cannot be had now, its container being busy. Not
 *	called by AWST.
 * @reset: forget that the page was referenced. Not called by AWST.
 * @ask: have the victim's container give pages up: the host calls
 *	hipec_fifo2mr_del() for each. The first of them answers, and if it is not
 *	@page, @page moves into its place; more are gifts. A container without a
 *	policy, or one that is busy, deletes nothing.
 * @take: asked, the container gave up nothing, or not in time. Take @page: the
 *	host calls hipec_fifo2mr_del() for it, unless it cannot go (pinned, busy).
 * @moved: @gone is about to leave though the manager had chosen @kept, which
 *	now has its place, and its entry, @f. Called from hipec_fifo2mr_del().
 */
struct hipec_mr_ops {
	bool (*referenced)(struct hipec_mr *mr, u32 owner, u32 page);
	void (*reset)(struct hipec_mr *mr, u32 owner, u32 page);
	void (*ask)(struct hipec_mr *mr, u32 owner, u32 page);
	void (*take)(struct hipec_mr *mr, u32 owner, u32 page);
	void (*moved)(struct hipec_mr *mr, u32 owner, u32 kept, u32 gone, u32 f);
};

enum hipec_mr_policy {
	HIPEC_MR_FIFO2,
	HIPEC_MR_AWST,
};

enum hipec_mr_place {
	HIPEC_MR_UNUSED,
	HIPEC_MR_ACTIVE,
	HIPEC_MR_INACTIVE,
	HIPEC_MR_OWN,		/* AWST: its owner's queue */
	HIPEC_MR_ISOLATED,	/* none; the member that isolated it puts it back */
	HIPEC_MR_VACATED,	/* none, and it was deleted meanwhile */
};

/* A page that the manager knows: entry @f was its when that was looked up. */
struct hipec_mr_page {
	u32 f, owner, page;
};

struct hipec_mr_frame {
	u32 prev, next;		/* on its queue, HIPEC_MR_NONE at the ends */
	u32 owner : 24;
	u32 place : 8;		/* enum hipec_mr_place */
	u32 page;
};

struct hipec_mr_queue {
	u32 head, tail;		/* HIPEC_MR_NONE if it is empty */
	u32 count;		/* pages */
};

/* AWST: what an owner has and may have, pages. */
struct hipec_mr_owner {
	struct hipec_mr_queue fifo;
	u32 min, max;
	u64 stamp;		/* in the heap, of its oldest page, or of one before */
	bool in_heap;
	u32 at;			/* which owner is at this place of the heap */
};

/* All of it is protected by the caller's lock. */
struct hipec_mr {
	enum hipec_mr_policy policy;
	const struct hipec_mr_ops *ops;
	bool (*reclaim)(struct hipec_mr *mr, u32 requester);
	struct hipec_mr_frame *frame;	/* nr + 1 of them, the first unused */
	u32 nr;
	u32 unused;		/* entries that were used, linked by next */
	u32 nr_touched;		/* entries behind these never were */
	u32 nr_frames;		/* pages that are in */

	u32 most;		/* looks, and resets, in one go; 0: any number */

	/* FIFO2-MR */
	struct hipec_mr_queue active, inactive;

	/* AWST */
	struct hipec_mr_owner *owner;
	u32 nr_owners;
	void (*page_added)(struct hipec_mr *mr, u32 owner);
	u32 nr_heap;		/* owners with more than their min are in it, others may be */
	u64 *stamp;		/* of each entry: which came in before which */
	u64 clock;

	bool reclaiming;	/* hipec_fifo2mr_reclaim() is at work */
	bool looking;		/* at victim */
	bool asking;		/* its container */
	u32 victim;		/* it may have left */
	u32 victim_owner;
	u32 left;		/* pages of that owner that left meanwhile */

	/* Of the last hipec_fifo2mr_reclaim(), pages. */
	u32 moved;		/* kept, another having gone: 0 or 1 */
	u32 passed;		/* referenced, or could not go */
};

void hipec_fifo2mr_init(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
			struct hipec_mr_frame *memory, u32 nr);
void hipec_awst_init(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
		     struct hipec_mr_frame *memory, u32 nr, u64 *stamp,
		     struct hipec_mr_owner *owner, u32 nr_owners);
void hipec_fifo2mr_more(struct hipec_mr *mr, struct hipec_mr_frame *memory, u32 nr);
void hipec_fifo2mr_set_limits(struct hipec_mr *mr, u32 owner, u32 min, u32 max);
u32 hipec_fifo2mr_add(struct hipec_mr *mr, u32 owner, u32 page);
void hipec_fifo2mr_del(struct hipec_mr *mr, u32 f);
void hipec_fifo2mr_renew(struct hipec_mr *mr, u32 f, u32 page);
void hipec_fifo2mr_use(struct hipec_mr *mr, u32 f, u32 owner, u32 page);
void hipec_fifo2mr_forget(struct hipec_mr *mr, u32 f);
bool hipec_fifo2mr_is_full(const struct hipec_mr *mr, u32 owner);
bool hipec_fifo2mr_reclaim(struct hipec_mr *mr, u32 requester);
u32 hipec_fifo2mr_age(struct hipec_mr *mr, struct hipec_mr_page *pages, u32 nr);
u32 hipec_fifo2mr_isolate(struct hipec_mr *mr, struct hipec_mr_page *pages, u32 nr);
void hipec_fifo2mr_put_back(struct hipec_mr *mr, u32 f);
void hipec_fifo2mr_drop(struct hipec_mr *mr, u32 f);

/* For awst.c. */
bool hipec_fifo2mr_probe(struct hipec_mr *mr, u32 f);

#endif /* HIPEC_CORE_FIFO2MR_H */
