// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page table that uses fewer entries: pages move from its end to entries that are unused,
 * and the end is as if it had never been used. So the host can have its memory back.
 *
 * No decision depends on which entry a page has; but no host may have the number of an entry
 * that moves, and no record be made, as it would not know.
 *
 * Interface:
 * hipec_compact_move()      a page gets another entry
 * hipec_compact_drop_last() the last entry is one that was never used
 */
#include "bucket.h"
#include "queue.h"

/* The policy's variables that are page @from are @to. */
static void rename_slots(struct hipec_vm *vm, u32 from, u32 to)
{
	const struct hipec_policy *p = vm->policy;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_PAGE && vm->slot[i] == from)
			vm->slot[i] = to;
	if (vm->found == from)
		vm->found = to;
}

/* The queue of page @to, and the pages beside it there, know it by the number @from. */
static void rename_on_queue(struct hipec_vm *vm, u32 from, u32 to)
{
	const struct hipec_page *page = &vm->page[to];
	struct hipec_queue *queue = &vm->queue[page->queue];
	struct hipec_node *node;
	u32 i;

	if (page->prev)
		vm->page[page->prev].next = to;
	else
		queue->head = to;
	if (page->next)
		vm->page[page->next].prev = to;
	else
		queue->tail = to;
	if (!queue->key)
		return;
	node = &vm->node[to];
	*node = vm->node[from];
	if (!node->parent)
		queue->root = to;
	else
		vm->node[node->parent].child[vm->node[node->parent].child[1] == from] = to;
	for (i = 0; i < 2; i++)
		if (node->child[i])
			vm->node[node->child[i]].parent = to;
}

/**
 * hipec_compact_move() - a page gets another entry
 * @vm:   machine between two events, without a tracer
 * @from: its entry, whose number no host has but for @vm
 * @to:   unused entry that was used before
 *
 * All that the policy knows of the page stays as it is. @from is unused.
 *
 * Context: any, serialised by the host.
 */
void hipec_compact_move(struct hipec_vm *vm, u32 from, u32 to)
{
	u32 *link = hipec_bucket_of(vm, vm->page[from].pgno);

	hipec_page_unlink_unused(vm, to);
	while (*link != from)
		link = &vm->page[*link].chain;
	*link = to;
	vm->page[to] = vm->page[from];
	if (vm->nr_fields)
		memcpy(&vm->field[(size_t)to * vm->nr_fields],
		       &vm->field[(size_t)from * vm->nr_fields],
		       vm->nr_fields * sizeof(s64));
	if (vm->page[to].queue != HIPEC_QUEUE_FREE)
		rename_on_queue(vm, from, to);
	rename_slots(vm, from, to);
	vm->page[from].flags = 0;
	hipec_page_link_unused(vm, from);
}

/**
 * hipec_compact_drop_last() - the last entry that was ever used is one that never was
 * @vm: as of hipec_compact_move(); its last entry, vm->reached, is unused
 *
 * The pages of its bucket go to the one that gave them up (hipec_page_reach()).
 *
 * Context: any, serialised by the host.
 */
void hipec_compact_drop_last(struct hipec_vm *vm)
{
	u32 h = vm->reached, *link = &vm->bucket[h & vm->mask >> 1];

	hipec_page_unlink_unused(vm, h);
	rename_slots(vm, h, 0);
	while (*link)
		link = &vm->page[*link].chain;
	*link = vm->bucket[h];
	vm->bucket[h] = 0;
	vm->page[h] = (struct hipec_page){ 0 };
	vm->reached = h - 1;
	if (vm->reached <= vm->mask >> 1)
		vm->mask >>= 1;
}
