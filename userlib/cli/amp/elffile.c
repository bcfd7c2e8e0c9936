// SPDX-License-Identifier: GPL-2.0-only
/*
 * ELF files: what hipec amp wants to know of them. By hand, since libelf would bring
 * zlib along, for four tables.
 *
 * Interface: elffile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elffile.h"

#ifndef ELF_DEBUG_DIR
#define ELF_DEBUG_DIR "/usr/lib/debug/.build-id"
#endif

/* @nr records of @each bytes at @offset; NULL if they are not all in the file. */
static const void *table(const struct elf_file *f, uint64_t offset, uint64_t nr,
			 uint64_t each)
{
	if (offset > f->size || offset % 8 || nr > (f->size - offset) / each)
		return NULL;
	return f->at + offset;
}

static const Elf64_Ehdr *head(const struct elf_file *f)
{
	return (const Elf64_Ehdr *)f->at;
}

static const Elf64_Phdr *segments(const struct elf_file *f, uint32_t *nr)
{
	const Elf64_Phdr *p = table(f, head(f)->e_phoff, head(f)->e_phnum,
				    sizeof(*p));

	*nr = p && head(f)->e_phentsize == sizeof(*p) ? head(f)->e_phnum : 0;
	return p;
}

static const Elf64_Shdr *sections(const struct elf_file *f, uint32_t *nr)
{
	const Elf64_Shdr *s = table(f, head(f)->e_shoff, head(f)->e_shnum,
				    sizeof(*s));

	*nr = s && head(f)->e_shentsize == sizeof(*s) ? head(f)->e_shnum : 0;
	return s;
}

/**
 * elf_open() - a file
 * @f:    filled; elf_close() it
 * @path: of it
 *
 * Return: 0; -ENOEXEC if it is no ELF file of 64 bits; -errno of open() or mmap().
 */
int elf_open(struct elf_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = 0;
	struct stat st;
	void *at;

	*f = (struct elf_file){ 0 };
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		ret = -ENOEXEC;
	at = ret ? NULL : mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!ret && at == MAP_FAILED)
		ret = -errno;
	close(fd);
	if (ret)
		return ret;
	*f = (struct elf_file){ at, st.st_size };
	if (!memcmp(f->at, ELFMAG, SELFMAG) &&
	    f->at[EI_CLASS] == ELFCLASS64 && f->at[EI_DATA] == ELFDATA2LSB)
		return 0;
	elf_close(f);
	return -ENOEXEC;
}

void elf_close(struct elf_file *f)
{
	if (f->at)
		munmap((void *)f->at, f->size);
	*f = (struct elf_file){ 0 };
}

/* In one segment of notes. Return: bytes of the build id; 0: it is not there. */
static uint32_t find_note(const struct elf_file *f, const Elf64_Phdr *p,
			  uint8_t *id)
{
	uint64_t at = p->p_offset, end = at + p->p_filesz;
	Elf64_Nhdr n;

	if (at > f->size || p->p_filesz > f->size - at)
		return 0;
	while (end - at >= sizeof(n)) {
		uint64_t name = at + sizeof(n), text;

		memcpy(&n, f->at + at, sizeof(n));
		text = name + ((uint64_t)n.n_namesz + 3) / 4 * 4;
		if (text > end || n.n_descsz > end - text)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(f->at + name, "GNU", 4)) {
			uint32_t bytes = n.n_descsz < ELF_ID_BYTES ?
					 n.n_descsz : ELF_ID_BYTES;

			memcpy(id, f->at + text, bytes);
			return bytes;
		}
		at = text + ((uint64_t)n.n_descsz + 3) / 4 * 4;
		if (at > end)
			return 0;
	}
	return 0;
}

/* @id: ELF_ID_BYTES. Return: bytes of the build id; 0: it has none. */
uint32_t elf_build_id(const struct elf_file *f, uint8_t *id)
{
	uint32_t nr, i, bytes = 0;
	const Elf64_Phdr *p = segments(f, &nr);

	for (i = 0; i < nr && !bytes; i++)
		if (p[i].p_type == PT_NOTE)
			bytes = find_note(f, &p[i], id);
	return bytes;
}

/* Where the byte at @offset is when it is loaded. Return: whether it is code. */
bool elf_address(const struct elf_file *f, uint64_t offset, uint64_t *address)
{
	uint32_t nr, i;
	const Elf64_Phdr *p = segments(f, &nr);

	for (i = 0; i < nr; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X &&
		    offset >= p[i].p_offset &&
		    offset - p[i].p_offset < p[i].p_filesz) {
			*address = offset - p[i].p_offset + p[i].p_vaddr;
			return true;
		}
	return false;
}

/* The function of one table that @address is in, the last that begins before it. */
static const Elf64_Sym *find(const struct elf_file *f, const Elf64_Shdr *s,
			     uint64_t address)
{
	uint64_t nr = s->sh_size / sizeof(Elf64_Sym), i;
	const Elf64_Sym *sym = table(f, s->sh_offset, nr, sizeof(*sym));
	const Elf64_Sym *best = NULL;

	for (i = 0; sym && i < nr; i++, sym++)
		if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx &&
		    sym->st_value <= address &&
		    address - sym->st_value < (sym->st_size ?: 1) &&
		    (!best || sym->st_value > best->st_value))
			best = sym;
	return best;
}

/* A name of the table's strings; NULL if it does not end in the file. */
static const char *name_of(const struct elf_file *f, const Elf64_Shdr *strings,
			   uint32_t name)
{
	const char *from;

	if (strings->sh_offset > f->size ||
	    strings->sh_size > f->size - strings->sh_offset ||
	    name >= strings->sh_size)
		return NULL;
	from = (const char *)f->at + strings->sh_offset + name;
	return memchr(from, 0, strings->sh_size - name) && *from ? from : NULL;
}

/**
 * elf_symbol() - the function that an address is in
 * @f:       file
 * @address: virtual, as elf_address() gives it
 * @into:    gets how many bytes from its start
 *
 * Return: its name, in the file; NULL: none that is known.
 */
const char *elf_symbol(const struct elf_file *f, uint64_t address, uint64_t *into)
{
	uint32_t nr, i, kind;
	const Elf64_Shdr *s = sections(f, &nr);
	const Elf64_Sym *sym;

	/* All, then those that other files may use. */
	for (kind = 0; kind < 2; kind++) {
		for (i = 0; i < nr; i++) {
			if (s[i].sh_type != (kind ? SHT_DYNSYM : SHT_SYMTAB) ||
			    s[i].sh_link >= nr)
				continue;
			sym = find(f, &s[i], address);
			if (!sym)
				continue;
			*into = address - sym->st_value;
			return name_of(f, &s[s[i].sh_link], sym->st_name);
		}
	}
	return NULL;
}

/**
 * elf_debug() - the file with the symbols of a stripped one
 * @f:     filled, elf_close() it
 * @id:    build id
 * @bytes: of it
 *
 * Return: 0; -ENOENT: there is none; as elf_open().
 */
int elf_debug(struct elf_file *f, const uint8_t *id, uint32_t bytes)
{
	char path[sizeof(ELF_DEBUG_DIR) + 2 * ELF_ID_BYTES + 16];
	uint8_t is[ELF_ID_BYTES];
	int n = 0, ret;
	uint32_t i;

	*f = (struct elf_file){ 0 };
	if (bytes < 2 || bytes > ELF_ID_BYTES)
		return -ENOENT;
	n = snprintf(path, sizeof(path), "%s/%02x/", ELF_DEBUG_DIR, id[0]);
	for (i = 1; i < bytes; i++)
		n += snprintf(path + n, sizeof(path) - n, "%02x", id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	ret = elf_open(f, path);
	if (ret || (elf_build_id(f, is) == bytes && !memcmp(is, id, bytes)))
		return ret;
	elf_close(f);
	return -ENOENT;
}
