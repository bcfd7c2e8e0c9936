// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: hipec/frames, and for each container hipec/<id>/status with its
 * counters, hipec/<id>/policy with its commands, and hipec/<id>/named with what others may
 * take from it.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "internal.h"

static struct dentry *root;

static int frames_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%ld\n", atomic_long_read(&hipec_nr_frames));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(frames);

static int status_show(struct seq_file *m, void *unused)
{
	struct hipec_status *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	if (hipec_status_get(m->private, s)) {
		kfree(s);
		return -EINTR;
	}
	seq_printf(m, "policy %s\ncomm %.16s\nexit %s\nlate %s\n", s->policy,
		   s->comm, s->exit.kind ? s->exit.message : "no",
		   s->late.kind ? s->late.message : "no");
	seq_printf(m, "frames %llu\nlimit %llu\nshares %u\nfree_frames %llu\nresident %llu\ndirty %llu\ncluster %u\nregions %u\n",
		   s->frames, s->limit, s->shares, s->free_frames, s->resident,
		   s->dirty, s->cluster, s->regions);
#define X(name, help) seq_printf(m, #name " %llu\n", s->counters.name);
	HIPEC_COUNTERS(X)
#undef X
	kfree(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

static int policy_show(struct seq_file *m, void *unused)
{
	struct hipec_container *c = m->private;
	const struct hipec_policy *p = &c->policy;
	struct hipec_text text;
	char line[128];
	u32 i, pc;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	for (i = 0; i < p->image->nr_events; i++) {
		const struct hipec_image_event *e = &p->event[i];

		seq_printf(m, "%s:\n", hipec_image_policy_name(p, e->name));
		for (pc = 1; pc < e->nr; pc++) {
			hipec_text_init(&text, line, sizeof(line));
			hipec_disasm(p, p->words[e->first + pc], &text);
			seq_printf(m, "%5u  %s\n", pc, line);
		}
	}
	mutex_unlock(&c->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(policy);

static int named_show(struct seq_file *m, void *unused)
{
	struct hipec_container *c = m->private;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	seq_printf(m, "%u named, %u taken, %s\n", c->core.nr_chosen, c->core.nr_taken,
		   delayed_work_pending(&c->refill) || work_busy(&c->refill.work) ? "busy" : "idle");
	mutex_unlock(&c->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(named);

/* Show a container that has its policy. Context: may sleep. */
void hipec_debugfs_add(struct hipec_container *c)
{
	char name[24];

	scnprintf(name, sizeof(name), "%llu", c->id);
	c->debugfs = debugfs_create_dir(name, root);
	debugfs_create_file("status", 0400, c->debugfs, c, &status_fops);
	debugfs_create_file("policy", 0400, c->debugfs, c, &policy_fops);
	debugfs_create_file("named", 0400, c->debugfs, c, &named_fops);
}

/* Wait until nobody reads its files. Context: may sleep; not under c->lock. */
void hipec_debugfs_del(struct hipec_container *c)
{
	debugfs_remove_recursive(c->debugfs);
}

void hipec_debugfs_init(void)
{
	root = debugfs_create_dir("hipec", NULL);
	debugfs_create_file("frames", 0400, root, NULL, &frames_fops);
}

void hipec_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
