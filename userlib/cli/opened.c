// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that the processes of a cgroup, and of those below it, have open or mapped now.
 *
 * Interface: cgroup.h.
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"

struct search {
	uint64_t least;
	void (*found)(const char *path, void *arg);
	void *arg;
};

/* Whether a file begins as programs and libraries do. */
static bool is_code(const char *path)
{
	unsigned char head[EI_NIDENT + sizeof(Elf64_Half)] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Half type;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, head, sizeof(head));
	close(fd);
	memcpy(&type, head + EI_NIDENT, sizeof(type));
	return n == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
	       (type == ET_EXEC || type == ET_DYN);
}

static void look_at(const struct search *s, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= s->least &&
	    !is_code(path))
		s->found(path, s->arg);
}

/* @kind: fd or map_files. What may not be looked at, or has ended, is passed over. */
static void look_at_process(const struct search *s, int pid, const char *kind)
{
	char path[64], file[sizeof(path) + NAME_MAX + 1];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, kind);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		look_at(s, file);
	}
	if (dir)
		closedir(dir);
}

static void look_at_processes(const struct search *s, const char *procs)
{
	FILE *f = fopen(procs, "r");
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1) {
		look_at_process(s, pid, "fd");
		look_at_process(s, pid, "map_files");
	}
	if (f)
		fclose(f);
}

/**
 * cli_cgroup_opened() - what the processes of a cgroup have open
 * @cgroup: directory
 * @least:  only regular files of as many bytes, and no programs or libraries
 * @found:  gets a path below /proc for each descriptor, and each map that may be looked
 *          at, which takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; a file may come often
 * @arg:    for it
 */
void cli_cgroup_opened(const char *cgroup, uint64_t least,
		       void (*found)(const char *path, void *arg), void *arg)
{
	char *paths[] = { (char *)cgroup, NULL };
	struct search s = { least, found, arg };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *e;

	while (tree && (e = fts_read(tree)))
		if (!strcmp(e->fts_name, "cgroup.procs"))
			look_at_processes(&s, e->fts_path);
	if (tree)
		fts_close(tree);
}
