/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A team of one: the default policy beside a container that has a policy of its own, on a
 * machine without frames that plays a sample of the pages. judge.c.
 */
#ifndef HIPEC_CORE_JUDGE_H
#define HIPEC_CORE_JUDGE_H

#include "../vm/fifo2.h"
#include "sampling.h"

struct hipec_core;

/**
 * struct hipec_judge - the default, and what it does not hear of
 * @vm:      its machine; first, so that its host finds the rest by it
 * @core:    container that it plays beside
 * @policy:  the built-in replacement
 * @sample:  what it plays
 * @bits:    by handle
 * @dropped: numbers of pages that it gave up while the container held them: a ring. Some
 *           it has again, and some the container has given up as well
 * @first, @nr_dropped: of these
 * @most:    pages that it may hold, and that @dropped has room for
 * @owed:    looks at these
 * @nr_watched: pages touched since they were watched
 * @late:    the fault that is made room for was seen late
 * @nr_looks: questions about a bit, ever: what all this costs
 */
struct hipec_judge {
	struct hipec_vm vm;
	struct hipec_core *core;
	struct hipec_policy policy;
	struct hipec_sampling sample;
	u8 *bits;
	u32 *dropped;
	u32 first, nr_dropped;
	u32 most;
	u32 owed;
	u32 nr_watched;
	bool late;
	u64 nr_looks;
};

size_t hipec_judge_bytes(u32 frames);
void hipec_judge_init(struct hipec_judge *j, struct hipec_core *core, u32 salt);
void hipec_judge_added(struct hipec_judge *j, u32 pgno, bool ahead);
void hipec_judge_removing(struct hipec_judge *j, u32 pgno);
void hipec_judge_restored(struct hipec_judge *j, u32 pgno, bool touched);
void hipec_judge_touched(struct hipec_judge *j, u32 pgno);

#endif /* HIPEC_CORE_JUDGE_H */
