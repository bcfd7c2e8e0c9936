// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine's files, below a folder that need not be /.
 *
 * Interface: machine.h.
 */
#define _GNU_SOURCE	/* O_PATH, memmem() */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine.h"

#define MOST (4 << 20)	/* bytes of a file that is looked into, a multiple of PIECE */
#define PIECE 4096
#define LISTS "/var/lib/apt/lists"

/* Open a file below the root, whose links stay in there. */
int machine_open(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	/* Before Linux 5.6, or where a container does not let it be called. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(root, path + 1, flags | O_CLOEXEC);
	return fd;
}

bool machine_has(int root, const char *path)
{
	int fd = machine_open(root, path, O_PATH);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A whole file, with a zero behind it, to free(); NULL if it cannot be read. */
char *machine_read(int root, const char *path, size_t *size)
{
	int fd = machine_open(root, path, O_RDONLY);
	char *bytes = fd < 0 ? NULL : malloc(MOST + 1);
	ssize_t n;

	*size = 0;
	/* In pieces: below /proc/sys one read may not ask for so much. */
	while (bytes && *size < MOST &&
	       (n = read(fd, bytes + *size, PIECE)) > 0)
		*size += n;
	if (bytes)
		bytes[*size] = 0;
	if (fd >= 0)
		close(fd);
	return bytes;
}

/* Whether a file has some bytes in it. */
bool machine_contains(int root, const char *path, const void *what, size_t n)
{
	size_t size;
	char *bytes = machine_read(root, path, &size);
	bool found = bytes && memmem(bytes, size, what, n);

	free(bytes);
	return found;
}

/* The first line of a file; empty if there is none. */
void machine_line(int root, const char *path, char *line, size_t size)
{
	size_t n;
	char *bytes = machine_read(root, path, &n);

	snprintf(line, size, "%.*s", bytes ? (int)strcspn(bytes, "\n") : 0,
		 bytes ?: "");
	free(bytes);
}

/* Whether a list of packages has one; the lists are large, so it is mapped. */
static bool list_has(int dir, const char *list, const char *package)
{
	int fd = openat(dir, list, O_RDONLY | O_CLOEXEC);
	char row[128];
	void *text;
	struct stat st;
	bool found = false;

	snprintf(row, sizeof(row), "Package: %s\n", package);
	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		text = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		found = text != MAP_FAILED && memmem(text, st.st_size, row, strlen(row));
		if (text != MAP_FAILED)
			munmap(text, st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/**
 * machine_archive() - whether apt can install a package
 * @root:    of the machine
 * @package: its name
 *
 * Return: MACHINE_YES or MACHINE_NO as apt's lists say, which apt update fetches;
 *         MACHINE_UNKNOWN if there are none, or none that are not compressed.
 */
enum machine_answer machine_archive(int root, const char *package)
{
	static const char end[] = "_Packages";
	int fd = machine_open(root, LISTS, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	enum machine_answer answer = MACHINE_UNKNOWN;
	struct dirent *e;

	while (dir && answer != MACHINE_YES && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (n < strlen(end) || strcmp(e->d_name + n - strlen(end), end))
			continue;
		answer = list_has(dirfd(dir), e->d_name, package) ? MACHINE_YES : MACHINE_NO;
	}
	if (dir)
		closedir(dir);
	return answer;
}
