// SPDX-License-Identifier: GPL-2.0-only
/*
 * The invariants of a machine. Written against queue.h's and vm.h's prose, not
 * against their code: nothing of it is called but hipec_page_find*().
 */
#include "invariants.h"

static const char *broken_queue(const struct hipec_vm *vm, u32 q)
{
	const struct hipec_queue *queue = &vm->queue[q];
	u32 h, prev = 0, n = 0;

	if (!queue->head != !queue->tail || !queue->head != !queue->count)
		return "head, tail and count of a queue disagree about empty";
	for (h = queue->head; h; prev = h, h = vm->page[h].next) {
		if (h > vm->nr_pages || n++ == queue->count)
			return "a queue is longer than its count";
		if (vm->page[h].queue != q ||
		    !(vm->page[h].flags & HIPEC_PAGE_NAMED))
			return "a queue links a page that is not on it";
		if (q < HIPEC_QUEUE_POLICY && !hipec_page_live(vm, h))
			return "a page that is not live is on the fallback queue";
		if (vm->page[h].prev != prev)
			return "a page's prev is not the page before it";
	}
	if (n != queue->count || prev != queue->tail)
		return "following next does not end at the tail";
	return NULL;
}

/* A node's place in its tree: the key's order, and where the list has it. */
static const char *broken_node(const struct hipec_vm *vm, u32 q, u32 h)
{
	const struct hipec_node *node = &vm->node[h];
	u32 next = vm->page[h].next, i;

	if (next && vm->node[next].key < node->key)
		return "an ordered queue is not in the order of its keys";
	if (node->parent ? vm->node[node->parent].child[0] != h &&
			   vm->node[node->parent].child[1] != h :
			   vm->queue[q].root != h)
		return "a node is not its parent's child";
	for (i = 0; i < 2; i++) {
		u32 child = node->child[i];

		if (child && vm->page[child].queue != q)
			return "a node's child is on another queue";
	}
	return NULL;
}

static const char *broken_order(const struct hipec_vm *vm, u32 q)
{
	u32 at = vm->queue[q].root, h = vm->queue[q].head, n = 0;
	const char *text;

	if (!at != !h)
		return "an ordered queue has no tree, or a tree no queue";
	for (; h; h = vm->page[h].next) {
		text = broken_node(vm, q, h);
		if (text)
			return text;
	}
	/* Walk the tree in its order: it has to be the list's. */
	h = vm->queue[q].head;
	while (at && vm->node[at].child[0] && n++ < vm->nr_pages)
		at = vm->node[at].child[0];
	for (n = 0; h && n++ <= vm->nr_pages; h = vm->page[h].next) {
		if (at != h)
			return "tree and list of an ordered queue disagree";
		if (vm->node[at].child[1]) {
			at = vm->node[at].child[1];
			while (vm->node[at].child[0])
				at = vm->node[at].child[0];
			continue;
		}
		while (vm->node[at].parent &&
		       vm->node[vm->node[at].parent].child[1] == at)
			at = vm->node[at].parent;
		at = vm->node[at].parent;
	}
	return at ? "the tree of an ordered queue is larger than its list" : NULL;
}

/* What its flags say of a page that is in use, against vm.h's drawing. */
static const char *broken_page(const struct hipec_vm *vm, u32 h)
{
	u16 flags = vm->page[h].flags, q = vm->page[h].queue;

	if (flags & HIPEC_PAGE_LIVE && !(flags & HIPEC_PAGE_FRAME))
		return "a live page has no frame";
	if (flags & HIPEC_PAGE_LIVE &&
	    flags & (HIPEC_PAGE_GHOST | HIPEC_PAGE_EVICTED))
		return "a live page is a ghost or gone";
	if (flags & HIPEC_PAGE_EVICTED)
		return "a page is gone between two events";
	if (flags & HIPEC_PAGE_NAMED ? q >= vm->nr_queues || !q : q)
		return "a page is on a queue that it cannot be on";
	if (flags & HIPEC_PAGE_GHOST && q < HIPEC_QUEUE_POLICY)
		return "a ghost is on no queue of the policy";
	if (hipec_page_find(vm, vm->page[h].pgno) !=
	    (flags & HIPEC_PAGE_FRAME ? h : 0) ||
	    hipec_page_find_named(vm, vm->page[h].pgno) !=
	    (flags & HIPEC_PAGE_NAMED ? h : 0))
		return "a page is not found by its number";
	return NULL;
}

static const char *broken_pages(const struct hipec_vm *vm)
{
	u32 h, prev = 0, live = 0, used = 0, unused = 0, ghosts = 0;
	const char *text;

	for (h = 1; h <= vm->nr_pages; h++) {
		u16 flags = vm->page[h].flags;

		if (!(flags & HIPEC_PAGE_USED))
			continue;
		used++;
		live += !!(flags & HIPEC_PAGE_LIVE);
		ghosts += !!(flags & HIPEC_PAGE_GHOST);
		text = broken_page(vm, h);
		if (text)
			return text;
	}
	for (h = vm->unused; h; prev = h, h = vm->page[h].next)
		if (h > vm->reached || unused++ == vm->reached || vm->page[h].prev != prev)
			return "the unused entries are linked wrong";
	if (vm->page[0].flags || vm->page[0].next || vm->page[0].prev)
		return "entry 0, which is no page, was written to";
	if (live != vm->nr_live || used + unused != vm->reached || unused != vm->nr_unused)
		return "live, used or unused entries were counted wrong";
	if (ghosts != vm->nr_ghosts || ghosts > vm->max_ghosts)
		return "ghosts were counted wrong, or there are too many";
	return NULL;
}

/* Whether a queue variable stands for a queue of some array. */
static bool is_of_array(const struct hipec_vm *vm, s64 q)
{
	const struct hipec_policy *p = vm->policy;
	const struct hipec_array *a;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++) {
		if (p->operand[i].type != HIPEC_TYPE_QUEUES)
			continue;
		a = &vm->array[vm->slot[i]];
		if (q >= a->first && q < a->first + a->nr)
			return true;
	}
	return false;
}

static const char *broken_slots(const struct hipec_vm *vm)
{
	const struct hipec_image_operand *o = vm->policy->operand;
	u32 i, q = HIPEC_QUEUE_POLICY;

	for (i = 0; i < vm->policy->image->nr_operands; i++, o++) {
		if (o->type == HIPEC_TYPE_PAGE &&
		    (vm->slot[i] < 0 || vm->slot[i] > vm->reached))
			return "a page slot holds no handle";
		if (o->type == HIPEC_TYPE_QUEUE &&
		    vm->slot[i] != (i ? q++ : HIPEC_QUEUE_FREE))
			return "a queue slot was written to";
		if (o->type == HIPEC_TYPE_QUEUES)
			q += o->value;
		if (o->type == HIPEC_TYPE_QUEUE_REF &&
		    !is_of_array(vm, vm->slot[i]))
			return "a queue variable stands for no queue of an array";
		if (o->flags & HIPEC_OPERAND_CONST && i >= HIPEC_SLOT_POLICY &&
		    vm->slot[i] != o->value)
			return "a constant was written to";
	}
	return NULL;
}

/**
 * hipec_vm_broken() - check a machine
 * @vm: machine, between two events
 *
 * A queue's links are followed at most count times, so a broken queue cannot
 * make it loop; a hash chain that is a cycle would.
 *
 * Context: any, serialised by the host. Time is that of one hash look-up a page.
 * Return: the first invariant that does not hold, in words; NULL if all do.
 */
const char *hipec_vm_broken(const struct hipec_vm *vm)
{
	const char *text;
	u32 q, on_queues = 0;

	if (vm->queue[HIPEC_QUEUE_EVICTED].count)
		return "the gone queue is not empty between two events";

	if (vm->queue[HIPEC_QUEUE_FREE].head || vm->queue[HIPEC_QUEUE_FREE].tail)
		return "_free_queue links a page";
	for (q = HIPEC_QUEUE_FALLBACK; q < vm->nr_queues; q++) {
		text = broken_queue(vm, q);
		if (!text && vm->queue[q].key)
			text = broken_order(vm, q);
		if (text)
			return text;
		on_queues += vm->queue[q].count;
	}
	if (on_queues != vm->nr_live + vm->nr_ghosts)
		return "a live page or a ghost is on no queue";
	text = broken_pages(vm);
	return text ? text : broken_slots(vm);
}
