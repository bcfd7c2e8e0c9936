// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for tables, and what a memory cgroup has left.
 *
 * Interface:
 * hipec_memory_alloc()
 * hipec_memory_room(), _short()
 * hipec_memory_files()
 */
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base.h"

/*
 * Zeroed memory of the caller's cgroup, for kvfree(). kvmalloc() would take a
 * power of two where it can, up to twice as much. What the cgroup has not is refused:
 * the OOM killer would end the caller for tables that it can do without.
 */
void *hipec_memory_alloc(size_t bytes)
{
	return bytes <= PAGE_SIZE ? kzalloc(bytes, GFP_KERNEL_ACCOUNT) :
		__vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
			  __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

#ifdef CONFIG_MEMCG
/* Pages that a cgroup by itself may be charged for still. */
static long room_of(struct mem_cgroup *memcg)
{
	unsigned long most = min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));

	return most - page_counter_read(&memcg->memory);
}
#endif

/* Pages that a cgroup, and all that it is in, may be charged for still. */
long hipec_memory_room(struct mem_cgroup *memcg)
{
	long least = LONG_MAX;
#ifdef CONFIG_MEMCG

	for (; memcg; memcg = parent_mem_cgroup(memcg))
		least = min(least, room_of(memcg));
#endif
	return least;
}

/* Which of them has least. Context: as long as @memcg does not go, it does not. */
struct mem_cgroup *hipec_memory_short(struct mem_cgroup *memcg)
{
	struct mem_cgroup *least = memcg;
#ifdef CONFIG_MEMCG

	for (; memcg; memcg = parent_mem_cgroup(memcg))
		if (room_of(memcg) < room_of(least))
			least = memcg;
#endif
	return least;
}

#ifdef CONFIG_MEMCG
/* Pages of files on one of the kernel's lists: by generations, or of the classic LRU. */
static long files_of(struct lruvec *lruvec, int zone)
{
	long files = mem_cgroup_get_zone_lru_size(lruvec, LRU_INACTIVE_FILE, zone) +
		     mem_cgroup_get_zone_lru_size(lruvec, LRU_ACTIVE_FILE, zone);
#ifdef CONFIG_LRU_GEN
	int gen;

	for (gen = 0; gen < MAX_NR_GENS; gen++)
		files += READ_ONCE(lruvec->lrugen.nr_pages[gen][LRU_GEN_FILE][zone]);
#endif
	return files;
}
#endif

/* Pages of files that a cgroup's own reclaim may take, those below it left out. */
long hipec_memory_files(struct mem_cgroup *memcg)
{
	long files = 0;
#ifdef CONFIG_MEMCG
	int nid, zone;

	for_each_online_node(nid)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			files += files_of(&memcg->nodeinfo[nid]->lruvec, zone);
#endif
	return files;
}
