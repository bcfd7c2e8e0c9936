/* SPDX-License-Identifier: GPL-2.0-only */
/* What the keeper's files share: keeper.c has slots and processes. */
#ifndef HIPEC_STRESS_KEEPER_H
#define HIPEC_STRESS_KEEPER_H

#include "stress.h"

extern struct fuzz_rng rng;

void doing(enum act act, const char *what);
void kill_one(void);
void swap(uint32_t s);
void swap_policy(uint32_t s);
void revoke_policy(uint32_t s);
void ask_why(uint32_t s);

/* disturb.c */
void start_disturbing(void);
void disturb(void);
void bad_blocks(void);
void no_bad_blocks(void);

#endif /* HIPEC_STRESS_KEEPER_H */
