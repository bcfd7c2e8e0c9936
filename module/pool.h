/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HIPEC_POOL_H
#define HIPEC_POOL_H

#include <linux/types.h>

struct hipec_container;
struct hipec_query;
struct hipec_text;

int hipec_pool_init(void);
void hipec_pool_exit(void);
int hipec_pool_join(struct hipec_container *c, struct hipec_text *log);
int hipec_pool_fill(struct hipec_container *c);
void hipec_pool_leave(struct hipec_container *c);
int hipec_pool_grow(struct hipec_container *c, u32 pgno, bool write, gfp_t gfp);
u32 hipec_pool_space(struct hipec_container *c);
void hipec_pool_account(struct hipec_container *c);
void hipec_pool_came(struct hipec_container *c, u32 h);
void hipec_pool_left(struct hipec_container *c, u32 h);
unsigned long hipec_pool_spare(void);
bool hipec_pool_try_enter(void);
void hipec_pool_leave_entered(void);
bool hipec_pool_reclaim(void);
bool hipec_pool_held(void);
void hipec_pool_query(struct hipec_query *q);

#endif /* HIPEC_POOL_H */
