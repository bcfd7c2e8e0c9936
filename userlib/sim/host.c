// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the engine and the policy ask of their host, for frames that are counted, bits
 * that are in an array, and a disk that brings in one page a fault.
 */
#include "../../module/core/league.h"
#include "mixpool.h"
#include "host.h"

static void queue_write(struct sim *s, u32 h)
{
	if (!(s->bits[h] & SIM_BIT_WRITING))
		s->to_write[s->nr_to_write++] = h;
	s->bits[h] |= SIM_BIT_WRITING;
	s->core.unsettled = true;
}

/* Write what is to be written; frames of pages that were given up are free then. */
static void write_back(struct sim *s)
{
	u32 i;

	for (i = 0; i < s->nr_to_write; i++) {
		u32 h = s->to_write[i];
		u32 pgno = s->core.vm.page[h].pgno;
		bool pending = s->bits[h] & SIM_BIT_EVICT_PENDING;

		if (s->bits[h] & SIM_BIT_MOD) {
			s->r->written++;
			sim_note_write(s->r, pgno);
			sim_watch_page(s, h, SIM_PAGE_WRITTEN);
			if (s->disk)
				mix_disk_io(s->disk, s, pgno, true);
		}
		s->bits[h] &= ~(SIM_BIT_MOD | SIM_BIT_WRITING);
		if (pending) {
			s->bits[h] = 0;
			hipec_core_cleaned(&s->core, h);
		}
	}
	s->nr_to_write = 0;
}

static void core_settle(struct hipec_core *core)
{
	struct sim *s = sim_of(&core->vm);

	if (s->running && s->watch->event)
		s->watch->event(s->watch, s, core->event, false);
	s->running = false;
	write_back(s);
	core->unsettled = false;
}

static int core_evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	static const u8 fate[] = {
		[HIPEC_EVICT_FREED] = SIM_PAGE_FREED,
		[HIPEC_EVICT_RELEASED] = SIM_PAGE_RELEASED,
		[HIPEC_EVICT_ORPHAN] = SIM_PAGE_FORGOTTEN,
		[HIPEC_EVICT_TAKEN] = SIM_PAGE_TAKEN,
		[HIPEC_EVICT_LAST] = SIM_PAGE_TAKEN,
	};
	struct sim *s = sim_of(&core->vm);

	sim_watch_page(s, h, fate[why]);
	if (s->league)
		hipec_sampling_removed(&s->league->sample, core->vm.page[h].pgno);
	/* The judge asks once more. */
	s->bits[h] &= HIPEC_REF_JUDGE | SIM_BIT_MOD | SIM_BIT_WRITING;
	if (!(s->bits[h] & SIM_BIT_MOD))
		return 0;
	queue_write(s, h);
	s->bits[h] |= SIM_BIT_EVICT_PENDING;
	return -EINPROGRESS;
}

/* A page that is to go is written, so that its frame is free when somebody takes it. */
static bool core_name(struct hipec_core *core, u32 h)
{
	struct sim *s = sim_of(&core->vm);

	if (s->bits[h] & SIM_BIT_MOD)
		queue_write(s, h);
	return true;
}

/* What a kernel's worker would do is done by the mix, when whoever faults waits. */
static void core_refill(struct hipec_core *core)
{
	sim_of(&core->vm)->refill = true;
}

/* Hardware has one bit, which a kernel would copy for its readers: here each has one. */
static bool core_referenced(struct hipec_core *core, u32 h, u32 who)
{
	return sim_of(&core->vm)->bits[h] & who;
}

static void core_reset(struct hipec_core *core, u32 h, u32 who)
{
	sim_of(&core->vm)->bits[h] &= ~who;
}

static u32 core_look(struct hipec_core *core, u32 pgno[HIPEC_HARVEST])
{
	return hipec_core_probe(core, core_referenced, core_reset, pgno);
}

static u64 core_now(struct hipec_core *core)
{
	return sim_of(&core->vm)->nr_accesses;
}

static void core_ended(struct hipec_core *core)
{
	struct sim *s = sim_of(&core->vm);

	s->r->ended_at = s->nr_accesses;
	if (s->watch && s->watch->ended)
		s->watch->ended(s->watch, s);
}

/* What the module would revoke goes on here, unless it is of a mix. */
static bool core_window(struct hipec_core *core, enum hipec_verdict verdict)
{
	struct sim *s = sim_of(&core->vm);

	sim_contract_note(s->contract, &core->windows, verdict, s->r->faults);
	return s->revocable && s->contract->revoked_at;
}

/* Run an event; the watcher is told, and of its end when it is settled. */
static int run_watched(struct hipec_core *core, u32 event)
{
	struct sim *s = sim_of(&core->vm);

	if (s->watch->event)
		s->watch->event(s->watch, s, event, true);
	s->running = core->unsettled = true;
	return hipec_vm_run_watched(&core->vm, event);
}

/* Run an event in native code; where somebody listens, it is interpreted. */
static int run_native(struct hipec_core *core, u32 event)
{
	int ret;

	if (core->vm.tracer)
		return hipec_tracer_run(&core->vm, event);
	ret = sim_of(&core->vm)->r->run(&core->vm, event);
	hipec_page_forget_evicted(&core->vm);
	return ret;
}

static bool host_flush(struct hipec_vm *vm, u32 h)
{
	struct sim *s = sim_of(vm);

	if (!(s->bits[h] & SIM_BIT_MOD))
		return false;
	sim_watch_page(s, h, SIM_PAGE_FLUSHED);
	queue_write(s, h);
	return true;
}

static bool host_ref(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & HIPEC_REF_POLICY;
}

static bool host_mod(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & SIM_BIT_MOD;
}

static void host_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	struct sim *s = sim_of(vm);

	if (on)
		s->bits[h] |= HIPEC_REF_POLICY;
	else
		s->bits[h] &= ~HIPEC_REF_POLICY;
}

static bool host_set_mod(struct hipec_vm *vm, u32 h)
{
	sim_of(vm)->bits[h] |= SIM_BIT_MOD;
	return true;
}

static bool host_map(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & SIM_BIT_MAPPED;
}

static bool host_unmap(struct hipec_vm *vm, u32 h)
{
	struct sim *s = sim_of(vm);
	bool mapped = s->bits[h] & SIM_BIT_MAPPED;

	s->bits[h] &= ~SIM_BIT_MAPPED;
	return mapped;
}

/**
 * sim_unfetch() - a page that Prefetch brought in is none of those any more
 * @s: simulator
 * @h: page, which was touched or is to lose its frame
 *
 * s->due then says when it is there.
 */
void sim_unfetch(struct sim *s, u32 h)
{
	u32 i, n = 0;

	for (i = 0; i < s->nr_fetched; i++)
		if (s->fetched[i].h != h)
			s->fetched[n++] = s->fetched[i];
		else
			s->due = s->fetched[i].due;
	s->nr_fetched = n;
}

/* Free what Prefetch brought in for nothing. */
static bool core_drop_ahead(struct hipec_core *core, bool stale)
{
	struct sim *s = sim_of(&core->vm);
	u32 most = core->nr_frames / 2 < HIPEC_STALE ? core->nr_frames / 2 :
						       HIPEC_STALE;
	bool dropped = false;
	u32 i = 0, h;

	while (i < s->nr_fetched) {
		h = s->fetched[i].h;
		if (stale && s->nr_shown - s->fetched[i].since <= most) {
			i++;
			continue;
		}
		sim_watch_page(s, h, SIM_PAGE_DROPPED);
		sim_unfetch(s, h);
		hipec_core_unbind(core, h, false);
		s->r->ahead_dropped++;
		dropped = true;
	}
	return dropped;
}

/* Pages of clusters of one: a read each. */
static u32 host_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	struct sim *s = sim_of(vm);
	u32 got, h;

	if (!hipec_core_may_fetch(&s->core))
		return 0;
	if (s->nr_fetched + nr > HIPEC_MAX_PREFETCH)
		core_drop_ahead(&s->core, true);
	for (got = 0; got < nr && s->core.nr_free; got++) {
		if (s->nr_fetched == HIPEC_MAX_PREFETCH)
			break;
		h = hipec_core_bind_in_event(&s->core, pgno + got);
		if (!h)
			break;
		sim_note_read(s->r, pgno + got, false);
		s->bits[h] = 0;
		s->fetched[s->nr_fetched++] = (struct sim_fetched){
			.h = h, .since = s->nr_shown,
			.due = s->disk ? mix_disk_io(s->disk, s, pgno + got,
						     false) : 0,
		};
		s->r->ahead_pages++;
		sim_watch_page(s, h, SIM_PAGE_FETCHED);
	}
	return got;
}

/* Of the policies that sim_run_policy() runs. */
const struct hipec_host_ops sim_host = {
	.evict = hipec_core_evict_page,
	.flush = host_flush,
	.ref = host_ref,
	.mod = host_mod,
	.set_ref = host_set_ref,
	.set_mod = host_set_mod,
	.map = host_map,
	.unmap = host_unmap,
	.request = hipec_core_request,
	.prefetch = host_prefetch,
};

/* Of a simulation that @run runs the events of; NULL: the engine does. */
#define SIM_CORE_OPS(run_)				\
	{						\
		.referenced = core_referenced,		\
		.reset = core_reset,			\
		.evict = core_evict,			\
		.name = core_name,			\
		.refill = core_refill,			\
		.drop_ahead = core_drop_ahead,		\
		.settle = core_settle,			\
		.run = run_,				\
		.ended = core_ended,			\
		.window = core_window,			\
		.look = core_look,			\
		.now = core_now,			\
	}

const struct hipec_core_ops sim_core_ops = SIM_CORE_OPS(NULL);
static const struct hipec_core_ops watched_ops = SIM_CORE_OPS(run_watched);
static const struct hipec_core_ops native_ops = SIM_CORE_OPS(run_native);

/**
 * sim_watch_by() - tell somebody what happens
 * @s: simulator, opened, before its first event
 * @w: NULL, or who watches
 */
void sim_watch_by(struct sim *s, struct sim_watch *w)
{
	s->watch = w;
	s->core.ops = w ? &watched_ops : s->r->run ? &native_ops : &sim_core_ops;
}
