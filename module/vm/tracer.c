// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracer on a machine. tracer.h says what it is for.
 *
 * The host's operations are wrapped, so a machine without a tracer runs as if there
 * were none. Decisions that only the host's own table could change (an operation
 * that is NULL) stay what they are.
 */
#include "queue.h"
#include "tracer.h"

/* Begin an entry. */
void hipec_tracer_entry_begin(struct hipec_entry *e, u8 code)
{
	e->byte[0] = code;
	e->nr = 1;
}

/* Add a number to it. */
void hipec_tracer_entry_number(struct hipec_entry *e, u64 n)
{
	for (; n >= 0x80; n >>= 7)
		e->byte[e->nr++] = n | 0x80;
	e->byte[e->nr++] = n;
}

/* Numbers of an entry; RUN and REGION have more. ~0: there is no such code. */
u32 hipec_tracer_entry_numbers(u8 code)
{
	switch (code) {
#define X(name, number, nr, ...) case HIPEC_RECORD_##name: return nr;
	HIPEC_RECORD_ENTRIES(X)
#undef X
	}
	return ~0u;
}

static void put_traced_entry(struct hipec_vm *vm, const struct hipec_entry *e)
{
	vm->tracer->put(vm->tracer, e->byte, e->nr);
}

/* Tell an entry of up to two numbers. Context: the machine has a tracer. */
void hipec_tracer_put(struct hipec_vm *vm, u8 code, u64 a, u64 b)
{
	u32 nr = hipec_tracer_entry_numbers(code);
	struct hipec_entry e;

	hipec_tracer_entry_begin(&e, code);
	if (nr)
		hipec_tracer_entry_number(&e, a);
	if (nr > 1)
		hipec_tracer_entry_number(&e, b);
	put_traced_entry(vm, &e);
}

static bool trace_evict(struct hipec_vm *vm, u32 h, bool keep)
{
	bool gone;

	hipec_tracer_put(vm, HIPEC_RECORD_GIVE_UP, h, keep);
	gone = vm->tracer->host->evict(vm, h, keep);
	hipec_tracer_put(vm, HIPEC_RECORD_ANSWER, gone, 0);
	return gone;
}

static u64 trace_request(struct hipec_vm *vm, u64 nr)
{
	u64 got;

	hipec_tracer_put(vm, HIPEC_RECORD_REQUEST, nr, 0);
	got = vm->tracer->host->request(vm, nr);
	hipec_tracer_put(vm, HIPEC_RECORD_ANSWER, got, 0);
	return got;
}

static u32 trace_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	u32 got;

	hipec_tracer_put(vm, HIPEC_RECORD_PREFETCH, pgno, nr);
	got = vm->tracer->host->prefetch(vm, pgno, nr);
	hipec_tracer_put(vm, HIPEC_RECORD_ANSWER, got, 0);
	return got;
}

#define ASK(name, code)                                                 \
static bool trace_##name(struct hipec_vm *vm, u32 h)                      \
{                                                                       \
	bool yes = vm->tracer->host->name(vm, h);                          \
									\
	hipec_tracer_put(vm, HIPEC_RECORD_##code, h, yes);                 \
	return yes;                                                     \
}
ASK(flush, FLUSH)
ASK(ref, REF)
ASK(mod, MOD)
ASK(set_mod, SET_MOD)
ASK(map, MAP)
ASK(unmap, UNMAP)
#undef ASK

static void trace_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	vm->tracer->host->set_ref(vm, h, on);
	hipec_tracer_put(vm, HIPEC_RECORD_SET_REF, h, on);
}

static bool trace_overtime(struct hipec_vm *vm)
{
	bool late = vm->tracer->host->overtime(vm);

	hipec_tracer_put(vm, HIPEC_RECORD_OVERTIME, late, 0);
	return late;
}

#define TAPPED                                                          \
	.evict = trace_evict, .flush = trace_flush, .ref = trace_ref,     \
	.mod = trace_mod, .set_ref = trace_set_ref, .set_mod = trace_set_mod, \
	.map = trace_map, .unmap = trace_unmap, .request = trace_request,     \
	.prefetch = trace_prefetch

static const struct hipec_host_ops traced = {
	TAPPED,
	.overtime = trace_overtime,
};

/* Of hosts that do not look at the time: the loop asks whether they do. */
static const struct hipec_host_ops traced_untimed = {
	TAPPED,
};

/* What the host sets before an event. */
static s64 input_of_event(const struct hipec_vm *vm, u32 i)
{
	static_assert(HIPEC_SLOT_SYSTEM + HIPEC_RECORD_INPUTS - 2 ==
		      HIPEC_NR_SLOTS);
	if (i == 1)
		return vm->queue[HIPEC_QUEUE_FREE].count;
	return vm->slot[i ? HIPEC_SLOT_SYSTEM + i - 2 : HIPEC_SLOT_FREE_COUNT];
}

/**
 * hipec_tracer_set_input() - set what the host sets before an event
 * @vm:    machine
 * @i:     which, below HIPEC_RECORD_INPUTS
 * @value: its value
 *
 * Context: any, serialised by the host.
 */
void hipec_tracer_set_input(struct hipec_vm *vm, u32 i, s64 value)
{
	if (i == 1)
		vm->queue[HIPEC_QUEUE_FREE].count = value;
	else
		vm->slot[i ? HIPEC_SLOT_SYSTEM + i - 2 :
			     HIPEC_SLOT_FREE_COUNT] = value;
}

/**
 * hipec_tracer_open() - a machine tells from now on
 * @vm:  machine between two events, without a tracer
 * @tracer: with put and fill set; must outlive the tapping
 *
 * Context: any, serialised by the host.
 */
void hipec_tracer_open(struct hipec_vm *vm, struct hipec_tracer *tracer)
{
	u32 i;

	for (i = 0; i < HIPEC_RECORD_INPUTS; i++)
		tracer->reported[i] = 0;
	tracer->host = vm->host;
	vm->host = vm->host->overtime ? &traced : &traced_untimed;
	vm->tracer = tracer;
}

/* It tells no longer. Context: as hipec_tracer_open(), with a tracer. */
void hipec_tracer_close(struct hipec_vm *vm)
{
	vm->host = vm->tracer->host;
	vm->tracer = NULL;
}

/* Context: the machine has a tracer. Return: the element's value. */
s64 hipec_tracer_read(struct hipec_vm *vm, u8 slot, s64 *element)
{
	struct hipec_tracer *tracer = vm->tracer;
	s64 value;

	if (!(vm->policy->operand[slot].flags & HIPEC_OPERAND_SHARED))
		return *element;
	if (tracer->fill)
		tracer->fill(tracer, element);
	value = READ_ONCE(*element);
	hipec_tracer_put(vm, HIPEC_RECORD_SHARED, hipec_entry_fold(value), 0);
	return value;
}

/* Event @event begins, with what the host has set. Context: the machine has a tracer. */
void hipec_tracer_begin(struct hipec_vm *vm, u32 event)
{
	struct hipec_tracer *tracer = vm->tracer;
	s64 now[HIPEC_RECORD_INPUTS];
	struct hipec_entry e;
	u32 i, changed = 0;

	for (i = 0; i < HIPEC_RECORD_INPUTS; i++) {
		now[i] = input_of_event(vm, i);
		changed |= (u32)(now[i] != tracer->reported[i]) << i;
	}
	hipec_tracer_entry_begin(&e, HIPEC_RECORD_RUN);
	hipec_tracer_entry_number(&e, event);
	hipec_tracer_entry_number(&e, changed);
	for (i = 0; i < HIPEC_RECORD_INPUTS; i++) {
		if (now[i] == tracer->reported[i])
			continue;
		hipec_tracer_entry_number(&e, hipec_entry_fold((u64)now[i] -
							       (u64)tracer->reported[i]));
		tracer->reported[i] = now[i];
	}
	put_traced_entry(vm, &e);
}

/* It has ended with @ret, and @commands were run before it. Context: likewise. */
void hipec_tracer_end(struct hipec_vm *vm, int ret, u64 commands)
{
	struct hipec_entry e;

	hipec_tracer_entry_begin(&e, HIPEC_RECORD_END);
	hipec_tracer_entry_number(&e, !ret ? 0 : ret == -ETIMEDOUT ? 1 : 2);
	hipec_tracer_entry_number(&e, vm->exit.kind);
	hipec_tracer_entry_number(&e, vm->nr_commands - commands);
	put_traced_entry(vm, &e);
}

/* Copy @bytes. Return: what is behind them. */
static void *copy_bytes(void *out, const void *from, size_t bytes)
{
	memcpy(out, from, bytes);
	return out + bytes;
}

/* Zeros: of entries that were never used. Return: what is behind them. */
static void *skip_zeros(void *out, size_t bytes)
{
	memset(out, 0, bytes);
	return out + bytes;
}

/* The page table; a record links all unused entries, whether they were used before or not. */
static void *copy_pages(const struct hipec_vm *vm, void *out)
{
	struct hipec_page page;
	u32 h;

	for (h = 0; h <= vm->reached; h++) {
		page = vm->page[h];
		if (h && !(page.flags & HIPEC_PAGE_USED) && !page.next)
			page.next = vm->reached < vm->nr_pages ? vm->reached + 1 : 0;
		out = copy_bytes(out, &page, sizeof(page));
	}
	for (; h <= vm->nr_pages; h++) {
		page = (struct hipec_page){ .next = h < vm->nr_pages ? h + 1 : 0 };
		out = copy_bytes(out, &page, sizeof(page));
	}
	return out;
}

/* Bytes of hipec_tracer_snapshot(). Context: any; the answer is always the same. */
size_t hipec_tracer_snapshot_size(const struct hipec_vm *vm)
{
	const struct hipec_policy *p = vm->policy;

	return sizeof(struct hipec_record_head) + p->image->image_size +
	       sizeof(vm->slot) + vm->nr_queues * sizeof(struct hipec_queue) +
	       p->nr_elements * sizeof(s64) +
	       (vm->nr_pages + (size_t)1) *
	       (sizeof(struct hipec_page) +
		(vm->nr_fields + !!vm->node) * sizeof(s64));
}

/**
 * hipec_tracer_snapshot() - the machine as it is
 * @vm:        machine between two events
 * @nr_frames: as given to hipec_vm_init()
 * @out:       gets hipec_tracer_snapshot_size() bytes; the head's id and comm are the
 *             host's to set
 *
 * The trees of ordered queues are left out but for the keys: their shape would
 * tell the salt.
 *
 * Context: any, serialised by the host.
 * Return: what is behind these bytes.
 */
void *hipec_tracer_snapshot(const struct hipec_vm *vm, u32 nr_frames, void *out)
{
	const struct hipec_policy *p = vm->policy;
	struct hipec_record_head head = {
		.magic = HIPEC_RECORD_MAGIC,
		.version = HIPEC_RECORD_VERSION,
		.head_size = sizeof(head),
		.image_size = p->image->image_size,
		.fuel = vm->fuel,
		.random = vm->random,
		.nr_frames = nr_frames,
		.nr_pages = vm->nr_pages,
		.nr_queues = vm->nr_queues,
		.nr_elements = p->nr_elements,
		.nr_fields = vm->nr_fields,
		.ordered = !!vm->node,
		.unused = hipec_page_next_unused(vm),
		.exit_kind = vm->exit.kind,
		.timed = !!vm->host->overtime,
	};
	const struct hipec_array *a;
	struct hipec_queue queue;
	u32 i, h;

	static_assert(sizeof(struct hipec_queue) == 20, "it is in the record");
	out = copy_bytes(out, &head, sizeof(head));
	out = copy_bytes(out, p->image, head.image_size);
	out = copy_bytes(out, vm->slot, sizeof(vm->slot));
	out = copy_pages(vm, out);
	for (i = 0; i < vm->nr_queues; i++) {
		queue = vm->queue[i];
		queue.root = 0;
		out = copy_bytes(out, &queue, sizeof(queue));
	}
	for (i = 0; i < p->image->nr_operands; i++) {
		if (p->operand[i].type != HIPEC_TYPE_INTS ||
		    p->operand[i].flags & HIPEC_OPERAND_SHARED)
			continue;
		a = &vm->array[vm->slot[i]];
		out = copy_bytes(out, a->element, a->nr * sizeof(s64));
	}
	out = copy_bytes(out, vm->field,
			 (vm->reached + (size_t)1) * vm->nr_fields * sizeof(s64));
	out = skip_zeros(out, (vm->nr_pages - vm->reached) * (size_t)vm->nr_fields * sizeof(s64));
	for (h = 0; vm->node && h <= vm->reached; h++)
		out = copy_bytes(out, &vm->node[h].key, sizeof(s64));
	if (vm->node)
		out = skip_zeros(out, (vm->nr_pages - vm->reached) * sizeof(s64));
	return out;
}
