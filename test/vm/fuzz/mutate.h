/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random policies that the verifier accepts, and changes to policies. Plain C,
 * no libFuzzer: everything follows from a seed. Driven by the command table.
 *
 * Interface:
 * fuzz_generate()  a policy from a seed
 * fuzz_mutate()    another policy from one
 * fuzz_break()     one byte of a policy's rows or words changed, not mended
 * fuzz_cross()     a policy from two
 */
#ifndef HIPEC_FUZZ_MUTATE_H
#define HIPEC_FUZZ_MUTATE_H

#include "../../../module/vm/port.h"

size_t fuzz_generate(u64 seed, void *image, size_t max);
size_t fuzz_mutate(u64 seed, void *image, size_t size, size_t max);
size_t fuzz_break(u64 seed, void *image, size_t size, size_t max);
size_t fuzz_cross(u64 seed, const void *a, size_t a_size, const void *b,
		  size_t b_size, void *image, size_t max);

#endif /* HIPEC_FUZZ_MUTATE_H */
