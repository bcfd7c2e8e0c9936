/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the hash of a page number leads: to a chain of entries of the page table.
 * For page.c, and for a host that wants to have it in the cache beforehand.
 */
#ifndef HIPEC_VM_BUCKET_H
#define HIPEC_VM_BUCKET_H

#include "vm.h"

/* The bucket of @pgno, where the machine has entries. */
static __always_inline u32 *hipec_bucket_of(const struct hipec_vm *vm, u32 pgno)
{
	/* Knuth's multiplicative hash, folded so that low bits see high ones. */
	u32 hash = pgno * 2654435761u;

	hash ^= hash >> 16;
	hash *= 2246822519u;
	return &vm->bucket[(u64)hash * vm->nr_buckets >> 32];
}

#endif /* HIPEC_VM_BUCKET_H */
