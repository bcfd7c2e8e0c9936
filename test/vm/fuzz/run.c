// SPDX-License-Identifier: GPL-2.0-only
/*
 * A verified policy and a host that does what a script says: pages come, go,
 * change and are hidden between events, in any order. Every event must end
 * within its fuel and leave every invariant whole.
 *
 * An input is an image and, behind its image_size bytes, the script: a struct
 * setup and then actions of three bytes. What a script lacks is zero; one that
 * has no action at all is the default script.
 */
#include <stdlib.h>

#include "../../../module/tests/fakehost.h"
#include "../../../module/tests/invariants.h"
#include "harness.h"

#define MAX_FRAMES 63
#define MAX_FUEL 2047	/* commands of one event */
#define MAX_ACTIONS 96
#define MAX_MEMORY (256 << 10)	/* bytes; larger machines are not run */

struct setup {
	u8 frames;	/* pages that may hold one */
	u8 fuel;	/* times 16; 0: MAX_FUEL */
	u8 free;	/* frames */
	u8 grant;	/* frames that Request may have */
};

struct action {
	u8 what, x, y;
};

struct machine {
	struct hipec_fakehost fake;
	struct hipec_policy policy;
	void *host_memory, *vm_memory, *shared;
	u32 nr_frames;
	int (*run)(struct hipec_vm *vm, u32 event);
	fuzz_meddle *meddle;
};

static struct hipec_vm *vm_of(struct machine *m)
{
	return &m->fake.vm;
}

/* What is the machine's is in allocations of its own, exactly as long. */
static void start(struct machine *m, u32 nr_frames)
{
	const struct hipec_policy *p = &m->policy;

	m->nr_frames = nr_frames;
	m->host_memory = fuzz_alloc(NULL, hipec_fakehost_size(p, nr_frames));
	m->vm_memory = fuzz_alloc(NULL, hipec_vm_size(p, nr_frames));
	memset(m->vm_memory, 0, hipec_vm_size(p, nr_frames));
	m->shared = fuzz_alloc(NULL, p->shared_size);
	memset(m->shared, 0, p->shared_size);
	hipec_fakehost_init(&m->fake, p, m->host_memory, nr_frames);
	hipec_vm_init(vm_of(m), p, m->fake.vm.host, m->vm_memory, m->shared,
		      nr_frames);
}

static void stop(struct machine *m)
{
	free(m->shared);
	free(m->vm_memory);
	free(m->host_memory);
}

static void check_machine(struct machine *m)
{
	const char *broken = hipec_vm_broken(vm_of(m));

	fuzz_check(!broken, broken);
}

/* A policy, or one event of it, that was ended says why and where. */
static void check_exit(const struct hipec_vm *vm, const struct hipec_exit *e)
{
	const struct hipec_policy *p = vm->policy;
	const struct hipec_image_event *row;
	struct hipec_text out;
	char text[512];

	fuzz_check(e->kind && strcmp(hipec_vm_exit_text(e->kind), "?"),
		   "an exit has a kind that exists");
	fuzz_check(e->event < HIPEC_NR_EVENTS && p->index[e->event],
		   "an exit names an event that exists");
	row = &p->event[p->index[e->event] - 1];
	fuzz_check(e->command && e->command < row->nr,
		   "an exit names a command of its event");
	fuzz_check(e->word == p->words[row->first + e->command],
		   "an exit has the word of its command");
	fuzz_check(e->line == (p->lines ? p->lines[row->first + e->command] : 0),
		   "an exit has the line of its command");
	fuzz_check(e->operand <= 3, "an exit names an operand a, b or c");
	hipec_text_init(&out, text, sizeof(text));
	hipec_vm_explain_exit(p, e, &out);
	fuzz_check(strchr(text, '+') && strlen(text) == out.len,
		   "an exit has a text, with its place");
}

/* Pages that hold a frame, whatever else they are. */
static u32 nr_held(const struct hipec_vm *vm)
{
	u32 h, n = 0;

	for (h = 1; h <= vm->nr_pages; h++)
		n += vm->page[h].flags & HIPEC_PAGE_FRAME;
	return n;
}

/* Pages that were given up and, being clean, have gone. */
static u32 nr_gone(const struct hipec_fakehost *fake)
{
	u32 i, n = 0;

	for (i = 0; i < fake->nr_given; i++)
		n += !fake->given[i].dirty;
	return n;
}

/* How an event ended, and what has to follow from that. */
static void check_end(struct machine *m, int ret, u64 nr_late)
{
	struct hipec_vm *vm = vm_of(m);

	switch (ret) {
	case 0:
		fuzz_check(!vm->exit.kind && vm->nr_late == nr_late,
			   "an event that ended well has no exit");
		fuzz_stats.events++;
		break;
	case -ETIMEDOUT:
		fuzz_check(!vm->exit.kind && vm->nr_late == nr_late + 1,
			   "an event over its time does not end the policy");
		fuzz_check(m->fake.nr_looks == m->fake.late,
			   "an event is over its time when the host says so");
		check_exit(vm, &vm->late);
		fuzz_stats.events++;
		break;
	default:
		fuzz_check(ret == -ECANCELED && vm->nr_late == nr_late,
			   "an event gives 0, -ETIMEDOUT or -ECANCELED");
		check_exit(vm, &vm->exit);
		fuzz_stats.exits++;
		hipec_vm_abandon(vm);
		fuzz_check(vm->queue[HIPEC_QUEUE_FALLBACK].count ==
			   vm->nr_live && !vm->nr_ghosts,
			   "a policy that was abandoned has no page");
		check_machine(m);
	}
}

static void run_event(struct machine *m, u32 event)
{
	const size_t first = HIPEC_SLOT_SYSTEM;
	struct hipec_vm *vm = vm_of(m);
	u64 commands = vm->nr_commands, events = vm->nr_events;
	u64 nr_late = vm->nr_late;
	s64 system[HIPEC_NR_SLOTS - HIPEC_SLOT_SYSTEM];
	u32 held = nr_held(vm);
	int ret;

	if (vm->exit.kind || !hipec_vm_has_event(vm, event)) {
		hipec_page_forget_evicted(vm);
		return;
	}
	memcpy(system, &vm->slot[first], sizeof(system));
	m->fake.nr_given = 0;
	m->fake.nr_looks = 0;
	m->fake.nr_ahead = 0;
	vm->slot[HIPEC_SLOT_FREE_COUNT] = m->fake.free;
	vm->queue[HIPEC_QUEUE_FREE].count = m->fake.free;
	ret = m->run(vm, event);
	if (m->meddle)
		m->meddle(vm);

	commands = vm->nr_commands - commands;
	fuzz_check(commands &&
		   commands <= vm->fuel + m->policy.image->nr_words,
		   "an event ends within its fuel");
	fuzz_check(vm->nr_events == events + 1, "one event counts as one");
	fuzz_check(!memcmp(system, &vm->slot[first], sizeof(system)),
		   "a policy does not write system slots");
	fuzz_check(m->fake.nr_given <= held &&
		   nr_held(vm) + nr_gone(&m->fake) ==
		   held + m->fake.nr_ahead,
		   "a page loses its frame only when it is given up clean");
	check_machine(m);
	fuzz_stats.commands += commands;
	check_end(m, ret, nr_late);
}

/* Page number of byte @x: mostly small, so that they meet. */
static u32 pgno_of(u8 x)
{
	return x < 0xf0 ? x & 0x3f : ~(u32)(0xff - x);
}

/* Pages as the script's bits say; which of them are hidden is the host's. */
static void set_bits(struct machine *m, u32 h, u8 y)
{
	u16 *bits = &m->fake.bits[h];

	*bits = (*bits & (HIPEC_FAKE_HIDDEN | HIPEC_FAKE_KEPT)) |
		(y & ~HIPEC_FAKE_HIDDEN);
}

/* Bring a page in, if a frame is left. */
static u32 add(struct machine *m, u8 x, u8 y)
{
	u32 pgno = pgno_of(x), h, i;
	bool is_ghost;

	if (hipec_page_find(vm_of(m), pgno) ||
	    nr_held(vm_of(m)) >= m->nr_frames)
		return 0;
	is_ghost = hipec_page_find_named(vm_of(m), pgno);
	h = hipec_fakehost_add(&m->fake, pgno, y);
	fuzz_check(h, "there is an entry for every frame");
	for (i = 0; !is_ghost && i < vm_of(m)->nr_fields; i++)
		fuzz_check(!vm_of(m)->field[h * vm_of(m)->nr_fields + i],
			   "the fields of a new page are zero");
	return h;
}

static void do_add(struct machine *m, const struct action *a)
{
	add(m, a->x, a->y);
}

/* As the kernel brings a page in. */
static void do_fault(struct machine *m, const struct action *a)
{
	struct hipec_vm *vm = vm_of(m);

	if (!add(m, a->x, a->y & ~HIPEC_FAKE_HIDDEN))
		return;
	m->fake.free -= m->fake.free > 0;
	vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno_of(a->x) << 12;
	vm->slot[HIPEC_SLOT_FAULT_KIND] = a->y & 1;
	vm->slot[HIPEC_SLOT_RESIDENT_COUNT] = vm->nr_live;
	run_event(m, HIPEC_EVENT_PAGEFAULT);
}

static void do_replace(struct machine *m, const struct action *a)
{
	(void)a;
	run_event(m, HIPEC_EVENT_REPLACE);
}

static void do_run(struct machine *m, const struct action *a)
{
	run_event(m, m->policy.event[a->x % m->policy.image->nr_events].number);
}

/* The policy is told that a page leaves, and may remember it. */
static void tell_removed(struct machine *m, u8 x)
{
	struct hipec_vm *vm = vm_of(m);

	vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno_of(x) << 12;
	run_event(m, HIPEC_EVENT_REMOVE);
}

/* A hidden page appears, a live one is hidden; or both, as when writing fails. */
static void do_hide(struct machine *m, const struct action *a)
{
	struct hipec_vm *vm = vm_of(m);
	u32 h = hipec_page_find(vm, pgno_of(a->x));

	if (!h)
		return;
	if (hipec_page_live(vm, h)) {
		hipec_page_deactivate(vm, h);
		m->fake.bits[h] |= HIPEC_FAKE_HIDDEN;
		if (a->y & 1)
			hipec_page_forget_evicted(vm);
		else if (a->y & 2)
			tell_removed(m, a->x);
		if (a->y & 3)
			return;
	}
	hipec_page_activate(vm, h);
	m->fake.bits[h] &= ~(HIPEC_FAKE_HIDDEN | HIPEC_FAKE_KEPT);
}

static void do_del(struct machine *m, const struct action *a)
{
	u32 h = hipec_page_find(vm_of(m), pgno_of(a->x));

	if (!h)
		return;
	hipec_page_del(vm_of(m), h);
	m->fake.bits[h] = 0;
	tell_removed(m, a->x);
}

/* Part of a file is no more, and what is remembered of it. */
static void do_forget(struct machine *m, const struct action *a)
{
	struct hipec_vm *vm = vm_of(m);
	u32 h = hipec_page_find_named(vm, pgno_of(a->x));

	if (a->y < 0x40)
		hipec_page_forget_range(vm, pgno_of(a->x), a->y);
	else if (h && !hipec_page_live(vm, h))
		hipec_page_forget(vm, h);
}

static void do_bits(struct machine *m, const struct action *a)
{
	u32 h = hipec_page_find(vm_of(m), pgno_of(a->x));

	if (h)
		set_bits(m, h, a->y);
}

/* What the touches of an application do to all pages. */
static void do_age(struct machine *m, const struct action *a)
{
	u32 h;

	for (h = 1; h <= vm_of(m)->nr_pages; h++)
		if (hipec_page_live(vm_of(m), h))
			m->fake.bits[h] ^= h * a->x >> 3 &
					   (HIPEC_FAKE_REF | HIPEC_FAKE_MOD);
}

/* What was given up dirty has been written and goes. */
static void do_clean(struct machine *m, const struct action *a)
{
	(void)a;
	hipec_fakehost_clean(&m->fake);
}

/* The application writes its shared arrays. */
static void do_share(struct machine *m, const struct action *a)
{
	s64 *shared = m->shared;
	u32 nr = m->policy.shared_size / sizeof(s64), i;

	for (i = 0; i < nr; i++)
		shared[i] = (s64)(i * a->x) - a->y;
}

static void do_late(struct machine *m, const struct action *a)
{
	m->fake.late = a->x & 7;
}

static void do_system(struct machine *m, const struct action *a)
{
	static const u8 slot[] = {
#define X(id, code, ...) code,
		HIPEC_SYSTEM_SLOTS(X)
#undef X
	};
	s64 *to = &vm_of(m)->slot[slot[a->x % ARRAY_SIZE(slot)]];

	/* A small number, a page's address, or neither. */
	*to = a->y < 0x20 ? a->y :
	      a->y < 0xe0 ? (s64)(a->y & 0x3f) << 12 :
			    (s64)(0x8000000000000001ull * (a->y | 1));
}

static void do_frames(struct machine *m, const struct action *a)
{
	m->fake.free = a->x;
	m->fake.grant = (signed char)a->y;
}

static void do_fuel(struct machine *m, const struct action *a)
{
	vm_of(m)->fuel = 1 + ((a->y << 8 | a->x) & (MAX_FUEL >> 1));
}

/* More than once: what happens more often. */
static void (*const actions[])(struct machine *m, const struct action *a) = {
	do_fault, do_replace, do_fault, do_replace, do_fault, do_run, do_run,
	do_add, do_hide, do_del, do_bits, do_age, do_clean, do_system,
	do_frames, do_fuel, do_forget, do_share, do_late,
};

/* An ordinary life, for an input that has no script. */
static const struct action default_script[] = {
	{ 5, 0, 0 }, { 0, 0, 0 }, { 0, 1, 2 }, { 0, 2, 1 },
	{ 0, 3, 8 }, { 1, 0, 0 }, { 1, 0, 0 }, { 0, 4, 4 }, { 11, 9, 0 },
	{ 0, 5, 0 }, { 1, 0, 0 }, { 12, 0, 0 }, { 1, 0, 0 }, { 8, 2, 0 },
	{ 1, 0, 0 }, { 0, 1, 1 }, { 1, 0, 0 }, { 5, 2, 0 },
};

static void play(struct machine *m, const struct action *script, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && i < MAX_ACTIONS; i++) {
		actions[script[i].what % ARRAY_SIZE(actions)](m, &script[i]);
		check_machine(m);
	}
}

/* Bytes of @data that are the image, as far as its header can be believed. */
size_t fuzz_image_size(const u8 *data, size_t size)
{
	u32 want;

	if (size < sizeof(struct hipec_image))
		return size;
	memcpy(&want, data + offsetof(struct hipec_image, image_size),
	       sizeof(want));
	return want < size ? want : size;
}

static u64 add_exit(u64 sum, const struct hipec_exit *e)
{
	const u32 all[] = {
		e->kind, e->event, e->command, e->line, e->word, e->operand,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		sum = (sum ^ all[i]) * 0x100000001b3ull;
	return sum;
}

/* One number for all that the policy can see and has done. */
static u64 digest(const struct machine *m)
{
	const struct hipec_vm *vm = &m->fake.vm;
	u64 sum = vm->nr_commands * 31 + vm->nr_late;
	u32 i, q, h;

#define ADD(n) (sum = (sum ^ (u64)(n)) * 0x100000001b3ull)
	for (i = 0; i < HIPEC_NR_SLOTS; i++)
		ADD(vm->slot[i]);
	for (q = 0; q < vm->nr_queues; q++) {
		ADD(vm->queue[q].count);
		for (h = vm->queue[q].head; h; h = vm->page[h].next) {
			ADD(vm->page[h].pgno);
			for (i = 0; i < vm->nr_fields; i++)
				ADD(vm->field[h * vm->nr_fields + i]);
		}
	}
	for (i = 0; i < m->policy.nr_elements; i++)
		ADD(((s64 *)m->vm_memory)[i]);
#undef ADD
	return add_exit(add_exit(sum, &vm->exit), &vm->late);
}

/* Run a script on @m, which has its policy and how it runs; all that it did. */
static u64 run_script(struct machine *m, const u8 *script, size_t size, u32 salt)
{
	struct setup setup = { .frames = 8, .free = 2, .grant = 3 };
	u64 sum;

	if (size >= sizeof(setup))
		memcpy(&setup, script, sizeof(setup));
	start(m, setup.frames & MAX_FRAMES);
	vm_of(m)->salt = salt;
	vm_of(m)->fuel = setup.fuel ? setup.fuel * 16 : MAX_FUEL;
	m->fake.free = setup.free;
	m->fake.grant = setup.grant;
	fuzz_check_layout(vm_of(m), m->vm_memory,
			  hipec_vm_size(&m->policy, m->nr_frames), m->shared);
	check_machine(m);
	if (size < sizeof(setup) + sizeof(struct action))
		play(m, default_script, ARRAY_SIZE(default_script));
	else
		play(m, (const void *)(script + sizeof(setup)),
		     (size - sizeof(setup)) / sizeof(struct action));
	sum = digest(m);
	stop(m);
	return sum;
}

/*
 * The same twice: the second time by the reference, with trees of another shape
 * and other bytes in fresh memory.
 */
static void run_twice(const struct hipec_policy *p, const u8 *script,
		      size_t size, fuzz_meddle *meddle)
{
	struct machine m = {
		.policy = *p, .meddle = meddle, .run = hipec_vm_run,
	};
	u64 sum = run_script(&m, script, size, 0);
	struct fuzz_stats stats = fuzz_stats;

	m.run = fuzz_reference_run;
	fuzz_fill = ~fuzz_fill;
	fuzz_check(run_script(&m, script, size, 0x2545f491) == sum,
		   "what a policy does follows from its commands alone");
	fuzz_fill = ~fuzz_fill;
	fuzz_stats = stats;
}

/**
 * fuzz_run() - try bytes as an image and a script
 * @data:   any bytes
 * @size:   bytes
 * @meddle: called after each event, before the checks; NULL: none
 *
 * Context: any; allocates.
 */
void fuzz_run(const u8 *data, size_t size, fuzz_meddle *meddle)
{
	size_t image_size = fuzz_image_size(data, size);
	struct hipec_verify_error err;
	struct hipec_policy p;
	void *image = fuzz_alloc(data, image_size);

	fuzz_stats.inputs++;
	if (hipec_image_parse(image, image_size, &p, &err) ||
	    hipec_verify(&p, &err)) {
		fuzz_check_refusal(&p, &err);
		free(image);
		return;
	}
	fuzz_stats.accepted++;
	fuzz_check(fuzz_sound(&p), "the verifier accepts what is sound");
	if (hipec_vm_size(&p, MAX_FRAMES) <= MAX_MEMORY)
		run_twice(&p, data + image_size, size - image_size, meddle);
	fuzz_check(!memcmp(image, data, image_size),
		   "the core does not write into the image");
	free(image);
}
