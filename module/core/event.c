// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a container's policy: when they run, what they know, how they end.
 *
 * Interface:
 * hipec_core_wants()     what the policy reads is known from now on
 * hipec_core_start()     Init, once
 * hipec_core_adopt()     Init and Adopt, of a policy that takes another's place
 * hipec_core_fault()     PageFault, for a page that was brought in
 * hipec_core_replace()   Replace, for a frame
 * hipec_core_access()    Access, for a touch
 * hipec_core_harvest()   Access, for pages found referenced
 * hipec_core_remove()    Remove, for a page that the policy did not give up
 * hipec_core_timer()     Timer
 * hipec_core_spare()     PageFault, for a page that was named and is touched
 * hipec_core_catch_up(), _some()  Remove, for pages that others took
 */
#include "pool.h"
#include "../vm/text.h"

static u64 read_clock(struct hipec_core *core)
{
	return core->ops->now ? core->ops->now(core) : 0;
}

/* The last event was given up: once is the policy's loss, often its end. */
static void note_late(struct hipec_core *core)
{
	struct hipec_exit *e = &core->vm.late;
	struct hipec_text text;

	hipec_text_init(&text, e->message, sizeof(e->message));
	hipec_vm_explain_exit(core->vm.policy, e, &text);
	core->counters.late++;
	if (core->ops->late && core->ops->late(core))
		return;
	if (core->event != core->late_event)
		core->late_in_a_row = 0;
	core->late_event = core->event;
	if (++core->late_in_a_row == HIPEC_MAX_LATE)
		hipec_core_end(core, HIPEC_EXIT_LATE);
}

/* The last event has ended with @ret, or is not late as those before it were. */
static void note_end(struct hipec_core *core, int ret)
{
	if (ret == -ECANCELED)
		hipec_core_ended(core);
	else if (ret == -EAGAIN)
		return;
	else if (ret)
		note_late(core);
	else if (core->event == core->late_event)
		core->late_in_a_row = 0;
}

/* What the application says about an access, or about its page. */
static s64 hint_of(struct hipec_core *core, u32 pgno)
{
	return core->ops->hint ? core->ops->hint(core, pgno) : core->hint;
}

/*
 * Run an event where there is more to tell, or to do, than of most. An access brings
 * its context along, and the events that it is the cause of have it too; but what
 * another container wants, or a page's end, is not the fault's.
 */
static int run_special(struct hipec_core *core, u32 event, u32 pgno)
{
	bool other = event == HIPEC_EVENT_REMOVE || pgno == HIPEC_NO_PGNO;
	s64 *slot = core->vm.slot;

	slot[HIPEC_SLOT_CONTEXT] = other ? 0 : core->context;
	if (core->wants_hint)
		slot[HIPEC_SLOT_HINT] = other ? 0 : hint_of(core, pgno);
	if (core->pool)
		slot[HIPEC_SLOT_FRAME_BUDGET] += hipec_member_space(core);
	if (core->wants_time)
		slot[HIPEC_SLOT_TIME] = read_clock(core) - core->loaded_at;
	if (core->ops->run)
		return core->ops->run(core, event);
	return hipec_tracer_run(&core->vm, event);
}

/*
 * Run an event that the policy has; @pgno: page that it is about, or HIPEC_NO_PGNO;
 * @free: frames it may count on. Owes hipec_core_settle(). Return: as hipec_vm_run(); an end
 * has not been told.
 */
static __always_inline int start_event(struct hipec_core *core, u32 event, u32 pgno,
				       u32 free)
{
	struct hipec_vm *vm = &core->vm;

	core->event = event;
	core->event_since = 0;
	vm->slot[HIPEC_SLOT_FREE_COUNT] = free;
	vm->queue[HIPEC_QUEUE_FREE].count = free;
	vm->slot[HIPEC_SLOT_FRAME_BUDGET] = hipec_core_usable(core);
	vm->slot[HIPEC_SLOT_RESIDENT_COUNT] = vm->nr_live;
	if (unlikely(core->special))
		return run_special(core, event, pgno);
	return hipec_tracer_run(vm, event);
}

/* The same, with what follows from how it ended. */
static __always_inline void run_event(struct hipec_core *core, u32 event, u32 pgno,
				      u32 free)
{
	int ret = start_event(core, event, pgno, free);

	if (unlikely(ret | core->late_in_a_row))
		note_end(core, ret);
	hipec_core_settle(core);
	if (unlikely(core->vm.nr_live > core->nr_frames))
		hipec_core_end(core, HIPEC_EXIT_BROKEN);
}

/* What an event about a page knows. */
static __always_inline void tell_page(struct hipec_core *core, u32 pgno, bool write)
{
	core->vm.slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << 12;
	core->vm.slot[HIPEC_SLOT_FAULT_KIND] = write;
}

/* Run an event about a page, if the policy is there and has it. */
static __always_inline void run_for_page(struct hipec_core *core, u32 event,
					 u32 pgno, bool write, u32 free)
{
	if (!hipec_core_has_event(core, event))
		return;
	tell_page(core, pgno, write);
	run_event(core, event, pgno, free);
}

/* What the policy wants to know. Context: expects the lock. */
void hipec_core_wants(struct hipec_core *core)
{
	const struct hipec_policy *p = core->vm.policy;

	core->wants_time = hipec_verify_reads(p, HIPEC_SLOT_TIME);
	core->wants_hint = hipec_verify_reads(p, HIPEC_SLOT_HINT);
	core->wants_context = hipec_verify_reads(p, HIPEC_SLOT_CONTEXT);
	core->special = core->wants_time || core->wants_hint ||
			core->wants_context || core->pool || core->ops->run;
}

static void note_loaded(struct hipec_core *core)
{
	hipec_core_wants(core);
	core->loaded_at = read_clock(core);
}

/* Tell a policy that it is there. Context: expects the lock; may sleep. */
void hipec_core_start(struct hipec_core *core)
{
	note_loaded(core);
	if (hipec_vm_has_event(&core->vm, HIPEC_EVENT_INIT))
		run_event(core, HIPEC_EVENT_INIT, HIPEC_NO_PGNO, core->nr_free);
}

/* Show a page that was there before to the policy. */
static int adopt_entry(struct hipec_core *core, u32 h)
{
	hipec_page_activate(&core->vm, h);
	if (!hipec_vm_has_event(&core->vm, HIPEC_EVENT_ADOPT))
		return 0;
	tell_page(core, core->vm.page[h].pgno, false);
	return start_event(core, HIPEC_EVENT_ADOPT, core->vm.page[h].pgno, core->nr_free);
}

/**
 * hipec_core_adopt() - a policy gets the pages of the one before
 * @core: container with a machine without pages, whose host refuses what would
 *        change which pages hold frames
 * @old:  the machine before, not changed
 *
 * Init, as there are no pages yet; then one page after the other, each live before
 * its own Adopt, in the order in which they would fall to the built-in replacement.
 * The host is not told of an end.
 *
 * Context: expects the lock; may sleep.
 * Return: 0; -ECANCELED if the policy has ended, with vm.exit set; -EINTR if the task
 *         has to end.
 */
int hipec_core_adopt(struct hipec_core *core, const struct hipec_vm *old)
{
	struct hipec_vm *vm = &core->vm;
	u64 context = core->context, most;
	u32 h = 0;
	int ret = 0;

	core->context = 0;
	note_loaded(core);
	if (hipec_vm_has_event(vm, HIPEC_EVENT_INIT))
		ret = start_event(core, HIPEC_EVENT_INIT, HIPEC_NO_PGNO, core->nr_free);
	hipec_vm_inherit(vm, old);
	most = 64ull * vm->nr_pages;
	most = vm->nr_commands + HIPEC_ADOPT_FUEL * (vm->fuel > most ? vm->fuel : most);
	while (!ret && (h = hipec_vm_next_live(old, h))) {
		ret = adopt_entry(core, h);
		if (!ret && vm->nr_commands > most) {
			hipec_vm_end(vm, HIPEC_EXIT_FUEL);
			vm->exit.event = HIPEC_EVENT_ADOPT;
			ret = -ECANCELED;
		}
		if (hipec_core_pause(core) && !ret)
			ret = -EINTR;
	}
	hipec_core_settle(core);
	core->context = context;
	return ret == -ETIMEDOUT ? -EINTR : ret;
}

/**
 * hipec_core_fault() - tell the policy of a page that was brought in
 * @core:  container
 * @h:     live page, on the fallback queue or where the policy has its ghost
 * @write: the access that faulted was a write
 *
 * It cannot go before that has ended.
 *
 * Context: expects the lock; may sleep.
 * Source: hipec-1997, "Application-specific caching strategies".
 */
void hipec_core_fault(struct hipec_core *core, u32 h, bool write)
{
	core->pinned = h;
	run_for_page(core, HIPEC_EVENT_PAGEFAULT, core->vm.page[h].pgno, write,
		     core->nr_free);
	core->pinned = 0;
}

/**
 * hipec_core_replace() - ask the policy for a frame
 * @core: container
 * @d:    what it is for
 *
 * All free frames are promised to the fault that asks, so none is counted.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_replace(struct hipec_core *core, const struct hipec_demand *d)
{
	run_for_page(core, HIPEC_EVENT_REPLACE, d->pgno, d->write, 0);
}

/* Of hipec_core_access(), with a policy that has the event. */
void __hipec_core_access(struct hipec_core *core, u32 h, bool write)
{
	u32 pgno = core->vm.page[h].pgno;

	core->pinned = core->vm.found = h;
	tell_page(core, pgno, write);
	run_event(core, HIPEC_EVENT_ACCESS, pgno, core->nr_free);
	core->pinned = 0;
}

/* Of hipec_core_harvest(), where the policy or the host wants to know. */
void __hipec_core_harvest(struct hipec_core *core)
{
	u32 pgno[HIPEC_HARVEST], n, i, h;
	u64 context = core->context;
	s64 hint = core->hint;

	n = core->ops->look ? core->ops->look(core, pgno) :
			      hipec_core_probe(core, core->ops->referenced,
					       core->ops->reset, pgno);
	hipec_core_settle(core);
	core->context = core->hint = 0;	/* which access it was is not known */
	for (i = 0; i < n; i++) {
		h = hipec_page_find(&core->vm, pgno[i]);
		if (!h || !hipec_page_live(&core->vm, h))
			continue;	/* it was given up in an Access before */
		if (core->ops->touched)
			core->ops->touched(core, pgno[i]);
		run_for_page(core, HIPEC_EVENT_ACCESS, pgno[i], false,
			     core->nr_free);
	}
	core->context = context;
	core->hint = hint;
}

/**
 * hipec_core_remove() - tell the policy of a page that it did not give up
 * @core: container
 * @pgno: page that has left
 *
 * Until the event ends the policy may remember it. It is one event of many where a file or
 * a region goes, each with a time of its own: so others run between them, and a task that has
 * to end does without those that are left. The page has left all the same.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_remove(struct hipec_core *core, u32 pgno)
{
	if (hipec_core_has_event(core, HIPEC_EVENT_REMOVE) && !hipec_core_pause(core))
		run_for_page(core, HIPEC_EVENT_REMOVE, pgno, false, core->nr_free);
	hipec_page_forget_evicted(&core->vm);
	hipec_core_settle(core);
}

/* The policy's period is over. Context: expects the lock; may sleep. */
void hipec_core_timer(struct hipec_core *core)
{
	if (!hipec_core_has_event(core, HIPEC_EVENT_TIMER))
		return;
	run_event(core, HIPEC_EVENT_TIMER, HIPEC_NO_PGNO, core->nr_free);
}

/**
 * hipec_core_spare() - a page that was named is touched, and lives again
 * @core:  container
 * @h:     named page
 * @write: the access is a write
 *
 * To its policy it had gone, so it comes in; nothing is read.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_spare(struct hipec_core *core, u32 h, bool write)
{
	hipec_core_catch_up(core);
	hipec_core_unchoose(core, h);
	hipec_page_activate(&core->vm, h);
	hipec_core_fault(core, h, write);
}

/* Of hipec_core_catch_up(). Others took them in their time; the policy hears of it in its own. */
void __hipec_core_catch_up(struct hipec_core *core)
{
	u32 i;

	for (i = 0; i < core->nr_taken; i++)
		hipec_core_remove(core, core->taken[i]);
	core->nr_taken = 0;
}

/**
 * hipec_core_catch_up_some() - Remove, for pages that others took, as long as there is time
 * @core: container
 *
 * Those that are left wait for the next call; where one of them comes again, hipec_core_catch_up() is
 * to be called first.
 *
 * Context: expects the lock; not from within an event; may sleep.
 */
void hipec_core_catch_up_some(struct hipec_core *core)
{
	u32 i;

	for (i = 0; i < core->nr_taken && !hipec_core_pause(core); i++)
		hipec_core_remove(core, core->taken[i]);
	core->nr_taken -= i;
	if (unlikely(core->nr_taken))
		memmove(core->taken, core->taken + i, core->nr_taken * sizeof(*core->taken));
}
