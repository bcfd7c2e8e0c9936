/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One case of module/tests/vmcase.h, run here and in the kernel.
 *
 * Interface:
 * hpt_run_here()    by this program's own VM core
 * hpt_run_case()    likewise, of a case that was read; by its native code, if it has any
 * hpt_run_module()  by hipec_vmtest.ko's
 */
#ifndef HIPEC_HPTRUN_H
#define HIPEC_HPTRUN_H

#include "../../../module/tests/vmcase.h"

#define HPT_DEVICE "/dev/hipec_vmtest"

int hpt_run_case(const struct hipec_vmcase *c, struct hipec_text *out);
int hpt_run_here(const void *bytes, size_t size, struct hipec_text *out);
int hpt_run_module(const void *bytes, size_t size, struct hipec_text *out);

#endif /* HIPEC_HPTRUN_H */
