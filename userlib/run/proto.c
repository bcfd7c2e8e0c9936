// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets with descriptors, for both ends of proto.h.
 */
#define _GNU_SOURCE	/* MSG_CMSG_CLOEXEC */
#include <string.h>

#include "proto.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(RUN_MAX_FDS * sizeof(int))];
};

/**
 * run_send() - send a packet
 * @via:    socket
 * @to:     whose it is; NULL: @via's other end
 * @packet: what is sent
 * @size:   bytes
 * @fds:    descriptors that go with it; NULL, if there are none
 * @nr:     how many, up to RUN_MAX_FDS
 * @flags:  MSG_DONTWAIT, or 0
 *
 * Return: bytes that were sent; -1, and errno, as sendmsg(); there is no SIGPIPE.
 */
ssize_t run_send(int via, const struct sockaddr_un *to, const void *packet, size_t size,
		 const int *fds, int nr, int flags)
{
	union control control = { 0 };
	struct iovec iov = { (void *)packet, size };
	struct msghdr msg = {
		.msg_name = (void *)to, .msg_namelen = to ? sizeof(*to) : 0,
		.msg_iov = &iov, .msg_iovlen = 1,
	};

	if (nr) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(nr * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, nr * sizeof(int));
	}
	return sendmsg(via, &msg, flags | MSG_NOSIGNAL);
}

/**
 * run_receive() - receive a packet
 * @from:   socket
 * @packet: gets it
 * @size:   bytes that it has
 * @fds:    gets up to RUN_MAX_FDS descriptors, close-on-exec
 * @nr:     gets how many came, whatever is returned
 * @flags:  MSG_DONTWAIT, or 0
 *
 * Return: @size; 0 if something else came, or the other end is gone; -1, and errno,
 *         as recvmsg().
 */
ssize_t run_receive(int from, void *packet, size_t size, int *fds, int *nr, int flags)
{
	union control control;
	struct iovec iov = { packet, size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(from, &msg, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);

	*nr = 0;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *nr * sizeof(int));
	}
	if (n < 0)
		return -1;
	return n == (ssize_t)size && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ? n : 0;
}
