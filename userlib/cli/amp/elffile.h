/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF files of this kind of machine: their build ids, and which function an offset is
 * in. Nothing in the file is believed. A file that was cut while it is read ends the
 * program, as with all who map files.
 *
 * Interface:
 * elf_open(), _close()
 * elf_build_id()
 * elf_symbol()   offset -> function
 * elf_debug()    the file that has the symbols of one that was stripped
 */
#ifndef HIPEC_ELFFILE_H
#define HIPEC_ELFFILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_ID_BYTES 32		/* of a build id, at most */

struct elf_file {
	const unsigned char *at;
	size_t size;
};

int elf_open(struct elf_file *f, const char *path);
uint32_t elf_build_id(const struct elf_file *f, uint8_t *id);
bool elf_address(const struct elf_file *f, uint64_t offset, uint64_t *address);
const char *elf_symbol(const struct elf_file *f, uint64_t address, uint64_t *into);
int elf_debug(struct elf_file *f, const uint8_t *id, uint32_t bytes);
void elf_close(struct elf_file *f);

#endif /* HIPEC_ELFFILE_H */
