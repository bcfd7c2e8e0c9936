// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/frames/frame.c with real folios: reserve, bind, evict, clean, release. Every
 * case ends with all frames back in the system (kunit_world.c looks).
 */
#include "../internal.h"

#include <linux/pagemap.h>

#include "../frames/writeback.h"
#include "kunit_world.h"

#define FRAMES 4
#define PAGES 8

/* A world whose first @nr pages are resident, locked. */
static struct hipec_world *world(struct kunit *test, u32 nr)
{
	return hipec_world_resident(test, FRAMES, PAGES, nr);
}

static struct folio *frame_of(struct hipec_world *w, u32 idx)
{
	return w->c->frames.frame[hipec_page_find(&w->c->core.vm, idx)];
}

/* Make a resident page dirty, as a write through a mapping does. */
static void dirty(struct hipec_world *w, u32 idx, u64 word)
{
	struct folio *folio = frame_of(w, idx);

	memcpy(folio_address(folio), &word, sizeof(word));
	folio_mark_dirty(folio);
}

static void expect_counts(struct hipec_world *w, u32 frames, u32 free, u32 live)
{
	struct kunit *test = w->test;

	KUNIT_EXPECT_EQ(test, w->c->core.nr_frames, frames);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_free, free);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.nr_live, live);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&hipec_nr_frames),
			w->frames_before + frames);
	if (w->r)	/* else there is no machine yet */
		HIPEC_KIT_EXPECT_WHOLE(test, &w->c->core.vm);
}

/* Let writeback finish; it takes the lock. */
static void write_back(struct hipec_world *w)
{
	hipec_world_unlock(w);
	flush_work(&w->r->writeback->work);
	hipec_world_lock(w);
}

/* More than the machine has is refused whole, and nothing is kept. */
static void a_reservation_is_all_or_nothing(struct kunit *test)
{
	struct hipec_world *w = test->priv;

	w->c = hipec_container_new();
	KUNIT_ASSERT_NOT_NULL(test, w->c);
	KUNIT_EXPECT_EQ(test,
			hipec_frames_reserve(w->c, si_mem_available() + 1000, 0),
			-ENOMEM);
	expect_counts(w, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, hipec_frames_reserve(w->c, 10, 0), 0);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_frames, 10);
	hipec_frames_free(w->c);
	expect_counts(w, 0, 0, 0);
}

static bool evict(struct hipec_container *c, u32 h)
{
	return hipec_core_evict(&c->core, h, true, HIPEC_EVICT_TAKEN);
}

/* A page that comes in takes one free frame, is told of, and has its data. */
static void a_page_takes_one_frame(struct kunit *test)
{
	struct hipec_world *w = world(test, 0);
	u32 h;

	expect_counts(w, FRAMES, FRAMES, 0);
	h = hipec_world_bring_in(w, 3);
	expect_counts(w, FRAMES, FRAMES - 1, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_reading, 0);
	KUNIT_EXPECT_EQ(test, w->c->frames.frame[h]->index, 3);
	KUNIT_EXPECT_PTR_EQ(test, w->c->frames.frame[h]->mapping,
			    w->r->inode->i_mapping);
	KUNIT_EXPECT_EQ(test, *(u64 *)folio_address(w->c->frames.frame[h]), 1003);
	KUNIT_EXPECT_EQ(test, w->c->core.vm.page[h].queue, HIPEC_QUEUE_POLICY);
	hipec_world_unlock(w);
}

/* A frame that is being filled is nobody's victim. */
static void a_page_being_read_cannot_be_found(struct kunit *test)
{
	struct hipec_world *w = world(test, 0);
	u32 h = hipec_frame_bind(w->c, w->r, 5), pgno;

	KUNIT_EXPECT_EQ(test, w->c->core.nr_reading, 1);
	KUNIT_EXPECT_FALSE(test, hipec_core_evict_any(&w->c->core, true, &pgno));
	KUNIT_EXPECT_EQ(test, hipec_page_find_named(&w->c->core.vm, 5), 0);
	hipec_frame_unbind(w->c, h);
	expect_counts(w, FRAMES, FRAMES, 0);
	hipec_world_unlock(w);
}

/* A clean page gives its frame at once, and may come back. */
static void a_clean_page_goes_at_once(struct kunit *test)
{
	struct hipec_world *w = world(test, FRAMES);

	expect_counts(w, FRAMES, 0, FRAMES);
	KUNIT_EXPECT_TRUE(test, evict(w->c, 1));
	hipec_page_forget_evicted(&w->c->core.vm);
	expect_counts(w, FRAMES, 1, FRAMES - 1);
	KUNIT_EXPECT_EQ(test, w->c->core.counters.evictions, 1);
	hipec_world_bring_in(w, 0);
	expect_counts(w, FRAMES, 0, FRAMES);
	hipec_world_unlock(w);
}

/* Somebody else's reference: the frame may change behind our back, so it stays. */
static void a_pinned_page_stays(struct kunit *test)
{
	struct hipec_world *w = world(test, 1);
	struct folio *folio = frame_of(w, 0);

	folio_get(folio);
	KUNIT_EXPECT_FALSE(test, evict(w->c, 1));
	expect_counts(w, FRAMES, FRAMES - 1, 1);
	KUNIT_EXPECT_FALSE(test, folio_test_locked(folio));
	folio_put(folio);
	KUNIT_EXPECT_TRUE(test, evict(w->c, 1));
	hipec_world_unlock(w);
}

/* Under I/O or at another's hands: whoever evicts does not wait. */
static void a_locked_page_stays(struct kunit *test)
{
	struct hipec_world *w = world(test, 1);
	struct folio *folio = frame_of(w, 0);

	folio_lock(folio);
	KUNIT_EXPECT_FALSE(test, evict(w->c, 1));
	expect_counts(w, FRAMES, FRAMES - 1, 1);
	folio_unlock(folio);
	KUNIT_EXPECT_TRUE(test, evict(w->c, 1));
	hipec_world_unlock(w);
}

/* A dirty page's frame is free when its data is on the file, and not before. */
static void a_dirty_page_goes_when_it_is_clean(struct kunit *test)
{
	struct hipec_world *w = world(test, 2);

	dirty(w, 1, 77);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->c->frames.nr_dirty), 1);
	KUNIT_EXPECT_TRUE(test, evict(w->c, 2));
	hipec_page_forget_evicted(&w->c->core.vm);
	/* It is not the policy's, not free, and not to be read again. */
	expect_counts(w, FRAMES, FRAMES - 2, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_pending, 1);
	KUNIT_EXPECT_NE(test, hipec_page_find(&w->c->core.vm, 1), 0);
	write_back(w);
	expect_counts(w, FRAMES, FRAMES - 1, 1);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_pending, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->c->frames.nr_dirty), 0);
	KUNIT_EXPECT_EQ(test, hipec_page_find(&w->c->core.vm, 1), 0);
	KUNIT_EXPECT_EQ(test, hipec_world_word(w, 1), 77);
	KUNIT_EXPECT_EQ(test, hipec_world_word(w, 0), 1000);
	hipec_world_unlock(w);
}

/* Flush cleans a page that stays. */
static void flush_keeps_the_page(struct kunit *test)
{
	struct hipec_world *w = world(test, 1);

	KUNIT_EXPECT_FALSE(test, hipec_frame_machine.flush(&w->c->core.vm, 1));
	dirty(w, 0, 88);
	KUNIT_EXPECT_TRUE(test, hipec_frame_machine.mod(&w->c->core.vm, 1));
	KUNIT_EXPECT_TRUE(test, hipec_frame_machine.flush(&w->c->core.vm, 1));
	write_back(w);
	KUNIT_EXPECT_FALSE(test, hipec_frame_machine.mod(&w->c->core.vm, 1));
	KUNIT_EXPECT_EQ(test, hipec_world_word(w, 0), 88);
	expect_counts(w, FRAMES, FRAMES - 1, 1);
	hipec_world_unlock(w);
}

/* First in, first out, but for what was referenced: once round, then it goes. */
static void the_built_in_choice_gives_a_second_chance(struct kunit *test)
{
	struct hipec_world *w = world(test, 3);
	static const u32 order[] = { 1, 0, 2 };
	u32 i, pgno;

	hipec_frame_machine.set_ref(&w->c->core.vm, 1, true);	/* page 0 */
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		if (i == 1)	/* page 2 was passed over by nobody, 0 was */
			hipec_frame_machine.set_ref(&w->c->core.vm, 3, true);
		KUNIT_EXPECT_TRUE(test, hipec_core_evict_any(&w->c->core, true, &pgno));
		hipec_page_forget_evicted(&w->c->core.vm);
		KUNIT_EXPECT_EQ(test, pgno, order[i]);
	}
	KUNIT_EXPECT_FALSE(test, hipec_core_evict_any(&w->c->core, true, &pgno));
	expect_counts(w, FRAMES, FRAMES, 0);
	hipec_world_unlock(w);
}

/* If all were referenced one goes all the same. */
static void references_everywhere_stop_nobody(struct kunit *test)
{
	struct hipec_world *w = world(test, 3);
	u32 h, pgno;

	for (h = 1; h <= 3; h++)
		hipec_frame_machine.set_ref(&w->c->core.vm, h, true);
	KUNIT_EXPECT_TRUE(test, hipec_core_evict_any(&w->c->core, true, &pgno));
	for (h = 2; h <= 3; h++)
		KUNIT_EXPECT_FALSE(test, hipec_frame_machine.ref(&w->c->core.vm, h));
	hipec_world_unlock(w);
}

/* What is on no queue goes before what the policy has queued. */
static void forgotten_pages_are_found(struct kunit *test)
{
	struct hipec_world *w = world(test, 3);
	u32 pgno;

	KUNIT_EXPECT_FALSE(test, hipec_core_evict_orphan(&w->c->core, true, &pgno));
	hipec_queue_move(&w->c->core.vm, HIPEC_QUEUE_FALLBACK, 2, HIPEC_END_TAIL);
	KUNIT_EXPECT_TRUE(test, hipec_core_evict_orphan(&w->c->core, true, &pgno));
	KUNIT_EXPECT_EQ(test, pgno, 1);
	hipec_page_forget_evicted(&w->c->core.vm);
	expect_counts(w, FRAMES, FRAMES - 2, 2);
	hipec_world_unlock(w);
}

/* Release gives frames back to the system, all but the last; Request gets them. */
static void release_and_request_move_the_reservation(struct kunit *test)
{
	struct hipec_world *w = world(test, FRAMES);
	struct hipec_vm *vm = &w->c->core.vm;
	u32 h;

	for (h = 1; h < FRAMES; h++)
		KUNIT_EXPECT_TRUE(test,
				  hipec_frame_machine.evict(vm, h, false));
	hipec_page_forget_evicted(vm);
	expect_counts(w, 1, 0, 1);
	KUNIT_EXPECT_FALSE(test, hipec_frame_machine.evict(vm, FRAMES, false));
	KUNIT_EXPECT_EQ(test, w->c->core.counters.refused, 1);
	expect_counts(w, 1, 0, 1);
	KUNIT_EXPECT_EQ(test, hipec_frame_machine.request(vm, 2), 2);
	expect_counts(w, 3, 2, 1);
	KUNIT_EXPECT_EQ(test, hipec_frame_machine.request(vm, 1000), 1);
	KUNIT_EXPECT_EQ(test, hipec_frame_machine.request(vm, U64_MAX), 0);
	expect_counts(w, FRAMES, FRAMES - 1, 1);
	hipec_world_unlock(w);
}

/* A dirty page that was released goes to the system when it is clean. */
static void a_released_dirty_frame_is_surplus_until_it_is_clean(struct kunit *test)
{
	struct hipec_world *w = world(test, 2);

	dirty(w, 0, 99);
	KUNIT_EXPECT_TRUE(test, hipec_frame_machine.evict(&w->c->core.vm, 1, false));
	hipec_page_forget_evicted(&w->c->core.vm);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_surplus, 1);
	expect_counts(w, FRAMES, FRAMES - 2, 1);
	write_back(w);
	KUNIT_EXPECT_EQ(test, w->c->core.nr_surplus, 0);
	expect_counts(w, FRAMES - 1, FRAMES - 2, 1);
	KUNIT_EXPECT_EQ(test, hipec_world_word(w, 0), 99);
	hipec_world_unlock(w);
}

/* A frame that is pinned when its page ends is not reused: it is let go. */
static void a_pinned_frame_is_lost_to_its_container(struct kunit *test)
{
	struct hipec_world *w = world(test, 1);
	struct folio *folio = frame_of(w, 0);

	folio_get(folio);
	hipec_frame_unbind(w->c, 1);
	hipec_page_forget_evicted(&w->c->core.vm);
	expect_counts(w, FRAMES - 1, FRAMES - 1, 0);
	KUNIT_EXPECT_NULL(test, folio->mapping);
	folio_put(folio);
	hipec_world_unlock(w);
}

/* All at once and in no order: the books balance after each step. */
static void books_balance_in_a_random_walk(struct kunit *test)
{
	struct hipec_world *w = world(test, 0);
	struct hipec_container *c = w->c;
	u32 seed = 1997, i, h, idx, pgno;

	for (i = 0; i < 300; i++) {
		idx = hipec_kit_random(&seed, PAGES);
		h = hipec_page_find(&c->core.vm, idx);
		if (!h) {
			if (!c->core.nr_free)
				hipec_core_evict_any(&c->core, true, &pgno);
			hipec_page_forget_evicted(&c->core.vm);
			if (!c->core.nr_free)
				write_back(w);
			hipec_world_bring_in(w, idx);
		} else if (hipec_page_live(&c->core.vm, h)) {
			switch (hipec_kit_random(&seed, 3)) {
			case 0:
				dirty(w, idx, 5000 + i);
				break;
			case 1:
				hipec_frame_machine.flush(&c->core.vm, h);
				break;
			default:
				evict(c, h);
				hipec_page_forget_evicted(&c->core.vm);
			}
		}
		KUNIT_EXPECT_EQ(test, c->core.nr_free + c->core.nr_pending + c->core.vm.nr_live,
				FRAMES);
		KUNIT_EXPECT_LE(test, atomic_read(&c->frames.nr_dirty), FRAMES);
		HIPEC_KIT_EXPECT_WHOLE(test, &c->core.vm);
	}
	hipec_world_unlock(w);
}

static struct kunit_case frame_cases[] = {
	KUNIT_CASE(a_reservation_is_all_or_nothing),
	KUNIT_CASE(a_page_takes_one_frame),
	KUNIT_CASE(a_page_being_read_cannot_be_found),
	KUNIT_CASE(a_clean_page_goes_at_once),
	KUNIT_CASE(a_pinned_page_stays),
	KUNIT_CASE(a_locked_page_stays),
	KUNIT_CASE(a_dirty_page_goes_when_it_is_clean),
	KUNIT_CASE(flush_keeps_the_page),
	KUNIT_CASE(the_built_in_choice_gives_a_second_chance),
	KUNIT_CASE(references_everywhere_stop_nobody),
	KUNIT_CASE(forgotten_pages_are_found),
	KUNIT_CASE(release_and_request_move_the_reservation),
	KUNIT_CASE(a_released_dirty_frame_is_surplus_until_it_is_clean),
	KUNIT_CASE(a_pinned_frame_is_lost_to_its_container),
	KUNIT_CASE(books_balance_in_a_random_walk),
	{ }
};

static struct kunit_suite frame_suite = {
	.name = "hipec_frame",
	.suite_init = hipec_world_suite_init,
	.init = hipec_world_init,
	.exit = hipec_world_exit,
	.test_cases = frame_cases,
};

kunit_test_suites(&frame_suite);
