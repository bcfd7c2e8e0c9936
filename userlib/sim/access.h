/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An access: a hit, or a page that is brought in. It is here so that the loop over a trace
 * (run.c) has it inline; sim.c has it as two functions.
 */
#ifndef HIPEC_SIMACCESS_H
#define HIPEC_SIMACCESS_H

#include "../../module/core/league.h"
#include "../../module/vm/bucket.h"
#include "mixpool.h"
#include "host.h"

/* What the hardware notes of a touch. */
static inline void touch(struct sim *s, u32 h, bool write)
{
	s->bits[h] |= SIM_BIT_MAPPED | HIPEC_REF_ALL | (write ? SIM_BIT_MOD : 0);
}

/* The first touch of a page that has been brought in. */
static inline void show(struct sim *s, u32 h, bool write)
{
	struct hipec_core *core = &s->core;

	s->nr_shown++;
	hipec_core_activate(core, h);
	sim_watch_page(s, h, SIM_PAGE_CAME);
	if (unlikely(s->league))
		hipec_sampling_added(&s->league->sample, core->vm.page[h].pgno);
	hipec_core_added(core, core->vm.page[h].pgno, false);
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
static inline void first_touch(struct sim *s, u32 h, bool write)
{
	s->r->ahead_faults++;
	s->r->ahead_reads += !write;
	sim_unfetch(s, h);
}

static __always_inline void hit(struct sim *s, u32 h, bool write)
{
	if (unlikely(s->league) && hipec_league_is_orphan(&s->core, h))
		hipec_core_fault(&s->core, h, write);
	/* A mapped page is touched without anybody being told. */
	else if (s->mode == SIM_EXACT || !(s->bits[h] & SIM_BIT_MAPPED))
		hipec_core_access(&s->core, h, write);
	touch(s, h, write);
}

/* As sim_access(), for a loop. */
static __always_inline int access_page(struct sim *s, u32 pgno, bool write,
				       u32 *h)
{
	*h = hipec_bucket_find(&s->core.vm, pgno, HIPEC_PAGE_FRAME);
	if (unlikely(s->watch) && sim_watch_access(s, *h, pgno, write))
		return -ECANCELED;
	if (*h && hipec_page_live(&s->core.vm, *h)) {
		hit(s, *h, write);
		return 0;
	}
	if (*h && hipec_core_is_chosen(&s->core, *h)) {
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

#endif /* HIPEC_SIMACCESS_H */
