/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocations that fail: inject.c. */
#ifndef HIPEC_STRESS_INJECT_H
#define HIPEC_STRESS_INJECT_H

#include <stdbool.h>

#include "../../vm/fuzz/program.h"

bool can_inject(uint32_t depth);
void inject_faults(struct fuzz_rng *rng);
void no_injection(void);

#endif /* HIPEC_STRESS_INJECT_H */
