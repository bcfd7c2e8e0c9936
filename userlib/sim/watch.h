/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who watches a simulation: sim_run_watched(), or mix_run(), calls what is there of
 * struct sim_watch. Nothing that is told may be changed, nor events run.
 *
 * Interface:
 * struct sim_watch       to be embedded in what belongs to the watcher
 * sim_event_page()       the page that an event is about
 * sim_command_of()       where a machine's command stands: event, number, line
 * sim_fate_text()        what has become of a page, in words
 * hipec_vm_run_watched() hipec_vm_run(), which tells of each command
 */
#ifndef HIPEC_SIMWATCH_H
#define HIPEC_SIMWATCH_H

#include "../../module/vm/vm.h"

struct sim;

enum sim_touch {
	SIM_HIT,	/* with Access in exact mode, and else unseen */
	SIM_SOFT,	/* a hit on a page that is not mapped, with Access */
	SIM_FAULT,
	SIM_FIRST,	/* the first of a page that Prefetch brought in: a fault too */
};

/* What becomes of a page. From FREED on it loses its frame. */
#define SIM_FATES(X)						\
	X(CAME, "came in")					\
	X(FETCHED, "fetched by Prefetch")			\
	X(FLUSHED, "handed over to be written")			\
	X(WRITTEN, "written back")				\
	X(FREED, "given up")					\
	X(RELEASED, "released")					\
	X(FORGOTTEN, "taken: it was on no queue")		\
	X(TAKEN, "taken by the built-in replacement")		\
	X(DROPPED, "dropped: Prefetch brought it in for nothing")

enum sim_fate {
#define X(name, text) SIM_PAGE_##name,
	SIM_FATES(X)
#undef X
};

/* Where a command of a policy stands. */
struct sim_command {
	u32 word;	/* index of the policy's words and lines */
	u32 event;	/* number; below a call that of the event called */
	u32 command;	/* of the event, from 1 */
	u32 line;	/* of the source; 0: not known */
	u32 depth;	/* calls below the event that the host runs */
};

/**
 * struct sim_watch - who watches
 * @access:  before an access, number s->nr_accesses, is served; in its order
 * @event:   s->core.event begins, or has ended; not told of events that a policy calls
 * @page:    of page @h, which is still where it was if it leaves, and was already
 *           hidden by its leaving if it is written behind that
 * @command: before it runs, so the one before has had its effect
 * @ended:   the policy has ended, s->core.vm.exit says why, and it still has its queues
 * @over:    all accesses have been served; not of a mix
 * @moment:  of a mix: time @at, ns, has come, and nothing of it has happened yet; @s
 *           is NULL before its start and behind its end
 * @stop:    set by any of these: no further access is served
 */
struct sim_watch {
	void (*access)(struct sim_watch *w, const struct sim *s, u32 pgno,
		       bool write, enum sim_touch touch);
	void (*event)(struct sim_watch *w, const struct sim *s, u32 event,
		      bool begins);
	void (*page)(struct sim_watch *w, const struct sim *s, u32 h,
		     enum sim_fate fate);
	void (*command)(struct sim_watch *w, const struct sim *s,
			const struct sim_command *c);
	void (*ended)(struct sim_watch *w, const struct sim *s);
	void (*over)(struct sim_watch *w, const struct sim *s);
	void (*moment)(struct sim_watch *w, const struct sim *s, u64 at);
	bool stop;
};

/* The page that the event is about: FaultedAddress; 0 in Init. */
static inline u32 sim_event_page(const struct hipec_vm *vm)
{
	return vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] >> 12;
}

struct sim_command sim_command_of(const struct hipec_vm *vm,
				  const struct hipec_insn *pc,
				  const struct hipec_insn *base, u32 depth);
const char *sim_fate_text(enum sim_fate fate);
int hipec_vm_run_watched(struct hipec_vm *vm, u32 event);

#endif /* HIPEC_SIMWATCH_H */
