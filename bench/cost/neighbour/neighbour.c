// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the faults of a program cost that shares the pool with another's policy: each
 * of them, in nanoseconds; in a guest of run.py --det these are instructions.
 *
 * Both have more pages than the pool has frames, and read them in turns, in order,
 * one page a read. So nearly each touch of the program has a page of the other's, or
 * one of its own, given up. One line of name=value.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define TURN 256	/* touches */

static const char usage[] =
"usage: neighbour FILE PAGES FRAMES ROUNDS OTHERS-POLICY POLICY\n"
"FRAMES: the limit of both. The others' turn comes first in each round.\n";

struct side {
	volatile unsigned char *base;
	int container;
	size_t at;
};

static void attach(struct side *s, int file, size_t pages, size_t frames,
		   const char *policy)
{
	s->container = load_as(policy, (struct hipec_load){
		.flags = HIPEC_LOAD_SHARE, .frames = frames, .cluster = 1 });
	s->base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED,
		       attach_to(s->container, file), 0);
	if (s->base == MAP_FAILED)
		die("mmap");
}

/* A turn; @ns: gets what each touch took, or NULL. */
static void turn(struct side *s, size_t pages, uint64_t *ns)
{
	uint64_t begin;
	size_t i;

	for (i = 0; i < TURN; i++) {
		begin = now();
		(void)s->base[s->at * PAGE_BYTES];
		if (ns)
			ns[i] = now() - begin;
		s->at = (s->at + 1) % pages;
	}
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

int main(int argc, char **argv)
{
	struct side others = { 0 }, own = { 0 };
	struct hipec_status a = { 0 }, b = { 0 };
	size_t pages, frames, rounds, i;
	uint64_t *ns, faults;
	int file;

	if (argc != 7) {
		fputs(usage, stderr);
		return 2;
	}
	file = open(argv[1], O_RDONLY);
	if (file < 0)
		die(argv[1]);
	pages = strtoul(argv[2], NULL, 0);
	frames = strtoul(argv[3], NULL, 0);
	rounds = strtoul(argv[4], NULL, 0);
	ns = calloc(rounds * TURN, sizeof(*ns));
	if (!ns)
		die("memory");
	attach(&others, file, pages, frames, argv[5]);
	attach(&own, file, pages, frames, argv[6]);
	/* The pool is full before it begins. */
	for (i = 0; i < frames; i += TURN)
		turn(&others, pages, NULL);
	for (i = 0; i < rounds; i++) {
		turn(&others, pages, NULL);
		turn(&own, pages, ns + i * TURN);
	}
	hipec_status(others.container, &a);
	hipec_status(own.container, &b);
	/* What did not fault took less than what did. */
	faults = b.counters.faults;
	qsort(ns, rounds * TURN, sizeof(*ns), descending);
	printf("faults=%" PRIu64 " median=%" PRIu64 " p99=%" PRIu64 " p999=%" PRIu64
	       " most=%" PRIu64, faults, ns[faults / 2], ns[faults / 100],
	       ns[faults / 1000], ns[0]);
	printf(" others_given=%llu others_late=%llu others_moved=%llu others_exit=%u exit=%u\n",
	       a.counters.given, a.counters.late, a.counters.moved, a.exit.kind,
	       b.exit.kind);
	return 0;
}
