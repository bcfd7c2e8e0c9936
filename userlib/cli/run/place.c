// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program gets a cgroup of its own, below ours, and the container decides about what
 * is opened in it. Nothing is loaded into the program.
 */
#define _GNU_SOURCE	/* asprintf() */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cgroup.h"
#include "../cli.h"
#include "run.h"

#define LEAST (1 << 20)		/* bytes, of files that no --map names */

static int take(struct run *r)
{
	int dir = open(r->cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC), ret;

	if (dir < 0)
		return -errno;
	ret = hipec_take_cgroup(r->device, 0, dir, r->globs ? 0 : LEAST,
				r->globs, NULL);
	if (!ret)
		r->procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (!ret && r->procs < 0)
		ret = -errno;
	close(dir);
	return ret;
}

/* A command that was killed may have left one of that name. */
static int make_cgroup(const char *path)
{
	if (!mkdir(path, 0755))
		return 0;
	return errno == EEXIST && !rmdir(path) ? mkdir(path, 0755) : -1;
}

/* What a user does about it, behind why it is so. */
static const char *remedy(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return ": " CLI_CGROUP_SCOPE " gives you one that is";
	case -EROFS:
		return ": have its owner attach it from outside (hipec attach --cgroup)";
	case -EOPNOTSUPP:
		return ": switch them on (sysctl kernel.ftrace_enabled=1), or attach files by name (hipec attach)";
	case -ENOSPC:
		return ": wait for another run to end, or detach one (hipec detach)";
	}
	return "";
}

/**
 * run_place_begin() - a cgroup whose processes' files are the container's
 * @r: with its container
 *
 * Return: 0, r->procs is where the program enters it; -errno, said.
 */
int run_place_begin(struct run *r)
{
	char *own = cli_cgroup_own();
	int ret;

	if (!own) {
		cli_error("no cgroups of version 2 are mounted: boot with systemd.unified_cgroup_hierarchy=1; nothing was run");
		return -ENOENT;
	}
	ret = cli_cgroup_divides(AT_FDCWD, own);
	if (!ret && asprintf(&r->cgroup, "%s/hipec-%d", own, getpid()) < 0) {
		r->cgroup = NULL;
		ret = -ENOMEM;
	}
	if (!ret)
		ret = make_cgroup(r->cgroup) ? -errno : take(r);
	if (ret) {
		cli_error("%s: %s%s; nothing was run", cli_clean(r->cgroup ?: own),
			  cli_cgroup_why(ret), remedy(ret));
		run_place_end(r);
	}
	free(own);
	return ret;
}

/* Who is left in it goes to the one around it. */
static void move_out(const char *cgroup)
{
	char path[PATH_MAX], pid[32];
	FILE *from;
	int to;

	snprintf(path, sizeof(path), "%s/../cgroup.procs", cgroup);
	to = open(path, O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	from = fopen(path, "re");
	while (from && to >= 0 && fgets(pid, sizeof(pid), from))
		if (write(to, pid, strlen(pid)) < 0)
			break;
	if (from)
		fclose(from);
	if (to >= 0)
		close(to);
}

/**
 * run_place_end() - the cgroup goes, and what runs in it still moves to ours
 * @r: run; nothing if it has none
 */
void run_place_end(struct run *r)
{
	int tries = 100;

	if (r->procs >= 0)
		close(r->procs);
	r->procs = -1;
	/* What has just ended may be in it for a moment. */
	while (r->cgroup && rmdir(r->cgroup) && errno == EBUSY && tries--) {
		move_out(r->cgroup);
		usleep(1000);
	}
	free(r->cgroup);
	r->cgroup = NULL;
}
