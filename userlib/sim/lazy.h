/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables with an entry for each frame that there may be: memory is used for what
 * is touched of them, so that a terabyte of frames can be simulated with a trace
 * that touches a few.
 *
 * Interface:
 * sim_lazy_alloc()  zeros, or NULL
 * sim_lazy_free()   of as many bytes
 */
#ifndef HIPEC_SIM_LAZY_H
#define HIPEC_SIM_LAZY_H

#include <stdlib.h>
#include <sys/mman.h>

/* Smaller ones are the allocator's, which finds what is written beyond them. */
#define SIM_LAZY_BYTES ((size_t)64 << 20)

static inline void *sim_lazy_alloc(size_t bytes)
{
	void *p;

	if (bytes < SIM_LAZY_BYTES)
		return calloc(1, bytes);
	/* What is not touched may be more than the machine's memory. */
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* @p: may be NULL */
static inline void sim_lazy_free(void *p, size_t bytes)
{
	if (bytes < SIM_LAZY_BYTES)
		free(p);
	else if (p)
		munmap(p, bytes);
}

#endif /* HIPEC_SIM_LAZY_H */
