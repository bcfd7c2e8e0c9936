/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A container with real frames and one region over a file, for the suites that
 * need the module: no application, no device, all else as in a user's life.
 *
 * Interface:
 * hipec_world_new()       load a policy, attach a file of some pages
 * hipec_world_resident()  the same, with a policy that only queues, and pages in it
 * hipec_world_bring_in()  a page as a fault would: frame, data, PageFault
 * hipec_world_lock(), _unlock()  the container's lock, which a case gives back
 * hipec_world_init(), _exit(), _suite_init()  for struct kunit_suite
 *
 * Each case has at most one world; its exit checks that all frames came back.
 */
#ifndef HIPEC_TESTS_KUNIT_WORLD_H
#define HIPEC_TESTS_KUNIT_WORLD_H

#include "../internal.h"
#include "kunit_machine.h"

struct hipec_world {
	struct kunit *test;
	struct hipec_container *c;
	struct hipec_region *r;
	struct file *backing;	/* on tmpfs; page i starts with 1000 + i */
	struct file *region;
	bool locked;
	long frames_before;	/* of all containers */
};

int hipec_world_suite_init(struct kunit_suite *suite);
int hipec_world_init(struct kunit *test);
void hipec_world_exit(struct kunit *test);

struct hipec_world *hipec_world_new(struct kunit *test, struct hipec_kit *kit,
				    u32 frames, u32 pages);
struct hipec_world *hipec_world_resident(struct kunit *test, u32 frames,
					 u32 pages, u32 nr);
u32 hipec_world_bring_in(struct hipec_world *w, u32 idx);
u64 hipec_world_word(struct hipec_world *w, u32 idx);
void hipec_world_lock(struct hipec_world *w);
void hipec_world_unlock(struct hipec_world *w);

#endif /* HIPEC_TESTS_KUNIT_WORLD_H */
