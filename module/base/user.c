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
 * hipec_user_may_keep(), _kept_no_more()  containers that live on
 * hipec_user_take_numbers(), _return_numbers()  page numbers of files
 * hipec_user_sees_all()         whether the caller may see others' containers
 * hipec_user_is_insider()       whether a policy is for a task
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "../compat.h"
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
	struct hipec_user *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *u;
	kuid_t uid = hipec_user_charged();

	if (!new)
		return NULL;
	/* Nobody waits for memory under the lock: all loads, and all ends, take it. */
	mutex_lock(&lock);
	list_for_each_entry(u, &users, link)
		if (uid_eq(u->uid, uid))
			goto out;
	u = new;
	new = NULL;
	u->uid = uid;
	list_add(&u->link, &users);
out:
	u->refs++;
	mutex_unlock(&lock);
	kfree(new);
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
	int ret = account_locked_vm(current->mm, nr, true);

	if (ret || capable(CAP_IPC_LOCK))
		return ret;
	if (!add_within(&c->user->locked, nr, limit))
		goto out;
	if (!add_within(&current_user()->locked_vm, nr, limit))
		goto out_charged;
	/* They have a reference to the user; free_uid() is for modules from v6.1.187 on. */
	c->locked_cred = get_current_cred();
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
	if (!c->locked_cred)
		return;
	atomic_long_sub(c->core.nr_reserved, &c->locked_cred->user->locked_vm);
	atomic_long_sub(c->core.nr_reserved, &c->user->locked);
	put_cred(c->locked_cred);
	c->locked_cred = NULL;
}

/**
 * hipec_user_may_keep() - count a container that lives on without a descriptor
 * @c: container with its user, and with @c->bounded set
 *
 * Context: any.
 * Return: false if its user has HIPEC_MAX_USER_KEPT.
 */
bool hipec_user_may_keep(struct hipec_container *c)
{
	if (!c->bounded)
		return true;
	c->counted_kept = add_within(&c->user->kept, 1, HIPEC_MAX_USER_KEPT);
	return c->counted_kept;
}

/* Undo hipec_user_may_keep(), if it counted @c. Context: any. */
void hipec_user_kept_no_more(struct hipec_container *c)
{
	if (c->counted_kept)
		atomic_long_dec(&c->user->kept);
	c->counted_kept = false;
}

/**
 * hipec_user_take_numbers() - count page numbers of a file in place
 * @c:  its container
 * @nr: numbers
 *
 * Context: any; whoever attaches the file.
 * Return: false if the user of @c would have more than HIPEC_MAX_USER_NUMBERS.
 */
bool hipec_user_take_numbers(struct hipec_container *c, u32 nr)
{
	return !c->bounded || add_within(&c->user->numbers, nr, HIPEC_MAX_USER_NUMBERS);
}

/* Whether the user of @c has at least half of his page numbers left. Context: any. */
bool hipec_user_has_numbers(const struct hipec_container *c)
{
	return !c->bounded || atomic_long_read(&c->user->numbers) < HIPEC_MAX_USER_NUMBERS / 2;
}

/* Undo hipec_user_take_numbers(). Context: any. */
void hipec_user_return_numbers(struct hipec_container *c, u32 nr)
{
	if (c->bounded)
		atomic_long_sub(nr, &c->user->numbers);
}

/**
 * hipec_user_sees_all() - whether the caller may see others' containers
 *
 * Asked for each container that is not the caller's, who wants nothing of it and
 * has done nothing that were worth a line in an audit log.
 */
bool hipec_user_sees_all(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/*
 * Whether a task goes back to a program, or is as free: threads that a program has the kernel make do
 * not. vhost's go nowhere. Those of io_uring do their tasks' works; but the one that polls a ring has
 * the lock of all rings that it polls meanwhile, where workers, which have data of their own, have none.
 */
static bool goes_back(const struct task_struct *t)
{
	return !(t->flags & (PF_KTHREAD | PF_USER_WORKER | PF_IO_WORKER)) ||
	       (t->flags & PF_IO_WORKER && t->worker_private);
}

/**
 * hipec_user_is_insider() - whether a task is one of those that a container's policy is for
 * @c: container that is loaded
 * @t: task
 *
 * Those of the user who loaded it; of any, if that had CAP_SYS_ADMIN. What others do is noted at
 * most; no event runs in their time.
 *
 * Context: any.
 */
bool hipec_user_is_insider(const struct hipec_container *c, struct task_struct *t)
{
	return goes_back(t) && (!c->bounded || uid_eq(task_uid(t), c->owner_uid));
}
