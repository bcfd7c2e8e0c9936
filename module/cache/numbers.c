// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page numbers of files: each file of a container has some of 2^32, by which its policy knows its
 * pages.
 *
 * cache->slots has one entry for each file, whatever its size, at the last slot of its numbers: the
 * first entry from a slot on is that of the file that has the slot, if one has it.
 *
 * Interface:
 * hipec_numbers_for()           how many
 * hipec_numbers_give(), _take()  a file gets them; has them no more
 * hipec_numbers_of()            the file that has one
 */
#include <linux/fs.h>
#include <linux/xarray.h>

#include "cache.h"

/*
 * So many files have ROOMY_PAGES page numbers at least: half of all that there are, and of what
 * their user may have.
 */
#define ROOMY_FILES 32768u
#define ROOMY_PAGES 65536u

/* How many a file gets: room to grow to twice its size. */
u32 hipec_numbers_for(const struct hipec_cache *cache, const struct inode *inode)
{
	u64 pages = DIV_ROUND_UP((u64)i_size_read(inode), PAGE_SIZE);
	bool roomy = READ_ONCE(cache->c->nr_regions) < ROOMY_FILES &&
		     hipec_user_has_numbers(cache->c);
	u64 least = roomy ? ROOMY_PAGES : 1;

	return min_t(u64, round_up(max(2 * pages, least), HIPEC_SLOT_PAGES),
		     1u << 31);
}

/* Files that are looked at before others may have slots_lock. */
#define LOOKED_AT_TOGETHER 256
/* And in all, where a task has a directory locked meanwhile. */
#define LOOKED_AT_MOST 65536

/* The file that has slot @first, or the next one behind; NULL. Context: slots_lock, or c->lock. */
static struct hipec_cfile *file_from(struct hipec_cache *cache, unsigned long first)
{
	return xa_find(&cache->slots, &first, ULONG_MAX, HIPEC_SLOT_FILE);
}

/*
 * The first of so many free slots: behind those that were given last, so that not all files are
 * looked at to take one more; from the lowest on if none are left there. Where that was in vain it
 * is not tried again before a file is let go, whose numbers are looked at first.
 * Context: expects slots_lock, and may drop it meanwhile. Return: what is free; -ENOSPC.
 */
static long find_slots(struct hipec_cache *cache, unsigned long slots, bool all)
{
	const unsigned long most = 1ul << (32 - HIPEC_SLOT_SHIFT);
	unsigned long first = cache->next_slot;
	const struct hipec_cfile *other;
	u32 taken = cache->nr_taken, looks = 0;
	bool again = false;

	while (!cache->none_of || slots < cache->none_of) {
		if (first + slots >= most) {
			if (again) {
				/* Of what was taken from a file meanwhile, nothing is known. */
				if (taken == cache->nr_taken)
					cache->none_of = slots;
				break;
			}
			again = true;
			first = 0;
		}
		other = file_from(cache, first);
		if (!other || other->start >> HIPEC_SLOT_SHIFT >= first + slots)
			return first;
		first = hipec_slot_of(other) + 1;
		if (++looks == LOOKED_AT_MOST && !all) {
			cache->next_slot = first;	/* the next one goes on */
			break;
		}
		if (!(looks % LOOKED_AT_TOGETHER)) {
			mutex_unlock(&cache->slots_lock);
			cond_resched();
			mutex_lock(&cache->slots_lock);
		}
	}
	return -ENOSPC;
}

/* Context: expects slots_lock, and may drop it meanwhile. Return: 0; -ENOSPC; -ENOMEM. */
static int take_slots(struct hipec_cache *cache, struct hipec_cfile *f, bool all)
{
	unsigned long slots = f->nr >> HIPEC_SLOT_SHIFT;
	long first = find_slots(cache, slots, all);
	int ret;

	if (first < 0)
		return first;
	f->start = first << HIPEC_SLOT_SHIFT;
	ret = xa_insert(&cache->slots, hipec_slot_of(f), f,
			GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN);
	if (ret)
		return ret;
	xa_set_mark(&cache->slots, hipec_slot_of(f), HIPEC_SLOT_FILE);
	cache->next_slot = first + slots;
	return 0;
}

/**
 * hipec_numbers_give() - a file gets its page numbers
 * @f:   file, of which @nr is set
 * @all: look at all files for free ones, if need be
 *
 * What still looks for touches of a file before finds this one, and none of its pages.
 *
 * Context: process context, sleeps; takes slots_lock.
 * Return: 0; -ENOSPC if its container has none left, -EDQUOT if its user has none; -ENOMEM.
 */
int hipec_numbers_give(struct hipec_cfile *f, bool all)
{
	struct hipec_cache *cache = f->cache;
	int ret;

	if (!hipec_user_take_numbers(cache->c, f->nr))
		return -EDQUOT;
	mutex_lock(&cache->slots_lock);
	ret = take_slots(cache, f, all);
	mutex_unlock(&cache->slots_lock);
	if (ret)
		hipec_user_return_numbers(cache->c, f->nr);
	return ret;
}

/* A file has none any more. Context: expects c->lock; may sleep. */
void hipec_numbers_take(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;

	lockdep_assert_held(&cache->c->lock);
	mutex_lock(&cache->slots_lock);
	if (cache->none_of)
		cache->next_slot = f->start >> HIPEC_SLOT_SHIFT;
	cache->none_of = 0;
	cache->nr_taken++;
	xa_erase(&cache->slots, hipec_slot_of(f));
	mutex_unlock(&cache->slots_lock);
	hipec_user_return_numbers(cache->c, f->nr);
}

/**
 * hipec_numbers_of() - the file that has a page number
 * @cache: cache
 * @pgno:  page number
 *
 * Context: expects c->lock.
 * Return: file; NULL: none has it.
 */
struct hipec_cfile *hipec_numbers_of(struct hipec_cache *cache, u32 pgno)
{
	struct hipec_cfile *f = file_from(cache, pgno >> HIPEC_SLOT_SHIFT);

	return f && f->start <= pgno ? f : NULL;
}
