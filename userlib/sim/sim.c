// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of frames for a trace: containers that bring in one page a fault
 * (cluster 1) from a disk that takes no time. Frames are counted, not held; what
 * hardware keeps of a page is in an array of bits. What goes, and what a policy is
 * told, is the engine's.
 */
#include <errno.h>
#include <stdlib.h>

#include "access.h"
#include "lazy.h"

/**
 * sim_access() - an access, up to where it waits for the disk
 * @s:     simulator
 * @pgno:  page
 * @write: it is written
 * @h:     gets the page's handle
 *
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
 */
void sim_arrive(struct sim *s, u32 h, bool write)
{
	show(s, h, write);
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
		.judge = calloc(1, c ? hipec_judge_bytes(frames) : 1),
	};
	s->bits = sim_lazy_alloc(s->entries * sizeof(*s->bits));
	s->to_write = sim_lazy_alloc(s->entries * sizeof(*s->to_write));
	s->memory = sim_lazy_alloc(bytes);
	sim_result_begin(r);
	if (c)
		sim_contract_begin(c);
	if (!fits)
		return -E2BIG;
	if (!s->memory || !s->shared || !s->bits || !s->to_write || !s->judge)
		return -ENOMEM;
	hipec_vm_init(&s->core.vm, p, &sim_host, s->memory, s->shared, frames);
	hipec_core_init(&s->core, &sim_core_ops, frames, frames);
	sim_watch_by(s, NULL);
	s->core.exact = mode == SIM_EXACT;
	s->core.watched_for_good = true;
	if (c) {
		s->core.judge = s->judge;
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
		sim_contract_end(s->contract, &s->core);
	free(s->judge);
	sim_lazy_free(s->to_write, s->entries * sizeof(*s->to_write));
	sim_lazy_free(s->bits, s->entries * sizeof(*s->bits));
	free(s->shared);
	sim_lazy_free(s->memory, s->memory_bytes);
}
