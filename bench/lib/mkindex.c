// SPDX-License-Identifier: GPL-2.0-only
/*
 * mkindex FILE PAGES: write the index file of rdr; the data file has four times
 * as many pages, written by mkdata.
 */
#include <stdio.h>
#include <stdlib.h>

#include "index.h"
#include "source.h"

static uint64_t nr, next_key;

/* Keys rise from left to right. */
static void number(struct record *records, uint64_t i)
{
	struct record *r = &records[i];
	unsigned int k;

	if (i >= nr)
		return;
	number(records, 2 * i + 1);
	r->key = next_key++;
	r->check = ~r->key ^ i;
	r->left = 2 * i + 1 < nr ? 2 * i + 1 : nr;
	r->right = 2 * i + 2 < nr ? 2 * i + 2 : nr;
	for (k = 0; k < TUPLES_PER_RECORD; k++)
		r->tuple[k] = r->key * TUPLES_PER_RECORD + k;
	number(records, 2 * i + 2);
}

int main(int argc, char **argv)
{
	struct record *records;
	uint64_t pages;
	FILE *f;

	if (argc != 3 || !(pages = strtoull(argv[2], NULL, 0)) ||
	    pages > 1 << 20) {
		fprintf(stderr, "usage: mkindex FILE PAGES\n");
		return 2;
	}
	nr = pages * RECORDS_PER_PAGE;
	records = calloc(nr, sizeof(*records));
	f = fopen(argv[1], "w");
	if (!records || !f)
		die(argv[1]);
	number(records, 0);
	if (fwrite(records, sizeof(*records), nr, f) != nr || fclose(f))
		die(argv[1]);
	return 0;
}
