// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on mappings, and touches of their pages.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "touch.h"

/* A mapping, or NULL. */
struct spot *any_spot(int kind)
{
	uint32_t i, first = below(NR_SPOTS);
	struct spot *sp;

	for (i = 0; i < NR_SPOTS; i++) {
		sp = &me.spot[(first + i) % NR_SPOTS];
		if (sp->kind != FREE && (kind == FREE || (int)sp->kind == kind))
			return sp;
	}
	return NULL;
}

static struct spot *place(void)
{
	struct spot *sp;
	uint32_t i;

	for (i = 0; i < NR_SPOTS; i++)
		if (me.spot[i].kind == FREE)
			return &me.spot[i];
	sp = &me.spot[below(NR_SPOTS)];
	free_spot(sp);
	return sp;
}

/* Some pages in a row that are mapped. Return: false if none is. */
bool any_run(const struct spot *sp, uint32_t *first, uint32_t *nr)
{
	uint32_t i, from = below(sp->nr), most;

	for (i = 0; i < sp->nr && !sp->there[(from + i) % sp->nr]; i++)
		;
	if (i == sp->nr)
		return false;
	from = (from + i) % sp->nr;
	most = chance(50) ? sp->nr : 1 + below(16);
	for (i = 0; i < most && from + i < sp->nr && sp->there[from + i]; i++)
		;
	*first = sp->first + from;
	*nr = i;
	return true;
}

/* A page that is mapped in some spot. */
struct spot *any_page(int kind, bool write, uint32_t *page)
{
	struct spot *sp = any_spot(kind);
	uint32_t nr;

	if (!sp || (write && !sp->may_write) || !any_run(sp, page, &nr))
		return NULL;
	return sp;
}

static int map(int kind)
{
	uint32_t s = below(NR_SLOTS), region = below(NR_REGIONS);
	uint32_t start = region ? REGION_FIRST : 0;
	uint32_t pages = region ? NR_PAGES - REGION_FIRST : REGION_FIRST;
	uint32_t first = chance(50) ? 0 : below(pages), i;
	uint32_t nr = chance(50) ? pages - first : 1 + below(pages - first);
	int flags = (kind == SHARED ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED;
	bool may_write = chance(75);
	struct spot *sp;

	if (!hold(s))
		return -EAGAIN;
	sp = place();
	if (chance(8))
		flags |= MAP_POPULATE;
	if (mmap(me.arena + (sp - me.spot) * SPOT_BYTES, nr * PAGE_BYTES,
		 PROT_READ | (may_write ? PROT_WRITE : 0), flags,
		 me.region[s][region], first * PAGE_BYTES) == MAP_FAILED)
		return -errno;
	*sp = (struct spot){ .kind = kind, .s = s, .region = region,
			     .first = start + first, .nr = nr,
			     .may_write = may_write,
			     .copies = kind == PRIVATE && may_write };
	for (i = 0; i < nr; i++)
		sp->there[i] = true;
	return 0;
}

int op_map(void)
{
	return map(SHARED);
}

int op_map_private(void)
{
	return map(PRIVATE);
}

int op_unmap(void)
{
	struct spot *sp = any_spot(FREE);

	if (!sp)
		return -ENOENT;
	free_spot(sp);
	return 0;
}

int op_unmap_part(void)
{
	struct spot *sp = any_spot(FREE);
	uint32_t first, nr, i;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	if (munmap(address_of(sp, first), nr * PAGE_BYTES))
		return -errno;
	for (i = first - sp->first; nr--; i++) {
		sp->there[i] = false;
		sp->mark[i] = 0;
	}
	return 0;
}

/* Part of a mapping, to a place of its own. */
int op_move(void)
{
	struct spot *sp = any_spot(FREE), *to, old;
	uint32_t first, nr, i, at;
	void *where;

	if (!sp)
		return -ENOENT;
	to = place();
	if (to == sp || sp->kind == FREE || !any_run(sp, &first, &nr))
		return -ENOENT;
	at = first - sp->first;
	where = me.arena + (to - me.spot) * SPOT_BYTES;
	if (mremap(address_of(sp, first), nr * PAGE_BYTES, nr * PAGE_BYTES,
		   MREMAP_MAYMOVE | MREMAP_FIXED, where) == MAP_FAILED)
		return -errno;
	old = *sp;
	*to = old;
	to->first = first;
	to->nr = nr;
	memset(to->there, 0, sizeof(to->there));
	memset(to->mark, 0, sizeof(to->mark));
	for (i = 0; i < nr; i++) {
		to->there[i] = true;
		to->mark[i] = old.mark[at + i];
		sp->there[at + i] = false;
		sp->mark[at + i] = 0;
	}
	return 0;
}

/* A region's mapping never grows. */
int op_grow(void)
{
	struct spot *sp = any_spot(FREE);
	uint32_t first, nr;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	if (mremap(address_of(sp, first), nr * PAGE_BYTES,
		   (nr + 1) * PAGE_BYTES, MREMAP_MAYMOVE) != MAP_FAILED)
		wrong("mremap() made a mapping longer");
	return 0;
}

/* mprotect() of what is mapped. Return: 0; the first error. */
static int protect(struct spot *sp, int prot)
{
	uint32_t i, end;
	int ret = 0;

	for (i = 0; i < sp->nr; i = end) {
		for (end = i; end < sp->nr && sp->there[end] == sp->there[i];
		     end++)
			;
		if (sp->there[i] &&
		    mprotect(address_of(sp, sp->first + i),
			     (end - i) * PAGE_BYTES, prot) && !ret)
			ret = -errno;
	}
	return ret;
}

int op_protect(void)
{
	struct spot *sp = any_spot(FREE);
	bool on = chance(70);
	int ret;

	if (!sp)
		return -ENOENT;
	sp->may_write = false;
	sp->copies |= on && sp->kind == PRIVATE;
	ret = protect(sp, PROT_READ | (on ? PROT_WRITE : 0));
	sp->may_write = on && !ret;
	return ret;
}

/* As numbers where a C library may not have them yet. */
static const struct {
	int advice;
	bool drops;	/* private copies go */
} advices[] = {
	{ MADV_NORMAL, false }, { MADV_RANDOM, false },
	{ MADV_SEQUENTIAL, false }, { MADV_WILLNEED, false },
	{ MADV_DONTNEED, true }, { MADV_DONTNEED, true },
	{ MADV_DONTNEED, true }, { MADV_REMOVE, true },
	{ MADV_DONTFORK, false }, { MADV_DOFORK, false },
	{ MADV_FREE, true }, { 20 /* COLD */, false },
	{ 21 /* PAGEOUT */, false }, { 21, false },
	{ 22 /* POPULATE_READ */, false }, { 23 /* POPULATE_WRITE */, false },
	{ 24 /* DONTNEED_LOCKED */, true },
};

int op_advise(void)
{
	uint32_t n = below(sizeof(advices) / sizeof(*advices));
	struct spot *sp = any_spot(FREE);
	uint32_t first, nr, i;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	if (advices[n].advice == MADV_DONTFORK)
		sp->not_forked = true;
	if (advices[n].drops)
		for (i = 0; i < nr; i++)
			sp->mark[first - sp->first + i] = 0;
	return or_errno(madvise(address_of(sp, first), nr * PAGE_BYTES,
				advices[n].advice));
}

int op_lock(void)
{
	struct spot *sp = any_spot(FREE);
	uint32_t first, nr;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	return or_errno(mlock(address_of(sp, first), nr * PAGE_BYTES));
}

int op_unlock(void)
{
	struct spot *sp = any_spot(FREE);
	uint32_t first, nr;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	return or_errno(munlock(address_of(sp, first), nr * PAGE_BYTES));
}

static void store(void *arg)
{
	const struct touch *t = arg;
	volatile uint64_t *p = (void *)address_of(t->sp, t->page);

	p[t->word] = t->value;
}

static void look(void *arg)
{
	const struct touch *t = arg;
	volatile uint64_t *p = (void *)address_of(t->sp, t->page);
	uint64_t mark = t->sp->mark[t->page - t->sp->first];
	uint32_t w;

	if (!t->sp->copies) {
		check_page(t->sp->s, t->page, p, "memory");
		if (p[WORD_PRIVATE])
			wrong("slot %u page %u: a private write got into the file",
			      t->sp->s, t->page);
		return;
	}
	/* A copy is as old as it is. */
	for (w = 0; w < NR_WRITERS; w++)
		check_word(t->sp->s, t->page, w, p[WORD_OF(w)], 0, 1, "copy");
	if (mark && p[WORD_PRIVATE] != mark)
		wrong("slot %u page %u: a private copy lost a write: %llx, want %llx",
		      t->sp->s, t->page, (unsigned long long)p[WORD_PRIVATE],
		      (unsigned long long)mark);
}

/* SIGBUS needs a reason. */
int refused(uint32_t s)
{
	__atomic_add_fetch(&board->slot[s].sigbus, 1, __ATOMIC_RELAXED);
	if (s == SLOT_GOOD && !board->inject)
		wrong("slot %u: SIGBUS without a reason", s);
	return -EFAULT;
}

int read_page(struct spot *sp, uint32_t page)
{
	struct touch t = { .sp = sp, .page = page };

	__atomic_add_fetch(&board->touches, 1, __ATOMIC_RELAXED);
	return guarded(look, &t) ? 0 : refused(sp->s);
}

int write_page(struct spot *sp, uint32_t page)
{
	struct touch t = { .sp = sp, .page = page, .word = WORD_OF(me.w) };
	uint32_t count, cuts;

	__atomic_add_fetch(&board->touches, 1, __ATOMIC_RELAXED);
	if (sp->kind == PRIVATE) {
		t.word = WORD_PRIVATE;
		t.value = ++me.nr_marks << 8 | me.w;
		if (!guarded(store, &t))
			return refused(sp->s);
		sp->mark[page - sp->first] = t.value;
		return 0;
	}
	count = shadow_begin(sp->s, page, me.w, &cuts);
	t.value = word_value(sp->s, page, me.w, count);
	if (!guarded(store, &t))
		return refused(sp->s);
	shadow_end(sp->s, page, me.w, count, cuts);
	return 0;
}

/* A few pages near each other, or anywhere. */
static int touch(bool write)
{
	struct spot *sp = any_spot(FREE);
	uint32_t n = 1 + below(12), first, nr;
	int ret = -ENOENT;

	while (sp && n-- && (sp->may_write || !write)) {
		if (!any_run(sp, &first, &nr))
			break;
		ret = write ? write_page(sp, first) : read_page(sp, first);
	}
	return ret;
}

int op_write(void)
{
	return touch(true);
}

int op_read(void)
{
	return touch(false);
}

static int sweep(bool write)
{
	struct spot *sp = any_spot(FREE);
	uint32_t first, nr, page;
	int ret = 0;

	if (!sp || (write && !sp->may_write) || !any_run(sp, &first, &nr))
		return -ENOENT;
	for (page = first; page < first + nr && !board->stop; page++)
		ret |= write ? write_page(sp, page) : read_page(sp, page);
	return ret ? -EFAULT : 0;
}

int op_sweep(void)
{
	return sweep(false);
}

int op_sweep_write(void)
{
	return sweep(true);
}

static void child(uint64_t seed)
{
	uint32_t n, i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	me.w = me.t + NR_THREADS;
	me.rng.state = seed;
	/* What is not inherited is not there. */
	for (i = 0; i < NR_SPOTS; i++)
		if (me.spot[i].not_forked)
			me.spot[i].kind = FREE;
	for (n = below(24); n && !board->wrong; n--) {
		if (chance(50))
			op_write();
		else if (chance(60))
			op_read();
		else if (chance(30))
			op_advise();
		else if (chance(50))
			op_unmap_part();
		else
			op_sync_async();
	}
	if (chance(30))
		kill(getpid(), SIGKILL);
	_exit(0);
}

int op_fork(void)
{
	uint64_t seed = fuzz_random(&me.rng);
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid)
		child(seed);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL &&
	    !board->inject)
		wrong("thread %u: its child was killed by signal %d", me.t,
		      WTERMSIG(status));
	return 0;
}
