// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of a running program: its call stack, from unwind tables, which
 * distributions' programs have, or from frame pointers. context.h says what a context is.
 */
#define _GNU_SOURCE	/* _dl_find_object(), process_vm_readv() */
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../module/pool/context.h"
#include "tracer.h"

#define LEFT_OUT 32	/* frames that do not count, and are looked at all the same */
#define PAGE 4096
#define MAX_FRAME_BYTES (1u << 20)
#define ALIGN4(n) (((n) + 3) & ~(size_t)3)

static struct link_map *self, *libc;

static struct link_map *map_of(const void *address, struct dl_find_object *found)
{
	return _dl_find_object((void *)address, found) ? NULL :
	       found->dlfo_link_map;
}

/* A pointer into this library: of a function that others may stand before, no. */
static struct link_map *own_map(void)
{
	struct dl_find_object found;

	return map_of(&self, &found);
}

const char *tracer_library(void)
{
	struct link_map *map = own_map();

	return map ? map->l_name : "";
}

/* backtrace() loads a library when it is first called: not later, in a handler. */
void tracer_begin_contexts(void)
{
	struct dl_find_object found;
	void *pc[1];

	self = own_map();
	libc = map_of(tracer_real("read"), &found);
	backtrace(pc, 1);
}

/*
 * May the two words at @at be read? What is called a frame may be anything, so the
 * kernel is asked; @page, of which it was asked last, is known.
 */
static bool is_readable(const uintptr_t *at, uintptr_t *page)
{
	uintptr_t words[2], mine = (uintptr_t)(at + 1) / PAGE;
	struct iovec to = { words, sizeof(words) };
	struct iovec from = { (void *)at, sizeof(words) };

	if ((uintptr_t)at / PAGE == *page && mine == *page)
		return true;
	*page = mine;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(words);
}

static int walk_frames(void **pc, int most)
{
	const uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t page = (uintptr_t)frame / PAGE, next;
	int n = 0;

	while (n < most && is_readable(frame, &page)) {
		next = frame[0];
		pc[n++] = (void *)frame[1];
		if (next <= (uintptr_t)frame || next % sizeof(next) ||
		    next - (uintptr_t)frame > MAX_FRAME_BYTES)
			break;
		frame = (const uintptr_t *)next;
	}
	return n;
}

static const ElfW(Nhdr) *find_build_id(const char *note, size_t bytes)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)note;
		size_t size = sizeof(*n) + ALIGN4((size_t)n->n_namesz) +
			      ALIGN4((size_t)n->n_descsz);

		if (size > bytes)
			return NULL;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    !memcmp(n + 1, "GNU", 4))
			return n;
		note += size;
		bytes -= size;
	}
	return NULL;
}

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* Its headers are in memory, as the loader left them. */
static uint64_t point_of(const struct dl_find_object *f, uintptr_t pc)
{
	const char *start = f->dlfo_map_start, *end = f->dlfo_map_end;
	const ElfW(Ehdr) *e = (const void *)start;
	const ElfW(Phdr) *p;
	const char *name = f->dlfo_link_map->l_name;
	ElfW(Addr) base = f->dlfo_link_map->l_addr;
	uint64_t offset = pc - base;
	const ElfW(Nhdr) *id = NULL;
	int i;

	if (!*name)
		name = (const char *)getauxval(AT_EXECFN) ?: "";
	if (memcmp(e->e_ident, ELFMAG, SELFMAG))
		goto out;
	p = (const void *)(start + e->e_phoff);
	for (i = 0; i < e->e_phnum && (const char *)(p + 1) <= end; i++, p++) {
		const char *at = (const char *)base + p->p_vaddr;

		if (p->p_type == PT_NOTE && !id && at >= start &&
		    at + p->p_filesz <= end)
			id = find_build_id(at, p->p_filesz);
		if (p->p_type == PT_LOAD && pc - (uintptr_t)at <= p->p_filesz)
			offset = pc - (uintptr_t)at + p->p_offset;
	}
out:
	if (id)
		return context_point((const char *)(id + 1) + ALIGN4(id->n_namesz),
				     id->n_descsz, offset);
	name = last_part(name);
	return context_point(name, strlen(name), offset);
}

/**
 * tracer_context() - program context of who called
 * @head:  says how
 * @fault: NULL, or where a signal that is being handled came from
 *
 * A return address may be the first byte behind its function, so its file is that
 * of the byte before.
 *
 * Context: any; in signal handlers too.
 * Return: a context, or 0 if nothing is known.
 */
uint64_t tracer_context(const struct tracechan_head *head, void *fault)
{
	void *pc[CONTEXT_MAX_DEPTH + LEFT_OUT];
	uint64_t hash = CONTEXT_NONE;
	uint32_t points = 0;
	int most = head->depth + LEFT_OUT, i, n;

	if (!head->depth)
		return 0;
	/* A signal's frame has no frame pointer: that of who was interrupted stands. */
	pc[0] = fault;
	n = head->frames ? walk_frames(pc + !!fault, most - 1) + !!fault :
			   backtrace(pc, most);
	for (i = 0; i < n && points < head->depth; i++) {
		struct dl_find_object found;
		struct link_map *map = map_of((char *)pc[i] - 1, &found);

		if (!map || map == self || map == libc)
			continue;
		hash = context_add(hash, point_of(&found, (uintptr_t)pc[i]));
		points++;
	}
	return context_end(hash, points);
}
