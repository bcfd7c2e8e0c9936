// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room for an array that may be larger than memory.
 *
 * Interface: room.h.
 */
#define _GNU_SOURCE	/* mremap(), O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "room.h"

/* An array is in memory while it takes no more than this, or one of so many of what is left. */
#define SMALL ((size_t)64 << 20)
#define ONE_OF 4

/* Folder of large files: TMPDIR, else one that is on a disk. */
const char *trace_room_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

/* A file without a name. Return: descriptor; -1. */
static int open_file(void)
{
	char name[4096];
	int fd = open(trace_room_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system has these. */
	if (snprintf(name, sizeof(name), "%s/hipec-XXXXXX", trace_room_folder()) >=
	    (int)sizeof(name))
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/**
 * trace_room_left() - bytes that the machine, and the limits of this process, have left; about
 *
 * Return: bytes; UINT64_MAX if nothing is known.
 */
u64 trace_room_left(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	u64 left = UINT64_MAX, kb, used;
	struct rlimit most;
	char name[64];

	while (f && fscanf(f, "%63s %" SCNu64 "%*[^\n]", name, &kb) == 2)
		if (!strcmp(name, "MemAvailable:"))
			left = kb << 10;
	if (f)
		fclose(f);
	if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY)
		return left;
	f = fopen("/proc/self/statm", "re");
	used = f && fscanf(f, "%" SCNu64, &kb) == 1 ? kb * sysconf(_SC_PAGESIZE) : 0;
	if (f)
		fclose(f);
	return used > most.rlim_cur ? 0 :
	       most.rlim_cur - used < left ? most.rlim_cur - used : left;
}

static bool fits(size_t bytes)
{
	return bytes <= SMALL || bytes <= trace_room_left() / ONE_OF;
}

/* What was in memory is in a file now, of @bytes. */
static int move_to_file(struct trace_room *room, void **at, size_t bytes)
{
	int fd = open_file(), ret;
	void *to;

	if (fd < 0)
		return -ENOSPC;
	/* A hole that cannot be filled later would be a signal. */
	ret = posix_fallocate(fd, 0, bytes);
	to = ret ? MAP_FAILED :
		   mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED) {
		ret = ret ? ret : errno;
		close(fd);
		return -ret;
	}
	/* It is read in order, again and again. */
	madvise(to, bytes, MADV_SEQUENTIAL);
	if (*at)
		memcpy(to, *at, room->bytes);
	free(*at);
	*at = to;
	*room = (struct trace_room){ .bytes = bytes, .mapped = true, .fd = fd };
	return 0;
}

static int lengthen_file(struct trace_room *room, void **at, size_t bytes)
{
	int ret = posix_fallocate(room->fd, 0, bytes);
	void *to;

	if (ret)
		return -ret;
	to = mremap(*at, room->bytes, bytes, MREMAP_MAYMOVE);
	if (to == MAP_FAILED)
		return -errno;
	*at = to;
	room->bytes = bytes;
	return 0;
}

/**
 * trace_room_grow() - more bytes for an array
 * @room:  zeros at first
 * @at:    the array; NULL at first
 * @bytes: more than it has
 *
 * What comes is not cleared.
 *
 * Return: 0; -ENOMEM; -ENOSPC if neither memory nor the folder has room; what else that
 *         may say. The array is as it was then.
 */
int trace_room_grow(struct trace_room *room, void **at, size_t bytes)
{
	void *more;

	if (room->mapped)
		return lengthen_file(room, at, bytes);
	more = fits(bytes) ? realloc(*at, bytes) : NULL;
	if (!more)
		return move_to_file(room, at, bytes);
	*at = more;
	room->bytes = bytes;
	return 0;
}

/* @at: may be NULL */
void trace_room_free(struct trace_room *room, void *at)
{
	if (room->mapped) {
		munmap(at, room->bytes);
		close(room->fd);
	} else {
		free(at);
	}
	*room = (struct trace_room){ 0 };
}
