// SPDX-License-Identifier: GPL-2.0-only
/*
 * The access loop. See drive.h.
 */
#include <stdlib.h>
#include <time.h>

#include "drive.h"
#include "host.h"

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/**
 * bench_meter_init() - a meter that reads zero
 * @m:     filled
 * @event: kind of event that it measures
 */
void bench_meter_init(struct bench_meter *m, enum bench_event event)
{
	u32 i;

	*m = (struct bench_meter){ .event = event, .clock_ns = -1ull };
	for (i = 0; i < 1000; i++) {
		u64 ns = now_ns();

		ns = now_ns() - ns;
		if (ns < m->clock_ns)
			m->clock_ns = ns;
	}
}

/* Callgrind counts what runs between the entry and the exit of this. */
static void __attribute__((noipa))
bench_measured(void (*run)(void *c, const u32 *pgno, u32 n), void *c,
	       const u32 *pgno, u32 n)
{
	run(c, pgno, n);
	asm volatile("");	/* a call, not a jump that would never return here */
}

/**
 * bench_measure() - run events of one kind, and measure them if they are wanted
 * @m:     meter
 * @ct:    contestant
 * @c:     its policy
 * @event: kind
 * @pgno:  @n page numbers, for BENCH_PAGE_FAULT
 * @n:     events
 */
void bench_measure(struct bench_meter *m, const struct contestant *ct, void *c,
		   enum bench_event event, const u32 *pgno, u32 n)
{
	void (*run)(void *c, const u32 *pgno, u32 n) =
		event == BENCH_PAGE_FAULT ? ct->page_fault : ct->replace;
	u64 ns, commands;

	if (!m->on || m->event != event) {
		run(c, pgno, n);
		return;
	}
	commands = ct->commands ? ct->commands(c) : 0;
	ns = now_ns();
	bench_measured(run, c, pgno, n);
	ns = now_ns() - ns;
	m->ns += ns > m->clock_ns ? ns - m->clock_ns : 0;
	m->events += n;
	m->commands += ct->commands ? ct->commands(c) - commands : 0;
}

/**
 * bench_drive_open() - a contestant that holds no page yet
 * @d:     filled
 * @ct:    contestant, which has the policy
 * @setup: policy and sizes
 * @batch: misses that are brought in together, no more than there are frames
 *
 * Context: any; allocates.
 */
void bench_drive_open(struct bench_drive *d, const struct contestant *ct,
		      const struct bench_setup *setup, u32 batch)
{
	*d = (struct bench_drive){
		.contestant = ct, .universe = setup->universe,
		.free = setup->frames, .batch = batch, .random = 1,
		.digest = 14695981039346656037ull,
	};
	d->c = ct->open(setup);
	if (!d->c)
		bench_die("%s has no policy '%s'", ct->name, setup->policy);
	d->victim = bench_alloc(setup->frames * sizeof(*d->victim));
	d->miss = bench_alloc(batch * sizeof(*d->miss));
	d->miss_write = bench_alloc(batch * sizeof(*d->miss_write));
	d->missing = bench_alloc(setup->universe * sizeof(*d->missing));
}

void bench_drive_close(struct bench_drive *d)
{
	d->contestant->close(d->c);
	free(d->missing);
	free(d->miss_write);
	free(d->miss);
	free(d->victim);
}

/* Access by access until a batch of pages is missing. */
static void collect(struct bench_drive *d)
{
	d->nr_miss = 0;
	while (d->nr_miss < d->batch) {
		u64 i = d->nr_access++;
		bool write;
		u32 pgno;

		/* xorshift64 */
		d->random ^= d->random << 13;
		d->random ^= d->random >> 7;
		d->random ^= d->random << 17;
		pgno = i & 1 ? i / 2 % d->universe :
		       d->random % (d->universe / 4);
		write = d->random >> 61 == 0;
		if (d->missing[pgno] ||
		    d->contestant->touch(d->c, pgno, write)) {
			d->hits++;
			continue;
		}
		d->missing[pgno] = true;
		d->miss[d->nr_miss] = pgno;
		d->miss_write[d->nr_miss++] = write;
	}
	d->faults += d->nr_miss;
}

/* Have @n frames freed. */
static void replace(struct bench_drive *d, struct bench_meter *m, u32 n)
{
	const struct contestant *ct = d->contestant;
	u32 got, i;

	bench_measure(m, ct, d->c, BENCH_REPLACE, d->miss, n);
	got = ct->take(d->c, d->victim);
	if (got != n)
		bench_die("%s gave up %u pages in %u Replace", ct->name, got, n);
	for (i = 0; i < n; i++)	/* FNV-1a, by words */
		d->digest = (d->digest ^ d->victim[i]) * 1099511628211ull;
	d->evictions += n;
	d->free += n;
}

/**
 * bench_drive_round() - accesses until a batch of pages was brought in
 * @d: drive
 * @m: meter
 */
void bench_drive_round(struct bench_drive *d, struct bench_meter *m)
{
	const struct contestant *ct = d->contestant;
	u32 i;

	collect(d);
	if (d->nr_miss > d->free)
		replace(d, m, d->nr_miss - d->free);
	for (i = 0; i < d->nr_miss; i++) {
		ct->bring(d->c, d->miss[i], d->miss_write[i]);
		d->missing[d->miss[i]] = false;
	}
	d->free -= d->nr_miss;
	bench_measure(m, ct, d->c, BENCH_PAGE_FAULT, d->miss, d->nr_miss);
}
