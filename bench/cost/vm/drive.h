/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A deterministic loop of accesses that drives one contestant, and the meter
 * that one kind of its events runs on.
 *
 * Half of the accesses sweep all page numbers, half go to a hot quarter of
 * them; one of eight writes. Misses are collected and brought in together, as
 * the module does with clusters: Replace for each frame that is missing, then
 * PageFault for each page. So many events of a kind run in a row, and reading
 * the clock costs none of them anything.
 */
#ifndef BENCH_VM_DRIVE_H
#define BENCH_VM_DRIVE_H

#include "contestant.h"

enum bench_event { BENCH_PAGE_FAULT, BENCH_REPLACE, BENCH_NR_EVENTS };

/* Sums over all that was measured. */
struct bench_meter {
	enum bench_event event;	/* that is measured */
	bool on;
	u64 clock_ns;		/* what the clock's readings cost themselves */
	u64 ns;
	u64 events;
	u64 commands;
};

struct bench_drive {
	const struct contestant *contestant;
	void *c;
	u32 universe, free, batch;
	u64 nr_access, random;
	u64 hits, faults, evictions;
	u32 *victim;		/* page numbers of the last round */
	u32 *miss;		/* page numbers of this round */
	bool *miss_write;
	bool *missing;		/* by page number: in miss */
	u32 nr_miss;
	u64 digest;		/* of the pages given up, in order */
};

void bench_drive_open(struct bench_drive *d, const struct contestant *ct,
		      const struct bench_setup *setup, u32 batch);
void bench_drive_close(struct bench_drive *d);
void bench_drive_round(struct bench_drive *d, struct bench_meter *m);

void bench_meter_init(struct bench_meter *m, enum bench_event event);
void bench_measure(struct bench_meter *m, const struct contestant *ct, void *c,
		   enum bench_event event, const u32 *pgno, u32 n);

#endif /* BENCH_VM_DRIVE_H */
