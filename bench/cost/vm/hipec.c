// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contestant: a compiled policy on hipec's VM.
 */
#include <stdlib.h>

#include "contestant.h"
#include "host.h"
#include "mix.h"

struct machine {
	struct bench_image image;
	struct bench_host *host;
};

static void *machine_open(const struct bench_setup *setup)
{
	struct machine *m = bench_alloc(sizeof(*m));

	bench_mix_load(&m->image, setup->hpo_dir, setup->policy);
	m->host = bench_host_open(&m->image, setup->frames);
	return m;
}

static void machine_close(void *c)
{
	struct machine *m = c;

	bench_host_close(m->host);
	bench_image_free(&m->image);
	free(m);
}

static bool machine_touch(void *c, u32 pgno, bool write)
{
	struct machine *m = c;

	return bench_host_touch(m->host, pgno, write);
}

static void machine_bring(void *c, u32 pgno, bool write)
{
	struct machine *m = c;

	bench_host_bring(m->host, pgno, write);
}

static void machine_page_fault(void *c, const u32 *pgno, u32 n)
{
	struct bench_host *host = ((struct machine *)c)->host;
	u32 i;

	for (i = 0; i < n; i++)
		bench_host_fault(host, HIPEC_EVENT_PAGEFAULT, pgno[i]);
}

static void machine_replace(void *c, const u32 *pgno, u32 n)
{
	struct bench_host *host = ((struct machine *)c)->host;

	(void)pgno;
	while (n--)
		bench_host_run(host, HIPEC_EVENT_REPLACE);
}

static u32 machine_take(void *c, u32 *pgno)
{
	struct machine *m = c;

	return bench_host_take(m->host, pgno);
}

static u64 machine_commands(void *c)
{
	struct machine *m = c;

	return bench_host_commands(m->host);
}

const struct contestant bench_hipec = {
	.name = "hipec",
	.open = machine_open,
	.close = machine_close,
	.touch = machine_touch,
	.bring = machine_bring,
	.page_fault = machine_page_fault,
	.replace = machine_replace,
	.take = machine_take,
	.commands = machine_commands,
};
