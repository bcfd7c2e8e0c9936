// SPDX-License-Identifier: GPL-2.0-only
/*
 * All containers, and the numbers of one.
 *
 * Interface:
 * hipec_container_next(), _with()  a reference is got
 * hipec_container_put(), _put_later()  and dropped
 * __hipec_container_status()      what the user may know
 *
 * Owns hipec_containers_lock.
 */
#include <linux/cred.h>
#include <linux/pid.h>

#include "base.h"

DEFINE_MUTEX(hipec_containers_lock);
DEFINE_XARRAY_FLAGS(hipec_containers, XA_FLAGS_ACCOUNT);
atomic_t hipec_nr_containers = ATOMIC_INIT(0);

/**
 * hipec_container_put() - drop a reference
 * @c: container
 *
 * Context: process context, may sleep; expects no lock of ours.
 */
void hipec_container_put(struct hipec_container *c)
{
	kref_put(&c->ref, c->release);
}

/* Work: likewise. */
void hipec_container_put_work(struct work_struct *work)
{
	hipec_container_put(container_of(work, struct hipec_container, put));
}

/**
 * hipec_container_put_later() - drop a reference, and have a worker do what follows
 * @c: container
 *
 * Context: any but interrupts.
 */
void hipec_container_put_later(struct hipec_container *c)
{
	if (!refcount_dec_not_one(&c->ref.refcount))
		queue_work(hipec_end_wq, &c->put);
}

/**
 * hipec_container_next() - the container with the least id above another
 * @id: any number
 *
 * Context: process context; takes hipec_containers_lock.
 * Return: container with a reference; NULL if there is none.
 */
struct hipec_container *hipec_container_next(u64 id)
{
	struct hipec_container *c;
	unsigned long index = id;

	mutex_lock(&hipec_containers_lock);
	do
		c = xa_find_after(&hipec_containers, &index, ULONG_MAX, XA_PRESENT);
	while (c && !kref_get_unless_zero(&c->ref));
	mutex_unlock(&hipec_containers_lock);
	return c;
}

/**
 * hipec_container_with() - a container
 * @id: its number
 *
 * Context: process context; takes hipec_containers_lock.
 * Return: container with a reference; NULL if there is none.
 */
struct hipec_container *hipec_container_with(u64 id)
{
	struct hipec_container *c;

	mutex_lock(&hipec_containers_lock);
	c = xa_load(&hipec_containers, id);
	if (c && !kref_get_unless_zero(&c->ref))
		c = NULL;
	mutex_unlock(&hipec_containers_lock);
	return c;
}

/* Numbers of a container, for who has its lock, and may have a spinlock. */
void __hipec_container_status(struct hipec_container *c, struct hipec_status *s)
{
	*s = (struct hipec_status){ .size = s->size, .id = c->id };
	s->regions = c->nr_regions;
	if (c->core.vm.policy) {
		s->pid = pid_vnr(c->owner_pid);
		s->uid = from_kuid_munged(current_user_ns(), c->owner_uid);
		memcpy(s->comm, c->owner_comm, sizeof(s->comm));
		memcpy(s->policy, c->policy.image->name, sizeof(s->policy));
		s->frames = c->core.nr_frames - c->core.nr_surplus;
		s->free_frames = c->core.nr_free;
		s->resident = c->host->resident(c);
		s->in_place = c->host->in_place;
		s->dirty = atomic_read(&c->frames.nr_dirty);
		s->ghosts = c->core.vm.nr_ghosts;
		s->cluster = c->cluster;
		s->limit = c->core.nr_reserved;
		s->shares = c->core.pool != NULL;
		s->exit = c->core.vm.exit;
		s->late = c->core.vm.late;
		s->counters = c->core.counters;
		s->counters.commands = c->core.vm.nr_commands;
		s->counters.events = c->core.vm.nr_events;
	}
}
