// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/core/judge.c and contract.c: against FIFO with a second chance, written
 * down once more as two rings; by hand; and what the contract makes of it.
 */
#include "kunit_machine.h"

#include "../core/core.h"

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

#define ACTIVE HIPEC_QUEUE_FALLBACK
#define INACTIVE HIPEC_QUEUE_POLICY

/* The container: which pages it holds, and its hardware's bits. */
struct world {
	struct hipec_core core;	/* first, so that its host finds the rest */
	struct hipec_policy policy;
	struct kunit *test;
	struct model *model;
	bool tell;		/* the judge of each reference */
	u32 seed;
	u32 nr_held;
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

static bool world_referenced(struct hipec_core *core, u32 h, u32 who)
{
	struct world *w = (struct world *)core;
	u32 pgno = core->vm.page[h].pgno;

	KUNIT_EXPECT_EQ(w->test, who, HIPEC_REF_JUDGE);
	KUNIT_EXPECT_TRUE(w->test, hipec_sampling_has(&core->judge->sample, pgno));
	return w->young[pgno];
}

static void world_reset(struct hipec_core *core, u32 h, u32 who)
{
	struct world *w = (struct world *)core;

	KUNIT_EXPECT_EQ(w->test, who, HIPEC_REF_JUDGE);
	w->young[core->vm.page[h].pgno] = false;
}

static const struct hipec_core_ops world_ops = {
	.referenced = world_referenced,
	.reset = world_reset,
};

/* @size bytes and no more. */
static void *zeros(struct kunit *test, size_t size)
{
	void *memory = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

/* A judge in exactly as much memory as it asks for. */
static struct world *start(struct kunit *test, u32 frames, u32 salt, bool tell)
{
	struct world *w = zeros(test, sizeof(*w));

	w->model = zeros(test, sizeof(*w->model));
	w->test = test;
	w->tell = tell;
	w->seed = salt + 1;
	w->model->frames = frames;
	hipec_fifo2_policy(&w->policy);
	hipec_vm_init(&w->core.vm, &w->policy, NULL,
		      zeros(test, hipec_vm_size(&w->policy, frames)), NULL, frames);
	w->core.vm.key = 2 * salt + 3;
	hipec_core_init(&w->core, &world_ops, frames, frames);
	w->core.judge = zeros(test, hipec_judge_bytes(frames));
	w->core.watched_for_good = true;
	hipec_core_watch(&w->core, salt);
	return w;
}

static void hold_page(struct world *w, u32 pgno)
{
	hipec_page_activate(&w->core.vm, hipec_page_add(&w->core.vm, pgno));
	w->slot[w->nr_held++] = pgno;
	w->place[pgno] = w->nr_held;
}

static void evict_page(struct world *w, u32 pgno)
{
	u32 last = w->slot[--w->nr_held];

	hipec_judge_removing(w->core.judge, pgno);
	hipec_page_del(&w->core.vm, hipec_page_find(&w->core.vm, pgno));
	w->slot[w->place[pgno] - 1] = last;
	w->place[last] = w->place[pgno];
	w->place[pgno] = 0;
	w->young[pgno] = false;
}

/* Touch a page; of a full container @victim goes, if it is not held. */
static void touch(struct world *w, u32 pgno, u32 victim)
{
	const struct hipec_window *open = &w->core.windows.open;
	u32 shift = w->core.windows.shift;
	u64 before = (u64)open->standard << shift;

	/* It may have fewer frames than before. */
	if (!w->place[pgno])
		model_make_room(w->model, w->model->frames);
	model_touch(w->model, pgno);
	if (w->place[pgno]) {
		if (w->tell)
			hipec_judge_touched(w->core.judge, pgno);
	} else {
		if (w->nr_held >= w->core.nr_frames)
			evict_page(w, victim);
		hold_page(w, pgno);
		hipec_judge_added(w->core.judge, pgno, false);
		w->faults++;
	}
	w->young[pgno] = true;
	w->estimate += ((u64)open->standard << shift) - before;
}

static u32 any_victim(struct world *w)
{
	return w->nr_held ? w->slot[hipec_kit_random(&w->seed, w->nr_held)] : 0;
}

static void resize(struct world *w, u32 frames)
{
	w->core.nr_frames = frames;
	while (w->nr_held > frames)
		evict_page(w, any_victim(w));
	w->model->frames = frames;
}

/* What is on a queue of the default's, from its head on. */
static void expect_queue(struct world *w, u32 q, u32 nr, u32 a, u32 b)
{
	struct kunit *test = w->test;
	const struct hipec_vm *vm = &w->core.judge->vm;
	u32 h = vm->queue[q].head;

	KUNIT_EXPECT_EQ(test, vm->queue[q].count, nr);
	if (nr > 0)
		KUNIT_EXPECT_EQ(test, vm->page[h].pgno, a);
	if (nr > 1)
		KUNIT_EXPECT_EQ(test, vm->page[vm->page[h].next].pgno, b);
}

static bool is_dropped(const struct world *w, u32 pgno)
{
	const struct hipec_judge *j = w->core.judge;
	u32 i;

	for (i = 0; i < j->nr_dropped; i++)
		if (j->dropped[(j->first + i) % j->most] == pgno)
			return true;
	return false;
}

/* All pages of the sample that the container holds are the default's, or dropped. */
static void expect_whole(struct world *w)
{
	struct kunit *test = w->test;
	const struct hipec_judge *j = w->core.judge;
	u32 i, sampled = 0;

	for (i = 0; i < w->nr_held; i++) {
		u32 pgno = w->slot[i];

		if (!hipec_sampling_has(&j->sample, pgno))
			continue;
		sampled++;
		KUNIT_EXPECT_TRUE_MSG(test, hipec_page_find(&j->vm, pgno) ||
				      is_dropped(w, pgno), "page %u", pgno);
	}
	KUNIT_EXPECT_EQ(test, j->sample.nr_sampled, sampled);
	KUNIT_EXPECT_EQ(test, j->sample.nr_held, w->nr_held);
	KUNIT_EXPECT_LE(test, j->nr_dropped, j->most);
	KUNIT_EXPECT_LE(test, j->vm.nr_live, j->most);
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

	/* Nobody outside knows which pages share a bucket. */
	KUNIT_EXPECT_EQ(test, w->core.judge->vm.key, w->core.vm.key);
	touch(w, 1, 0);
	touch(w, 2, 0);
	touch(w, 3, 0);
	expect_queue(w, ACTIVE, 3, 1, 2);
	touch(w, 4, 3);
	expect_queue(w, ACTIVE, 2, 3, 4);
	expect_queue(w, INACTIVE, 1, 2, 0);
	KUNIT_EXPECT_TRUE(test, is_dropped(w, 1));
	touch(w, 2, 0);
	touch(w, 3, 4);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.faults, 5);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 4);
	touch(w, 1, 0);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 5);
	expect_queue(w, ACTIVE, 2, 2, 1);
	expect_queue(w, INACTIVE, 1, 4, 0);
	KUNIT_EXPECT_TRUE(test, is_dropped(w, 3));
	expect_whole(w);
}

/* Whatever the policy does, and while its frames become fewer and more. */
static void told_all_it_is_the_default_exactly(struct kunit *test)
{
	static const u32 frames[] = { 2, 3, 7, 60 };
	u32 i, n, pgno;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		struct world *w = start(test, frames[i] + 1, i, true);

		resize(w, frames[i]);
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
					hipec_page_find(&w->core.judge->vm, pgno) != 0);
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
		KUNIT_EXPECT_EQ(test, w->core.windows.shift, 3);
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
			sampled += hipec_sampling_has(&w->core.judge->sample, n);
		fewer += sampled < 4096 / 8;
		for (n = 0; n < 4180 * 12; n++) {
			touch(w, n % 4180, (n + 84) % 4180);
			bad += hipec_contract_close_window(&w->core.windows) > HIPEC_VERDICT_GOOD;
		}
		KUNIT_EXPECT_EQ(test, w->faults, 4180 * 12);
		KUNIT_EXPECT_LE(test, bad, 2);
		KUNIT_EXPECT_EQ(test, w->core.windows.nr_bad, 0);
	}
	KUNIT_EXPECT_GT(test, fewer, 0);
}

/* Pages that come with others count for both sides, and are not touched. */
static void read_ahead_is_nobodys_fault(struct kunit *test)
{
	struct world *w = start(test, 3, 0, true);
	u32 pgno;

	for (pgno = 1; pgno <= 3; pgno++) {
		hold_page(w, pgno);
		hipec_judge_added(w->core.judge, pgno, true);
	}
	KUNIT_EXPECT_EQ(test, w->core.windows.open.faults, 3);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 3);
	/* 1 and 2 become inactive and 1 goes; then 2 goes, was it read again. */
	touch(w, 4, 3);
	evict_page(w, 2);
	hold_page(w, 2);
	hipec_judge_added(w->core.judge, 2, true);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.faults, 5);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 4);
	touch(w, 5, 1);
	KUNIT_EXPECT_TRUE(test, is_dropped(w, 2));
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
	expect_queue(w, INACTIVE, 1, 2, 0);
	KUNIT_EXPECT_TRUE(test, is_dropped(w, 1));
	for (pgno = 1; pgno <= 2; pgno++) {
		evict_page(w, pgno);
		hold_page(w, pgno);
		hipec_judge_restored(w->core.judge, pgno, false);
	}
	KUNIT_EXPECT_EQ(test, w->core.windows.open.faults, 4);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 4);
	expect_queue(w, INACTIVE, 1, 2, 0);
	KUNIT_EXPECT_TRUE(test, is_dropped(w, 1));
	expect_whole(w);
	/* A touch is one of the default's, where it has no frame for the page. */
	touch(w, 2, 0);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 4);
	touch(w, 1, 0);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.faults, 4);
	KUNIT_EXPECT_EQ(test, w->core.windows.open.standard, 5);
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

	w->core.windows.contract = &contract;
	KUNIT_EXPECT_EQ(test, hipec_contract_window(&contract, 1), 6);
	KUNIT_EXPECT_EQ(test, hipec_contract_window(&contract, 2), 8);
	waste(w, 7);
	KUNIT_EXPECT_EQ(test, hipec_contract_close_window(&w->core.windows), HIPEC_VERDICT_NONE);
	for (i = 0; i < 2; i++) {
		waste(w, i ? 8 : 1);
		KUNIT_EXPECT_EQ(test, hipec_contract_close_window(&w->core.windows),
				HIPEC_VERDICT_BAD);
		KUNIT_EXPECT_EQ(test, w->core.windows.last.faults, 8);
		KUNIT_EXPECT_EQ(test, w->core.windows.last.sampled, 8);
		KUNIT_EXPECT_EQ(test, w->core.windows.last.standard, !i);
	}
	/* Ten pages that nobody had before: good, and all begins anew. */
	for (i = 10; i < 18; i++)
		touch(w, i, any_victim(w));
	KUNIT_EXPECT_EQ(test, hipec_contract_close_window(&w->core.windows), HIPEC_VERDICT_GOOD);
	for (i = 0; i < 3; i++) {
		waste(w, 8);
		KUNIT_EXPECT_EQ(test, hipec_contract_close_window(&w->core.windows),
				i < 2 ? HIPEC_VERDICT_BAD : HIPEC_VERDICT_REVOKE);
	}
}

/*
 * 50 % more is not yet more than 50 %; and both estimates must say so. What the judge may
 * have missed is the default's: of eight seen late one, of each unseen three.
 */
static void the_contract_holds_to_the_fault(struct kunit *test)
{
	static const struct hipec_contract contract = {
		.excess = 50, .windows = 1, .frames = 0, .faults = 12,
	};
	static const struct {
		u32 sampled, standard, shift, late, unseen;
		enum hipec_verdict verdict;
	} cases[] = {
		{ 12, 8, 0, 0, 0, HIPEC_VERDICT_GOOD },
		{ 12, 7, 0, 0, 0, HIPEC_VERDICT_REVOKE },
		{ 4, 1, 3, 0, 0, HIPEC_VERDICT_GOOD },
		{ 3, 2, 1, 0, 0, HIPEC_VERDICT_GOOD },
		{ 4, 2, 1, 0, 0, HIPEC_VERDICT_REVOKE },
		{ 12, 7, 0, 7, 0, HIPEC_VERDICT_REVOKE },
		{ 12, 7, 0, 8, 0, HIPEC_VERDICT_GOOD },
		{ 12, 4, 0, 0, 1, HIPEC_VERDICT_REVOKE },
		{ 12, 5, 0, 0, 1, HIPEC_VERDICT_GOOD },
	};
	struct world *w = start(test, 2, 0, true);
	u32 i;

	w->core.windows.contract = &contract;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w->core.windows.shift = cases[i].shift;
		w->core.windows.open = (struct hipec_window){
			.faults = 12, .sampled = cases[i].sampled,
			.standard = cases[i].standard, .late = cases[i].late,
			.unseen = cases[i].unseen,
		};
		KUNIT_EXPECT_EQ_MSG(test, hipec_contract_close_window(&w->core.windows),
				    cases[i].verdict, "case %u", i);
	}
}

/*
 * Of a page that it may hold: an entry, its bucket, a number and a byte, 29 bytes. With less than
 * 1,024 frames it may hold all, with more 640 to 1,279.
 */
static void a_judge_is_small(struct kunit *test)
{
	u32 frames, fixed = hipec_judge_bytes(1) - 29;

	KUNIT_EXPECT_LE(test, fixed, 3200);
	for (frames = 1; frames < 1024; frames++)
		KUNIT_ASSERT_EQ(test, hipec_judge_bytes(frames), 29 * frames + fixed);
	KUNIT_EXPECT_EQ(test, hipec_judge_bytes(4096), 29 * 640 + fixed);
	for (; frames; frames <<= 1)
		KUNIT_EXPECT_LE(test, hipec_judge_bytes(frames), 29 * 1279 + fixed);
}

static struct kunit_case judge_cases[] = {
	KUNIT_CASE(three_frames_by_hand),
	KUNIT_CASE(told_all_it_is_the_default_exactly),
	KUNIT_CASE(bits_are_nearly_as_good),
	KUNIT_CASE(a_loop_is_not_mistaken_for_hits),
	KUNIT_CASE(samples_are_right_by_and_large),
	KUNIT_CASE(a_loop_is_scaled_down_with_its_frames),
	KUNIT_CASE(read_ahead_is_nobodys_fault),
	KUNIT_CASE(what_comes_back_is_nobodys_fault),
	KUNIT_CASE(only_windows_in_a_row_revoke),
	KUNIT_CASE(the_contract_holds_to_the_fault),
	KUNIT_CASE(a_judge_is_small),
	{ }
};

static struct kunit_suite judge_suite = {
	.name = "hipec_judge",
	.test_cases = judge_cases,
};

kunit_test_suites(&judge_suite);
