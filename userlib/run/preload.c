// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls on memory that a program's maps go through. A map is made as the program
 * asks for it; then the region is put over the part of it that is in the file, at the
 * same place. So what lies behind the file's end, all errors and all flags are the
 * kernel's own, and a region that cannot be had is not missed.
 *
 * A store through a region is in the file when the region is written back. Where a
 * program may think that others see it now, when it unmaps, syncs or ends, that is
 * done for it.
 */
#define _GNU_SOURCE	/* mremap(), RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

PRELOAD_EXPORT void _Exit(int status) __attribute__((noreturn));

static void *real_mmap(void *at, size_t bytes, int prot, int flags, int fd,
		       off_t offset)
{
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}

static void *real_mremap(uintptr_t at, size_t bytes, size_t new_bytes, int flags,
			 uintptr_t to)
{
	return (void *)syscall(SYS_mremap, at, bytes, new_bytes, flags, to);
}

/* Have what was stored into a range be in its files, of @file or of all. */
static int write_back(uintptr_t start, uintptr_t end, const struct preload_file *file)
{
	struct preload_area a;
	int ret = 0;

	while (start < end && preload_area_written(start, end, file, &a)) {
		if (syscall(SYS_msync, a.start, a.end - a.start, MS_SYNC))
			ret = -errno;
		start = a.end;
	}
	return ret;
}

/* A range is about to be another thing. */
static void forget(uintptr_t start, size_t bytes)
{
	uintptr_t end;

	if (!preload_area_any() || __builtin_add_overflow(start, bytes, &end))
		return;
	end = preload_up(end);
	write_back(start, end, NULL);
	preload_area_cut(start, end);
}

/*
 * Put a region where a map of its file is, which was made as @m says. @written: it was
 * attached to be written. Return: @memory; MAP_FAILED if nothing is there any more, and
 * errno says why.
 */
static void *put_region(void *memory, const struct preload_map *m,
			const struct preload_region *region, bool written,
			const struct preload_file *file)
{
	uint64_t offset = m->offset, bytes = preload_up(m->bytes);
	int private = (m->flags & MAP_TYPE) == MAP_PRIVATE;
	int flags = (private ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED |
		    (m->flags & (MAP_NORESERVE | MAP_LOCKED));
	struct preload_area a = {
		.start = (uintptr_t)memory,
		.number = region->number,
		.offset = offset,
		.prot = m->prot,
		.flags = m->flags & (MAP_TYPE | MAP_NORESERVE | MAP_LOCKED),
		.written = written && !private,
		.file = *file,
	};

	if (offset >= region->length)
		return memory;
	if (bytes > region->length - offset)
		bytes = region->length - offset;
	a.end = a.start + bytes;
	if (!preload_area_add(&a))
		return memory;
	if (real_mmap(memory, bytes, m->prot, flags, region->fd, offset) == memory)
		return memory;
	/* It may be gone by now. */
	preload_area_cut(a.start, a.end);
	return real_mmap(memory, m->bytes, m->prot,
			 (m->flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED, m->fd,
			 m->offset);
}

static void *map_region(struct preload_map *m, const struct preload_region *region,
			enum run_kind kind, const struct preload_file *file)
{
	void *memory;

	/* What is in memory is the policy's: not all of the file, and not twice. */
	m->flags &= ~MAP_POPULATE;
	memory = real_mmap(m->at, m->bytes, m->prot, m->flags, m->fd, m->offset);
	if (memory != MAP_FAILED)
		memory = put_region(memory, m, region, kind != RUN_READ, file);
	return memory;
}

static void *map(struct preload_map m)
{
	struct preload_region region;
	struct preload_file file;
	int saved = errno, ret = 0;
	enum run_kind kind;
	bool strict = false;
	void *memory;

	if (m.flags & MAP_FIXED)
		forget((uintptr_t)m.at, m.bytes);
	kind = preload_wants(&m, &file);
	if (kind)
		ret = preload_ask(kind, m.fd, 0, &region, &strict);
	errno = saved;
	if (kind && ret && strict) {
		errno = -ret;
		return MAP_FAILED;
	}
	if (!kind || ret)
		return real_mmap(m.at, m.bytes, m.prot, m.flags, m.fd, m.offset);
	memory = map_region(&m, &region, kind, &file);
	saved = errno;
	close(region.fd);
	errno = saved;
	return memory;
}

PRELOAD_EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd,
			  off_t offset)
{
	return map((struct preload_map){ at, bytes, prot, flags, fd, offset });
}

PRELOAD_EXPORT void *mmap64(void *at, size_t bytes, int prot, int flags, int fd,
			    off64_t offset)
{
	return map((struct preload_map){ at, bytes, prot, flags, fd, offset });
}

PRELOAD_EXPORT int munmap(void *at, size_t bytes)
{
	forget((uintptr_t)at, bytes);
	return syscall(SYS_munmap, at, bytes);
}

static bool move_part(uintptr_t at, size_t bytes, uintptr_t to)
{
	return real_mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
	       MAP_FAILED;
}

/*
 * A region's part of the memory and the file's are moved one by one; and page by
 * page what the kernel has in several pieces, as after mprotect().
 */
static bool move(uintptr_t at, size_t bytes, uintptr_t to)
{
	uintptr_t end = at + bytes, from, next, page;
	bool moved = true;

	for (from = at; from < end; from = next) {
		next = preload_area_edge(from, end);
		if (move_part(from, next - from, to + (from - at)))
			continue;
		for (page = from; page < next; page += PRELOAD_PAGE)
			moved &= move_part(page, PRELOAD_PAGE, to + (page - at));
	}
	return moved;
}

/*
 * A region's mapping cannot grow (and one with a file's behind it are two): what is
 * longer is mapped anew, and what was there moved into it, with all that a private
 * one has copied. @to is 0 where the kernel chooses.
 */
static void *grow(uintptr_t at, size_t bytes, size_t new_bytes, uintptr_t to)
{
	struct preload_area a;
	struct preload_region region;
	struct preload_map m = { .bytes = new_bytes };
	bool strict;
	void *memory;

	if (!preload_area_find(at, at + bytes, &a) || a.start > at ||
	    preload_ask(RUN_AGAIN, -1, a.number, &region, &strict)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	m.at = (void *)to;
	m.prot = a.prot;
	m.flags = a.flags | (to ? MAP_FIXED : 0);
	m.fd = region.file;
	m.offset = a.offset + (at - a.start);
	memory = real_mmap(m.at, m.bytes, m.prot, m.flags, m.fd, m.offset);
	if (memory != MAP_FAILED)
		memory = put_region(memory, &m, &region, a.written, &a.file);
	close(region.file);
	close(region.fd);
	if (memory != MAP_FAILED) {
		move(at, bytes, (uintptr_t)memory);
		preload_area_cut(at, at + bytes);
	}
	return memory;
}

static void *remap(uintptr_t at, size_t bytes, size_t new_bytes, int flags,
		   uintptr_t to)
{
	if (new_bytes > bytes && !(flags & MREMAP_MAYMOVE)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (new_bytes > bytes)
		return grow(at, bytes, new_bytes, flags & MREMAP_FIXED ? to : 0);
	if (new_bytes < bytes)
		munmap((void *)(at + new_bytes), bytes - new_bytes);
	if (!(flags & MREMAP_FIXED))
		return (void *)at;
	if (!move(at, new_bytes, to))
		return MAP_FAILED;
	preload_area_move(at, at + new_bytes, to);
	return (void *)to;
}

static bool is_free(uintptr_t at, size_t bytes, uintptr_t to, size_t new_bytes)
{
	return to + new_bytes <= at || at + bytes <= to;
}

PRELOAD_EXPORT void *mremap(void *old, size_t old_bytes, size_t new_old_bytes,
			    int flags, ...)
{
	uintptr_t at = (uintptr_t)old, to = 0;
	size_t bytes = preload_up(old_bytes), new_bytes = preload_up(new_old_bytes);
	struct preload_area a;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		to = (uintptr_t)va_arg(ap, void *);
	va_end(ap);
	if (flags & MREMAP_FIXED && is_free(at, bytes, to, new_bytes))
		forget(to, new_bytes);
	/* What the kernel refuses anyway, it refuses itself. */
	if (!preload_area_any() || at & (PRELOAD_PAGE - 1) || !bytes || !new_bytes ||
	    flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED) ||
	    (flags & MREMAP_FIXED &&
	     (!(flags & MREMAP_MAYMOVE) || !to || to & (PRELOAD_PAGE - 1) ||
	      !is_free(at, bytes, to, new_bytes))) ||
	    !preload_area_find(at, at + bytes, &a))
		return real_mremap(at, old_bytes, new_old_bytes, flags, to);
	return remap(at, bytes, new_bytes, flags, to);
}

/* The file's own descriptor does not know what was stored through a region. */
static int sync_maps(int fd)
{
	struct preload_file file;
	struct stat st;

	if (!preload_area_any() || fstat(fd, &st))
		return 0;
	file.dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	file.ino = S_ISBLK(st.st_mode) ? 0 : st.st_ino;
	return write_back(0, UINTPTR_MAX, &file);
}

static int sync_both(int fd, int (*real)(int fd))
{
	int ret = sync_maps(fd);

	if (real(fd))
		return -1;
	if (!ret)
		return 0;
	errno = -ret;
	return -1;
}

PRELOAD_EXPORT int fsync(int fd)
{
	return sync_both(fd, dlsym(RTLD_NEXT, "fsync"));
}

PRELOAD_EXPORT int fdatasync(int fd)
{
	return sync_both(fd, dlsym(RTLD_NEXT, "fdatasync"));
}

__attribute__((destructor)) static void end(void)
{
	if (preload_area_any())
		write_back(0, UINTPTR_MAX, NULL);
}

PRELOAD_EXPORT void _exit(int status)
{
	end();
	for (;;)
		syscall(SYS_exit_group, status);
}

PRELOAD_EXPORT void _Exit(int status)
{
	_exit(status);
}
