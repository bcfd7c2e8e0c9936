// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sequential MPEG player of hipec-1997, as far as memory sees it: reads a
 * video from its first page to its last, each page once, at the rate at which it
 * is played. Checks every tuple.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/source.h"

static const char usage[] =
"usage: smpeg [--policy FILE.hpo --frames N [--cluster N] [--share | --in-place]]\n"
"             [--advice ADVICE] [--disk NAME] [--rate KB] VIDEO\n"
"Plays VIDEO, made by mkdata, at KB 1024 bytes a second, or as fast as it can: on a\n"
"plain mapping (ADVICE: none, random, sequential, willneed) or on a hipec region.\n";

static void show(const struct source *s, uint64_t page)
{
	const struct tuple *t = (const void *)s->base;
	uint64_t i;

	for (i = page * TUPLES_PER_PAGE; i < (page + 1) * TUPLES_PER_PAGE; i++) {
		if (t[i].key == tuple_key(i) && t[i].check == (~t[i].key ^ i))
			continue;
		fprintf(stderr, "page %" PRIu64 " is wrong\n", page);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	uint64_t page, by, late = 0, latest = 0;
	struct options o;
	struct source s;

	parse_options(&o, argc, argv, usage, 1);
	if (o.write) {
		fprintf(stderr, "smpeg reads\n");
		return 2;
	}
	o.passes = 1;
	measure_begin(&o);
	source_open(&s, &o, argv[argc - 1], o.frames);
	for (page = 0; page < s.bytes / PAGE_BYTES; page++) {
		show(&s, page);
		by = pace(&o, 1);
		late += by > 0;
		if (by > latest)
			latest = by;
	}
	printf("late_pages=%" PRIu64 " latest_ns=%" PRIu64 " ", late, latest);
	measure_end(&o, &s, "smpeg");
	source_close(&s);
	return 0;
}
