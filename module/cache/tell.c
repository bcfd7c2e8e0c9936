// SPDX-License-Identifier: GPL-2.0-only
/*
 * What read() and write() have touched is noted, and the policy told of it: by the task that made
 * the call, if it is for that, or else by a worker.
 *
 * Interface:
 * hipec_tell_try(), hipec_told()  begin to tell, and end
 * hipec_tell()                    of all that is noted
 * hipec_tell_read(), _written()   pages were read, or written
 */
#include <linux/fs.h>
#include <linux/rcupdate.h>

#include "cache.h"

/* Where in the program a call comes from, and that its pages were touched. */
static noinline bool note_with_context(struct inode *inode, u64 first, u32 nr)
{
	struct hipec_cfile *f;
	u64 context;
	bool full = false;

	rcu_read_lock();
	f = hipec_file_find(inode);
	if (f) {
		context = hipec_context_of_call(&f->cache->c->contexts);
		full = hipec_touch_note(f->cache, f->start + first, nr, HIPEC_BY_READ, context);
	}
	rcu_read_unlock();
	return full;
}

/**
 * hipec_tell_try() - the policy is told of what is noted, if this task may do so
 * @inode: of a file
 * @may_wait: as hipec_touch_lock() does
 *
 * Context: process context, may sleep.
 * Return: the file, with its container's lock: hipec_told() is owed; NULL: a worker does it, or the
 *         file is not taken.
 */
struct hipec_cfile *hipec_tell_try(struct inode *inode, bool may_wait)
{
	struct hipec_cfile *f = hipec_file_get(inode);

	if (!f)
		return NULL;
	if (may_wait ? hipec_touch_lock(f->cache) : hipec_touch_try_lock(f->cache)) {
		hipec_touch_drain(f->cache);
		return f;
	}
	hipec_touch_later(f->cache);
	hipec_file_put(f);
	return NULL;
}

/* Undo what hipec_tell_try() took. */
void hipec_told(struct hipec_cfile *f)
{
	mutex_unlock(&f->cache->c->lock);
	hipec_file_put(f);
}

/* The policy is told of what is noted. Context: process context, may wait; expects no lock. */
noinline void hipec_tell(struct inode *inode)
{
	struct hipec_cfile *f = hipec_tell_try(inode, true);

	if (f)
		hipec_told(f);
}

/* The same, for who may have any lock: it is not waited for. */
static noinline void try_to_tell(struct inode *inode)
{
	struct hipec_cfile *f = hipec_tell_try(inode, false);

	if (f)
		hipec_told(f);
}

/**
 * hipec_tell_read() - pages of a file were read
 * @inode: of the file
 * @first: page
 * @last:  page
 * @wait:  the policy may be waited for, if it is to be told now
 *
 * Context: process context, may sleep; with @wait it expects no lock.
 */
void hipec_tell_read(struct inode *inode, u64 first, u64 last, bool wait)
{
	bool full = false, wanted = false;
	struct hipec_cfile *f;

	preempt_disable();	/* also a reader of RCU */
	f = hipec_file_find(inode);
	if (f && last < f->nr) {
		wanted = hipec_cache_wants_context(f->cache);
		if (likely(!wanted))
			full = hipec_touch_note(f->cache, f->start + first,
						last - first + 1, HIPEC_BY_READ, 0);
	}
	preempt_enable();
	if (unlikely(wanted))
		full = note_with_context(inode, first, last - first + 1);
	if (likely(!full))
		return;
	if (wait)
		hipec_tell(inode);
	else
		try_to_tell(inode);
}

/**
 * hipec_tell_written() - pages of a file were written
 * @inode: of the file
 * @first: page
 * @last:  page
 *
 * Some may be new, and have no entry before the policy hears of them.
 *
 * Context: process context, may sleep; waits for nothing, since its file system cannot be frozen
 * meanwhile.
 */
void hipec_tell_written(struct inode *inode, u64 first, u64 last)
{
	struct hipec_cfile *f = hipec_file_get(inode);
	u32 nr = last - first + 1;
	struct hipec_cache *cache;
	u64 context = 0;
	bool noted;

	if (!f)
		return;
	cache = f->cache;
	if (last >= f->nr) {
		hipec_cache_lose(f, 0);
		goto out;
	}
	if (hipec_cache_wants_context(cache))
		context = hipec_context_of_call(&cache->c->contexts);
	noted = hipec_touch_owe(cache, f->start + first, nr, HIPEC_BY_WRITE, context);
	if (hipec_touch_try_lock(cache)) {
		hipec_touch_drain(cache);
		if (!noted) {
			cache->c->core.context = context;
			hipec_cache_touched(cache, f->start + first, nr, HIPEC_BY_WRITE);
			cache->c->core.context = 0;
		}
		mutex_unlock(&cache->c->lock);
	} else if (noted) {
		hipec_touch_later(cache);
	} else {
		hipec_cache_lose(f, 0);
	}
out:
	hipec_file_put(f);
}
