// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the module, preloaded: /dev/hipec is /dev/null, and STANDIN says which
 * error each step of hipec run ends with: "load=12 cgroup=0 take=0". No cgroup is made;
 * where cgroup is ENOENT, none are mounted. STANDIN_READ says how many pages were read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../module/include/uapi/hipec.h"

static int device = -1;

static int fails(const char *step)
{
	const char *at = strstr(getenv("STANDIN"), step);

	errno = atoi(strchr(at, '=') + 1);
	return errno ? -1 : 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & 0100 ? va_arg(ap, int) : 0;
	va_end(ap);
	if (!strcmp(path, "/dev/hipec"))
		return device = syscall(SYS_openat, -100, "/dev/null", flags, mode);
	if (strstr(path, "/hipec-"))
		path = "/";
	return syscall(SYS_openat, -100, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	return syscall(SYS_openat, dir, strcmp(path, "cgroup.procs") ? path : "/dev/null", flags, 0);
}

FILE *setmntent(const char *file, const char *mode)
{
	return fails("cgroup") && errno == ENOENT ? NULL : fopen(file, mode);
}

int faccessat(int dir, const char *path, int mode, int flags)
{
	(void)dir, (void)path, (void)mode, (void)flags;
	return fails("cgroup");
}

int mkdir(const char *path, mode_t mode)
{
	(void)path, (void)mode;
	return 0;
}

/* One file of 1,000 pages, read again and again. */
static void put_status(struct hipec_status *s)
{
	s->regions = 1;
	s->counters.read_pages = atoi(getenv("STANDIN_READ"));
	s->counters.pages_in = s->counters.read_pages;
	s->counters.hits = s->counters.read_pages ? 1000 : 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd != device)
		return syscall(SYS_ioctl, fd, request, arg);
	if (request == HIPEC_IOC_STATUS && getenv("STANDIN_READ")) {
		put_status(arg);
		return 0;
	}
	return fails(request == HIPEC_IOC_LOAD ? "load" : "take");
}
