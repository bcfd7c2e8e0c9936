// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the kernel's own reclaim leaves the files of a cache alone (AS_UNEVICTABLE): only while
 * each page has an entry, or a note that brings one, so that the cache can give it up.
 *
 * Where memory is short and the cache could not free any in a few tries, be it that a task has its
 * lock for an event, or that what it would give up cannot go, its files are surrendered: the flag
 * is cleared, and folios that reclaim had put on its list of unevictable ones go back to the
 * others, some at each try; reclaim finds them there in the same round. Their entries stay, older
 * than the truth if the folio goes, as behind any other drop. The container's lock is not needed.
 * A miss takes the files back, each at its own, when the last try was a second ago and the task's
 * cgroup has room, or other files' pages that would go first.
 *
 * Interface:
 * hipec_surrender_more()  leave files to the kernel, or more of their folios
 * hipec_cache_lose()      a file has a page without an entry
 * hipec_cache_outgrown()  a file that has become larger than its page numbers is
 * hipec_cache_keep_away() the kernel's reclaim leaves a file alone
 * hipec_cache_hand_over() if not, it finds its folios
 */
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/rcupdate.h>
#include <linux/swap.h>

#include "cache.h"

/* Folios, and files, that one try moves at most; and those between which others may run. */
#define MOVED_IN_A_TRY 4096
#define MOVED_TOGETHER 256

/* Files are not taken back for so long behind the last try. */
#define SURRENDER_TICKS HZ

/* Folios of a file from @next on go back to the lists of reclaim. Return: how many, @most about. */
static unsigned long move_folios(struct address_space *mapping, pgoff_t *next, unsigned long most)
{
	struct folio_batch batch;
	unsigned long moved = 0;

	folio_batch_init(&batch);
	while (moved < most && filemap_get_folios(mapping, next, ULONG_MAX, &batch)) {
		moved += folio_batch_count(&batch);
		check_move_unevictable_folios(&batch);
		folio_batch_release(&batch);
	}
	return moved;
}

/* A file is the kernel's, and the same. */
static unsigned long surrender_folios(struct hipec_cfile *f, pgoff_t *next, unsigned long most)
{
	int idx = srcu_read_lock(f->cache->inodes);
	struct address_space *mapping = hipec_mapping_of(f);
	unsigned long moved = 0;

	if (mapping) {
		mapping_clear_unevictable(mapping);
		moved = move_folios(mapping, next, most);
	}
	srcu_read_unlock(f->cache->inodes, idx);
	return moved;
}

/**
 * hipec_surrender_more() - leave files to the kernel's reclaim, or more of their folios
 * @cache: cache, which does not go meanwhile
 *
 * Context: in reclaim; one caller at a time; may be preempted, but does not wait, and takes no lock
 *          of ours.
 * Return: folios that were moved, and files that were left; 0: it was done before.
 */
unsigned long hipec_surrender_more(struct hipec_cache *cache)
{
	unsigned long moved = 0, some, slot;
	struct hipec_cfile *f;

	WRITE_ONCE(cache->surrender_until, jiffies + SURRENDER_TICKS);
	if (!READ_ONCE(cache->surrendered)) {
		WRITE_ONCE(cache->surrendered, true);
		WRITE_ONCE(cache->on_lists, true);
		smp_mb();	/* before flags are cleared: is_surrendered() */
		cache->surrender_slot = 0;
		cache->surrender_next = 0;
		cache->c->core.counters.surrendered++;
	}
	while (moved < MOVED_IN_A_TRY) {
		slot = cache->surrender_slot;
		f = hipec_table_marked(cache, &slot, HIPEC_SLOT_FILE);
		if (!f)
			break;
		/* The file that it had come to may have been let go. */
		if (slot != cache->surrender_slot)
			cache->surrender_next = 0;
		some = surrender_folios(f, &cache->surrender_next, MOVED_TOGETHER);
		if (some < MOVED_TOGETHER) {
			slot = hipec_slot_of(f) + 1;
			cache->surrender_next = 0;
		}
		cache->surrender_slot = slot;
		hipec_table_put(f);
		moved += 1 + some;
		cond_resched();
	}
	return moved;
}

/*
 * Whether a cache's files are left to the kernel, still. To be asked before the flag is set, and
 * behind that. Context: expects c->lock.
 */
static bool is_surrendered(struct hipec_cache *cache)
{
	smp_mb();	/* the flag is set before this is read: hipec_surrender_more() */
	if (likely(!READ_ONCE(cache->surrendered)))
		return false;
	if (time_before(jiffies, READ_ONCE(cache->surrender_until)) ||
	    hipec_budget_left(cache, hipec_budget_room(cache), 1) < HIPEC_PRESSURE_ENOUGH ||
	    hipec_budget_is_short())
		return true;
	WRITE_ONCE(cache->surrendered, false);
	return false;
}

/* The kernel's reclaim has a file, as that says by now, until it is searched. */
static void leave_until_searched(struct hipec_cfile *f, unsigned long ticks)
{
	struct hipec_cache *cache = f->cache;
	struct address_space *mapping;

	smp_mb();	/* before the flag is cleared: keep_away() sets it, and looks again */
	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	if (mapping && mapping_unevictable(mapping)) {
		WRITE_ONCE(cache->on_lists, true);
		mapping_clear_unevictable(mapping);
	}
	rcu_read_unlock();
	xa_set_mark(&cache->slots, hipec_slot_of(f), HIPEC_SLOT_LOST);
	queue_delayed_work(hipec_wq, &cache->search, ticks);
}

/* As hipec_cache_lose(). */
static void lose_file(struct hipec_cfile *f, unsigned long ticks)
{
	WRITE_ONCE(f->lost, true);
	leave_until_searched(f, ticks);
}

/**
 * hipec_cache_search_later() - a file's search goes on when the worker has rested
 * @f:     file, in use; f->searched says how far it has come
 * @ticks: until then
 *
 * Context: any but interrupts; does not wait.
 */
void hipec_cache_search_later(struct hipec_cfile *f, unsigned long ticks)
{
	leave_until_searched(f, ticks);
}

/**
 * hipec_cache_lose() - the kernel's reclaim has a file, of which pages may have no entry
 * @f:     file, in use or under c->lock
 * @ticks: until a worker looks for them
 *
 * To be called when they are in the page cache.
 *
 * Context: any but interrupts; does not wait.
 */
void hipec_cache_lose(struct hipec_cfile *f, unsigned long ticks)
{
	/* Then it is searched when it is so no more. */
	if (!READ_ONCE(f->outgrown))
		lose_file(f, ticks);
}

/**
 * hipec_cache_outgrown() - the kernel's reclaim has a file that is larger than its page numbers
 * @f: file
 *
 * Pages behind them have no entry: if the kernel did not reclaim them, nothing would. To be called
 * before pages are read, and behind a write: the one that extends the file finds this out itself.
 *
 * Context: expects c->lock.
 */
void hipec_cache_outgrown(struct hipec_cfile *f)
{
	struct address_space *mapping;
	bool outgrown = false;

	lockdep_assert_held(&f->cache->c->lock);
	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	if (mapping)
		outgrown = i_size_read(f->inode) > (loff_t)f->nr << PAGE_SHIFT;
	rcu_read_unlock();
	if (likely(outgrown == f->outgrown))
		return;
	WRITE_ONCE(f->outgrown, outgrown);
	f->cache->c->core.counters.outgrown += outgrown ? 1 : -1;
	lose_file(f, 0);
}

/* Whether the kernel's reclaim is to have a file. Context: expects c->lock. */
static bool is_the_kernels(const struct hipec_cfile *f)
{
	return READ_ONCE(f->dead) || READ_ONCE(f->lost) || READ_ONCE(f->searched) || f->outgrown ||
	       is_surrendered(f->cache);
}

/**
 * hipec_cache_keep_away() - the kernel's reclaim leaves a file alone, if that may be
 * @f: file
 *
 * Not while something is dirty: then its writers would never be made to wait. Nor
 * while files may be open whose writes are not heard of, or it has outgrown its page numbers, or
 * has pages without an entry, or memory is so short that it was left to the kernel.
 *
 * Context: expects c->lock.
 */
void hipec_cache_keep_away(struct hipec_cfile *f)
{
	struct address_space *mapping;

	hipec_cache_outgrown(f);
	rcu_read_lock();
	mapping = hipec_mapping_of(f);
	if (mapping && !mapping_unevictable(mapping)) {
		/* What they have written was not heard of. */
		if (f->writers && !inode_is_open_for_write(f->inode)) {
			f->writers = false;
			if (mapping->nrpages)
				lose_file(f, 0);
		}
		if (!f->writers && !mapping_tagged(mapping, PAGECACHE_TAG_DIRTY) &&
		    !mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK) && !is_the_kernels(f)) {
			mapping_set_unevictable(mapping);
			smp_mb();	/* it is set before they are read: hipec_cache_lose() */
			if (is_the_kernels(f))
				mapping_clear_unevictable(mapping);
		}
		if (!mapping_unevictable(mapping))
			WRITE_ONCE(f->cache->on_lists, true);
	}
	rcu_read_unlock();
}

/**
 * hipec_cache_hand_over() - the kernel's reclaim finds a file's folios, if it has the file
 * @f: file
 *
 * Those that it met while it left the file alone are on a list that it does not look at.
 *
 * Context: process context, may sleep; expects no lock of ours.
 */
void hipec_cache_hand_over(struct hipec_cfile *f)
{
	struct address_space *mapping;
	unsigned long moved;
	pgoff_t next = 0;
	int idx;

	do {
		moved = 0;
		idx = srcu_read_lock(f->cache->inodes);
		mapping = hipec_mapping_of(f);
		if (mapping && !mapping_unevictable(mapping))
			moved = move_folios(mapping, &next, MOVED_TOGETHER);
		srcu_read_unlock(f->cache->inodes, idx);
		cond_resched();
	} while (moved);
}
