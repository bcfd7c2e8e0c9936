// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user may know of a container, and set.
 *
 * Interface:
 * hipec_status_get(), _operand(), _set_param()
 */
#include "cache/host.h"
#include "internal.h"

/**
 * hipec_status_get() - numbers of a container
 * @c: container
 * @s: filled, but for its size
 *
 * Context: process context; takes c->lock.
 * Return: 0; -EINTR on a fatal signal.
 */
int hipec_status_get(struct hipec_container *c, struct hipec_status *s)
{
	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	/* Others see what its policy has heard of. */
	if (c->core.vm.policy && hipec_user_is_insider(c, current))
		hipec_host_deliver(c);
	else if (c->core.vm.policy)
		hipec_cache_deliver_later(c);
	__hipec_container_status(c, s);
	mutex_unlock(&c->lock);
	return 0;
}

/**
 * hipec_status_operand() - an operand of a container's policy
 * @c: container
 * @o: with the slot set; filled, but for its size and id
 *
 * Context: process context; takes c->lock.
 * Return: 0; -ENODATA before a policy is loaded; -ENOENT if it has no such slot;
 *         -EINTR on a fatal signal.
 */
int hipec_status_operand(struct hipec_container *c, struct hipec_operand *o)
{
	const struct hipec_policy *p = &c->policy;
	const struct hipec_image_operand *d;
	s64 at;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (!c->core.vm.policy || o->slot >= p->image->nr_operands) {
		mutex_unlock(&c->lock);
		return c->core.vm.policy ? -ENOENT : -ENODATA;
	}
	d = &p->operand[o->slot];
	at = c->core.vm.slot[o->slot];
	o->type = d->type;
	o->operand_flags = d->flags;
	o->nr = 0;
	o->value = 0;
	o->offset = 0;
	switch (d->type) {
	case HIPEC_TYPE_INT:
		o->value = at;
		break;
	case HIPEC_TYPE_QUEUE:
		o->nr = c->core.vm.queue[at].count;
		break;
	case HIPEC_TYPE_INTS:
	case HIPEC_TYPE_QUEUES:
		o->nr = d->value;
		if (d->flags & HIPEC_OPERAND_SHARED)
			o->offset = HIPEC_SHARED_OFFSET(o->slot);
		break;
	}
	o->low = d->low;
	o->high = d->high;
	strscpy_pad(o->name, hipec_image_policy_name(p, d->name), sizeof(o->name));
	mutex_unlock(&c->lock);
	return 0;
}

/**
 * hipec_status_set_param() - set a parameter of a container's policy
 * @c:     container
 * @slot:  of the parameter
 * @value: what events that begin from now on read
 *
 * Context: process context; takes c->lock.
 * Return: 0; -ENODATA before a policy is loaded; -ENOENT, -EPERM, -EACCES and
 *         -ERANGE as hipec_vm_set_param(); -EINTR on a fatal signal.
 */
int hipec_status_set_param(struct hipec_container *c, u32 slot, s64 value)
{
	int ret = -ENODATA;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (c->core.vm.policy)
		ret = hipec_vm_set_param(&c->core.vm, slot, value);
	mutex_unlock(&c->lock);
	return ret;
}
