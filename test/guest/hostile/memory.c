// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on mappings. Each mapping lies at a place of its own in an arena
 * whose rest nobody may touch, so that a second thread can touch all of it at
 * any time: where nothing is, it gets a signal.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "hostile.h"

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

unsigned char *arena;

static __thread sigjmp_buf *jump;

static void on_fault(int sig)
{
	if (jump)
		siglongjmp(*jump, sig);
	signal(sig, SIG_DFL);
}

/* Whether @fn could do all that it wanted to do with memory. */
bool guarded(void (*fn)(void *), void *arg)
{
	sigjmp_buf here;
	bool ok = false;

	__atomic_add_fetch(&board->touches, 1, __ATOMIC_RELAXED);
	jump = &here;
	if (!sigsetjmp(here, 1)) {
		fn(arg);
		ok = true;
	} else {
		__atomic_add_fetch(&board->faults_refused, 1,
				   __ATOMIC_RELAXED);
	}
	jump = NULL;
	return ok;
}

unsigned char *address_of(const struct spot *s)
{
	return arena + (s - w.spot) * SPOT_BYTES;
}

/* Take the place from whatever is there. */
void free_spot(struct spot *s)
{
	munlock(address_of(s), SPOT_BYTES);
	if (mmap(address_of(s), SPOT_BYTES, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		_exit(4);
	*s = (struct spot){ .kind = FREE };
}

struct spot *spot_to_use(void)
{
	uint32_t i;

	for (i = 0; i < NR_SPOTS; i++)
		if (w.spot[i].kind == FREE)
			return &w.spot[i];
	i = below(NR_SPOTS);
	free_spot(&w.spot[i]);
	return &w.spot[i];
}

static struct spot *used_spot(int kind, bool writable)
{
	uint32_t i, first = below(NR_SPOTS);
	struct spot *s, *found = NULL;

	for (i = 0; i < NR_SPOTS; i++) {
		s = &w.spot[(first + i) % NR_SPOTS];
		if ((int)s->kind != kind)
			continue;
		found = s;
		if (s->writable || !writable)
			break;
	}
	return found;
}

int map_at(struct spot *s, int fd, size_t bytes, int prot, int flags, uint64_t offset)
{
	void *p = mmap(address_of(s), bytes, prot, flags | MAP_FIXED, fd,
		       offset);

	if (p == MAP_FAILED) {
		int err = errno;

		/* MAP_FIXED may have taken away what was there. */
		free_spot(s);
		return -err;
	}
	return 0;
}

/* A private one can be written to, whatever the region is for. */
static int map_some(bool private)
{
	struct hold *r = any_hold(w.region);
	uint32_t first, pages;
	struct spot *s;
	int ret;

	if (!r || !r->pages || r->file >= NR_BACKING)
		return -EBADF;
	s = spot_to_use();
	first = chance(60) ? 0 : below(r->pages);
	pages = r->pages - first;
	if (chance(40))
		pages = 1 + below(pages);
	if (pages > MAX_PAGES)
		pages = MAX_PAGES;
	ret = map_at(s, r->fd, pages * PAGE_BYTES,
		     PROT_READ | (r->writable || private ? PROT_WRITE : 0),
		     (private ? MAP_PRIVATE : MAP_SHARED) |
		     (chance(10) ? MAP_POPULATE : 0), first * PAGE_BYTES);
	if (!ret)
		*s = (struct spot){ REGION, r->file, r->first + first, pages,
				    r->writable || private, private };
	return ret;
}

int op_map(void)
{
	return map_some(false);
}

int op_map_private(void)
{
	return map_some(true);
}

/* Anything; what succeeds is not known by its data. */
int op_map_odd(void)
{
	struct hold *h = any_hold(chance(70) ? w.region : w.container);
	struct spot *s;
	int ret;

	if (!h)
		return -EBADF;
	s = spot_to_use();
	ret = map_at(s, h->fd, 1 + below(chance(50) ? SPOT_BYTES : PAGE_BYTES),
		     below(8), chance(80) ? MAP_SHARED : 1 + below(3),
		     chance(70) ? below(64) * PAGE_BYTES :
		     fuzz_random(&w.rng) >> below(64) & ~(PAGE_BYTES - 1));
	free_spot(s);
	return ret;
}

struct access {
	volatile uint64_t *at;
	uint64_t value;
	bool write;
};

static void access_word(void *arg)
{
	struct access *a = arg;

	if (a->write)
		*a->at = a->value;
	else
		a->value = *a->at;
}

/* One word of page @page of @s: write it, or read and judge it. */
static int touch(const struct spot *s, uint32_t page, bool write)
{
	uint32_t word = below(PAGE_BYTES / 8);
	uint64_t right = data_word(s->file, s->first + page, word);
	struct access a = {
		.at = (void *)(address_of(s) + page * PAGE_BYTES + 8 * word),
		.value = right | (s->private ? PRIVATE_BYTE :
				  below(PRIVATE_BYTE)),
		.write = write,
	};

	if (!guarded(access_word, &a))
		return -EFAULT;
	__atomic_add_fetch(&board->words, 1, __ATOMIC_RELAXED);
	if (!write && (!data_ok(a.value, s->file, s->first + page, word) ||
		       (!s->private && (a.value & 0xff) == PRIVATE_BYTE)))
		wrong("worker %u: file %u page %u word %u is %016llx, not %016llx",
		      w.me, s->file, s->first + page, word,
		      (unsigned long long)a.value, (unsigned long long)right);
	return 0;
}

static int touch_some(bool write)
{
	struct spot *s = used_spot(REGION, write && chance(95));
	uint32_t nr = 1 + below(12);
	int ret = -EFAULT;

	while (s && nr--)
		if (!touch(s, below(s->pages), write))
			ret = 0;
	return ret;
}

int op_touch_read(void)
{
	return touch_some(false);
}

int op_touch_write(void)
{
	return touch_some(true);
}

int op_sweep(void)
{
	bool write = chance(30);
	struct spot *s = used_spot(REGION, write);
	int ret = -EFAULT;
	uint32_t i;

	for (i = 0; s && i < s->pages; i++)
		if (!touch(s, i, write))
			ret = 0;
	return ret;
}

int op_munmap(void)
{
	struct spot *s = used_spot(chance(90) ? REGION : SHARED, chance(50));

	if (!s)
		return -EFAULT;
	free_spot(s);
	return 0;
}

/* A piece of a mapping: its address and length. */
static int piece(unsigned char **at, size_t *bytes)
{
	struct spot *s = used_spot(chance(90) ? REGION : SHARED, chance(50));
	uint32_t first;

	if (!s)
		return -EFAULT;
	first = chance(50) ? 0 : below(s->pages);
	*at = address_of(s) + first * PAGE_BYTES;
	*bytes = (1 + below(s->pages - first)) * PAGE_BYTES;
	return 0;
}

int op_munmap_part(void)
{
	unsigned char *at;
	size_t bytes;
	int ret = piece(&at, &bytes);

	if (ret)
		return ret;
	ret = or_errno(munmap(at, bytes));
	/* What is there now gives a signal, as before. */
	mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	     MAP_NORESERVE | MAP_FIXED, -1, 0);
	return ret;
}

/* To another place; at times smaller, larger, or leaving the old one. */
int op_mremap(void)
{
	struct spot *from = used_spot(REGION, false), *to = spot_to_use();
	size_t old, new;
	void *p;
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED, err;

	if (!from || from == to || from->kind != REGION)
		return -EFAULT;
	old = from->pages * PAGE_BYTES;
	new = chance(70) ? old : (1 + below(from->pages)) * PAGE_BYTES;
	if (chance(10))
		new = (1 + below(MAX_PAGES)) * PAGE_BYTES;
	if (chance(10))
		flags |= MREMAP_DONTUNMAP;
	if (chance(10))
		old = 0;
	p = mremap(address_of(from), old, new, flags, address_of(to));
	err = errno;
	if (p == MAP_FAILED) {
		free_spot(to);
		return -err;
	}
	*to = (struct spot){ REGION, from->file, from->first,
			     new / PAGE_BYTES, from->writable, from->private };
	free_spot(from);
	return 0;
}

int op_mprotect(void)
{
	unsigned char *at;
	size_t bytes;

	if (piece(&at, &bytes))
		return -EFAULT;
	return or_errno(mprotect(at, bytes, chance(70) ? PROT_READ | PROT_WRITE :
				 below(8)));
}

int op_madvise(void)
{
	static const int advice[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_REMOVE,
		MADV_MERGEABLE, MADV_HUGEPAGE, MADV_DONTDUMP, MADV_WIPEONFORK,
		MADV_COLD, MADV_PAGEOUT,
		MADV_POPULATE_READ, MADV_POPULATE_READ, MADV_POPULATE_WRITE,
		MADV_POPULATE_WRITE, MADV_COLLAPSE,
	};
	unsigned char *at;
	size_t bytes;

	/* No MADV_DONTFORK: a child's libraries would map things in the gap. */
	if (piece(&at, &bytes))
		return -EFAULT;
	return or_errno(madvise(at, bytes,
				advice[below(sizeof(advice) / sizeof(*advice))]));
}

int op_mlock(void)
{
	unsigned char *at;
	size_t bytes;

	if (piece(&at, &bytes))
		return -EFAULT;
	return or_errno(chance(50) ? mlock(at, bytes) :
			mlock2(at, bytes, MLOCK_ONFAULT));
}

int op_munlock(void)
{
	unsigned char *at;
	size_t bytes;

	if (piece(&at, &bytes))
		return -EFAULT;
	return or_errno(munlock(at, bytes));
}

int op_msync(void)
{
	static const int flags[] = { MS_SYNC, MS_SYNC, MS_ASYNC,
				     MS_INVALIDATE, MS_SYNC | MS_INVALIDATE };
	unsigned char *at;
	size_t bytes;

	if (piece(&at, &bytes))
		return -EFAULT;
	return or_errno(msync(at, bytes, flags[below(5)]));
}

int op_mincore(void)
{
	unsigned char *at, vec[MAX_PAGES];
	size_t bytes;

	if (piece(&at, &bytes))
		return -EFAULT;
	return or_errno(mincore(at, bytes, vec));
}

/* An array that some policy shares, or what is not there. */
int op_shared_map(void)
{
	struct hold *c = any_hold(w.container), *next = c;
	uint32_t slot = 2, i;
	struct hipec_operand o;
	bool found = false;
	struct spot *s;
	int ret;

	if (!c)
		return -EBADF;
	for (i = 0; i < 4 && !found; i++, next = any_hold(w.container))
		for (c = next, slot = 2; !found && !hipec_operand(c->fd, 0, slot, &o);
		     slot += !found)
			found = o.operand_flags & HIPEC_OPERAND_SHARED;
	s = spot_to_use();
	ret = map_at(s, c->fd, (1 + below(3)) * PAGE_BYTES / 2,
		     chance(80) ? PROT_READ | PROT_WRITE : below(8),
		     chance(90) ? MAP_SHARED : MAP_PRIVATE,
		     HIPEC_SHARED_OFFSET(slot) +
		     (chance(90) ? 0 : below(8) * PAGE_BYTES));
	if (!ret)
		*s = (struct spot){ .kind = SHARED, .pages = 1 };
	return ret;
}

int op_shared_use(void)
{
	struct spot *s = used_spot(SHARED, false);
	struct access a = { .value = below(20), .write = chance(80) };

	if (!s)
		return -EFAULT;
	a.at = (void *)(address_of(s) + 8 * below(PAGE_BYTES / 8));
	return guarded(access_word, &a) ? 0 : -EFAULT;
}

/* The second thread: anywhere, any time, whatever the first is doing there. */
static void *helper(void *arg)
{
	struct fuzz_rng rng = { (uintptr_t)arg };
	struct access a;

	for (;;) {
		size_t page = fuzz_below(&rng, NR_SPOTS * MAX_PAGES);

		/* Half of it at the places' beginnings, where most is. */
		if (fuzz_chance(&rng, 50))
			page -= page % MAX_PAGES - page % 16;
		a.write = fuzz_chance(&rng, 20);
		a.value = 0;
		a.at = (void *)(arena + page * PAGE_BYTES + 8 * 511);
		guarded(access_word, &a);
		if (fuzz_chance(&rng, 70))
			usleep(fuzz_below(&rng, 4000));
	}
	return NULL;
}

void start_helper(void)
{
	struct sigaction action = { .sa_handler = on_fault,
				    .sa_flags = SA_NODEFER };
	pthread_t thread;

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	pthread_create(&thread, NULL, helper,
		       (void *)(uintptr_t)fuzz_random(&w.rng));
}
