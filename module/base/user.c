// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users: who is charged for a container, and the memory that a user has reserved.
 *
 * In a user namespace one person has as many users as are mapped there, often
 * 65,536. All of them are charged to the user who made the namespace; of nested
 * ones, the outermost below the first. The kernel counts namespaces and locked
 * memory in the same way (ucounts), by functions that a module does not have.
 *
 * Interface:
 * hipec_user_charged()          who that is
 * hipec_user_get(), _put()      its counts
 * hipec_user_lock(), _unlock()  reserved frames, against RLIMIT_MEMLOCK
 * hipec_sees_all()              whether the caller may see others' containers
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base.h"

static DEFINE_MUTEX(lock);
static LIST_HEAD(users);

/**
 * hipec_user_charged() - whom quotas and waits of the calling task are counted for
 *
 * Context: process context.
 * Return: a user of the first user namespace: the owner of the namespace below it
 *         that the task is in; the task's own real user if it is in the first one.
 */
kuid_t hipec_user_charged(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns->parent; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

/**
 * hipec_user_get() - the counts of whom the calling task is charged to
 *
 * Context: process context, may sleep.
 * Return: user, with a reference; NULL if there is no memory.
 */
struct hipec_user *hipec_user_get(void)
{
	kuid_t uid = hipec_user_charged();
	struct hipec_user *u;

	mutex_lock(&lock);
	list_for_each_entry(u, &users, link)
		if (uid_eq(u->uid, uid))
			goto out;
	u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	if (!u)
		goto out_unlock;
	u->uid = uid;
	list_add(&u->link, &users);
out:
	u->refs++;
out_unlock:
	mutex_unlock(&lock);
	return u;
}

/* Drop a reference. Context: process context, may sleep. */
void hipec_user_put(struct hipec_user *u)
{
	mutex_lock(&lock);
	if (!--u->refs) {
		list_del(&u->link);
		kfree(u);
	}
	mutex_unlock(&lock);
}

/* Return: whether @nr more are within @limit; they are counted then. */
static bool add_within(atomic_long_t *count, u32 nr, unsigned long limit)
{
	long held = atomic_long_read(count);

	do {
		if (held + nr > limit)
			return false;
	} while (!atomic_long_try_cmpxchg(count, &held, held + nr));
	return true;
}

/**
 * hipec_user_lock() - count a container's frames as locked memory of the caller
 * @c:  container with its user
 * @nr: pages
 *
 * In the caller's mm, as mlock() does, and, where RLIMIT_MEMLOCK holds, as its
 * user's: a descriptor that was passed on keeps the frames when the process, and
 * what its mm counts, is gone. That of the kernel's user together with what else
 * the kernel counts there, and that of whom @c is charged to.
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM if it is over the limit.
 */
int hipec_user_lock(struct hipec_container *c, u32 nr)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = current_user();
	int ret = account_locked_vm(current->mm, nr, true);

	if (ret || capable(CAP_IPC_LOCK))
		return ret;
	if (!add_within(&c->user->locked, nr, limit))
		goto out;
	if (!add_within(&user->locked_vm, nr, limit))
		goto out_charged;
	c->locked_user = get_uid(user);
	return 0;

out_charged:
	atomic_long_sub(nr, &c->user->locked);
out:
	account_locked_vm(current->mm, nr, false);
	return -ENOMEM;
}

/* Undo hipec_user_lock(). Context: process context, may sleep. */
void hipec_user_unlock(struct hipec_container *c)
{
	account_locked_vm(c->owner_mm, c->core.nr_reserved, false);
	if (!c->locked_user)
		return;
	atomic_long_sub(c->core.nr_reserved, &c->locked_user->locked_vm);
	atomic_long_sub(c->core.nr_reserved, &c->user->locked);
	free_uid(c->locked_user);
	c->locked_user = NULL;
}

/**
 * hipec_sees_all() - whether the caller may see others' containers
 *
 * Asked for each container that is not the caller's, who wants nothing of it and
 * has done nothing that were worth a line in an audit log.
 */
bool hipec_sees_all(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}
