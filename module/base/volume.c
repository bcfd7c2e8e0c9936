// SPDX-License-Identifier: GPL-2.0-only
/*
 * Volumes: volume.h. Their ends are here as well; what their workers do is not.
 *
 * A work that may wait for a disk holds the disk's volume until it waits for nothing any more: so
 * whoever ends a volume waits for no disk.
 *
 * Interface:
 * hipec_volume_get(), _hold(), _put()  have one
 * hipec_volume_drain()                 none is left
 *
 * Owns volumes_lock.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "base.h"
#include "volume.h"

static DEFINE_SPINLOCK(volumes_lock);
static LIST_HEAD(volumes);

/* Those that are allocated. */
static atomic_t nr_volumes = ATOMIC_INIT(0);

static void free_volume(struct hipec_volume *v)
{
	if (v->end_wq)
		destroy_workqueue(v->end_wq);
	if (v->clean_wq)
		destroy_workqueue(v->clean_wq);
	if (v->wq)
		destroy_workqueue(v->wq);
	kfree(v);
	if (atomic_dec_and_test(&nr_volumes))
		wake_up_var(&nr_volumes);
}

/*
 * By a worker that is not its own: one of these may have had the last reference, and returns now. It is
 * found, and counted, until then.
 */
static void free_volume_work(struct work_struct *work)
{
	struct hipec_volume *v = container_of(work, struct hipec_volume, free);
	bool unused;

	spin_lock(&volumes_lock);
	/* Somebody may have had it, and put it, meanwhile. */
	unused = !v->nr && !work_pending(&v->free);
	if (unused)
		list_del(&v->link);
	spin_unlock(&volumes_lock);
	if (unused)
		free_volume(v);
}

/* In no list yet, without a reference. */
static struct hipec_volume *new_volume(const struct inode *inode, const void *of, kuid_t uid)
{
	struct hipec_volume *v = kzalloc(sizeof(*v), GFP_KERNEL);

	if (!v)
		return NULL;
	v->of = of;
	v->uid = uid;
	INIT_WORK(&v->free, free_volume_work);
	atomic_inc(&nr_volumes);
	v->wq = alloc_workqueue("hipec-%s", WQ_UNBOUND | WQ_MEM_RECLAIM,
				HIPEC_VOLUME_WORKERS, inode->i_sb->s_id);
	/* Reclaim waits for neither of these. */
	v->clean_wq = alloc_workqueue("hipec-clean-%s", WQ_UNBOUND, HIPEC_VOLUME_WRITERS,
				      inode->i_sb->s_id);
	v->end_wq = alloc_workqueue("hipec-end-%s", WQ_UNBOUND, HIPEC_VOLUME_WORKERS,
				    inode->i_sb->s_id);
	if (v->wq && v->clean_wq && v->end_wq)
		return v;
	free_volume(v);
	return NULL;
}

/*
 * The volume of @of for @uid, with one more reference; else @new, which may be NULL, is that from now on.
 * Return: NULL: neither; -EDQUOT: @uid has as many as one may.
 */
static struct hipec_volume *find_or_add_volume(const void *of, kuid_t uid, struct hipec_volume *new)
{
	struct hipec_volume *v, *found = NULL;
	u32 of_user = 0;

	spin_lock(&volumes_lock);
	list_for_each_entry(v, &volumes, link) {
		if (!uid_eq(v->uid, uid))
			continue;
		if (v->of == of)
			found = v;
		of_user += uid_valid(uid);
	}
	if (!found && of_user >= HIPEC_MAX_USER_VOLUMES) {
		spin_unlock(&volumes_lock);
		return ERR_PTR(-EDQUOT);
	}
	if (!found && new) {
		list_add(&new->link, &volumes);
		found = new;
	}
	if (found)
		found->nr++;
	spin_unlock(&volumes_lock);
	return found;
}

/**
 * hipec_volume_get() - have the volume that a file lies on
 * @inode: of the file, held; or of a disk
 * @uid:   user whose containers it is for; INVALID_UID: those of CAP_SYS_ADMIN, which are not counted
 *
 * A volume may outlive its file system: another that has the same address then shares its workers.
 *
 * Context: process context, may sleep; takes volumes_lock.
 * Return: volume, with a reference; -EDQUOT: the user has HIPEC_MAX_USER_VOLUMES; -ENOMEM.
 */
struct hipec_volume *hipec_volume_get(const struct inode *inode, kuid_t uid)
{
	const void *of = S_ISBLK(inode->i_mode) ? (const void *)inode : inode->i_sb;
	struct hipec_volume *v = find_or_add_volume(of, uid, NULL), *new;

	if (v)
		return v;
	new = new_volume(inode, of, uid);
	v = find_or_add_volume(of, uid, new);
	if (new && v != new)
		free_volume(new);
	return v ?: ERR_PTR(-ENOMEM);
}

/* Have it once more. Context: any but interrupts, with a reference; takes volumes_lock. */
void hipec_volume_hold(struct hipec_volume *v)
{
	spin_lock(&volumes_lock);
	v->nr++;
	spin_unlock(&volumes_lock);
}

/**
 * hipec_volume_put() - drop a reference
 * @v: volume; a work of its own does this last
 *
 * Context: any but interrupts; takes volumes_lock.
 */
void hipec_volume_put(struct hipec_volume *v)
{
	spin_lock(&volumes_lock);
	if (!--v->nr)
		queue_work(hipec_volume_wq, &v->free);	/* reclaim does not wait for it */
	spin_unlock(&volumes_lock);
}

/**
 * hipec_volume_drain() - wait until there is no volume
 *
 * Context: process context, sleeps; there is no region, so that works which ended one are about to
 * return.
 */
void hipec_volume_drain(void)
{
	wait_var_event(&nr_volumes, !atomic_read(&nr_volumes));
}
