// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an access costs the detector, by stream, by how many pages a context has and by
 * what bounds its lists: the best of several runs, in nanoseconds of the processor; the
 * share of the accesses that is sampled at the rates of the end; and memory, at the end
 * too. The goal is 200 ns for one that is sampled: see the rows with 100 % and a bound.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../module/vm/optable.h"
#include "../../userlib/amp/amp.h"

#define ACCESSES 1000000u
#define CONTEXTS 16
#define ROUNDS 4

static u64 rng = 88172645463325252ull;

static u64 draw(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

static u32 loop(u32 i, u32 pages)
{
	return i % pages;
}

static u32 uniform(u32 i, u32 pages)
{
	(void)i;
	return draw() % pages;
}

static u32 once(u32 i, u32 pages)
{
	(void)pages;
	return i;
}

static const struct {
	const char *name;
	u32 (*page)(u32 i, u32 pages);
} streams[] = {
	{ "loop", loop }, { "uniform", uniform }, { "once", once },
};

static const struct {
	const char *name;
	u32 most;
	double rate;
} bounds[] = {
	{ "all blocks", 0, 1 }, { "N_L = 2048", 2048, 1 }, { "Q_0 = 1/64", 2048, 1. / 64 },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* What came of a run. */
struct cost {
	double ns;	/* an access */
	double sampled;	/* share of them */
	size_t used;	/* bytes */
};

/* Access i is context i % contexts', and pages are a context's own. */
static struct cost measure(const u32 *page, u32 contexts, u32 most, double rate)
{
	struct amp_pattern pattern[CONTEXTS];
	struct cost cost = { 0 };
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct amp_params params;
	struct amp_detector *d;
	double start;
	size_t n;
	u32 i;

	amp_params_init(&params);
	params.form = AMP_EXPONENTIAL;
	params.most = most;
	params.limit = rate * AMP_ALL;
	d = amp_new(&params);
	start = now();
	for (i = 0; d && i < ACCESSES; i++)
		if (amp_note(d, 1 + i % contexts, page[i], i + 1, false))
			exit(1);
	cost.ns = (now() - start) / ACCESSES;
	cost.used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	n = amp_detect(d, pattern, CONTEXTS);
	while (n--)
		cost.sampled += pattern[n].rate * pattern[n].accesses / ACCESSES;
	amp_free(d);
	return cost;
}

static void show(size_t s, u32 pages, u32 contexts)
{
	static u32 page[ACCESSES];
	size_t b;
	u32 i;

	for (i = 0; i < ACCESSES; i++)
		page[i] = i % contexts << 24 |
			  streams[s].page(i / contexts, pages);
	for (b = 0; b < ARRAY_SIZE(bounds); b++) {
		struct cost best = { .ns = INFINITY };

		for (i = 0; i < ROUNDS; i++) {
			struct cost cost = measure(page, contexts, bounds[b].most,
						   bounds[b].rate);

			if (cost.ns < best.ns)
				best = cost;
		}
		printf("%-10s %7u %8u  %-10s  %7.1f%%  %9.1f  %6zu KB\n",
		       streams[s].name, pages, contexts, bounds[b].name,
		       best.sampled * 100, best.ns, best.used >> 10);
	}
}

int main(void)
{
	static const u32 pages[] = { 2000, 200000 }, contexts[] = { 1, CONTEXTS };
	size_t s, p, c;

	printf("%-10s %7s %8s  %-10s  %8s  %9s  %9s\n", "STREAM", "PAGES", "CONTEXTS",
	       "BOUND", "SAMPLED", "NS/ACCESS", "MEMORY");
	for (s = 0; s < ARRAY_SIZE(streams); s++)
		for (p = 0; p < ARRAY_SIZE(pages); p++)
			for (c = 0; c < ARRAY_SIZE(contexts); c++)
				show(s, pages[p], contexts[c]);
	return 0;
}
