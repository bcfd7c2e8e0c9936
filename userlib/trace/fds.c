// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes of a log and their descriptors, as far as a log shows them: files
 * that are open have an offset, which duplicates and children share.
 */
#include <errno.h>
#include <stdlib.h>

#include "fds.h"

#define MAX_FD (1u << 20)
#define MAX_PROCESSES (1u << 16)

static void drop(struct open_file *o)
{
	if (!o || --o->refs)
		return;
	free(o->path);
	free(o);
}

void trace_close_fd(struct fds *fds, u64 fd)
{
	if (fd >= fds->nr)
		return;
	drop(fds->open[fd]);
	fds->open[fd] = NULL;
}

static void put_fds(struct fds *fds)
{
	u32 i;

	if (!fds || --fds->refs)
		return;
	for (i = 0; i < fds->nr; i++)
		drop(fds->open[i]);
	free(fds->open);
	free(fds->on_exec);
	free(fds);
}

static int grow_fds(struct fds *fds, u32 nr)
{
	void *open, *on_exec;

	if (nr <= fds->nr)
		return 0;
	nr = nr < 2 * fds->nr ? 2 * fds->nr : nr;
	open = reallocarray(fds->open, nr, sizeof(*fds->open));
	if (open)
		fds->open = open;
	on_exec = reallocarray(fds->on_exec, nr, sizeof(*fds->on_exec));
	if (on_exec)
		fds->on_exec = on_exec;
	if (!open || !on_exec)
		return -ENOMEM;
	memset(fds->open + fds->nr, 0, (nr - fds->nr) * sizeof(*fds->open));
	memset(fds->on_exec + fds->nr, 0, (nr - fds->nr) * sizeof(bool));
	fds->nr = nr;
	return 0;
}

/* @o becomes @fd; what was there is closed. */
int trace_put_fd(struct trace_in *r, struct fds *fds, u64 fd,
		 struct open_file *o, bool on_exec)
{
	int ret;

	if (fd >= MAX_FD)
		return trace_malformed(r, "want a descriptor, 0 to %u, not %llu",
				       MAX_FD - 1, (unsigned long long)fd);
	ret = grow_fds(fds, fd + 1);
	if (ret)
		return ret;
	o->refs++;
	trace_close_fd(fds, fd);
	fds->open[fd] = o;
	fds->on_exec[fd] = on_exec;
	return 0;
}

static struct fds *copy_fds(const struct fds *from)
{
	struct fds *new = calloc(1, sizeof(*new));
	u32 i;

	if (!new)
		return NULL;
	new->refs = 1;
	if (grow_fds(new, from->nr)) {
		put_fds(new);
		return NULL;
	}
	for (i = 0; i < from->nr; i++) {
		new->open[i] = from->open[i];
		new->on_exec[i] = from->on_exec[i];
		if (new->open[i])
			new->open[i]->refs++;
	}
	return new;
}

/* Nobody shares its descriptors with @p any more. */
int trace_unshare(struct process *p)
{
	struct fds *own;

	if (p->fds->refs == 1)
		return 0;
	own = copy_fds(p->fds);
	if (!own)
		return -ENOMEM;
	put_fds(p->fds);
	p->fds = own;
	return 0;
}

struct process *trace_find_process(struct processes *all, u32 pid)
{
	size_t i;

	/* strace names no process while there is one. */
	if (!pid && all->nr)
		return &all->process[0];
	for (i = all->nr; i--;)
		if (all->process[i].pid == pid)
			return &all->process[i];
	return NULL;
}

/**
 * trace_add_process() - a process that is new
 * @r:      for messages
 * @all:    processes, which may move in memory
 * @pid:    its number
 * @parent: whose descriptors it has a copy of, or NULL: none
 * @shared: it has the same, as threads have
 *
 * Return: 0; -EINVAL, said, if there are too many; -ENOMEM.
 */
int trace_add_process(struct trace_in *r, struct processes *all, u32 pid,
		      struct fds *parent, bool shared)
{
	struct process *more;
	struct fds *fds;

	if (all->nr == MAX_PROCESSES)
		return trace_malformed(r, "want at most %u processes at a time",
				       MAX_PROCESSES);
	if (parent && !shared) {
		fds = copy_fds(parent);
	} else {
		fds = parent ? parent : calloc(1, sizeof(*fds));
		if (fds)
			fds->refs++;
	}
	if (!fds)
		return -ENOMEM;
	if (all->nr == all->max) {
		more = reallocarray(all->process, 2 * all->max + 1,
				    sizeof(*more));
		if (!more) {
			put_fds(fds);
			return -ENOMEM;
		}
		all->process = more;
		all->max = 2 * all->max + 1;
	}
	all->process[all->nr++] = (struct process){ pid, fds, NULL, NULL };
	return 0;
}

/* It has ended. */
void trace_del_process(struct processes *all, struct process *p)
{
	put_fds(p->fds);
	free(p->unfinished);
	free(p->cwd);
	memmove(p, p + 1, (&all->process[--all->nr] - p) * sizeof(*p));
}

void trace_free_processes(struct processes *all)
{
	while (all->nr)
		trace_del_process(all, &all->process[all->nr - 1]);
	free(all->process);
}
