/* SPDX-License-Identifier: GPL-2.0-only */
/* Cgroups whose processes a policy is for: group.c has them, open.c makes them. */
#ifndef HIPEC_CACHE_GROUP_H
#define HIPEC_CACHE_GROUP_H

#include <linux/cgroup.h>
#include <linux/rculist.h>
#include <linux/refcount.h>

struct hipec_cache;

/**
 * struct hipec_cgroup - a cgroup whose processes' files are taken
 * @link:  groups, changed by one at a time; RCU
 * @refs:  1 while it is there, and openers
 * @cache: whose files they are
 * @cgrp:  and those in it; held
 * @uid:   user that asked for it: files of other users stay theirs
 * @all:   that user may have any file
 * @least: smaller files stay the kernel's, bytes
 * @names: patterns that describe the files, a string each, up to an empty one; NULL: any
 * @rcu:   frees it
 */
struct hipec_cgroup {
	struct list_head link;
	refcount_t refs;
	struct hipec_cache *cache;
	struct cgroup *cgrp;
	kuid_t uid;
	bool all;
	u64 least;
	char *names;
	struct rcu_head rcu;
};

void hipec_group_put(struct hipec_cgroup *g);
struct hipec_cgroup *hipec_group_of_current(void);
struct hipec_cgroup *hipec_group_get(void);
struct hipec_cgroup *hipec_group_with(const struct cgroup *cgrp);
void hipec_group_add(struct hipec_cgroup *new);
u32 hipec_group_del(struct hipec_cache *cache, const struct cgroup *cgrp);
bool hipec_group_has_current(const struct hipec_cache *cache);

#endif /* HIPEC_CACHE_GROUP_H */
