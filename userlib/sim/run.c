// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace through a policy.
 */
#include <errno.h>

#include "access.h"
#include "feed.h"

/* For a test, which has a tracer on the machine. */
void (*sim_opened)(struct sim *s);

/* Tell the detector of an access. */
static noinline int feed(struct sim *s, u32 pgno, bool missed)
{
	return sim_feed_note(s->r->feed, s->core.context, pgno,
			     s->nr_accesses, missed);
}

/* @fed: a constant, so that who is not fed pays nothing for it. */
static __always_inline int run_trace(struct sim *s, const struct trace *t,
				     const bool fed)
{
	u64 commands;
	size_t n;
	u32 i, h;
	int ret;

	hipec_core_start(&s->core);
	sim_ahead_begin(&s->ahead, &s->core.vm, s->bits, t);
	for (n = 0; n < t->nr_runs; n++) {
		const struct trace_run *line = &t->run[n];

		if (unlikely(n && n == t->warm_runs))
			sim_again(s);
		if (t->run_tag)
			sim_tag(s, trace_tag(t, n));
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
 * Return: 0; -ENOMEM; -E2BIG as sim_open(); -ENOBUFS if there was no frame to be had,
 *         which cannot be; -ECANCELED if @w stopped it.
 */
int sim_run_watched(const struct hipec_policy *p, const struct trace *t,
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
int sim_run_policy(const struct hipec_policy *p, const struct trace *t,
		   u32 frames, enum sim_mode mode, struct sim_result *r,
		   struct sim_contract *c)
{
	return sim_run_watched(p, t, frames, mode, r, c, NULL);
}
