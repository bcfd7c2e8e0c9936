// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pool and its members. sharehost.h says what it is.
 */
#include "sharehost.h"

struct hipec_sharers *hipec_sharers_new(struct kunit *test, u32 max)
{
	struct hipec_sharers *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->pool.ops = &hipec_owner_ops;
	w->pool.member = w->member;
	w->pool.max_members = SHARERS;
	w->pool.max = max;
	w->pool.slack = 1;
	w->pool.recovery = true;
	hipec_fifo2mr_init(&w->pool.mr, &hipec_pool_mr_ops, w->frame, OWNER_PAGES - 1);
	return w;
}

struct hipec_owner *hipec_sharer_new(struct kunit *test, struct hipec_sharers *w, u32 frames,
				     u32 min)
{
	struct hipec_owner *o = hipec_owner_new(test, &hipec_owner_ops, true, frames);
	struct hipec_demand d = hipec_owner_demand(o, HIPEC_NO_PGNO);
	u32 decisions = hipec_pool_decisions(&o->core);
	void *memory = kunit_kzalloc(test, hipec_recover_size(decisions, 4),
				     GFP_KERNEL);

	o->core.nr_frames = o->core.nr_free = 0;
	o->core.in_pool = kunit_kzalloc(test, OWNER_PAGES * sizeof(u32), GFP_KERNEL);
	o->core.taken = kunit_kzalloc(test, frames * sizeof(u32), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, memory && o->core.in_pool && o->core.taken);
	hipec_recover_init(&o->core.recover, memory, decisions, 4);
	KUNIT_ASSERT_EQ(test, hipec_member_join(&w->pool, &o->core, min), 0);
	while (o->core.nr_frames < min)
		KUNIT_ASSERT_EQ(test, hipec_pool_grow(&o->core, &d,
						      HIPEC_EFFORT_MOST), 1);
	hipec_core_start(&o->core);
	return o;
}

/* As a worker does it to a table in place, cache/compact.c. Return: pages that moved. */
u32 hipec_sharer_compact(struct hipec_owner *o)
{
	struct hipec_vm *vm = &o->core.vm;
	u32 moved = 0;

	hipec_core_catch_up(&o->core);
	hipec_exchange_forget(&o->core);
	while (vm->nr_unused) {
		u32 from = vm->reached, to = vm->unused;

		if (vm->page[from].flags & HIPEC_PAGE_USED) {
			hipec_compact_move(vm, from, to);
			hipec_exchange_renamed(&o->core, from, to);
			o->bits[to] = o->bits[from];
			moved++;
		}
		o->bits[from] = 0;
		hipec_compact_drop_last(vm);
	}
	return moved;
}

/* A member has entry @e, and has it isolated if that is what it says. */
static void count_entry(struct hipec_sharers *w, const struct hipec_mr_entry *e)
{
	w->used[e->f]++;
	w->isolated[e->f] += e->use == HIPEC_ENTRY_ISOLATED;
}

/* Each entry of a member is there once. Return: what is wrong, or NULL. */
static const char *count_member(struct hipec_sharers *w, const struct hipec_core *core)
{
	const struct hipec_exchange *x = &core->exchange;
	const struct hipec_mr_frame *frame;
	u32 h, i, f;

	for (h = 1; h < OWNER_PAGES; h++) {
		f = core->in_pool[h];
		if (!f)
			continue;
		i = f & ~HIPEC_ADDED;
		if (f & HIPEC_ADDED) {
			if (i >= x->nr_added || x->added[i].page != h)
				return "a page that came";
			continue;
		}
		frame = &w->frame[f];
		if (frame->page != h || frame->owner != core->member)
			return "the entry of a page";
		w->used[f]++;
	}
	for (i = 0; i < x->nr_added; i++) {
		if (core->in_pool[x->added[i].page] != (HIPEC_ADDED | i))
			return "what is to be told";
		count_entry(w, &x->added[i]);
	}
	for (i = 0; i < x->nr_vacant; i++)
		count_entry(w, &x->vacant[i]);
	for (i = 0; i < x->nr_isolated; i++)
		if (i < x->nr_passed || i >= x->at)
			w->isolated[x->isolated[i].f]++;
	for (i = 0; i < x->nr_busy; i++)
		w->isolated[x->busy[i].f]++;
	return NULL;
}

/* Entries on a queue; ~0 if it is none. */
static u32 walk(const struct hipec_sharers *w, const struct hipec_mr_queue *queue,
		enum hipec_mr_place place)
{
	u32 f, prev = 0, nr = 0;

	for (f = queue->head; f; prev = f, f = w->frame[f].next)
		if (w->frame[f].place != place || w->frame[f].prev != prev || nr++ == OWNER_PAGES)
			return ~0u;
	return queue->tail == prev && queue->count == nr ? nr : ~0u;
}

/* What is wrong with the manager's entries, or NULL. */
static const char *broken(struct hipec_sharers *w)
{
	const struct hipec_mr *mr = &w->pool.mr;
	u32 f, i, on_queue = 0, nr = 0, queues;
	const char *why;

	memset(w->used, 0, sizeof(w->used));
	memset(w->isolated, 0, sizeof(w->isolated));
	for (i = 1; i <= SHARERS; i++) {
		why = w->member[i] ? count_member(w, w->member[i]) : NULL;
		if (why)
			return why;
	}
	for (f = 1; f <= mr->nr_touched; f++) {
		u32 place = w->frame[f].place, used = w->used[f], isolated = w->isolated[f];

		nr += place != HIPEC_MR_UNUSED;
		on_queue += place == HIPEC_MR_ACTIVE || place == HIPEC_MR_INACTIVE;
		if (used != (place != HIPEC_MR_UNUSED && place != HIPEC_MR_VACATED))
			return "an entry that nobody has, or two";
		if (isolated != (place == HIPEC_MR_ISOLATED || place == HIPEC_MR_VACATED))
			return "an entry that is isolated";
	}
	queues = walk(w, &mr->active, HIPEC_MR_ACTIVE) + walk(w, &mr->inactive, HIPEC_MR_INACTIVE);
	if (queues != on_queue || nr != mr->nr_frames)
		return "the queues";
	return mr->looking || mr->asking || mr->reclaiming ? "the manager is at work" : NULL;
}

/* The manager has an entry for each page that a policy knows or has named, and for the vacant. */
void hipec_sharers_expect_entries(struct kunit *test, struct hipec_sharers *w)
{
	const char *why = broken(w);

	KUNIT_ASSERT_TRUE_MSG(test, !why, "%s", why);
}
