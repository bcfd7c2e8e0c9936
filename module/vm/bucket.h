/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the hash of a page number leads: to a chain of entries of the page table.
 *
 * There is one bucket more than entries that were ever used. With each new one the next
 * bucket in turn gives up half of its pages (hipec_page_reach()), so a table grows without
 * a moment in which all pages move: linear hashing.
 */
#ifndef HIPEC_VM_BUCKET_H
#define HIPEC_VM_BUCKET_H

#include "vm.h"

/* Of a machine whose host sets no other: 2^64 divided by the golden ratio. */
#define HIPEC_BUCKET_KEY 0x9e3779b97f4a7c15ull

/*
 * Multiplication by an unknown odd number: any two pages share one of n buckets for about one
 * key of n (Dietzfelbinger et al., 1997), so there are no pages which do so under every key, as
 * there would be if the key was added to a page number. The product's lower half spreads
 * pages that follow each other well, whatever the key.
 */
static __always_inline u32 hipec_bucket_hash(u64 key, u32 pgno)
{
	u64 hash = key * pgno;

	return hash >> 32 ^ hash;
}

/* The bucket of @pgno. */
static __always_inline u32 *hipec_bucket_of(const struct hipec_vm *vm, u32 pgno)
{
	u32 b = hipec_bucket_hash(vm->key, pgno) & vm->mask;

	return &vm->bucket[b <= vm->reached ? b : b & vm->mask >> 1];
}

/* The entry of @pgno, if it is one of @flags; 0: it is not. */
static __always_inline u32 hipec_bucket_find(const struct hipec_vm *vm, u32 pgno, u16 flags)
{
	u32 h;

	if (!vm->reached)
		return 0;
	for (h = *hipec_bucket_of(vm, pgno); h; h = vm->page[h].chain)
		if (vm->page[h].pgno == pgno)
			return vm->page[h].flags & flags ? h : 0;
	return 0;
}

/**
 * hipec_bucket_peek() - the entry of a page, looked up while others change the table
 * @vm:     machine
 * @page:   its entries, of which
 * @nr:     there are, and none goes meanwhile
 * @bucket: its buckets, likewise
 * @pgno:   page number
 *
 * Return: an entry from 1 to @nr that may be that of @pgno; 0: none was found.
 */
static __always_inline u32 hipec_bucket_peek(const struct hipec_vm *vm,
					     const struct hipec_page *page, u32 nr,
					     const u32 *bucket, u32 pgno)
{
	u32 mask = READ_ONCE(vm->mask), most = 16, h;
	u32 b = hipec_bucket_hash(READ_ONCE(vm->key), pgno) & mask;

	if (b > READ_ONCE(vm->reached))
		b &= mask >> 1;
	if (b > nr)
		return 0;
	for (h = READ_ONCE(bucket[b]); h && h <= nr && most--; h = READ_ONCE(page[h].chain))
		if (READ_ONCE(page[h].pgno) == pgno)
			return h;
	return 0;
}

/* The page that an event is about, if it is @pgno and a policy may name it; else 0. */
static __always_inline u32 hipec_bucket_found(const struct hipec_vm *vm, u64 pgno)
{
	const struct hipec_page *page = &vm->page[vm->found];

	return page->pgno == pgno && page->flags & HIPEC_PAGE_NAMED ? vm->found : 0;
}

/* As hipec_page_find_named(). */
static __always_inline u32 hipec_bucket_find_named(const struct hipec_vm *vm, u32 pgno)
{
	return hipec_bucket_found(vm, pgno) ?: hipec_bucket_find(vm, pgno, HIPEC_PAGE_NAMED);
}

#endif /* HIPEC_VM_BUCKET_H */
