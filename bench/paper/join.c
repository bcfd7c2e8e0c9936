// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nested-loop join of hipec-1997: for each tuple of the inner relation (one
 * page), a sweep over the outer one. Checks every tuple it reads and the number
 * of matches.
 *
 * The inner relation has a container of its own with one frame: in one queue
 * with the outer pages, MRU would evict it again and again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/source.h"

static const char usage[] =
"usage: join [--policy FILE.hpo --frames N [--cluster N] [--share | --in-place]]\n"
"            [--advice ADVICE] [--disk NAME] [--passes N] [--rate KB] [--read]\n"
"            INNER OUTER\n"
"Joins the first N tuples of INNER with OUTER, both made by mkdata: on a plain\n"
"mapping (ADVICE: none, random, sequential, willneed) or on hipec regions, with\n"
"FILE.hpo or, if that is none, the built-in replacement; in place, on a plain\n"
"mapping under that; by read() instead of maps; at KB 1024 bytes of OUTER a second\n"
"at most.\n";

/* Matches of @key in the outer relation; exits if a tuple is not what it was. */
static uint64_t scan(const struct options *o, struct source *outer, uint64_t key)
{
	uint64_t nr = outer->bytes / PAGE_BYTES, page, i, matches = 0;
	const struct tuple *t;

	for (page = 0; page < nr; page++) {
		t = source_page(outer, page);
		for (i = page * TUPLES_PER_PAGE; i < (page + 1) * TUPLES_PER_PAGE; i++, t++) {
			if (t->check != (~t->key ^ i)) {
				fprintf(stderr, "outer tuple %" PRIu64 " is wrong\n", i);
				exit(1);
			}
			matches += t->key == key;
		}
		if (o->rate)
			pace(o, 1);
	}
	return matches;
}

int main(int argc, char **argv)
{
	struct source inner, outer;
	uint64_t pass, i, want = 0, matches = 0;
	struct options o;

	parse_options(&o, argc, argv, usage, 2);
	if (o.write || o.passes > TUPLES_PER_PAGE) {
		fprintf(stderr, "join reads, in 1 to %d passes\n",
			TUPLES_PER_PAGE);
		return 2;
	}
	measure_begin(&o);
	source_open(&inner, &o, argv[argc - 2], 1);
	source_open(&outer, &o, argv[argc - 1], o.frames);
	for (pass = 0; pass < o.passes; pass++) {
		matches += scan(&o, &outer,
				((const struct tuple *)source_page(&inner, 0))[pass].key);
		if (!pass)
			measure_mark(&o, &outer, 1);
	}
	measure_end(&o, &outer, "join");

	for (pass = 0; pass < o.passes; pass++)
		for (i = 0; i < outer.bytes / TUPLE_BYTES; i++)
			want += tuple_key(i) == tuple_key(pass);
	if (matches != want) {
		fprintf(stderr, "%" PRIu64 " matches, want %" PRIu64 "\n",
			matches, want);
		return 1;
	}
	source_close(&outer);
	source_close(&inner);
	return 0;
}
