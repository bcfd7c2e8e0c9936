/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must hold of a machine between any two commands, whatever its policy
 * does. For tests and fuzzers, in the kernel and in user space.
 *
 * Interface:
 * hipec_vm_broken()	the first invariant that does not hold, or NULL
 */
#ifndef HIPEC_TESTS_INVARIANTS_H
#define HIPEC_TESTS_INVARIANTS_H

#include "../vm/queue.h"

const char *hipec_vm_broken(const struct hipec_vm *vm);

#endif /* HIPEC_TESTS_INVARIANTS_H */
