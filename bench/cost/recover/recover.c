// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the recovery table costs, as a table: entries compared, and nanoseconds
 * here and now, for one call each. The container is of so many pages, the table
 * has as many entries and is full, the buckets are the paper's 64, 1,024, or as
 * many as entries.
 *
 *	recover
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../module/core/recover.h"

#define CALLS 1000	/* of each kind */

static u32 seed = 1997;

static u32 draw(u32 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Gone pages are even, so that an odd one is not in the table. */
static u32 next_gone;

static void find_other(struct hipec_recover *r, u32 nr)
{
	u32 kept;

	if (hipec_recover_find(r, 2 * draw(nr) + 1, &kept))
		abort();
}

static void find_gone(struct hipec_recover *r, u32 nr)
{
	u32 kept;

	if (!hipec_recover_find(r, next_gone - 2 * (1 + draw(nr)), &kept))
		abort();
}

static void add(struct hipec_recover *r, u32 nr)
{
	hipec_recover_add(r, next_gone, draw(nr));
	next_gone += 2;
}

static void drop_kept(struct hipec_recover *r, u32 nr)
{
	hipec_recover_drop_kept(r, draw(nr));
}

static const struct {
	const char *name;
	void (*call)(struct hipec_recover *r, u32 nr);
} rows[] = {
	{ "fault, not in the table", find_other },
	{ "fault, in the table", find_gone },
	{ "another page goes, table full", add },
	{ "kept page referenced", drop_kept },
};

static void measure(u32 nr, u32 nr_buckets)
{
	size_t size = hipec_recover_size(nr, nr_buckets);
	struct hipec_recover r;
	void *memory = malloc(size);
	u32 i, call;

	if (!memory)
		abort();
	hipec_recover_init(&r, memory, nr, nr_buckets);
	next_gone = 0;
	for (i = 0; i < nr; i++)
		add(&r, nr);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 compared = r.compared;
		double ns = now_ns();

		for (call = 0; call < CALLS; call++)
			rows[i].call(&r, nr);
		ns = now_ns() - ns;
		printf("%9u %9u %7.1f  %-30s %10.2f %12.0f\n", nr, nr_buckets,
		       (double)size / nr, rows[i].name,
		       (double)(r.compared - compared) / CALLS, ns / CALLS);
	}
	free(memory);
}

int main(void)
{
	static const u32 pages[] = { 25600, 1000000 };
	u32 i;

	printf("%9s %9s %7s  %-30s %10s %12s\n", "pages", "buckets", "B/page",
	       "call", "compared", "ns");
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		measure(pages[i], HIPEC_RECOVER_PAPER_BUCKETS);
		measure(pages[i], 1024);
		measure(pages[i], pages[i]);
	}
	return 0;
}
