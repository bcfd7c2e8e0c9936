/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is tried with an input, and what must hold. Whatever does not hold ends
 * the program by abort(), with one line on stderr: a fuzzer keeps the input.
 *
 * Interface:
 * fuzz_image()   any bytes, as an image
 * fuzz_run()     an image and, behind it, a script of what its host does
 * fuzz_reference_run()  hipec_vm_run() as plainly as it can be said
 * fuzz_sound()   what hipec_verify() proves, from its theorem
 * fuzz_check_layout()  where hipec_vm_init() puts things
 * fuzz_image_size()  where the script begins
 * fuzz_stats     what the inputs so far were
 */
#ifndef HIPEC_FUZZ_HARNESS_H
#define HIPEC_FUZZ_HARNESS_H

#include "../../../module/vm/vm.h"

struct fuzz_stats {
	u64 inputs;
	u64 accepted;	/* images that the verifier accepts */
	u64 events;	/* that ran to their end */
	u64 exits;	/* policies that ended */
	u64 commands;
};

extern struct fuzz_stats fuzz_stats;
extern u8 fuzz_fill;	/* what memory holds that nobody has written to */

/* Breaks a machine on purpose, to see that it is noticed. */
typedef void fuzz_meddle(struct hipec_vm *vm);

void fuzz_image(const u8 *data, size_t size);
void fuzz_run(const u8 *data, size_t size, fuzz_meddle *meddle);
size_t fuzz_image_size(const u8 *data, size_t size);

int fuzz_reference_run(struct hipec_vm *vm, u32 event);

bool fuzz_sound(const struct hipec_policy *p);
void fuzz_check_layout(const struct hipec_vm *vm, const void *memory,
		       size_t size, const void *shared);

void *fuzz_alloc(const void *bytes, size_t size);
void fuzz_check(bool holds, const char *claim);
void fuzz_check_refusal(const struct hipec_policy *p,
			const struct hipec_verify_error *err);

#endif /* HIPEC_FUZZ_HARNESS_H */
