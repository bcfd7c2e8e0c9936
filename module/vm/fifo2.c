// SPDX-License-Identifier: GPL-2.0-only
/*
 * The built-in replacement. fifo2.h says what it is.
 *
 * Source: hipec-1997, Figure 3, as policies/fifo2.hp has it.
 */
#include "queue.h"
#include "fifo2.h"
#include "tracer.h"

#define ACTIVE HIPEC_QUEUE_FALLBACK

static u32 inactive_queue(const struct hipec_vm *vm)
{
	return vm->nr_queues - 1;
}

/**
 * hipec_fifo2_policy() - the policy of a container that has none
 * @p: to fill; points to constants
 *
 * It declares no more than its inactive queue: what no image may, since no event
 * of it is ever run.
 */
void hipec_fifo2_policy(struct hipec_policy *p)
{
	static const char strings[] = "\0_free_queue\0_free_count\0inactive_queue";
	static const struct hipec_image_operand operand[] = {
		{ .type = HIPEC_TYPE_QUEUE, .name = 1 },
		{ .type = HIPEC_TYPE_INT, .name = 13 },
		{ .type = HIPEC_TYPE_QUEUE, .name = 25 },
	};
	static const struct hipec_image image = {
		.magic = HIPEC_IMAGE_MAGIC,
		.version = HIPEC_IMAGE_VERSION,
		.header_size = sizeof(image),
		.nr_operands = ARRAY_SIZE(operand),
		.strings_size = sizeof(strings),
		.name = HIPEC_FIFO2_NAME,
	};

	memset(p, 0, sizeof(*p));
	p->image = &image;
	p->operand = operand;
	p->strings = strings;
	/* So the queue that it declares is the machine's last one. */
	p->nr_queues = HIPEC_QUEUE_POLICY;
}

/* Two thirds of the pages wait on the inactive queue, with the bit reset. */
static void refill_inactive_queue(struct hipec_vm *vm)
{
	u32 q = inactive_queue(vm);
	u64 both = (u64)vm->queue[ACTIVE].count + vm->queue[q].count;
	u32 target = both * 2 / 3;
	u32 h;

	while (vm->queue[q].count < target && (h = vm->queue[ACTIVE].head)) {
		vm->host->set_ref(vm, h, false);
		hipec_queue_move(vm, q, h, HIPEC_END_TAIL);
	}
}

/* Take the frame of @h, told to the tracer. */
static bool try_take(struct hipec_vm *vm, hipec_fifo2_take_fn *take, u32 h)
{
	bool gone;

	hipec_tracer_note(vm, HIPEC_RECORD_TAKE, h, 0);
	gone = take(vm, h);
	hipec_tracer_note(vm, HIPEC_RECORD_ANSWER, gone, 0);
	return gone;
}

/**
 * hipec_fifo2_replace() - have one page given up
 * @vm:   machine where hipec_fifo2_rules()
 * @take: takes a live page's frame
 * @pgno: gets the page that went
 *
 * Where the policy would end, or give nothing, this goes on: a single page is
 * active and goes all the same; one that cannot go is passed over like one that
 * was referenced; and where threads touch pages as fast as they are looked at,
 * after one round the next one goes whether referenced or not.
 *
 * Context: any, serialised by the host; calls @take and the host's ref() and
 * set_ref().
 * Return: false if no page can go.
 */
bool hipec_fifo2_replace(struct hipec_vm *vm, hipec_fifo2_take_fn *take,
			 u32 *pgno)
{
	u64 looks = 2ull * vm->nr_live, last = vm->nr_live;
	u32 h;

	hipec_tracer_note(vm, HIPEC_RECORD_FIFO2, 0, 0);
	for (; looks; looks--) {
		refill_inactive_queue(vm);
		h = vm->queue[inactive_queue(vm)].head;
		if (!h)
			h = vm->queue[ACTIVE].head;
		if (!h)
			return false;
		*pgno = vm->page[h].pgno;
		if ((looks <= last || !vm->host->ref(vm, h)) &&
		    try_take(vm, take, h)) {
			refill_inactive_queue(vm);
			return true;
		}
		hipec_queue_move(vm, ACTIVE, h, HIPEC_END_TAIL);
	}
	return false;
}
