// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of frames for a trace: what module/frames/fault.c, reclaim.c, event.c and
 * frame.c do, in their order, for containers that bring in one page a fault
 * (cluster 1) from a disk that takes no time. Frames are counted, not held;
 * what hardware keeps of a page is in an array of bits.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../module/vm/queue.h"
#include "../../module/vm/tap.h"
#include "mixpool.h"
#include "feed.h"
#include "host.h"
#include "lazy.h"

/* As module/reclaim.c and module/event.c have them. */
#define MAX_HELPED 1024
#define HARVEST 32

/* Of the hash of page numbers, whose every use is of memory of its own. */
#define MAX_BUCKETS (1u << 24)

/* For a test, which has a tap on the machine. */
void (*sim_opened)(struct sim *s);

/* The policy has ended, and vm.exit says why: the built-in one takes over. */
static void end_policy(struct sim *s)
{
	struct hipec_exit *e = &s->vm.exit;
	struct hipec_text text;

	hipec_text_init(&text, e->message, sizeof(e->message));
	hipec_exit_explain(s->vm.policy, e, &text);
	s->r->ended_at = s->nr_accesses;
	if (s->watch && s->watch->ended)
		s->watch->ended(s->watch, s);
	hipec_vm_abandon(&s->vm);
}

/* Run an event, and tell who watches. */
static __attribute__((noinline)) void run_watched(struct sim *s, u32 event)
{
	struct sim_watch *w = s->watch;

	if (w->event)
		w->event(w, s, event, true);
	if (hipec_vm_run_watched(&s->vm, event))
		end_policy(s);
	if (w->event)
		w->event(w, s, event, false);
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
	if (unlikely(s->member))
		vm->slot[HIPEC_SLOT_FRAME_BUDGET] += mix_pool_space(s);
	vm->slot[HIPEC_SLOT_RESIDENT_COUNT] = vm->nr_live;
	vm->slot[HIPEC_SLOT_TIME] = s->nr_accesses;
	s->event = event;
	if (unlikely(s->watch))
		run_watched(s, event);
	else if (hipec_tap_run(vm, event))
		end_policy(s);
	sim_wash(s);
}

static void run_for_page(struct sim *s, u32 event, u32 pgno, bool write,
			 u32 free)
{
	s->vm.slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << 12;
	s->vm.slot[HIPEC_SLOT_FAULT_KIND] = write;
	run(s, event, free);
}

/* About another page than the one that is accessed: what that brings is not its. */
static void run_for_other(struct sim *s, u32 event, u32 pgno, u32 free)
{
	s64 hint = s->vm.slot[HIPEC_SLOT_HINT];
	s64 context = s->vm.slot[HIPEC_SLOT_CONTEXT];

	sim_tag(s, (struct sim_tag){ 0 });
	run_for_page(s, event, pgno, false, free);
	s->vm.slot[HIPEC_SLOT_HINT] = hint;
	s->vm.slot[HIPEC_SLOT_CONTEXT] = context;
}

/**
 * sim_remove() - tell the policy of a page that it did not give up
 * @s:    simulator, between two events
 * @pgno: page that has left
 *
 * Context: any.
 */
void sim_remove(struct sim *s, u32 pgno)
{
	run_for_other(s, HIPEC_EVENT_REMOVE, pgno, s->nr_free);
	hipec_page_forget_gone(&s->vm);
	sim_wash(s);
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

		if (!hipec_page_live(vm, h) || !(s->bits[h] & SIM_BIT_REF))
			continue;
		s->bits[h] &= ~SIM_BIT_REF;
		pgno[n++] = vm->page[h].pgno;
	}
	for (i = 0; i < n; i++)
		if (hipec_page_find(vm, pgno[i]))
			run_for_other(s, HIPEC_EVENT_ACCESS, pgno[i], s->nr_free);
}

/* Ask the policy. Return: whether it gave a page up. */
static bool ask_policy(struct sim *s, u32 pgno, bool write)
{
	u64 before = s->r->evictions;

	harvest(s);
	if (pgno == SIM_NO_PGNO)
		run_for_other(s, HIPEC_EVENT_REPLACE, pgno, 0);
	else
		run_for_page(s, HIPEC_EVENT_REPLACE, pgno, write, 0);
	if (s->r->evictions != before) {
		s->helped_in_a_row = 0;
		return true;
	}
	if (s->vm.exit.kind)
		return false;
	s->r->helped++;
	if (++s->helped_in_a_row == MAX_HELPED) {
		hipec_vm_end(&s->vm, HIPEC_EXIT_NO_VICTIM);
		end_policy(s);
	}
	return false;
}

/* Evict a page of queue @q. What is passed over goes to the tail, if it may. */
static bool evict_from(struct sim *s, u32 q, bool second_chance,
		       enum sim_fate why, u32 *pgno)
{
	struct hipec_vm *vm = &s->vm;
	u32 n = vm->queue[q].count;
	u32 h, next;

	for (h = vm->queue[q].head; n--; h = next) {
		next = vm->page[h].next;
		if (!hipec_page_live(vm, h))
			continue;
		*pgno = vm->page[h].pgno;
		if (second_chance && s->bits[h] & SIM_BIT_REF)
			s->bits[h] &= ~SIM_BIT_REF;
		else if (sim_evict(s, h, !s->member || !s->member->to_pool, why))
			return true;
		if (!vm->queue[q].key)
			hipec_page_pass(vm, h);
	}
	return false;
}

static bool take(struct hipec_vm *vm, u32 h)
{
	return sim_evict(sim_of(vm), h, true, SIM_PAGE_TAKEN);
}

/*
 * The built-in replacement. For a policy that gives no frame it goes queue by
 * queue, and leaves them as they are.
 */
static bool evict_any(struct sim *s, u32 *pgno)
{
	int chance;
	u32 q;

	if (hipec_fifo2_rules(&s->vm))
		return hipec_fifo2_replace(&s->vm, take, pgno);

	for (chance = 1; chance >= 0; chance--)
		for (q = HIPEC_QUEUE_FALLBACK; q < s->vm.nr_queues; q++)
			if (q != HIPEC_QUEUE_GONE &&
			    evict_from(s, q, chance, SIM_PAGE_TAKEN, pgno))
				return true;
	return false;
}

/* As sim_ask(), for a loop. */
static __always_inline bool ask(struct sim *s, u32 pgno, bool write)
{
	u32 victim;

	if (!evict_from(s, HIPEC_QUEUE_FALLBACK, false, SIM_PAGE_FORGOTTEN,
			&victim))
		return ask_policy(s, pgno, write);
	s->r->forgotten++;
	sim_remove(s, victim);
	return true;
}

/**
 * sim_ask() - have the policy give a page up
 * @s:     simulator whose policy has not ended
 * @pgno:  page that the frame is for; SIM_NO_PGNO: another container's
 * @write: it is to be written to
 *
 * What the policy has forgotten goes first.
 *
 * Context: any.
 * Return: whether a page has gone.
 */
bool sim_ask(struct sim *s, u32 pgno, bool write)
{
	return ask(s, pgno, write);
}

/* Have one page given up. Return: false if no page can go. */
static __always_inline bool replace(struct sim *s, u32 pgno, bool write)
{
	u32 victim;

	if (!hipec_fifo2_rules(&s->vm) &&
	    (s->member ? mix_pool_ask(s, pgno, write) : ask(s, pgno, write)))
		return true;
	if (!evict_any(s, &victim))
		return false;
	sim_remove(s, victim);
	return true;
}

/* What the hardware notes of a touch. */
static void touch(struct sim *s, u32 h, bool write)
{
	s->bits[h] |= SIM_BIT_MAPPED | SIM_BIT_REF | SIM_BIT_YOUNG |
		      SIM_BIT_POOL | (write ? SIM_BIT_MOD : 0);
}

/* Hardware has one bit, which a kernel would copy for the policy: here are two. */
static bool shadow_young(struct hipec_shadow *shadow, u32 pgno)
{
	struct sim *s = (struct sim *)((char *)shadow -
				       offsetof(struct sim, shadow));
	u8 *bits = &s->bits[hipec_page_find(&s->vm, pgno)];
	bool young = *bits & SIM_BIT_YOUNG;

	*bits &= ~SIM_BIT_YOUNG;
	return young;
}

/* A page has come in. */
static void watch(struct sim *s, u32 pgno)
{
	if (!sim_watched(s))
		return;
	if (s->member && s->shadow.frames != mix_pool_held(s))
		hipec_shadow_resize(&s->shadow, mix_pool_held(s));
	hipec_shadow_fault(&s->shadow, pgno);
	sim_contract_note(s->contract, &s->shadow, s->r->faults);
	if (s->revocable && s->contract->revoked_at) {
		s->vm.exit = (struct hipec_exit){ .kind = HIPEC_EXIT_WORSE };
		end_policy(s);
	}
}

/* The first touch of a page that has been brought in. */
static void show(struct sim *s, u32 h, bool write)
{
	u32 pgno = s->vm.page[h].pgno;

	s->nr_shown++;
	hipec_page_show(&s->vm, h);
	sim_watch_page(s, h, SIM_PAGE_CAME);
	if (s->member)
		mix_pool_came(s, h);
	watch(s, pgno);
	s->pinned = h;
	run_for_page(s, HIPEC_EVENT_PAGEFAULT, pgno, write, s->nr_free);
	s->pinned = 0;
	touch(s, h, write);
}

/* One frame more, of the pool if it shares, else of its own pages. */
static __always_inline bool one_more(struct sim *s, u32 pgno, bool write)
{
	return (s->member && mix_pool_grow(s, pgno, write)) ||
	       replace(s, pgno, write);
}

/* Have a frame free. Return: false if no page can go. */
static __always_inline bool make_room(struct sim *s, u32 pgno, bool write)
{
	bool ok = true;

	if (!s->nr_free)
		sim_drop_fetched(s, true);
	if (!s->nr_free && s->member)
		mix_pool_recover(s, pgno);
	s->making_room = true;
	while (ok && !s->nr_free) {
		ok = one_more(s, pgno, write) || sim_drop_fetched(s, false);
		sim_wash(s);
	}
	s->making_room = false;
	return ok;
}

/* Have a page read. */
static __always_inline int miss(struct sim *s, u32 pgno, bool write, u32 *h)
{
	if (!make_room(s, pgno, write))
		return -ENOBUFS;
	*h = hipec_page_add(&s->vm, pgno);
	if (!*h)
		return -ENOBUFS;
	sim_note_read(s->r, pgno, write);
	s->nr_free--;
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
	if (s->mode == SIM_EXACT || !(s->bits[h] & SIM_BIT_MAPPED)) {
		s->pinned = s->vm.found = h;
		run_for_page(s, HIPEC_EVENT_ACCESS, s->vm.page[h].pgno, write,
			     s->nr_free);
		s->pinned = 0;
	}
	touch(s, h, write);
}

/* As sim_access(), for a loop. */
static __always_inline int access_page(struct sim *s, u32 pgno, bool write,
				       u32 *h)
{
	*h = hipec_page_find(&s->vm, pgno);
	if (unlikely(s->watch) && sim_watch_access(s, *h, pgno, write))
		return -ECANCELED;
	if (*h && hipec_page_live(&s->vm, *h)) {
		hit(s, *h, write);
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
	return sim_feed_note(s->r->feed, s->vm.slot[HIPEC_SLOT_CONTEXT], pgno,
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

	sim_start(s);
	sim_ahead_begin(&s->ahead, &s->vm, s->bits, t);
	for (n = 0; n < t->nr_runs; n++) {
		const struct sim_run *line = &t->run[n];

		if (unlikely(n && n == t->warm_runs)) {
			sim_result_again(s->r);
			s->vm.nr_commands = s->vm.nr_events = 0;
		}
		if (t->run_tag)
			sim_tag(s, sim_trace_tag(t, n));
		s->r->writes += line->write ? line->nr : 0;
		for (i = 0; i < line->nr; i++) {
			sim_progress_note(s->r, ++s->nr_accesses);
			sim_ahead_step(&s->ahead, &s->vm, t);
			commands = s->vm.nr_commands;
			ret = access_page(s, line->pgno + i, line->write, &h);
			if (ret > 0)
				show(s, h, line->write);
			else if (ret)
				return ret;
			if (fed && feed(s, line->pgno + i, ret))
				return -ENOMEM;
			if (s->vm.nr_commands - commands > s->r->most_commands)
				s->r->most_commands = s->vm.nr_commands - commands;
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
		.mode = mode, .nr_reserved = frames, .nr_frames = frames,
		.nr_free = frames, .r = r, .contract = c,
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
	if (c)
		hipec_shadow_init(&s->shadow, s->directory, frames, c->salt,
				  shadow_young);
	hipec_vm_init(&s->vm, p, &sim_host, s->memory, s->shared, frames);
	if (s->vm.nr_buckets > MAX_BUCKETS)
		s->vm.nr_buckets = MAX_BUCKETS;
	return 0;
}

/* Tell the policy that it is there. */
void sim_start(struct sim *s)
{
	run(s, HIPEC_EVENT_INIT, s->nr_free);
}

/* Say what came of it; free what it has. */
void sim_close(struct sim *s)
{
	s->r->exit = s->vm.exit;
	s->r->commands = s->vm.nr_commands;
	s->r->events = s->vm.nr_events;
	memcpy(s->r->slot, s->vm.slot, sizeof(s->r->slot));
	if (s->contract)
		sim_contract_end(s->contract, &s->shadow);
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

	s.watch = w;
	if (!ret && sim_opened)
		sim_opened(&s);
	if (!ret && r->feed)
		ret = sim_feed_begin(r->feed, &s.vm, frames) ?: run_trace(&s, t, true);
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
