// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotas: that they are looked at first, and whose they are. The pool has 512 frames
 * (run.sh).
 */
#include "guest.h"

#define MB (1l << 20)

/* So many frames, and twice as many ghosts: 2.4 MB of pointers alone. */
#define TOO_MANY 100000

static void load_too_many(void)
{
	CHECK_EQ(load_shared("ghosts", TOO_MANY, NULL, 0), -EDQUOT);
}

/*
 * In a cgroup that has not the memory for the tables of what is asked for: nobody
 * looks for it, and the OOM killer has no reason to come.
 */
static void quota_comes_first(void)
{
	new_group("hipec-a", 2 * MB);
	CHECK_EQ(in_group("hipec-a", load_too_many), 0);
	CHECK_EQ(oom_kills("hipec-a"), 0);
	CHECK_EQ(of_group("hipec-a", "memory.events", "oom "), 0);
}

const struct test quota_tests[] = {
	{ "quota_is_looked_at_before_memory_is_taken", quota_comes_first },
	{ 0 }
};
