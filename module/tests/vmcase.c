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

static void put_s64(struct hipec_text *out, s64 n)
{
	char digits[20];
	u64 rest = n < 0 ? -(u64)n : (u64)n;
	int i = 0;

	if (n < 0)
		hipec_text_char(out, '-');
	do {
		digits[i++] = '0' + rest % 10;
		rest /= 10;
	} while (rest);
	while (i)
		hipec_text_char(out, digits[--i]);
}

static void put_fact(struct hipec_text *out, const char *key, s64 n)
{
	hipec_text_str(out, key);
	put_s64(out, n);
	hipec_text_char(out, '\n');
}

static void put_place(struct hipec_text *out, const struct hipec_policy *p,
		      u32 event, u32 command, u32 operand)
{
	hipec_text_char(out, ' ');
	hipec_text_str(out, hipec_policy_event_name(p, event));
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

static void put_slots(struct hipec_text *out, const struct hipec_vm *vm, u8 type,
		      const char *key)
{
	const struct hipec_policy *p = vm->policy;
	u32 i, h;

	for (i = HIPEC_SLOT_FREE_COUNT; i < p->image->nr_operands; i++) {
		if (p->operand[i].type != type)
			continue;
		hipec_text_str(out, key);
		hipec_slot_text(p, i, out);
		if (type == HIPEC_TYPE_QUEUE) {
			put_pages_of(out, vm, vm->slot[i]);
			continue;
		}
		hipec_text_char(out, ' ');
		h = vm->slot[i];
		if (type == HIPEC_TYPE_INT)
			put_s64(out, vm->slot[i]);
		else if (!h)
			hipec_text_str(out, "none");
		else if (!hipec_page_live(vm, h))
			hipec_text_str(out, "stale");
		else
			hipec_text_num(out, vm->page[h].pgno);
		hipec_text_char(out, '\n');
	}
}

/* Name of the queue that a page is on, or of why it is on none. */
static void put_queue_of(struct hipec_text *out, const struct hipec_vm *vm,
			 u32 h)
{
	const struct hipec_policy *p = vm->policy;
	u32 i;

	if (!hipec_page_live(vm, h)) {
		hipec_text_str(out, "none");
		return;
	}
	for (i = HIPEC_SLOT_POLICY; i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_QUEUE &&
		    vm->slot[i] == vm->page[h].queue) {
			hipec_slot_text(p, i, out);
			return;
		}
	hipec_text_str(out, "fallback");
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
		put_queue_of(out, vm, h);
#define X(name, code, word)					\
		if (fake->bits[h] & HIPEC_FAKE_##name)		\
			hipec_text_str(out, " " word);
		HIPEC_FAKE_BITS(X)
#undef X
		hipec_text_char(out, '\n');
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
	put_fact(out, "condition ", vm->condition);
	put_fact(out, "commands ", vm->nr_commands);
	put_fact(out, "free ", fake->free);
	put_slots(out, vm, HIPEC_TYPE_QUEUE, "queue ");
	hipec_text_str(out, "fallback");
	put_pages_of(out, vm, HIPEC_QUEUE_FALLBACK);
	put_slots(out, vm, HIPEC_TYPE_INT, "int ");
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
	return head->magic == HIPEC_VMCASE_MAGIC && !head->reserved &&
	       head->table_pages <= HIPEC_VMCASE_MAX_PAGES &&
	       head->nr_pages <= head->table_pages &&
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
 * Context: any.
 * Return: 0, run it; 1 if the image is refused and @out says why; -EINVAL if
 *         the case itself is malformed.
 */
int hipec_vmcase_parse(struct hipec_vmcase *c, const void *bytes, size_t size,
		       struct hipec_text *out)
{
	struct hipec_verify_error err;

	c->head = bytes;
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
 * Context: any.
 * Return: bytes.
 */
size_t hipec_vmcase_memory(const struct hipec_vmcase *c)
{
	return sizeof(struct hipec_fakehost) +
	       hipec_fakehost_size(&c->policy, c->head->table_pages);
}

static int add_page(const struct hipec_vmcase *c, struct hipec_fakehost *fake,
		    const struct hipec_vmcase_page *row)
{
	u16 known = 0;
	u32 h;

#define X(name, code, word) known |= code;
	HIPEC_FAKE_BITS(X)
#undef X
	if (row->bits & ~known || hipec_page_find(&fake->vm, row->pgno))
		return -EINVAL;
	h = hipec_fakehost_add(fake, row->pgno, row->bits);
	if (!row->slot)
		return 0;
	if (row->bits & HIPEC_FAKE_HIDDEN ||
	    row->slot >= c->policy.image->nr_operands ||
	    c->policy.operand[row->slot].type != HIPEC_TYPE_QUEUE)
		return -EINVAL;
	hipec_queue_move(&fake->vm, fake->vm.slot[row->slot], h,
			 HIPEC_END_TAIL);
	return 0;
}

/**
 * hipec_vmcase_run() - run a case to its end
 * @c:      parsed case whose image was not refused
 * @memory: hipec_vmcase_memory() bytes, aligned for u64
 * @out:    gets the text
 *
 * Events run in order until one ends the policy.
 *
 * Context: any.
 * Return: 0; -EINVAL if a page names a queue that is none, is there twice or
 *         has an unknown bit, or if an event does not exist.
 */
int hipec_vmcase_run(const struct hipec_vmcase *c, void *memory,
		     struct hipec_text *out)
{
	const struct hipec_vmcase_head *head = c->head;
	struct hipec_fakehost *fake = memory;
	struct hipec_vm *vm = &fake->vm;
	u32 i;
	int ret;

	hipec_fakehost_init(fake, &c->policy, fake + 1, head->table_pages);
	fake->free = head->free;
	fake->grant = head->grant;
	if (head->fuel)
		vm->fuel = head->fuel;
	for (i = 0; i < ARRAY_SIZE(head->system); i++)
		vm->slot[HIPEC_SLOT_SYSTEM + i] = head->system[i];
	for (i = 0; i < head->nr_pages; i++) {
		ret = add_page(c, fake, &c->page[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < head->nr_runs; i++)
		if (head->run[i] >= HIPEC_NR_EVENTS ||
		    !hipec_vm_has_event(vm, head->run[i]))
			return -EINVAL;
	for (i = 0; i < head->nr_runs; i++)
		if (hipec_fakehost_run(fake, head->run[i]))
			break;
	put_machine(out, fake);
	return 0;
}
