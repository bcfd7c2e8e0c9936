// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contestant: the policies of policies/ in C, as somebody would write them who
 * may change the kernel, over the machine's own pages and queues. What touches
 * a frame is the host's, as it is for hipec.
 */
#include <stdlib.h>

#include "contestant.h"
#include "host.h"
#include "mix.h"

struct native;

struct native_policy {
	const char *name;
	void (*page_fault)(struct hipec_vm *vm, s64 address);
	void (*replace)(struct hipec_vm *vm);
};

struct native {
	const struct native_policy *policy;
	struct bench_image image;	/* its queues are used, its commands not */
	struct bench_host *host;
};

static void empty_page_fault(struct hipec_vm *vm, s64 address)
{
	(void)vm;
	(void)address;
}

static void empty_replace(struct hipec_vm *vm)
{
	(void)vm;
}

/* fifo and mru keep all pages on one queue, in the order of their faults. */
#define QUEUE HIPEC_QUEUE_POLICY

static void queue_page_fault(struct hipec_vm *vm, s64 address)
{
	u32 h = hipec_page_find(vm, address >> BENCH_PAGE_SHIFT);

	if (h)
		hipec_queue_move(vm, QUEUE, h, HIPEC_END_TAIL);
}

static void fifo_replace(struct hipec_vm *vm)
{
	u32 h = vm->queue[QUEUE].head;

	if (h)
		bench_evict(vm, h);
}

static void mru_replace(struct hipec_vm *vm)
{
	u32 h = vm->queue[QUEUE].tail;

	if (h)
		bench_evict(vm, h);
}

#define ACTIVE HIPEC_QUEUE_POLICY
#define INACTIVE (HIPEC_QUEUE_POLICY + 1)

static void fifo2_page_fault(struct hipec_vm *vm, s64 address)
{
	u32 h = hipec_page_find(vm, address >> BENCH_PAGE_SHIFT);

	if (h)
		hipec_queue_move(vm, ACTIVE, h, HIPEC_END_TAIL);
}

/* Fill the inactive queue up to two thirds of the pages. */
static void fifo2_balance(struct hipec_vm *vm)
{
	const struct hipec_queue *active = &vm->queue[ACTIVE];
	const struct hipec_queue *inactive = &vm->queue[INACTIVE];
	u32 target = (active->count + inactive->count) * 2 / 3;

	while (inactive->count < target) {
		u32 h = active->head;

		bench_set_ref(vm, h, false);
		hipec_queue_move(vm, INACTIVE, h, HIPEC_END_TAIL);
	}
}

static void fifo2_replace(struct hipec_vm *vm)
{
	for (;;) {
		u32 h;

		fifo2_balance(vm);
		h = vm->queue[INACTIVE].head;
		if (!h)
			return;
		if (bench_ref(vm, h)) {
			hipec_queue_move(vm, ACTIVE, h, HIPEC_END_TAIL);
			continue;
		}
		if (bench_mod(vm, h))
			bench_flush(vm, h);
		bench_evict(vm, h);
		break;
	}
	fifo2_balance(vm);
}

static const struct native_policy policies[] = {
	{ "empty", empty_page_fault, empty_replace },
	{ "fifo", queue_page_fault, fifo_replace },
	{ "fifo2", fifo2_page_fault, fifo2_replace },
	{ "mru", queue_page_fault, mru_replace },
};

static void *native_open(const struct bench_setup *setup)
{
	struct native *n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(policies); i++)
		if (!strcmp(policies[i].name, setup->policy))
			break;
	if (i == ARRAY_SIZE(policies))
		return NULL;
	n = bench_alloc(sizeof(*n));
	n->policy = &policies[i];
	bench_mix_load(&n->image, setup->hpo_dir, setup->policy);
	n->host = bench_host_open(&n->image, setup->frames);
	return n;
}

static void native_close(void *c)
{
	struct native *n = c;

	bench_host_close(n->host);
	bench_image_free(&n->image);
	free(n);
}

static bool native_touch(void *c, u32 pgno, bool write)
{
	struct native *n = c;

	return bench_host_touch(n->host, pgno, write);
}

static void native_bring(void *c, u32 pgno, bool write)
{
	struct native *n = c;

	bench_host_bring(n->host, pgno, write);
}

static void native_page_fault(void *c, const u32 *pgno, u32 n)
{
	const struct native *native = c;
	struct hipec_vm *vm = &native->host->vm;
	u32 i;

	for (i = 0; i < n; i++)
		native->policy->page_fault(vm,
					   (s64)pgno[i] << BENCH_PAGE_SHIFT);
}

static void native_replace(void *c, const u32 *pgno, u32 n)
{
	const struct native *native = c;
	struct hipec_vm *vm = &native->host->vm;

	(void)pgno;
	while (n--)
		native->policy->replace(vm);
}

static u32 native_take(void *c, u32 *pgno)
{
	struct native *n = c;

	return bench_host_take(n->host, pgno);
}

const struct contestant bench_native = {
	.name = "C",
	.open = native_open,
	.close = native_close,
	.touch = native_touch,
	.bring = native_bring,
	.page_fault = native_page_fault,
	.replace = native_replace,
	.take = native_take,
};
