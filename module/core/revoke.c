// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beside a container that is watched runs a shadow of the default policy
 * (shadow.c), and the policy's faults are held against the contract (contract.c).
 * A policy that breaks it ends here, with all frames kept. Where a league plays whose
 * first team is the default, there is no shadow: that team's misses are the default's,
 * here and in all that is said of it.
 *
 * Interface:
 * hipec_core_watch()        a policy was loaded
 * hipec_core_watch_again()  another one has taken its place
 * hipec_core_watch_league() a league plays from now on, or another of its teams runs
 * hipec_core_missed()       the policy of a league missed a page
 * hipec_core_came_in()      a page came in, as it was wanted or before
 * hipec_core_leaving()      a live page is about to lose its frame
 * hipec_core_came_back()    it has not lost it, and is live again
 */
#include "league.h"
#include "pool.h"

static bool watched(const struct hipec_core *core)
{
	return core->directory &&
	       (!core->vm.exit.kind || core->watched_for_good);
}

/* The shadow is one more that reads the referenced bit, and resets it. */
static bool young(struct hipec_shadow *s, u32 pgno)
{
	struct hipec_core *core = (struct hipec_core *)
		((char *)s - offsetof(struct hipec_core, shadow));
	u32 h = hipec_page_find(&core->vm, pgno);

	if (!h || !hipec_page_live(&core->vm, h) ||
	    !core->ops->referenced(core, h, HIPEC_REF_SHADOW))
		return false;
	core->ops->reset(core, h, HIPEC_REF_SHADOW);
	return true;
}

/**
 * hipec_core_watch() - begin to hold a policy to the contract
 * @core: container; nothing if it has no directory
 * @salt: of the sample, unknown to the policy's author
 *
 * Context: expects the lock.
 */
void hipec_core_watch(struct hipec_core *core, u32 salt)
{
	if (core->directory)
		hipec_shadow_init(&core->shadow, core->directory,
				  core->nr_reserved, salt, young);
}

/**
 * hipec_core_watch_again() - hold another policy to the contract, from now on
 * @core: container; nothing if it has no directory
 *
 * The default starts with the pages that the policy starts with.
 *
 * Context: expects the lock; may sleep; hipec_core_settle() is owed to it.
 */
void hipec_core_watch_again(struct hipec_core *core)
{
	u32 h = 0;

	if (!core->directory)
		return;
	hipec_core_watch(core, core->vm.salt);
	hipec_shadow_resize(&core->shadow, hipec_core_usable(core));
	while ((h = hipec_vm_next_live(&core->vm, h))) {
		hipec_shadow_ahead(&core->shadow, core->vm.page[h].pgno);
		if (core->ops->pause)
			core->ops->pause(core);
	}
	memset(&core->shadow.window, 0, sizeof(core->shadow.window));
}

/* A window may be closed, and the policy have broken the contract. */
static void judge(struct hipec_core *core)
{
	const struct hipec_shadow_window *last = &core->shadow.last;
	enum hipec_shadow_verdict verdict = hipec_shadow_verdict(&core->shadow);
	bool revoke = verdict == HIPEC_SHADOW_REVOKE;
	struct hipec_bounds bounds;

	if (verdict == HIPEC_SHADOW_NONE)
		return;
	hipec_estimate_add(&core->estimate, last);
	bounds = hipec_estimate_bounds(&core->estimate);
	core->counters.windows++;
	core->counters.bad_windows += verdict != HIPEC_SHADOW_GOOD;
	core->counters.judged_faults += last->faults;
	core->counters.default_faults += (u64)last->shadow << last->shift;
	core->counters.default_least = bounds.least;
	core->counters.default_most = bounds.most;
	if (core->ops->window)
		revoke = core->ops->window(core, verdict);
	if (revoke)
		hipec_core_end(core, HIPEC_EXIT_WORSE);
}

/**
 * hipec_core_watch_league() - hold what runs to the contract, against the league's default
 * @core: container without a directory
 * @l:    its league, whose first team is the default
 *
 * Until core->beside is false.
 *
 * Context: expects the lock.
 */
void hipec_core_watch_league(struct hipec_core *core, struct hipec_league *l)
{
	core->beside = true;
	core->shadow = (struct hipec_shadow){
		.contract = &hipec_contract_default, .shift = l->shift,
	};
	memcpy(l->judged.real, l->total, sizeof(l->judged.real));
	memcpy(l->judged.first, l->team[0].total, sizeof(l->judged.first));
}

/* What the classes missed in the window, of what runs and of the default. */
static void fill_window(struct hipec_shadow_window *w, struct hipec_league *l)
{
	const u64 *first = l->team[0].total;
	u32 k;

	static_assert(HIPEC_LEAGUE_CLASSES == HIPEC_SHADOW_CLASSES);
	for (k = 0; k < HIPEC_LEAGUE_CLASSES; k++) {
		w->class_sampled[k] = l->total[k] - l->judged.real[k];
		w->class_shadow[k] = first[k] - l->judged.first[k];
		w->sampled += w->class_sampled[k];
		w->shadow += w->class_shadow[k];
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
	struct hipec_shadow *s = &core->shadow;

	if (!l->runs)
		return;
	s->frames = hipec_core_usable(core);
	if (++s->window.faults < hipec_contract_window(s->contract, s->frames))
		return;
	fill_window(&s->window, l);
	judge(core);
}

/*
 * Of hipec_core_came_in(), of a container that has a directory.
 *
 * Source: hipec-1997, "Protection mechanism", which leaves revocation open.
 */
void __hipec_core_came_in(struct hipec_core *core, u32 pgno, bool ahead)
{
	if (!watched(core))
		return;
	if (ahead) {
		hipec_shadow_ahead(&core->shadow, pgno);
		return;
	}
	if (core->shadow.frames != hipec_core_usable(core))
		hipec_shadow_resize(&core->shadow, hipec_core_usable(core));
	hipec_shadow_fault(&core->shadow, pgno);
	judge(core);
}

/* Live page @h is about to lose its frame. Context: expects the lock. */
void hipec_core_leaving(struct hipec_core *core, u32 h)
{
	if (watched(core))
		hipec_shadow_evicted(&core->shadow, core->vm.page[h].pgno);
	hipec_pool_removed(core, h);
}

/**
 * hipec_core_came_back() - a page that was given up could not go, and is live again
 * @core:    container
 * @pgno:    live page
 * @touched: it is so since somebody touched it
 *
 * That it is there costs neither the policy nor the default a fault.
 *
 * Context: expects the lock; may sleep.
 */
void hipec_core_came_back(struct hipec_core *core, u32 pgno, bool touched)
{
	if (!watched(core))
		return;
	hipec_shadow_back(&core->shadow, pgno);
	if (touched)
		hipec_shadow_touch(&core->shadow, pgno);
}
