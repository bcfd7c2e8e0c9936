/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An index file: a balanced binary tree of records, numbered level by level from
 * the root, 0, so that the children of record i are 2i + 1 and 2i + 2. mkindex
 * writes it, rdr reads it.
 */
#ifndef HIPEC_BENCH_INDEX_H
#define HIPEC_BENCH_INDEX_H

#include <stdint.h>

#define RECORD_BYTES 64
#define RECORDS_PER_PAGE 64
#define TUPLES_PER_RECORD 4

struct record {
	uint64_t key;		/* its place in the order of keys */
	uint64_t check;		/* ~key ^ number */
	uint32_t left, right;	/* numbers; as many as there are records: none */
	uint64_t tuple[TUPLES_PER_RECORD];	/* numbers, in the data file */
	uint64_t filler;
};

#endif /* HIPEC_BENCH_INDEX_H */
