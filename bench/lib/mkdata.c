// SPDX-License-Identifier: GPL-2.0-only
/*
 * mkdata FILE PAGES: write a data file of 64-byte tuples for join and sweep.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source.h"

int main(int argc, char **argv)
{
	uint64_t pages, p, i, k;
	FILE *f;

	if (argc != 3 || !(pages = strtoull(argv[2], NULL, 0))) {
		fprintf(stderr, "usage: mkdata FILE PAGES\n");
		return 2;
	}
	f = fopen(argv[1], "w");
	if (!f)
		die(argv[1]);
	for (p = 0; p < pages; p++) {
		struct tuple page[TUPLES_PER_PAGE] = { 0 };

		for (k = 0; k < TUPLES_PER_PAGE; k++) {
			i = p * TUPLES_PER_PAGE + k;
			page[k].key = tuple_key(i);
			page[k].check = ~page[k].key ^ i;
		}
		if (fwrite(page, sizeof(page), 1, f) != 1)
			die(argv[1]);
	}
	if (fclose(f))
		die(argv[1]);
	return 0;
}
