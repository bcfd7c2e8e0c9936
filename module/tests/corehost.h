/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host of module/core whose pages are bits in an array, for the engine's suites.
 * Policies queue what comes in and, if they are to, give up what came first.
 *
 * Interface:
 * hipec_owner_new()       a container, with all frames free
 * hipec_owner_started()   the same, of OWNER_FRAMES, and its policy has had Init
 * hipec_owner_policy(), _machine()  a policy, the machine that runs it
 * hipec_owner_demand()    one frame for a page, by a fault that can wait
 * hipec_owner_bring(), _bring_all()  pages come in
 * hipec_owner_find()      a page's handle
 * hipec_owner_expect_whole()  each frame is somewhere
 */
#ifndef HIPEC_TESTS_COREHOST_H
#define HIPEC_TESTS_COREHOST_H

#include "../core/pool.h"
#include "kunit_machine.h"

#define OWNER_FRAMES 6
#define OWNER_PAGES 64	/* entries that a host has bits of */

/* Bits of a page, behind HIPEC_REF_*. */
#define OWNER_DIRTY 0x8
#define OWNER_PINNED 0x10
#define OWNER_FAILED 0x20	/* its last write failed */

struct hipec_owner {
	struct hipec_core core;		/* first */
	u8 bits[OWNER_PAGES];
	u8 queue;			/* slot of the policy's queue */
	void *memory;
	u32 nr_freed, nr_returned;	/* frames that stayed, and that went back */
	u32 nr_allocated, most;		/* calls; frames that there are still */
	u32 ahead;			/* pages read ahead for nothing, as handles */
	u32 nr_refills;
	u32 nr_settled, nr_touched, nr_windows, nr_pauses;
	enum hipec_verdict verdict;	/* of the last window */
	s64 allowance;
	bool locked;			/* by somebody else */
	bool dying;			/* its task */
	bool revoke;			/* at the end of a window */
	int ret;			/* of events; 0: as they end */
	u32 ended;			/* HIPEC_EXIT_* that the host was told */
	u64 now;
};

extern const struct hipec_core_ops hipec_owner_ops;
/* Of a host that serialises all calls, and only counts frames. */
extern const struct hipec_core_ops hipec_owner_few_ops;

struct hipec_owner *hipec_owner_new(struct kunit *test,
				    const struct hipec_core_ops *ops,
				    bool answers, u32 frames);
struct hipec_owner *hipec_owner_started(struct kunit *test, bool answers);
struct hipec_kit *hipec_owner_policy(struct kunit *test, bool answers,
				     u8 *queue);
void hipec_owner_machine(struct kunit *test, struct hipec_owner *o,
			 struct hipec_kit *kit, u32 frames);
struct hipec_demand hipec_owner_demand(struct hipec_owner *o, u32 pgno);
int hipec_owner_bring(struct hipec_owner *o, u32 pgno);
void hipec_owner_bring_all(struct kunit *test, struct hipec_owner *o, u32 first,
			   u32 nr);
u32 hipec_owner_find(struct hipec_owner *o, u32 pgno);
void hipec_owner_expect_whole(struct kunit *test, struct hipec_owner *o);

#endif /* HIPEC_TESTS_COREHOST_H */
