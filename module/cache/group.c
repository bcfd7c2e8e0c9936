// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups whose processes a policy is for: what they open is taken (open.c), and where nothing was
 * attached but them, the policy runs in their tasks' time alone (touch.c).
 *
 * Interface:
 * hipec_group_add(), _del()       changed by one at a time, as open.c sees to
 * hipec_group_with()              that of a cgroup
 * hipec_group_get(), _put()       that of the current task
 * hipec_group_of_current()        without a reference
 * hipec_group_has_current()       whether it is in one of a cache's
 */
#include <linux/rculist.h>
#include <linux/slab.h>

#include "cache.h"
#include "group.h"

static LIST_HEAD(groups);

/* Readers without a reference look at its cgroup, and at the cache, which goes later. */
void hipec_group_put(struct hipec_cgroup *g)
{
	if (!refcount_dec_and_test(&g->refs))
		return;
	cgroup_put(g->cgrp);
	kvfree(g->names);
	kfree_rcu(g, rcu);
}

/* The first group that the current task is in. Context: under rcu_read_lock(). */
struct hipec_cgroup *hipec_group_of_current(void)
{
	struct cgroup *cgrp = task_dfl_cgroup(current);
	struct hipec_cgroup *g;

	list_for_each_entry_rcu(g, &groups, link)
		if (cgroup_is_descendant(cgrp, g->cgrp))
			return g;
	return NULL;
}

/* Whether the current task is in a group of @cache. Context: any. */
bool hipec_group_has_current(const struct hipec_cache *cache)
{
	struct cgroup *cgrp;
	struct hipec_cgroup *g;
	bool has = false;

	rcu_read_lock();
	cgrp = task_dfl_cgroup(current);
	list_for_each_entry_rcu(g, &groups, link) {
		has = g->cache == cache && cgroup_is_descendant(cgrp, g->cgrp);
		if (has)
			break;
	}
	rcu_read_unlock();
	return has;
}

/* As hipec_group_of_current(), and its container, both held. Return: NULL: there is none. */
struct hipec_cgroup *hipec_group_get(void)
{
	struct hipec_cgroup *g;

	rcu_read_lock();
	g = hipec_group_of_current();
	if (g && !kref_get_unless_zero(&g->cache->c->ref))
		g = NULL;
	else if (g && !refcount_inc_not_zero(&g->refs)) {
		hipec_container_put_later(g->cache->c);
		g = NULL;
	}
	rcu_read_unlock();
	return g;
}

/* That of a cgroup itself. Return: NULL: there is none. */
struct hipec_cgroup *hipec_group_with(const struct cgroup *cgrp)
{
	struct hipec_cgroup *g;

	list_for_each_entry(g, &groups, link)
		if (g->cgrp == cgrp)
			return g;
	return NULL;
}

/* Before those that it is in: of two, the inner one is found. */
void hipec_group_add(struct hipec_cgroup *new)
{
	struct hipec_cgroup *g;

	list_for_each_entry(g, &groups, link)
		if (cgroup_is_descendant(new->cgrp, g->cgrp))
			break;
	list_add_tail_rcu(&new->link, &g->link);
}

/* Those of @cache go: that of @cgrp, or all of them. Return: how many. */
u32 hipec_group_del(struct hipec_cache *cache, const struct cgroup *cgrp)
{
	struct hipec_cgroup *g, *next;
	u32 nr = 0;

	list_for_each_entry_safe(g, next, &groups, link)
		if (g->cache == cache && (!cgrp || g->cgrp == cgrp)) {
			list_del_rcu(&g->link);
			hipec_group_put(g);
			nr++;
		}
	return nr;
}
