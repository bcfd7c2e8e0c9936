// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/shadow.c and contract.c: against FIFO with a second chance, written
 * down once more as two rings; by hand; and what the contract makes of it.
 */
#include "kunit_machine.h"

#include "../core/shadow.h"

#define NR_PGNO 12288
#define RING 8192	/* a power of two, more than frames */

/* Figure 3, with a bit for each page that is told of each reference. */
struct ring {
	u32 pgno[RING];
	u32 first, count;
};

struct model {
	u32 frames;
	struct ring active, inactive;
	bool kept[NR_PGNO], referenced[NR_PGNO];
	u32 faults;
};

/* The container: which pages it holds, and its hardware's bits. */
struct world {
	struct hipec_shadow s;	/* first, so that young() finds the rest */
	struct kunit *test;
	struct model *model;
	bool tell;		/* the shadow of each reference */
	u32 seed;
	u32 frames, nr_held;
	u32 slot[RING];		/* pages held, in no order */
	u32 place[NR_PGNO];	/* 1 + index there, 0: not held */
	bool young[NR_PGNO];
	u32 faults, estimate;
};

static u32 take(struct ring *ring)
{
	ring->count--;
	return ring->pgno[ring->first++ % RING];
}

static void put(struct ring *ring, u32 pgno)
{
	ring->pgno[(ring->first + ring->count++) % RING] = pgno;
}

static void model_balance(struct model *m)
{
	while (m->inactive.count <
	       (m->active.count + m->inactive.count) * 2 / 3) {
		u32 pgno = take(&m->active);

		m->referenced[pgno] = false;
		put(&m->inactive, pgno);
	}
}

static void model_make_room(struct model *m, u32 frames)
{
	while (m->active.count + m->inactive.count > frames) {
		u32 pgno;

		model_balance(m);
		pgno = take(&m->inactive);
		if (m->referenced[pgno])
			put(&m->active, pgno);
		else
			m->kept[pgno] = false;
		model_balance(m);
	}
}

static void model_touch(struct model *m, u32 pgno)
{
	if (m->kept[pgno]) {
		m->referenced[pgno] = true;
		return;
	}
	m->faults++;
	model_make_room(m, m->frames - 1);
	m->kept[pgno] = true;
	m->referenced[pgno] = true;
	put(&m->active, pgno);
}

static bool look(struct hipec_shadow *s, u32 pgno)
{
	struct world *w = (struct world *)s;
	bool young = w->young[pgno];

	KUNIT_EXPECT_NE(w->test, w->place[pgno], 0);
	KUNIT_EXPECT_TRUE(w->test, hipec_shadow_sampled(s, pgno));
	w->young[pgno] = false;
	return young;
}

/* A shadow in exactly as much memory as it asks for. */
static struct world *start(struct kunit *test, u32 frames, u32 salt, bool tell)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	void *memory = kunit_kmalloc(test, hipec_shadow_bytes(frames),
				     GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	w->model = kunit_kzalloc(test, sizeof(*w->model), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->model);
	w->test = test;
	w->tell = tell;
	w->seed = salt + 1;
	w->frames = frames;
	w->model->frames = frames;
	hipec_shadow_init(&w->s, memory, frames, salt, look);
	return w;
}

static void evict_page(struct world *w, u32 pgno)
{
	u32 last = w->slot[--w->nr_held];

	hipec_shadow_evicted(&w->s, pgno);
	w->slot[w->place[pgno] - 1] = last;
	w->place[last] = w->place[pgno];
	w->place[pgno] = 0;
	w->young[pgno] = false;
}

/* Touch a page; of a full container @victim goes, if it is not held. */
static void touch(struct world *w, u32 pgno, u32 victim)
{
	u64 before = (u64)w->s.window.shadow << w->s.shift;

	model_touch(w->model, pgno);
	if (w->place[pgno]) {
		w->young[pgno] = !w->tell;
		if (w->tell)
			hipec_shadow_touch(&w->s, pgno);
	} else {
		if (w->nr_held >= w->frames)
			evict_page(w, victim);
		w->slot[w->nr_held++] = pgno;
		w->place[pgno] = w->nr_held;
		hipec_shadow_fault(&w->s, pgno);
		w->young[pgno] = !w->tell;
		w->faults++;
	}
	w->estimate += ((u64)w->s.window.shadow << w->s.shift) - before;
}

static u32 any_victim(struct world *w)
{
	return w->nr_held ? w->slot[hipec_kit_random(&w->seed, w->nr_held)] : 0;
}

static void resize(struct world *w, u32 frames)
{
	w->frames = frames;
	while (w->nr_held > frames)
		evict_page(w, any_victim(w));
	w->model->frames = frames;
	model_make_room(w->model, frames);
	hipec_shadow_resize(&w->s, frames);
}

static bool on_list(const struct hipec_shadow *s, u32 list, u32 pgno)
{
	u32 e;

	for (e = s->list[list].head; e; e = s->page[e].next)
		if (s->page[e].pgno == pgno)
			return true;
	return false;
}

/* What is on each list, from its head on. */
static void expect_list(struct world *w, u32 list, u32 nr, u32 a, u32 b)
{
	struct kunit *test = w->test;
	const struct hipec_shadow *s = &w->s;
	u32 e = s->list[list].head;

	KUNIT_EXPECT_EQ(test, s->list[list].count, nr);
	if (nr > 0)
		KUNIT_EXPECT_EQ(test, s->page[e].pgno, a);
	if (nr > 1)
		KUNIT_EXPECT_EQ(test, s->page[s->page[e].next].pgno, b);
}

/* Lists, buckets and counts agree with each other and with the container. */
static void expect_whole(struct world *w)
{
	struct kunit *test = w->test;
	const struct hipec_shadow *s = &w->s;
	u32 list, e, i, used = 0, chained = 0, held = 0, sampled = 0;

	for (list = 0; list < HIPEC_SHADOW_NR_LISTS; list++) {
		u32 prev = 0, n = 0;

		for (e = s->list[list].head; e; e = s->page[e].next, n++) {
			KUNIT_ASSERT_EQ(test, s->page[e].list, list);
			KUNIT_ASSERT_EQ(test, s->page[e].prev, prev);
			prev = e;
			if (list == HIPEC_SHADOW_UNUSED)
				continue;
			used++;
			held += s->page[e].held;
			KUNIT_EXPECT_TRUE(test, s->page[e].held ==
					  !!w->place[s->page[e].pgno]);
			if (list == HIPEC_SHADOW_DROPPED)
				KUNIT_EXPECT_TRUE(test, s->page[e].held);
		}
		KUNIT_ASSERT_EQ(test, s->list[list].tail, prev);
		KUNIT_ASSERT_EQ(test, s->list[list].count, n);
	}
	for (i = 0; i < 1u << s->bits; i++)
		for (e = s->bucket[i]; e; e = s->page[e].chain)
			chained++;
	for (i = 0; i < w->nr_held; i++)
		sampled += hipec_shadow_sampled(s, w->slot[i]);
	KUNIT_EXPECT_EQ(test, used + s->list[HIPEC_SHADOW_UNUSED].count,
			2 * s->max);
	KUNIT_EXPECT_EQ(test, chained, used);
	KUNIT_EXPECT_EQ(test, held, sampled);
	KUNIT_EXPECT_EQ(test, s->nr_sampled, sampled);
	KUNIT_EXPECT_EQ(test, s->nr_held, w->nr_held);
}

/*
 * Three frames, of which the second chance has two inactive. Page 4 makes it
 * move 1 and 2 there and give up 1, where the policy gave up 3. The default
 * keeps 3, so that its fault is none; and does not have 1, which is one: 2 was
 * touched and goes back, 4 takes its place, 3 is given up.
 */
static void three_frames_by_hand(struct kunit *test)
{
	struct world *w = start(test, 3, 7, true);

	touch(w, 1, 0);
	touch(w, 2, 0);
	touch(w, 3, 0);
	expect_list(w, HIPEC_SHADOW_ACTIVE, 3, 1, 2);
	touch(w, 4, 3);
	expect_list(w, HIPEC_SHADOW_ACTIVE, 2, 3, 4);
	expect_list(w, HIPEC_SHADOW_INACTIVE, 1, 2, 0);
	expect_list(w, HIPEC_SHADOW_DROPPED, 1, 1, 0);
	touch(w, 2, 0);
	touch(w, 3, 4);
	KUNIT_EXPECT_EQ(test, w->s.window.faults, 5);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 4);
	touch(w, 1, 0);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 5);
	expect_list(w, HIPEC_SHADOW_ACTIVE, 2, 2, 1);
	expect_list(w, HIPEC_SHADOW_INACTIVE, 1, 4, 0);
	expect_list(w, HIPEC_SHADOW_DROPPED, 1, 3, 0);
	expect_whole(w);
}

/* Whatever the policy does, and while its frames become fewer and more. */
static void told_all_it_is_the_default_exactly(struct kunit *test)
{
	static const u32 frames[] = { 2, 3, 7, 60 };
	u32 i, n, pgno;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		struct world *w = start(test, frames[i], i, true);

		for (n = 0; n < 3000; n++) {
			if (n % 1000 == 500)
				resize(w, frames[i] / 2 + 1);
			if (n % 1000 == 999)
				resize(w, frames[i] + n % 2000 / 1999);
			pgno = hipec_kit_random(&w->seed, 2 * frames[i]);
			pgno = hipec_kit_random(&w->seed, pgno + 1);
			touch(w, pgno, any_victim(w));
			KUNIT_ASSERT_EQ_MSG(test, w->estimate, w->model->faults,
					"%u frames, step %u", frames[i], n);
		}
		for (pgno = 0; pgno < 2 * frames[i]; pgno++)
			KUNIT_EXPECT_EQ(test, w->model->kept[pgno],
				on_list(&w->s, HIPEC_SHADOW_ACTIVE, pgno) ||
				on_list(&w->s, HIPEC_SHADOW_INACTIVE, pgno));
		expect_whole(w);
	}
}

/* Percent by which the estimate is off. */
static s32 error_of(const struct world *w)
{
	return ((s64)w->estimate - w->model->faults) * 100 /
	       (s64)w->model->faults;
}

/*
 * Seen by bits alone, when it looks. Any victim, pages used unevenly; pages that
 * nearly all fit and are touched often between two faults; and for a victim what
 * was touched last, which is seen when it goes or never.
 */
static void bits_are_nearly_as_good(struct kunit *test)
{
	static const struct {
		u32 pages;
		bool even, last;
	} cases[] = { { 600, false, false }, { 220, true, false },
		      { 600, false, true } };
	u32 i, n, last, pgno;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = start(test, 200, 3, false);

		for (n = last = 0; n < 30000; n++) {
			pgno = hipec_kit_random(&w->seed, cases[i].pages);
			if (!cases[i].even)
				pgno = hipec_kit_random(&w->seed, pgno + 1);
			touch(w, pgno, cases[i].last ? last : any_victim(w));
			last = pgno;
		}
		KUNIT_EXPECT_GE(test, error_of(w), -7);
		KUNIT_EXPECT_LE(test, error_of(w), 7);
		expect_whole(w);
	}
}

/*
 * A loop over four pages more than frames, in which the default faults on every
 * page and the policy, which gives up what came in last, on five in each pass.
 * Between two of its faults nobody looks; what can then be said is too little,
 * but must still be far more than the policy's own.
 */
static void a_loop_is_not_mistaken_for_hits(struct kunit *test)
{
	struct world *w = start(test, 200, 3, false);
	u32 n, last = 0;

	for (n = 0; n < 204 * 50; n++) {
		u32 pgno = n % 204;
		bool fault = !w->place[pgno];

		touch(w, pgno, last);
		if (fault)
			last = pgno;
	}
	KUNIT_EXPECT_EQ(test, w->model->faults, 204 * 50);
	KUNIT_EXPECT_EQ(test, w->faults, 204 + 49 * 5);
	KUNIT_EXPECT_GT(test, w->estimate, 204 * 50 / 2);
	KUNIT_EXPECT_LE(test, w->estimate, 204 * 51);
}

/* Of pages used unevenly; each salt is another sample, one eighth. */
static void samples_are_right_by_and_large(struct kunit *test)
{
	s32 sum = 0;
	u32 salt, n;

	for (salt = 0; salt < 8; salt++) {
		struct world *w = start(test, 4096, salt * 0x9e3779b9u, false);

		w->seed = 5;
		for (n = 0; n < 40000; n++)
			touch(w, hipec_kit_random(&w->seed,
				hipec_kit_random(&w->seed, NR_PGNO) + 1),
			      any_victim(w));
		KUNIT_EXPECT_EQ(test, w->s.shift, 3);
		KUNIT_EXPECT_GE(test, error_of(w), -12);
		KUNIT_EXPECT_LE(test, error_of(w), 12);
		sum += error_of(w);
		expect_whole(w);
	}
	KUNIT_EXPECT_GE(test, sum, -3 * 8);
	KUNIT_EXPECT_LE(test, sum, 3 * 8);
}

/*
 * First in, first out on a loop over 2 % more pages than frames: every touch is a
 * fault, of the default too. There are samples with fewer pages than one in 8 of
 * the frames, for which it would have none, were the frames not scaled alike. A
 * window or two may go by until that is known.
 */
static void a_loop_is_scaled_down_with_its_frames(struct kunit *test)
{
	u32 salt, n, fewer = 0;

	for (salt = 0; salt < 8; salt++) {
		struct world *w = start(test, 4096, salt * 0x9e3779b9u, false);
		u32 sampled = 0, bad = 0;

		for (n = 0; n < 4180; n++)
			sampled += hipec_shadow_sampled(&w->s, n);
		fewer += sampled < 4096 / 8;
		for (n = 0; n < 4180 * 12; n++) {
			touch(w, n % 4180, (n + 84) % 4180);
			bad += hipec_shadow_verdict(&w->s) > HIPEC_SHADOW_GOOD;
		}
		KUNIT_EXPECT_EQ(test, w->faults, 4180 * 12);
		KUNIT_EXPECT_LE(test, bad, 2);
		KUNIT_EXPECT_EQ(test, w->s.nr_bad, 0);
	}
	KUNIT_EXPECT_GT(test, fewer, 0);
}

/* With more frames than there was memory for, fewer pages are sampled. */
static void a_container_that_grows_is_thinned_out(struct kunit *test)
{
	struct world *w = start(test, 100, 9, false);
	u32 n;

	KUNIT_EXPECT_EQ(test, w->s.shift, 0);
	resize(w, 6000);
	for (n = 0; n < 20000; n++) {
		touch(w, hipec_kit_random(&w->seed, NR_PGNO), any_victim(w));
		KUNIT_ASSERT_TRUE(test, w->s.nr_sampled <= w->s.max);
	}
	KUNIT_EXPECT_EQ(test, w->s.shift, 4);
	expect_whole(w);
	resize(w, 1000);
	KUNIT_EXPECT_LE(test, w->s.list[HIPEC_SHADOW_ACTIVE].count +
			w->s.list[HIPEC_SHADOW_INACTIVE].count,
			w->s.nr_sampled);
	expect_whole(w);
}

/* Pages that come with others count for both sides, and are not touched. */
static void read_ahead_is_nobodys_fault(struct kunit *test)
{
	struct world *w = start(test, 3, 0, true);
	u32 pgno;

	for (pgno = 1; pgno <= 3; pgno++) {
		w->slot[w->nr_held++] = pgno;
		w->place[pgno] = w->nr_held;
		hipec_shadow_ahead(&w->s, pgno);
	}
	KUNIT_EXPECT_EQ(test, w->s.window.faults, 3);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 3);
	/* 1 and 2 become inactive and 1 goes; then 2 goes, was it read again. */
	touch(w, 4, 3);
	evict_page(w, 2);
	w->slot[w->nr_held++] = 2;
	w->place[2] = w->nr_held;
	hipec_shadow_ahead(&w->s, 2);
	KUNIT_EXPECT_EQ(test, w->s.window.faults, 5);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 4);
	touch(w, 5, 1);
	expect_list(w, HIPEC_SHADOW_DROPPED, 1, 2, 0);
	expect_whole(w);
}

/* It could not go: whether the default keeps it or not, nobody has read it again. */
static void what_comes_back_is_nobodys_fault(struct kunit *test)
{
	struct world *w = start(test, 3, 7, true);
	u32 pgno;

	for (pgno = 1; pgno <= 3; pgno++)
		touch(w, pgno, 0);
	touch(w, 4, 3);
	expect_list(w, HIPEC_SHADOW_INACTIVE, 1, 2, 0);
	expect_list(w, HIPEC_SHADOW_DROPPED, 1, 1, 0);
	for (pgno = 1; pgno <= 2; pgno++) {
		evict_page(w, pgno);
		w->slot[w->nr_held++] = pgno;
		w->place[pgno] = w->nr_held;
		hipec_shadow_back(&w->s, pgno);
	}
	KUNIT_EXPECT_EQ(test, w->s.window.faults, 4);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 4);
	expect_list(w, HIPEC_SHADOW_INACTIVE, 1, 2, 0);
	expect_list(w, HIPEC_SHADOW_DROPPED, 1, 1, 0);
	expect_whole(w);
	/* A touch is one of the default's, where it has no frame for the page. */
	touch(w, 2, 0);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 4);
	touch(w, 1, 0);
	KUNIT_EXPECT_EQ(test, w->s.window.faults, 4);
	KUNIT_EXPECT_EQ(test, w->s.window.shadow, 5);
	expect_whole(w);
}

/* One page in two frames that comes and goes: the default would keep it. */
static void waste(struct world *w, u32 nr)
{
	while (nr--) {
		if (w->place[1])
			evict_page(w, 1);
		touch(w, 1, any_victim(w));
	}
}

static void only_windows_in_a_row_revoke(struct kunit *test)
{
	static const struct hipec_contract contract = {
		.excess = 50, .windows = 3, .frames = 4, .faults = 6,
	};
	struct world *w = start(test, 2, 0, true);
	u32 i;

	w->s.contract = &contract;
	KUNIT_EXPECT_EQ(test, hipec_contract_window(&contract, 1), 6);
	KUNIT_EXPECT_EQ(test, hipec_contract_window(&contract, 2), 8);
	waste(w, 7);
	KUNIT_EXPECT_EQ(test, hipec_shadow_verdict(&w->s), HIPEC_SHADOW_NONE);
	for (i = 0; i < 2; i++) {
		waste(w, i ? 8 : 1);
		KUNIT_EXPECT_EQ(test, hipec_shadow_verdict(&w->s),
				HIPEC_SHADOW_BAD);
		KUNIT_EXPECT_EQ(test, w->s.last.faults, 8);
		KUNIT_EXPECT_EQ(test, w->s.last.sampled, 8);
		KUNIT_EXPECT_EQ(test, w->s.last.shadow, !i);
	}
	/* Ten pages that nobody had before: good, and all begins anew. */
	for (i = 10; i < 18; i++)
		touch(w, i, any_victim(w));
	KUNIT_EXPECT_EQ(test, hipec_shadow_verdict(&w->s), HIPEC_SHADOW_GOOD);
	for (i = 0; i < 3; i++) {
		waste(w, 8);
		KUNIT_EXPECT_EQ(test, hipec_shadow_verdict(&w->s),
				i < 2 ? HIPEC_SHADOW_BAD : HIPEC_SHADOW_REVOKE);
	}
}

/* 50 % more is not yet more than 50 %; and both estimates must say so. */
static void the_contract_holds_to_the_fault(struct kunit *test)
{
	static const struct hipec_contract contract = {
		.excess = 50, .windows = 1, .frames = 0, .faults = 12,
	};
	static const struct {
		u32 sampled, shadow, shift;
		enum hipec_shadow_verdict verdict;
	} cases[] = {
		{ 12, 8, 0, HIPEC_SHADOW_GOOD },
		{ 12, 7, 0, HIPEC_SHADOW_REVOKE },
		{ 4, 1, 3, HIPEC_SHADOW_GOOD },
		{ 3, 2, 1, HIPEC_SHADOW_GOOD },
		{ 4, 2, 1, HIPEC_SHADOW_REVOKE },
	};
	struct world *w = start(test, 2, 0, true);
	u32 i;

	w->s.contract = &contract;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w->s.shift = cases[i].shift;
		w->s.window = (struct hipec_shadow_window){
			.faults = 12, .sampled = cases[i].sampled,
			.shadow = cases[i].shadow,
		};
		KUNIT_EXPECT_EQ_MSG(test, hipec_shadow_verdict(&w->s),
				    cases[i].verdict, "case %u", i);
	}
}

/* 0.1 % of the frames, or what the smallest shadow takes. */
static void a_shadow_is_small(struct kunit *test)
{
	u32 frames;

	KUNIT_EXPECT_EQ(test, hipec_shadow_bytes(1), 16652);
	KUNIT_EXPECT_EQ(test, hipec_shadow_bytes(4096), 16652);
	for (frames = 4096; frames; frames <<= 1)
		KUNIT_EXPECT_LE(test, hipec_shadow_bytes(frames) * 1000ull,
				frames * 4096ull);
}

static struct kunit_case shadow_cases[] = {
	KUNIT_CASE(three_frames_by_hand),
	KUNIT_CASE(told_all_it_is_the_default_exactly),
	KUNIT_CASE(bits_are_nearly_as_good),
	KUNIT_CASE(a_loop_is_not_mistaken_for_hits),
	KUNIT_CASE(samples_are_right_by_and_large),
	KUNIT_CASE(a_loop_is_scaled_down_with_its_frames),
	KUNIT_CASE(a_container_that_grows_is_thinned_out),
	KUNIT_CASE(read_ahead_is_nobodys_fault),
	KUNIT_CASE(what_comes_back_is_nobodys_fault),
	KUNIT_CASE(only_windows_in_a_row_revoke),
	KUNIT_CASE(the_contract_holds_to_the_fault),
	KUNIT_CASE(a_shadow_is_small),
	{ }
};

static struct kunit_suite shadow_suite = {
	.name = "hipec_shadow",
	.test_cases = shadow_cases,
};

kunit_test_suites(&shadow_suite);
