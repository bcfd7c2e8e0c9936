// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine of a run holds: queues as pictures, operands by name, pages.
 */
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "../option/option.h"

#define SHOWN 12	/* pages of a queue, elements of an array; of more, the ends */
#define ENDS 5

/*
 * What is known of a page: r referenced, d dirty, p pinned by the access, g a
 * ghost, w waits to be written.
 */
static void marks_of(const struct sim *s, u32 h, char text[8])
{
	u16 flags = s->core.vm.page[h].flags;
	u8 bits = s->bits[h];
	char *c = text;

	if (flags & HIPEC_PAGE_FRAME && bits & HIPEC_REF_POLICY)
		*c++ = 'r';
	if (flags & HIPEC_PAGE_FRAME && bits & SIM_BIT_MOD)
		*c++ = 'd';
	if (bits & SIM_BIT_WRITING)
		*c++ = 'w';
	if (h == s->core.pinned)
		*c++ = 'p';
	if (flags & HIPEC_PAGE_GHOST)
		*c++ = 'g';
	*c = 0;
}

/* Pages of a queue between bars, the head first. */
static void draw(const struct sim *s, const struct hipec_queue *q)
{
	const struct hipec_vm *vm = &s->core.vm;
	u32 h, i = 0, skip = q->count > SHOWN ? q->count - 2 * ENDS : 0;
	char marks[8];

	fputs("  head |", stdout);
	for (h = q->head; h; h = vm->page[h].next, i++) {
		if (skip && i == ENDS)
			printf(" ... %u more ... |", skip);
		if (skip && i >= ENDS && i < ENDS + skip)
			continue;
		marks_of(s, h, marks);
		printf(" %u%s%s |", vm->page[h].pgno, *marks ? " " : "", marks);
	}
	fputs(" tail\n", stdout);
}

static void print_queue(const struct sim *s, const char *name, u32 q)
{
	const struct hipec_queue *queue = &s->core.vm.queue[q];

	printf("%-15s %5u", name, queue->count);
	if (queue->count)
		draw(s, queue);
	else
		putchar('\n');
}

/* What the event may count on; between events, what there is. */
static void print_free(const struct dbg *d)
{
	printf("%-15s %5u  free frames\n", "_free_queue", d->in_event ?
	       d->s->core.vm.queue[HIPEC_QUEUE_FREE].count : d->s->core.nr_free);
}

static const char *slot_name(const struct hipec_policy *p, u32 slot)
{
	return hipec_image_policy_name(p, p->operand[slot].name);
}

/* Of an array of queues, those that are not empty. */
static void print_queue_array(const struct sim *s, const char *name,
			      const struct hipec_array *a)
{
	char text[DBG_NAME];
	u32 i, empty = 0;

	for (i = 0; i < a->nr; i++) {
		if (!s->core.vm.queue[a->first + i].count) {
			empty++;
			continue;
		}
		snprintf(text, sizeof(text), "%.40s[%u]", name, i);
		print_queue(s, text, a->first + i);
	}
	snprintf(text, sizeof(text), "%.40s[%u]", name, a->nr);
	if (empty)
		printf("%-15s %5u  empty queues\n", text, empty);
}

/* A declared queue, or all queues of an array. Return: whether it is one. */
static bool print_queue_slot(const struct dbg *d, u32 slot)
{
	const struct hipec_policy *p = d->policy;
	const struct sim *s = d->s;
	u64 value = s->core.vm.slot[slot];

	if (slot == HIPEC_SLOT_FREE_QUEUE)
		print_free(d);
	else if (p->operand[slot].type == HIPEC_TYPE_QUEUE)
		print_queue(s, slot_name(p, slot), value);
	else if (p->operand[slot].type == HIPEC_TYPE_QUEUES)
		print_queue_array(s, slot_name(p, slot), &s->core.vm.array[value]);
	else
		return false;
	return true;
}

/* What no declaration names: what is left over, and the built-in replacement's. */
static void print_other_queues(const struct dbg *d)
{
	const struct sim *s = d->s;
	bool builtin = hipec_fifo2_rules(&s->core.vm) && d->at != DBG_ENDED;

	if (builtin || s->core.vm.queue[HIPEC_QUEUE_FALLBACK].count)
		print_queue(s, builtin ? "(active)" : "(no queue)",
			    HIPEC_QUEUE_FALLBACK);
	if (builtin)
		print_queue(s, "(inactive)", s->core.vm.nr_queues - 1);
	if (s->core.vm.queue[HIPEC_QUEUE_EVICTED].count)
		print_queue(s, "(gone)", HIPEC_QUEUE_EVICTED);
}

/* "name" or "name[3]": the slot, or -1; @index is -1 without one. */
static int find_slot(const struct hipec_policy *p, const char *name, s64 *index)
{
	size_t len = strcspn(name, "[");
	const char *other;
	char *end;
	int i;

	*index = -1;
	if (name[len]) {
		*index = strtoll(name + len + 1, &end, 10);
		if (*index < 0 || end == name + len + 1 || strcmp(end, "]"))
			return -1;
	}
	for (i = 0; i < HIPEC_NR_SLOTS; i++) {
		if (i < (int)p->image->nr_operands)
			other = slot_name(p, i);
		else if (i >= HIPEC_SLOT_SYSTEM)
			other = hipec_system_slots[i - HIPEC_SLOT_SYSTEM].name;
		else
			continue;
		if (other && strlen(other) == len && !strncmp(name, other, len))
			return i;
	}
	return -1;
}

static void no_such(struct dbg *d, const char *verb, const char *name)
{
	const struct hipec_policy *p = d->policy;
	const char *near = NULL;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++)
		near = option_nearest(name, near, slot_name(p, i));
	for (i = 0; i < ARRAY_SIZE(hipec_system_slots); i++)
		if (hipec_system_slots[i].name)
			near = option_nearest(name, near, hipec_system_slots[i].name);
	dbg_wrong(d, "%s: the policy has no '%s'%s%s%s", verb, name,
		  near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
}

/**
 * dbg_print_queues() - queues as pictures
 * @d:    session that stands still
 * @name: of a queue, an array of queues or one of its elements; NULL: all
 */
void dbg_print_queues(struct dbg *d, const char *name)
{
	const struct hipec_policy *p = d->policy;
	s64 index = -1;
	int slot;
	u32 i;

	if (!name) {
		for (i = 0; i < p->image->nr_operands; i++)
			print_queue_slot(d, i);
		print_other_queues(d);
		return;
	}
	slot = find_slot(p, name, &index);
	if (slot < 0 || slot >= (int)p->image->nr_operands)
		no_such(d, "queues", name);
	else if (index >= 0 && p->operand[slot].type == HIPEC_TYPE_QUEUES &&
		 index < d->s->core.vm.array[d->s->core.vm.slot[slot]].nr)
		print_queue(d->s, name,
			    d->s->core.vm.array[d->s->core.vm.slot[slot]].first + index);
	else if (index >= 0 || !print_queue_slot(d, slot))
		dbg_wrong(d, "queues: '%s' is no queue", name);
}

/* Whether queue @q is what slot @slot stands for, or one of that: number @index. */
static bool queue_of(const struct hipec_vm *vm, u32 slot, u32 q, u32 *index)
{
	const struct hipec_array *a = vm->array;

	if (vm->policy->operand[slot].type != HIPEC_TYPE_QUEUES)
		return vm->policy->operand[slot].type == HIPEC_TYPE_QUEUE &&
		       vm->slot[slot] == q;
	a += vm->slot[slot];
	*index = q - a->first;
	return q >= a->first && *index < a->nr;
}

/* The name of a queue, as it was declared. */
void dbg_queue_text(const struct hipec_vm *vm, u32 q, char text[DBG_NAME])
{
	const struct hipec_policy *p = vm->policy;
	u32 i, index = 0;

	snprintf(text, DBG_NAME, "no queue");
	for (i = 0; q >= HIPEC_QUEUE_POLICY && i < p->image->nr_operands; i++) {
		if (!queue_of(vm, i, q, &index))
			continue;
		if (p->operand[i].type == HIPEC_TYPE_QUEUE)
			snprintf(text, DBG_NAME, "%.40s", slot_name(p, i));
		else
			snprintf(text, DBG_NAME, "%.40s[%u]", slot_name(p, i),
				 index);
	}
}

/* "page 5, resident, referenced, on active_queue, uses 3" */
static void print_entry(const struct sim *s, u32 h)
{
	const struct hipec_vm *vm = &s->core.vm;
	const struct hipec_policy *p = vm->policy;
	const struct hipec_page *page = &vm->page[h];
	bool live = page->flags & HIPEC_PAGE_LIVE;
	char queue[DBG_NAME];
	u32 i;

	dbg_queue_text(vm, page->queue, queue);
	printf("page %u, %s%s%s%s%s", page->pgno,
	       live ? "resident" : page->flags & HIPEC_PAGE_GHOST ? "a ghost" :
	       page->flags & HIPEC_PAGE_EVICTED ? "has gone" : "fetched, not touched",
	       live && s->bits[h] & HIPEC_REF_POLICY ? ", referenced" : "",
	       live && s->bits[h] & SIM_BIT_MOD ? ", dirty" : "",
	       live && !(s->bits[h] & SIM_BIT_MAPPED) ? ", not mapped" : "",
	       h == s->core.pinned ? ", pinned" : "");
	if (page->flags & (HIPEC_PAGE_LIVE | HIPEC_PAGE_GHOST))
		printf(", on %s", queue);
	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_FIELD)
			printf(", %s %lld", slot_name(p, i),
			       (long long)vm->field[(size_t)h * vm->nr_fields +
						    vm->slot[i]]);
	putchar('\n');
}

/* What is known of page @pgno. */
void dbg_print_page(struct dbg *d, u32 pgno)
{
	const struct hipec_vm *vm = &d->s->core.vm;
	u32 h = hipec_page_find(vm, pgno) ?: hipec_page_find_named(vm, pgno);

	if (h)
		print_entry(d->s, h);
	else
		printf("page %u is not here; 'why %u' says since when\n", pgno,
		       pgno);
}

static void print_elements(const struct hipec_array *a)
{
	u32 skip = a->nr > SHOWN ? a->nr - 2 * ENDS : 0, i;

	for (i = 0; i < a->nr; i++) {
		if (skip && i == ENDS) {
			printf(" ... %u more ...", skip);
			i += skip;
		}
		printf(" %lld", (long long)a->element[i]);
	}
	putchar('\n');
}

static void print_page_operand(const struct sim *s, u32 h)
{
	if (!h)
		puts("no page");
	else if (s->core.vm.page[h].flags & HIPEC_PAGE_NAMED)
		print_entry(s, h);
	else
		puts("a page that has left");
}

static void print_int(u32 slot, s64 value)
{
	if (slot == HIPEC_SLOT_FAULTED_ADDRESS)
		printf("0x%llx, page %llu\n", (unsigned long long)value,
		       (unsigned long long)value >> 12);
	else
		printf("%lld\n", (long long)value);
}

static u8 type_of(const struct hipec_policy *p, u32 slot)
{
	return slot >= HIPEC_SLOT_SYSTEM ? HIPEC_TYPE_INT : p->operand[slot].type;
}

static void print_ints(const struct hipec_array *a, s64 index)
{
	if (index < 0) {
		printf("[%u] =", a->nr);
		print_elements(a);
	} else {
		printf("[%lld] = %lld\n", (long long)index,
		       (long long)a->element[index]);
	}
}

/* "name = value"; @index: of one element of an array of integers, or -1. */
static void print_slot(const struct sim *s, u32 slot, s64 index)
{
	const struct hipec_vm *vm = &s->core.vm;
	char name[DBG_NAME];
	struct hipec_text text;

	hipec_text_init(&text, name, sizeof(name));
	hipec_vm_slot_text(vm->policy, slot, &text);
	fputs(name, stdout);
	switch (type_of(vm->policy, slot)) {
	case HIPEC_TYPE_INT:
		fputs(" = ", stdout);
		print_int(slot, vm->slot[slot]);
		break;
	case HIPEC_TYPE_PAGE:
		fputs(" = ", stdout);
		print_page_operand(s, vm->slot[slot]);
		break;
	case HIPEC_TYPE_INTS:
		print_ints(&vm->array[vm->slot[slot]], index);
		break;
	case HIPEC_TYPE_QUEUE_REF:
		dbg_queue_text(vm, vm->slot[slot], name);
		printf(" = %s\n", name);
		break;
	default:
		puts(" is a field of pages");
	}
}

/* All that was declared, and what the policy reads of the system's. */
static void print_all(const struct sim *s)
{
	const struct hipec_policy *p = s->core.vm.policy;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++) {
		const char *name = slot_name(p, i);
		u8 type = p->operand[i].type;

		/* Constants and temporaries have names that no source has. */
		if (*name && *name != '.' && *name != '-' &&
		    (*name < '0' || *name > '9') && type != HIPEC_TYPE_QUEUE &&
		    type != HIPEC_TYPE_QUEUES && type != HIPEC_TYPE_FIELD)
			print_slot(s, i, -1);
	}
	for (i = HIPEC_SLOT_SYSTEM; i < HIPEC_NR_SLOTS; i++)
		if (hipec_system_slots[i - HIPEC_SLOT_SYSTEM].name &&
		    hipec_verify_reads(p, i))
			print_slot(s, i, -1);
}

/**
 * dbg_print_operands() - operands by name
 * @d:    session that stands still
 * @name: of one, of the system's, or of an element of an array; NULL: all that are
 *        no queues
 */
void dbg_print_operands(struct dbg *d, const char *name)
{
	const struct hipec_vm *vm = &d->s->core.vm;
	const struct hipec_policy *p = d->policy;
	s64 index = -1;
	int slot;

	if (!name) {
		print_all(d->s);
		return;
	}
	slot = find_slot(p, name, &index);
	if (slot < 0)
		no_such(d, "print", name);
	else if (type_of(p, slot) == HIPEC_TYPE_QUEUE ||
		 type_of(p, slot) == HIPEC_TYPE_QUEUES)
		dbg_print_queues(d, name);
	else if (index < 0)
		print_slot(d->s, slot, -1);
	else if (type_of(p, slot) != HIPEC_TYPE_INTS)
		dbg_wrong(d, "print: '%s' is no element of an array", name);
	else if (index >= vm->array[vm->slot[slot]].nr)
		dbg_wrong(d, "print: '%s' is not in the array, which has %u elements",
			  name, vm->array[vm->slot[slot]].nr);
	else
		print_slot(d->s, slot, index);
}
