// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/base/log.c: each end of a policy and of a container is on record, once, with its
 * numbers; so many of them are kept; and who may not see a container does not see
 * what became of it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>

#include "../internal.h"

#include "../base/volume.h"
#include "kunit_world.h"

#define FRAMES 4
#define PAGES 8

/* As many as module/base/log.c keeps, unless it is told otherwise. */
#define KEPT 64

static struct hipec_world *world(struct kunit *test)
{
	return hipec_world_resident(test, FRAMES, PAGES, FRAMES);
}

/* The record behind @seq; it is large for the stack. */
static struct hipec_log *next(struct kunit *test, u64 seq)
{
	struct hipec_log *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->size = sizeof(*l);
	l->seq = seq;
	return hipec_log_next(l) ? NULL : l;
}

/* The number of the last record. */
static u64 last(struct kunit *test)
{
	struct hipec_log *l;
	u64 seq = 0;

	while ((l = next(test, seq)))
		seq = l->seq;
	return seq;
}

static void close_world(struct hipec_world *w)
{
	hipec_world_unlock(w);
	__fput_sync(w->region);
	hipec_volume_drain();
	w->region = NULL;
	hipec_container_put(w->c);
	w->c = NULL;
}

/* A policy's end is there while its container lives on; then the container's. */
static void both_ends_are_on_record(struct kunit *test)
{
	u64 before = last(test), id;
	struct hipec_world *w = world(test);
	struct hipec_log *l;

	id = w->c->id;
	KUNIT_EXPECT_NULL(test, next(test, before));
	hipec_core_end(&w->c->core, HIPEC_EXIT_NO_VICTIM);
	hipec_core_end(&w->c->core, HIPEC_EXIT_BROKEN);
	l = next(test, before);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_EXPECT_EQ(test, l->size, (u32)sizeof(*l));
	KUNIT_EXPECT_EQ(test, l->seq, before + 1);
	KUNIT_EXPECT_EQ(test, l->closed, 0);
	KUNIT_EXPECT_EQ(test, l->status.id, id);
	KUNIT_EXPECT_EQ(test, l->status.exit.kind, HIPEC_EXIT_NO_VICTIM);
	KUNIT_EXPECT_STREQ(test, l->status.exit.message,
			   hipec_vm_exit_text(HIPEC_EXIT_NO_VICTIM));
	KUNIT_EXPECT_EQ(test, l->status.counters.pages_in, FRAMES);
	KUNIT_EXPECT_EQ(test, l->status.resident, FRAMES);
	KUNIT_EXPECT_GT(test, l->lived, 0);
	KUNIT_EXPECT_GT(test, l->time, 0);
	KUNIT_EXPECT_NULL(test, next(test, l->seq));

	close_world(w);
	l = next(test, before + 1);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_EXPECT_EQ(test, l->closed, 1);
	KUNIT_EXPECT_EQ(test, l->status.id, id);
	KUNIT_EXPECT_EQ(test, l->status.exit.kind, HIPEC_EXIT_NO_VICTIM);
	KUNIT_EXPECT_EQ(test, l->status.counters.pages_in, FRAMES);
	KUNIT_EXPECT_NULL(test, next(test, l->seq));
}

/* One whose policy did nothing wrong has one record. */
static void a_container_that_is_closed_is_on_record_once(struct kunit *test)
{
	u64 before = last(test);
	struct hipec_log *l;

	close_world(world(test));
	l = next(test, before);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_EXPECT_EQ(test, l->closed, 1);
	KUNIT_EXPECT_EQ(test, l->status.exit.kind, HIPEC_EXIT_CLOSED);
	KUNIT_EXPECT_EQ(test, l->status.counters.pages_in, FRAMES);
	KUNIT_EXPECT_NULL(test, next(test, l->seq));
}

/* The oldest ones go, and whoever asks for them gets the oldest that is there. */
static void so_many_are_kept(struct kunit *test)
{
	u64 before = last(test), seq;
	struct hipec_world *w = world(test);
	u32 i;

	for (i = 0; i < 2 * KEPT + 7; i++)
		hipec_log_note(w->c, false);
	seq = before + KEPT + 7;
	KUNIT_ASSERT_NOT_NULL(test, next(test, before));
	KUNIT_EXPECT_EQ(test, next(test, before)->seq, seq + 1);
	KUNIT_EXPECT_EQ(test, next(test, 0)->seq, seq + 1);
	for (i = 0; i < KEPT; i++)
		KUNIT_ASSERT_EQ(test, next(test, seq + i)->seq, seq + i + 1);
	KUNIT_EXPECT_NULL(test, next(test, seq + KEPT));
	KUNIT_EXPECT_NULL(test, next(test, U64_MAX));
	hipec_world_unlock(w);
}

/* Nobody sees another's, but for the administrator. */
static void others_see_nothing(struct kunit *test)
{
	u64 before = last(test);
	struct hipec_world *w = world(test);
	struct cred *other = prepare_creds();
	const struct cred *own;
	struct hipec_log *l;

	KUNIT_ASSERT_NOT_NULL(test, other);
	hipec_log_note(w->c, false);
	hipec_world_unlock(w);
	other->uid = KUIDT_INIT(1234);
	own = override_creds(other);
	KUNIT_EXPECT_NOT_NULL(test, next(test, before));
	cap_clear(other->cap_effective);
	KUNIT_EXPECT_NULL(test, next(test, before));
	other->uid = own->uid;
	l = next(test, before);
	revert_creds(own);
	put_cred(other);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_EXPECT_EQ(test, l->seq, before + 1);
}

static struct kunit_case log_cases[] = {
	KUNIT_CASE(both_ends_are_on_record),
	KUNIT_CASE(a_container_that_is_closed_is_on_record_once),
	KUNIT_CASE(so_many_are_kept),
	KUNIT_CASE(others_see_nothing),
	{ }
};

static struct kunit_suite log_suite = {
	.name = "hipec_log",
	.suite_init = hipec_world_suite_init,
	.init = hipec_world_init,
	.exit = hipec_world_exit,
	.test_cases = log_cases,
};

kunit_test_suites(&log_suite);
