// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of frames for a trace: containers that bring in one page a fault
 * (cluster 1) from a disk that takes no time. Frames are counted, not held; what
 * hardware keeps of a page is in an array of bits. What goes, and what a policy is
 * told, is the engine's.
 */
#include <errno.h>
#include <stdlib.h>

#include "mixpool.h"
#include "feed.h"
#include "host.h"
#include "lazy.h"

/* Of the hash of page numbers, whose every use is of memory of its own. */
#define MAX_BUCKETS (1u << 24)

/* For a test, which has a tap on the machine. */
void (*sim_opened)(struct sim *s);

/* What the hardware notes of a touch. */
static void touch(struct sim *s, u32 h, bool write)
{
	s->bits[h] |= SIM_BIT_MAPPED | HIPEC_REF_ALL | (write ? SIM_BIT_MOD : 0);
}

/* The first touch of a page that has been brought in. */
static void show(struct sim *s, u32 h, bool write)
{
	struct hipec_core *core = &s->core;

	s->nr_shown++;
	hipec_core_show(core, h);
	sim_watch_page(s, h, SIM_PAGE_CAME);
	hipec_core_came_in(core, core->vm.page[h].pgno, false);
	hipec_core_fault(core, h, write);
	touch(s, h, write);
}

/* Have a page read. */
static __always_inline int miss(struct sim *s, u32 pgno, bool write, u32 *h)
{
	const struct hipec_demand d = {
		.pgno = pgno, .write = write, .wait = true, .want = 1,
		.whom = &s->core,
	};

	if (hipec_core_make_room(&s->core, &d) != 1)
		return -ENOBUFS;
	*h = hipec_core_bind(&s->core, pgno);
	if (!*h)
		return -ENOBUFS;
	sim_note_read(s->r, pgno, write);
	s->bits[*h] = 0;
	if (s->disk)
		s->due = mix_disk_io(s->disk, s, pgno, false);
	return 0;
}

/* The first touch of a page that Prefetch has brought in. */
static void first_touch(struct sim *s, u32 h, bool write)
{
	s->r->ahead_faults++;
	s->r->ahead_reads += !write;
	sim_unfetch(s, h);
}

static __always_inline void hit(struct sim *s, u32 h, bool write)
{
	/* A mapped page is touched without anybody being told. */
	if (s->mode == SIM_EXACT || !(s->bits[h] & SIM_BIT_MAPPED))
		hipec_core_access(&s->core, h, write);
	touch(s, h, write);
}

/* As sim_access(), for a loop. */
static __always_inline int access_page(struct sim *s, u32 pgno, bool write,
				       u32 *h)
{
	*h = hipec_page_find(&s->core.vm, pgno);
	if (unlikely(s->watch) && sim_watch_access(s, *h, pgno, write))
		return -ECANCELED;
	if (*h && hipec_page_live(&s->core.vm, *h)) {
		hit(s, *h, write);
		return 0;
	}
	if (*h && hipec_core_resident(&s->core, *h)) {
		hipec_core_spare(&s->core, *h, write);
		touch(s, *h, write);
		return 0;
	}
	s->r->faults++;
	s->r->read_misses += !write;
	if (!*h)
		return miss(s, pgno, write, h) ?: 1;
	first_touch(s, *h, write);
	return 1;
}

/**
 * sim_access() - an access, up to where it waits for the disk
 * @s:     simulator
 * @pgno:  page
 * @write: it is written
 * @h:     gets the page's handle
 *
 * Context: any.
 * Return: 0: it is done; 1: it is a fault, s->due says when the disk is ready, and
 *         sim_arrive() is to be called then; -ENOBUFS if there was no frame to be
 *         had, which cannot be; -ECANCELED if who watches stopped it.
 */
int sim_access(struct sim *s, u32 pgno, bool write, u32 *h)
{
	s->nr_accesses++;
	s->r->writes += write;
	return access_page(s, pgno, write, h);
}

/**
 * sim_arrive() - the page that a fault waited for is there
 * @s:     simulator
 * @h:     its handle
 * @write: as the access
 *
 * Context: any.
 */
void sim_arrive(struct sim *s, u32 h, bool write)
{
	show(s, h, write);
}

/* Tell the detector of an access. */
static __attribute__((noinline)) int feed(struct sim *s, u32 pgno, bool missed)
{
	return sim_feed_note(s->r->feed, s->core.context, pgno,
			     s->nr_accesses, missed);
}

/* @fed: a constant, so that who is not fed pays nothing for it. */
static __always_inline int run_trace(struct sim *s, const struct sim_trace *t,
				     const bool fed)
{
	u64 commands;
	size_t n;
	u32 i, h;
	int ret;

	hipec_core_start(&s->core);
	sim_ahead_begin(&s->ahead, &s->core.vm, s->bits, t);
	for (n = 0; n < t->nr_runs; n++) {
		const struct sim_run *line = &t->run[n];

		if (unlikely(n && n == t->warm_runs)) {
			sim_result_again(s->r);
			memset(&s->core.counters, 0, sizeof(s->core.counters));
			s->core.vm.nr_commands = s->core.vm.nr_events = 0;
		}
		if (t->run_tag)
			sim_tag(s, sim_trace_tag(t, n));
		s->r->writes += line->write ? line->nr : 0;
		for (i = 0; i < line->nr; i++) {
			sim_progress_note(s->r, ++s->nr_accesses);
			sim_ahead_step(&s->ahead, &s->core.vm, t);
			commands = s->core.vm.nr_commands;
			ret = access_page(s, line->pgno + i, line->write, &h);
			if (ret > 0)
				show(s, h, line->write);
			else if (ret)
				return ret;
			if (fed && feed(s, line->pgno + i, ret))
				return -ENOMEM;
			if (s->core.vm.nr_commands - commands > s->r->most_commands)
				s->r->most_commands = s->core.vm.nr_commands - commands;
		}
	}
	return 0;
}

/**
 * sim_open() - make a simulator without pages
 * @s:      to fill; sim_close() it, also after an error
 * @p:      verified
 * @frames: 1 to SIM_MAX_FRAMES, all of them free
 * @mode:   what a hit is
 * @r:      filled as it goes, and by sim_close()
 * @c:      NULL, or filled with what the contract of revocation says of it
 *
 * Context: any.
 * Return: 0; -ENOMEM; -E2BIG if @p may remember so many pages beside @frames that
 *         there are more than SIM_MAX_ENTRIES.
 */
int sim_open(struct sim *s, const struct hipec_policy *p, u32 frames,
	     enum sim_mode mode, struct sim_result *r, struct sim_contract *c)
{
	u64 entries = frames + (u64)frames * p->image->ghosts / 100 + 1;
	bool fits = entries <= SIM_MAX_ENTRIES;
	size_t bytes = fits ? hipec_vm_size(p, frames) : 1;

	*s = (struct sim){
		.mode = mode, .r = r, .contract = c,
		.entries = fits ? entries : 1, .memory_bytes = bytes,
		.shared = calloc(1, p->shared_size + 1),
		.directory = malloc(c ? hipec_shadow_bytes(frames) : 1),
	};
	s->bits = sim_lazy_alloc(s->entries * sizeof(*s->bits));
	s->wash = sim_lazy_alloc(s->entries * sizeof(*s->wash));
	s->memory = sim_lazy_alloc(bytes);
	sim_result_begin(r);
	if (c)
		sim_contract_begin(c);
	if (!fits)
		return -E2BIG;
	if (!s->memory || !s->shared || !s->bits || !s->wash || !s->directory)
		return -ENOMEM;
	hipec_vm_init(&s->core.vm, p, &sim_host, s->memory, s->shared, frames);
	if (s->core.vm.nr_buckets > MAX_BUCKETS)
		s->core.vm.nr_buckets = MAX_BUCKETS;
	hipec_core_init(&s->core, &sim_core_ops, frames, frames);
	s->core.exact = mode == SIM_EXACT;
	s->core.watched_for_good = true;
	if (c) {
		s->core.directory = s->directory;
		hipec_core_watch(&s->core, c->salt);
	}
	return 0;
}

/* Say what came of it; free what it has. */
void sim_close(struct sim *s)
{
	const struct hipec_counters *n = &s->core.counters;

	s->r->evictions = n->evictions;
	s->r->refused = n->refused;
	s->r->helped = n->helped;
	s->r->forgotten = n->forgotten;
	s->r->exit = s->core.vm.exit;
	s->r->commands = s->core.vm.nr_commands;
	s->r->events = s->core.vm.nr_events;
	memcpy(s->r->slot, s->core.vm.slot, sizeof(s->r->slot));
	if (s->contract)
		sim_contract_end(s->contract, &s->core.shadow);
	free(s->directory);
	sim_lazy_free(s->wash, s->entries * sizeof(*s->wash));
	sim_lazy_free(s->bits, s->entries * sizeof(*s->bits));
	free(s->shared);
	sim_lazy_free(s->memory, s->memory_bytes);
}

/**
 * sim_run_watched() - a trace through a policy, with somebody who watches
 * @p:      verified
 * @t:      trace
 * @frames: 1 to SIM_MAX_FRAMES
 * @mode:   what a hit is
 * @r:      filled
 * @c:      NULL, or filled with what the contract of revocation says of it
 * @w:      NULL, or who watches
 *
 * Shared arrays are zero, or what @r's feed writes; Time is the number of accesses;
 * Timer does not run. A policy that ends is replaced as the module does it, and the
 * trace goes on. One that would be revoked goes on.
 *
 * Context: any.
 * Return: 0; -ENOMEM; -E2BIG as sim_open(); -ENOBUFS if there was no frame to be had,
 *         which cannot be; -ECANCELED if @w stopped it.
 */
int sim_run_watched(const struct hipec_policy *p, const struct sim_trace *t,
		    u32 frames, enum sim_mode mode, struct sim_result *r,
		    struct sim_contract *c, struct sim_watch *w)
{
	struct sim s;
	int ret = sim_open(&s, p, frames, mode, r, c);

	sim_watch_by(&s, w);
	if (!ret && sim_opened)
		sim_opened(&s);
	if (!ret && r->feed)
		ret = sim_feed_begin(r->feed, &s.core.vm, frames) ?: run_trace(&s, t, true);
	else if (!ret)
		ret = run_trace(&s, t, false);
	if (!ret && r->feed)
		sim_feed_end(r->feed);
	if (!ret && w && w->over)
		w->over(w, &s);
	sim_close(&s);
	return ret;
}

/* As sim_run_watched(), and nobody watches. */
int sim_run_policy(const struct hipec_policy *p, const struct sim_trace *t,
		   u32 frames, enum sim_mode mode, struct sim_result *r,
		   struct sim_contract *c)
{
	return sim_run_watched(p, t, frames, mode, r, c, NULL);
}
