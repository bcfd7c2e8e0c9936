// SPDX-License-Identifier: GPL-2.0-only
/*
 * struct hipec_host_ops over plain arrays. See fakehost.h.
 */
#include "fakehost.h"

static struct hipec_fakehost *fake_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct hipec_fakehost, vm), "vm comes first");
	return (struct hipec_fakehost *)vm;
}

static bool fake_give_up(struct hipec_vm *vm, u32 h, bool keep)
{
	struct hipec_fakehost *fake = fake_of(vm);
	bool dirty = fake->bits[h] & HIPEC_FAKE_MOD;

	if (fake->bits[h] & HIPEC_FAKE_PINNED)
		return false;
	if (fake->nr_given < fake->max_given)
		fake->given[fake->nr_given++] = (struct hipec_fake_given){
			.pgno = vm->page[h].pgno, .keep = keep, .dirty = dirty,
		};
	/* Like the kernel: a dirty page keeps its entry until it was written. */
	if (dirty) {
		fake->bits[h] |= HIPEC_FAKE_HIDDEN;
		hipec_page_hide(vm, h);
		hipec_queue_add(vm, HIPEC_QUEUE_HOST, h, HIPEC_END_TAIL);
		return true;
	}
	hipec_page_del(vm, h);
	fake->bits[h] = 0;
	fake->free += keep;
	return true;
}

static bool fake_flush(struct hipec_vm *vm, u32 h)
{
	u16 *bits = &fake_of(vm)->bits[h];

	if (!(*bits & HIPEC_FAKE_MOD))
		return false;
	*bits &= ~HIPEC_FAKE_MOD;
	*bits |= HIPEC_FAKE_FLUSHED;
	return true;
}

static bool fake_ref(struct hipec_vm *vm, u32 h)
{
	return fake_of(vm)->bits[h] & HIPEC_FAKE_REF;
}

static bool fake_mod(struct hipec_vm *vm, u32 h)
{
	return fake_of(vm)->bits[h] & HIPEC_FAKE_MOD;
}

static void fake_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	u16 *bits = &fake_of(vm)->bits[h];

	if (on)
		*bits |= HIPEC_FAKE_REF;
	else
		*bits &= ~HIPEC_FAKE_REF;
}

static bool fake_set_mod(struct hipec_vm *vm, u32 h)
{
	u16 *bits = &fake_of(vm)->bits[h];

	if (*bits & HIPEC_FAKE_READONLY)
		return false;
	*bits |= HIPEC_FAKE_MOD;
	return true;
}

static bool fake_map(struct hipec_vm *vm, u32 h)
{
	u16 *bits = &fake_of(vm)->bits[h];

	if (*bits & HIPEC_FAKE_NOMAP)
		return false;
	*bits |= HIPEC_FAKE_MAPPED;
	return true;
}

static bool fake_unmap(struct hipec_vm *vm, u32 h)
{
	u16 *bits = &fake_of(vm)->bits[h];
	bool mapped = *bits & HIPEC_FAKE_MAPPED;

	*bits &= ~HIPEC_FAKE_MAPPED;
	return mapped;
}

static u64 fake_request(struct hipec_vm *vm, u64 nr)
{
	struct hipec_fakehost *fake = fake_of(vm);
	u64 got = nr;

	if (fake->grant < 0 || got > (u64)fake->grant)
		got = fake->grant < 0 ? 0 : fake->grant;
	fake->grant -= got;
	fake->free += got;
	return got;
}

static const struct hipec_host_ops fake_ops = {
	.give_up = fake_give_up,
	.flush = fake_flush,
	.ref = fake_ref,
	.mod = fake_mod,
	.set_ref = fake_set_ref,
	.set_mod = fake_set_mod,
	.map = fake_map,
	.unmap = fake_unmap,
	.request = fake_request,
};

/**
 * hipec_fakehost_size() - memory that a fake host needs beside its struct
 * @p:        verified policy
 * @nr_pages: pages that may exist at the same time
 *
 * Context: any.
 * Return: bytes.
 */
size_t hipec_fakehost_size(const struct hipec_policy *p, u32 nr_pages)
{
	return (nr_pages + 1ul) * (sizeof(struct hipec_fake_given) +
				   sizeof(u16) * 2) +
	       hipec_vm_size(p, nr_pages);
}

/**
 * hipec_fakehost_init() - make a machine without pages, and its host
 * @fake:     to fill
 * @p:        verified policy; must outlive @fake
 * @memory:   hipec_fakehost_size() bytes, aligned for u64; the caller frees it
 * @nr_pages: as given to hipec_fakehost_size()
 *
 * The machine's own memory comes last, so that a sanitizer sees what is
 * written beyond it.
 *
 * Context: any.
 */
void hipec_fakehost_init(struct hipec_fakehost *fake,
			 const struct hipec_policy *p, void *memory,
			 u32 nr_pages)
{
	memset(fake, 0, sizeof(*fake));
	fake->given = memory;
	fake->max_given = nr_pages + 1;
	fake->bits = (void *)(fake->given + fake->max_given);
	memset(fake->bits, 0, fake->max_given * sizeof(*fake->bits));
	/* Twice the room, so that what follows is aligned for u32. */
	hipec_vm_init(&fake->vm, p, &fake_ops,
		      fake->bits + 2 * (size_t)fake->max_given, nr_pages);
}

/**
 * hipec_fakehost_add() - give the machine a page
 * @fake: host
 * @pgno: page number, not there yet
 * @bits: HIPEC_FAKE_*; the page is on the fallback queue unless it is HIDDEN
 *
 * Context: any.
 * Return: its handle; 0 if the table is full.
 */
u32 hipec_fakehost_add(struct hipec_fakehost *fake, u32 pgno, u16 bits)
{
	u32 h = hipec_page_add(&fake->vm, pgno);

	if (!h)
		return 0;
	fake->bits[h] = bits;
	if (!(bits & HIPEC_FAKE_HIDDEN))
		hipec_page_show(&fake->vm, h);
	return h;
}

/**
 * hipec_fakehost_run() - set what the host owns, run an event
 * @fake:  host whose policy has not ended
 * @event: number of an event that the policy has
 *
 * _free_count and the count of _free_queue are set to the frames that are
 * free. System integers other than these stay as the caller left them.
 *
 * Context: any.
 * Return: as hipec_vm_run().
 */
int hipec_fakehost_run(struct hipec_fakehost *fake, u32 event)
{
	struct hipec_vm *vm = &fake->vm;

	vm->slot[HIPEC_SLOT_FREE_COUNT] = fake->free;
	vm->queue[HIPEC_QUEUE_FREE].count = fake->free;
	return hipec_vm_run(vm, event);
}
