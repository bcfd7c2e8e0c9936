// SPDX-License-Identifier: GPL-2.0-only
/*
 * One test case on a fake host. See vmcase.h.
 */
#include "fakehost.h"
#include "invariants.h"
#include "vmcase.h"

/* HIPEC_EXIT_<name> of a kind; "?" for one that does not exist. */
const char *hipec_vmcase_exit_name(u32 kind)
{
	switch (kind) {
#define X(name, code, text) case code: return #name;
	HIPEC_EXIT_KINDS(X)
#undef X
	}
	return "?";
}

/* HIPEC_VERIFY_<name> of a kind; "?" for one that does not exist. */
const char *hipec_vmcase_verify_name(u32 kind)
{
	static const char *const name[] = {
#define X(id, text) #id,
		HIPEC_VERIFY_KINDS(X)
#undef X
	};

	return kind < ARRAY_SIZE(name) ? name[kind] : "?";
}

static void put_fact(struct hipec_text *out, const char *key, s64 n)
{
	hipec_text_str(out, key);
	hipec_text_signed(out, n);
	hipec_text_char(out, '\n');
}

static void put_place(struct hipec_text *out, const struct hipec_policy *p,
		      u32 event, u32 command, u32 operand)
{
	hipec_text_char(out, ' ');
	hipec_text_str(out, hipec_image_event_name(p, event));
	hipec_text_char(out, '+');
	hipec_text_num(out, command);
	if (operand) {
		hipec_text_str(out, " operand ");
		hipec_text_char(out, "?abc"[operand & 3]);
	}
}

static void put_refusal(struct hipec_text *out, const struct hipec_policy *p,
			const struct hipec_verify_error *err)
{
	hipec_text_str(out, "result verify ");
	hipec_text_str(out, hipec_vmcase_verify_name(err->kind));
	if (err->kind >= HIPEC_VERIFY_OPCODE)
		put_place(out, p, err->event, err->command, err->operand);
	hipec_text_str(out, "\nexplain ");
	hipec_verify_explain(p, err, out);
	hipec_text_char(out, '\n');
}

static void put_exit(struct hipec_text *out, const struct hipec_vm *vm)
{
	const struct hipec_exit *e = &vm->exit;

	if (e->kind == HIPEC_EXIT_NONE) {
		hipec_text_str(out, "result ok\n");
		return;
	}
	hipec_text_str(out, "result exit ");
	hipec_text_str(out, hipec_vmcase_exit_name(e->kind));
	put_place(out, vm->policy, e->event, e->command, e->operand);
	if (e->line) {
		hipec_text_str(out, " line ");
		hipec_text_num(out, e->line);
	}
	hipec_text_char(out, '\n');
}

static void put_late(struct hipec_text *out, const struct hipec_vm *vm)
{
	if (!vm->nr_late)
		return;
	hipec_text_str(out, "late");
	put_place(out, vm->policy, vm->late.event, vm->late.command, 0);
	if (vm->late.line) {
		hipec_text_str(out, " line ");
		hipec_text_num(out, vm->late.line);
	}
	hipec_text_char(out, '\n');
}

static void put_pages_of(struct hipec_text *out, const struct hipec_vm *vm,
			 u32 q)
{
	u32 h, n = 0;

	/* A broken queue is reported elsewhere; here it must only end. */
	for (h = vm->queue[q].head; h && n++ < vm->nr_pages;
	     h = vm->page[h].next) {
		hipec_text_char(out, ' ');
		hipec_text_num(out, vm->page[h].pgno);
	}
	hipec_text_char(out, '\n');
}

static void put_element(struct hipec_text *out, u32 n)
{
	hipec_text_char(out, '[');
	hipec_text_num(out, n);
	hipec_text_char(out, ']');
}

static void put_queues(struct hipec_text *out, const struct hipec_vm *vm, u32 i)
{
	const struct hipec_array *a = &vm->array[vm->slot[i]];
	u32 n;

	for (n = 0; n < a->nr; n++) {
		hipec_text_str(out, "queue ");
		hipec_vm_slot_text(vm->policy, i, out);
		put_element(out, n);
		put_pages_of(out, vm, a->first + n);
	}
}

static void put_ints(struct hipec_text *out, const struct hipec_vm *vm, u32 i)
{
	const struct hipec_array *a = &vm->array[vm->slot[i]];
	u32 n;

	for (n = 0; n < a->nr && n < HIPEC_VMCASE_MAX_INTS; n++) {
		hipec_text_char(out, ' ');
		hipec_text_signed(out, a->element[n]);
	}
	hipec_text_char(out, '\n');
}

static void put_page_slot(struct hipec_text *out, const struct hipec_vm *vm,
			  u32 h)
{
	hipec_text_char(out, ' ');
	if (!h)
		hipec_text_str(out, "none");
	else if (!(vm->page[h].flags & HIPEC_PAGE_NAMED))
		hipec_text_str(out, "stale");
	else
		hipec_text_num(out, vm->page[h].pgno);
	hipec_text_char(out, '\n');
}

/* All slots of a type, but _free_queue. */
static void put_slots(struct hipec_text *out, const struct hipec_vm *vm, u8 type,
		      const char *key)
{
	const struct hipec_policy *p = vm->policy;
	u32 i;

	for (i = HIPEC_SLOT_FREE_COUNT; i < p->image->nr_operands; i++) {
		if (p->operand[i].type != type)
			continue;
		if (type == HIPEC_TYPE_QUEUES) {
			put_queues(out, vm, i);
			continue;
		}
		hipec_text_str(out, key);
		hipec_vm_slot_text(p, i, out);
		switch (type) {
		case HIPEC_TYPE_QUEUE:
			put_pages_of(out, vm, vm->slot[i]);
			break;
		case HIPEC_TYPE_INT:
			hipec_text_char(out, ' ');
			hipec_text_signed(out, vm->slot[i]);
			hipec_text_char(out, '\n');
			break;
		case HIPEC_TYPE_INTS:
			put_ints(out, vm, i);
			break;
		case HIPEC_TYPE_PAGE:
			put_page_slot(out, vm, vm->slot[i]);
			break;
		}
	}
}

/* Name of queue @q, or "fallback", or "none". */
static void put_queue_name(struct hipec_text *out, const struct hipec_vm *vm,
			   u32 q)
{
	const struct hipec_policy *p = vm->policy;
	const struct hipec_array *a;
	u32 i;

	for (i = HIPEC_SLOT_POLICY; i < p->image->nr_operands; i++) {
		if (p->operand[i].type == HIPEC_TYPE_QUEUE && vm->slot[i] == q) {
			hipec_vm_slot_text(p, i, out);
			return;
		}
		if (p->operand[i].type != HIPEC_TYPE_QUEUES)
			continue;
		a = &vm->array[vm->slot[i]];
		if (q >= a->first && q - a->first < a->nr) {
			hipec_vm_slot_text(p, i, out);
			put_element(out, q - a->first);
			return;
		}
	}
	hipec_text_str(out, q == HIPEC_QUEUE_FALLBACK ? "fallback" : "none");
}

static void put_fields(struct hipec_text *out, const struct hipec_vm *vm, u32 h)
{
	const struct hipec_policy *p = vm->policy;
	u32 i;

	for (i = HIPEC_SLOT_POLICY; i < p->image->nr_operands; i++) {
		if (p->operand[i].type != HIPEC_TYPE_FIELD)
			continue;
		hipec_text_str(out, "field ");
		hipec_vm_slot_text(p, i, out);
		hipec_text_char(out, ' ');
		hipec_text_num(out, vm->page[h].pgno);
		hipec_text_char(out, ' ');
		hipec_text_signed(out, vm->field[(size_t)h * vm->nr_fields + vm->slot[i]]);
		hipec_text_char(out, '\n');
	}
}

static void put_pages(struct hipec_text *out, const struct hipec_fakehost *fake)
{
	const struct hipec_vm *vm = &fake->vm;
	u32 h;

	for (h = 1; h <= vm->nr_pages; h++) {
		if (!(vm->page[h].flags & HIPEC_PAGE_USED))
			continue;
		hipec_text_str(out, "at ");
		hipec_text_num(out, vm->page[h].pgno);
		hipec_text_char(out, ' ');
		put_queue_name(out, vm, vm->page[h].queue);
#define X(name, code, word)					\
		if (fake->bits[h] & HIPEC_FAKE_##name)		\
			hipec_text_str(out, " " word);
		HIPEC_FAKE_BITS(X)
#undef X
		if (vm->page[h].flags & HIPEC_PAGE_GHOST)
			hipec_text_str(out, " ghost");
		hipec_text_char(out, '\n');
		put_fields(out, vm, h);
	}
}

static void put_given(struct hipec_text *out, const struct hipec_fakehost *fake)
{
	u32 i;

	for (i = 0; i < fake->nr_given; i++) {
		hipec_text_str(out, "given ");
		hipec_text_num(out, fake->given[i].pgno);
		hipec_text_str(out, fake->given[i].keep ? " kept" : " released");
		hipec_text_str(out, fake->given[i].dirty ? " dirty\n" : "\n");
	}
}

static void put_machine(struct hipec_text *out,
			const struct hipec_fakehost *fake)
{
	const struct hipec_vm *vm = &fake->vm;
	const char *broken = hipec_vm_broken(vm);

	put_exit(out, vm);
	put_late(out, vm);
	put_fact(out, "condition ", vm->condition);
	put_fact(out, "commands ", vm->nr_commands);
	put_fact(out, "free ", fake->free);
	put_slots(out, vm, HIPEC_TYPE_QUEUE, "queue ");
	put_slots(out, vm, HIPEC_TYPE_QUEUES, "queue ");
	hipec_text_str(out, "fallback");
	put_pages_of(out, vm, HIPEC_QUEUE_FALLBACK);
	put_slots(out, vm, HIPEC_TYPE_INT, "int ");
	put_slots(out, vm, HIPEC_TYPE_INTS, "ints ");
	put_slots(out, vm, HIPEC_TYPE_PAGE, "page ");
	put_pages(out, fake);
	put_given(out, fake);
	if (broken) {
		hipec_text_str(out, "broken ");
		hipec_text_str(out, broken);
		hipec_text_char(out, '\n');
	}
}

static bool head_ok(const struct hipec_vmcase_head *head, size_t size)
{
	return head->magic == HIPEC_VMCASE_MAGIC &&
	       head->nr_frames <= HIPEC_VMCASE_MAX_PAGES &&
	       head->nr_pages <= head->nr_frames &&
	       head->nr_runs <= HIPEC_VMCASE_MAX_RUNS &&
	       head->fuel <= HIPEC_VMCASE_MAX_FUEL &&
	       size == sizeof(*head) + (u64)head->image_size +
		       (u64)head->nr_pages * sizeof(struct hipec_vmcase_page);
}

/**
 * hipec_vmcase_parse() - read a case and judge its image
 * @c:     filled
 * @bytes: the case, aligned for u64; must outlive @c
 * @size:  bytes
 * @out:   gets the whole text if the image is refused
 *
 * Return: 0, run it; 1 if the image is refused and @out says why; -EINVAL if
 *         the case itself is malformed.
 */
int hipec_vmcase_parse(struct hipec_vmcase *c, const void *bytes, size_t size,
		       struct hipec_text *out)
{
	struct hipec_verify_error err;

	c->head = bytes;
	c->run = NULL;
	if (size < sizeof(*c->head) || !head_ok(c->head, size))
		return -EINVAL;
	c->page = (const void *)(c->head + 1);
	if (!hipec_image_parse(c->page + c->head->nr_pages, c->head->image_size,
			       &c->policy, &err) &&
	    !hipec_verify(&c->policy, &err))
		return 0;
	put_refusal(out, &c->policy, &err);
	return 1;
}

/**
 * hipec_vmcase_memory() - memory that running a case takes
 * @c: parsed case
 *
 * Return: bytes.
 */
size_t hipec_vmcase_memory(const struct hipec_vmcase *c)
{
	return sizeof(struct hipec_fakehost) +
	       hipec_fakehost_size(&c->policy, c->head->nr_frames);
}

/* Queue that a row of the case names. Return: 0 if there is none. */
static u32 queue_of_row(const struct hipec_vmcase *c, const struct hipec_vm *vm,
			const struct hipec_vmcase_page *row)
{
	const struct hipec_array *a;

	if (!row->slot)
		return HIPEC_QUEUE_FALLBACK;
	if (row->slot >= c->policy.image->nr_operands)
		return 0;
	switch (c->policy.operand[row->slot].type) {
	case HIPEC_TYPE_QUEUE:
		return vm->slot[row->slot];
	case HIPEC_TYPE_QUEUES:
		a = &vm->array[vm->slot[row->slot]];
		return row->element < a->nr ? a->first + row->element : 0;
	}
	return 0;
}

/* As EnQueue would, behind an event. */
static int add_ghost(struct hipec_vm *vm, u32 pgno, u32 q)
{
	u32 h;

	if (q == HIPEC_QUEUE_FALLBACK || vm->nr_ghosts == vm->max_ghosts)
		return -EINVAL;
	h = hipec_page_add(vm, pgno);
	if (!h)
		return -EINVAL;
	vm->page[h].flags = HIPEC_PAGE_GHOST;
	vm->nr_ghosts++;
	hipec_queue_add(vm, q, h, HIPEC_END_TAIL);
	return 0;
}

static int add_page(const struct hipec_vmcase *c, struct hipec_fakehost *fake,
		    const struct hipec_vmcase_page *row)
{
	struct hipec_vm *vm = &fake->vm;
	u32 q = queue_of_row(c, vm, row);
	u32 known = 0, h;

#define X(name, code, word) known |= code;
	HIPEC_FAKE_BITS(X)
#undef X
	if (!q || row->bits & ~known || hipec_page_find(vm, row->pgno) ||
	    hipec_page_find_named(vm, row->pgno))
		return -EINVAL;
	if (row->bits & HIPEC_FAKE_GHOST)
		return add_ghost(vm, row->pgno, q);
	h = hipec_fakehost_add(fake, row->pgno, row->bits);
	if (!h)
		return -EINVAL;
	if (q == HIPEC_QUEUE_FALLBACK)
		return 0;
	if (row->bits & HIPEC_FAKE_HIDDEN)
		return -EINVAL;
	hipec_queue_move(vm, q, h, HIPEC_END_TAIL);
	return 0;
}

/* One event, or what the host does between two. */
static int run_step(struct hipec_fakehost *fake,
		    const struct hipec_vmcase_step *step)
{
	struct hipec_vm *vm = &fake->vm;

	switch (step->what) {
	case HIPEC_VMCASE_FAULT:
		return hipec_fakehost_fault(fake, step->pgno);
	case HIPEC_VMCASE_LOSE:
		return hipec_fakehost_lose(fake, step->pgno);
	case HIPEC_VMCASE_FORGET:
		hipec_page_forget_range(vm, step->pgno, 1);
		return 0;
	case HIPEC_VMCASE_CLEAN:
		hipec_fakehost_clean(fake);
		return 0;
	case HIPEC_VMCASE_ABANDON:
		hipec_vm_abandon(vm);
		return 0;
	}
	if (step->what >= HIPEC_NR_EVENTS ||
	    !hipec_vm_has_event(vm, step->what))
		return -EINVAL;
	return hipec_fakehost_run(fake, step->what);
}

/* All of them, until the policy has ended or an invariant is broken. */
static int run_steps(struct hipec_fakehost *fake,
		     const struct hipec_vmcase_head *head)
{
	u32 i;

	for (i = 0; i < head->nr_runs; i++) {
		int ret = run_step(fake, &head->run[i]);

		if (ret == -EINVAL && !head->lenient)
			return ret;
		if (ret == -ECANCELED)
			break;
		/* A page that was lost is gone in the event behind. */
		if (head->run[i].what < HIPEC_NR_EVENTS &&
		    hipec_vm_broken(&fake->vm))
			break;
	}
	return 0;
}

/**
 * hipec_vmcase_run() - run a case to its end
 * @c:      parsed case whose image was not refused
 * @memory: hipec_vmcase_memory() bytes, aligned for u64
 * @out:    gets the text
 *
 * Events and steps run in order until one ends the policy.
 *
 * Context: any.
 * Return: 0; -EINVAL if a page names a queue that is none, is there twice, has
 *         an unknown bit or is a ghost too many, if an event does not exist, or
 *         if the host cannot do a step.
 */
int hipec_vmcase_run(const struct hipec_vmcase *c, void *memory,
		     struct hipec_text *out)
{
	const struct hipec_vmcase_head *head = c->head;
	struct hipec_fakehost *fake = memory;
	struct hipec_vm *vm = &fake->vm;
	u32 i;
	int ret;

	hipec_fakehost_init(fake, &c->policy, fake + 1, head->nr_frames);
	fake->run = c->run;
	fake->free = head->free;
	fake->grant = head->grant;
	fake->late = head->late;
	if (head->fuel)
		vm->fuel = head->fuel;
	if (head->seed)
		vm->random = head->seed;
	for (i = 0; i < ARRAY_SIZE(head->system); i++)
		if (HIPEC_SLOT_SYSTEM + i != HIPEC_SLOT_PAGE_ENTRIES)
			vm->slot[HIPEC_SLOT_SYSTEM + i] = head->system[i];
	for (i = 0; i < head->nr_pages; i++) {
		ret = add_page(c, fake, &c->page[i]);
		if (ret)
			return ret;
	}
	ret = run_steps(fake, head);
	if (ret)
		return ret;
	put_machine(out, fake);
	return 0;
}
