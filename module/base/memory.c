// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for tables, and what a memory cgroup has left.
 *
 * Interface:
 * hipec_table_alloc()
 * hipec_memcg_room()
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
void *hipec_table_alloc(size_t bytes)
{
	return bytes <= PAGE_SIZE ? kzalloc(bytes, GFP_KERNEL_ACCOUNT) :
		__vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
			  __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

/* Pages that a cgroup, and all that it is in, may be charged for still. */
long hipec_memcg_room(struct mem_cgroup *memcg)
{
	long least = LONG_MAX;
#ifdef CONFIG_MEMCG
	long most;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		most = min(READ_ONCE(memcg->memory.max),
			   READ_ONCE(memcg->memory.high));
		least = min_t(long, least,
			      most - page_counter_read(&memcg->memory));
	}
#endif
	return least;
}
