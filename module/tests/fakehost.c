// SPDX-License-Identifier: GPL-2.0-only
/*
 * struct hipec_host_ops over plain arrays. See fakehost.h.
 */
#include "../vm/tracer.h"
#include "fakehost.h"

static struct hipec_fakehost *fake_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct hipec_fakehost, vm), "vm comes first");
	return (struct hipec_fakehost *)vm;
}

static bool fake_evict(struct hipec_vm *vm, u32 h, bool keep)
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
		fake->bits[h] |= HIPEC_FAKE_HIDDEN |
				 (keep ? HIPEC_FAKE_KEPT : 0);
		hipec_page_deactivate(vm, h);
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

/* Whether as many pages hold a frame as may. */
static bool is_full(const struct hipec_vm *vm)
{
	u32 h, nr = 0;

	for (h = 1; h <= vm->nr_pages; h++)
		nr += !!(vm->page[h].flags & HIPEC_PAGE_FRAME);
	return nr >= vm->nr_pages - vm->max_ghosts;
}

/* Like the kernel: the pages are not live until a fault comes to them. */
static u32 fake_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	struct hipec_fakehost *fake = fake_of(vm);
	u32 h, got;

	for (got = 0; got < nr && fake->free > 0 && !is_full(vm); got++) {
		h = hipec_page_add_in_event(vm, pgno + got);
		if (!h)
			break;
		fake->bits[h] = HIPEC_FAKE_HIDDEN | HIPEC_FAKE_KEPT;
		fake->free--;
		fake->nr_ahead++;
	}
	return got;
}

static bool fake_overtime(struct hipec_vm *vm)
{
	struct hipec_fakehost *fake = fake_of(vm);

	return ++fake->nr_looks == fake->late;
}

static const struct hipec_host_ops fake_ops = {
	.evict = fake_evict,
	.flush = fake_flush,
	.ref = fake_ref,
	.mod = fake_mod,
	.set_ref = fake_set_ref,
	.set_mod = fake_set_mod,
	.map = fake_map,
	.unmap = fake_unmap,
	.request = fake_request,
	.prefetch = fake_prefetch,
	.overtime = fake_overtime,
};

/* Its own arrays: a row of each for an entry of the page table. */
static size_t own_bytes(const struct hipec_policy *p, u32 nr_frames)
{
	size_t n = hipec_vm_nr_pages(p, nr_frames) + 1ul;

	return (n * (sizeof(struct hipec_fake_given) + sizeof(u16)) + 7) & ~7ul;
}

/**
 * hipec_fakehost_size() - memory that a fake host needs beside its struct
 * @p:         verified policy
 * @nr_frames: pages that may hold a frame at the same time
 *
 * Return: bytes.
 */
size_t hipec_fakehost_size(const struct hipec_policy *p, u32 nr_frames)
{
	return own_bytes(p, nr_frames) + p->shared_size +
	       hipec_vm_size(p, nr_frames);
}

/**
 * hipec_fakehost_init() - make a machine without pages, and its host
 * @fake:      to fill
 * @p:         verified policy; must outlive @fake
 * @memory:    hipec_fakehost_size() bytes, aligned for u64; the caller frees it
 * @nr_frames: as given to hipec_fakehost_size()
 *
 * The shared arrays, one behind the other, hold 100, 101, 102 ... The machine's
 * own memory comes last, so that a sanitizer sees what is written beyond it.
 */
void hipec_fakehost_init(struct hipec_fakehost *fake,
			 const struct hipec_policy *p, void *memory,
			 u32 nr_frames)
{
	s64 *shared = memory + own_bytes(p, nr_frames);
	u32 i;

	memset(fake, 0, sizeof(*fake));
	fake->given = memory;
	fake->max_given = hipec_vm_nr_pages(p, nr_frames) + 1;
	fake->bits = (void *)(fake->given + fake->max_given);
	memset(fake->bits, 0, fake->max_given * sizeof(*fake->bits));
	for (i = 0; i < p->shared_size / sizeof(*shared); i++)
		shared[i] = 100 + i;
	memory = (void *)shared + p->shared_size;
	memset(memory, 0, hipec_vm_size(p, nr_frames));
	hipec_vm_init(&fake->vm, p, &fake_ops, memory, shared, nr_frames);
}

/**
 * hipec_fakehost_add() - give the machine a page
 * @fake: host
 * @pgno: page number of a page that holds no frame
 * @bits: HIPEC_FAKE_*; the page is on the fallback queue, a ghost on the one it
 *        was on, unless it is HIDDEN
 *
 * Return: its handle; 0 if the table is full.
 */
u32 hipec_fakehost_add(struct hipec_fakehost *fake, u32 pgno, u16 bits)
{
	u32 h = hipec_page_add(&fake->vm, pgno);

	if (!h)
		return 0;
	fake->bits[h] = bits;
	if (!(bits & HIPEC_FAKE_HIDDEN))
		hipec_page_activate(&fake->vm, h);
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
 * Return: as hipec_vm_run().
 */
int hipec_fakehost_run(struct hipec_fakehost *fake, u32 event)
{
	struct hipec_vm *vm = &fake->vm;
	int ret;

	fake->nr_looks = 0;
	vm->slot[HIPEC_SLOT_FREE_COUNT] = fake->free;
	vm->queue[HIPEC_QUEUE_FREE].count = fake->free;
	if (!fake->run)
		return hipec_tracer_run(vm, event);
	ret = fake->run(vm, event);
	hipec_page_forget_evicted(vm);
	return ret;
}

static void set_faulted_address(struct hipec_vm *vm, u32 pgno)
{
	vm->slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << 12;
}

/**
 * hipec_fakehost_fault() - a page is brought in
 * @fake: host, between two events
 * @pgno: page number
 *
 * The page, which may be a ghost, gets a frame, a free one if there is one. One
 * that holds a frame and is HIDDEN lives: it was read, or could not be written.
 * FaultedAddress is the page's. Runs no event.
 *
 * Return: 0; -EINVAL if the page lives, or if all frames are in use.
 */
int hipec_fakehost_fault(struct hipec_fakehost *fake, u32 pgno)
{
	struct hipec_vm *vm = &fake->vm;
	u32 h = hipec_page_find(vm, pgno);

	if (h && hipec_page_live(vm, h))
		return -EINVAL;
	set_faulted_address(vm, pgno);
	if (h) {
		fake->bits[h] &= ~(HIPEC_FAKE_HIDDEN | HIPEC_FAKE_KEPT);
		hipec_page_activate(vm, h);
		return 0;
	}
	if (is_full(vm) || !hipec_fakehost_add(fake, pgno, 0))
		return -EINVAL;
	fake->free -= fake->free > 0;
	return 0;
}

/**
 * hipec_fakehost_lose() - a page loses its frame, as when its file gets shorter
 * @fake: host, between two events
 * @pgno: page number
 *
 * FaultedAddress is the page's. Runs no event; the next one may name the page.
 *
 * Return: 0; -EINVAL if the page does not live.
 */
int hipec_fakehost_lose(struct hipec_fakehost *fake, u32 pgno)
{
	struct hipec_vm *vm = &fake->vm;
	u32 h = hipec_page_find(vm, pgno);

	if (!h || !hipec_page_live(vm, h))
		return -EINVAL;
	set_faulted_address(vm, pgno);
	fake->bits[h] = 0;
	fake->free++;
	hipec_page_del(vm, h);
	return 0;
}

/**
 * hipec_fakehost_clean() - what was given up dirty has been written
 * @fake: host, between two events
 */
void hipec_fakehost_clean(struct hipec_fakehost *fake)
{
	struct hipec_vm *vm = &fake->vm;
	u32 h;

	for (h = 1; h <= vm->nr_pages; h++) {
		if (!(fake->bits[h] & HIPEC_FAKE_HIDDEN))
			continue;
		fake->free += !!(fake->bits[h] & HIPEC_FAKE_KEPT);
		fake->bits[h] = 0;
		hipec_page_del(vm, h);
	}
}
