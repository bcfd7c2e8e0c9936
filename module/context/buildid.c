// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build ids of 64-bit ELF files, which say what a file is, whatever its name.
 *
 * Interface: see stack.h
 */
#include "stack.h"

/* As much of <elf.h> as is looked at. */
struct elf_head {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_part {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

struct elf_note {
	u32 namesz, descsz, type;
};

#define PART_NOTE 4
#define NOTE_BUILD_ID 3

static const u8 magic[] = { 0x7f, 'E', 'L', 'F', 2 };	/* 64 bits */

static u64 align_to_word(u32 n)
{
	return ((u64)n + 3) & ~3ull;
}

/* Among the notes in @size bytes. Return: bytes of @id. */
static u32 from_notes(const u8 *note, u64 size, u8 *id)
{
	struct elf_note n;

	while (size >= sizeof(n)) {
		const u8 *name = note + sizeof(n);
		u64 bytes;

		memcpy(&n, note, sizeof(n));
		bytes = sizeof(n) + align_to_word(n.namesz) + align_to_word(n.descsz);
		if (bytes > size)
			return 0;
		if (n.type == NOTE_BUILD_ID && n.namesz == 4 &&
		    !memcmp(name, "GNU", 4) && n.descsz) {
			u32 nr = n.descsz < HIPEC_BUILD_ID_MAX ?
				n.descsz : HIPEC_BUILD_ID_MAX;

			memcpy(id, name + 4, nr);
			return nr;
		}
		note += bytes;
		size -= bytes;
	}
	return 0;
}

/**
 * hipec_buildid_find() - a file's build id
 * @start: the file's beginning; anything
 * @size:  bytes of it: one page has it, in all files that linkers make
 * @id:    gets at most HIPEC_BUILD_ID_MAX bytes
 *
 * Return: bytes of @id; 0 if there is none.
 */
u32 hipec_buildid_find(const void *start, u32 size, u8 *id)
{
	const u8 *byte = start;
	struct elf_head head;
	struct elf_part part;
	u64 at;
	u32 i, nr;

	if (size < sizeof(head) || memcmp(start, magic, sizeof(magic)))
		return 0;
	memcpy(&head, start, sizeof(head));
	if (head.phentsize != sizeof(part) || head.phoff > size)
		return 0;
	for (i = 0, at = head.phoff; i < head.phnum; i++, at += sizeof(part)) {
		if (at + sizeof(part) > size)
			return 0;
		memcpy(&part, byte + at, sizeof(part));
		if (part.type != PART_NOTE || part.offset > size ||
		    part.filesz > size - part.offset)
			continue;
		nr = from_notes(byte + part.offset, part.filesz, id);
		if (nr)
			return nr;
	}
	return 0;
}
