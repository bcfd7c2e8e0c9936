// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a machine: how much it is and what lies where.
 *
 * An entry of the page table is struct hipec_page (20 bytes) and one hash bucket
 * (4); each page field adds 8 bytes to it, and a policy with an ordered queue
 * struct hipec_node (24).
 */
#include "bucket.h"
#include "decode.h"
#include "tracer.h"

static_assert(sizeof(struct hipec_page) == 20, "metadata is counted in docs/");
static_assert(sizeof(struct hipec_node) == 24, "metadata is counted in docs/");

/**
 * hipec_vm_nr_pages() - entries of a machine's page table
 * @p:         verified policy
 * @nr_frames: pages that may hold a frame at the same time
 *
 * Return: @nr_frames and the ghosts that the policy may have beside.
 */
u32 hipec_vm_nr_pages(const struct hipec_policy *p, u32 nr_frames)
{
	return nr_frames + (u64)nr_frames * p->image->ghosts / 100;
}

/**
 * hipec_vm_fits() - whether a machine may have so many frames
 * @p:         verified policy
 * @nr_frames: any number
 *
 * Return: false if there are more than HIPEC_MAX_FRAMES, or more than
 *         HIPEC_MAX_ENTRIES with the ghosts that the policy may have beside.
 */
bool hipec_vm_fits(const struct hipec_policy *p, u64 nr_frames)
{
	return nr_frames <= HIPEC_MAX_FRAMES &&
	       nr_frames + nr_frames * p->image->ghosts / 100 <=
	       HIPEC_MAX_ENTRIES;
}

/**
 * hipec_vm_fuel() - commands that one event may run
 * @nr_pages: entries of the machine's page table
 *
 * Return: enough to look at every page several times; HIPEC_MAX_FUEL at most.
 */
u32 hipec_vm_fuel(u32 nr_pages)
{
	u64 fuel = 4096 + 64ull * nr_pages;

	return fuel < HIPEC_MAX_FUEL ? fuel : HIPEC_MAX_FUEL;
}

/* The policy's, and one for the built-in replacement (fifo2.c). */
static u32 nr_queues(const struct hipec_policy *p)
{
	return p->nr_queues + 1;
}

/* Pieces of the memory, those of 8-byte words first. */
struct layout {
	size_t element, field, node, array, page, queue, bucket, code, end;
};

static struct layout layout_machine(const struct hipec_policy *p, size_t n)
{
	struct layout l;

	l.element = 0;
	l.field = l.element + p->nr_elements * sizeof(s64);
	l.node = l.field + (n + 1) * p->nr_fields * sizeof(s64);
	l.array = l.node + (p->ordered ? n + 1 : 0) * sizeof(struct hipec_node);
	l.page = l.array + p->nr_arrays * sizeof(struct hipec_array);
	l.queue = l.page + (n + 1) * sizeof(struct hipec_page);
	l.bucket = l.queue + nr_queues(p) * sizeof(struct hipec_queue);
	l.code = l.bucket + (n + 1) * sizeof(u32);
	l.end = l.code + p->image->nr_words * sizeof(struct hipec_insn);
	return l;
}

/**
 * hipec_vm_size() - memory that a machine needs beside struct hipec_vm
 * @p:         verified policy
 * @nr_frames: pages that may hold a frame at the same time; they fit
 *
 * Return: bytes.
 */
size_t hipec_vm_size(const struct hipec_policy *p, u32 nr_frames)
{
	return hipec_vm_table_size(p, hipec_vm_nr_pages(p, nr_frames));
}

/**
 * hipec_vm_table_size() - the same, of a machine whose table has more entries
 * @p:        verified policy
 * @nr_pages: entries, hipec_vm_nr_pages() or more
 *
 * Return: bytes.
 */
size_t hipec_vm_table_size(const struct hipec_policy *p, u32 nr_pages)
{
	return layout_machine(p, nr_pages).end;
}

static void init_queues(struct hipec_vm *vm, u32 q, u32 nr, u32 key_slot)
{
	while (nr--)
		vm->queue[q++].key = key_slot ? 1 + vm->slot[key_slot] : 0;
}

/* Give each operand its value; fields come first, since queues name them. */
static void init_slots(struct hipec_vm *vm, const struct hipec_policy *p,
		       s64 *element, s64 *shared)
{
	u32 nr = p->image->nr_operands, field = 0, array = 0, i;
	u32 q = HIPEC_QUEUE_POLICY;

	for (i = 0; i < nr; i++)
		if (p->operand[i].type == HIPEC_TYPE_FIELD)
			vm->slot[i] = field++;
	for (i = HIPEC_SLOT_FREE_COUNT; i < nr; i++) {
		const struct hipec_image_operand *o = &p->operand[i];
		struct hipec_array *a = &vm->array[array];

		switch (o->type) {
		case HIPEC_TYPE_INT:
			vm->slot[i] = o->value;
			break;
		case HIPEC_TYPE_QUEUE:
			init_queues(vm, q, 1, o->key);
			vm->slot[i] = q++;
			break;
		case HIPEC_TYPE_QUEUES:
			init_queues(vm, q, o->value, o->key);
			a->first = q;
			a->nr = o->value;
			q += a->nr;
			vm->slot[i] = array++;
			break;
		case HIPEC_TYPE_INTS:
			a->nr = o->value;
			vm->slot[i] = array++;
			if (o->flags & HIPEC_OPERAND_SHARED) {
				a->element = shared;
				if (shared)
					shared += hipec_shared_bytes(a->nr) /
						  sizeof(s64);
			} else {
				a->element = element;
				element += a->nr;
			}
			break;
		}
	}
	for (i = 0; i < nr; i++)
		if (p->operand[i].type == HIPEC_TYPE_QUEUE_REF)
			vm->slot[i] = vm->array[vm->slot[p->operand[i].value]].first;
}

/* As hipec_vm_init_table(), with memory for @nr_there entries. */
static void init_machine(struct hipec_vm *vm, const struct hipec_policy *p,
			 const struct hipec_host_ops *host, void *memory, void *shared,
			 u32 nr_frames, u32 nr_pages, u32 nr_there)
{
	struct layout l = layout_machine(p, nr_there);
	struct hipec_insn *code;
	u32 i;

	memset(vm, 0, sizeof(*vm));
	vm->policy = p;
	vm->host = host;
	vm->nr_pages = nr_pages;
	vm->nr_there = nr_there;
	vm->max_ghosts = hipec_vm_nr_pages(p, nr_frames) - nr_frames;
	vm->nr_queues = nr_queues(p);
	vm->nr_fields = p->nr_fields;
	vm->field = memory + l.field;
	vm->node = p->ordered ? memory + l.node : NULL;
	vm->array = memory + l.array;
	vm->page = memory + l.page;
	vm->queue = memory + l.queue;
	vm->bucket = memory + l.bucket;
	code = memory + l.code;
	vm->code = code;
	for (i = 0; i < p->image->nr_events; i++)
		hipec_decode(p->words + p->event[i].first, p->event[i].nr,
			     code + p->event[i].first);

	vm->fuel = hipec_vm_fuel(vm->nr_pages);
	vm->poll = HIPEC_POLL;
	vm->random = 1;
	vm->key = HIPEC_BUCKET_KEY;
	init_slots(vm, p, memory + l.element, shared);
	vm->slot[HIPEC_SLOT_PAGE_ENTRIES] = vm->nr_pages;
}

/**
 * hipec_vm_init() - make a machine, all its pages unused, its queues empty
 * @vm:        to fill
 * @p:         verified policy; must outlive @vm
 * @host:      owner of the frames
 * @memory:    hipec_vm_size() bytes of zeros, aligned for u64; the host frees it
 * @shared:    p->shared_size bytes for shared arrays, which are not cleared;
 *             the host frees it. NULL if that is 0, or the host sets where each
 *             of them is before it runs an event
 * @nr_frames: as given to hipec_vm_size()
 *
 * Integers get the values of the image; pages are none, elements and fields 0.
 * The seed of Random, the salt and the key are constants until the host sets them; the key, an
 * odd number, before a page is added.
 */
void hipec_vm_init(struct hipec_vm *vm, const struct hipec_policy *p,
		   const struct hipec_host_ops *host, void *memory,
		   void *shared, u32 nr_frames)
{
	hipec_vm_init_table(vm, p, host, memory, shared, nr_frames,
			    hipec_vm_nr_pages(p, nr_frames));
}

/**
 * hipec_vm_init_table() - the same, with more entries in the page table
 * @vm:        to fill
 * @p:         as of hipec_vm_init()
 * @host:      likewise
 * @memory:    hipec_vm_table_size() bytes of zeros, aligned for u64
 * @shared:    as of hipec_vm_init()
 * @nr_frames: pages that may hold a frame at the same time
 * @nr_pages:  entries, hipec_vm_nr_pages() or more
 *
 * Of a machine that takes the place of one with more entries (adopt.c). There are
 * no more ghosts for it.
 */
void hipec_vm_init_table(struct hipec_vm *vm, const struct hipec_policy *p,
			 const struct hipec_host_ops *host, void *memory,
			 void *shared, u32 nr_frames, u32 nr_pages)
{
	init_machine(vm, p, host, memory, shared, nr_frames, nr_pages, nr_pages);
}

/**
 * hipec_vm_init_apart() - the same, with a page table that is not in its memory
 * @vm:        to fill
 * @p:         as of hipec_vm_init()
 * @host:      likewise
 * @memory:    hipec_vm_table_size() of 0 entries, bytes of zeros, aligned for u64
 * @shared:    as of hipec_vm_init()
 * @nr_frames: pages that may hold a frame at the same time
 * @nr_pages:  entries, hipec_vm_nr_pages() or more
 *
 * There is memory for no entry yet. The host sets page, bucket, and where there are any
 * node and field, to zeros for entry 0 and as many others as it sets nr_there to; and may
 * do so again with what was there and more zeros behind.
 */
void hipec_vm_init_apart(struct hipec_vm *vm, const struct hipec_policy *p,
			 const struct hipec_host_ops *host, void *memory,
			 void *shared, u32 nr_frames, u32 nr_pages)
{
	init_machine(vm, p, host, memory, shared, nr_frames, nr_pages, 0);
}
/**
 * hipec_vm_set_param() - the application sets a parameter
 * @vm:    machine between two events
 * @slot:  any number
 * @value: what the policy reads from now on
 *
 * Context: any, serialised by the host.
 * Return: 0; -ENOENT if there is no such slot; -EPERM if it is no param; -EACCES if
 *         it is const, and so settable before the load only; -ERANGE.
 */
int hipec_vm_set_param(struct hipec_vm *vm, u32 slot, s64 value)
{
	const struct hipec_policy *p = vm->policy;
	const struct hipec_image_operand *o;

	if (slot >= p->image->nr_operands)
		return -ENOENT;
	o = &p->operand[slot];
	if (!(o->flags & HIPEC_OPERAND_PARAM))
		return -EPERM;
	if (o->flags & HIPEC_OPERAND_CONST)
		return -EACCES;
	if (hipec_operand_ranged(o) && (value < o->low || value > o->high))
		return -ERANGE;
	vm->slot[slot] = value;
	hipec_tracer_note(vm, HIPEC_RECORD_SET_PARAM, slot, hipec_entry_fold(value));
	return 0;
}
