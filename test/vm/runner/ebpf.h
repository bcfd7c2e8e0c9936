/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Native code in user space, for tests: the instructions that module/jit writes, run by
 * an interpreter of eBPF instead of the kernel's JIT.
 *
 * Interface:
 * ebpf_start(), _stop()  give a machine such code, take it away
 * ebpf_check()           what can be told of instructions without running them
 */
#ifndef HIPEC_TEST_EBPF_H
#define HIPEC_TEST_EBPF_H

#include "../../../module/jit/jit.h"

int ebpf_start(struct hipec_vm *vm);
void ebpf_stop(struct hipec_vm *vm);
const char *ebpf_check(const struct bpf_insn *insn, u32 nr, u32 stack);

#endif /* HIPEC_TEST_EBPF_H */
