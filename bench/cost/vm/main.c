// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench-vm: what the interpreter costs, beside C and Lua. table.py runs it and
 * prints what it found; docs/policy/machine.md has its figures.
 *
 *   bench-vm --check   only compare what the contestants decide
 *   bench-vm --time    measure nanoseconds, the least of many repetitions
 *   bench-vm --count   run the same once; under callgrind, which is to count
 *                      between bench_measured()'s entry and exit and to dump
 *                      before each bench_row_done()
 *
 * A line of output is: row, contestant, events, commands, nanoseconds, with
 * tabs between. Those of --count have none, and are in the order of the dumps.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drive.h"
#include "mix.h"

#define FRAMES 1024	/* all that policies use of them fits a level 1 cache */
#define BATCH 128	/* events between two readings of the clock */
#define ROUNDS 64
#define MIX_EVENTS 64
#define REPETITIONS 40
#define MAX_ROWS 16

static const struct contestant *const contestants[] = {
	&bench_hipec, &bench_native, &bench_lua,
};

#define NR_CONTESTANTS ARRAY_SIZE(contestants)

static const char *const policies[] = { "fifo", "fifo2", "mru" };

static const char *const event_names[] = {
	[BENCH_PAGE_FAULT] = "PageFault", [BENCH_REPLACE] = "Replace",
};

/* One line of the table, measured anew for each repetition. */
struct row {
	const char *policy;
	enum bench_event event;
	const struct bench_mix *mix;	/* or NULL */
};

static struct bench_setup setup = {
	.hpo_dir = "build/policies", .lua_file = "bench/cost/vm/policies.lua",
	.frames = FRAMES, .universe = 2 * FRAMES,
};

/* Callgrind is told to dump its counts before this. */
static void __attribute__((noipa)) bench_row_done(void)
{
}

/* Measure @m's events of a policy, from a state that was warmed up. */
static void run_policy(struct bench_drive *d, struct bench_meter *m,
		       const char *policy, const struct contestant *ct)
{
	u32 i;

	setup.policy = policy;
	bench_drive_open(d, ct, &setup, BATCH);
	for (i = 0; i < 2 * FRAMES / BATCH; i++)
		bench_drive_round(d, m);
	m->on = true;
	for (i = 0; i < ROUNDS; i++)
		bench_drive_round(d, m);
}

/* The empty policy needs no pages, only to be told of some. */
static void run_empty(struct bench_meter *m, const struct contestant *ct)
{
	u32 pgno[BATCH] = { 0 }, i;
	void *c;

	setup.policy = "empty";
	c = ct->open(&setup);
	if (!c)
		bench_die("%s has no empty policy", ct->name);
	for (i = 0; i < ROUNDS; i++) {
		m->on = i > 0;
		bench_measure(m, ct, c, BENCH_PAGE_FAULT, pgno, BATCH);
	}
	ct->close(c);
}

static void mix_events(void *c, const u32 *pgno, u32 n)
{
	(void)pgno;
	while (n--)
		bench_host_run(c, HIPEC_EVENT_PAGEFAULT);
}

static u64 mix_commands(void *c)
{
	return bench_host_commands(c);
}

static const struct contestant mix_contestant = {
	.name = "hipec", .page_fault = mix_events, .commands = mix_commands,
};

static void run_mix(struct bench_meter *m, const struct bench_mix *mix)
{
	struct bench_image image;
	struct bench_host *host;

	bench_mix_load(&image, setup.hpo_dir, mix->name);
	host = bench_mix_start(&image);
	bench_measure(m, &mix_contestant, host, BENCH_PAGE_FAULT, NULL, 1);
	m->on = true;
	bench_measure(m, &mix_contestant, host, BENCH_PAGE_FAULT, NULL,
		      MIX_EVENTS);
	if (m->commands != MIX_EVENTS * (mix->commands * BENCH_MIX_COPIES + 1))
		bench_die("mix '%s' ran %" PRIu64 " commands", mix->name,
			  m->commands);
	bench_mix_check(mix, &image, host, 1 + MIX_EVENTS);
	bench_host_close(host);
	bench_image_free(&image);
}

/* One measurement; false if the contestant does not run this row. */
static bool run_row(const struct row *row, const struct contestant *ct,
		    struct bench_meter *m, u64 *digest)
{
	struct bench_drive d;

	*digest = 0;
	bench_meter_init(m, row->event);
	if (row->mix) {
		if (ct != &bench_hipec)
			return false;
		run_mix(m, row->mix);
	} else if (!strcmp(row->policy, "empty")) {
		run_empty(m, ct);
	} else {
		run_policy(&d, m, row->policy, ct);
		*digest = d.digest;
		bench_drive_close(&d);
	}
	return true;
}

static void print_row(const struct row *row, const struct contestant *ct,
		      const struct bench_meter *m, bool with_ns)
{
	printf("%s%s%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t",
	       row->mix ? row->mix->name : row->policy,
	       row->mix ? "" : " ", row->mix ? "" : event_names[row->event],
	       ct->name, m->events, m->commands);
	if (with_ns)
		printf("%" PRIu64, m->ns);
	putchar('\n');
}

/* All contestants once; @best keeps the least time of each. */
static void run_contestants(const struct row *row, struct bench_meter *best)
{
	u64 digest, first = 0;
	size_t i;

	for (i = 0; i < NR_CONTESTANTS; i++) {
		struct bench_meter m;

		if (!run_row(row, contestants[i], &m, &digest))
			continue;
		if (!i)
			first = digest;
		if (digest != first)
			bench_die("%s: %s and %s give up different pages",
				  row->policy, contestants[0]->name,
				  contestants[i]->name);
		if (!best[i].events || m.ns < best[i].ns)
			best[i] = m;
	}
}

static void time_rows(const struct row *row, size_t nr)
{
	static struct bench_meter best[MAX_ROWS][NR_CONTESTANTS];
	size_t i, k;

	/* All rows each time, so that a busy second spoils none of them. */
	for (k = 0; k < REPETITIONS; k++)
		for (i = 0; i < nr; i++)
			run_contestants(&row[i], best[i]);
	for (i = 0; i < nr; i++)
		for (k = 0; k < NR_CONTESTANTS; k++)
			if (best[i][k].events)
				print_row(&row[i], contestants[k], &best[i][k],
					  true);
}

static void count_rows(const struct row *row, size_t nr)
{
	struct bench_meter m;
	u64 digest;
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < NR_CONTESTANTS; k++)
			if (run_row(&row[i], contestants[k], &m, &digest)) {
				bench_row_done();
				print_row(&row[i], contestants[k], &m, false);
			}
}

/* All contestants side by side; the first page that differs is the end. */
static void check_policy(const char *policy, u32 batch)
{
	struct bench_drive d[NR_CONTESTANTS];
	struct bench_meter off = { .on = false };
	u32 i, k;

	setup.policy = policy;
	for (k = 0; k < NR_CONTESTANTS; k++)
		bench_drive_open(&d[k], contestants[k], &setup, batch);
	for (i = 0; i < 8 * FRAMES / batch; i++) {
		for (k = 0; k < NR_CONTESTANTS; k++)
			bench_drive_round(&d[k], &off);
		for (k = 1; k < NR_CONTESTANTS; k++)
			if (d[k].hits != d[0].hits ||
			    d[k].digest != d[0].digest)
				bench_die("%s: %s and %s give up different pages after %"
					  PRIu64 " faults", policy, contestants[0]->name,
					  contestants[k]->name, d[0].faults);
	}
	printf("%s\tbatch %u\thits %" PRIu64 "\tfaults %" PRIu64
	       "\tevictions %" PRIu64 "\tdigest %016" PRIx64 "\n", policy,
	       batch, d[0].hits, d[0].faults, d[0].evictions, d[0].digest);
	for (k = 0; k < NR_CONTESTANTS; k++)
		bench_drive_close(&d[k]);
}

static void check_all(const struct row *row, size_t nr)
{
	struct bench_meter m;
	size_t i;

	for (i = 0; i < nr; i++)
		if (row[i].mix) {
			bench_meter_init(&m, row[i].event);
			run_mix(&m, row[i].mix);
			printf("%s\tas in C\n", row[i].mix->name);
		}
	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		check_policy(policies[i], 1);
		check_policy(policies[i], BATCH);
	}
}

static size_t make_rows(struct row *row)
{
	size_t n = 0, i;

	row[n++] = (struct row){ .policy = "empty" };
	for (i = 0; i < bench_nr_mixes; i++)
		row[n++].mix = &bench_mixes[i];
	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		row[n++] = (struct row){ .policy = policies[i],
					 .event = BENCH_PAGE_FAULT };
		row[n++] = (struct row){ .policy = policies[i],
					 .event = BENCH_REPLACE };
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", no_argument, NULL, 'c' },
		{ "time", no_argument, NULL, 't' },
		{ "count", no_argument, NULL, 'n' },
		{ "policies", required_argument, NULL, 'p' },
		{ "lua", required_argument, NULL, 'l' },
		{ NULL }
	};
	void (*run)(const struct row *row, size_t nr) = NULL;
	struct row rows[MAX_ROWS] = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			run = check_all;
			break;
		case 't':
			run = time_rows;
			break;
		case 'n':
			run = count_rows;
			break;
		case 'p':
			setup.hpo_dir = optarg;
			break;
		case 'l':
			setup.lua_file = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!run || optind < argc) {
		fprintf(stderr, "usage: bench-vm --check|--time|--count "
			"[--policies DIR] [--lua FILE]\n");
		return 2;
	}
	run(rows, make_rows(rows));
	return 0;
}
