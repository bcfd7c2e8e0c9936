// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine that a record begins with, made anew. What its tables say is looked at
 * before it is believed: each page is on the one queue that it can be on.
 */
#include <stdlib.h>

#include "../../module/vm/bucket.h"
#include "../../module/vm/fifo2.h"
#include "../../module/vm/queue.h"
#include "record.h"

/* Tables of the record, one behind the other. */
struct tables {
	const struct hipec_record_head *head;
	struct hipec_page *page;	/* a copy, for its alignment */
	const u8 *slot, *queue, *element, *field, *key;
};

static struct hipec_queue queue_of(const struct tables *t, u32 q)
{
	struct hipec_queue queue;

	memcpy(&queue, t->queue + q * sizeof(queue), sizeof(queue));
	return queue;
}

static s64 word_of(const u8 *table, size_t i)
{
	s64 word;

	memcpy(&word, table + i * sizeof(word), sizeof(word));
	return word;
}

/* Entries in use, with their numbers, on no queue yet; and the unused ones. */
static const char *restore_entries(struct hipec_vm *vm, const struct tables *t)
{
	u32 h, last = 0, used = 0, *bucket;

	hipec_page_reach(vm, vm->nr_pages);
	for (h = 1; h <= vm->nr_pages; h++) {
		u16 flags = t->page[h].flags & ~HIPEC_PAGE_HOST;

		vm->page[h] = (struct hipec_page){
			.pgno = t->page[h].pgno, .flags = flags };
		if (!flags)
			continue;
		if (flags & ~HIPEC_PAGE_USED ||
		    (flags & HIPEC_PAGE_LIVE && flags != (HIPEC_PAGE_LIVE |
							  HIPEC_PAGE_FRAME)) ||
		    (flags & HIPEC_PAGE_GHOST && flags & HIPEC_PAGE_EVICTED))
			return "a page of the table has a state that does not exist";
		bucket = hipec_bucket_of(vm, vm->page[h].pgno);
		vm->page[h].chain = *bucket;
		*bucket = h;
		used++;
		vm->nr_live += !!(flags & HIPEC_PAGE_LIVE);
		vm->nr_ghosts += !!(flags & HIPEC_PAGE_GHOST);
	}
	vm->unused = t->head->unused;
	for (h = vm->unused; h; last = h, h = t->page[h].next) {
		if (h > vm->nr_pages || vm->page[h].flags || vm->nr_unused++ == vm->nr_pages)
			return "its unused entries are linked wrong";
		vm->page[h].next = t->page[h].next;
		vm->page[h].prev = last;
	}
	if (used + vm->nr_unused != vm->nr_pages || vm->nr_ghosts > vm->max_ghosts)
		return "its entries do not add up";
	return NULL;
}

/* Pages on the queue, in their order; what is on it is on no other one. */
static const char *restore_queue(struct hipec_vm *vm, const struct tables *t, u32 q)
{
	struct hipec_queue queue = queue_of(t, q);
	u16 want = q == HIPEC_QUEUE_EVICTED ? HIPEC_PAGE_EVICTED :
		   q == HIPEC_QUEUE_FALLBACK ? HIPEC_PAGE_LIVE :
		   HIPEC_PAGE_LIVE | HIPEC_PAGE_GHOST;
	s64 key = INT64_MIN;
	u32 h, n = 0;

	for (h = queue.head; h; h = t->page[h].next, n++) {
		if (h > vm->nr_pages || n == vm->nr_pages ||
		    vm->page[h].queue || !(vm->page[h].flags & want))
			return "a queue links a page that cannot be on it";
		if (vm->queue[q].key) {
			if (word_of(t->key, h) < key)
				return "an ordered queue is not in its order";
			key = word_of(t->key, h);
			vm->field[(size_t)h * vm->nr_fields +
				  vm->queue[q].key - 1] = key;
		}
		hipec_queue_add(vm, q, h, HIPEC_END_TAIL);
	}
	return n == queue.count ? NULL : "a queue has another number of pages";
}

static const char *restore_pages(struct hipec_vm *vm, const struct tables *t)
{
	const char *why = restore_entries(vm, t);
	u32 q, h, nr = 0, named = 0;
	size_t i;

	for (q = HIPEC_QUEUE_FALLBACK; !why && q < vm->nr_queues; q++) {
		why = restore_queue(vm, t, q);
		nr += vm->queue[q].count;
	}
	if (why)
		return why;
	for (h = 1; h <= vm->nr_pages; h++)
		named += !!(vm->page[h].flags & HIPEC_PAGE_NAMED);
	if (nr != named)
		return "a page is on no queue";
	vm->queue[HIPEC_QUEUE_FREE].count = queue_of(t, HIPEC_QUEUE_FREE).count;
	for (i = 0; i < (vm->nr_pages + (size_t)1) * vm->nr_fields; i++)
		vm->field[i] = word_of(t->field, i);
	return NULL;
}

static bool is_queue_of_array(const struct hipec_vm *vm, s64 q)
{
	const struct hipec_policy *p = vm->policy;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_QUEUES &&
		    q >= vm->array[vm->slot[i]].first &&
		    q - vm->array[vm->slot[i]].first <
		    vm->array[vm->slot[i]].nr)
			return true;
	return false;
}

static const char *restore_slots(struct hipec_vm *vm, const struct tables *t)
{
	const struct hipec_policy *policy = vm->policy;
	size_t element = 0;
	u32 i, n;

	for (i = 0; i < policy->image->nr_operands; i++) {
		const struct hipec_image_operand *o = &policy->operand[i];
		s64 value = word_of(t->slot, i);
		bool ok = value == vm->slot[i];

		if (o->type == HIPEC_TYPE_INT)
			ok = true;
		else if (o->type == HIPEC_TYPE_PAGE)
			ok = value >= 0 && value <= vm->nr_pages;
		else if (o->type == HIPEC_TYPE_QUEUE_REF)
			ok = is_queue_of_array(vm, value);
		if (!ok)
			return "an operand has a value that it cannot have";
		vm->slot[i] = value;
		if (o->type != HIPEC_TYPE_INTS ||
		    o->flags & HIPEC_OPERAND_SHARED)
			continue;
		for (n = 0; n < vm->array[vm->slot[i]].nr; n++)
			vm->array[vm->slot[i]].element[n] =
				word_of(t->element, element++);
	}
	for (i = HIPEC_SLOT_SYSTEM; i < HIPEC_NR_SLOTS; i++)
		vm->slot[i] = word_of(t->slot, i);
	vm->random = t->head->random;
	vm->fuel = t->head->fuel;
	vm->exit.kind = t->head->exit_kind;
	return vm->fuel > 1ull << 40 ? "its fuel is too much" : NULL;
}

/**
 * record_restore() - the machine as it was when recording began
 * @vm:     new, of the record's policy
 * @head:   of the record
 * @tables: behind its image, all of them
 *
 * Return: NULL, or what cannot be, in words.
 */
const char *record_restore(struct hipec_vm *vm, const struct hipec_record_head *head,
			   const u8 *tables)
{
	size_t n = head->nr_pages + (size_t)1;
	struct tables t = { .head = head, .slot = tables };
	const char *why;

	tables += HIPEC_NR_SLOTS * sizeof(s64);
	t.queue = tables + n * sizeof(*t.page);
	t.element = t.queue + head->nr_queues * sizeof(struct hipec_queue);
	t.field = t.element + head->nr_elements * sizeof(s64);
	t.key = t.field + n * head->nr_fields * sizeof(s64);
	t.page = malloc(n * sizeof(*t.page));
	if (!t.page)
		return "there is not enough memory";
	memcpy(t.page, tables, n * sizeof(*t.page));
	why = restore_pages(vm, &t);
	if (!why)
		why = restore_slots(vm, &t);
	free(t.page);
	return why;
}

/**
 * record_policy() - the policy of a record
 * @policy: filled; points into @image
 * @head:   of the record
 * @image:  that comes behind it, aligned for u64
 *
 * Return: NULL, or what cannot be, in words.
 */
const char *record_policy(struct hipec_policy *policy,
			  const struct hipec_record_head *head, const void *image)
{
	struct hipec_verify_error error;

	if (!head->image_size)
		hipec_fifo2_policy(policy);
	else if (hipec_image_parse(image, head->image_size, policy, &error) ||
		 hipec_verify(policy, &error))
		return "the module would refuse its policy";
	/* After a swap it may have more: docs/user/swap.md. */
	if (hipec_vm_nr_pages(policy, head->nr_frames) > head->nr_pages ||
	    policy->nr_queues + 1 != head->nr_queues ||
	    policy->nr_elements != head->nr_elements ||
	    policy->nr_fields != head->nr_fields ||
	    policy->ordered != head->ordered)
		return "its tables are not its policy's";
	return NULL;
}
