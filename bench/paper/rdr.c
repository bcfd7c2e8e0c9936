// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random Data Retrieval of hipec-1997: looks tuples up, each by the way from the
 * root of the index to its record and on to the data file. Checks every record
 * and tuple on the way.
 *
 * Index and data are in one container. The application's knowledge, the level of
 * the tree that a page of the index holds, goes to the policy through the shared
 * array IndexLevel (mpfifo2.hp), if it has one; data pages are of the last level.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/index.h"
#include "../lib/source.h"
#include "../../userlib/lib/hipec.h"

#define DATA_LEVEL 25

static const char usage[] =
"usage: rdr [--policy FILE.hpo --frames N [--cluster N] [--share | --in-place]]\n"
"           [--advice ADVICE] [--disk NAME] [--lookups N] INDEX DATA\n"
"Looks N tuples up, at random, always the same ones, in INDEX, made by mkindex, and\n"
"reads them from DATA, made by mkdata: on plain mappings (ADVICE: none, random,\n"
"sequential, willneed) or on hipec regions.\n";

/* xorshift64*; bench/lib/models.py has the same. */
static uint64_t draw(void)
{
	static uint64_t x = 1997;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return x * 0x2545f4914f6cdd1du;
}

/* A page holds records of several levels near the root: the first one's counts. */
static int level_of(uint64_t page)
{
	uint64_t i = page * RECORDS_PER_PAGE + 1;
	int level = 0;

	while (i >>= 1)
		level++;
	return level;
}

static void tell_levels(const struct source *index, const struct source *data)
{
	uint64_t p, at;
	int64_t *array;
	size_t nr;
	int ret = hipec_shared(index->container, "IndexLevel", &array, &nr);

	if (ret == -ENOENT)
		return;
	if (ret < 0) {
		errno = -ret;
		die("IndexLevel");
	}
	at = index->address / PAGE_BYTES;
	for (p = 0; p < index->bytes / PAGE_BYTES && at + p < nr; p++)
		array[at + p] = level_of(p);
	at = data->address / PAGE_BYTES;
	for (p = 0; p < data->bytes / PAGE_BYTES && at + p < nr; p++)
		array[at + p] = DATA_LEVEL;
}

static void wrong(const char *what, uint64_t number)
{
	fprintf(stderr, "%s %" PRIu64 " is wrong\n", what, number);
	exit(1);
}

/* The number of the record with @key, which is there. */
static uint64_t find(const struct source *index, uint64_t key)
{
	const struct record *r = (const void *)index->base;
	uint64_t nr = index->bytes / RECORD_BYTES, i = 0, child;

	for (;;) {
		if (i >= nr || r[i].check != (~r[i].key ^ i))
			wrong("index record", i);
		if (r[i].key == key)
			return i;
		child = key < r[i].key ? r[i].left : r[i].right;
		if (child <= i)
			wrong("child of index record", i);
		i = child;
	}
}

static void look_up(const struct source *index, const struct source *data,
		    uint64_t number)
{
	const struct record *r = (const void *)index->base;
	const struct tuple *t = (const void *)data->base;
	uint64_t i = find(index, number / TUPLES_PER_RECORD);

	i = r[i].tuple[number % TUPLES_PER_RECORD];
	if (i != number || t[i].key != tuple_key(i) ||
	    t[i].check != (~t[i].key ^ i))
		wrong("tuple", number);
}

int main(int argc, char **argv)
{
	struct source index, data;
	uint64_t n, tuples, mark = 100;
	struct options o;

	parse_options(&o, argc, argv, usage, 2);
	measure_begin(&o);
	source_open(&index, &o, argv[argc - 2], o.frames);
	source_open_in(&data, &o, argv[argc - 1], &index);
	tuples = data.bytes / TUPLE_BYTES;
	if (o.write || tuples != index.bytes / RECORD_BYTES * TUPLES_PER_RECORD) {
		fprintf(stderr, "rdr reads, four data pages for each of the index\n");
		return 2;
	}
	if (o.policy)
		tell_levels(&index, &data);
	for (n = 1; n <= o.passes; n++) {
		look_up(&index, &data, (draw() >> 32) % tuples);
		if (n == mark && n < o.passes) {
			measure_mark(&o, &index, n);
			mark *= 10;
		}
		if (2 * n == o.passes)
			measure_mark(&o, &index, n);
	}
	measure_end(&o, &index, "rdr");
	source_close(&data);
	source_close(&index);
	return 0;
}
