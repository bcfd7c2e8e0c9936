/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HIPEC_SHARE_H
#define HIPEC_SHARE_H

#include <linux/types.h>

struct hipec_container;
struct hipec_core;
struct hipec_pool;
struct hipec_query;
struct hipec_text;

extern struct hipec_pool hipec_share_pool;

int hipec_share_init(void);
void hipec_share_exit(void);
int hipec_share_join(struct hipec_container *c, struct hipec_text *log);
int hipec_share_fill(struct hipec_container *c);
void hipec_share_leave(struct hipec_container *c);
bool hipec_share_locked(void);
bool hipec_share_try_lock(void);
void hipec_share_unlock(void);
bool hipec_share_try_member(struct hipec_core *core);
void hipec_share_unlock_member(struct hipec_core *core, bool requester);
bool hipec_share_enter(struct hipec_pool *pool);
void hipec_share_leave_lock(struct hipec_pool *pool, bool entered);
s64 hipec_share_allowance(struct hipec_core *core);
void hipec_share_accounted(struct hipec_core *core, s64 nr);
void hipec_share_query(struct hipec_query *q);

#endif /* HIPEC_SHARE_H */
