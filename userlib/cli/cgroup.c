// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups of version 2, and how much memory they leave a policy.
 */
#define _GNU_SOURCE	/* asprintf(), faccessat() with AT_EACCESS */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"

#define PERCENT "/sys/module/hipec/parameters/cache_percent"

/* Where they are mounted, in @path; false: nowhere. */
static bool find_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, "cgroup2") && strlen(m->mnt_dir) < size;
		if (found)
			strcpy(path, m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/**
 * cli_cgroup_own() - the directory of our own cgroup
 *
 * Return: its path, to free(); NULL if there are no cgroups of version 2.
 */
char *cli_cgroup_own(void)
{
	char mount[PATH_MAX], line[PATH_MAX], *path = NULL;
	FILE *file = find_mount(mount, sizeof(mount)) ?
		     fopen("/proc/self/cgroup", "re") : NULL;

	while (file && !path && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::/", 4) &&
		    asprintf(&path, "%s%s", mount, line[4] ? line + 3 : "") < 0)
			path = NULL;
	}
	if (file)
		fclose(file);
	return path;
}

/**
 * cli_cgroup_divides() - whether a cgroup can be made below one, and entered from there
 * @root:   folder that @cgroup is below, unless that begins with '/'
 * @cgroup: directory of that one
 *
 * Return: 0; -EACCES if it is not the caller's, or what else faccessat() says.
 */
int cli_cgroup_divides(int root, const char *cgroup)
{
	char procs[PATH_MAX];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", cgroup);
	return faccessat(root, cgroup, W_OK | X_OK, AT_EACCESS) ||
	       faccessat(root, procs, W_OK, AT_EACCESS) ? -errno : 0;
}

/* The number in a file; @other if there is none. */
static unsigned long long number_in(const char *path, unsigned long long other)
{
	FILE *file = fopen(path, "re");
	unsigned long long number;

	if (!file)
		return other;
	if (fscanf(file, "%llu", &number) != 1)
		number = other;		/* "max" */
	fclose(file);
	return number;
}

/**
 * cli_cgroup_budget() - the largest budget that can be used, in pages
 * @cgroup: directory of the cgroup of those who read; NULL: any
 *
 * What the limits of the cgroup and of those around it allow, and the part of the
 * machine's memory that policies in place may have.
 *
 * Return: 1 or more.
 */
uint64_t cli_cgroup_budget(const char *cgroup)
{
	unsigned long long page = sysconf(_SC_PAGESIZE), max;
	unsigned long long least = sysconf(_SC_PHYS_PAGES) / 100 * number_in(PERCENT, 50);
	char *dir = cgroup ? strdup(cgroup) : NULL, *slash, *path;

	while (dir && *dir) {
		if (asprintf(&path, "%s/memory.max", dir) < 0)
			break;
		max = number_in(path, ULLONG_MAX) / page;
		free(path);
		if (max < least)
			least = max;
		slash = strrchr(dir, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	free(dir);
	return least ? least : 1;
}

/**
 * cli_cgroup_why() - why a cgroup cannot have a policy
 * @err: of making it, or of hipec_take_cgroup(), negative
 *
 * Return: a text that goes on behind "NAME: ".
 */
const char *cli_cgroup_why(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return "it is not yours";
	case -EBADF:
		return "it is no cgroup, of version 2";
	case -EOPNOTSUPP:
		return "this kernel has no hooks of functions (CONFIG_FUNCTION_TRACER, kernel.ftrace_enabled)";
	case -ENOSPC:
		return "there are too many cgroups with a policy";
	}
	return strerror(-err);
}
