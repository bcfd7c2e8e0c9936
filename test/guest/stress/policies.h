/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies to load, of all kinds: policies.c. */
#ifndef HIPEC_STRESS_POLICIES_H
#define HIPEC_STRESS_POLICIES_H

#include "../../vm/fuzz/program.h"

int read_policies(void);
int load_any(int fd, struct fuzz_rng *rng, uint32_t frames, uint32_t flags);
int swap_any(int fd, struct fuzz_rng *rng);
int join_any(int fd, struct fuzz_rng *rng);

#endif /* HIPEC_STRESS_POLICIES_H */
