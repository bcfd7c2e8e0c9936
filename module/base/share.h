/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HIPEC_BASE_SHARE_H
#define HIPEC_BASE_SHARE_H

#include <linux/types.h>

struct hipec_core;
struct hipec_pool;

/* Of a number of MB, in pages. */
#define HIPEC_MB_SHIFT (20 - PAGE_SHIFT)

/* Containers that may share at once. */
#define HIPEC_MAX_MEMBERS 1024

extern struct hipec_pool hipec_share_pool;

bool hipec_share_locked(void);
bool hipec_share_try_lock(void);
void hipec_share_unlock(void);
bool hipec_share_try_member(struct hipec_core *core);
void hipec_share_unlock_member(struct hipec_core *core, bool requester);
bool hipec_share_enter(struct hipec_pool *pool);
void hipec_share_leave_lock(struct hipec_pool *pool, bool entered);
int hipec_share_pin(void);
void hipec_share_unpin(int pin);
void hipec_share_wait_for_pins(void);
long hipec_share_quota(void);
s64 hipec_share_allowance(struct hipec_core *core);
void hipec_share_accounted(struct hipec_core *core, s64 nr);

#endif /* HIPEC_BASE_SHARE_H */
