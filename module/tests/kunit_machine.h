/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the KUnit suites build policies and machines with. The only place that
 * knows how an image is laid out and how a machine is made, so that a suite
 * says what it tests and nothing else. Portable: in user space it stands on
 * test/kernel/kunit_shim.h.
 *
 * A kit is one policy in the making: declare operands, begin events, append
 * commands, then take the image (to spoil it), or the machine. Everything
 * lives until the case ends; every block is exactly as long as it must be, so
 * that KASAN and ASan see what is touched beside it.
 *
 * Interface:
 * hipec_kit_new()       a policy without anything
 * hipec_kit_int(), _const(), _queue(), _page(), _field(), _ordered(), _array()
 *                       declare an operand
 * hipec_kit_event()     begin an event
 * hipec_kit_op(), _jump()  append a command
 * hipec_kit_image()     the image
 * hipec_kit_check()     parse and verify it
 * hipec_kit_machine()   a machine on a fake host that runs it
 * hipec_kit_pages()     give the machine pages
 * hipec_kit_random()    numbers that only look random
 */
#ifndef HIPEC_TESTS_KUNIT_MACHINE_H
#define HIPEC_TESTS_KUNIT_MACHINE_H

#ifdef __KERNEL__
#include <kunit/test.h>
#else
#include "kunit_shim.h"
#endif

#include "fakehost.h"
#include "invariants.h"

struct hipec_kit {
	struct kunit *test;

	struct hipec_image_operand operand[HIPEC_SLOT_SYSTEM];
	u32 nr_operands;
	struct hipec_image_event event[HIPEC_NR_EVENTS];
	u32 nr_events;
	u32 *words;	/* max_words */
	u32 nr_words, max_words;
	bool lines;	/* with a line table: word i is of line 100 + i */
	u32 ghosts;	/* percent of the frames */

	struct hipec_image *image;	/* NULL until hipec_kit_image() */
	struct hipec_policy policy;	/* of hipec_kit_check() */
	struct hipec_verify_error error;
};

struct hipec_kit *hipec_kit_new(struct kunit *test);
struct hipec_kit *hipec_kit_new_long(struct kunit *test, u32 max_words);
u8 hipec_kit_slot(struct hipec_kit *kit, u8 type, u8 flags, s64 value);
void hipec_kit_event(struct hipec_kit *kit, u32 number);
u32 hipec_kit_op(struct hipec_kit *kit, u8 op, u8 a, u8 b, u8 c);
u32 hipec_kit_jump(struct hipec_kit *kit, u8 cond, u16 target);
void hipec_kit_return_only(struct hipec_kit *kit, u32 number);
struct hipec_image *hipec_kit_image(struct hipec_kit *kit);
void hipec_kit_copy(struct hipec_kit *kit, size_t size);
int hipec_kit_check(struct hipec_kit *kit);
int hipec_kit_check_size(struct hipec_kit *kit, size_t size);
void *hipec_kit_place(struct hipec_kit *kit, const void *section);
struct hipec_fakehost *hipec_kit_machine(struct hipec_kit *kit, u32 nr_frames);
void hipec_kit_pages(struct hipec_fakehost *fake, u32 nr);
u32 hipec_kit_random(u32 *seed, u32 below);

static inline u8 hipec_kit_int(struct hipec_kit *kit, s64 value)
{
	return hipec_kit_slot(kit, HIPEC_TYPE_INT, 0, value);
}

static inline u8 hipec_kit_const(struct hipec_kit *kit, s64 value)
{
	return hipec_kit_slot(kit, HIPEC_TYPE_INT, HIPEC_OPERAND_CONST, value);
}

static inline u8 hipec_kit_queue(struct hipec_kit *kit)
{
	return hipec_kit_slot(kit, HIPEC_TYPE_QUEUE, 0, 0);
}

static inline u8 hipec_kit_page(struct hipec_kit *kit)
{
	return hipec_kit_slot(kit, HIPEC_TYPE_PAGE, 0, 0);
}

static inline u8 hipec_kit_field(struct hipec_kit *kit)
{
	return hipec_kit_slot(kit, HIPEC_TYPE_FIELD, 0, 0);
}

/* A queue in the order of a field. */
static inline u8 hipec_kit_ordered(struct hipec_kit *kit, u8 field)
{
	u8 slot = hipec_kit_queue(kit);

	kit->operand[slot].key = field;
	return slot;
}

/* An array, HIPEC_TYPE_INTS or HIPEC_TYPE_QUEUES, of @nr. */
static inline u8 hipec_kit_array(struct hipec_kit *kit, u8 type, u32 nr)
{
	return hipec_kit_slot(kit, type, 0, nr);
}

/* The first invariant that does not hold, as a failed expectation. */
#define HIPEC_KIT_EXPECT_WHOLE(test, vm) do {				\
	const char *broken_ = hipec_vm_broken(vm);			\
									\
	if (broken_)							\
		KUNIT_FAIL(test, "broken: %s", broken_);		\
} while (0)

#endif /* HIPEC_TESTS_KUNIT_MACHINE_H */
