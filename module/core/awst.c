// SPDX-License-Identifier: GPL-2.0-only
/*
 * AWST(min, max), the second global policy: which page it chooses. What happens
 * to the page then is in fifo2mr.c. It is the simulator's: hipec.ko is built without it.
 *
 * Each owner has a queue of its own and each page a stamp from when it came in,
 * so that an owner's oldest page is at hand; one queue for all would be searched from its
 * head past whatever others hold. The oldest of all is that of the owner at the top of a
 * heap. Oldest pages leave, or become the youngest, and what takes their place is younger:
 * so the stamp that an owner has in the heap is no later than the true one, and is put
 * right when it comes to the top.
 *
 * Source: paper, "Hipec profiler", the modified AWST of Figure 8. That its
 * victims' containers are asked as FIFO2-MR asks them is ours: the paper says
 * nothing of it, and its profiler simulates strategies under either policy.
 */
#include "queue.h"

/* The stamp of the owner at a place of the heap. */
static u64 stamp_at(const struct hipec_mr *mr, u32 place)
{
	return mr->owner[mr->owner[place].at].stamp;
}

/* What is at the top goes down to its place. */
static void sink_top(struct hipec_mr *mr)
{
	u32 owner = mr->owner[0].at, place = 0, child;

	while ((child = 2 * place + 1) < mr->nr_heap) {
		if (child + 1 < mr->nr_heap && stamp_at(mr, child + 1) < stamp_at(mr, child))
			child++;
		if (mr->owner[owner].stamp <= stamp_at(mr, child))
			break;
		mr->owner[place].at = mr->owner[child].at;
		place = child;
	}
	mr->owner[place].at = owner;
}

/* An owner has got a page, or another min: it may have one to lose. */
static void offer_owner(struct hipec_mr *mr, u32 owner)
{
	struct hipec_mr_owner *o = &mr->owner[owner];
	u32 place, above;

	if (o->in_heap || o->fifo.count <= o->min)
		return;
	o->in_heap = true;
	o->stamp = mr->stamp[o->fifo.head];
	for (place = mr->nr_heap++; place; place = above) {
		above = (place - 1) / 2;
		if (stamp_at(mr, above) <= o->stamp)
			break;
		mr->owner[place].at = mr->owner[above].at;
	}
	mr->owner[place].at = owner;
}

/* The oldest page of an owner that has more than its min. */
static u32 oldest_page(struct hipec_mr *mr)
{
	struct hipec_mr_owner *o;

	while (mr->nr_heap) {
		o = &mr->owner[mr->owner[0].at];
		if (o->fifo.count <= o->min) {
			o->in_heap = false;
			mr->owner[0].at = mr->owner[--mr->nr_heap].at;
		} else if (o->stamp != mr->stamp[o->fifo.head]) {
			o->stamp = mr->stamp[o->fifo.head];
		} else {
			return o->fifo.head;
		}
		sink_top(mr);
	}
	return HIPEC_MR_NONE;
}

/*
 * As hipec_fifo2mr_reclaim(). A page that cannot go is the youngest from then on. Each look takes
 * the logarithm of the number of owners. Return: false as well if all are at their min.
 */
static bool awst_reclaim(struct hipec_mr *mr, u32 requester)
{
	bool own = hipec_fifo2mr_is_full(mr, requester);
	u32 looks = own ? mr->owner[requester].fifo.count : mr->nr_frames;
	u32 f;

	if (mr->most && looks > mr->most)
		looks = mr->most;
	while (looks--) {
		f = own ? mr->owner[requester].fifo.head : oldest_page(mr);
		if (!f)
			return false;
		if (hipec_fifo2mr_probe(mr, f))
			return true;
	}
	return false;
}

/**
 * hipec_awst_init() - make a manager without frames, AWST
 * @mr:        to fill
 * @ops:       the host
 * @memory:    @nr + 1 entries, not initialised; the host frees it
 * @nr:        pages that may be in at the same time, below 2^32 - 1
 * @stamp:     @nr + 1 of them, not initialised; the host frees it
 * @owner:     @nr_owners of them, not initialised; the host frees it
 * @nr_owners: owners are numbered from 0
 *
 * Until hipec_fifo2mr_set_limits() an owner's min is 0 and it has no max.
 *
 * Context: @mr is not in use yet.
 */
void hipec_awst_init(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
		     struct hipec_mr_frame *memory, u32 nr, u64 *stamp,
		     struct hipec_mr_owner *owner, u32 nr_owners)
{
	u32 i;

	hipec_fifo2mr_init(mr, ops, memory, nr);
	mr->policy = HIPEC_MR_AWST;
	mr->reclaim = awst_reclaim;
	mr->page_added = offer_owner;
	mr->stamp = stamp;
	mr->owner = owner;
	mr->nr_owners = nr_owners;
	for (i = 0; i < nr_owners; i++)
		owner[i] = (struct hipec_mr_owner){ .max = ~0u };
}
