// SPDX-License-Identifier: GPL-2.0-only
/*
 * What there is to tell those who watch a simulation.
 */
#include "host.h"

/**
 * sim_command_of() - where a command stands
 * @vm:    machine
 * @pc:    command
 * @base:  word 0 of its event
 * @depth: calls below the event that the host runs
 *
 * Those that called it are in @vm->frame, below @depth.
 *
 * Return: its place.
 */
struct sim_command sim_command_of(const struct hipec_vm *vm,
				  const struct hipec_insn *pc,
				  const struct hipec_insn *base, u32 depth)
{
	const struct hipec_policy *p = vm->policy;
	u32 word = pc - vm->code, n = 0;

	while (vm->code + p->event[n].first != base)
		n++;
	return (struct sim_command){
		.word = word, .event = p->event[n].number, .command = pc - base,
		.line = p->lines ? p->lines[word] : 0, .depth = depth,
	};
}

/* Called by module/vm/run.c as it is built for hipec_vm_run_watched(). */
void hipec_vm_step(struct hipec_vm *vm, const struct hipec_insn *pc,
		   const struct hipec_insn *base, u32 depth)
{
	struct sim *s = sim_of(vm);
	struct sim_command c;

	if (!s->watch->command)
		return;
	c = sim_command_of(vm, pc, base, depth);
	s->watch->command(s->watch, s, &c);
}

/* What has become of a page, in words. */
const char *sim_fate_text(enum sim_fate fate)
{
	static const char *const text[] = {
#define X(name, text_) [SIM_PAGE_##name] = text_,
		SIM_FATES(X)
#undef X
	};

	return text[fate];
}

static enum sim_touch touch_of(const struct sim *s, u32 h)
{
	if (!h)
		return SIM_FAULT;
	if (hipec_core_is_chosen(&s->core, h))
		return SIM_SOFT;
	if (!hipec_page_live(&s->core.vm, h))
		return SIM_FIRST;
	if (s->mode == SIM_MAPPED && !(s->bits[h] & SIM_BIT_MAPPED))
		return SIM_SOFT;
	return SIM_HIT;
}

/**
 * sim_watch_access() - tell of an access that comes now
 * @s:     simulator that somebody watches
 * @h:     entry of its page, 0: there is none
 * @pgno:  page
 * @write: whether it is written
 *
 * Return: whether that one had enough.
 */
bool sim_watch_access(struct sim *s, u32 h, u32 pgno, bool write)
{
	struct sim_watch *w = s->watch;

	if (!w->stop && w->access)
		w->access(w, s, pgno, write, touch_of(s, h));
	return w->stop;
}
