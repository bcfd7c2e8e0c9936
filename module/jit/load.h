/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Native code in the kernel. Machines that share nothing need no lock.
 */
#ifndef HIPEC_JIT_LOAD_H
#define HIPEC_JIT_LOAD_H

#include "jit.h"

void hipec_jit_start(struct hipec_vm *vm, u32 wish);
void hipec_jit_stop(struct hipec_vm *vm);
const void *hipec_jit_code(const struct hipec_vm *vm, u32 *bytes);

#endif /* HIPEC_JIT_LOAD_H */
