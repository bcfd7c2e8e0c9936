/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policies of cases in C: many in one file, which is compiled once. An entry is
 * named by a hash of its image, so that who runs a case finds it.
 *
 * Interface:
 * inc_begin(), _end()	a file of C, to which hpt_run_to_c() adds policies
 * inc_load()		the library that was compiled from it, for hpt_run_c()
 */
#ifndef HIPEC_HPTINC_H
#define HIPEC_HPTINC_H

#include <stdbool.h>
#include <stddef.h>

struct hipec_text;

bool inc_begin(const char *path);
bool inc_end(void);
bool inc_load(const char *path);

int hpt_run_to_c(const void *bytes, size_t size, struct hipec_text *out);
int hpt_run_c(const void *bytes, size_t size, struct hipec_text *out);

#endif /* HIPEC_HPTINC_H */
