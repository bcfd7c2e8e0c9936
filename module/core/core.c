// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of a container: they come, get a page, lose it, go back. And the one way in
 * which its policy ends.
 */
#include "pool.h"
#include "../vm/text.h"

/**
 * hipec_core_init() - a container without pages, whose frames are all free
 * @core:        to fill, but for its machine
 * @ops:         the host
 * @nr_reserved: most frames that it may hold
 * @nr_frames:   that it has now; hipec_core_grow() gets it more
 *
 * Context: @core is not in use yet.
 */
void hipec_core_init(struct hipec_core *core, const struct hipec_core_ops *ops,
		     u32 nr_reserved, u32 nr_frames)
{
	memset((char *)core + sizeof(core->vm), 0, sizeof(*core) - sizeof(core->vm));
	core->ops = ops;
	core->nr_reserved = nr_reserved;
	core->nr_frames = nr_frames;
	core->nr_free = nr_frames;
}

/**
 * hipec_core_lost() - a page has lost its frame, and so has the container
 * @core: container
 * @h:    page, live or not; its frame is in others' hands
 *
 * One that was to go back need not any more.
 *
 * Context: expects the lock.
 */
void hipec_core_lost(struct hipec_core *core, u32 h)
{
	hipec_page_del(&core->vm, h);
	core->nr_surplus -= !!core->nr_surplus;
	core->nr_frames--;
	if (core->ops->free)
		core->ops->free(core, h, false);
	hipec_member_account(core);
}

/**
 * hipec_core_activate() - a page that was brought in is the policy's from now on
 * @core: container
 * @h:    page that has a frame and is not live
 *
 * hipec_core_added() and hipec_core_fault() are to follow.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_activate(struct hipec_core *core, u32 h)
{
	core->nr_reading--;
	hipec_page_activate(&core->vm, h);
	hipec_exchange_added(core, h);
}

/**
 * hipec_core_cleaned() - a page that was given up has been written
 * @core: container
 * @h:    pending page; its frame is clean and mapped nowhere
 *
 * Context: expects the lock.
 */
void hipec_core_cleaned(struct hipec_core *core, u32 h)
{
	core->nr_pending--;
	hipec_core_freed(core, h);
}

/**
 * hipec_core_refuse() - a pending page cannot go for now
 * @core: container
 *
 * Neither the policy nor the built-in choice is asked for it again, until the host shows
 * it (hipec_core_activate(), hipec_core_restored()), or it loses its frame after all
 * (hipec_core_unbind()).
 *
 * Context: expects the lock.
 */
void hipec_core_refuse(struct hipec_core *core)
{
	core->nr_pending--;
	core->nr_reading++;
	core->counters.evictions--;
	core->counters.refused++;
}

/**
 * hipec_core_grow() - frames more, even if no page of @core is to have them
 * @core:   container
 * @nr:     frames
 * @effort: to make for them
 *
 * Context: expects the lock; may sleep unless @effort is HIPEC_EFFORT_NONE.
 * Return: frames that it got.
 */
u32 hipec_core_grow(struct hipec_core *core, u32 nr, enum hipec_effort effort)
{
	if (core->ops->allocate)
		nr = core->ops->allocate(core, nr, effort);
	core->nr_free += nr;
	core->nr_frames += nr;
	hipec_member_account(core);
	return nr;
}

/**
 * hipec_core_shrink() - a free frame is the container's no more
 * @core: container
 *
 * Context: expects the lock.
 * Return: whether there was one; the host has to take it.
 */
bool hipec_core_shrink(struct hipec_core *core)
{
	if (!core->nr_free)
		return false;
	core->nr_free--;
	core->nr_frames--;
	hipec_member_account(core);
	return true;
}

/**
 * hipec_core_request() - host operation: grow by frames that no container loses
 * @vm: machine of a container
 * @nr: frames
 *
 * A reservation grows back to what it was at the load, never beyond: the page table
 * is that long. One that shares gets what no other member would have to give up.
 *
 * Context: expects the lock; may sleep.
 * Return: frames that it got.
 */
u64 hipec_core_request(struct hipec_vm *vm, u64 nr)
{
	struct hipec_core *core = hipec_core_of(vm);
	u64 got = 0;

	while (got < nr && core->nr_surplus &&
	       hipec_core_held(core) < core->nr_reserved) {
		core->nr_surplus--;
		got++;
	}
	hipec_member_account(core);
	while (got < nr &&
	       (core->pool ? hipec_member_space(core) > 0 :
			     core->nr_frames < core->nr_reserved) &&
	       hipec_core_grow(core, 1, HIPEC_EFFORT_SOME))
		/* One command, which is to take no longer than others. */
		if (++got % HIPEC_MAX_CLUSTER == 0 && vm->host->overtime &&
		    vm->host->overtime(vm))
			break;
	return got;
}

/**
 * hipec_core_may_fetch() - whether free frames are promised to no fault, while an event runs
 * @core: container
 *
 * Not while room is made for a fault, nor where a page has just gone.
 *
 * Context: expects the lock.
 */
bool hipec_core_may_fetch(const struct hipec_core *core)
{
	return !core->making_room &&
	       !(core->demand && core->demand->whom != core) &&
	       core->event != HIPEC_EVENT_REPLACE &&
	       core->event != HIPEC_EVENT_REMOVE;
}

/**
 * hipec_core_ended() - the machine has ended the policy, and vm.exit says how
 * @core: container
 *
 * From now on FIFO with a second chance is in charge of its frames, all of which it
 * keeps.
 *
 * Context: expects the lock; not from within an event.
 */
void hipec_core_ended(struct hipec_core *core)
{
	struct hipec_exit *e = &core->vm.exit;
	struct hipec_text text;

	hipec_text_init(&text, e->message, sizeof(e->message));
	hipec_vm_explain_exit(core->vm.policy, e, &text);
	if (core->ops->ended)
		core->ops->ended(core);
	hipec_vm_abandon(&core->vm);
}

/**
 * hipec_core_end() - end a container's policy
 * @core: container
 * @kind: HIPEC_EXIT_*, which is not a command's
 *
 * Context: expects the lock; not from within an event.
 * Return: false if it has ended before, for another reason.
 */
bool hipec_core_end(struct hipec_core *core, u32 kind)
{
	if (core->vm.exit.kind)
		return false;
	hipec_vm_end(&core->vm, kind);
	hipec_core_ended(core);
	return true;
}
