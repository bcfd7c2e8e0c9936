// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backing file: its size, waiting for its I/O, and write-back for msync,
 * fsync, close and sync, and after a while. writeback.c does the writing. What is
 * promised of it: docs/user/regions.md.
 */
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>

#include "../compat.h"
#include "frames.h"
#include "writeback.h"

/* As the page cache's dirty_expire_centisecs. */
static uint writeback_ms = 30000;
module_param(writeback_ms, uint, 0644);
MODULE_PARM_DESC(writeback_ms, "ms until what was written is written back unasked; 0: never");

/**
 * hipec_io_would_deadlock() - whether writeback waits for this very task
 * @r: region
 *
 * write(backing, region) holds the file's i_rwsem when it faults on its source.
 * If the fault waited for writeback, it would wait for itself.
 *
 * Return: true if current holds the inode's lock for writing.
 */
bool hipec_io_would_deadlock(struct hipec_region *r)
{
	const unsigned long reader_owned = 1, flags = 7;
	unsigned long owner =
		atomic_long_read(&hipec_backing(r)->i_rwsem.owner);

	return !(owner & reader_owned) &&
	       (owner & ~flags) == (unsigned long)current;
}

/**
 * hipec_io_pages() - pages of a region that its file has now
 * @r: region
 *
 * Return: 0 to r->nr.
 */
u32 hipec_io_pages(struct hipec_region *r)
{
	loff_t size = i_size_read(hipec_backing(r)) - r->offset;

	if (size <= 0)
		return 0;
	return min_t(u64, r->nr, DIV_ROUND_UP_ULL(size, PAGE_SIZE));
}

/* Pages of a container that one read was for. */
struct read_range {
	u32 pgno, nr;
};

/* A task that waits for page @pgno; HIPEC_NO_PGNO: for any. */
struct sleeper {
	struct wait_queue_entry entry;
	u32 pgno;
};

/* Not for somebody who waits for a page that is none of these. */
static int wake_for(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	u32 pgno = container_of(entry, struct sleeper, entry)->pgno;
	const struct read_range *range = key;

	if (range && pgno != HIPEC_NO_PGNO && pgno - range->pgno >= range->nr)
		return 0;
	return autoremove_wake_function(entry, mode, flags, NULL);
}

/**
 * hipec_io_wait_for() - wait until a page's I/O ends
 * @c:       container
 * @pgno:    page; HIPEC_NO_PGNO: any
 * @state:   TASK_KILLABLE or TASK_UNINTERRUPTIBLE
 * @timeout: jiffies, or MAX_SCHEDULE_TIMEOUT
 *
 * Context: expects c->lock, drops it while asleep.
 * Return: jiffies that are left, as schedule_timeout(); -EINTR if a fatal signal
 *         came, in TASK_KILLABLE.
 */
long hipec_io_wait_for(struct hipec_container *c, u32 pgno, unsigned int state, long timeout)
{
	u64 context = c->core.context;	/* other faults have theirs meanwhile */
	struct sleeper sleeper = { .pgno = pgno };

	init_wait(&sleeper.entry);
	sleeper.entry.func = wake_for;
	prepare_to_wait(&c->wait, &sleeper.entry, state);
	mutex_unlock(&c->lock);
	if (!(state == TASK_KILLABLE && fatal_signal_pending(current)))
		timeout = schedule_timeout(timeout);
	finish_wait(&c->wait, &sleeper.entry);
	mutex_lock(&c->lock);
	c->core.context = context;
	if (state == TASK_KILLABLE && fatal_signal_pending(current))
		return -EINTR;
	return timeout;
}

/* The same, of any page. */
long hipec_io_wait(struct hipec_container *c, unsigned int state, long timeout)
{
	return hipec_io_wait_for(c, HIPEC_NO_PGNO, state, timeout);
}

/**
 * hipec_io_wake() - wake those who wait for pages, or for any
 * @c:    container
 * @pgno: first page
 * @nr:   pages
 *
 * Context: any; what they wait for was changed under c->lock.
 */
void hipec_io_wake(struct hipec_container *c, u32 pgno, u32 nr)
{
	struct read_range range = { pgno, nr };

	if (wq_has_sleeper(&c->wait))
		__wake_up(&c->wait, TASK_NORMAL, 0, &range);
}

/**
 * hipec_io_age() - clean what has been dirty for a while
 * @work: of a container
 *
 * Context: workqueue.
 */
void hipec_io_age(struct work_struct *work)
{
	struct hipec_container *c = container_of(to_delayed_work(work),
						 struct hipec_container, frames.age);

	if (!hipec_event_worker_lock(c)) {
		queue_delayed_work(hipec_wq, &c->frames.age, 1);
		return;
	}
	set_bit(0, &c->frames.flush_all);
	hipec_writeback_start_all(c);
	mutex_unlock(&c->lock);
}

/* Pages of a region; all of its container's, if @r is NULL. */
struct part {
	struct hipec_region *r;
	u32 first, last;
};

static bool is_in(const struct hipec_container *c, const struct part *part,
		  u32 h)
{
	struct folio *folio = c->frames.frame[h];

	return folio && (!part->r ||
			 (folio->mapping == part->r->inode->i_mapping &&
			  folio->index >= part->first &&
			  folio->index <= part->last));
}

/* Entries that may have a frame: in place none has. Context: expects c->lock. */
static u32 nr_entries(const struct hipec_container *c)
{
	return c->frames.frame ? c->core.vm.nr_pages : 0;
}

/* What is dirty is to be written back; what failed is tried again. */
static void mark_dirty_pages(struct hipec_container *c, const struct part *part)
{
	u32 h;

	for (h = 1; h <= nr_entries(c); h++) {
		if (is_in(c, part, h) && folio_test_dirty(c->frames.frame[h])) {
			if (hipec_core_resident(&c->core, h))
				hipec_dirty_add(c, h);
			c->core.vm.page[h].flags &= ~HIPEC_PAGE_FAILED;
		}
		hipec_dirty_walk_pause(c, h);
	}
}

/* Write dirty pages back and wait. Return: 0; the first error. */
static int sync_pages(struct hipec_container *c, const struct part *part)
{
	const unsigned int busy = HIPEC_PAGE_EVICT_PENDING | HIPEC_PAGE_WRITING;
	int err = 0, ret;
	u32 h;

	mutex_lock(&c->lock);
	/* First, so that those next to each other go together. */
	mark_dirty_pages(c, part);
	for (h = 1; h <= c->core.vm.nr_pages; h++) {
		while (is_in(c, part, h)) {
			if (c->core.vm.page[h].flags & busy) {
				hipec_io_wait(c, TASK_UNINTERRUPTIBLE,
					      MAX_SCHEDULE_TIMEOUT);
				continue;
			}
			/*
			 * Once: an application may dirty it for ever, or the
			 * disk refuse it, here or when writeback wrote it.
			 */
			if (folio_test_dirty(c->frames.frame[h])) {
				ret = c->core.vm.page[h].flags & HIPEC_PAGE_FAILED ?
				      -EIO : hipec_writeback_page(c, h);
				if (ret < 0 && !err)
					err = ret;
			}
			break;
		}
		hipec_dirty_walk_pause(c, h);
	}
	mutex_unlock(&c->lock);
	return err;
}

/**
 * hipec_io_sync() - write the dirty pages of a range back and wait
 * @r:     region
 * @first: first page
 * @last:  last page
 *
 * Context: process context, sleeps; takes c->lock.
 * Return: 0; the first write error.
 */
int hipec_io_sync(struct hipec_region *r, u32 first, u32 last)
{
	const struct part part = { r, first, last };

	/* Where nothing is written there is nothing to look for. */
	if (!r->writable)
		return 0;
	return sync_pages(r->c, &part);
}

/* How often a sync looks again, jiffies: pages go for which nobody is woken. */
#define HIPEC_LOOK_AGAIN (HZ / 10 + 1)

/* Whether page @h is to be written, or is being written. */
static bool is_unwritten(const struct hipec_container *c, u32 h)
{
	return c->frames.frame[h] && c->core.vm.page[h].flags &
		(HIPEC_PAGE_EVICT_PENDING | HIPEC_PAGE_WRITING | HIPEC_PAGE_FLUSH);
}

/* Wait for what is being written. Return: 0; -EINTR on a fatal signal. */
static int wait_for_all_writeback(struct hipec_container *c)
{
	int ret = mutex_lock_killable(&c->lock);
	u32 h;

	if (ret)
		return ret;
	for (h = 1; !ret && h <= nr_entries(c); h++) {
		while (!ret && is_unwritten(c, h)) {
			hipec_writeback_start(hipec_region_of(c->frames.frame[h]));
			ret = min(hipec_io_wait(c, TASK_KILLABLE,
						HIPEC_LOOK_AGAIN), 0l);
		}
		hipec_dirty_walk_pause(c, h);
	}
	mutex_unlock(&c->lock);
	return ret;
}

static int start_writeback(struct hipec_container *c)
{
	const struct part all = { 0 };
	int ret = mutex_lock_killable(&c->lock);

	if (ret)
		return ret;
	mark_dirty_pages(c, &all);
	hipec_writeback_start_all(c);
	mutex_unlock(&c->lock);
	return 0;
}

/* Whether a container is the caller's; of those that CAP_SYS_ADMIN loaded, whoever has that. */
static bool is_own(const struct hipec_container *c)
{
	return uid_eq(c->owner_uid, current_uid()) || (!c->bounded && hipec_user_sees_all());
}

/* Call @fn for the caller's containers, until it fails; a worker cleans the others, if @others. */
static int for_containers(int (*fn)(struct hipec_container *c), bool others)
{
	struct hipec_container *c;
	int ret = 0;
	u64 id = 0;

	while (!ret && (c = hipec_container_next(id))) {
		id = c->id;
		if (!smp_load_acquire(&c->loaded) || c->host->in_place)
			;	/* nothing is dirty, or it is the page cache's */
		else if (is_own(c))
			ret = fn(c);
		else if (others && atomic_read(&c->frames.nr_dirty))
			mod_delayed_work(hipec_wq, &c->frames.age, 0);
		hipec_container_put_later(c);
	}
	return ret;
}

/**
 * hipec_io_sync_all() - write the dirty pages of all containers back
 *
 * Of all containers it is begun before any is waited for. Those of other users are
 * not, by root neither: their events may take long, and their disks not answer. Errors
 * are noted for the next fsync of their region.
 *
 * Context: process context, sleeps; takes the lock of each container of the caller's.
 * Return: 0; -EINTR on a fatal signal.
 */
int hipec_io_sync_all(void)
{
	return for_containers(start_writeback, true) ?:
	       for_containers(wait_for_all_writeback, false);
}

static bool hipec_dirty_folio(struct address_space *mapping,
			      struct folio *folio)
{
	struct hipec_region *r = mapping->host->i_private;
	uint ms = READ_ONCE(writeback_ms);

	/* Called under page table locks: flags, counts and timers only. */
	if (folio_test_set_dirty(folio))
		return false;
	atomic_inc(&r->c->frames.nr_dirty);
	if (ms && !delayed_work_pending(&r->c->frames.age))
		queue_delayed_work(hipec_wq, &r->c->frames.age, msecs_to_jiffies(ms));
	return true;
}

const struct address_space_operations hipec_aops = {
	.dirty_folio = hipec_dirty_folio,
};
