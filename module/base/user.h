/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HIPEC_BASE_USER_H
#define HIPEC_BASE_USER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct hipec_container;
struct task_struct;

/**
 * struct hipec_user - who is charged for containers
 * @link:       users
 * @uid:        invariant
 * @refs:       containers, those that share or not; under user.c's lock
 * @nr_members: those that share; under the pool's lock
 * @nr:         frames that they hold, but for those that are leaving; atomic
 * @locked:     frames that are reserved where RLIMIT_MEMLOCK holds; atomic
 * @kept:       containers that live on without a descriptor; atomic, and as @numbers not of
 *              those that CAP_SYS_ADMIN loaded
 * @numbers:    page numbers that files in place have; atomic
 */
struct hipec_user {
	struct list_head link;
	kuid_t uid;
	u32 refs;
	u32 nr_members;
	atomic_long_t nr;
	atomic_long_t locked;
	atomic_long_t kept;
	atomic_long_t numbers;
};

/* Of one user: each kept container has tables, and each page number memory, that outlive him. */
#define HIPEC_MAX_USER_KEPT 16
#define HIPEC_MAX_USER_NUMBERS 4294967296ul	/* 2^32 */

kuid_t hipec_user_charged(void);
struct hipec_user *hipec_user_get(void);
void hipec_user_put(struct hipec_user *u);
int hipec_user_lock(struct hipec_container *c, u32 nr);
void hipec_user_unlock(struct hipec_container *c);
bool hipec_user_may_keep(struct hipec_container *c);
void hipec_user_kept_no_more(struct hipec_container *c);
bool hipec_user_take_numbers(struct hipec_container *c, u32 nr);
bool hipec_user_has_numbers(const struct hipec_container *c);
void hipec_user_return_numbers(struct hipec_container *c, u32 nr);
bool hipec_user_sees_all(void);
bool hipec_user_is_insider(const struct hipec_container *c, struct task_struct *t);

#endif /* HIPEC_BASE_USER_H */
