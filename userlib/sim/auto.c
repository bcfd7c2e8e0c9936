// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace through --policy auto: the policy that runs is the league's choice
 * (module/core/league.c), and each switch keeps the pages that are held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../module/core/league.h"
#include "auto.h"
#include "host.h"
#include "lazy.h"

/* The league, and the memory of each team; of the rehearsal behind them. */
struct teams {
	struct hipec_league league;
	void *memory[HIPEC_LEAGUE_MAX + 1], *shared[HIPEC_LEAGUE_MAX + 1];
};

/* While a policy adopts pages, no page may come or go. */
static bool keep_page(struct hipec_vm *vm, u32 h, bool keep)
{
	(void)vm;
	(void)h;
	(void)keep;
	return false;
}

static u64 grant_nothing(struct hipec_vm *vm, u64 nr)
{
	(void)vm;
	(void)nr;
	return 0;
}

static u32 fetch_nothing(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	(void)vm;
	(void)pgno;
	(void)nr;
	return 0;
}

static struct hipec_host_ops adopting_host(void)
{
	struct hipec_host_ops host = sim_host;

	host.evict = keep_page;
	host.request = grant_nothing;
	host.prefetch = fetch_nothing;
	return host;
}

/* Longer tables for what has a byte, or a handle, an entry. */
static int lengthen(struct sim *s, size_t entries)
{
	u8 *bits;
	u32 *to_write;

	if (entries <= s->entries)
		return 0;
	bits = sim_lazy_alloc(entries * sizeof(*bits));
	to_write = sim_lazy_alloc(entries * sizeof(*to_write));
	if (!bits || !to_write) {
		sim_lazy_free(bits, entries * sizeof(*bits));
		sim_lazy_free(to_write, entries * sizeof(*to_write));
		return -ENOMEM;
	}
	memcpy(bits, s->bits, s->entries * sizeof(*bits));
	memcpy(to_write, s->to_write, s->nr_to_write * sizeof(*to_write));
	sim_lazy_free(s->bits, s->entries * sizeof(*bits));
	sim_lazy_free(s->to_write, s->entries * sizeof(*to_write));
	s->bits = bits;
	s->to_write = to_write;
	s->entries = entries;
	return 0;
}

/* Memory of a machine in the making. */
struct fresh {
	void *memory, *shared;
	size_t bytes;
	u32 nr;		/* entries */
};

/* For a machine of @p that takes the place of what runs. Return: 0; -ENOMEM. */
static int fresh_alloc(struct fresh *f, struct sim *s, const struct hipec_policy *p)
{
	u32 nr = hipec_vm_nr_pages(p, s->core.nr_reserved);

	f->nr = nr < s->core.vm.nr_pages ? s->core.vm.nr_pages : nr;
	f->bytes = hipec_vm_table_size(p, f->nr);
	f->memory = sim_lazy_alloc(f->bytes);
	f->shared = calloc(1, p->shared_size + 1);
	return f->memory && f->shared ? lengthen(s, f->nr + 1ul) : -ENOMEM;
}

static void fresh_free(struct fresh *f)
{
	sim_lazy_free(f->memory, f->bytes);
	free(f->shared);
}

/* It is in charge; what was before is freed. */
static void fresh_use(struct fresh *f, struct sim *s, const struct hipec_vm *old)
{
	struct fresh before = { s->memory, s->shared, s->memory_bytes, 0 };

	fresh_free(&before);
	s->memory = f->memory;
	s->memory_bytes = f->bytes;
	s->shared = f->shared;
	s->core.vm.nr_commands += old->nr_commands;
	s->core.vm.nr_events += old->nr_events;
	s->core.late_in_a_row = s->core.helped_in_a_row = 0;
}

/**
 * sim_swap() - another policy takes the place of the one that runs, as by hipec swap
 * @s: simulator between two accesses, which nobody watches
 * @p: verified
 *
 * Return: 0; -ENOMEM; -ECANCELED if Init or Adopt ended the policy: the one before goes
 *         on.
 */
int sim_swap(struct sim *s, const struct hipec_policy *p)
{
	const struct hipec_host_ops adopting = adopting_host();
	struct hipec_vm old = s->core.vm;
	struct fresh f;
	int ret = fresh_alloc(&f, s, p);

	if (ret) {
		fresh_free(&f);
		return ret;
	}
	hipec_vm_init_table(&s->core.vm, p, &adopting, f.memory, f.shared,
			    s->core.nr_reserved, f.nr);
	ret = hipec_core_adopt(&s->core, &old);
	if (ret) {
		hipec_vm_restore(&old, &s->core.vm);
		s->core.vm = old;
		hipec_core_wants(&s->core);
		fresh_free(&f);
		return ret;
	}
	s->core.vm.host = &sim_host;
	fresh_use(&f, s, &old);
	return 0;
}

/* The policy finds the referenced bits as its team had them. */
static void copy_bits(struct sim *s, const struct hipec_candidate *t, const u32 *handle)
{
	u32 h;

	for (h = 1; h <= t->core.vm.nr_pages; h++) {
		if (!hipec_page_live(&t->core.vm, h))
			continue;
		s->bits[handle[h]] &= ~HIPEC_REF_POLICY;
		s->bits[handle[h]] |= t->bits[h] & HIPEC_REF_POLICY;
	}
}

/**
 * sim_graft() - a team's policy takes the place of what runs, with what it remembers
 * @s: simulator between two accesses, which nobody watches
 * @t: team with as many frames, which then plays on with the pages held
 *
 * Return: 0; -ENOMEM; -ENOSPC as hipec_candidate_take_over(), which a simulation never gets, and
 *         hipec_vm_map_handles(); -EAGAIN while pages are on their
 *         way: by Adopt, then.
 */
int sim_graft(struct sim *s, struct hipec_candidate *t)
{
	const struct hipec_policy *p = t->core.vm.policy;
	struct hipec_vm old = s->core.vm;
	struct fresh f;
	u32 *handle;
	int ret;

	if (s->core.nr_reading || s->core.nr_pending)
		return -EAGAIN;
	ret = fresh_alloc(&f, s, p);
	handle = ret ? NULL : calloc(t->core.vm.nr_pages + 1ul, sizeof(*handle));
	if (!handle) {
		fresh_free(&f);
		return -ENOMEM;
	}
	ret = hipec_candidate_take_over(t, &s->core);
	if (!ret)
		ret = hipec_vm_map_handles(&t->core.vm, &old, f.nr, handle);
	if (ret < 0) {
		free(handle);
		fresh_free(&f);
		return ret;
	}
	hipec_vm_init_table(&s->core.vm, p, &sim_host, f.memory, f.shared,
			    s->core.nr_reserved, f.nr);
	hipec_vm_graft(&s->core.vm, &t->core.vm, handle);
	hipec_core_wants(&s->core);
	s->core.loaded_at = t->core.loaded_at;	/* by the same clock */
	copy_bits(s, t, handle);
	free(handle);
	fresh_use(&f, s, &old);
	return 0;
}

/* Zeros for team @i, in the place of what it had. Return: 0; -ENOMEM. */
static int equip(struct teams *t, u32 i, size_t bytes, const struct hipec_policy *p)
{
	free(t->memory[i]);
	free(t->shared[i]);
	t->memory[i] = calloc(1, bytes);
	t->shared[i] = calloc(1, p->shared_size + 1);
	return t->memory[i] && t->shared[i] ? 0 : -ENOMEM;
}

static int join(struct teams *t, const struct hipec_policy *p)
{
	struct hipec_league *l = &t->league;
	u32 i = l->nr;

	if (equip(t, i, hipec_league_bytes(p, l->sample.frames, HIPEC_LEAGUE_WHOLE), p))
		return -ENOMEM;
	hipec_league_add(l, p, t->memory[i], t->shared[i]);
	return 0;
}

static int begin_rehearsal(struct sim *s, struct teams *t, const struct sim_auto *a)
{
	struct hipec_league *l = &t->league;
	const u32 i = HIPEC_LEAGUE_MAX;

	if (equip(t, i, hipec_league_warm_up_bytes(l), a->policy[l->wanted]))
		return -ENOMEM;
	hipec_league_warm_up(l, t->memory[i], t->shared[i], &s->core);
	return 0;
}

/* The policy of l->next takes over. */
static int change(struct sim *s, struct hipec_league *l, struct sim_auto *a)
{
	int ret = l->adopt ? -EAGAIN : sim_graft(s, hipec_league_source(l));

	if (ret == -EAGAIN)
		ret = sim_swap(s, a->policy[l->next]);
	if (ret == -ECANCELED) {
		hipec_league_failed(l);
		return 0;
	}
	if (ret)
		return ret;
	if (a->nr_switches < SIM_MAX_SWITCHES) {
		a->switches[a->nr_switches].at = s->nr_accesses;
		a->switches[a->nr_switches].to = l->next;
	}
	a->nr_switches++;
	hipec_league_switched(l);
	return 0;
}

static int access_page(struct sim *s, struct teams *t, struct sim_auto *a, u32 pgno, bool write)
{
	struct hipec_league *l = &t->league;
	u32 h;
	int ret = sim_access(s, pgno, write, &h);

	if (ret < 0)
		return ret;
	if (ret)
		sim_arrive(s, h, write);
	hipec_league_access(l, pgno, write, ret);
	if (l->wanted != HIPEC_LEAGUE_NONE && begin_rehearsal(s, t, a))
		return -ENOMEM;
	return l->next == l->runs ? 0 : change(s, l, a);
}

static int run_trace(struct sim *s, struct teams *t, struct sim_auto *a,
		     const struct trace *trace)
{
	size_t n;
	u32 i;
	int ret = 0;

	hipec_core_start(&s->core);
	for (n = 0; n < trace->nr_runs && !ret; n++) {
		const struct trace_run *line = &trace->run[n];

		if (n && n == trace->warm_runs)
			sim_again(s);
		if (trace->run_tag)
			sim_tag(s, trace_tag(trace, n));
		for (i = 0; i < line->nr && !ret; i++) {
			ret = access_page(s, t, a, line->pgno + i, line->write);
			sim_progress_note(s->r, s->nr_accesses);
		}
	}
	return ret;
}

/* Say what the teams did; free what they have. */
static void end(struct teams *t, struct sim_auto *a)
{
	u32 i;

	a->runs = t->league.runs;
	a->played = t->league.played;
	a->shift = t->league.sample.shift;
	for (i = 0; i < a->nr; i++)
		a->misses[i] = t->league.team[i].misses;
	for (i = 0; i < HIPEC_LEAGUE_MAX + 1; i++) {
		free(t->memory[i]);
		free(t->shared[i]);
	}
	free(t);
}

/**
 * sim_run_auto() - a trace through the league's choice
 * @a:      the league's policies, the first of which runs in the beginning; filled
 * @trace:  trace
 * @frames: 1 to SIM_MAX_FRAMES
 * @r:      filled
 *
 * The mode is exact. What the context and the hint of an access are, teams are not told.
 *
 * Return: 0; -ENOMEM; -E2BIG and -ENOBUFS as sim_run_watched().
 */
int sim_run_auto(struct sim_auto *a, const struct trace *trace, u32 frames,
		 struct sim_result *r)
{
	struct teams *t = calloc(1, sizeof(*t));
	struct sim s;
	u32 i;
	int ret;

	if (!t)
		return -ENOMEM;
	hipec_league_init(&t->league, frames, a->salt);
	ret = sim_open(&s, a->policy[0], frames, SIM_EXACT, r, NULL);
	for (i = 0; i < a->nr && !ret; i++)
		ret = join(t, a->policy[i]);
	s.league = &t->league;
	a->nr_switches = 0;
	if (!ret)
		ret = run_trace(&s, t, a, trace);
	end(t, a);
	sim_close(&s);
	return ret;
}
