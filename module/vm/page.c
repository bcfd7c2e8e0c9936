// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page table of a container: handles, the hash from page number to handle,
 * and the memory layout of a machine. The host decides when pages come and go.
 *
 * Per page: struct hipec_page (20 bytes) and one hash bucket (4 bytes).
 */
#include "queue.h"

/* Buckets for @nr_pages: the power of two that is at least as large. */
static u32 nr_buckets(u32 nr_pages)
{
	u32 n = 1;

	while (n < nr_pages)
		n <<= 1;
	return n;
}

static u32 *bucket_of(const struct hipec_vm *vm, u32 pgno)
{
	/* Knuth's multiplicative hash, folded so that low bits see high ones. */
	u32 hash = pgno * 2654435761u;

	return &vm->bucket[(hash ^ hash >> 16) & vm->bucket_mask];
}

static u32 nr_queues(const struct hipec_policy *p)
{
	u32 n = HIPEC_QUEUE_POLICY, i;

	for (i = HIPEC_SLOT_POLICY; i < p->image->nr_operands; i++)
		n += p->operand[i].type == HIPEC_TYPE_QUEUE;
	return n;
}

/**
 * hipec_vm_size() - memory that a machine needs beside struct hipec_vm
 * @p:        verified policy
 * @nr_pages: pages that may exist at the same time, below 2^31
 *
 * Context: any.
 * Return: bytes.
 */
size_t hipec_vm_size(const struct hipec_policy *p, u32 nr_pages)
{
	return (nr_pages + 1ul) * sizeof(struct hipec_page) +
	       nr_queues(p) * sizeof(struct hipec_queue) +
	       nr_buckets(nr_pages) * sizeof(u32);
}

/**
 * hipec_vm_init() - make a machine, all its pages unused, its queues empty
 * @vm:       to fill
 * @p:        verified policy; must outlive @vm
 * @host:     owner of the frames
 * @memory:   hipec_vm_size() bytes, aligned for u32; the host frees it
 * @nr_pages: as given to hipec_vm_size()
 *
 * Integers get the values of the image; pages are none.
 *
 * Context: any.
 */
void hipec_vm_init(struct hipec_vm *vm, const struct hipec_policy *p,
		   const struct hipec_host_ops *host, void *memory,
		   u32 nr_pages)
{
	u32 i, q = HIPEC_QUEUE_POLICY;

	memset(vm, 0, sizeof(*vm));
	memset(memory, 0, hipec_vm_size(p, nr_pages));
	vm->policy = p;
	vm->host = host;
	vm->nr_pages = nr_pages;
	vm->nr_queues = nr_queues(p);
	vm->page = memory;
	vm->queue = (void *)(vm->page + nr_pages + 1);
	vm->bucket = (void *)(vm->queue + vm->nr_queues);
	vm->bucket_mask = nr_buckets(nr_pages) - 1;
	for (i = 1; i < nr_pages; i++)
		vm->page[i].next = i + 1;
	vm->unused = nr_pages ? 1 : 0;

	/* Enough to look at every page several times, and never endless. */
	vm->fuel = 4096 + 64ull * nr_pages;

	for (i = 0; i < p->image->nr_operands; i++) {
		if (p->operand[i].type == HIPEC_TYPE_INT)
			vm->slot[i] = p->operand[i].value;
		else if (p->operand[i].type == HIPEC_TYPE_QUEUE && i)
			vm->slot[i] = q++;
	}
}

/**
 * hipec_page_find() - handle of a page
 * @vm:   machine
 * @pgno: page number
 *
 * Context: any, serialised by the host.
 * Return: the handle, live or not; 0 if there is none.
 */
u32 hipec_page_find(const struct hipec_vm *vm, u32 pgno)
{
	u32 h;

	for (h = *bucket_of(vm, pgno); h; h = vm->page[h].chain)
		if (vm->page[h].pgno == pgno)
			return h;
	return 0;
}

/**
 * hipec_page_add() - take an entry for a page that is not in the table
 * @vm:   machine
 * @pgno: page number
 *
 * The page is not live yet: hipec_page_show() makes it so.
 *
 * Context: any, serialised by the host.
 * Return: the handle; 0 if all entries are in use.
 */
u32 hipec_page_add(struct hipec_vm *vm, u32 pgno)
{
	u32 h = vm->unused, *bucket = bucket_of(vm, pgno);

	if (!h)
		return 0;
	vm->unused = vm->page[h].next;
	vm->page[h] = (struct hipec_page){
		.chain = *bucket, .pgno = pgno, .flags = HIPEC_PAGE_USED,
	};
	*bucket = h;
	return h;
}

/**
 * hipec_page_show() - let the policy see a page, on the fallback queue
 * @vm: machine
 * @h:  page that is not live
 *
 * Context: any, serialised by the host.
 */
void hipec_page_show(struct hipec_vm *vm, u32 h)
{
	vm->page[h].flags |= HIPEC_PAGE_LIVE;
	hipec_queue_add(vm, HIPEC_QUEUE_FALLBACK, h, HIPEC_END_TAIL);
	vm->nr_live++;
}

/**
 * hipec_page_hide() - take a live page away from the policy, keep its entry
 * @vm: machine
 * @h:  live page
 *
 * Context: any, serialised by the host.
 */
void hipec_page_hide(struct hipec_vm *vm, u32 h)
{
	hipec_queue_del(vm, h);
	vm->page[h].flags &= ~HIPEC_PAGE_LIVE;
	vm->nr_live--;
}

/**
 * hipec_page_del() - forget a page
 * @vm: machine
 * @h:  page, live or not
 *
 * Context: any, serialised by the host.
 */
void hipec_page_del(struct hipec_vm *vm, u32 h)
{
	u32 *link = bucket_of(vm, vm->page[h].pgno);

	if (hipec_page_live(vm, h))
		hipec_page_hide(vm, h);
	while (*link != h)
		link = &vm->page[*link].chain;
	*link = vm->page[h].chain;
	vm->page[h].flags = 0;
	vm->page[h].next = vm->unused;
	vm->unused = h;
}

/**
 * hipec_vm_abandon() - move all live pages to the fallback queue
 * @vm: machine whose policy has ended
 *
 * Queue by queue in slot order, each from its head, so that the built-in
 * replacement that takes over starts with what the policy queued first.
 *
 * Context: any, serialised by the host.
 */
void hipec_vm_abandon(struct hipec_vm *vm)
{
	u32 q;

	for (q = HIPEC_QUEUE_POLICY; q < vm->nr_queues; q++)
		while (vm->queue[q].head)
			hipec_queue_move(vm, HIPEC_QUEUE_FALLBACK,
					 vm->queue[q].head, HIPEC_END_TAIL);
}
