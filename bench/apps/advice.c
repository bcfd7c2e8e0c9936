// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program of others: the advice that it could give the page cache for
 * each regular file, as its author could have written it. $ADVICE says which:
 * sequential, random, noreuse when the file is opened; the first two also when it is
 * mapped; dontneed when it is closed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is(const char *name)
{
	const char *advice = getenv("ADVICE");

	return advice && !strcmp(advice, name);
}

static int advised(int fd, bool closes)
{
	int advice = closes && is("dontneed") ? POSIX_FADV_DONTNEED :
		     closes ? -1 : is("sequential") ? POSIX_FADV_SEQUENTIAL :
		     is("random") ? POSIX_FADV_RANDOM :
		     is("noreuse") ? POSIX_FADV_NOREUSE : -1;
	struct stat st;

	if (advice >= 0 && fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		posix_fadvise(fd, 0, 0, advice);
	return fd;
}

static void advised_map(void *map, size_t size)
{
	int advice = is("sequential") ? MADV_SEQUENTIAL : is("random") ? MADV_RANDOM : -1;

	if (advice >= 0)
		madvise(map, size, advice);
}

/* The C library's function of that name. */
#define THEIRS(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)						\
int name(const char *path, int flags, ...)			\
{								\
	mode_t mode;						\
	va_list list;						\
								\
	va_start(list, flags);					\
	mode = va_arg(list, mode_t);				\
	va_end(list);						\
	return advised(THEIRS(name)(path, flags, mode), false);	\
}

#define OPENAT(name)						\
int name(int dir, const char *path, int flags, ...)		\
{								\
	mode_t mode;						\
	va_list list;						\
								\
	va_start(list, flags);					\
	mode = va_arg(list, mode_t);				\
	va_end(list);						\
	return advised(THEIRS(name)(dir, path, flags, mode), false); \
}

#define FOPEN(name)						\
FILE *name(const char *path, const char *mode)			\
{								\
	FILE *file = THEIRS(name)(path, mode);			\
								\
	if (file)						\
		advised(fileno(file), false);			\
	return file;						\
}

#define MMAP(name, off)						\
void *name(void *at, size_t size, int prot, int flags, int fd, off offset) \
{								\
	void *map = THEIRS(name)(at, size, prot, flags, fd, offset);	\
								\
	if (map != MAP_FAILED && !(flags & MAP_ANONYMOUS))	\
		advised_map(map, size);				\
	return map;						\
}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int close(int fd)
{
	advised(fd, true);
	return THEIRS(close)(fd);
}

int fclose(FILE *file)
{
	advised(fileno(file), true);
	return THEIRS(fclose)(file);
}
