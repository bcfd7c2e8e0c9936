// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a policy asks of its host, for a trace: what module/frames/frame.c and
 * readahead.c do, for frames that are counted and bits that are in an array.
 */
#include "mixpool.h"
#include "host.h"

/* As module/frames/readahead.c has it: batches until what was read ahead is given up. */
#define STALE 64

/* A frame that holds no page any more: free, or given back. */
static void recycle(struct sim *s)
{
	if (s->nr_surplus) {
		s->nr_surplus--;
		s->nr_frames--;
	} else {
		s->nr_free++;
	}
}

static void to_wash(struct sim *s, u32 h)
{
	if (!(s->bits[h] & SIM_BIT_WASH))
		s->wash[s->nr_wash++] = h;
	s->bits[h] |= SIM_BIT_WASH;
}

/**
 * sim_wash_all() - write what is to be written
 * @s: simulator, between two events
 *
 * Frames of pages that have been given up are free then.
 *
 * Context: any.
 */
void sim_wash_all(struct sim *s)
{
	u32 i;

	for (i = 0; i < s->nr_wash; i++) {
		u32 h = s->wash[i];

		if (s->bits[h] & SIM_BIT_MOD) {
			s->r->written++;
			sim_note_write(s->r, s->vm.page[h].pgno);
			sim_watch_page(s, h, SIM_PAGE_WRITTEN);
			if (s->disk)
				mix_disk_io(s->disk, s, s->vm.page[h].pgno, true);
		}
		s->bits[h] &= ~(SIM_BIT_MOD | SIM_BIT_WASH);
		if (s->bits[h] & SIM_BIT_LAUNDRY) {
			s->bits[h] = 0;
			hipec_page_del(&s->vm, h);
			recycle(s);
		}
	}
	s->nr_wash = 0;
}

/**
 * sim_evict() - a live page gives its frame up
 * @s:    simulator
 * @h:    page
 * @keep: the frame stays; else it is given back
 * @why:  for who watches
 *
 * The frame of a dirty one is not free before sim_wash().
 *
 * Context: any.
 * Return: false if it is pinned.
 */
bool sim_evict(struct sim *s, u32 h, bool keep, enum sim_fate why)
{
	if (h == s->pinned)
		return false;
	sim_watch_page(s, h, why);
	if (s->member)
		mix_pool_left(s, h, keep);
	/* Before: a clean frame is recycled at once. */
	s->nr_surplus += !keep;
	if (sim_watched(s))
		hipec_shadow_gone(&s->shadow, s->vm.page[h].pgno);
	if (s->bits[h] & SIM_BIT_MOD) {
		to_wash(s, h);
		s->bits[h] = SIM_BIT_MOD | SIM_BIT_WASH | SIM_BIT_LAUNDRY;
		hipec_page_hide(&s->vm, h);
	} else {
		s->bits[h] = 0;
		hipec_page_del(&s->vm, h);
		recycle(s);
	}
	s->r->evictions++;
	return true;
}

/* As module/frames/frame.c: the first page that answers Replace keeps its frame there. */
static bool host_give_up(struct hipec_vm *vm, u32 h, bool keep)
{
	struct sim *s = sim_of(vm);
	u32 last = 1;	/* stays, or no fault could ever be served */

	if (s->member) {
		last = s->member->min;
		keep = s->member->keep_next;
	}
	if ((!keep && s->nr_frames - s->nr_surplus <= last) ||
	    !sim_evict(s, h, keep, keep ? SIM_PAGE_FREED : SIM_PAGE_RELEASED)) {
		s->r->refused++;
		return false;
	}
	if (s->member)
		s->member->keep_next = false;
	return true;
}

static bool host_flush(struct hipec_vm *vm, u32 h)
{
	struct sim *s = sim_of(vm);

	if (!(s->bits[h] & SIM_BIT_MOD))
		return false;
	sim_watch_page(s, h, SIM_PAGE_FLUSHED);
	to_wash(s, h);
	return true;
}

static bool host_ref(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & SIM_BIT_REF;
}

static bool host_mod(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & SIM_BIT_MOD;
}

static void host_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	struct sim *s = sim_of(vm);

	if (on)
		s->bits[h] |= SIM_BIT_REF;
	else
		s->bits[h] &= ~SIM_BIT_REF;
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

/* Grows back to what it was at the start, never beyond; or by what nobody loses. */
static u64 host_request(struct hipec_vm *vm, u64 nr)
{
	struct sim *s = sim_of(vm);
	u64 got = nr < s->nr_surplus ? nr : s->nr_surplus;

	s->nr_surplus -= got;
	while (got < nr && (s->member ? mix_pool_space(s) > 0 :
					s->nr_frames < s->nr_reserved)) {
		s->nr_frames++;
		s->nr_free++;
		got++;
	}
	return got;
}

/**
 * sim_unfetch() - a page that Prefetch brought in is none of those any more
 * @s: simulator
 * @h: page, which was touched or is to lose its frame
 *
 * s->due then says when it is there.
 *
 * Context: any.
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

/**
 * sim_drop_fetched() - free what Prefetch brought in for nothing
 * @s:     simulator
 * @stale: only what has been waiting for too long
 *
 * Context: any.
 * Return: whether there was any.
 */
bool sim_drop_fetched(struct sim *s, bool stale)
{
	u32 most = s->nr_frames / 2 < STALE ? s->nr_frames / 2 : STALE;
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
		hipec_page_del(&s->vm, h);
		recycle(s);
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

	if (s->making_room || s->event == HIPEC_EVENT_REPLACE ||
	    s->event == HIPEC_EVENT_REMOVE)
		return 0;
	if (s->nr_fetched + nr > HIPEC_MAX_PREFETCH)
		sim_drop_fetched(s, true);
	for (got = 0; got < nr && s->nr_free; got++) {
		if (s->nr_fetched == HIPEC_MAX_PREFETCH)
			break;
		h = hipec_page_add_in_event(vm, pgno + got);
		if (!h)
			break;
		sim_note_read(s->r, pgno + got, false);
		s->nr_free--;
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
	.give_up = host_give_up,
	.flush = host_flush,
	.ref = host_ref,
	.mod = host_mod,
	.set_ref = host_set_ref,
	.set_mod = host_set_mod,
	.map = host_map,
	.unmap = host_unmap,
	.request = host_request,
	.prefetch = host_prefetch,
};
