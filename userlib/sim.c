// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of frames for a trace: what module/fault.c, room.c, event.c and
 * frame.c do, in their order, for containers that bring in one page a fault
 * (cluster 1) from a disk that takes no time. Frames are counted, not held;
 * what hardware keeps of a page is in an array of bits.
 */
#include <errno.h>
#include <stdlib.h>

#include "../module/vm/queue.h"
#include "sim.h"

/* As module/room.c and module/event.c have them. */
#define MAX_HELPED 1024
#define HARVEST 32

/* Bits of a page. */
#define REF 0x1
#define MOD 0x2
#define MAPPED 0x4	/* the next touch is no fault */
#define WASH 0x8	/* on the list of pages to be written */
#define LAUNDRY 0x10	/* not live: its frame is free when it is written */
#define YOUNG 0x20	/* touched since the shadow asked */

struct sim {
	struct hipec_vm vm;	/* first, so that the host operations find the rest */
	enum sim_mode mode;
	u8 *bits;		/* by handle */
	u32 *wash, nr_wash;	/* handles of pages to be written */
	u32 nr_reserved;	/* frames at the start */
	u32 nr_frames;		/* held, free or not */
	u32 nr_free;
	u32 nr_surplus;		/* of those held, to be given back when free */
	u32 pinned;		/* the page that is being accessed, or 0 */
	u32 harvested;		/* entry of the page table looked at last */
	u32 helped_in_a_row;
	u64 nr_accesses;	/* so far, with the one under way */
	struct sim_result *r;
	struct sim_contract *contract;	/* NULL: nobody watches */
	struct hipec_shadow shadow;
};

static struct sim *sim_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct sim, vm), "vm comes first");
	return (struct sim *)vm;
}

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
	if (!(s->bits[h] & WASH))
		s->wash[s->nr_wash++] = h;
	s->bits[h] |= WASH;
}

/* Write what is to be written, between two events. */
static void wash(struct sim *s)
{
	u32 i;

	for (i = 0; i < s->nr_wash; i++) {
		u32 h = s->wash[i];

		s->r->written += !!(s->bits[h] & MOD);
		s->bits[h] &= ~(MOD | WASH);
		if (s->bits[h] & LAUNDRY) {
			s->bits[h] = 0;
			hipec_page_del(&s->vm, h);
			recycle(s);
		}
	}
	s->nr_wash = 0;
}

/* A live page gives its frame up; false if it is pinned. */
static bool evict(struct sim *s, u32 h)
{
	if (h == s->pinned)
		return false;
	if (s->contract)
		hipec_shadow_gone(&s->shadow, s->vm.page[h].pgno);
	if (s->bits[h] & MOD) {
		to_wash(s, h);
		s->bits[h] = MOD | WASH | LAUNDRY;
		hipec_page_hide(&s->vm, h);
	} else {
		s->bits[h] = 0;
		hipec_page_del(&s->vm, h);
		recycle(s);
	}
	s->r->evictions++;
	return true;
}

static bool host_give_up(struct hipec_vm *vm, u32 h, bool keep)
{
	struct sim *s = sim_of(vm);

	/* The last frame stays, or no fault could ever be served. */
	if (!keep && s->nr_frames - s->nr_surplus <= 1) {
		s->r->refused++;
		return false;
	}
	s->nr_surplus += !keep;
	if (evict(s, h))
		return true;
	s->nr_surplus -= !keep;
	s->r->refused++;
	return false;
}

static bool host_flush(struct hipec_vm *vm, u32 h)
{
	struct sim *s = sim_of(vm);

	if (!(s->bits[h] & MOD))
		return false;
	to_wash(s, h);
	return true;
}

static bool host_ref(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & REF;
}

static bool host_mod(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & MOD;
}

static void host_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	struct sim *s = sim_of(vm);

	if (on)
		s->bits[h] |= REF;
	else
		s->bits[h] &= ~REF;
}

static bool host_set_mod(struct hipec_vm *vm, u32 h)
{
	sim_of(vm)->bits[h] |= MOD;
	return true;
}

static bool host_map(struct hipec_vm *vm, u32 h)
{
	return sim_of(vm)->bits[h] & MAPPED;
}

static bool host_unmap(struct hipec_vm *vm, u32 h)
{
	struct sim *s = sim_of(vm);
	bool mapped = s->bits[h] & MAPPED;

	s->bits[h] &= ~MAPPED;
	return mapped;
}

/* Grows back to what it was at the start, never beyond. */
static u64 host_request(struct hipec_vm *vm, u64 nr)
{
	struct sim *s = sim_of(vm);
	u64 got = nr < s->nr_surplus ? nr : s->nr_surplus;

	s->nr_surplus -= got;
	while (got < nr && s->nr_frames < s->nr_reserved) {
		s->nr_frames++;
		s->nr_free++;
		got++;
	}
	return got;
}

static const struct hipec_host_ops sim_host = {
	.give_up = host_give_up,
	.flush = host_flush,
	.ref = host_ref,
	.mod = host_mod,
	.set_ref = host_set_ref,
	.set_mod = host_set_mod,
	.map = host_map,
	.unmap = host_unmap,
	.request = host_request,
};

/* The policy has ended, and vm.exit says why: the built-in one takes over. */
static void end_policy(struct sim *s)
{
	struct hipec_exit *e = &s->vm.exit;
	struct hipec_text text;

	hipec_text_init(&text, e->message, sizeof(e->message));
	hipec_exit_explain(s->vm.policy, e, &text);
	s->r->ended_at = s->nr_accesses;
	hipec_vm_abandon(&s->vm);
}

/* Run an event, if the policy is there and has it; @free: frames to count on. */
static void run(struct sim *s, u32 event, u32 free)
{
	struct hipec_vm *vm = &s->vm;

	if (vm->exit.kind || !hipec_vm_has_event(vm, event))
		return;
	vm->slot[HIPEC_SLOT_FREE_COUNT] = free;
	vm->queue[HIPEC_QUEUE_FREE].count = free;
	vm->slot[HIPEC_SLOT_FRAME_BUDGET] = s->nr_frames - s->nr_surplus;
	vm->slot[HIPEC_SLOT_RESIDENT_COUNT] = vm->nr_live;
	vm->slot[HIPEC_SLOT_TIME] = s->nr_accesses;
	if (hipec_vm_run(vm, event))
		end_policy(s);
	wash(s);
}

static void run_for_page(struct sim *s, u32 event, u32 pgno, bool write,
			 u32 free)
{
	s->vm.slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << 12;
	s->vm.slot[HIPEC_SLOT_FAULT_KIND] = write;
	run(s, event, free);
}

static void remove_page(struct sim *s, u32 pgno)
{
	run_for_page(s, HIPEC_EVENT_REMOVE, pgno, false, s->nr_free);
	hipec_page_forget_gone(&s->vm);
}

/* Access for a few of the pages that were referenced, before each Replace. */
static void harvest(struct sim *s)
{
	struct hipec_vm *vm = &s->vm;
	u32 pgno[HARVEST], n = 0, i;

	if (s->mode == SIM_EXACT || vm->exit.kind ||
	    !hipec_vm_has_event(vm, HIPEC_EVENT_ACCESS))
		return;
	for (i = 0; i < HARVEST && i < vm->nr_pages; i++) {
		u32 h = s->harvested = s->harvested % vm->nr_pages + 1;

		if (!hipec_page_live(vm, h) || !(s->bits[h] & REF))
			continue;
		s->bits[h] &= ~REF;
		pgno[n++] = vm->page[h].pgno;
	}
	for (i = 0; i < n; i++)
		if (hipec_page_find(vm, pgno[i]))
			run_for_page(s, HIPEC_EVENT_ACCESS, pgno[i], false,
				     s->nr_free);
}

/* Ask the policy. Return: whether it gave a page up. */
static bool ask_policy(struct sim *s, u32 pgno, bool write)
{
	u64 before = s->r->evictions;

	harvest(s);
	run_for_page(s, HIPEC_EVENT_REPLACE, pgno, write, 0);
	if (s->r->evictions != before) {
		s->helped_in_a_row = 0;
		return true;
	}
	if (s->vm.exit.kind)
		return false;
	s->r->helped++;
	if (++s->helped_in_a_row == MAX_HELPED) {
		s->vm.exit = (struct hipec_exit){ .kind = HIPEC_EXIT_NO_VICTIM };
		end_policy(s);
	}
	return false;
}

/* Evict a page of queue @q. What is passed over goes to the tail, if it may. */
static bool evict_from(struct sim *s, u32 q, bool second_chance, u32 *pgno)
{
	struct hipec_vm *vm = &s->vm;
	u32 n = vm->queue[q].count;
	u32 h, next;

	for (h = vm->queue[q].head; n--; h = next) {
		next = vm->page[h].next;
		if (!hipec_page_live(vm, h))
			continue;
		*pgno = vm->page[h].pgno;
		if (second_chance && s->bits[h] & REF)
			s->bits[h] &= ~REF;
		else if (evict(s, h))
			return true;
		if (!vm->queue[q].key)
			hipec_queue_move(vm, q, h, HIPEC_END_TAIL);
	}
	return false;
}

/* The built-in replacement: FIFO with a second chance, queue by queue. */
static bool evict_any(struct sim *s, u32 *pgno)
{
	int chance;
	u32 q;

	for (chance = 1; chance >= 0; chance--)
		for (q = HIPEC_QUEUE_FALLBACK; q < s->vm.nr_queues; q++)
			if (q != HIPEC_QUEUE_GONE &&
			    evict_from(s, q, chance, pgno))
				return true;
	return false;
}

/* Have one page given up. Return: false if no page can go. */
static bool replace(struct sim *s, u32 pgno, bool write)
{
	u32 victim;

	if (!s->vm.exit.kind) {
		if (evict_from(s, HIPEC_QUEUE_FALLBACK, false, &victim)) {
			s->r->forgotten++;
			remove_page(s, victim);
			return true;
		}
		if (ask_policy(s, pgno, write))
			return true;
	}
	if (!evict_any(s, &victim))
		return false;
	remove_page(s, victim);
	return true;
}

/* What the hardware notes of a touch. */
static void touch(struct sim *s, u32 h, bool write)
{
	s->bits[h] |= MAPPED | REF | YOUNG | (write ? MOD : 0);
}

/* Hardware has one bit, which a kernel would copy for the policy: here are two. */
static bool shadow_young(struct hipec_shadow *shadow, u32 pgno)
{
	struct sim *s = (struct sim *)((char *)shadow -
				       offsetof(struct sim, shadow));
	u8 *bits = &s->bits[hipec_page_find(&s->vm, pgno)];
	bool young = *bits & YOUNG;

	*bits &= ~YOUNG;
	return young;
}

/* A page has come in. */
static void watch(struct sim *s, u32 pgno)
{
	if (!s->contract)
		return;
	hipec_shadow_fault(&s->shadow, pgno);
	sim_contract_note(s->contract, &s->shadow, s->r->faults);
}

static int miss(struct sim *s, u32 pgno, bool write)
{
	u32 h;

	s->r->faults++;
	while (!s->nr_free) {
		if (!replace(s, pgno, write))
			return -ENOBUFS;
		wash(s);
	}
	h = hipec_page_add(&s->vm, pgno);
	if (!h)
		return -ENOBUFS;
	s->nr_free--;
	s->bits[h] = 0;
	hipec_page_show(&s->vm, h);
	watch(s, pgno);
	s->pinned = h;
	run_for_page(s, HIPEC_EVENT_PAGEFAULT, pgno, write, s->nr_free);
	s->pinned = 0;
	touch(s, h, write);
	return 0;
}

static void hit(struct sim *s, u32 h, bool write)
{
	/* A mapped page is touched without anybody being told. */
	if (s->mode == SIM_EXACT || !(s->bits[h] & MAPPED)) {
		s->pinned = h;
		run_for_page(s, HIPEC_EVENT_ACCESS, s->vm.page[h].pgno, write,
			     s->nr_free);
		s->pinned = 0;
	}
	touch(s, h, write);
}

static int run_trace(struct sim *s, const struct sim_trace *t)
{
	size_t n;
	u32 i, h;
	int ret;

	run(s, HIPEC_EVENT_INIT, s->nr_free);
	for (n = 0; n < t->nr_runs; n++) {
		const struct sim_run *line = &t->run[n];

		for (i = 0; i < line->nr; i++) {
			s->nr_accesses++;
			h = hipec_page_find(&s->vm, line->pgno + i);
			if (h) {
				hit(s, h, line->write);
				continue;
			}
			ret = miss(s, line->pgno + i, line->write);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/**
 * sim_run_policy() - a trace through a policy
 * @p:      verified
 * @t:      trace
 * @frames: 1 to SIM_MAX_FRAMES
 * @mode:   what a hit is
 * @r:      filled
 * @c:      NULL, or filled with what the contract of revocation says of it
 *
 * Shared arrays are zero, Time is the number of accesses, Timer does not run. A
 * policy that ends is replaced as the module does it, and the trace goes on. One
 * that would be revoked goes on.
 *
 * Context: any.
 * Return: 0; -ENOMEM; -ENOBUFS if there was no frame to be had, which cannot be.
 */
int sim_run_policy(const struct hipec_policy *p, const struct sim_trace *t,
		   u32 frames, enum sim_mode mode, struct sim_result *r,
		   struct sim_contract *c)
{
	size_t entries = (size_t)hipec_vm_nr_pages(p, frames) + 1;
	struct sim s = {
		.mode = mode, .nr_reserved = frames, .nr_frames = frames,
		.nr_free = frames, .r = r, .contract = c,
	};
	void *directory = malloc(hipec_shadow_bytes(frames));
	void *memory = malloc(hipec_vm_size(p, frames));
	void *shared = calloc(1, p->shared_size + 1);
	int ret = -ENOMEM;

	memset(r, 0, sizeof(*r));
	s.bits = calloc(entries, sizeof(*s.bits));
	s.wash = malloc(entries * sizeof(*s.wash));
	if (memory && shared && s.bits && s.wash && directory) {
		if (c) {
			sim_contract_begin(c);
			hipec_shadow_init(&s.shadow, directory, frames, c->salt,
					  shadow_young);
		}
		hipec_vm_init(&s.vm, p, &sim_host, memory, shared, frames);
		ret = run_trace(&s, t);
		r->exit = s.vm.exit;
		r->commands = s.vm.nr_commands;
		r->events = s.vm.nr_events;
		memcpy(r->slot, s.vm.slot, sizeof(r->slot));
		if (c)
			sim_contract_end(c, &s.shadow);
	}
	free(directory);
	free(s.wash);
	free(s.bits);
	free(shared);
	free(memory);
	return ret;
}
