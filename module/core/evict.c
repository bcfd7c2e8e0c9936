// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page loses its frame; and the built-in choice of a page: FIFO with a second
 * chance, for containers without a policy, or whose policy has ended, and for
 * policies that give no frame.
 *
 * A policy names pages ahead: they are given up, and keep their frames until one is needed: the
 * first of them is taken then, without running any command of the policy.
 */
#include "pool.h"

/* A live page is given up ahead. Return: whether it is named now. */
static bool name_victim(struct hipec_core *core, u32 h)
{
	core->naming = false;
	if (core->nr_chosen == HIPEC_MAX_CHOSEN ||
	    (core->ops->name && !core->ops->name(core, h)))
		return false;
	hipec_page_deactivate(&core->vm, h);
	core->chosen[core->nr_chosen++] = h;
	return true;
}

/* Page @h, if it was named, is so no more. Context: expects the lock. */
void hipec_core_unchoose(struct hipec_core *core, u32 h)
{
	u32 from, to = 0;

	for (from = 0; from < core->nr_chosen; from++)
		if (core->chosen[from] != h)
			core->chosen[to++] = core->chosen[from];
	core->nr_chosen = to;
}

/**
 * hipec_core_unchoose_all() - pages that the policy named are live, on no queue of its own
 * @core: container
 *
 * For another policy.
 *
 * Context: expects the lock; not from within an event.
 */
void hipec_core_unchoose_all(struct hipec_core *core)
{
	while (core->nr_chosen) {
		u32 h = core->chosen[--core->nr_chosen];

		hipec_page_forget(&core->vm, h);
		hipec_page_activate(&core->vm, h);
	}
}

/* As hipec_core_evict(). */
static __always_inline bool evict_entry(struct hipec_core *core, u32 h, bool keep,
					enum hipec_evict_why why)
{
	bool live = hipec_page_live(&core->vm, h);
	int ret;

	if (h == core->pinned)
		return false;
	if (unlikely(core->naming) && live && name_victim(core, h))
		return true;
	ret = core->ops->evict(core, h, why);
	if (ret && ret != -EINPROGRESS)
		return false;
	if (core->judge || core->pool)
		hipec_core_removing(core, h);
	if (unlikely(!live))
		hipec_core_unchoose(core, h);
	core->nr_surplus += !keep;
	core->counters.evictions++;
	core->counters.given += !keep;
	if (ret) {
		if (live)
			hipec_page_deactivate(&core->vm, h);
		core->nr_pending++;
		hipec_member_account(core);
	} else {
		hipec_core_freed(core, h);
	}
	return true;
}

/**
 * hipec_core_evict() - a resident page gives its frame up
 * @core: container
 * @h:    live page, or one that was named
 * @keep: the frame stays with the container; else it goes back
 * @why:  for the host
 *
 * A clean frame is free at once, another one when it has been written. While a policy
 * names pages ahead, its frame stays with it until it is taken.
 *
 * Context: expects the lock; may sleep.
 * Return: whether the page is no longer live.
 */
bool hipec_core_evict(struct hipec_core *core, u32 h, bool keep,
		      enum hipec_evict_why why)
{
	return evict_entry(core, h, keep, why);
}

/**
 * hipec_core_take_chosen() - the first page that was named loses its frame
 * @core: container
 * @keep: the frame stays with the container; else it goes back
 *
 * Runs no event.
 *
 * Context: expects the lock; may sleep.
 * Return: false if there is none that can go.
 */
bool hipec_core_take_chosen(struct hipec_core *core, bool keep)
{
	u32 i;

	for (i = 0; i < core->nr_chosen; i++)
		if (hipec_core_evict(core, core->chosen[i], keep,
				     keep ? HIPEC_EVICT_FREED : HIPEC_EVICT_RELEASED))
			return true;
	return false;
}

/**
 * hipec_core_unbind() - a page loses its frame without being evicted
 * @core: container
 * @h:    page that is live, named or being brought in
 * @lost: the frame is in others' hands, and the container's no more
 *
 * For reads that failed and pages that were cut off their file. hipec_core_remove()
 * is to follow where the policy knew the page.
 *
 * Context: expects the lock.
 */
void hipec_core_unbind(struct hipec_core *core, u32 h, bool lost)
{
	if (hipec_core_resident(core, h))
		hipec_core_removing(core, h);
	else
		core->nr_reading--;
	hipec_core_unchoose(core, h);
	if (lost)
		hipec_core_lost(core, h);
	else
		hipec_core_freed(core, h);
}

/**
 * hipec_core_uncleaned() - a page that was given up cannot go after all
 * @core: container
 * @h:    pending page, which is dirty still or pinned
 *
 * It lives again, where the built-in replacement finds it. What a policy remembers
 * is a page without a frame: it was wrong.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_uncleaned(struct hipec_core *core, u32 h)
{
	core->nr_pending--;
	hipec_page_forget(&core->vm, h);
	hipec_page_activate(&core->vm, h);
	hipec_exchange_added(core, h);
	hipec_core_restored(core, core->vm.page[h].pgno, false);
}

/**
 * hipec_core_evict_page() - host operation: the policy gives a page up
 * @vm:   machine of a container
 * @h:    live page
 * @keep: the policy wants the frame to stay
 *
 * In a container that shares, the first page given up in a Replace of its own
 * answers it, and is named where that is wanted ahead; others, and those of other events,
 * are gifts to the pool. The last frames stay, or no fault could ever be served.
 *
 * Context: expects the lock; may sleep.
 * Return: whether the page is no longer live.
 */
bool hipec_core_evict_page(struct hipec_vm *vm, u32 h, bool keep)
{
	struct hipec_core *core = hipec_core_of(vm);
	bool own = core->demand && core->demand->whom == core;
	u32 last = 1;

	if (core->pool) {
		last = core->min_frames;
		keep = own || core->naming;
	}
	if ((!keep && hipec_core_held(core) <= last) ||
	    !evict_entry(core, h, keep, keep ? HIPEC_EVICT_FREED :
					 HIPEC_EVICT_RELEASED)) {
		core->counters.refused++;
		return false;
	}
	if (own)
		core->demand = NULL;
	return true;
}

/* Entries that may be passed over where others wait, of a queue and of all: some are ghosts. */
#define MOST_OF_QUEUE 512
#define MOST_OF_ALL 16384

enum round {
	CLEAN_ONLY,	/* evict the first that needs no write */
	SECOND_CHANCE,	/* pass over what was referenced, and reset it */
	FIRST_COME,	/* evict the first that can go */
	LAST_RESORT,	/* even if its last write failed */
};

/* Whether page @h is passed over in @round without a try. */
static bool is_spared(struct hipec_core *core, u32 h, enum round round)
{
	if (round != SECOND_CHANCE || core->few_looks == 1 ||
	    !core->ops->referenced(core, h, HIPEC_REF_POLICY))
		return false;
	core->few_looks -= core->few_looks != 0;
	core->ops->reset(core, h, HIPEC_REF_POLICY);
	return true;
}

/* Entries of a queue that may be looked at now. */
static u32 may_pass(const struct hipec_core *core, u32 q)
{
	u32 nr = core->vm.queue[q].count, most = core->few_passed - 1;

	if (!core->few_passed)
		return nr;
	if (most > MOST_OF_QUEUE)
		most = MOST_OF_QUEUE;
	return nr < most ? nr : most;
}

/* Evict a page of queue @q. What is passed over goes to the tail, if it may. */
static bool evict_from(struct hipec_core *core, u32 q, enum round round,
		       bool keep, enum hipec_evict_why why, u32 *pgno)
{
	struct hipec_vm *vm = &core->vm;
	u32 n = may_pass(core, q);
	u32 h, next;

	for (h = vm->queue[q].head; n--; h = next) {
		core->few_passed -= core->few_passed != 0;
		next = vm->page[h].next;
		if (!hipec_page_live(vm, h))
			continue;
		*pgno = vm->page[h].pgno;
		if (round == CLEAN_ONLY && core->ops->is_clean &&
		    !core->ops->is_clean(core, h))
			continue;
		if (!is_spared(core, h, round) &&
		    hipec_core_evict(core, h, keep, why))
			return true;
		if (!vm->queue[q].key)
			hipec_page_pass(vm, h);
	}
	return false;
}

/**
 * hipec_core_evict_orphan() - evict a page that is on no queue of the policy
 * @core: container
 * @keep: its frame stays with the container
 * @pgno: gets the page that was evicted
 *
 * A policy forgets a page, or goes on as if a page had gone that was refused: its
 * frame would never be given up again.
 *
 * Context: expects the lock; may sleep.
 * Return: whether a page was evicted.
 */
bool hipec_core_evict_orphan(struct hipec_core *core, bool keep, u32 *pgno)
{
	return evict_from(core, HIPEC_QUEUE_FALLBACK, FIRST_COME, keep,
			  HIPEC_EVICT_ORPHAN, pgno);
}

/*
 * First what is on no queue of the policy, then its queues in slot order; or the
 * built-in replacement's, whose active queue is the fallback one: that is last.
 */
static bool evict_in_round(struct hipec_core *core, enum round round, bool keep,
			   u32 *pgno)
{
	enum hipec_evict_why why = round == LAST_RESORT ? HIPEC_EVICT_LAST :
							  HIPEC_EVICT_TAKEN;
	bool builtin = hipec_fifo2_rules(&core->vm);
	u32 q;

	if (!builtin && evict_from(core, HIPEC_QUEUE_FALLBACK, round, keep, why,
				   pgno))
		return true;
	for (q = HIPEC_QUEUE_POLICY; q < core->vm.nr_queues; q++)
		if (evict_from(core, q, round, keep, why, pgno))
			return true;
	return builtin && evict_from(core, HIPEC_QUEUE_FALLBACK, round, keep,
				     why, pgno);
}

static bool evict_for_itself(struct hipec_vm *vm, u32 h)
{
	return hipec_core_evict(hipec_core_of(vm), h, true, HIPEC_EVICT_TAKEN);
}

static bool evict_for_others(struct hipec_vm *vm, u32 h)
{
	return hipec_core_evict(hipec_core_of(vm), h, false, HIPEC_EVICT_TAKEN);
}

/**
 * hipec_core_evict_any() - the built-in replacement
 * @core: container
 * @keep: the frame stays with the container
 * @pgno: gets the page that was evicted
 *
 * For a policy that gives no frame it goes queue by queue, and leaves them as they
 * are. Pages that were referenced get a second chance.
 *
 * Context: expects the lock; may sleep; hipec_core_settle() is owed to it.
 * Return: whether a page was evicted; false if none can go.
 */
bool hipec_core_evict_any(struct hipec_core *core, bool keep, u32 *pgno)
{
	enum round round = SECOND_CHANCE;

	if (hipec_fifo2_rules(&core->vm)) {
		if (hipec_fifo2_replace(&core->vm, keep ? evict_for_itself :
						   evict_for_others, pgno))
			return true;
		round = LAST_RESORT;
	}
	for (; round <= LAST_RESORT; round++)
		if (evict_in_round(core, round, keep, pgno))
			return true;
	return false;
}

/**
 * hipec_core_evict_soon() - the built-in replacement, for a task that is not the owner's
 * @core: container
 * @keep: the frame stays with the container
 * @pgno: gets the page that was evicted
 *
 * A look may go through page tables, and all pages may have been referenced since their bits were
 * reset: HIPEC_MAX_LOOKS of them get a second chance at most, and none where no policy rules.
 * Behind many ghosts it finds nothing.
 *
 * Context: as hipec_core_evict_any().
 * Return: as there.
 */
bool hipec_core_evict_soon(struct hipec_core *core, bool keep, u32 *pgno)
{
	enum round round = hipec_fifo2_rules(&core->vm) ? FIRST_COME : SECOND_CHANCE;
	bool gone = false;

	core->few_looks = HIPEC_MAX_LOOKS + 1;
	for (; !gone && round <= LAST_RESORT; round++) {
		core->few_passed = MOST_OF_ALL + 1;
		gone = evict_in_round(core, round, keep, pgno);
	}
	core->few_looks = core->few_passed = 0;
	return gone;
}

/**
 * hipec_core_evict_clean() - have a frame free at once, whatever else would go
 * @core: container
 * @pgno: gets the page that was evicted
 *
 * For a fault that must not wait for a write.
 *
 * Context: expects the lock; may sleep.
 * Return: whether a page was evicted.
 */
bool hipec_core_evict_clean(struct hipec_core *core, u32 *pgno)
{
	return evict_in_round(core, CLEAN_ONLY, true, pgno);
}
