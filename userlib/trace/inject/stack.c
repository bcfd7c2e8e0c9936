// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of a running program: its call stack, from unwind tables, which
 * distributions' programs have, or as the module walks it (context/stack.c). hash.h
 * says what a context is.
 */
#define _GNU_SOURCE	/* _dl_find_object(), process_vm_readv(), REG_RIP */
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../../module/context/stack.h"
#include "tracer.h"

#define LEFT_OUT 32	/* frames that do not count, and are looked at all the same */
#define PAGE 4096ul

/* Where the first stack begins: the loader's. */
extern void *__libc_stack_end;

static struct link_map *self;

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
	void *pc[1];

	self = own_map();
	backtrace(pc, 1);
}

/* A page that the kernel was asked of last, as memory may be anything. */
struct known {
	uintptr_t data, code;
};

/* May @bytes at @at, all of one page or two, be read? */
static bool is_readable(uintptr_t at, size_t bytes, uintptr_t *page)
{
	char bytes_[HIPEC_STACK_BLOCK * sizeof(u64)];
	struct iovec to = { bytes_, bytes };
	struct iovec from = { (void *)at, bytes };

	if (at / PAGE == *page && (at + bytes - 1) / PAGE == *page)
		return true;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)bytes)
		return false;
	*page = at / PAGE;
	return true;
}

static bool read_words(void *host, u64 at, u64 *words)
{
	struct known *known = host;

	if (!is_readable(at, HIPEC_STACK_BLOCK * sizeof(*words), &known->data))
		return false;
	memcpy(words, (const void *)at, HIPEC_STACK_BLOCK * sizeof(*words));
	return true;
}

static bool read_code(void *host, u64 at, u64 *bytes)
{
	struct known *known = host;

	if (!is_readable(at, sizeof(*bytes), &known->code))
		return false;
	memcpy(bytes, (const void *)at, sizeof(*bytes));
	return true;
}

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* Of what is left out, the library that this is a part of. */
static bool is_left_out(const struct link_map *map)
{
	return map == self || context_is_left_out(last_part(map->l_name));
}

/* What its file is called in points. Its headers are in memory, as the loader left them. */
static uint64_t file_of(const struct dl_find_object *f)
{
	const char *name = f->dlfo_link_map->l_name;
	size_t size = (char *)f->dlfo_map_end - (char *)f->dlfo_map_start;
	uint8_t id[HIPEC_BUILD_ID_MAX];
	uint32_t n = hipec_buildid_find(f->dlfo_map_start,
					size < PAGE ? size : PAGE, id);

	if (n)
		return context_hash(CONTEXT_NONE, id, n);
	if (!*name)
		name = (const char *)getauxval(AT_EXECFN) ?: "";
	name = last_part(name);
	return context_hash(CONTEXT_NONE, name, strlen(name));
}

/* The part of the file that @at is in, and may be run. Return: false: in none. */
static bool find_part(const struct dl_find_object *f, uintptr_t at,
		      struct hipec_stack_map *map)
{
	const char *start = f->dlfo_map_start, *end = f->dlfo_map_end;
	const ElfW(Ehdr) *e = (const void *)start;
	const ElfW(Phdr) *p = (const void *)(start + e->e_phoff);
	int i;

	/* What the kernel maps into programs is of no file. */
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    (uintptr_t)start == getauxval(AT_SYSINFO_EHDR))
		return false;
	for (i = 0; i < e->e_phnum && (const char *)(p + 1) <= end; i++, p++) {
		uintptr_t from = f->dlfo_link_map->l_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
		    at < (from & -PAGE) ||
		    at >= ((from + p->p_filesz + PAGE - 1) & -PAGE))
			continue;
		map->start = from & -PAGE;
		map->end = (from + p->p_filesz + PAGE - 1) & -PAGE;
		map->offset = p->p_offset & -PAGE;
		return true;
	}
	return false;
}

static void find_map(void *host, u64 at, struct hipec_stack_map *map)
{
	struct dl_find_object found;
	struct link_map *object = map_of((void *)at, &found);

	(void)host;
	map->start = at;
	map->end = at + 1;
	if (!object || !find_part(&found, at, map))
		return;
	map->code = true;
	map->skip = is_left_out(object);
	map->file = map->skip ? 0 : file_of(&found);
}

/* Registers of who was interrupted, or, as if they were these, our own. */
static uint64_t walk_frames(const ucontext_t *from, uint32_t depth)
{
	static const struct hipec_stack_ops ops = {
		.words = read_words, .code = read_code, .map = find_map,
	};
	struct hipec_stack_point point[CONTEXT_MAX_DEPTH];
	struct known known = { 0, 0 };
	struct hipec_stack_regs regs;
	struct hipec_stack s;

	regs.ip = 0;
	regs.end = (uintptr_t)__libc_stack_end;
	regs.sp = regs.bp = (uintptr_t)__builtin_frame_address(0);
	if (from) {
		regs.ip = from->uc_mcontext.gregs[REG_RIP];
		regs.sp = from->uc_mcontext.gregs[REG_RSP];
		regs.bp = from->uc_mcontext.gregs[REG_RBP];
	}
	return hipec_stack_context(point, hipec_stack_walk(&ops, &known, &regs,
							   point, depth, &s));
}

static uint64_t unwind(uint32_t depth)
{
	struct hipec_stack_point point[CONTEXT_MAX_DEPTH];
	void *pc[CONTEXT_MAX_DEPTH + LEFT_OUT];
	uint32_t nr = 0;
	int i, n;

	n = backtrace(pc, depth + LEFT_OUT);
	for (i = 0; i < n && nr < depth; i++) {
		struct dl_find_object found;
		struct hipec_stack_map map;

		if (!map_of((char *)pc[i] - 1, &found) ||
		    is_left_out(found.dlfo_link_map))
			continue;
		if (!find_part(&found, (uintptr_t)pc[i] - 1, &map))
			continue;
		point[nr++] = (struct hipec_stack_point){
			file_of(&found), (uintptr_t)pc[i] - map.start + map.offset,
		};
	}
	return hipec_stack_context(point, nr);
}

/**
 * tracer_context() - program context of who called
 * @head: says how
 * @from: NULL, or where a signal that is being handled came from, a ucontext_t
 *
 * A return address may be the first byte behind its function, so its file is that
 * of the byte before. The module's contexts of faults are those of --stack frames.
 *
 * Context: any; in signal handlers too.
 * Return: a context, or 0 if nothing is known.
 */
uint64_t tracer_context(const struct tracechan_head *head, const void *from)
{
	if (!head->depth)
		return 0;
	return head->frames ? walk_frames(from, head->depth) :
			      unwind(head->depth);
}
