// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places in ordered queues: a treap beside the queue's list, so that putting a
 * page there and taking any page off costs O(log n), and the ends nothing.
 *
 * The tree's order is the list's: by key, and among equal keys in the order in
 * which EnQueue's HEAD and TAIL put them. Its shape follows from a hash of each
 * page's handle. The hash is salted by the host, so a policy cannot choose
 * handles that make a long path; no decision depends on the shape.
 *
 * Source: Seidel and Aragon, Randomized search trees, 1996.
 */
#include "queue.h"

static u32 weight_of_node(const struct hipec_vm *vm, u32 h)
{
	u32 x = (h ^ vm->salt) * 2654435761u;

	x = (x ^ x >> 15) * 2246822519u;
	return x ^ x >> 13;
}

/* Which child of its parent @h is; the root is the parent's in name only. */
static int side_of(const struct hipec_vm *vm, u32 h)
{
	return vm->node[vm->node[h].parent].child[1] == h;
}

/* Let @child take the place of @h below @h's parent, or as the root. */
static void replace_child(struct hipec_vm *vm, struct hipec_queue *queue,
			  u32 h, u32 child)
{
	u32 parent = vm->node[h].parent;

	if (parent)
		vm->node[parent].child[side_of(vm, h)] = child;
	else
		queue->root = child;
	if (child)
		vm->node[child].parent = parent;
}

/* Rotate @h above its parent. */
static void rotate_up(struct hipec_vm *vm, struct hipec_queue *queue, u32 h)
{
	u32 parent = vm->node[h].parent;
	int side = side_of(vm, h);
	u32 inner = vm->node[h].child[!side];

	replace_child(vm, queue, parent, h);
	vm->node[h].child[!side] = parent;
	vm->node[parent].parent = h;
	vm->node[parent].child[side] = inner;
	if (inner)
		vm->node[inner].parent = parent;
}

/**
 * hipec_order_add() - find the place of a page, by its field's value now
 * @vm:  machine
 * @q:   ordered queue
 * @h:   page, on no queue
 * @end: where it goes among pages of the same key
 *
 * Context: any, serialised by the host.
 * Return: the page that it comes behind; 0 if it is the first.
 */
u32 hipec_order_add(struct hipec_vm *vm, u32 q, u32 h, enum hipec_end end)
{
	struct hipec_queue *queue = &vm->queue[q];
	s64 key = vm->field[(size_t)h * vm->nr_fields + queue->key - 1];
	u32 at = queue->root, parent = 0, prev = 0;
	int side = 0;

	while (at) {
		s64 other = vm->node[at].key;

		parent = at;
		side = end == HIPEC_END_TAIL ? other <= key : other < key;
		if (side)
			prev = at;
		at = vm->node[at].child[side];
	}
	vm->node[h] = (struct hipec_node){ .key = key, .parent = parent };
	if (parent)
		vm->node[parent].child[side] = h;
	else
		queue->root = h;
	while (vm->node[h].parent &&
	       weight_of_node(vm, vm->node[h].parent) < weight_of_node(vm, h))
		rotate_up(vm, queue, h);
	return prev;
}

/**
 * hipec_order_del() - take a page out of its queue's tree
 * @vm: machine
 * @h:  page on an ordered queue
 *
 * Context: any, serialised by the host.
 */
void hipec_order_del(struct hipec_vm *vm, u32 h)
{
	struct hipec_queue *queue = &vm->queue[vm->page[h].queue];
	const struct hipec_node *node = &vm->node[h];

	while (node->child[0] && node->child[1]) {
		bool right = weight_of_node(vm, node->child[1]) >
			     weight_of_node(vm, node->child[0]);

		rotate_up(vm, queue, node->child[right]);
	}
	replace_child(vm, queue, h, node->child[0] | node->child[1]);
}

/**
 * hipec_order_move() - move a page from or to an ordered queue
 * @vm:  machine
 * @q:   queue to move it to
 * @h:   page on a queue
 * @end: where it goes among pages of the same key, or to an end if @q has no order
 *
 * Context: any, serialised by the host.
 */
void hipec_order_move(struct hipec_vm *vm, u32 q, u32 h, enum hipec_end end)
{
	hipec_queue_del(vm, h);
	hipec_queue_add(vm, q, h, end);
}
