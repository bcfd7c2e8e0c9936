// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/page.c, order.c and queue.h under a random walk: a host that reads,
 * evicts and cleans pages, and a policy that queues, gives up, remembers and
 * forgets them, against plain arrays in which each operation is a loop.
 */
#include "kunit_machine.h"

#define NR_FRAMES 10
#define MAX_GHOSTS 3	/* 30 percent */
#define NR_PGNO 24	/* more than there are entries */
#define NR_QUEUES 4	/* of the policy; the last one is ordered */
#define ORDERED (NR_QUEUES - 1)
#define FALLBACK NR_QUEUES
#define NOWHERE (NR_QUEUES + 1)
#define HOST_FLAG 0x0400	/* any: the host's flags go with the frame */

/* The policy's events, for queue @q and an end; what each does is its name. */
#define DO_MOVE(q, end) (HIPEC_EVENT_USER + 2 * (q) + (end) - 1)
#define DO_TAKE(q, end) (HIPEC_EVENT_USER + 8 + 2 * (q) + (end) - 1)
#define DO_REMEMBER(q) (HIPEC_EVENT_USER + 16 + (q))
#define DO_GIVE_UP (HIPEC_EVENT_USER + 20)
#define DO_RELEASE (HIPEC_EVENT_USER + 21)

enum frame { NONE, READING, RESIDENT, CLEANING };

struct walk {
	struct kunit *test;
	struct hipec_fakehost *fake;
	struct hipec_vm *vm;
	u32 seed;
	u8 key_slot;
	u32 moved;	/* pages that got another entry */

	/* The model: where each page is, and who is on each list in order. */
	enum frame frame[NR_PGNO];
	bool ghost[NR_PGNO];
	bool dirty[NR_PGNO];
	s64 key[NR_PGNO];
	u32 list[NR_QUEUES + 1][NR_PGNO];
	u32 count[NR_QUEUES + 1];
};

static void make_policy(struct hipec_kit *kit, u8 *key)
{
	u8 page = hipec_kit_page(kit), field = hipec_kit_field(kit);
	u8 queue[NR_QUEUES];
	u32 q, end;

	*key = hipec_kit_int(kit, 0);
	for (q = 0; q < NR_QUEUES; q++)
		queue[q] = q == ORDERED ? hipec_kit_ordered(kit, field) :
					  hipec_kit_queue(kit);
#define OP(...) hipec_kit_op(kit, __VA_ARGS__)
#define FIND OP(HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0)
#define PUT OP(HIPEC_OP_PUT, page, field, *key)
#define RETURN OP(HIPEC_OP_RETURN, 0, 0, 0)
	for (q = 0; q < NR_QUEUES; q++) {
		for (end = HIPEC_END_HEAD; end <= HIPEC_END_TAIL; end++) {
			hipec_kit_event(kit, DO_MOVE(q, end));
			FIND;
			PUT;
			OP(HIPEC_OP_ENQUEUE, page, queue[q], end);
			RETURN;
			hipec_kit_event(kit, DO_TAKE(q, end));
			OP(HIPEC_OP_DEQUEUE, page, queue[q], end);
			RETURN;
		}
		hipec_kit_event(kit, DO_REMEMBER(q));
		FIND;
		PUT;
		OP(HIPEC_OP_ENQUEUE, page, HIPEC_SLOT_FREE_QUEUE,
		   HIPEC_END_TAIL);
		OP(HIPEC_OP_ENQUEUE, page, queue[q], HIPEC_END_TAIL);
		RETURN;
	}
	hipec_kit_event(kit, DO_GIVE_UP);
	FIND;
	OP(HIPEC_OP_ENQUEUE, page, HIPEC_SLOT_FREE_QUEUE, HIPEC_END_TAIL);
	RETURN;
	hipec_kit_event(kit, DO_RELEASE);
	FIND;
	OP(HIPEC_OP_RELEASE, page, 0, 0);
	RETURN;
#undef OP
#undef FIND
#undef PUT
#undef RETURN
}

/* Take @pgno off its list; the list, or NOWHERE. */
static u32 model_take(struct walk *w, u32 pgno)
{
	u32 l, i;

	for (l = 0; l <= FALLBACK; l++) {
		for (i = 0; i < w->count[l]; i++) {
			if (w->list[l][i] != pgno)
				continue;
			memmove(&w->list[l][i], &w->list[l][i + 1],
				(--w->count[l] - i) * sizeof(w->list[l][0]));
			return l;
		}
	}
	return NOWHERE;
}

static void model_put(struct walk *w, u32 l, u32 pgno, enum hipec_end end)
{
	u32 at = end == HIPEC_END_HEAD ? 0 : w->count[l];

	if (l == ORDERED)
		for (at = 0; at < w->count[l]; at++) {
			s64 other = w->key[w->list[l][at]];

			if (end == HIPEC_END_HEAD ? other >= w->key[pgno] :
						    other > w->key[pgno])
				break;
		}
	memmove(&w->list[l][at + 1], &w->list[l][at],
		(w->count[l]++ - at) * sizeof(w->list[l][0]));
	w->list[l][at] = pgno;
}

static u32 nr_frames(const struct walk *w)
{
	u32 pgno, n = 0;

	for (pgno = 0; pgno < NR_PGNO; pgno++)
		n += w->frame[pgno] != NONE;
	return n;
}

static u32 nr_ghosts(const struct walk *w)
{
	u32 pgno, n = 0;

	for (pgno = 0; pgno < NR_PGNO; pgno++)
		n += w->ghost[pgno];
	return n;
}

static void compare(struct walk *w)
{
	struct kunit *test = w->test;
	const struct hipec_vm *vm = w->vm;
	u32 l, i, h, q, pgno, live = 0;

	HIPEC_KIT_EXPECT_WHOLE(test, vm);
	for (pgno = 0; pgno < NR_PGNO; pgno++) {
		bool resident = w->frame[pgno] == RESIDENT;

		KUNIT_ASSERT_EQ(test, !hipec_page_find(vm, pgno),
				w->frame[pgno] == NONE);
		KUNIT_ASSERT_EQ(test, !hipec_page_find_named(vm, pgno),
				!resident && !w->ghost[pgno]);
		live += resident;
	}
	KUNIT_ASSERT_EQ(test, vm->nr_live, live);
	KUNIT_ASSERT_EQ(test, vm->nr_ghosts, nr_ghosts(w));
	for (l = 0; l <= FALLBACK; l++) {
		q = l == FALLBACK ? HIPEC_QUEUE_FALLBACK :
				    HIPEC_QUEUE_POLICY + l;
		KUNIT_ASSERT_EQ(test, vm->queue[q].count, w->count[l]);
		h = vm->queue[q].head;
		for (i = 0; h; h = vm->page[h].next, i++)
			KUNIT_ASSERT_EQ(test, vm->page[h].pgno, w->list[l][i]);
	}
}

/* The host's half: one thing that may happen to @pgno, if any may. */
static void host_step(struct walk *w, u32 pgno)
{
	u32 h = hipec_page_find(w->vm, pgno);
	u32 ghost = hipec_page_find_named(w->vm, pgno);

	switch (w->frame[pgno]) {
	case NONE:
		if (nr_frames(w) == NR_FRAMES)
			return;
		h = hipec_page_add(w->vm, pgno);
		KUNIT_ASSERT_NE(w->test, h, 0);	/* there is room for ghosts */
		/* A ghost comes back as it was, another page new. */
		if (w->ghost[pgno])
			KUNIT_ASSERT_EQ(w->test, h, ghost);
		KUNIT_EXPECT_EQ(w->test, w->vm->field[h],
				w->ghost[pgno] ? w->key[pgno] : 0);
		KUNIT_EXPECT_EQ(w->test, w->vm->page[h].flags & HIPEC_PAGE_HOST,
				0);
		w->vm->page[h].flags |= HOST_FLAG;
		w->fake->bits[h] = 0;
		w->dirty[pgno] = false;
		w->frame[pgno] = READING;
		return;
	case READING:
		if (!hipec_kit_random(&w->seed, 4)) {	/* it failed */
			hipec_page_del(w->vm, h);
			w->frame[pgno] = NONE;
			return;
		}
		hipec_page_activate(w->vm, h);
		w->frame[pgno] = RESIDENT;
		if (!w->ghost[pgno])
			model_put(w, FALLBACK, pgno, HIPEC_END_TAIL);
		w->ghost[pgno] = false;
		return;
	case CLEANING:
		w->fake->bits[h] = 0;
		hipec_page_del(w->vm, h);
		w->frame[pgno] = NONE;
		return;
	case RESIDENT:
		if (hipec_kit_random(&w->seed, 3)) {
			w->fake->bits[h] |= HIPEC_FAKE_MOD;
			w->dirty[pgno] = true;
			return;
		}
		hipec_page_del(w->vm, h);	/* evicted between events */
		hipec_page_forget_evicted(w->vm);
		w->frame[pgno] = NONE;
		model_take(w, pgno);
	}
}

static void run_event(struct walk *w, u32 event, u32 pgno)
{
	w->vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << 12;
	w->vm->slot[w->key_slot] = (s64)hipec_kit_random(&w->seed, 4) - 2;
	KUNIT_ASSERT_EQ(w->test, hipec_fakehost_run(w->fake, event), 0);
}

/* The frame of a resident page is given up; of another page, none. */
static void model_evict(struct walk *w, u32 pgno)
{
	if (w->frame[pgno] == RESIDENT)
		w->frame[pgno] = w->dirty[pgno] ? CLEANING : NONE;
}

/* The policy's half: one event about @pgno, which it may name. */
static void policy_step(struct walk *w, u32 pgno)
{
	u32 q = hipec_kit_random(&w->seed, NR_QUEUES);
	enum hipec_end end = hipec_kit_random(&w->seed, 2) + HIPEC_END_HEAD;
	bool remembered;

	switch (hipec_kit_random(&w->seed, 12)) {
	case 0:
		run_event(w, DO_GIVE_UP, pgno);
		break;
	case 1:
		run_event(w, DO_RELEASE, pgno);
		break;
	case 2 ... 6:
		/* A new ghost takes one of the places; an old one has its own. */
		remembered = w->ghost[pgno] || nr_ghosts(w) < MAX_GHOSTS;
		run_event(w, DO_REMEMBER(q), pgno);
		model_take(w, pgno);
		model_evict(w, pgno);
		w->ghost[pgno] = remembered;
		w->key[pgno] = w->vm->slot[w->key_slot];
		if (remembered)
			model_put(w, q, pgno, HIPEC_END_TAIL);
		return;
	default:
		run_event(w, DO_MOVE(q, end), pgno);
		model_take(w, pgno);
		w->key[pgno] = w->vm->slot[w->key_slot];
		model_put(w, q, pgno, end);
		return;
	}
	model_take(w, pgno);
	model_evict(w, pgno);
	w->ghost[pgno] = false;
}

/* Take a page off a queue: a ghost is forgotten, others are the fallback's. */
static void take_step(struct walk *w)
{
	u32 q = hipec_kit_random(&w->seed, NR_QUEUES), pgno;
	enum hipec_end end = hipec_kit_random(&w->seed, 2) + HIPEC_END_HEAD;

	run_event(w, DO_TAKE(q, end), 0);
	if (!w->count[q])
		return;
	pgno = w->list[q][end == HIPEC_END_HEAD ? 0 : w->count[q] - 1];
	model_take(w, pgno);
	if (w->frame[pgno] == RESIDENT)
		model_put(w, FALLBACK, pgno, HIPEC_END_TAIL);
	w->ghost[pgno] = false;
}

/* Forget the ghosts of a few pages that are no more. */
static void forget_step(struct walk *w, u32 first)
{
	u32 pgno;

	hipec_page_forget_range(w->vm, first, 5);
	for (pgno = first; pgno < NR_PGNO && pgno < first + 5; pgno++) {
		if (!w->ghost[pgno])
			continue;
		w->ghost[pgno] = false;
		model_take(w, pgno);
	}
}

/* The table uses one entry less, if there is an unused one among those that it uses. */
static void compact_step(struct walk *w)
{
	struct hipec_vm *vm = w->vm;
	u32 last = vm->reached, to = vm->unused;

	if (!to)
		return;
	if (vm->page[last].flags & HIPEC_PAGE_USED) {
		hipec_compact_move(vm, last, to);
		w->fake->bits[to] = w->fake->bits[last];
		w->fake->bits[last] = 0;
		w->moved++;
	}
	hipec_compact_drop_last(vm);
}

static void step(struct walk *w)
{
	u32 pgno = hipec_kit_random(&w->seed, NR_PGNO);
	u32 what = hipec_kit_random(&w->seed, 40);

	if (hipec_kit_random(&w->seed, 8) == 0)
		compact_step(w);
	if (what == 0)
		forget_step(w, pgno);
	else if (what < 3)
		take_step(w);
	else if (what < 14 || (w->frame[pgno] != RESIDENT && !w->ghost[pgno]))
		host_step(w, pgno);
	else
		policy_step(w, pgno);
}

static struct walk *start(struct kunit *test, u32 seed)
{
	struct walk *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct hipec_kit *kit = hipec_kit_new(test);

	KUNIT_ASSERT_NOT_NULL(test, w);
	make_policy(kit, &w->key_slot);
	kit->ghosts = 100 * MAX_GHOSTS / NR_FRAMES;
	w->test = test;
	w->fake = hipec_kit_machine(kit, NR_FRAMES);
	w->vm = &w->fake->vm;
	w->vm->salt = seed;
	w->seed = seed;
	KUNIT_ASSERT_EQ(test, w->vm->max_ghosts, MAX_GHOSTS);
	return w;
}

/* Whatever happens in whatever order, the table does what arrays would do. */
static void random_walks_match_plain_arrays(struct kunit *test)
{
	u32 seed, i, most = 0, moved = 0, walks = 6;

	for (seed = 1; seed <= walks; seed++) {
		struct walk *w = start(test, seed * 7919);

		for (i = 0; i < 600; i++) {
			step(w);
			compare(w);
			most += nr_ghosts(w) == MAX_GHOSTS;
		}
		moved += w->moved;
	}
	KUNIT_EXPECT_GT(test, most, walks * 10);	/* it was crowded */
	KUNIT_EXPECT_GT(test, moved, walks * 10);
}

/* What an ended policy leaves: resident pages in its order, no ghosts. */
static void an_abandoned_machine_keeps_resident_pages_in_order(struct kunit *test)
{
	u32 seed, i, q, pgno;

	for (seed = 1; seed <= 4; seed++) {
		struct walk *w = start(test, seed * 104729);

		for (i = 0; i < 200; i++)
			step(w);
		hipec_vm_abandon(w->vm);
		for (q = 0; q < NR_QUEUES; q++)
			while (w->count[q]) {
				pgno = w->list[q][0];
				model_take(w, pgno);
				if (!w->ghost[pgno])
					model_put(w, FALLBACK, pgno,
						  HIPEC_END_TAIL);
				w->ghost[pgno] = false;
			}
		compare(w);
	}
}

/* The tree's shape is nobody's business: every salt gives the same order. */
static void no_decision_depends_on_the_salt(struct kunit *test)
{
	u32 salt, i;

	for (salt = 0; salt < 4; salt++) {
		struct walk *w = start(test, 42);

		w->vm->salt = salt * 0x55555555u;
		for (i = 0; i < 200; i++) {
			step(w);
			compare(w);
		}
	}
}

static struct kunit_case walk_cases[] = {
	KUNIT_CASE(random_walks_match_plain_arrays),
	KUNIT_CASE(an_abandoned_machine_keeps_resident_pages_in_order),
	KUNIT_CASE(no_decision_depends_on_the_salt),
	{ }
};

static struct kunit_suite walk_suite = {
	.name = "hipec_walk",
	.test_cases = walk_cases,
};

kunit_test_suites(&walk_suite);
