// SPDX-License-Identifier: GPL-2.0-only
/*
 * Volumes and washers: volume.h.
 *
 * Interface:
 * hipec_washer_get(), _put()  a region has one
 *
 * Owns volumes_lock.
 */
#include <linux/fs.h>
#include <linux/slab.h>

#include "frames.h"
#include "volume.h"

static DEFINE_MUTEX(volumes_lock);
static LIST_HEAD(volumes);

/* By a worker that is not its own: the last region may end in one that is. */
static void volume_free(struct work_struct *work)
{
	struct hipec_volume *v = container_of(work, struct hipec_volume, free);

	destroy_workqueue(v->wq);
	kfree(v);
}

static struct hipec_volume *volume_new(struct inode *inode, const void *of)
{
	struct hipec_volume *v = kzalloc(sizeof(*v), GFP_KERNEL);

	if (!v)
		return NULL;
	v->of = of;
	INIT_WORK(&v->free, volume_free);
	v->wq = alloc_workqueue("hipec-%s", WQ_UNBOUND | WQ_MEM_RECLAIM,
				HIPEC_VOLUME_WORKERS, inode->i_sb->s_id);
	if (!v->wq) {
		kfree(v);
		return NULL;
	}
	list_add(&v->link, &volumes);
	return v;
}

/* The volume of a backing file, with a reference; NULL: no memory. */
static struct hipec_volume *volume_get(struct inode *inode)
{
	const void *of = S_ISBLK(inode->i_mode) ? (void *)inode : inode->i_sb;
	struct hipec_volume *v, *found = NULL;

	mutex_lock(&volumes_lock);
	list_for_each_entry(v, &volumes, link)
		if (v->of == of)
			found = v;
	if (!found)
		found = volume_new(inode, of);
	if (found)
		found->nr++;
	mutex_unlock(&volumes_lock);
	return found;
}

static void volume_put(struct hipec_volume *v)
{
	bool last;

	mutex_lock(&volumes_lock);
	last = !--v->nr;
	if (last)
		list_del(&v->link);
	mutex_unlock(&volumes_lock);
	if (last)
		queue_work(hipec_wq, &v->free);
}

static struct hipec_washer *find(struct hipec_container *c,
				 const struct hipec_volume *v)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (r->washer->volume == v)
			return r->washer;
	return NULL;
}

/**
 * hipec_washer_get() - have a washer for a region
 * @r: region with its backing file open, in no list yet
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENOMEM.
 */
int hipec_washer_get(struct hipec_region *r)
{
	struct hipec_container *c = r->c;
	struct hipec_washer *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	struct hipec_volume *v = new ? volume_get(hipec_backing(r)) : NULL;

	if (!v) {
		kfree(new);
		return -ENOMEM;
	}
	new->c = c;
	new->volume = v;
	INIT_WORK(&new->work, hipec_wash_work);
	mutex_lock(&c->lock);
	r->washer = find(c, v) ?: new;
	r->washer->nr++;
	mutex_unlock(&c->lock);
	if (r->washer != new) {
		kfree(new);
		volume_put(v);
	}
	return 0;
}

/**
 * hipec_washer_put() - a region needs no washer any more
 * @r: region without frames, in no list any more
 *
 * Context: process context, sleeps; takes c->lock. Not the washer's own.
 */
void hipec_washer_put(struct hipec_region *r)
{
	struct hipec_washer *w = r->washer;
	bool last;

	mutex_lock(&w->c->lock);
	last = !--w->nr;
	mutex_unlock(&w->c->lock);
	if (!last)
		return;
	cancel_work_sync(&w->work);
	volume_put(w->volume);
	kfree(w);
}
