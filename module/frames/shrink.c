// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory pressure: the pool gives clean pages back when the kernel asks. What is
 * reserved, and the first frames of each container, is never asked for. Pressure
 * inside a cgroup is cgroup.c's.
 *
 * Reclaim may run under any lock, ours as well: all are only tried here. The
 * policies have named pages ahead, as for other containers (core/pool.c), and none runs
 * here; dirty pages go to writeback and are no gain yet.
 *
 * Interface:
 * hipec_shrink_init(), _exit()
 */
#include "../compat.h"
#include "frames.h"

static struct shrinker *shrinker;

static unsigned long count_pool_frames(struct shrinker *s, struct shrink_control *sc)
{
	/* Not from within a file system: unmapping waits for its locks. */
	if (!(sc->gfp_mask & __GFP_FS))
		return 0;
	return hipec_pool_spare(&hipec_share_pool) ?: SHRINK_EMPTY;
}

static unsigned long scan_pool_frames(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long before, after, nr = sc->nr_to_scan;

	if (!hipec_share_try_lock())
		return SHRINK_STOP;
	before = hipec_pool_spare(&hipec_share_pool);
	while (nr-- && hipec_pool_reclaim(&hipec_share_pool))
		;
	after = hipec_pool_spare(&hipec_share_pool);
	hipec_share_unlock();
	return before > after ? before - after : SHRINK_STOP;
}

/**
 * hipec_shrink_init() - answer memory pressure from now on
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM.
 */
int hipec_shrink_init(void)
{
	shrinker = shrinker_alloc(0, "hipec");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count_pool_frames;
	shrinker->scan_objects = scan_pool_frames;
	shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(shrinker);
	return 0;
}

/* No more. Context: process context, sleeps until a scan that runs is over. */
void hipec_shrink_exit(void)
{
	shrinker_free(shrinker);
}
