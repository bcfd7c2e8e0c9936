/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues of frames, linked through the manager's entries by index.
 *
 * Invariants: an entry that is in is on the one queue that its place says; count
 * is the number of entries there; head is 0 exactly when tail is 0 exactly when
 * count is 0. On an owner's queue stamps rise from head to tail.
 */
#ifndef HIPEC_CORE_QUEUE_H
#define HIPEC_CORE_QUEUE_H

#include "fifo2mr.h"

/* The queue that @frame is on, or comes to. */
static inline struct hipec_mr_queue *
hipec_mr_queue_of(struct hipec_mr *mr, const struct hipec_mr_frame *frame)
{
	switch (frame->place) {
	case HIPEC_MR_ACTIVE:
		return &mr->active;
	case HIPEC_MR_INACTIVE:
		return &mr->inactive;
	default:
		return &mr->owner[frame->owner].fifo;
	}
}

/* Put @f, which is on no queue, at the tail of the one at @place. */
static inline void hipec_mr_link(struct hipec_mr *mr, u32 f,
				 enum hipec_mr_place place)
{
	struct hipec_mr_frame *frame = &mr->frame[f];
	struct hipec_mr_queue *queue;
	u32 before;

	frame->place = place;
	queue = hipec_mr_queue_of(mr, frame);
	before = queue->tail;
	frame->prev = before;
	frame->next = HIPEC_MR_NONE;
	if (before)
		mr->frame[before].next = f;
	else
		queue->head = f;
	queue->tail = f;
	queue->count++;
	if (place == HIPEC_MR_OWN) {
		mr->stamp[f] = mr->clock++;
		mr->page_added(mr, frame->owner);
	}
}

/* Take @f off its queue. */
static inline void hipec_mr_unlink(struct hipec_mr *mr, u32 f)
{
	struct hipec_mr_frame *frame = &mr->frame[f];
	struct hipec_mr_queue *queue = hipec_mr_queue_of(mr, frame);
	u32 prev = frame->prev, next = frame->next;

	if (prev)
		mr->frame[prev].next = next;
	else
		queue->head = next;
	if (next)
		mr->frame[next].prev = prev;
	else
		queue->tail = prev;
	queue->count--;
}

/* The first @nr active entries become the last inactive ones, in their order; there are so many. */
static inline void hipec_mr_deactivate(struct hipec_mr *mr, u32 nr)
{
	struct hipec_mr_queue *from = &mr->active, *to = &mr->inactive;
	u32 first = from->head, last = 0, f = first, i;

	if (!nr)
		return;
	for (i = 0; i < nr; i++) {
		mr->frame[f].place = HIPEC_MR_INACTIVE;
		last = f;
		f = mr->frame[f].next;
	}
	mr->frame[first].prev = to->tail;
	if (to->tail)
		mr->frame[to->tail].next = first;
	else
		to->head = first;
	to->tail = last;
	to->count += nr;
	mr->frame[last].next = HIPEC_MR_NONE;
	from->head = f;
	from->count -= nr;
	if (f)
		mr->frame[f].prev = HIPEC_MR_NONE;
	else
		from->tail = HIPEC_MR_NONE;
}

#endif /* HIPEC_CORE_QUEUE_H */
