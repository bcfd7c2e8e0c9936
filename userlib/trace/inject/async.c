// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that the kernel serves by itself: of io_uring, libaio and POSIX's aio. They
 * are counted, so that nobody takes a trace without them for all that a program did.
 *
 * Where a program does without the C library and without liburing.so, its rings are seen
 * when it maps them, or has them at its end.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer.h"

#define RING "anon_inode:[io_uring]"

/* Where the kernel has the parts of a ring: linux/io_uring.h. */
#define OFFSET_CQ 0x8000000ull
#define OFFSET_SQES 0x10000000ull

static void count(uint64_t *counter, long n)
{
	if (n > 0)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void count_uring(long n)
{
	struct tracechan_head *h = tracer_head();

	if (h)
		count(&h->nr_uring, n);
}

static void count_aio(long n)
{
	struct tracechan_head *h = tracer_head();

	if (h)
		count(&h->nr_aio, n);
}

static bool is_ring(int fd)
{
	char link[32], name[sizeof(RING)];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name));
	return n == sizeof(RING) - 1 && !memcmp(name, RING, n);
}

static void saw_ring(void)
{
	struct tracechan_head *h = tracer_head();

	if (h)
		__atomic_store_n(&h->rings, 1, __ATOMIC_RELAXED);
}

/* Context: any; in signal handlers too. Keeps errno. */
void tracer_look_at_ring(int fd, off_t offset)
{
	int saved = errno;

	if (fd >= 0 && ((uint64_t)offset == OFFSET_CQ || (uint64_t)offset == OFFSET_SQES) &&
	    is_ring(fd))
		saw_ring();
	errno = saved;
}

__attribute__((destructor)) static void look_at_rings(void)
{
	struct tracechan_head *h = tracer_head();
	struct dirent *e;
	DIR *dir;

	if (!h || h->rings)
		return;
	dir = opendir("/proc/self/fd");
	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.' && is_ring(strtol(e->d_name, NULL, 10)))
			saw_ring();
	if (dir)
		closedir(dir);
}

/* What syscall() did. */
static void look_at_call(long number, long ret)
{
	if (number == SYS_io_uring_enter)
		count_uring(ret);
	else if (number == SYS_io_submit)
		count_aio(ret);
}

__attribute__((constructor)) static void begin_calls(void)
{
	tracer_on_syscall = look_at_call;
}

struct io_uring;

TRACER_EXPORT int io_uring_submit(struct io_uring *ring);
TRACER_EXPORT int io_uring_submit_and_wait(struct io_uring *ring, unsigned int n);

TRACER_EXPORT int io_uring_submit(struct io_uring *ring)
{
	TRACER_REAL(real, io_uring_submit);
	int ret = real ? real(ring) : -ENOSYS;

	count_uring(ret);
	return ret;
}

TRACER_EXPORT int io_uring_submit_and_wait(struct io_uring *ring, unsigned int n)
{
	TRACER_REAL(real, io_uring_submit_and_wait);
	int ret = real ? real(ring, n) : -ENOSYS;

	count_uring(ret);
	return ret;
}

TRACER_EXPORT int io_submit(void *context, long n, void **requests);

TRACER_EXPORT int io_submit(void *context, long n, void **requests)
{
	TRACER_REAL(real, io_submit);
	int ret = real ? real(context, n, requests) : -ENOSYS;

	count_aio(ret);
	return ret;
}

#define AIO(name, type)                                                       \
	TRACER_EXPORT int name(struct type *request)                          \
	{                                                                     \
		TRACER_REAL(real, name);                                      \
		int ret = real(request);                                      \
									      \
		count_aio(!ret);                                              \
		return ret;                                                   \
	}
AIO(aio_read, aiocb)
AIO(aio_write, aiocb)
AIO(aio_read64, aiocb64)
AIO(aio_write64, aiocb64)
