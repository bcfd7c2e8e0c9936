// SPDX-License-Identifier: GPL-2.0-only
/*
 * The entries of the pool's manager (core/fifo2mr.h): 16 bytes for each page of those that
 * share. They grow with the pages that come, as a container's columns do, so the first container
 * that shares waits no longer, and takes no more memory, in a large pool. They are the pool's, in
 * no cgroup, do not shrink, and stay until the module goes.
 *
 * They are found, and put in a new place, under the pool's lock.
 *
 * Interface:
 * hipec_entries_make(), _free()
 * hipec_entries_more()   a page is about to need one
 */
#include <linux/jiffies.h>
#include <linux/sched/mm.h>

#include "base.h"

/* They begin with so many: those of a page of memory. */
#define BEGIN 255

/* So many tasks may each be about to take one: a task that finds fewer waits. */
#define SPARE 128

static struct hipec_columns entries;	/* changed by the worker alone */
static unsigned long again;		/* in jiffies; when there was no memory */

static void grow_entries(struct work_struct *unused);
static DECLARE_WORK(growth, grow_entries);

static struct hipec_mr_frame *frames_of_columns(const struct hipec_columns *t)
{
	return t->column[HIPEC_COLUMN_POOL].at;
}

/**
 * hipec_entries_make() - the first entries of the pool's manager
 * @most:   that there may be
 * @frame:  gets them
 * @nr:     gets their number
 *
 * Context: process context, may sleep; expects the pool's lock.
 * Return: 0; -ENOMEM, and there is nothing to free.
 */
int hipec_entries_make(u32 most, struct hipec_mr_frame **frame, u32 *nr)
{
	const struct hipec_columns none = {
		.most = most,
		.uncharged = true,
		.column = { [HIPEC_COLUMN_POOL].size = sizeof(**frame) },
	};
	int ret = hipec_columns_resize(&none, &entries, min_t(u32, most, BEGIN));

	*frame = frames_of_columns(&entries);
	*nr = entries.nr;
	return ret;
}

/* Context: process context, sleeps; no container shares. */
void hipec_entries_free(void)
{
	cancel_work_sync(&growth);
	hipec_columns_free(&entries);
}

/* More of them. A task that waits for it has a container's lock, so this takes none. */
static void grow_entries(struct work_struct *unused)
{
	struct hipec_pool *pool = &hipec_share_pool;
	unsigned int noio = memalloc_noio_save();
	struct hipec_columns new;
	int ret = hipec_columns_resize(&entries, &new, hipec_columns_next(&entries));

	memalloc_noio_restore(noio);
	if (ret) {
		WRITE_ONCE(again, jiffies + HIPEC_GROW_PAUSE);
		return;
	}
	hipec_share_enter(pool);
	hipec_fifo2mr_more(&pool->mr, frames_of_columns(&new), new.nr);
	hipec_share_leave_lock(pool, true);
	hipec_columns_replaced(&entries);
	entries = new;
}

/*
 * The engine's host: a page is about to need an entry. Without memory for more the manager does
 * not know of it, and its container alone can give it up.
 */
void hipec_entries_more(struct hipec_pool *pool)
{
	u32 nr = READ_ONCE(pool->mr.nr), left = nr - READ_ONCE(pool->mr.nr_frames);

	if (likely(left >= 2 * SPARE) || nr == entries.most)
		return;
	if (READ_ONCE(again) && time_before(jiffies, READ_ONCE(again)))
		return;
	queue_work(hipec_grow_wq, &growth);
	if (left < SPARE && !hipec_share_locked())
		flush_work(&growth);
}
