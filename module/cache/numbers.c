// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page numbers of files: each file of a container has some of 2^32, by which its policy knows its
 * pages.
 *
 * Interface:
 * hipec_numbers_for()           how many
 * hipec_numbers_give(), _take()  a file gets them; has them no more
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

/*
 * Memory for more slots than these, which have 147 KB of nodes, is not waited for: a cgroup over
 * its memory.high would have each batch of pages sleep.
 */
#define MANY_SLOTS 16384

/*
 * Page numbers for a file: behind those that were given last, so that nobody looks at
 * all files to take one more; from the lowest on if none are left there. Where that was in vain
 * it is not tried again before a file is let go, whose numbers are looked at first.
 * They are kept free for it: touches of a file that had them before find none.
 * Context: expects slots_lock. Return: 0; -ENOSPC; -EDQUOT; -ENOMEM.
 */
static int find_numbers(struct hipec_cache *cache, struct hipec_cfile *f)
{
	unsigned long slots = f->nr >> HIPEC_SLOT_SHIFT, most, first, used, i;
	gfp_t gfp = slots > MANY_SLOTS ? GFP_NOWAIT | __GFP_NOWARN :
					 GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN;
	const struct hipec_cfile *other;
	bool again = false;
	int ret = 0;

	if (cache->none_of && slots >= cache->none_of)
		return -ENOSPC;
	if (!hipec_user_take_numbers(cache->c, f->nr))
		return -EDQUOT;
	most = 1ul << (32 - HIPEC_SLOT_SHIFT);
	for (first = cache->next_slot;; first = hipec_slot_behind(other)) {
		if (first + slots >= most) {
			if (again) {
				cache->none_of = slots;
				hipec_user_return_numbers(cache->c, f->nr);
				return -ENOSPC;
			}
			again = true;
			first = 0;
		}
		used = first;
		other = xa_find(&cache->slots, &used, first + slots - 1, XA_PRESENT);
		if (!other)
			break;
	}
	cache->next_slot = first + slots;
	f->start = first << HIPEC_SLOT_SHIFT;
	for (i = 0; i < slots && !ret; i++) {
		ret = xa_reserve(&cache->slots, first + i, gfp);
		if (!(i % 1024))
			cond_resched();
	}
	if (ret) {
		while (i--)
			xa_release(&cache->slots, first + i);
		hipec_user_return_numbers(cache->c, f->nr);
		return ret;
	}
	/* They have memory by now. */
	for (i = 0; i < slots; i++) {
		WARN_ON_ONCE(xa_is_err(xa_store(&cache->slots, first + i, f, GFP_NOFS)));
		if (!(i % 1024))
			cond_resched();
	}
	return 0;
}

/**
 * hipec_numbers_give() - a file gets its page numbers
 * @f: file, of which @nr is set
 *
 * What still looks for touches of a file before finds this one, and none of its pages.
 *
 * Context: process context, sleeps; takes slots_lock.
 * Return: 0; -ENOSPC if its container has none left, -EDQUOT if its user has none; -ENOMEM.
 */
int hipec_numbers_give(struct hipec_cfile *f)
{
	struct hipec_cache *cache = f->cache;
	int ret;

	mutex_lock(&cache->slots_lock);
	ret = find_numbers(cache, f);
	mutex_unlock(&cache->slots_lock);
	return ret;
}

/* A file has none any more. Context: expects c->lock; may sleep. */
void hipec_numbers_take(struct hipec_cfile *f)
{
	u32 slots = f->nr >> HIPEC_SLOT_SHIFT, i;
	struct hipec_cache *cache = f->cache;

	lockdep_assert_held(&cache->c->lock);
	mutex_lock(&cache->slots_lock);
	if (cache->none_of)
		cache->next_slot = f->start >> HIPEC_SLOT_SHIFT;
	cache->none_of = 0;
	for (i = 0; i < slots; i++) {
		xa_erase(&cache->slots, (f->start >> HIPEC_SLOT_SHIFT) + i);
		if (!(i % 1024))
			cond_resched();
	}
	mutex_unlock(&cache->slots_lock);
	hipec_user_return_numbers(cache->c, f->nr);
}

