// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations in which the kernel reads or writes the pages, pins them, or says
 * that they are on the disk.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "touch.h"

/* Behind here the file of SLOT_OWN is cut; a copy may meet it half way. */
static bool may_be_cut(uint32_t s, uint32_t page)
{
	return s == SLOT_OWN && page >= CUT_FIRST;
}

static uint32_t cuts_of(uint32_t s, uint32_t page)
{
	return __atomic_load_n(&board->slot[s].page[page].cuts,
			       __ATOMIC_SEQ_CST);
}

static void load_word(void *arg)
{
	struct touch *t = arg;
	volatile uint64_t *p = (void *)address_of(t->sp, t->page);

	t->value = p[t->word];
}

/*
 * read() into a page. The kernel copies byte by byte, so others could see half a
 * count: only one byte may differ.
 */
int op_copy_in(void)
{
	uint32_t page, count, cuts;
	struct spot *sp = any_page(SHARED, true, &page);
	struct touch t = { .sp = sp, .page = page, .word = WORD_OF(me.w) };
	uint64_t value;

	if (!sp || may_be_cut(sp->s, page))
		return -ENOENT;
	if (!guarded(load_word, &t))
		return refused(sp->s);
	count = shadow_begin(sp->s, page, me.w, &cuts);
	value = word_value(sp->s, page, me.w, count);
	if (value >> 8 != t.value >> 8) {
		write_page(sp, page);
		return -EAGAIN;
	}
	if (pwrite(me.memory, &value, sizeof(value), 0) != sizeof(value) ||
	    pread(me.memory, address_of(sp, page) + 8 * t.word, sizeof(value),
		  0) != sizeof(value))
		return -errno;
	shadow_end(sp->s, page, me.w, count, cuts);
	return 0;
}

/* write() from a page. */
int op_copy_out(void)
{
	uint32_t page, lo, cuts;
	struct spot *sp = any_page(SHARED, false, &page);

	if (!sp)
		return -ENOENT;
	cuts = cuts_of(sp->s, page);
	lo = shadow_lo(sp->s, page, me.w);
	if (sp->copies ||
	    pwrite(me.memory, address_of(sp, page), PAGE_BYTES, 0) !=
	    (ssize_t)PAGE_BYTES ||
	    pread(me.memory, me.buffer, PAGE_BYTES, 0) != (ssize_t)PAGE_BYTES)
		return -EFAULT;
	check_own(sp->s, page, (void *)me.buffer, me.w, lo, cuts, "write()");
	return 0;
}

/* Direct I/O into a page: of each page one thread alone writes that sector. */
int op_disk_in(void)
{
	uint32_t page, count, cuts;
	struct spot *sp = any_page(SHARED, true, &page);

	if (!sp || me.w != me.t)
		return -ENOENT;
	page += (me.t + NR_THREADS - page % NR_THREADS) % NR_THREADS;
	if (page - sp->first >= sp->nr || !sp->there[page - sp->first])
		return -ENOENT;
	count = shadow_begin(sp->s, page, WRITER_DISK, &cuts);
	memset(me.buffer, 0, 512);
	*(uint64_t *)me.buffer = word_value(sp->s, page, WRITER_DISK, count);
	if (pwrite(me.scratch, me.buffer, 512, 0) != 512)
		return -errno;
	if (pread(me.scratch, address_of(sp, page) + 8 * WORD_OF(WRITER_DISK),
		  512, 0) != 512)
		return -errno;
	shadow_end(sp->s, page, WRITER_DISK, count, cuts);
	return 0;
}

int op_disk_out(void)
{
	uint32_t page, lo, cuts;
	struct spot *sp = any_page(SHARED, false, &page);

	if (!sp || me.w != me.t)
		return -ENOENT;
	cuts = cuts_of(sp->s, page);
	lo = shadow_lo(sp->s, page, me.w);
	if (pwrite(me.scratch, address_of(sp, page), PAGE_BYTES, 0) !=
	    (ssize_t)PAGE_BYTES ||
	    pread(me.scratch, me.buffer, PAGE_BYTES, 0) != (ssize_t)PAGE_BYTES)
		return -EFAULT;
	check_own(sp->s, page, (void *)me.buffer, me.w, lo, cuts,
		  "direct write()");
	return 0;
}

/* A page into a pipe: it is pinned until it is read from there. */
int op_pin(void)
{
	uint32_t page;
	struct spot *sp = any_page(SHARED, false, &page);
	struct iovec iov;
	ssize_t n;

	if (!sp || me.pins)
		return -ENOENT;
	me.pinned.s = sp->s;
	me.pinned.page = page;
	me.pinned.cuts = cuts_of(sp->s, page);
	me.pinned.lo = shadow_lo(sp->s, page, me.w);
	iov = (struct iovec){ address_of(sp, page), PAGE_BYTES };
	n = vmsplice(me.pipe[1], &iov, 1, SPLICE_F_NONBLOCK);
	if (n > 0 && n != (ssize_t)PAGE_BYTES)
		wrong("vmsplice: %zd", n);
	me.pins = n > 0;
	return or_errno(n);
}

int op_unpin(void)
{
	if (!me.pins)
		return -ENOENT;
	if (read(me.pipe[0], me.buffer, PAGE_BYTES) != (ssize_t)PAGE_BYTES)
		return -errno;
	me.pins = false;
	check_own(me.pinned.s, me.pinned.page, (void *)me.buffer, me.w,
		  me.pinned.lo, me.pinned.cuts, "pinned page");
	return 0;
}

#define NR_SEEN 3

/* What the disk must have of some pages once they are written back. */
struct seen {
	uint32_t page, cuts, lo[NR_WRITERS];
};

static void see(struct seen *seen, uint32_t s, uint32_t first, uint32_t nr)
{
	uint32_t i, w;

	for (i = 0; i < NR_SEEN; i++) {
		seen[i].page = first + below(nr);
		seen[i].cuts = cuts_of(s, seen[i].page);
		for (w = 0; w < NR_WRITERS; w++)
			seen[i].lo[w] = shadow_lo(s, seen[i].page, w);
	}
}

static void check_disk(const struct seen *seen, uint32_t s, const char *where)
{
	uint64_t *data = (void *)me.buffer;
	uint32_t i, w;

	for (i = 0; i < NR_SEEN; i++, seen++) {
		/* Shorter just now, or a bad block. */
		if (pread(slot_direct[s], data, PAGE_BYTES,
			  seen->page * PAGE_BYTES) != (ssize_t)PAGE_BYTES)
			continue;
		for (w = 0; w < NR_WRITERS; w++)
			check_word(s, seen->page, w, data[WORD_OF(w)],
				   seen->lo[w], seen->cuts, where);
		if (data[WORD_PRIVATE])
			wrong("%s: slot %u page %u: a private write got to the disk",
			      where, s, seen->page);
	}
}

static int synced(uint32_t s, int ret, const char *what)
{
	if (ret && s == SLOT_GOOD && !board->inject)
		wrong("%s: slot %u: errno %d without a reason", what, s, errno);
	return or_errno(ret);
}

int op_sync(void)
{
	struct spot *sp = any_spot(SHARED);
	struct seen seen[NR_SEEN];
	uint32_t first, nr;
	int ret;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	see(seen, sp->s, first, nr);
	ret = synced(sp->s, msync(address_of(sp, first), nr * PAGE_BYTES,
				  MS_SYNC), "msync");
	if (!ret)
		check_disk(seen, sp->s, "disk after msync");
	return ret;
}

int op_sync_async(void)
{
	struct spot *sp = any_spot(SHARED);
	uint32_t first, nr;

	if (!sp || !any_run(sp, &first, &nr))
		return -ENOENT;
	return or_errno(msync(address_of(sp, first), nr * PAGE_BYTES, MS_ASYNC));
}

int op_fsync(void)
{
	uint32_t s = below(NR_SLOTS), region = below(NR_REGIONS);
	struct seen seen[NR_SEEN];
	int ret;

	if (!me.gen[s])
		return -ENOENT;
	see(seen, s, region ? REGION_FIRST : 0,
	    region ? NR_PAGES - REGION_FIRST : REGION_FIRST);
	ret = synced(s, fsync(me.region[s][region]), "fsync");
	if (!ret)
		check_disk(seen, s, "disk after fsync");
	return ret;
}

/* All mappings and descriptors go, and come again when they are wanted. */
int op_reopen(void)
{
	uint32_t s = below(NR_SLOTS);

	if (!me.gen[s])
		return -ENOENT;
	let_go(s);
	return 0;
}

/* The file itself, through the page cache: as old as the disk may be. */
int op_cached(void)
{
	uint32_t s = below(NR_SLOTS), page = below(NR_PAGES), w;
	uint64_t *data = (void *)me.buffer;

	if (may_be_cut(s, page) ||
	    pread(slot_file[s], data, PAGE_BYTES, page * PAGE_BYTES) !=
	    (ssize_t)PAGE_BYTES)
		return -EIO;
	for (w = 0; w < NR_WRITERS; w++)
		check_word(s, page, w, data[WORD_OF(w)], 0, 1, "page cache");
	return 0;
}

/* A container of its own for a moment: others must make room. */
int op_load_other(void)
{
	uint32_t first = below(OTHER_PAGES), page;
	int fd = hipec_open(), region, ret;
	volatile uint64_t *p;

	if (fd < 0)
		return fd;
	ret = load_any(fd, &me.rng, 20 + below(60), chance(70) ? HIPEC_LOAD_SHARE : 0);
	region = ret ? ret : hipec_attach(fd, other_file, 0, 0, false, NULL);
	close(fd);
	if (region < 0)
		return region;
	/* Not anywhere: what is free of others' places is theirs. */
	p = mmap(me.arena + NR_SPOTS * SPOT_BYTES, OTHER_PAGES * PAGE_BYTES,
		 PROT_READ, MAP_SHARED | MAP_FIXED, region, 0);
	close(region);
	if (p == MAP_FAILED)
		return -errno;
	for (page = first; page < OTHER_PAGES && !board->inject; page++)
		if (p[page * PAGE_BYTES / 8] != page + 1)
			wrong("another file's page %u has %llx", page,
			      (unsigned long long)p[page * PAGE_BYTES / 8]);
	munmap((void *)p, OTHER_PAGES * PAGE_BYTES);
	return 0;
}
