/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One case of module/tests/vmcase.h, run here and in the kernel.
 *
 * Interface:
 * hpt_run_by()      by this program's own VM core, with native code if somebody gives it
 * hpt_run_here()    by this program's own VM core: interpreted
 * hpt_run_native()  likewise, in the instructions that module/jit writes
 * hpt_run_module()  by hipec_vmtest.ko's
 */
#ifndef HIPEC_HPTRUN_H
#define HIPEC_HPTRUN_H

#include "../../../module/tests/vmcase.h"

#define HPT_DEVICE "/dev/hipec_vmtest"

int hpt_run_by(const void *bytes, size_t size, struct hipec_text *out,
	       int (*start)(struct hipec_vm *vm), void (*stop)(struct hipec_vm *vm));
int hpt_run_here(const void *bytes, size_t size, struct hipec_text *out);
int hpt_run_native(const void *bytes, size_t size, struct hipec_text *out);
int hpt_run_module(const void *bytes, size_t size, struct hipec_text *out);

#endif /* HIPEC_HPTRUN_H */
