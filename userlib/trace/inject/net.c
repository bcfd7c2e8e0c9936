// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of sockets, which move no data of files: the memory that they hand the kernel may
 * be a mapped file's, whose pages have to be open (map.c).
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/uio.h>

#include "tracer.h"

static void touch_message(const struct msghdr *m, bool write)
{
	size_t i;

	tracer_touch(m, sizeof(*m), true);
	if (!m)
		return;
	tracer_touch(m->msg_name, m->msg_namelen, write);
	tracer_touch(m->msg_control, m->msg_controllen, write);
	tracer_touch(m->msg_iov, m->msg_iovlen * sizeof(*m->msg_iov), false);
	for (i = 0; i < m->msg_iovlen; i++)
		tracer_touch(m->msg_iov[i].iov_base, m->msg_iov[i].iov_len, write);
}

TRACER_EXPORT ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	TRACER_REAL(real, send);

	tracer_touch(buf, n, false);
	return real(fd, buf, n, flags);
}

TRACER_EXPORT ssize_t sendto(int fd, const void *buf, size_t n, int flags,
			     const struct sockaddr *to, socklen_t length)
{
	TRACER_REAL(real, sendto);

	tracer_touch(buf, n, false);
	tracer_touch(to, length, false);
	return real(fd, buf, n, flags, to, length);
}

TRACER_EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	TRACER_REAL(real, sendmsg);

	touch_message(m, false);
	return real(fd, m, flags);
}

TRACER_EXPORT ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	TRACER_REAL(real, recv);

	tracer_touch(buf, n, true);
	return real(fd, buf, n, flags);
}

TRACER_EXPORT ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *from,
			       socklen_t *length)
{
	TRACER_REAL(real, recvfrom);

	tracer_touch(buf, n, true);
	tracer_touch(length, length ? sizeof(*length) : 0, true);
	tracer_touch(from, from && length ? *length : 0, true);
	return real(fd, buf, n, flags, from, length);
}

TRACER_EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	TRACER_REAL(real, recvmsg);

	touch_message(m, true);
	return real(fd, m, flags);
}
