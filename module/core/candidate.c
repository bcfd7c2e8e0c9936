// SPDX-License-Identifier: GPL-2.0-only
/*
 * A team of the league: a policy on a machine of its own, whose frames are counted.
 *
 * Interface:
 * hipec_candidate_bytes(), _start()  its memory, and its beginning
 * hipec_candidate_resize()  one frame more or less
 * hipec_candidate_simulate()  an access
 * hipec_candidate_lacks()  pages that it holds and another machine does not
 * hipec_candidate_take_over()  it plays on with the container's pages
 */
#include "league.h"
#include "pool.h"
#include "../vm/bucket.h"

/* A page was written since it came in. */
#define CANDIDATE_DIRTY 0x80

static struct hipec_candidate *candidate_of(struct hipec_core *core)
{
	return (struct hipec_candidate *)core;
}

static bool candidate_referenced(struct hipec_core *core, u32 h, u32 who)
{
	return candidate_of(core)->bits[h] & who;
}

static void candidate_reset(struct hipec_core *core, u32 h, u32 who)
{
	candidate_of(core)->bits[h] &= ~who;
}

static int candidate_evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	(void)why;
	candidate_of(core)->bits[h] = 0;
	return 0;
}

static u64 candidate_now(struct hipec_core *core)
{
	return candidate_of(core)->now;
}

/* Only of a task that has to end: host_overtime(). */
static bool candidate_late(struct hipec_core *core)
{
	(void)core;
	return true;
}

static const struct hipec_core_ops candidate_ops = {
	.referenced = candidate_referenced,
	.reset = candidate_reset,
	.evict = candidate_evict,
	.now = candidate_now,
	.late = candidate_late,
};

static u8 *bits_of(struct hipec_vm *vm, u32 h)
{
	return &candidate_of(hipec_core_of(vm))->bits[h];
}

static bool candidate_get_ref(struct hipec_vm *vm, u32 h)
{
	return *bits_of(vm, h) & HIPEC_REF_POLICY;
}

static bool candidate_get_mod(struct hipec_vm *vm, u32 h)
{
	return *bits_of(vm, h) & CANDIDATE_DIRTY;
}

static void candidate_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	*bits_of(vm, h) &= ~HIPEC_REF_POLICY;
	*bits_of(vm, h) |= on ? HIPEC_REF_POLICY : 0;
}

static bool candidate_set_mod(struct hipec_vm *vm, u32 h)
{
	*bits_of(vm, h) |= CANDIDATE_DIRTY;
	return true;
}

static bool candidate_flush_page(struct hipec_vm *vm, u32 h)
{
	bool dirty = candidate_get_mod(vm, h);

	*bits_of(vm, h) &= ~CANDIDATE_DIRTY;
	return dirty;
}

static bool candidate_map_page(struct hipec_vm *vm, u32 h)
{
	(void)vm;
	(void)h;
	return true;
}

static u32 candidate_prefetch_pages(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	(void)vm;
	(void)pgno;
	(void)nr;
	return 0;
}

/*
 * Others may run. Only a task that has to end gives an event up, and not for its time: what a
 * team decides is the same on any machine.
 */
static bool host_overtime(struct hipec_vm *vm)
{
	struct hipec_core *whose = candidate_of(hipec_core_of(vm))->whose;

	return whose && hipec_core_pause(whose);
}

static const struct hipec_host_ops candidate_host = {
	.overtime = host_overtime,
	.evict = hipec_core_evict_page,
	.flush = candidate_flush_page,
	.ref = candidate_get_ref,
	.mod = candidate_get_mod,
	.set_ref = candidate_set_ref,
	.set_mod = candidate_set_mod,
	.map = candidate_map_page,
	.unmap = candidate_map_page,
	.request = hipec_core_request,
	.prefetch = candidate_prefetch_pages,
};

/* Of a machine, so that a byte for each entry may follow. */
static size_t vm_bytes(const struct hipec_policy *p, u32 frames)
{
	return (hipec_vm_size(p, frames) + 7) & ~(size_t)7;
}

/* Memory for @frames of them. Return: bytes. */
size_t hipec_candidate_bytes(const struct hipec_policy *p, u32 frames)
{
	return vm_bytes(p, frames) + hipec_vm_nr_pages(p, frames) + 1;
}

/**
 * hipec_candidate_start() - a team without pages
 * @t:      to fill
 * @whose:  container whose tasks it plays in; NULL: no other task has a turn
 * @p:      its policy, verified; outlives @t
 * @memory: hipec_candidate_bytes() of @most, zeros, aligned for u64; the host frees it
 * @shared: as for hipec_vm_init()
 * @most:   frames that it may have
 * @frames: that it begins with
 * @salt:   shapes trees, and parts pages that share a bucket under a known key
 *
 * An event has the fuel of a machine without ghosts, 4,096 commands and 64 for each frame: up
 * to 15 of them run in one access. Of the policies that come along, clock-pro needs most, 46
 * for each frame, where all pages have been touched; car and s3-fifo 22, lirs 14.
 *
 * Context: any; runs its Init.
 */
void hipec_candidate_start(struct hipec_candidate *t, struct hipec_core *whose,
			   const struct hipec_policy *p, void *memory, void *shared, u32 most,
			   u32 frames, u32 salt)
{
	memset(t, 0, sizeof(*t));
	t->whose = whose;
	t->bits = (u8 *)memory + vm_bytes(p, most);
	hipec_vm_init(&t->core.vm, p, &candidate_host, memory, shared, most);
	hipec_core_init(&t->core, &candidate_ops, most, frames);
	t->core.vm.fuel = hipec_vm_fuel(most);
	t->core.exact = true;
	t->core.vm.salt = salt;
	t->core.vm.key = HIPEC_BUCKET_KEY * (2ull * salt + 1);
	hipec_core_start(&t->core);
}

/* One frame more, or one less, where it has not @frames. */
void hipec_candidate_resize(struct hipec_candidate *t, u32 frames)
{
	const struct hipec_demand d = { .pgno = HIPEC_NO_PGNO, .wait = true, .want = 1 };

	if (t->core.nr_frames < frames)
		hipec_core_grow(&t->core, 1, HIPEC_EFFORT_NONE);
	else if (t->core.nr_frames > frames && t->core.nr_frames > 1 &&
		 hipec_core_make_room(&t->core, &d) == 1)
		hipec_core_shrink(&t->core);
}

/* It plays an access. Return: whether it missed. */
bool hipec_candidate_simulate(struct hipec_candidate *t, u32 pgno, bool write)
{
	const struct hipec_demand d = {
		.pgno = pgno, .write = write, .wait = true, .want = 1, .whom = &t->core,
	};
	struct hipec_core *core = &t->core;
	u32 h = hipec_page_find(&core->vm, pgno);
	bool missed = !h || !hipec_page_live(&core->vm, h);

	if (missed) {
		h = hipec_core_make_room(core, &d) == 1 ? hipec_core_bind(core, pgno) : 0;
		if (!h)
			return true;
		hipec_core_activate(core, h);
		hipec_core_fault(core, h, write);
	} else if (hipec_league_is_orphan(core, h)) {
		hipec_core_fault(core, h, write);
	} else {
		hipec_core_access(core, h, write);
	}
	if (hipec_page_live(&core->vm, h))
		t->bits[h] |= HIPEC_REF_POLICY | (write ? CANDIDATE_DIRTY : 0);
	return missed;
}

/* Pages that @t holds and @vm does not. Time is linear in its frames. */
u32 hipec_candidate_lacks(const struct hipec_candidate *t, const struct hipec_vm *vm)
{
	u32 n = 0, h = 0, other;

	while ((h = hipec_vm_next_live(&t->core.vm, h))) {
		other = hipec_page_find(vm, t->core.vm.page[h].pgno);
		n += !other || !hipec_page_live(vm, other);
	}
	return n;
}

/* A page of the container that the team did not have. Return: 0; -ENOSPC: no entry is left. */
static int take_orphan(struct hipec_candidate *t, u32 pgno)
{
	struct hipec_core *core = &t->core;
	u32 h = hipec_page_find_named(&core->vm, pgno);

	if (h)
		hipec_page_forget(&core->vm, h);
	/* Its policy may have released some. */
	if (!core->nr_free)
		hipec_core_grow(core, 1, HIPEC_EFFORT_NONE);
	h = hipec_core_bind(core, pgno);
	if (!h)
		return -ENOSPC;
	t->bits[h] = 0;
	hipec_core_activate(core, h);
	return 0;
}

/**
 * hipec_candidate_take_over() - a team plays on with the pages that the container holds
 * @t:         hipec_league_source()
 * @container: between two events
 *
 * It loses those that the container has not. Of those that it did not have its policy
 * is not told: they go first, unless they are touched.
 *
 * A container may hold more pages than it has frames, where some cannot go. Ghosts may have
 * all other entries of the team's machine, and each page needs one: it does not take over
 * then, and plays on as it is.
 *
 * Context: any, serialised by the host; runs events of the team.
 * Return: 0; -ENOSPC if the container holds more pages than the team may have frames.
 */
int hipec_candidate_take_over(struct hipec_candidate *t, struct hipec_core *container)
{
	struct hipec_vm *vm = &t->core.vm, *held = &container->vm;
	u32 h, other, pgno;
	int ret = 0;

	if (held->nr_live > vm->nr_pages - vm->max_ghosts)
		return -ENOSPC;
	for (h = 1; h <= vm->nr_pages; h++) {
		pgno = vm->page[h].pgno;
		if (!hipec_page_live(vm, h))
			continue;
		other = hipec_page_find(held, pgno);
		if (other && hipec_page_live(held, other))
			continue;
		hipec_core_unbind(&t->core, h, false);
		t->bits[h] = 0;
		hipec_core_remove(&t->core, pgno);
		hipec_core_pause(container);
	}
	for (other = 0; !ret && (other = hipec_vm_next_live(held, other));) {
		pgno = held->page[other].pgno;
		if (!hipec_page_find(vm, pgno))
			ret = take_orphan(t, pgno);
		hipec_core_pause(container);
	}
	return ret;
}
