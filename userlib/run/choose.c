// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which maps become regions. Those that the page cache would serve wrongly through
 * us are left alone: what is executed, and what a program maps to read and writes
 * by other calls, which a region would not see (docs/user/run.md).
 */
#define _GNU_SOURCE	/* O_PATH */
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload.h"

/* What a file without a name any more has behind it. */
static const char deleted[] = " (deleted)";

static bool name_of(int fd, char *name, size_t size, bool gone)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, size - 1);
	if (n <= 0)
		return false;
	name[n] = 0;
	if (gone && (size_t)n > strlen(deleted) &&
	    !strcmp(name + n - strlen(deleted), deleted))
		name[n - strlen(deleted)] = 0;
	return true;
}

/* Does a glob, of a text of one a line, stand for @name or its last part? */
static bool matches(const char *globs, const char *name)
{
	const char *last = strrchr(name, '/'), *end;
	char glob[PATH_MAX];

	for (; (end = strchr(globs, '\n')); globs = end + 1) {
		size_t n = end - globs;

		if (n >= sizeof(glob))
			continue;
		memcpy(glob, globs, n);
		glob[n] = 0;
		if (!fnmatch(glob, name, 0) || (last && !fnmatch(glob, last + 1, 0)))
			return true;
	}
	return false;
}

/* Is this file one of ours? Without globs those are the large ones. */
static bool is_chosen(int fd, const struct stat *st, const char *globs)
{
	char name[PATH_MAX];

	if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode))
		return false;
	if (S_ISREG(st->st_mode) && !st->st_size)
		return false;
	if (!*globs)
		return S_ISREG(st->st_mode) && st->st_size >= RUN_MIN_BYTES;
	return name_of(fd, name, sizeof(name), !st->st_nlink) &&
	       matches(globs, name);
}

static bool is_possible(const struct preload_map *m)
{
	const int never = MAP_ANONYMOUS | MAP_HUGETLB | MAP_SYNC;
	int type = m->flags & MAP_TYPE;

	return !(m->flags & never) && m->fd >= 0 && m->bytes &&
	       m->offset >= 0 && !(m->offset & (PRELOAD_PAGE - 1)) &&
	       (type == MAP_SHARED || type == MAP_SHARED_VALIDATE ||
		type == MAP_PRIVATE) &&
	       m->prot & (PROT_READ | PROT_WRITE) && !(m->prot & PROT_EXEC);
}

/**
 * preload_wants() - whether a map is one of ours
 * @m:    of the call
 * @file: gets which file it is
 *
 * Context: any; in signal handlers too. May change errno.
 * Return: how it is asked for; 0 if it is not.
 */
enum run_kind preload_wants(const struct preload_map *m,
			    struct preload_file *file)
{
	const char *globs = preload_globs();
	struct stat st;
	bool writes;
	int mode;

	if (!is_possible(m) || !preload_active() || fstat(m->fd, &st) ||
	    !is_chosen(m->fd, &st, globs))
		return 0;
	mode = fcntl(m->fd, F_GETFL);
	if (mode < 0 || mode & O_PATH)
		return 0;
	mode &= O_ACCMODE;
	file->dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	file->ino = S_ISBLK(st.st_mode) ? 0 : st.st_ino;
	if (mode == O_RDONLY)
		return RUN_READ;
	writes = (m->flags & MAP_TYPE) != MAP_PRIVATE && m->prot & PROT_WRITE;
	if (mode == O_RDWR && *globs)
		return writes ? RUN_WRITE : RUN_IF_WRITTEN;
	preload_tell_left();
	return 0;
}
