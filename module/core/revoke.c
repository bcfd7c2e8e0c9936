// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beside a container that is watched plays a team of one, the default policy (judge.c),
 * and the policy's faults are held against the contract (contract.c). A policy that
 * breaks it ends here, with all frames kept. Where a league plays whose first team is the
 * default, there is no judge: that team's misses are the default's, here and in all that
 * is said of it.
 *
 * Interface:
 * hipec_core_watch()        a policy was loaded
 * hipec_core_watch_again()  another one has taken its place
 * hipec_core_watch_league() a league plays from now on, or another of its teams runs
 * hipec_core_missed()       the policy of a league missed a page
 * hipec_core_added()        a page came in, as it was wanted or before
 * hipec_core_removing()     a live page is about to lose its frame
 * hipec_core_restored()     it has not lost it, and is live again
 * hipec_core_touched()      a live page was touched, and that is known at once
 */
#include "league.h"
#include "pool.h"

static bool is_watched(const struct hipec_core *core)
{
	return core->judge &&
	       (!core->vm.exit.kind || core->watched_for_good);
}

/* Windows of another policy; what is known of the one before stays in the sum. */
static void begin_windows(struct hipec_core *core, u32 shift)
{
	core->windows = (struct hipec_windows){
		.contract = &hipec_contract_default, .shift = shift,
		.sum = core->windows.sum,
	};
}

/**
 * hipec_core_watch() - begin to hold a policy to the contract
 * @core: container; nothing if it has no judge
 * @salt: of the sample, unknown to the policy's author
 *
 * Context: expects the lock.
 */
void hipec_core_watch(struct hipec_core *core, u32 salt)
{
	if (!core->judge)
		return;
	hipec_judge_init(core->judge, core, salt);
	begin_windows(core, core->judge->sample.shift);
	core->windows.frames = core->nr_reserved;
}

/**
 * hipec_core_watch_again() - hold another policy to the contract, from now on
 * @core: container; nothing if it has no judge
 *
 * The default starts with the pages that the policy starts with.
 *
 * Context: expects the lock; may sleep; hipec_core_settle() is owed to it.
 */
void hipec_core_watch_again(struct hipec_core *core)
{
	u32 h = 0;

	if (!core->judge)
		return;
	hipec_core_watch(core, core->vm.salt);
	while ((h = hipec_vm_next_live(&core->vm, h))) {
		hipec_judge_added(core->judge, core->vm.page[h].pgno, true);
		if (core->ops->pause)
			core->ops->pause(core);
	}
	memset(&core->windows.open, 0, sizeof(core->windows.open));
}

/* A window may be closed, and the policy have broken the contract. */
static void judge_window(struct hipec_core *core)
{
	const struct hipec_window *last = &core->windows.last;
	enum hipec_verdict verdict = hipec_contract_close_window(&core->windows);
	bool revoke = verdict == HIPEC_VERDICT_REVOKE;
	struct hipec_bounds bounds;

	if (verdict == HIPEC_VERDICT_NONE)
		return;
	bounds = hipec_estimate_bounds(&core->windows.sum);
	core->counters.windows++;
	core->counters.bad_windows += verdict != HIPEC_VERDICT_GOOD;
	core->counters.judged_faults += last->faults;
	core->counters.default_faults += (u64)last->standard << last->shift;
	core->counters.default_least = bounds.least;
	core->counters.default_most = bounds.most;
	if (core->ops->window)
		revoke = core->ops->window(core, verdict);
	if (revoke)
		hipec_core_end(core, HIPEC_EXIT_WORSE);
}

/**
 * hipec_core_watch_league() - hold what runs to the contract, against the league's default
 * @core: container without a judge
 * @l:    its league, whose first team is the default
 *
 * Until core->beside is false.
 *
 * Context: expects the lock.
 */
void hipec_core_watch_league(struct hipec_core *core, struct hipec_league *l)
{
	core->beside = true;
	begin_windows(core, l->sample.shift);
	memcpy(l->judged.real, l->total, sizeof(l->judged.real));
	memcpy(l->judged.first, l->team[0].total, sizeof(l->judged.first));
}

/* What the classes missed in the window, of what runs and of the default. */
static void fill_window(struct hipec_window *w, struct hipec_league *l)
{
	const u64 *first = l->team[0].total;
	u32 k;

	for (k = 0; k < HIPEC_CLASSES; k++) {
		w->class_sampled[k] = l->total[k] - l->judged.real[k];
		w->class_standard[k] = first[k] - l->judged.first[k];
		w->sampled += w->class_sampled[k];
		w->standard += w->class_standard[k];
		l->judged.real[k] = l->total[k];
		l->judged.first[k] = first[k];
	}
}

/**
 * hipec_core_missed() - the policy of a league missed a page
 * @core: container, with core->beside
 * @l:    its league, which has played the access
 *
 * Nothing while the default itself runs.
 *
 * Context: expects the lock; may sleep; the policy may end.
 * Source: hipec-1997, "Protection mechanism", which leaves revocation open.
 */
void hipec_core_missed(struct hipec_core *core, struct hipec_league *l)
{
	struct hipec_windows *w = &core->windows;

	if (!l->runs)
		return;
	w->frames = hipec_core_usable(core);
	if (++w->open.faults < hipec_contract_window(w->contract, w->frames))
		return;
	fill_window(&w->open, l);
	judge_window(core);
}

/*
 * Of hipec_core_added(), of a container that has a judge.
 *
 * Source: hipec-1997, "Protection mechanism", which leaves revocation open.
 */
void __hipec_core_added(struct hipec_core *core, u32 pgno, bool ahead)
{
	if (!is_watched(core))
		return;
	hipec_judge_added(core->judge, pgno, ahead);
	if (ahead)
		return;
	core->windows.frames = hipec_core_usable(core);
	judge_window(core);
}

/* Live page @h is about to lose its frame. Context: expects the lock. */
void hipec_core_removing(struct hipec_core *core, u32 h)
{
	if (is_watched(core))
		hipec_judge_removing(core->judge, core->vm.page[h].pgno);
	hipec_exchange_removed(core, h);
}

/**
 * hipec_core_restored() - a page that was given up could not go, and is live again
 * @core:    container
 * @pgno:    live page
 * @touched: it is live by a touch
 *
 * That it is there costs neither the policy nor the default a fault.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_restored(struct hipec_core *core, u32 pgno, bool touched)
{
	if (is_watched(core))
		hipec_judge_restored(core->judge, pgno, touched);
}

/* Of hipec_core_access(), where the judge has the page in its sample. */
void hipec_core_touched(struct hipec_core *core, u32 pgno)
{
	if (is_watched(core))
		hipec_judge_touched(core->judge, pgno);
}
